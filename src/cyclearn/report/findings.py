"""All that a report says, found out once, before a word of it is written."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import log10
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cyclearn.errors import LimitError
from cyclearn.graphs import DirectedGraph
from cyclearn.graphs.directed_graph import Edge
from cyclearn.learning import LearnResult
from cyclearn.models import DataWarning, check_data, check_fit, fit

if TYPE_CHECKING:
    from cyclearn.models.moments import Data


@dataclass(frozen=True)
class PairVerdict:
    """How a pair of nodes is joined over the members of a class; numbers of members."""

    a: str
    b: str
    forward: int
    backward: int
    both: int
    none: int

    @property
    def size(self) -> int:
        """Number of members."""
        return self.forward + self.backward + self.both + self.none

    @property
    def certain_edges(self) -> tuple[Edge, ...]:
        """The edges of this pair that every member has."""
        ahead = ((self.a, self.b),) if self.forward + self.both == self.size else ()
        back = ((self.b, self.a),) if self.backward + self.both == self.size else ()
        return ahead + back

    @property
    def is_settled(self) -> bool:
        """Whether the pair is joined in the same way in every member."""
        return self.size in (self.forward, self.backward, self.both)

    @property
    def can_vanish(self) -> bool:
        """Whether the pair is not joined in some member."""
        return self.none > 0

    def chances(self, edge: Edge) -> int:
        """In how many members the edge is."""
        return self.both + (self.forward if edge == (self.a, self.b) else self.backward)


@dataclass(frozen=True)
class Member:
    """One graph of the class: how it differs from the learned one, and whether it can be stable."""

    graph: DirectedGraph
    added: tuple[Edge, ...]
    removed: tuple[Edge, ...]
    is_stable: bool


@dataclass(frozen=True, eq=False)
class Findings:
    """A result seen with the eyes of a reader."""

    result: LearnResult
    warnings: tuple[DataWarning, ...]
    has_rows: bool
    size: int | None
    pairs: tuple[PairVerdict, ...] | None
    members: tuple[Member, ...]
    is_complete: bool

    @property
    def graph(self) -> DirectedGraph:
        """The learned graph."""
        return self.result.graph

    @cached_property
    def loops(self) -> tuple[tuple[str, ...], ...]:
        """Feedback groups: strongly connected components of more than one node."""
        return tuple(nodes for nodes in self.graph.components if len(nodes) > 1)

    @cached_property
    def standardised(self) -> NDArray[np.float64]:
        """Weights in standard deviations of effect for one of cause, shape (p, p)."""
        scale = self.result.model.moments.scale
        return self.result.model.B * scale[:, None] / scale

    @cached_property
    def certain(self) -> frozenset[Edge] | None:
        """Edges that every member of the class has; None where they could not be counted."""
        if self.pairs is None:
            return None
        return frozenset(edge for pair in self.pairs for edge in pair.certain_edges)

    @property
    def size_in_words(self) -> str:
        """The number of members, however large."""
        if self.size is None:
            return "an unknown number of"
        return f"{self.size:,}" if self.size < 10**15 else f"about 10^{int(log10(self.size))}"


def find_out(result: LearnResult, data: Data | None, max_members: int) -> Findings:
    """Everything that the report of a result needs and the result does not hold by itself."""
    from cyclearn.models import Moments

    rows = result.model.moments if data is None else data
    graphs = result.equivalence_class
    pairs: tuple[PairVerdict, ...] | None = None
    size: int | None = None
    try:
        size = graphs.size
        pairs = tuple(
            PairVerdict(
                row.a,
                row.b,
                int(row.forward),
                int(row.backward),
                int(row.both),
                size - int(row.adjacent),
            )
            for row in graphs.edge_table().itertuples()
        )
    except LimitError:
        # Members can still be listed; the report says that they could not be counted.
        pass
    listed = graphs.members(max_members)
    return Findings(
        result,
        warnings=(*check_data(rows), *check_fit(result.model)),
        has_rows=not isinstance(rows, Moments),
        size=size,
        pairs=pairs,
        members=_members(result, listed.graphs, max_members),
        is_complete=listed.complete,
    )


def _members(
    result: LearnResult, graphs: tuple[DirectedGraph, ...], max_members: int
) -> tuple[Member, ...]:
    """The learned graph, then the others, those that differ least from it first."""
    learned = set(result.graph.edges)
    members = [Member(result.graph, (), (), result.model.is_stable)]
    for graph in graphs:
        edges = set(graph.edges)
        if edges == learned:
            continue
        members.append(
            Member(
                graph,
                tuple(edge for edge in graph.edges if edge not in learned),
                tuple(edge for edge in result.graph.edges if edge not in edges),
                fit(graph, result.model.moments).is_stable,
            )
        )
    members.sort(key=lambda member: len(member.added))
    return tuple(members[:max_members])
