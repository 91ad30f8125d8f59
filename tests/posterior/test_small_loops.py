"""Loops known before chains begin, against all loops of three nodes and single changes."""

import numpy as np
import pytest
from naive_posterior import all_graphs
from test_graph_parts import chain_of

from cyclearn import DirectedGraph, Knowledge
from cyclearn.posterior.graph_parts import PartsList

KNOWLEDGE = Knowledge(forbidden=[("X1", "X2")], required=[("X3", "X4")])


def loops_of(p, **options):
    _, problem, chain = chain_of(p, **options)
    return problem, chain, PartsList(problem, chain.weigh)


def as_matrix(columns):
    return (columns >> np.arange(len(columns))[:, None] & 1).astype(bool)


@pytest.mark.parametrize(
    "options", [{}, {"max_parents": 2, "knowledge": KNOWLEDGE}, {"max_component": 3}]
)
def test_loops_are_admitted_and_no_single_edge_improves_them(options):
    start = np.zeros((5, 5), np.uint8)
    start[2, 3] = "knowledge" in options
    problem, chain, known = loops_of(5, seed=3, start=start, **options)
    score, most = problem.score(), problem.limits.max_parents
    assert len(known._columns) > 10
    for columns, log in zip(known._columns, known._logs, strict=True):
        A, nodes = as_matrix(columns), tuple(np.flatnonzero(columns).tolist())
        assert len(nodes) > 1
        assert DirectedGraph(A).component_indices.count(nodes) == 1
        assert problem.admits_component(score, nodes, tuple(columns[list(nodes)].tolist()))
        assert (problem.allowed >= A).all()
        assert (problem.required[:, nodes] <= A[:, nodes]).all()
        bits = np.array([sum(1 << v for v in nodes)])
        for i, j in zip(*np.nonzero(problem.allowed & ~problem.required), strict=True):
            changed = columns.copy()
            changed[j] ^= 1 << i
            if i not in nodes and j in nodes and int(changed[j]).bit_count() <= most:
                assert chain.weigh(bits, changed[None])[0] <= log + 1e-6


def test_the_best_loop_on_any_two_or_three_nodes_is_known():
    _, chain, known = loops_of(3, seed=4, n=500, stable=False)
    best = {}
    for A in all_graphs(3):
        for nodes in DirectedGraph(A.astype(bool)).component_indices:
            if len(nodes) > 1:
                columns = np.zeros(3, dtype=np.int64)
                columns[list(nodes)] = ((1 << np.arange(3)) @ A.astype(np.int64))[list(nodes)]
                log = chain.weigh(np.array([sum(1 << v for v in nodes)]), columns[None])[0]
                best[nodes] = max(best.get(nodes, -np.inf), log)
    assert len(best) == 4
    for nodes, log in best.items():
        its = [tuple(np.flatnonzero(columns).tolist()) == nodes for columns in known._columns]
        assert known._logs[its].max() == pytest.approx(log)


def test_a_loop_has_the_key_that_chains_give_it():
    _, chain, known = loops_of(4, seed=4, stable=False)
    chain.run(1, 1, 3000)
    n = int(chain.met.size[0])
    met = {
        tuple(row): key
        for row, key in zip(chain.met.columns[:n].tolist(), chain.met.keys[:n], strict=True)
    }
    shared = [k for k, row in enumerate(known._columns.tolist()) if tuple(row) in met]
    assert shared
    assert all(known._keys[k] == met[tuple(known._columns[k].tolist())] for k in shared)
