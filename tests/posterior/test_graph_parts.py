"""Graphs put together from parts, against sums over all orders and all graphs."""

import numpy as np
import pytest
from naive_posterior import all_graphs, orders_of

import cyclearn as cl
from cyclearn import DirectedGraph, Knowledge
from cyclearn._kernels.assembled_graphs import part_shares
from cyclearn.data import as_moments
from cyclearn.data.reading import as_tables
from cyclearn.posterior import graph_parts
from cyclearn.posterior.chain import ComponentMemory, GraphChain
from cyclearn.posterior.graph_parts import PartsList
from cyclearn.posterior.learned_proposals import Proposals
from cyclearn.posterior.sampler_effort import SamplerEffort
from cyclearn.search.options import SearchOptions


def chain_of(p, *, seed=0, n=150, start=None, penalty=1.0, **options):
    graph = cl.simulate.random_graph(p, random_state=seed)
    moments = as_moments(
        cl.simulate.random_model(graph, random_state=seed).sample(n, random_state=seed)
    )
    problem = SearchOptions(penalty=penalty, **options).problem(as_tables(moments))
    start = np.zeros((p, p), np.uint8) if start is None else start
    chain = GraphChain(problem, ComponentMemory(p), start, seed=seed + 1)
    return moments, problem, chain


def weigh_alone(chain, nodes, parents=0):
    """Log weights of single nodes with parents, these as bits."""
    nodes = np.array(nodes, dtype=np.int64)
    columns = np.zeros((len(nodes), len(chain.graph)), np.int64)
    columns[np.arange(len(nodes)), nodes] = parents
    return chain.weigh(1 << nodes, columns)


def log_weight(problem, A):
    """What a graph weighs beside the one without edges: score and price, as a logarithm."""
    score = problem.score()
    return problem.tables.n_effective * (score.value(np.zeros_like(A)) - score.value(A))


@pytest.mark.uncompiled
@pytest.mark.parametrize(
    "options", [{}, {"max_parents": 1}, {"knowledge": Knowledge(forbidden=[("X1", "X2")])}]
)
def test_the_sum_over_orders_is_that_over_all_graphs(options):
    _, problem, chain = chain_of(3, seed=2, **options)
    parts = PartsList(problem, chain.weigh).parts(np.zeros(2))
    without_edges = weigh_alone(chain, range(3)).sum()
    ordered = 0.0
    for A in all_graphs(3):
        graph = DirectedGraph(A.astype(bool))
        is_permitted = (problem.allowed >= A).all() and A.sum(axis=0).max() <= (
            options.get("max_parents", 3)
        )
        if graph.is_acyclic and is_permitted:
            ordered += orders_of(graph) * np.exp(log_weight(problem, A))
    assert parts.leading[-1] == pytest.approx(without_edges + np.log(ordered), abs=1e-8)


def test_weights_that_differ_by_thousands_are_summed():
    _, problem, chain = chain_of(4, seed=2, n=100_000)
    parts = PartsList(problem, chain.weigh).parts(np.zeros(2))
    logs = weigh_alone(chain, np.repeat(range(4), 16), np.tile(range(16), 4))
    assert logs.max() - logs.min() > 10_000
    assert np.isfinite(parts.leading).all()


def test_loops_that_chains_meet_or_refuse_become_parts():
    _, problem, chain = chain_of(3, seed=4, stable=False)
    known = PartsList(problem, chain.weigh)
    n_single = len(known.parts(np.zeros(2)).logs)
    chain.run(1, 1, 300)
    n_met = int(chain.met.size[0])
    met = {tuple(row) for row in chain.met.columns[:n_met].tolist()}
    assert len(met) == n_met > chain.accepted[-1]
    known.learn([chain.met, chain.met])
    parts = known.parts(np.zeros(2))
    assert len(parts.logs) == n_single + n_met
    assert met <= {tuple(row) for row in parts.columns.tolist()}
    for row, log in zip(chain.met.columns[:n_met], chain.met.logs, strict=False):
        A = (row >> np.arange(3)[:, None] & 1).astype(np.uint8)
        alone = [v for v in range(3) if row[v] == 0]
        rest = weigh_alone(chain, alone).sum()
        empty = weigh_alone(chain, range(3)).sum()
        assert log + rest - empty == pytest.approx(log_weight(problem, A), abs=1e-6)
    chain.propose(Proposals.alike(3))
    assert chain.met.size[0] == 0


@pytest.mark.uncompiled
def test_the_loops_that_most_graphs_have_stay():
    """Shares of parts are sums over all graphs made of them."""
    _, problem, chain = chain_of(3, seed=4, stable=False)
    known = PartsList(problem, chain.weigh)
    chain.run(1, 1, 300)
    known.learn([chain.met])
    tilts = np.array([0.4, 0.3])
    parts = known.parts(tilts)
    shares = dict.fromkeys(map(tuple, parts.columns.tolist()), 0.0)
    for A in all_graphs(3):
        graph = DirectedGraph(A.astype(bool))
        columns = (1 << np.arange(3)) @ A.astype(np.int64)
        its = [
            tuple(np.where(np.isin(range(3), nodes), columns, 0).tolist())
            for nodes in graph.component_indices
        ]
        if all(part in shares for part in its if np.count_nonzero(part) > 1):
            tilt = tilts @ (3 - len(its), graph.n_edges)
            weight = orders_of(graph) * np.exp(log_weight(problem, A) + tilt)
            # Single nodes without parents are one part each, but have the same columns.
            for part in set(its):
                shares[part] += weight
    is_loop = np.count_nonzero(parts.columns, axis=1) > 1
    loops = [tuple(row) for row in parts.columns[is_loop].tolist()]
    found = part_shares(parts)[is_loop]
    expected = np.log([shares[loop] for loop in loops])
    assert len(loops) > 10
    assert found - found[0] == pytest.approx(expected - expected[0], abs=1e-6)
    few = {tuple(row) for row in known.parts(tilts, 5).columns.tolist()} & set(loops)
    assert few == {loops[k] for k in np.argsort(-expected, kind="stable")[:5]}


def test_where_there_is_no_room_the_most_promising_loops_stay(monkeypatch):
    _, problem, chain = chain_of(4, seed=4, stable=False)
    known = PartsList(problem, chain.weigh)
    chain.run(1, 1, 3000)
    known.learn([chain.met])
    assert len(known.parts(np.zeros(2)).sets) > 7
    monkeypatch.setattr(graph_parts, "EFFORT", SamplerEffort(most_loops=5, most_node_sets=6))
    best = known._loops.keys[:5].tolist()
    known.learn([chain.met])
    assert known._loops.keys.tolist() == best
    assert len(known.parts(np.zeros(2)).sets) <= 6


def test_loops_keep_to_knowledge_and_limits():
    knowledge = Knowledge(forbidden=[("X1", "X2")], required=[("X3", "X4")])
    start = np.zeros((4, 4), np.uint8)
    start[2, 3] = 1
    options = {"knowledge": knowledge, "max_parents": 2}
    _, problem, chain = chain_of(4, seed=3, n=80, start=start, **options)
    known = PartsList(problem, chain.weigh)
    chain.run(1, 1, 3000)
    known.learn([chain.met])
    parts = known.parts(np.zeros(2))
    rows = [row for row in parts.columns.tolist() if np.count_nonzero(row) > 1]
    assert rows
    for row in rows:
        assert not row[1] & 0b0001
        assert row[3] == 0 or row[3] & 0b0100
        assert all(column.bit_count() <= 2 for column in row)
