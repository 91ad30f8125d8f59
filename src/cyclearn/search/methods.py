"""The methods by name. A new method needs only an entry here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Protocol

from cyclearn.foundation import InputError, short
from cyclearn.search.auto_search import AutoSearch
from cyclearn.search.exact import ExactSearch
from cyclearn.search.local_search import HillClimbing, TabuSearch
from cyclearn.search.problem import SearchProblem
from cyclearn.search.runs import Solution
from cyclearn.search.starts import SearchCall


class SearchMethod(Protocol):
    """A way to solve a search problem; its fields are its options and its effort."""

    def solve(self, problem: SearchProblem, call: SearchCall) -> Solution:
        """Search, and return one run for each start."""


METHODS: Mapping[str, type[Any]] = {
    "auto": AutoSearch,
    "exact": ExactSearch,
    "tabu": TabuSearch,
    "hill-climbing": HillClimbing,
}


def method_named(name: str, options: Mapping[str, Any]) -> SearchMethod:
    """The method with its options."""
    if not isinstance(name, str) or name not in METHODS:
        known = ", ".join(repr(each) for each in METHODS)
        raise InputError(f"method is {short(name)}; give one of {known}")
    method = METHODS[name]
    taken = {each.name for each in fields(method)} & set(options)
    made: SearchMethod = method(**{each: options[each] for each in taken})
    return made
