"""Forms of a whole result that the library makes, and which of them can hold this one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import PurePath
from typing import Any

from cyclearn.foundation.errors import InputError
from cyclearn.report.exports import exported
from cyclearn.results.result import LearnResult

FORMS = (
    "graph.txt",
    "graph.tetrad",
    "graph.graphml",
    "model.lav",
    "model.dagitty",
    "picture.tikz",
    "edges.tex",
    "edges.csv",
)


def form(result: LearnResult, name: str) -> str:
    """The result as the text of one of these files."""
    return exported(result, PurePath(name).suffix)


def lacking(result: LearnResult) -> list[str]:
    """Files that there are not of this result.

    Some forms cannot hold every name, or weights of several groups; for some kinds of interventions
    there is no class.
    """
    found = [name for name in FORMS if _is_refused(partial(form, result, name))]
    if _is_refused(lambda: result.equivalence_class):
        found.append("class.csv")
    return found


def _is_refused(make: Callable[[], Any]) -> bool:
    try:
        make()
    except InputError:
        return True
    return False
