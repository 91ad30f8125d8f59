"""The part of a large graph that changes of edges among a few nodes can affect.

Edges among some nodes open and close cycles only through nodes on paths between them. So only the
values of these nodes change, given their parents; the rest of the graph keeps its value and is not
needed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cyclearn.foundation.arrays import BoolArray, IntArray
from cyclearn.search.runs import Adjacency


@dataclass(frozen=True)
class Surroundings:
    """The part of a graph that edges among some nodes can affect.

    ``index`` numbers its nodes in the whole graph, in ascending order. ``is_inner`` marks those
    that can be on cycles; the others are parents of these, and have none themselves in the part.
    """

    index: IntArray
    is_inner: BoolArray

    @classmethod
    def of(cls, A: Adjacency, nodes: IntArray) -> Surroundings:
        """All nodes on paths between the given ones, and the parents of all these."""
        inner = _reached(A, nodes) & _reached(A.T, nodes)
        index = np.flatnonzero(inner | A[:, inner].any(axis=1))
        return cls(index, inner[index])

    @classmethod
    def everything(cls, p: int) -> Surroundings:
        """All of a graph with p nodes."""
        return cls(np.arange(p), np.ones(p, dtype=bool))

    def places(self, nodes: IntArray) -> IntArray:
        """The numbers that nodes of the whole graph have in the part."""
        return np.searchsorted(self.index, nodes)

    def part(self, A: Adjacency) -> Adjacency:
        """The part of a graph, which may be the graph itself."""
        if len(self.index) == len(A) and self.is_inner.all():
            return A
        part = A[np.ix_(self.index, self.index)]
        part[:, ~self.is_inner] = 0
        return part

    def with_part(self, A: Adjacency, part: Adjacency) -> Adjacency:
        """A graph with this part changed."""
        changed = A.copy()
        changed[np.ix_(self.index, self.index[self.is_inner])] = part[:, self.is_inner]
        return changed


def _reached(A: Adjacency, nodes: IntArray) -> BoolArray:
    """All nodes that directed paths from the given nodes reach, including these."""
    reached = np.zeros(len(A), dtype=bool)
    reached[nodes] = True
    front = nodes
    while front.size:
        following = A[front].any(axis=0) & ~reached
        front = np.flatnonzero(following)
        reached |= following
    return reached
