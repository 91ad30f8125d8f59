"""The members of a class that respect the knowledge, each with its stable fits.

Effects, the report's list and its findings all use this, so that their counts agree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from random import Random
from typing import Literal, TypeAlias

import numpy as np

from cyclearn.classes import EquivalenceClass
from cyclearn.classes.seated_graphs import SeatedGraphs
from cyclearn.data import Moments
from cyclearn.data.tables import Tables
from cyclearn.foundation.arrays import BoolArray, FloatArray
from cyclearn.foundation.errors import InputError, LimitError
from cyclearn.foundation.random_state import RandomState, generator
from cyclearn.graphs import DirectedGraph
from cyclearn.graphs.directed_graph import Edge
from cyclearn.models import FittedModel, LinearGaussianModel, fit
from cyclearn.models.experiments import Experiments
from cyclearn.search.knowledge import Knowledge

Selection = Literal["all", "sampled", "first"]
_Masks: TypeAlias = tuple[BoolArray, BoolArray]


@dataclass(frozen=True, eq=False)
class Member:
    """A graph with its stable maximum likelihood parameters; ``times`` counts its draws.

    If there are none, ``fault`` says why: every best fit is unstable, or the likelihood has no
    maximum.
    """

    graph: DirectedGraph
    models: tuple[LinearGaussianModel, ...]
    times: int = 1
    fault: Literal["", "unstable", "degenerate"] = ""

    @property
    def is_stable(self) -> bool:
        """Whether a shock dies out, given the data."""
        return bool(self.models)


@dataclass(frozen=True, eq=False)
class MemberList:
    """Members of one or more classes that respect the knowledge.

    Attributes
    ----------
    members : tuple of Member
    selection : {"all", "sampled", "first"}
        All members; members drawn at random with equal probability; or, if a class is too complex
        to be counted, the first in the order of listing, which are not a random sample.
    size : int or None
        Number of all members that respect the knowledge; None if they cannot be counted.
    n_excluded : int or None
        Number of members that contradict the knowledge.
    shared_variation : array of shape (p, p)
        Covariances among exogenous variables, whose variances are part of the models.
    """

    members: tuple[Member, ...]
    selection: Selection
    size: int | None
    n_excluded: int | None
    shared_variation: FloatArray

    @property
    def n_looked_at(self) -> int:
        """Number of members in the list, counted as often as drawn."""
        return sum(member.times for member in self.members)

    def n_faulty(self, fault: str) -> int:
        """Number of members without stable parameters for one reason, counted as often as drawn."""
        return sum(member.times for member in self.members if member.fault == fault)


def list_members(
    graphs: Sequence[DirectedGraph | EquivalenceClass],
    moments: Moments | Sequence[Moments],
    knowledge: Knowledge | None = None,
    *,
    max_members: int,
    random_state: RandomState = 0,
) -> MemberList:
    """The members of some classes, each given as a class or by a graph, with their fits.

    With several groups a member has parameters for each of them, and none if it is not stable in
    every group. A graph with a required edge that rotations show to be redundant has no irreducible
    member to represent it, so it represents itself.
    """
    names = graphs[0].names
    masks = (knowledge or Knowledge()).masks(names)
    classes = [g if isinstance(g, EquivalenceClass) else EquivalenceClass(g) for g in graphs]
    chosen, selection, size = _chosen(respecting(classes, masks), max_members, random_state)
    given = [graph for graph in graphs if isinstance(graph, DirectedGraph)]
    alone = [] if chosen else [graph for graph in given if respects(graph, masks)]
    chosen += Counter(alone)
    tables = (moments,) if isinstance(moments, Moments) else tuple(moments)
    members = tuple(fitted_member(graph, tables, times) for graph, times in chosen.items())
    n_excluded = 0 if knowledge is None else _n_excluded(classes, size)
    size = len(alone) if alone else size
    return MemberList(members, selection, size, n_excluded, shared_variation(tables[0], names))


def stream_members(
    graphs: Sequence[DirectedGraph], knowledge: Knowledge | None = None, *, required: Iterable[Edge]
) -> tuple[Iterator[DirectedGraph], int | None]:
    """Members that have the required edges too, unfitted, in the order of listing.

    Their number is known before they are listed; it is None if they cannot be counted.
    """
    known = knowledge or Knowledge()
    try:
        known = replace(known, required=(*known.required, *required))
    except InputError:
        # The knowledge forbids a required edge.
        return iter(()), 0
    members = respecting(list(map(EquivalenceClass, graphs)), known.masks(graphs[0].names))
    try:
        return iter(members), members.size
    except LimitError:
        return iter(members), None


def respecting(classes: Sequence[EquivalenceClass], masks: _Masks) -> SeatedGraphs:
    """The irreducible members of some classes that respect knowledge."""
    seatings = [part for each in classes for part in each.irreducible_seatings(*masks)]
    return SeatedGraphs(seatings, classes[0].names)


def fitted_members(
    graphs: Sequence[DirectedGraph], tables: Tables, knowledge: Knowledge | None = None
) -> MemberList:
    """The graphs that respect the knowledge, fitted to tables with interventions.

    With groups a graph has parameters for each, and none if it is not stable in every group.
    """
    members = []
    masks = (knowledge or Knowledge()).masks(graphs[0].names)
    kept = [graph for graph in graphs if respects(graph, masks)]
    for graph in kept:
        fitted = fit(graph, tables)
        each = [fitted] if isinstance(fitted, FittedModel) else fitted.models.values()
        stable = [_stable_models(own) for own in each]
        models = tuple(chain(*stable)) if all(stable) else ()
        fault: Literal["", "unstable"] = "" if models else "unstable"
        members.append(Member(graph, models, fault=fault))
    first = next(iter(tables.by_group.values()))
    shared = shared_variation(Experiments.of(first).moments, graphs[0].names)
    return MemberList(tuple(members), "all", len(members), len(graphs) - len(kept), shared)


def shared_variation(moments: Moments, names: tuple[str, ...]) -> FloatArray:
    """Covariances among exogenous variables, zero elsewhere."""
    aligned = moments.aligned_to(names)
    given = np.outer(aligned.is_exogenous, aligned.is_exogenous) & ~np.eye(len(names), dtype=bool)
    return np.where(given, aligned.covariance, 0.0)


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


def respects(graph: DirectedGraph, masks: _Masks) -> bool:
    """Whether all edges of a graph are allowed and all required edges there."""
    allowed, required = masks
    A = graph.adjacency
    return not ((A & ~allowed) | (required & ~A)).any()


def _chosen(
    members: SeatedGraphs, max_members: int, random_state: RandomState
) -> tuple[Counter[DirectedGraph], Selection, int | None]:
    """Members to examine, how often each was drawn, and how many there are."""
    try:
        size = members.size
    except LimitError:
        listed = iter(members)
        first = Counter(islice(listed, max_members))
        return first, "all" if next(listed, None) is None else "first", None
    if size <= max_members:
        return Counter(members), "all", size
    # Python's own generator draws whole numbers of any size.
    source = Random(int(generator(random_state).integers(2**62)))
    drawn = Counter(members.draw(source.randrange(size), source) for _ in range(max_members))
    return drawn, "sampled", size


def fitted_member(graph: DirectedGraph, tables: Sequence[Moments], times: int = 1) -> Member:
    """A graph with its stable fits to all tables; ``times`` counts its draws."""
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
