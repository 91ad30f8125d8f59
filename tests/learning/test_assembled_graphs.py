"""Graphs put together from parts, against sums over all orders and all graphs."""

from collections import Counter
from itertools import permutations, product

import numpy as np
import pytest
from naive_posterior import summed_posterior

import cyclearn as cl
from cyclearn import DirectedGraph, Knowledge
from cyclearn._kernels.assembled_graphs import number_of_orders
from cyclearn.learning.graph_chain import ComponentMemory, GraphChain
from cyclearn.learning.graph_parts import share_groups, single_nodes
from cyclearn.learning.options import SearchOptions
from cyclearn.models import as_moments
from cyclearn.models.tables import as_tables


def chain_of(p, *, seed=0, n=150, start=None, penalty=1.0, **options):
    graph = cl.simulate.random_graph(p, random_state=seed)
    moments = as_moments(
        cl.simulate.random_model(graph, random_state=seed).sample(n, random_state=seed)
    )
    problem = SearchOptions(penalty=penalty, **options).problem(as_tables(moments))
    start = np.zeros((p, p), np.uint8) if start is None else start
    chain = GraphChain(problem, ComponentMemory(p), start, seed=seed + 1)
    return moments, problem, chain


def only_assemble(chain):
    """Let a chain propose nothing but graphs put together from parts."""
    cold = chain._copies[0]
    kinds = np.zeros(len(cold.rules.kinds))
    kinds[-1] = 1.0
    cold.rules = cold.rules._replace(kinds=kinds)


def log_weight(problem, A):
    """What a graph weighs beside the one without edges: score and price, as a logarithm."""
    score = problem.score()
    return problem.tables.n_effective * (score.value(np.zeros_like(A)) - score.value(A))


def orders_of(graph):
    """In how many orders its components can be put."""
    components = list(graph.component_indices)
    found = 0
    for order in permutations(components):
        before: set[int] = set()
        for nodes in order:
            parents = {i for v in nodes for i in np.flatnonzero(graph.adjacency[:, v]).tolist()}
            if not parents <= before | set(nodes):
                break
            before |= set(nodes)
        else:
            found += 1
    return found


@pytest.mark.parametrize("seed", range(5))
def test_orders_are_counted_as_by_trying_all(seed):
    rng = np.random.default_rng(seed)
    for p, density in product((3, 6), (0.1, 0.3)):
        A = rng.random((p, p)) < density
        np.fill_diagonal(A, False)
        graph = DirectedGraph(A)
        nodes = np.array([sum(1 << v for v in c) for c in graph.component_indices])
        columns = (1 << np.arange(p)) @ A
        reached = [np.bitwise_or.reduce(columns[list(c)]) for c in graph.component_indices]
        outside = np.array(reached) & ~nodes
        assert number_of_orders(len(nodes), nodes, outside) == orders_of(graph)


@pytest.mark.parametrize(
    "options", [{}, {"max_parents": 1}, {"knowledge": Knowledge(forbidden=[("X1", "X2")])}]
)
def test_what_leads_to_a_set_is_the_sum_over_all_orders(options):
    _, problem, chain = chain_of(3, seed=2, **options)
    parts = single_nodes(problem, chain.weigh_single)
    without_edges = chain.weigh_single(np.arange(3), np.zeros(3, np.int64)).sum()
    total = 0.0
    pairs = [(i, j) for i in range(3) for j in range(3) if i != j]
    for chosen in product((0, 1), repeat=6):
        A = np.zeros((3, 3), np.uint8)
        for (i, j), is_there in zip(pairs, chosen, strict=True):
            A[i, j] = is_there
        graph = DirectedGraph(A.astype(bool))
        is_permitted = (problem.allowed >= A).all() and A.sum(axis=0).max() <= (
            options.get("max_parents", 3)
        )
        if graph.is_acyclic and is_permitted:
            total += orders_of(graph) * np.exp(log_weight(problem, A))
    assert parts.leading[-1] == pytest.approx(without_edges + np.log(total), abs=1e-8)
    assert parts.chances[-1, :3].sum() == pytest.approx(1)


def test_assembling_alone_visits_graphs_of_parts_as_often_as_they_are_probable():
    ring = np.roll(np.eye(3, dtype=np.uint8), 1, axis=1)
    moments, problem, chain = chain_of(3, seed=4, n=60, start=ring, stable=False)
    chain.assemble_from(single_nodes(problem, chain.weigh_single))
    # The ring is met by a few other steps, of which no more are taken.
    chain.run(1, 50, 20)
    chain.met.at_once[0] = 0
    known = {tuple(row) for row in chain.met.columns[: chain.met.size[1]].tolist()}
    only_assemble(chain)
    n = 20_000
    (batch,) = chain.run(1, n, 3)
    seen = Counter(batch.graphs)

    def is_made_of_parts(graph):
        columns = (1 << np.arange(3)) @ graph.adjacency
        for nodes in graph.component_indices:
            row = tuple(int(columns[v]) if v in nodes else 0 for v in range(3))
            if len(nodes) > 1 and row not in known:
                return False
        return True

    graphs, weights = summed_posterior(moments, 1.0, admits=is_made_of_parts, stable=False)
    expected = {np.packbits(A).tobytes(): w for A, w in zip(graphs, weights, strict=True)}
    assert set(seen) <= set(expected)
    assert len(known) > 1
    for graph, weight in expected.items():
        assert seen[graph] / n == pytest.approx(weight, abs=0.02)


def test_chains_share_the_groups_that_are_parts():
    _, problem, one = chain_of(3, seed=4, stable=False)
    _, _, other = chain_of(3, seed=4, stable=False)
    parts = single_nodes(problem, one.weigh_single)
    for chain in (one, other):
        chain.assemble_from(parts)
    one.run(1, 100, 20)
    assert one.met.size[1] > 0 == other.met.size[0]
    share_groups([one.parts, other.parts], [one.met, other.met])
    assert other.parts.size.tolist() == one.parts.size.tolist()
    assert other.parts.leading == pytest.approx(one.parts.leading)
    assert other.parts.chances.sum(axis=1) == pytest.approx(one.parts.chances.sum(axis=1))


def test_groups_become_parts_once_a_chain_has_left_them():
    """A chain that left where it stands as soon as it knows the place is there too seldom."""
    _, problem, chain = chain_of(3, seed=4, stable=False)
    chain.assemble_from(single_nodes(problem, chain.weigh_single))
    chain.met.at_once[0] = 0
    while chain.met.size[0] == 0:
        chain.run(1, 1, 1)
    only_assemble(chain)
    there = chain.graph.copy()
    assert not DirectedGraph(there.astype(bool)).is_acyclic
    chain.run(1, 1, 300)
    assert (chain.graph == there).all()
    assert chain.met.size.tolist() == [1, 0]
    # On the way to where steps begin to count, nothing is lost by leaving.
    chain.met.at_once[0] = 1
    chain.run(1, 1, 300)
    assert (chain.graph != there).any()
    assert chain.met.size.tolist() == [1, 1]
