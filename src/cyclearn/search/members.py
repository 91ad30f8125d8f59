"""The members of a class that respect the knowledge, each with its stable fits.

Effects, the report's list and its findings all start from here, so that they count alike.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from math import prod
from random import Random
from typing import Literal

import numpy as np

from cyclearn.classes import EquivalenceClass
from cyclearn.classes.seated_graphs import MemberSampler
from cyclearn.classes.seating import Seating
from cyclearn.data import Moments
from cyclearn.data.tables import Tables
from cyclearn.foundation.errors import InputError, LimitError
from cyclearn.foundation.random_state import RandomState, generator
from cyclearn.graphs import DirectedGraph
from cyclearn.graphs.directed_graph import Edge
from cyclearn.models import FittedModel, LinearGaussianModel, fit
from cyclearn.search.knowledge import Knowledge

Selection = Literal["all", "sampled", "first"]


@dataclass(frozen=True, eq=False)
class Member:
    """A graph and its stable maximum likelihood parameters; ``times`` it was drawn.

    Where there are no such parameters, ``fault`` says why: every best fit is unstable, or the
    likelihood has no maximum.
    """

    graph: DirectedGraph
    models: tuple[LinearGaussianModel, ...]
    times: int = 1
    fault: Literal["", "unstable", "degenerate"] = ""

    @property
    def is_stable(self) -> bool:
        """Whether a shock dies out, with the data at hand."""
        return bool(self.models)


@dataclass(frozen=True, eq=False)
class MemberList:
    """Members of one or more classes that respect the knowledge.

    Attributes
    ----------
    members : tuple of Member
    selection : {"all", "sampled", "first"}
        All members; members drawn at random with equal probability; or, where a class is too
        entangled to be counted, the first in the order of listing, which are no fair sample.
    size : int or None
        Number of all members that respect the knowledge; None where they cannot be counted.
    n_excluded : int or None
        Number of members that contradict the knowledge.
    """

    members: tuple[Member, ...]
    selection: Selection
    size: int | None
    n_excluded: int | None

    @property
    def n_looked_at(self) -> int:
        """Members in the list, as often as they were drawn."""
        return sum(member.times for member in self.members)

    def n_faulty(self, fault: str) -> int:
        """Members without stable parameters for one reason, as often as they were drawn."""
        return sum(member.times for member in self.members if member.fault == fault)


def list_members(
    graphs: Sequence[DirectedGraph | EquivalenceClass],
    moments: Moments | Sequence[Moments],
    knowledge: Knowledge | None = None,
    *,
    max_members: int,
    random_state: RandomState = 0,
) -> MemberList:
    """The members of some classes, each given by itself or by a graph, with their fits.

    With the moments of several groups a member has the parameters of all of them, and none where it
    is not stable in every group. A graph that no member of its class can stand for, since it keeps
    a required edge that rotations show to be redundant, stands for itself.
    """
    names = graphs[0].names
    masks = (None, None) if knowledge is None else knowledge.masks(names)
    classes = [g if isinstance(g, EquivalenceClass) else EquivalenceClass(g) for g in graphs]
    seatings = [part for each in classes for part in each.irreducible_seatings(*masks)]
    chosen, selection, size = _chosen(seatings, names, max_members, random_state)
    given = [graph for graph in graphs if isinstance(graph, DirectedGraph)]
    alone = [] if chosen else [graph for graph in given if respects(graph, masks)]
    chosen += Counter(alone)
    tables = (moments,) if isinstance(moments, Moments) else tuple(moments)
    members = tuple(_fitted(graph, tables, times) for graph, times in chosen.items())
    n_excluded = 0 if knowledge is None else _n_excluded(classes, size)
    return MemberList(members, selection, len(alone) if alone else size, n_excluded)


@dataclass(frozen=True, eq=False)
class MemberStream:
    """All members of some classes that respect knowledge, in the order of listing, unfitted.

    ``columns`` are those of :meth:`cyclearn.DirectedGraph.from_columns`; ``size`` is None where
    the members cannot be counted.
    """

    columns: Iterator[tuple[int, ...]]
    size: int | None


def stream_members(
    graphs: Sequence[DirectedGraph], knowledge: Knowledge | None = None, *, required: Iterable[Edge]
) -> MemberStream:
    """Members that have the required edges too; their number is known before they are listed."""
    known = knowledge or Knowledge()
    try:
        known = replace(known, required=(*known.required, *required))
    except InputError:
        # Knowledge forbids what is asked for.
        return MemberStream(iter(()), 0)
    masks = known.masks(graphs[0].names)
    seatings = [p for graph in graphs for p in EquivalenceClass(graph).irreducible_seatings(*masks)]
    columns = chain.from_iterable(map(_iter_columns, seatings))
    try:
        return MemberStream(columns, sum(_sizes(seatings)))
    except LimitError:
        return MemberStream(columns, None)


def fitted_member(graph: DirectedGraph, tables: Sequence[Moments]) -> Member:
    """A graph with its stable fits, as lists of members have it."""
    return _fitted(graph, tuple(tables), 1)


def fitted_members(graphs: Sequence[DirectedGraph], tables: Tables) -> MemberList:
    """These graphs, fitted to tables with interventions."""
    members = []
    for graph in graphs:
        fitted = fit(graph, tables)
        models = _stable_models(fitted) if isinstance(fitted, FittedModel) else ()
        fault: Literal["", "unstable"] = "" if models else "unstable"
        members.append(Member(graph, models, fault=fault))
    return MemberList(tuple(members), "all", len(members), 0)


def _stable_models(fitted: FittedModel) -> tuple[LinearGaussianModel, ...]:
    models = (fitted.model, *fitted.alternatives)
    if fitted.experiments is None:
        return tuple(model for model in models if model.is_stable)
    return tuple(model for model in models if fitted.experiments.is_stable(model.B))


def _n_excluded(classes: Sequence[EquivalenceClass], n_respecting: int | None) -> int | None:
    if n_respecting is None:
        return None
    try:
        return sum(each.size for each in classes) - n_respecting
    except LimitError:
        return None


def respects(graph: DirectedGraph, masks: tuple[object, object]) -> bool:
    """Whether all edges of a graph are allowed and all required edges there."""
    allowed, required = (None if mask is None else np.asarray(mask) for mask in masks)
    A = graph.adjacency
    return (allowed is None or not (A & ~allowed).any()) and (
        required is None or not (required & ~A).any()
    )


def _chosen(
    seatings: Sequence[Seating], names: tuple[str, ...], max_members: int, random_state: RandomState
) -> tuple[Counter[DirectedGraph], Selection, int | None]:
    """Members to look at, how often each was drawn, and how many there are."""

    def graph_of(columns: Sequence[int]) -> DirectedGraph:
        return DirectedGraph.from_columns(columns, names)

    try:
        sizes = _sizes(seatings)
    except LimitError:
        listed = chain.from_iterable(map(_iter_columns, seatings))
        first = Counter(map(graph_of, islice(listed, max_members)))
        return first, "all" if next(listed, None) is None else "first", None
    if sum(sizes) <= max_members:
        every = chain.from_iterable(map(_iter_columns, seatings))
        return Counter(map(graph_of, every)), "all", sum(sizes)
    # Python's own generator draws whole numbers of any size.
    source = Random(int(generator(random_state).integers(2**62)))
    samplers = [MemberSampler(seating) for seating in seatings]
    drawn: Counter[DirectedGraph] = Counter()
    for _ in range(max_members):
        place, which = source.randrange(sum(sizes)), 0
        while place >= sizes[which]:
            place -= sizes[which]
            which += 1
        drawn[graph_of(samplers[which].draw(source))] += 1
    return drawn, "sampled", sum(sizes)


def _sizes(seatings: Sequence[Seating]) -> list[int]:
    return [prod(seating.count(block) for block in seating.blocks) for seating in seatings]


def _iter_columns(seating: Seating) -> Iterator[tuple[int, ...]]:
    for words in seating.iter_words():
        for member in words:
            yield tuple(int.from_bytes(column.tobytes(), "little") for column in member)


def _fitted(graph: DirectedGraph, tables: tuple[Moments, ...], times: int) -> Member:
    models: list[LinearGaussianModel] = []
    for moments in tables:
        fitted = fit(graph, moments)
        if not fitted.converged:
            return Member(graph, (), times, "degenerate")
        stable = _stable_models(fitted)
        if not stable:
            return Member(graph, (), times, "unstable")
        models += stable
    return Member(graph, tuple(models), times)
