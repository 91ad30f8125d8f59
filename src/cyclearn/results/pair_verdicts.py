"""What all graphs that fit equally well agree on, pair by pair: one verdict for every place.

The graphs are the members of the learned class, and of the classes whose scores tie exactly, that
respect the knowledge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from cyclearn.classes import ClassStatements, EquivalenceClass, class_statements
from cyclearn.classes.class_statements import Verdict, edge_verdict, pair_verdict
from cyclearn.classes.seated_graphs import EdgeCounts
from cyclearn.foundation.errors import LimitError
from cyclearn.graphs import DirectedGraph
from cyclearn.graphs.directed_graph import Edge
from cyclearn.search.knowledge import Knowledge

BoolArray = NDArray[np.bool_]
Counts = tuple[int, int, int, int]


@dataclass(frozen=True)
class PairVerdict:
    """How a pair of nodes is joined over the graphs that fit equally well.

    ``possible`` and ``compelled``: whether some, whether every graph has a → b and b → a.
    ``counts``: graphs with only a → b, only b → a, both, neither, where they could be counted.
    """

    a: str
    b: str
    possible: tuple[bool, bool]
    compelled: tuple[bool, bool]
    can_vanish: bool
    counts: Counts | None = None

    def _edges(self, which: tuple[bool, bool]) -> tuple[Edge, ...]:
        both = ((self.a, self.b), (self.b, self.a))
        return tuple(edge for edge, holds in zip(both, which, strict=True) if holds)

    @property
    def shared_edges(self) -> tuple[Edge, ...]:
        """The edges of this pair that every graph has."""
        return self._edges(self.compelled)

    @property
    def possible_edges(self) -> tuple[Edge, ...]:
        """The edges of this pair that some graph has."""
        return self._edges(self.possible)

    @property
    def verdict(self) -> Verdict:
        """The same in all, turns, or comes and goes."""
        return pair_verdict(self.possible, self.compelled, always_adjacent=not self.can_vanish)

    def edge_verdict(self, edge: Edge) -> Verdict:
        """The verdict on one of the two edges of this pair."""
        compelled, back = self.compelled if edge == (self.a, self.b) else self.compelled[::-1]
        return edge_verdict(
            compelled=compelled, back_compelled=back, always_adjacent=not self.can_vanish
        )

    def count(self, edge: Edge) -> int | None:
        """How many graphs have the edge, where they could be counted."""
        if self.counts is None:
            return None
        forward, backward, both, _ = self.counts
        return both + (forward if edge == (self.a, self.b) else backward)

    def chances(self, edge: Edge) -> str:
        """In how many graphs the edge is, in words."""
        if self.counts is None:
            return "in some of the graphs that fit equally well"
        return f"in {self.count(edge):,} of {sum(self.counts):,} graphs that fit equally well"


def n_equally_good(verdicts: Sequence[PairVerdict]) -> int | None:
    """How many graphs the verdicts are about; None where they could not be counted."""
    if not verdicts:
        return 1
    counts = verdicts[0].counts
    return None if counts is None else sum(counts)


def pair_verdicts(
    graphs: Sequence[DirectedGraph], knowledge: Knowledge | None
) -> tuple[PairVerdict, ...]:
    """Verdicts on all pairs that some graph joins; one graph is given for each class."""
    names = graphs[0].names
    allowed, required = (knowledge or Knowledge()).masks(names)
    classes = [EquivalenceClass(graph) for graph in graphs]
    statements = [
        _statements(graph, each, allowed, required)
        for graph, each in zip(graphs, classes, strict=True)
    ]
    possible = np.any([each.possible for each in statements], axis=0)
    compelled = np.all([each.compelled for each in statements], axis=0)
    adjacent = np.all([each.always_adjacent for each in statements], axis=0)
    counts = _counts(classes, allowed, required)
    return tuple(
        PairVerdict(
            names[i],
            names[j],
            (bool(possible[i, j]), bool(possible[j, i])),
            (bool(compelled[i, j]), bool(compelled[j, i])),
            not adjacent[i, j],
            None if counts is None else counts.get((i, j)),
        )
        for i, j in np.argwhere(np.triu(possible | possible.T)).tolist()
    )


def graph_verdicts(graphs: Sequence[DirectedGraph]) -> tuple[PairVerdict, ...]:
    """Verdicts on all pairs that some graph joins, over these graphs and no others."""
    names = graphs[0].names
    A = np.array([graph.adjacency for graph in graphs])
    back = A.transpose(0, 2, 1)
    forward, both = (A & ~back).sum(axis=0), (A & back).sum(axis=0)
    possible, compelled = np.asarray(A.any(axis=0)), np.asarray(A.all(axis=0))
    found = []
    for i, j in np.argwhere(np.triu(possible | possible.T)).tolist():
        counts = (int(forward[i, j]), int(forward[j, i]), int(both[i, j]))
        found.append(
            PairVerdict(
                names[i],
                names[j],
                (bool(possible[i, j]), bool(possible[j, i])),
                (bool(compelled[i, j]), bool(compelled[j, i])),
                sum(counts) < len(graphs),
                (*counts, len(graphs) - sum(counts)),
            )
        )
    return tuple(found)


def _statements(
    graph: DirectedGraph, members: EquivalenceClass, allowed: BoolArray, required: BoolArray
) -> ClassStatements:
    stated = class_statements(members, allowed, required)
    if not stated.is_empty:
        return stated
    # A graph that keeps a redundant edge because it is required is no irreducible member, but it
    # is an answer all the same.
    A = graph.adjacency
    return ClassStatements(A, A, A | A.T, False)


def _counts(
    classes: Sequence[EquivalenceClass], allowed: BoolArray, required: BoolArray
) -> dict[tuple[int, int], Counts] | None:
    """How the graphs of all classes join each pair; None where they cannot be counted."""
    total = 0
    joined: dict[tuple[int, int], tuple[int, int, int]] = {}
    parts = [part for each in classes for part in each.irreducible_seatings(allowed, required)]
    for seating in parts:
        try:
            sizes = [seating.count(block) for block in seating.blocks]
            if 0 in sizes:
                continue
            for pair in EdgeCounts(seating, sizes):
                before = joined.get((pair.i, pair.j), (0, 0, 0))
                now = (pair.forward, pair.backward, pair.both)
                joined[pair.i, pair.j] = (
                    before[0] + now[0],
                    before[1] + now[1],
                    before[2] + now[2],
                )
        except LimitError:
            return None
        total += prod(sizes)
    if total == 0:
        return None
    return {pair: (*found, total - sum(found)) for pair, found in joined.items()}
