from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from naive_separation import naive_statements

from cyclearn.foundation.errors import InputError
from cyclearn.graphs.directed_graph import DirectedGraph
from cyclearn.graphs.markov import markov_equivalent, markov_signature
from cyclearn.graphs.separation import columns_d_separated
from slow_tests import few


def statements(graph):
    nodes = range(graph.n_nodes)
    return frozenset(
        (a, b, given)
        for a, b in combinations(nodes, 2)
        for given in range(1 << graph.n_nodes)
        if not given & (1 << a | 1 << b)
        and columns_d_separated(graph.columns, 1 << a, 1 << b, given)
    )


def all_graphs(n_nodes):
    choices = [
        [1 << j | other for other in range(1 << n_nodes) if not other >> j & 1]
        for j in range(n_nodes)
    ]
    names = tuple(f"X{i + 1}" for i in range(n_nodes))
    for columns in product(*choices):
        yield DirectedGraph.from_columns(columns, names)


@st.composite
def graphs(draw, n_nodes):
    flat = draw(st.lists(st.booleans(), min_size=n_nodes**2, max_size=n_nodes**2))
    sparse = draw(st.lists(st.booleans(), min_size=n_nodes**2, max_size=n_nodes**2))
    adjacency = (np.array(flat) & np.array(sparse)).reshape(n_nodes, n_nodes)
    np.fill_diagonal(adjacency, False)
    return DirectedGraph(adjacency)


def with_edge_flipped(graph, i, j):
    columns = list(graph.columns)
    columns[j] ^= 1 << i
    return DirectedGraph.from_columns(columns, graph.names)


def with_cycle_reversed(graph, cycle):
    # Each member of the cycle gives its column to its predecessor.
    indices = [graph.index(name) for name in cycle]
    columns = list(graph.columns)
    for place, node in enumerate(indices):
        columns[indices[place - 1]] = graph.columns[node]
    return DirectedGraph.from_columns(columns, graph.names)


@pytest.mark.parametrize(("n_nodes", "n_classes"), [(1, 1), (2, 2), (3, 11), (4, 194)])
def test_signatures_partition_all_graphs_as_their_d_separations_do(n_nodes, n_classes):
    described = {(markov_signature(g), statements(g)) for g in all_graphs(n_nodes)}
    assert len(described) == n_classes
    assert len({signature for signature, _ in described}) == n_classes
    assert len({separations for _, separations in described}) == n_classes


@pytest.mark.parametrize("n_nodes", [5, 6])
def test_an_edge_changes_the_signature_exactly_if_it_changes_a_d_separation(n_nodes):
    @settings(max_examples=150, deadline=None)
    @given(graphs(n_nodes), st.data())
    def check(g, data):
        pairs = [(i, j) for i, j in product(range(n_nodes), repeat=2) if i != j]
        h = with_edge_flipped(g, *data.draw(st.sampled_from(pairs)))
        assert markov_equivalent(g, h) == (statements(g) == statements(h))

    check()


@settings(max_examples=60, deadline=None)
@given(graphs(5))
def test_agrees_with_the_definition_by_paths(g):
    h = with_edge_flipped(g, 0, 1)
    assert markov_equivalent(g, h) == (naive_statements(g) == naive_statements(h))


@pytest.mark.parametrize("n_nodes", few(1, [6, 5, 12]))
def test_cycle_reversion_keeps_the_class(n_nodes):
    @settings(max_examples=100, deadline=None)
    @given(graphs(n_nodes), st.data())
    def check(g, data):
        cycle = next(g.simple_cycles(), None)
        assume(cycle is not None)
        h = with_cycle_reversed(g, cycle)
        assert markov_equivalent(g, h)
        if n_nodes < 7:
            assert statements(g) == statements(h)
            pairs = [(i, j) for i, j in product(range(n_nodes), repeat=2) if i != j]
            k = with_edge_flipped(h, *data.draw(st.sampled_from(pairs)))
            assert markov_equivalent(g, k) == (statements(g) == statements(k))

    check()


@settings(max_examples=300, deadline=None)
@given(graphs(5), st.permutations(range(5)), st.booleans())
def test_acyclic_graphs_by_skeleton_and_v_structures(graph, order, turn):
    g = DirectedGraph(np.triu(graph.adjacency))
    if turn:
        # The same skeleton, oriented along another order.
        skeleton = g.adjacency | g.adjacency.T
        rank = np.argsort(order)
        h = DirectedGraph(skeleton & (rank[:, None] < rank[None, :]))
    else:
        h = DirectedGraph(np.triu(graph.adjacency.T))
    assert markov_equivalent(g, h) == (skeleton_and_v_structures(g) == skeleton_and_v_structures(h))


def skeleton_and_v_structures(graph):
    edges = graph.adjacency
    adjacent = edges | edges.T
    nodes = range(graph.n_nodes)
    v_structures = {
        (a, c, b)
        for a, b in combinations(nodes, 2)
        for c in nodes
        if edges[a, c] and edges[b, c] and not adjacent[a, b]
    }
    return adjacent.tolist(), v_structures


def test_an_edge_that_d_separation_does_not_see():
    edges = [(0, 2), (2, 1), (1, 3), (3, 2)]
    g = DirectedGraph.from_edges([*edges, (3, 0)])
    h = DirectedGraph.from_edges(edges)
    assert naive_statements(g) == naive_statements(h)
    assert markov_equivalent(g, h)


def differing_fields(g, h):
    first, second = markov_signature(g), markov_signature(h)
    return [f for f in first._fields if getattr(first, f) != getattr(second, f)]


@pytest.mark.parametrize(("length", "entry"), [(4, 2), (5, 2), (6, 2), (6, 3)])
def test_mutually_exclusive_conductors_alone_tell_graphs_apart(length, entry):
    # A ring with a cause A of its first node and a cause Z of a later one; in h, A joins the ring.
    # The longest uncovered itinerary inside the ring grows with its length.
    ring = [(i, (i + 1) % length) for i in range(length)]
    edges = [*ring, (length, 0), (length + 1, entry)]
    g = DirectedGraph.from_edges(edges)
    h = DirectedGraph.from_edges([*edges, (0, length)])
    assert statements(g) != statements(h)
    assert differing_fields(g, h) == ["exclusive_conductors"]


def test_ancestry_of_imperfect_nonconductors_alone_tells_graphs_apart():
    # Two 2-cycles that A and B enter at different nodes; which cycle is above the other is seen.
    edges = [("A", "C"), ("B", "X"), ("X", "C"), ("C", "X")]
    edges += [("A", "D"), ("B", "Y"), ("Y", "D"), ("D", "Y")]
    names = list("ABCDXY")
    g = DirectedGraph.from_edges([*edges, ("X", "Y"), ("C", "Y")], names)
    h = DirectedGraph.from_edges([*edges, ("Y", "X"), ("D", "X")], names)
    assert statements(g) != statements(h)
    assert differing_fields(g, h) == ["ancestors"]


def test_descent_from_mutually_exclusive_conductors_alone_tells_graphs_apart():
    # A ring B, V, Y, U below the 2-cycle M, N; in h the edge B -> N makes one component of both.
    # The ring has no imperfect nonconductor of A and Z, so that only condition 5 sees the edge.
    edges = [("A", "B"), ("Z", "Y"), ("B", "V"), ("V", "Y"), ("Y", "U"), ("U", "B")]
    edges += [("A", "N"), ("Z", "M"), ("M", "N"), ("N", "M")]
    edges += [(a, b) for a in "MN" for b in "BY"]
    g = DirectedGraph.from_edges(edges)
    h = DirectedGraph.from_edges([*edges, ("B", "N")])
    assert statements(g) != statements(h)
    assert differing_fields(g, h) == ["ancestors"]


@settings(max_examples=50, deadline=None)
@given(graphs(6), st.permutations(range(6)))
def test_the_order_of_the_nodes_does_not_matter(g, order):
    h = with_edge_flipped(g, 2, 4)
    names = [g.names[i] for i in order]
    assert markov_equivalent(g, g.reordered(names))
    assert markov_equivalent(g, h.reordered(names)) == markov_equivalent(g, h)
    assert markov_equivalent(g.reordered(names), h.reordered(names)) == markov_equivalent(g, h)


def test_different_nodes_are_an_error():
    g = DirectedGraph.from_edges([("a", "b")])
    with pytest.raises(InputError, match="different nodes"):
        markov_equivalent(g, DirectedGraph.from_edges([("a", "c")]))


def test_graphs_without_nodes_or_edges():
    assert markov_equivalent(DirectedGraph.from_edges([]), DirectedGraph.from_edges([]))
    lonely = DirectedGraph.from_edges([], n_nodes=4)
    assert not any(markov_signature(lonely).p_adjacencies)
