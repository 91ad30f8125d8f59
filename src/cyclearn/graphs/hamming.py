"""Structural Hamming distance between directed graphs."""

from __future__ import annotations

import numpy as np

from cyclearn.graphs.directed_graph import DirectedGraph


def structural_hamming_distance(g: DirectedGraph, h: DirectedGraph) -> int:
    """Number of edges to add, remove or turn to make the graphs equal.

    Per unordered pair of nodes: 0 if equal, 1 if one edge must be added, removed or turned, 2 if
    i ⇄ j stands against nothing.

    Examples
    --------
    >>> g = DirectedGraph.from_edges([("a", "b"), ("b", "c")])
    >>> h = DirectedGraph.from_edges([("b", "a")], names=["a", "b", "c"])
    >>> structural_hamming_distance(g, h)
    2
    """
    differs = g.adjacency != h.reordered(g.names).adjacency
    n_turned = np.count_nonzero(np.triu(differs & differs.T & (g.adjacency != g.adjacency.T)))
    return int(np.count_nonzero(differs) - n_turned)
