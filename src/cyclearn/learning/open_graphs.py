"""The graphs that an experiment could tell apart: what data, a class or a graph leave open."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import inf
from typing import TypeAlias

from cyclearn.classes import EquivalenceClass, InterventionalClass
from cyclearn.classes.graph_class import GraphClass
from cyclearn.errors import InputError, LimitError
from cyclearn.graphs import DirectedGraph
from cyclearn.json_input import short
from cyclearn.learning.knowledge import Knowledge
from cyclearn.learning.members import Member, list_members
from cyclearn.learning.result import LearnResult
from cyclearn.models import FittedModel, LinearGaussianModel, Moments
from cyclearn.random_state import RandomState

OpenGraphs: TypeAlias = LearnResult | EquivalenceClass | InterventionalClass | DirectedGraph


@dataclass(frozen=True, eq=False)
class Listed:
    """The graphs that are open, with their parameter sets where a model says so."""

    members: tuple[Member, ...]
    selection: str
    size: int | None
    tables: tuple[tuple[int, ...], ...]
    n_observed: float
    has_model: bool
    has_ties: bool = False


def list_open(
    given: OpenGraphs,
    model: LinearGaussianModel | FittedModel | None,
    max_members: int,
    random_state: RandomState,
) -> Listed:
    """The graphs that are open, at most ``max_members``; with a model, their stable fits."""
    if isinstance(given, InterventionalClass):
        if model is not None:
            raise InputError(
                "rows are predicted beside observed data alone, and the class has further tables; "
                "leave the model out, or give the class of observed data"
            )
        return _listed(given, given.design.tables, max_members, random_state)
    if isinstance(given, LearnResult) and given.experiments is not None:
        # Which tables are already there is part of the class.
        return list_open(given.interventional_class, model, max_members, random_state)
    if isinstance(given, LearnResult):
        model = given.model if model is None else model
        return _fitted(
            (given.graph, *given.alternatives),
            model,
            given.options.knowledge,
            max_members,
            random_state,
        )
    if not isinstance(given, (EquivalenceClass, DirectedGraph)):
        raise InputError(
            f"{short(given)} is neither a result of learn nor a class of graphs; give one of them"
        )
    if model is not None:
        return _fitted((given,), model, None, max_members, random_state)
    members = given if isinstance(given, EquivalenceClass) else EquivalenceClass(given)
    return _listed(members, ((),), max_members, random_state)


def _fitted(
    starts: tuple[DirectedGraph | EquivalenceClass, ...],
    model: LinearGaussianModel | FittedModel,
    knowledge: Knowledge | None,
    max_members: int,
    random_state: RandomState,
) -> Listed:
    if isinstance(model, FittedModel):
        moments, n_observed = model.moments, model.n_effective
    else:
        p = model.n_variables
        moments = Moments(model.covariance, p + 2, model.mean, model.names)
        n_observed = inf
    listed = list_members(
        starts,
        moments.aligned_to(starts[0].names),
        knowledge,
        max_members=max_members,
        random_state=random_state,
    )
    stable = tuple(member for member in listed.members if member.is_stable)
    if not stable:
        raise InputError(
            "no graph of the class has a stable fit; give the class without a model to plan an "
            "experiment by structure alone"
        )
    size = sum(m.times for m in stable) if listed.selection == "all" else None
    return Listed(stable, listed.selection, size, ((),), n_observed, True, len(starts) > 1)


def _listed(
    members: GraphClass,
    tables: tuple[tuple[int, ...], ...],
    max_members: int,
    random_state: RandomState,
) -> Listed:
    try:
        size: int | None = members.size
    except LimitError:
        size = None
    if size is not None and size > max_members:
        drawn, selection = Counter(members.sample(max_members, random_state)), "sampled"
    else:
        listing = members.members(max_members)
        drawn, selection = Counter(listing.graphs), "all" if listing.complete else "first"
    found = tuple(Member(graph, (), times) for graph, times in drawn.items())
    return Listed(found, selection, size, tables, inf, False)
