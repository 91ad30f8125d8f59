from itertools import combinations, product

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_separation import naive_d_separated, naive_statements

from cyclearn.foundation.errors import InputError
from cyclearn.graphs.directed_graph import DirectedGraph
from cyclearn.graphs.separation import d_separated, virtual_edges


def all_graphs(n_nodes):
    pairs = [(i, j) for i, j in product(range(n_nodes), repeat=2) if i != j]
    for chosen in product([False, True], repeat=len(pairs)):
        edges = [pair for pair, present in zip(pairs, chosen, strict=True) if present]
        yield DirectedGraph.from_edges(edges, n_nodes=n_nodes)


@st.composite
def graphs(draw, n_nodes):
    flat = draw(st.lists(st.booleans(), min_size=n_nodes**2, max_size=n_nodes**2))
    adjacency = np.array(flat).reshape(n_nodes, n_nodes)
    np.fill_diagonal(adjacency, False)
    return DirectedGraph(adjacency)


def statements(graph):
    nodes = set(range(graph.n_nodes))
    return frozenset(
        (a, b, frozenset(given))
        for a, b in combinations(sorted(nodes), 2)
        for size in range(graph.n_nodes - 1)
        for given in combinations(sorted(nodes - {a, b}), size)
        if d_separated(graph, a, b, given)
    )


@pytest.mark.parametrize("n_nodes", [2, 3, 4])
def test_agrees_with_the_definition_on_all_small_graphs(n_nodes):
    for graph in all_graphs(n_nodes):
        assert statements(graph) == naive_statements(graph)


@settings(max_examples=40, deadline=None)
@given(graphs(5))
def test_agrees_with_the_definition_on_graphs_of_five_nodes(graph):
    assert statements(graph) == naive_statements(graph)


@settings(max_examples=100, deadline=None)
@given(graphs(6), st.lists(st.sampled_from(["x", "y", "given", "none"]), min_size=6, max_size=6))
def test_sets_are_separated_exactly_if_all_their_pairs_are(graph, roles):
    x, y, z = ([v for v in range(6) if roles[v] == role] for role in ("x", "y", "given"))
    if x and y:
        pairs = (naive_d_separated(graph, a, b, frozenset(z)) for a in x for b in y)
        assert d_separated(graph, x, y, z) == all(pairs)
        assert d_separated(graph, x, y, z) == d_separated(graph, y, x, z)


@settings(max_examples=60, deadline=None)
@given(graphs(6))
def test_agrees_with_networkx_on_acyclic_graphs(graph):
    acyclic = DirectedGraph(np.triu(graph.adjacency))
    other = nx.DiGraph([(int(a), int(b)) for a, b in np.argwhere(acyclic.adjacency)])
    other.add_nodes_from(range(6))
    for given_nodes in (set(), {2}, {2, 3}, {1, 3, 4}):
        expected = nx.is_d_separator(other, {0}, {5}, given_nodes)
        assert d_separated(acyclic, 0, 5, given_nodes) == expected


@settings(max_examples=60, deadline=None)
@given(graphs(5))
def test_virtual_edges_are_the_non_adjacent_pairs_that_no_set_separates(graph):
    separable = {(a, b) for a, b, _ in naive_statements(graph)}
    expected = [
        (graph.names[a], graph.names[b])
        for a, b in combinations(range(5), 2)
        if not (graph.adjacency[a, b] or graph.adjacency[b, a]) and (a, b) not in separable
    ]
    assert list(virtual_edges(graph)) == expected


def test_acyclic_graphs_have_no_virtual_edges():
    assert virtual_edges(DirectedGraph(np.triu(np.ones((8, 8)), 2))) == ()


def test_nodes_by_name_by_index_and_in_collections():
    graph = DirectedGraph.from_edges([("a", "b"), ("b", "c")])
    assert d_separated(graph, "a", "c", "b")
    assert d_separated(graph, 0, np.int64(2), {1})
    assert d_separated(graph, ["a"], ("c",), iter(["b"]))
    assert not d_separated(graph, "a", ["b", "c"])


def test_graphs_beyond_one_machine_word():
    chain = DirectedGraph.from_edges([(i, i + 1) for i in range(99)])
    assert not d_separated(chain, 0, 99)
    assert d_separated(chain, 0, 99, 70)
    ring = DirectedGraph.from_edges([(i, (i + 1) % 100) for i in range(100)])
    assert not d_separated(ring, 0, 50, 25)
    assert d_separated(ring, 0, 50, [25, 75])


@pytest.mark.parametrize(
    ("x", "y", "given_nodes", "message"),
    [
        ("q", "b", (), "no node 'q'"),
        (0, 7, (), "no node 7"),
        ("a", "b", ["q"], "no node 'q'"),
        ("a", "a", (), "x and y share a"),
        ("a", "b", ["b", "c"], "y and given share b"),
        (["a", "c"], "b", "c", "x and given share c"),
        ([], "b", (), "x is empty"),
        ("a", (), (), "y is empty"),
        ("a", 1.5, (), "neither a node nor a collection"),
    ],
)
def test_errors_name_the_nodes_and_the_remedy(x, y, given_nodes, message):
    graph = DirectedGraph.from_edges([("a", "b"), ("b", "c")])
    with pytest.raises(InputError, match=message):
        d_separated(graph, x, y, given_nodes)
