"""The equally good graphs that a page lists, and how they differ from the learned one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cyclearn.graphs import DirectedGraph
from cyclearn.graphs.directed_graph import Edge
from cyclearn.models import LinearGaussianModel
from cyclearn.results import LearnResult
from cyclearn.search.members import Member, MemberList, fitted_members, list_members


@dataclass(frozen=True)
class ListedMember:
    """One graph that fits equally well and how it differs from the learned one.

    ``models`` are its maximum likelihood parameters, as far as they are stable.
    """

    graph: DirectedGraph
    added: tuple[Edge, ...]
    removed: tuple[Edge, ...]
    models: tuple[LinearGaussianModel, ...]

    @property
    def is_stable(self) -> bool:
        """Whether a shock dies out, given the data."""
        return bool(self.models)


@dataclass(frozen=True)
class Listing:
    """Graphs that fit equally well, the learned one first, then those that differ least from it."""

    members: tuple[ListedMember, ...]
    found: MemberList


def listing(result: LearnResult, max_members: int) -> Listing:
    """A limited number of graphs that fit equally well and respect the knowledge."""
    found = (
        fitted_members((result.graph, *result.alternatives), result.experiments.tables)
        if result.experiments is not None
        else list_members(
            (result.graph, *result.alternatives),
            [model.moments for model in result.models.values()],
            result.knowledge,
            max_members=max_members,
        )
    )
    return Listing(listed_by_distance(result, found.members)[:max_members], found)


def listed_by_distance(result: LearnResult, found: Sequence[Member]) -> tuple[ListedMember, ...]:
    """The learned graph, and then these members, those that differ least from it first."""
    members = [member for member in found if member.graph != result.graph]
    others = [_listed(member, result.graph) for member in members]
    others.sort(key=lambda member: len(member.added))
    own = next((m for m in found if m.graph == result.graph), None)
    models = _stable_models(result) if own is None else own.models
    return (ListedMember(result.graph, (), (), models), *others)


def _stable_models(result: LearnResult) -> tuple[LinearGaussianModel, ...]:
    """Parameters of a learned graph that was not drawn among the members."""
    fits = result.models.values()
    stable = [[m for m in (fit.model, *fit.alternatives) if m.is_stable] for fit in fits]
    return tuple(model for models in stable for model in models) if all(stable) else ()


def _listed(member: Member, learned: DirectedGraph) -> ListedMember:
    before, after = set(learned.edges), set(member.graph.edges)
    return ListedMember(
        member.graph,
        tuple(edge for edge in member.graph.edges if edge not in before),
        tuple(edge for edge in learned.edges if edge not in after),
        member.models,
    )
