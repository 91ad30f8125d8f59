"""The open graphs, which an experiment could distinguish, of a result, a class or a graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import TypeAlias

from cyclearn.classes import EquivalenceClass, InterventionalClass
from cyclearn.classes.graph_class import GraphClass
from cyclearn.data import Moments
from cyclearn.foundation import InputError, LimitError
from cyclearn.foundation.random_state import RandomState
from cyclearn.graphs import DirectedGraph
from cyclearn.models import FittedModel, LinearGaussianModel
from cyclearn.models.projection import moments_of
from cyclearn.results.result import LearnResult
from cyclearn.search.knowledge import Knowledge
from cyclearn.search.members import Member, list_members, respects

OpenGraphs: TypeAlias = LearnResult | EquivalenceClass | InterventionalClass | DirectedGraph


@dataclass(frozen=True, eq=False)
class Listed:
    """The graphs that are open, with their parameter sets if there is a model.

    ``n_unstable`` counts equally good graphs that were omitted because they have no stable fit.
    ``probable`` has the most probable graphs of a posterior with their probabilities, if there is
    one.
    """

    members: tuple[Member, ...]
    selection: str
    size: int | None
    tables: tuple[tuple[int, ...], ...]
    n_observed: float
    has_model: bool
    has_ties: bool = False
    n_unstable: int = 0
    probable: Sequence[tuple[DirectedGraph, float]] = ()


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
                "rows can be predicted only for a class of observational data, not of several "
                "tables; omit the model, or give the class of the observational data"
            )
        return _listed(given, given.design.tables, max_members, random_state)
    if isinstance(given, LearnResult):
        if given.lags:
            raise InputError(
                f"the result was learned with lags={given.lags}, and experiments on time series "
                "cannot be planned; give the class of the graph within a row: "
                "cl.equivalence_class(result.within_graph)"
            )
        if given.experiments is not None:
            found = list_open(given.equivalence_class, model, max_members, random_state)
            return _respecting(found, given.knowledge)
        if model is None and not given.groups:
            model = given.model
        # With several groups it is unknown which one the experiment is for, so rows are not
        # predicted.
        moments = [fitted.moments for fitted in given.models.values()]
        return _fitted(
            (given.graph, *given.alternatives),
            moments if model is None else model,
            given.knowledge,
            max_members,
            random_state,
        )
    if not isinstance(given, (EquivalenceClass, DirectedGraph)):
        raise InputError(
            f"got {type(given).__name__}; give a result of learn (cl.load reads a saved one), a "
            "graph or a class of graphs"
        )
    if model is not None:
        return _fitted((given,), model, None, max_members, random_state)
    members = given if isinstance(given, EquivalenceClass) else EquivalenceClass(given)
    return _listed(members, ((),), max_members, random_state)


def _fitted(
    starts: tuple[DirectedGraph | EquivalenceClass, ...],
    model: LinearGaussianModel | FittedModel | Sequence[Moments],
    knowledge: Knowledge | None,
    max_members: int,
    random_state: RandomState,
) -> Listed:
    names, n_observed = starts[0].names, inf
    if isinstance(model, FittedModel):
        tables, n_observed = [model.moments], model.n_effective
    elif isinstance(model, LinearGaussianModel):
        tables = [moments_of(model, names)]
    else:
        tables = list(model)
    listed = list_members(
        starts,
        [moments.aligned_to(names) for moments in tables],
        knowledge,
        max_members=max_members,
        random_state=random_state,
    )
    stable = tuple(member for member in listed.members if member.is_stable)
    if not stable:
        raise InputError(
            "no graph of the class has a stable fit; to plan an experiment from structure alone, "
            "give the class without a model"
        )
    return Listed(
        stable,
        listed.selection,
        sum(m.times for m in stable) if listed.selection == "all" else None,
        ((),),
        n_observed,
        has_model=isinstance(model, (FittedModel, LinearGaussianModel)),
        has_ties=len(starts) > 1,
        n_unstable=sum(member.times for member in listed.members if not member.is_stable),
    )


def _respecting(found: Listed, knowledge: Knowledge | None) -> Listed:
    """The graphs that do not contradict the knowledge."""
    if knowledge is None:
        return found
    masks = knowledge.masks(found.members[0].graph.names)
    kept = tuple(member for member in found.members if respects(member.graph, masks))
    if not kept:
        raise InputError(
            "all graphs that were examined contradict the knowledge; raise max_members, or use "
            "the class itself: next_experiment(result.equivalence_class)"
        )
    size = sum(member.times for member in kept) if found.selection == "all" else None
    return replace(found, members=kept, size=size)


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
