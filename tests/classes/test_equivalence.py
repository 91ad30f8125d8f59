"""Theorems 1 and 2, Propositions 1, 5, 6, 7 and Corollaries 1 to 3."""

from itertools import combinations

import naive
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from cyclearn import (
    DirectedGraph,
    InputError,
    equivalence_class,
    equivalent,
    markov_equivalent,
)
from cyclearn.classes import CycleReversion, ParentReduction, replay
from cyclearn.classes.territories import Territory, is_reducible, reduced_columns, territories
from strategies import dags, graphs, walks


@given(walks())
def test_certificates_replay(pair):
    g, h = pair
    answer = equivalent(g, h)
    assert answer
    assert replay(g, answer.forward).is_subgraph_of(h)
    assert replay(h, answer.backward).is_subgraph_of(g)


@given(walks(max_nodes=5), graphs(max_nodes=5))
def test_is_an_equivalence_relation(pair, other):
    g, h = pair
    assert equivalent(g, g)
    assert equivalent(g, h)
    assert equivalent(h, g)
    if other.n_nodes == g.n_nodes:
        assert bool(equivalent(g, other)) == bool(equivalent(h, other))
        assert bool(equivalent(g, other)) == bool(equivalent(other, g))


@given(graphs(max_nodes=4), st.data())
def test_agrees_with_the_definition(g, data):
    h = data.draw(graphs(min_nodes=g.n_nodes, max_nodes=g.n_nodes))
    assert bool(equivalent(g, h)) == (naive.maps_into(g, h) and naive.maps_into(h, g))


@pytest.mark.parametrize("p", [1, 2, 3, 4])
def test_partition_of_all_graphs(p):
    """The table of classes for small p, and the same partition graph by graph."""
    table = {1: (1, 1, 1), 2: (2, 3, 1), 3: (12, 34, 4), 4: (327, 1397, 59)}
    brute = naive.classes(p)
    assert len({territories(next(iter(group)).columns) for group in brute}) == len(brute)
    assert all(len({territories(g.columns) for g in group}) == 1 for group in brute)
    sizes = [len(group) for group in brute]
    assert (len(sizes), max(sizes), sizes.count(1)) == table[p]


@given(graphs(max_nodes=4))
def test_reducibility_agrees_with_brute_force(g):
    assert is_reducible(g.columns) == naive.is_reducible(g)


@given(graphs())
def test_reduced_is_an_irreducible_subgraph_of_the_class(g):
    reduced = g.reduced()
    assert reduced.is_subgraph_of(g)
    assert not reduced.is_reducible()
    assert g in equivalence_class(reduced)
    assert (reduced == g) == (not g.is_reducible())
    assert reduced.reduced() == reduced


@given(graphs(max_nodes=7))
def test_without_two_cycles_a_graph_is_irreducible(g):
    """Proposition 7."""
    one_way = DirectedGraph(g.adjacency & ~np.tril(g.adjacency.T))
    assert not any(one_way.has_edge(b, a) for a, b in one_way.edges)
    assert not one_way.is_reducible()


@settings(suppress_health_check=[HealthCheck.filter_too_much])
@given(graphs(max_nodes=5), st.data())
def test_columns_that_differ_in_more_than_one_entry(g, data):
    """Proposition 5: then the class is the permutations of the columns."""
    assume(all((a ^ b).bit_count() > 1 for a, b in combinations(g.columns, 2)))
    h = data.draw(graphs(min_nodes=g.n_nodes, max_nodes=g.n_nodes))
    assert bool(equivalent(g, h)) == (sorted(g.columns) == sorted(h.columns))


@given(dags(max_nodes=5), st.data())
def test_dags_are_equivalent_iff_markov_equivalent(g, data):
    """Proposition 1; Corollaries 1 and 2: exchanges alone link equivalent DAGs."""
    h = data.draw(
        st.one_of(
            dags(max_nodes=5).filter(lambda h: h.n_nodes == g.n_nodes),
            st.sampled_from(flipped(g) or [g]),
        )
    )
    answer = equivalent(g, h)
    assert bool(answer) == bool(markov_equivalent(g, h))
    if answer:
        assert not any(isinstance(step, ParentReduction) for step in answer.forward)


def flipped(g):
    """DAGs with one edge of g turned."""
    found = []
    for i, j in np.argwhere(g.adjacency):
        adjacency = g.adjacency.copy()
        adjacency[i, j], adjacency[j, i] = False, True
        h = DirectedGraph(adjacency)
        if h.is_acyclic:
            found.append(h)
    return found


@given(walks(max_nodes=5))
def test_irreducible_graphs_need_no_reduction(pair):
    """Corollary 3: sequences of exchanges and reversions, in both directions."""
    g, h = (DirectedGraph.from_columns(reduced_columns(g.columns), g.names) for g in pair)
    answer = equivalent(g, h)
    assert replay(g, answer.forward) == h
    assert replay(h, answer.backward) == g
    assert not any(isinstance(s, ParentReduction) for s in (*answer.forward, *answer.backward))


@given(graphs(min_nodes=3), st.data())
def test_turning_a_cycle_stays_in_the_class(g, data):
    """Proposition 4."""
    cycles = list(g.simple_cycles())
    assume(cycles)
    turned = CycleReversion.of(g, *data.draw(st.sampled_from(cycles))).apply(g)
    assert equivalent(g, turned)


@settings(max_examples=25)
@given(walks(max_nodes=4), st.integers(0, 10**6))
def test_a_linked_graph_generates_the_same_distribution(pair, seed):
    """A general optimiser finds parameters of one graph for a random distribution of the other."""
    g, h = pair
    rng = np.random.default_rng(seed)
    Q = rng.uniform(0.5, 1.5, g.support.shape) * rng.choice([-1, 1], g.support.shape) * g.support
    theta = Q @ Q.T
    assume(np.linalg.cond(theta) < 1e4)
    free = np.array(h.support)

    def miss(entries):
        R = np.zeros(free.shape)
        R[free] = entries
        gap = R @ R.T - theta
        return np.sum(gap**2), (4 * gap @ R)[free]

    misses = (
        minimize(miss, rng.normal(size=free.sum()), jac=True, tol=1e-14).fun for _ in range(30)
    )
    assert any(found < 1e-8 * np.sum(theta**2) for found in misses)


def test_the_counterexample_to_only_if_is_not_called_a_proof():
    a = DirectedGraph.from_edges([(0, 1), (3, 2), (0, 3), (1, 3), (2, 3)])
    b = DirectedGraph.from_edges([(2, 3), (1, 0), (0, 1), (2, 1), (3, 1)])
    answer = equivalent(a, b)
    assert not answer
    assert answer.forward is None
    assert "does not prove" in answer.explain()


def test_reasons():
    chain = DirectedGraph.from_edges([(0, 1), (1, 2)])
    collider = DirectedGraph.from_edges([(0, 1), (2, 1)])
    assert "numbers of parents" in equivalent(chain, collider).reason
    assert "edges" in equivalent(chain, DirectedGraph.from_edges([(0, 1)], n_nodes=3)).reason
    other = DirectedGraph.from_edges([(0, 2), (1, 2)])
    assert "its parents is {X2};" in equivalent(collider, other).reason
    chains = [DirectedGraph.from_edges(e, n_nodes=4) for e in ([(0, 1), (2, 3)], [(0, 2), (1, 3)])]
    assert "1 of the nodes of {X1, X2}" in equivalent(*chains).reason
    paper = DirectedGraph.from_edges([(0, 2), (2, 1), (1, 3), (3, 0), (3, 2)])
    less = DirectedGraph.from_edges([(0, 2), (2, 1), (1, 3), (3, 2)])
    assert "dimensions 9 and 8" in equivalent(paper, less).explain()
    assert markov_equivalent(paper, less)


def test_order_of_nodes_does_not_matter_but_the_nodes_do():
    g = DirectedGraph.from_edges([("a", "b"), ("b", "c")])
    h = DirectedGraph.from_edges([("b", "a"), ("b", "c")], names=["c", "b", "a"])
    assert equivalent(g, h)
    with pytest.raises(InputError, match="different nodes"):
        equivalent(g, DirectedGraph.from_edges([("a", "b"), ("b", "d")]))


@given(st.sets(st.integers(1, 63), min_size=1, max_size=4), st.integers(0, 4), st.integers(0, 63))
def test_territory_counts_what_it_lists(anchors, size, containing):
    territory = Territory(size, tuple(sorted(anchors)))
    listed = list(territory.iter_sets(containing))
    expected = {
        s
        for s in range(64)
        if s.bit_count() == size and s & containing == containing and s in territory
    }
    assert len(listed) == len(set(listed)) == territory.count(containing)
    assert set(listed) == expected
