"""Graphs put together from parts, against sums over all orders and all graphs."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from naive_posterior import all_graphs, summed_posterior

import cyclearn as cl
from cyclearn import DirectedGraph, Knowledge, LinearGaussianModel
from cyclearn._kernels.group_search import SearchMemory, Seen, climb
from cyclearn._kernels.layered_parts import outlook
from cyclearn.data import as_moments
from cyclearn.data.reading import as_tables
from cyclearn.posterior.chain import ComponentMemory, GraphChain
from cyclearn.posterior.component_search import GroupSearch
from cyclearn.posterior.graph_parts import learn_groups, no_groups, single_nodes
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


@pytest.mark.parametrize(
    "options", [{}, {"max_parents": 1}, {"knowledge": Knowledge(forbidden=[("X1", "X2")])}]
)
def test_sums_over_orders_and_layers_are_those_over_all_graphs(options):
    _, problem, chain = chain_of(3, seed=2, **options)
    parts = single_nodes(problem, chain.weigh_single)
    without_edges = chain.weigh_single(np.arange(3), np.zeros(3, np.int64)).sum()
    total = ordered = 0.0
    for A in all_graphs(3):
        graph = DirectedGraph(A.astype(bool))
        is_permitted = (problem.allowed >= A).all() and A.sum(axis=0).max() <= (
            options.get("max_parents", 3)
        )
        if graph.is_acyclic and is_permitted:
            total += np.exp(log_weight(problem, A))
            ordered += orders_of(graph) * np.exp(log_weight(problem, A))
    assert parts.leading[-1] == pytest.approx(without_edges + np.log(ordered), abs=1e-8)
    assert parts.trailing[0] == pytest.approx(parts.leading[-1])
    # Each graph once, relative to each as often as it has orders.
    assert parts.following[0] == pytest.approx(total / ordered)


def test_the_outlook_of_a_group_with_many_rows_is_finite():
    """Sets of nodes differ by thousands in their logarithms."""
    _, problem, chain = chain_of(4, seed=2, n=100_000)
    parts = single_nodes(problem, chain.weigh_single)
    logs = chain.weigh_single(np.repeat(np.arange(4), 16), np.tile(np.arange(16), 4))
    assert logs.max() - logs.min() > 10_000
    for members, outside in ((0b0011, 0b1100), (0b1100, 0b0011), (0b0101, 0b1010)):
        assert np.isfinite(outlook(parts, members, outside, 0.0))


def test_the_outlook_of_a_group_is_its_share_of_all_orders():
    _, problem, chain = chain_of(3, seed=2)
    parts = single_nodes(problem, chain.weigh_single)
    pair = 0b011
    third = chain.weigh_single(np.full(4, 2), np.arange(4))
    # Alone, the third may come first or last; with parents, last.
    ordered = np.logaddexp.reduce([third[0], *third])
    made_good = 0.45 * np.log(3)
    expected = 1.5 + ordered - parts.leading[-1] + made_good
    assert outlook(parts, pair, 0, 1.5) == pytest.approx(expected, abs=1e-8)
    # With the third as a parent only that one before it is left.
    expected = 1.5 + third[0] - parts.leading[-1] + made_good
    assert outlook(parts, pair, 0b100, 1.5) == pytest.approx(expected, abs=1e-8)


def test_assembling_alone_visits_graphs_of_parts_as_often_as_they_are_probable():
    ring = np.roll(np.eye(3, dtype=np.uint8), 1, axis=1)
    moments, problem, chain = chain_of(3, seed=4, n=60, start=ring, stable=False)
    parts = single_nodes(problem, chain.weigh_single)
    chain.assemble_from(parts)
    # The ring is met by a few other steps, of which no more are taken.
    chain.run(1, 50, 20)
    learn_groups(parts, [chain.met])
    n_parts = parts.size[1]
    known = {tuple(row) for row in parts.columns[12:n_parts].tolist()}
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


def chain_in_a_group():
    """A chain that has just met a group, and proposes nothing but graphs of parts from now on."""
    _, problem, chain = chain_of(3, seed=4, stable=False)
    parts = single_nodes(problem, chain.weigh_single)
    chain.assemble_from(parts)
    while chain.met.size[0] == 0:
        chain.run(1, 1, 1)
    only_assemble(chain)
    assert not DirectedGraph(chain.graph.astype(bool)).is_acyclic
    return chain


def test_a_chain_leaves_a_group_at_once_when_it_is_a_part():
    chain = chain_in_a_group()
    there, n_single = chain.graph.copy(), chain.parts.size[1]
    chain.run(1, 1, 300)
    assert (chain.graph == there).all()
    learn_groups(chain.parts, [chain.met])
    chain.run(1, 1, 300)
    assert (chain.graph != there).any()
    assert chain.parts.size[1] == n_single + 1


def test_a_chain_that_is_lost_goes_on_from_a_drawn_graph():
    chain = chain_in_a_group()
    there = chain.graph.copy()
    chain.assemble_from(chain.parts, patience=50)
    only_assemble(chain)
    chain.run(1, 1, 40)
    assert (chain.graph == there).all()
    chain.run(1, 1, 20)
    assert DirectedGraph(chain.graph.astype(bool)).is_acyclic


def test_groups_in_which_chains_get_lost_become_parts_whatever_they_promise():
    chain = chain_in_a_group()
    n_single = chain.parts.size[1]
    chain.met.logs[0] -= 1e4
    learn_groups(chain.parts, [chain.met])
    assert chain.parts.size[1] == n_single
    chain.assemble_from(chain.parts, patience=50)
    only_assemble(chain)
    chain.run(1, 1, 60)
    learn_groups(chain.parts, [chain.met])
    assert chain.parts.size[1] == n_single + 1


def test_a_chain_may_stay_where_there_is_no_room_for_parts():
    """What cannot become a part would be cut short for ever."""
    chain = chain_in_a_group()
    there = chain.graph.copy()
    n_parts = chain.parts.size[1]
    chain.assemble_from(chain.parts._replace(logs=chain.parts.logs[:n_parts]), patience=50)
    only_assemble(chain)
    chain.run(1, 1, 300)
    assert (chain.graph == there).all()


def test_groups_are_found_by_their_equations():
    """Of all ways to solve the equations of a group, only some are stable."""
    ring = DirectedGraph.from_edges([(0, 1), (1, 2), (2, 0), (3, 0)])
    model = LinearGaussianModel(0.7 * ring.adjacency, np.ones(4), ring.names)
    problem = SearchOptions(penalty=1.0).problem(as_tables(model.sample(2_000, random_state=0)))
    chain = GraphChain(problem, ComponentMemory(4), np.zeros((4, 4), np.uint8), seed=1)
    chain.assemble_from(single_nodes(problem, chain.weigh_single))
    # X1 = X3, X4; X2 = X1; X3 = X2, solved for X3, X1 and X2: the ring turned the other way.
    turned = DirectedGraph.from_edges([(1, 0), (2, 1), (0, 2), (3, 2)])
    assert cl.equivalent(ring, turned)
    found = no_groups(4)
    columns = (1 << np.arange(4)) @ np.stack([turned.adjacency])
    columns[:, 3] = 0
    seen = Seen(np.zeros(1, dtype=np.int64), np.zeros(1 << 10, dtype=np.uint64))
    memory = SearchMemory(seen, seen)
    climb(*chain.kernel_inputs(found), memory, columns, 0, np.array([5], dtype=np.uint64))
    assert found.size[0] == 1
    assert found.columns[0].tolist() == [0b1100, 0b0001, 0b0010, 0]


def known_groups(chain):
    parts = chain.parts
    rows = parts.columns[: parts.size[1]].tolist()
    return {tuple(row) for row in rows if sum(column > 0 for column in row) > 1}


@pytest.mark.parametrize("seed", [1, 3, 4])
def test_the_search_finds_the_groups_that_are_probable(seed):
    moments, problem, chain = chain_of(4, seed=seed, n=80, penalty=2.0)
    GroupSearch(problem, [chain], seed).begin([chain], None)
    found = known_groups(chain)
    graphs, weights = summed_posterior(moments, 2.0)
    probability: Counter[tuple[int, ...]] = Counter()
    for A, weight in zip(graphs, weights, strict=True):
        columns = (1 << np.arange(4)) @ A.astype(np.int64)
        for nodes in DirectedGraph(A.astype(bool)).component_indices:
            if len(nodes) > 1:
                probability[tuple(int(columns[v]) if v in nodes else 0 for v in range(4))] += weight
    likely = {group for group, share in probability.items() if share > 0.01}
    assert len(likely) > 3
    assert likely <= found


def test_the_search_keeps_to_knowledge_and_limits():
    knowledge = Knowledge(forbidden=[("X1", "X2")], required=[("X3", "X4")])
    start = np.zeros((4, 4), np.uint8)
    start[2, 3] = 1
    options = {"knowledge": knowledge, "max_parents": 2}
    _, problem, chain = chain_of(4, seed=3, n=80, start=start, **options)
    GroupSearch(problem, [chain], 0).begin([chain], None)
    found = known_groups(chain)
    assert found
    for group in found:
        assert not group[1] & 0b0001
        assert group[3] == 0 or group[3] & 0b0100
        assert all(column.bit_count() <= 2 for column in group)
