"""Hypothesis generators of graphs, and of pairs that are linked by steps."""

from __future__ import annotations

from itertools import islice

import numpy as np
from hypothesis import strategies as st

from cyclearn import DirectedGraph
from cyclearn.classes.steps import iter_exchanges, iter_reductions, iter_reversions


@st.composite
def graphs(draw: st.DrawFn, min_nodes: int = 1, max_nodes: int = 6) -> DirectedGraph:
    p = draw(st.integers(min_nodes, max_nodes))
    density = draw(st.sampled_from([0.15, 0.3, 0.5, 0.8]))
    cells = draw(st.lists(st.floats(0, 1), min_size=p * p, max_size=p * p))
    adjacency = np.array(cells).reshape(p, p) < density
    np.fill_diagonal(adjacency, False)
    return DirectedGraph(adjacency)


@st.composite
def dags(draw: st.DrawFn, max_nodes: int = 6) -> DirectedGraph:
    graph = draw(graphs(max_nodes=max_nodes))
    order = draw(st.permutations(range(graph.n_nodes)))
    adjacency = np.triu(graph.adjacency)
    return DirectedGraph(adjacency[np.ix_(order, order)])


@st.composite
def walks(draw: st.DrawFn, max_nodes: int = 6) -> tuple[DirectedGraph, DirectedGraph]:
    """A graph, and another one that random steps of Theorem 2 lead to."""
    start = graph = draw(graphs(max_nodes=max_nodes))
    for _ in range(draw(st.integers(0, 8))):
        steps = [*iter_reductions(graph), *iter_exchanges(graph)]
        steps += islice(iter_reversions(graph), 30)
        if steps:
            graph = draw(st.sampled_from(steps)).apply(graph)
    return start, graph
