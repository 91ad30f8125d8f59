"""Members of a class that a page has room for, with the parameters under which they are stable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Literal

import numpy as np

from cyclearn.errors import LimitError
from cyclearn.graphs import DirectedGraph
from cyclearn.graphs.directed_graph import Edge
from cyclearn.learning import LearnResult
from cyclearn.models import LinearGaussianModel, fit

# Members that are looked at for those that agree with the knowledge.
_MAX_LOOKED_AT = 20_000

Agrees = Callable[[DirectedGraph], bool]


@dataclass(frozen=True)
class Member:
    """One graph of the class and how it differs from the learned one.

    ``models`` are its maximum likelihood parameters, as far as they are stable.
    """

    graph: DirectedGraph
    added: tuple[Edge, ...]
    removed: tuple[Edge, ...]
    models: tuple[LinearGaussianModel, ...]

    @property
    def is_stable(self) -> bool:
        """Whether a shock dies out, with the data at hand."""
        return bool(self.models)


@dataclass(frozen=True)
class Listing:
    """Members of a class: all of them, some drawn at random, or the first ones.

    The learned graph is the first, then come those that differ least from it. ``size`` is the
    number of all members, None where they could not be counted.
    """

    members: tuple[Member, ...]
    selection: Literal["all", "sampled", "first"]
    size: int | None


def list_members(
    result: LearnResult, agrees: Agrees, *, has_knowledge: bool, max_members: int
) -> Listing:
    """Members that agree with the knowledge, at most so many."""
    graphs, selection, size = _chosen(result, agrees, has_knowledge, max_members)
    others = [graph for graph in graphs if graph != result.graph][: max_members - 1]
    learned = set(result.graph.edges)
    members = [Member(result.graph, (), (), _stable(result.graph, result))]
    for graph in others:
        edges = set(graph.edges)
        added = tuple(edge for edge in graph.edges if edge not in learned)
        removed = tuple(edge for edge in result.graph.edges if edge not in edges)
        members.append(Member(graph, added, removed, _stable(graph, result)))
    members.sort(key=lambda member: len(member.added))
    return Listing(tuple(members), selection, size)


def _chosen(
    result: LearnResult, agrees: Agrees, has_knowledge: bool, max_members: int
) -> tuple[list[DirectedGraph], Literal["all", "sampled", "first"], int | None]:
    members = result.equivalence_class
    try:
        size = members.size
    except LimitError:
        listed = iter(members)
        found = list(islice(filter(agrees, islice(listed, _MAX_LOOKED_AT)), max_members))
        return found, "all" if next(listed, None) is None else "first", None
    if not has_knowledge and size <= max_members:
        return list(members), "all", size
    if has_knowledge and size <= _MAX_LOOKED_AT:
        # A graph that keeps a redundant edge because it is required is no irreducible member.
        found = [result.graph, *(g for g in members if agrees(g) and g != result.graph)]
        if len(found) <= max_members:
            return found, "all", len(found)
        drawn = np.random.default_rng(0).permutation(len(found))[:max_members]
        return [found[n] for n in sorted(drawn)], "sampled", len(found)
    # The first members in the order of listing would differ only here and there.
    draws = dict.fromkeys(members.sample(max_members, random_state=0))
    return list(filter(agrees, draws)), "sampled", None if has_knowledge else size


def _stable(graph: DirectedGraph, result: LearnResult) -> tuple[LinearGaussianModel, ...]:
    fitted = result.model if graph == result.graph else fit(graph, result.model.moments)
    if not fitted.converged:
        return ()
    return tuple(model for model in (fitted.model, *fitted.alternatives) if model.is_stable)
