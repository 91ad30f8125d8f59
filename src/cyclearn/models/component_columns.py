"""The columns of a component as arrays, as the kernels take them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from cyclearn.graphs.directed_graph import DirectedGraph

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ComponentColumns:
    """The columns of one component: nodes, and their parents column by column.

    ``children`` is the child of every edge, aligned with ``parents``; ``inside`` marks the
    edges within the component, and ``ends`` are the places of these in it, shape (2, ·).
    """

    nodes: IntArray
    offsets: IntArray
    parents: IntArray
    children: IntArray
    inside: NDArray[np.bool_]
    ends: IntArray

    @classmethod
    def of(
        cls,
        adjacency: NDArray[np.bool_],
        nodes: Sequence[int],
        order: Sequence[int] | None = None,
    ) -> ComponentColumns:
        """Columns of these nodes; parents may lie outside.

        Nodes and parents stand in ``order``, ascending by default: sums and starts then do not
        depend on the order of the columns of a table.
        """
        walked = np.arange(len(adjacency)) if order is None else np.array(order)
        member = np.zeros(len(adjacency), dtype=bool)
        member[list(nodes)] = True
        index = np.ascontiguousarray(walked[member[walked]], dtype=np.int64)
        places, found = np.nonzero(adjacency.T[np.ix_(index, walked)])
        # nonzero gives strided views, for which the kernels would be compiled a second time.
        places, parents = np.ascontiguousarray(places), np.ascontiguousarray(walked[found])
        offsets = np.zeros(len(index) + 1, dtype=np.int64)
        np.cumsum(np.bincount(places, minlength=len(index)), out=offsets[1:])
        place_of = np.full(len(adjacency), -1, dtype=np.int64)
        place_of[index] = np.arange(len(index))
        inside = place_of[parents] >= 0
        ends = np.stack([place_of[parents[inside]], places[inside]])
        return cls(index, offsets, parents, index[places], inside, ends)

    @cached_property
    def same_column(self) -> NDArray[np.bool_]:
        """Which parameters, coefficients and then variances, belong to the same node."""
        owner = np.concatenate([self.children, self.nodes])
        return np.asarray(owner[:, None] == owner)

    def spectral_radius(self, coefficients: FloatArray) -> float:
        """Largest modulus of an eigenvalue of B restricted to the component."""
        k = len(self.nodes)
        weights = coefficients[self.inside]
        if len(weights) == k:
            # A single cycle: the eigenvalues are the k-th roots of its gain.
            return float(np.abs(np.prod(weights)) ** (1 / k))
        B = np.zeros((k, k))
        B[self.ends[0], self.ends[1]] = weights
        return float(np.abs(np.linalg.eigvals(B)).max())


@lru_cache(maxsize=128)
def component_columns(
    graph: DirectedGraph, order: tuple[int, ...] | None = None
) -> tuple[ComponentColumns | None, tuple[ComponentColumns, ...]]:
    """Columns of the single nodes together (None without any), and of each larger component.

    Nodes and parents stand in ``order``, ascending by default.
    """
    singles = [nodes[0] for nodes in graph.component_indices if len(nodes) == 1]
    loops = [nodes for nodes in graph.component_indices if len(nodes) > 1]
    return (
        ComponentColumns.of(graph.adjacency, singles, order) if singles else None,
        tuple(ComponentColumns.of(graph.adjacency, nodes, order) for nodes in loops),
    )
