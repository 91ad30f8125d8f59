"""Hypothesis generators of graphs, and of pairs that are linked by steps."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, islice

import numpy as np
from hypothesis import strategies as st

from cyclearn import DirectedGraph
from cyclearn.classes.steps import CycleReversion, ParentExchange, ParentReduction
from cyclearn.graphs.bitsets import bits


def iter_reductions(graph: DirectedGraph) -> Iterator[ParentReduction]:
    """Stream the parent reductions that the graph allows now."""
    for j, k in combinations(range(graph.n_nodes), 2):
        if graph.columns[j] == graph.columns[k]:
            for child, twin in ((j, k), (k, j)):
                for parent in bits(graph.columns[child] ^ (1 << child)):
                    yield ParentReduction(child, twin, parent)


def iter_exchanges(graph: DirectedGraph) -> Iterator[ParentExchange]:
    """Stream the parent exchanges that the graph allows now."""
    for j, k in combinations(range(graph.n_nodes), 2):
        if (graph.columns[j] ^ graph.columns[k]).bit_count() == 1:
            for loser, partner in ((j, k), (k, j)):
                for dropped in bits(graph.columns[loser] ^ (1 << loser)):
                    yield ParentExchange.of(graph, loser, partner, drop=dropped)


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


def iter_reversions(graph: DirectedGraph) -> Iterator[CycleReversion]:
    """Stream the reversions of the simple cycles of the graph."""
    for cycle in graph.simple_cycles():
        yield CycleReversion.of(graph, *cycle)


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
