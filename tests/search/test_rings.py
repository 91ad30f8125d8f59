"""Long cycles: what betrays them, what is proposed, and that the default finds them."""

import networkx as nx
import numpy as np
import pytest

import cyclearn as cl
from cyclearn.data import as_moments
from cyclearn.data.reading import as_tables
from cyclearn.search import annealed_search
from cyclearn.search.annealed_search import AnnealedSearch
from cyclearn.search.closed_rings import iter_ringed, linked_pairs
from cyclearn.search.local_search import Strategy, local_search
from cyclearn.search.options import SearchOptions
from cyclearn.search.runs import Budget
from cyclearn.search.search_effort import StartEffort


def ring_of(p, *, seed=0):
    """A chordless cycle through variables in an order of their own."""
    order = np.random.default_rng(seed).permutation(p)
    adjacency = np.zeros((p, p), dtype=np.uint8)
    adjacency[order, np.roll(order, -1)] = 1
    return adjacency


def sampled(adjacency, n_rows, *, seed=0):
    model = cl.simulate.random_model(cl.DirectedGraph(adjacency), random_state=seed)
    return model.sample(n_rows, random_state=seed)


def test_links_are_the_regressions_on_all_others_that_pay():
    """The gain of a partial correlation is that of one more parent beside all others."""
    rows = sampled(ring_of(6), 300).to_numpy()
    rows = rows - rows.mean(axis=0)
    price = 0.01
    linked = linked_pairs(np.array([rows.T @ rows / len(rows)]), np.ones(1), price)
    for a in range(6):
        for b in set(range(6)) - {a}:
            others = [v for v in range(6) if v not in (a, b)]
            left = [
                np.linalg.lstsq(rows[:, parents], rows[:, a], rcond=None)[1][0]
                for parents in (others, [*others, b])
            ]
            assert linked[a, b] == (np.log(left[0] / left[1]) / 2 > price)
    assert not linked.diagonal().any()


def test_too_few_rows_link_nothing():
    rows = np.random.default_rng(0).standard_normal((4, 6))
    assert not linked_pairs(np.array([np.cov(rows.T)]), np.ones(1), 0.1).any()


@pytest.mark.parametrize("seed", range(20))
def test_rings_have_no_chords_and_replace_what_was_among_them(seed):
    rng = np.random.default_rng(seed)
    graph = np.triu(rng.random((12, 12)) < 0.25, 1).astype(np.uint8)
    linked = rng.random((12, 12)) < 0.2
    linked = np.triu(linked, 1) | np.triu(linked, 1).T
    for ringed, nodes in iter_ringed(graph, linked):
        among = np.ix_(nodes, nodes)
        assert len(nodes) >= 4
        assert nx.is_isomorphic(
            nx.DiGraph(ringed[among]), nx.cycle_graph(len(nodes), create_using=nx.DiGraph)
        )
        assert np.array_equal((ringed | ringed.T)[among].astype(bool), linked[among])
        outside = ringed != graph
        outside[among] = False
        assert not outside.any()


def test_an_acyclic_graph_with_a_collider_on_the_ring_betrays_it():
    ring = np.roll(np.eye(5, dtype=np.uint8), 1, axis=1)
    broken = ring.copy()
    broken[4, 0], broken[0, 4] = 0, 1
    found = [ringed for ringed, _ in iter_ringed(broken, (ring | ring.T).astype(bool))]
    assert len(found) == 2
    assert any(np.array_equal(ringed, ring) for ringed in found)


def test_common_children_do_not_lead_away_from_the_ring():
    true = np.zeros((10, 10), dtype=np.uint8)
    true[range(9), np.roll(range(9), -1)] = 1
    # A child of two nodes of the ring links them.
    true[[3, 5], 9] = 1
    linked = true | true.T
    linked[[3, 5], [5, 3]] = 1
    broken = true.copy()
    broken[8, 0], broken[0, 8] = 0, 1
    found = [ringed for ringed, _ in iter_ringed(broken, linked.astype(bool))]
    assert any(np.array_equal(ringed, true) for ringed in found)


def test_right_graphs_betray_nothing():
    graph = cl.simulate.random_graph(12, 3, 4, random_state=1)
    A = graph.adjacency.astype(bool)
    moral = A | A.T | (A.astype(int) @ A.T.astype(int) > 0)
    np.fill_diagonal(moral, False)
    assert not list(iter_ringed(graph.adjacency.astype(np.uint8), moral))


def test_the_default_finds_a_ring_from_nothing():
    """Without closing rings it ends 7.5 to 12.6 above."""
    ring = ring_of(14, seed=1)
    rows = sampled(ring, 5_000, seed=1)
    result = cl.learn(rows, n_starts=1, random_state=0)
    truth = cl.fit(cl.DirectedGraph(ring, result.graph.names), as_moments(rows))
    assert result.graph.n_edges == 14
    assert result.model.log_likelihood >= truth.log_likelihood - 1e-6


def test_a_ring_that_is_not_permitted_is_not_closed():
    """Knowledge and limits hold for graphs that no single move led to."""
    rows = sampled(ring_of(10, seed=1), 5_000, seed=1)
    names = list(rows.columns)
    tiers = cl.Knowledge(tiers=[names[:5], names[5:]])
    for options in ({"knowledge": tiers}, {"max_component": 6}, {"max_edges": 8}):
        graph = cl.learn(rows, n_starts=1, random_state=0, **options).graph
        if "knowledge" in options:
            assert not any(a in names[5:] and b in names[:5] for a, b in graph.edges)
        assert max(map(len, graph.components)) <= options.get("max_component", 10)
        assert graph.n_edges <= options.get("max_edges", 90)


def test_a_climb_near_some_nodes_changes_no_edge_elsewhere():
    weights = np.zeros((6, 6))
    weights[[0, 1, 3, 4], [1, 2, 4, 5]] = 0.8
    rows = cl.LinearGaussianModel(weights, np.ones(6)).sample(500, random_state=0)
    problem = SearchOptions().problem(as_tables(rows))
    near = np.arange(6) == 1
    empty = np.zeros((6, 6), dtype=np.uint8)
    found = local_search(problem, problem.score(), empty, Strategy(), Budget(), near=near).best
    assert found[1].any() or found[:, 1].any()
    found[1] = found[:, 1] = 0
    assert not found.any()


def test_a_climb_without_additions_only_deletes():
    rows = cl.LinearGaussianModel(np.diag([0.8] * 4, 1), np.ones(5)).sample(500, random_state=0)
    problem = SearchOptions().problem(as_tables(rows))
    start = np.triu(np.ones((5, 5), dtype=np.uint8), 1)
    start[0, 1] = 0
    found = local_search(problem, problem.score(), start, Strategy(), Budget(), adds=False).best
    assert (found <= start).all()
    assert found[[1, 2, 3], [2, 3, 4]].all()
    assert found.sum() < start.sum()


@pytest.mark.parametrize("is_way", [True, False])
def test_a_ring_that_would_make_a_much_larger_component_is_not_closed(monkeypatch, is_way):
    """The ring of four nodes would take in the other twelve, if these were a way beside it."""
    ring, way = [0, 1, 2, 3], [0, *range(4, 16), 2]
    A = np.zeros((16, 16), dtype=np.uint8)
    A[way[:-1], way[1:]] = 1
    A[4, 5] = is_way
    ringed = A.copy()
    ringed[ring, [1, 2, 3, 0]] = 1
    problem = SearchOptions().problem(as_tables(np.random.default_rng(0).normal(size=(100, 16))))
    effort = StartEffort(ring_worse=np.inf)
    search = AnnealedSearch(problem, problem.score(), 0, effort)
    search.run(A, acyclic_stage=False)
    search._graph = A
    climbed = []
    monkeypatch.setattr(annealed_search, "iter_ringed", lambda *_: [(ringed, ring)])
    monkeypatch.setattr(search, "_climb", lambda _, near: climbed.extend(np.flatnonzero(near)))
    search._close_rings()
    assert climbed == ([] if is_way else [0, 1, 2, 3, 4, 15])
