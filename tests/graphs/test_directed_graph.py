import pickle

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from cyclearn import DirectedGraph, InputError
from strategies import dags, graphs


@given(graphs())
def test_round_trips(g):
    assert DirectedGraph(g.adjacency) == g
    assert DirectedGraph.from_edges(g.edges, g.names) == g
    assert DirectedGraph.from_edges(np.argwhere(g.adjacency).tolist(), n_nodes=g.n_nodes) == g
    assert DirectedGraph.from_networkx(g.to_networkx()) == g
    assert DirectedGraph.from_pandas(g.to_pandas()) == g
    assert DirectedGraph.from_dict(g.to_dict()) == g
    assert pickle.loads(pickle.dumps(g)) == g
    assert hash(DirectedGraph(g.adjacency)) == hash(g)


@given(graphs())
def test_structure_agrees_with_networkx(g):
    other = g.to_networkx()
    assert {frozenset(c) for c in g.components} == {
        frozenset(c) for c in nx.strongly_connected_components(other)
    }
    assert g.is_acyclic == nx.is_directed_acyclic_graph(other)
    assert g.n_edges == other.number_of_edges()
    for v in g.names:
        assert set(g.parents(v)) == set(other.predecessors(v))
        assert set(g.children(v)) == set(other.successors(v))
    position = {v: n for n, nodes in enumerate(g.components) for v in nodes}
    assert all(position[a] <= position[b] for a, b in g.edges)


@given(graphs(max_nodes=5))
def test_simple_cycles_are_cycles_each_once(g):
    cycles = list(g.simple_cycles())
    assert len(cycles) == len(set(cycles)) == len(list(nx.simple_cycles(g.to_networkx())))
    for cycle in cycles:
        assert all(g.has_edge(a, b) for a, b in zip(cycle, cycle[1:] + cycle[:1], strict=True))
    short = list(g.simple_cycles(max_length=2))
    assert short == [c for c in short if len(c) == 2]
    assert sorted(short) == sorted(c for c in cycles if len(c) == 2)


@given(dags())
def test_a_dag_has_no_cycle(g):
    assert g.is_acyclic
    assert list(g.simple_cycles()) == []


def test_more_than_64_nodes():
    adjacency = np.eye(150, k=1, dtype=bool)
    g = DirectedGraph(adjacency)
    np.testing.assert_array_equal(g.adjacency, adjacency)
    assert g.parents("X150") == ("X149",)
    assert g.components[0] == ("X1",)


def test_names_and_order():
    g = DirectedGraph.from_edges([("a", "b")], names=["a", "b", "c"])
    h = DirectedGraph.from_edges([("a", "b")], names=["c", "b", "a"])
    assert g != h
    assert h.reordered(g.names) == g
    assert g.is_subgraph_of(h)
    assert not g.is_subgraph_of(DirectedGraph.from_edges([("b", "a")], names=["c", "b", "a"]))


def test_numbers_are_names_where_names_are_numbers():
    g = DirectedGraph.from_edges([(1, 2)], names=[1, 2, 3])
    assert g.edges == (("1", "2"),)
    assert DirectedGraph.from_edges([(10, 20)], names=np.array([10, 20])).edges == (("10", "20"),)
    assert DirectedGraph.from_edges([(0, 1)], names=["a", "b"]).edges == (("a", "b"),)


def test_rows_of_an_array_are_edges():
    adjacency = np.eye(3, k=1, dtype=bool)
    assert DirectedGraph.from_edges(np.argwhere(adjacency)) == DirectedGraph(adjacency)


def test_tables_bring_their_labels():
    values = [[0, 1], [0, 0]]
    g = DirectedGraph.from_edges([("a", "b")])
    assert DirectedGraph(pd.DataFrame(values, index=["a", "b"], columns=["a", "b"])) == g
    turned = pd.DataFrame([[1, 0], [0, 0]], index=["a", "b"], columns=["b", "a"])
    assert DirectedGraph(turned) == g
    assert DirectedGraph(pd.DataFrame(values, columns=["a", "b"])) == g
    assert DirectedGraph(pd.DataFrame(values)).names == ("X1", "X2")
    truths = pd.DataFrame(values, index=[True, False], columns=[True, False])
    assert DirectedGraph.from_pandas(truths).edges == (("True", "False"),)


def test_is_immutable():
    g = DirectedGraph.from_edges([(0, 1)])
    with pytest.raises(AttributeError, match="immutable"):
        g.names = ("a", "b")
    with pytest.raises(ValueError, match="read-only"):
        g.adjacency[0, 1] = False
    with pytest.raises(AttributeError, match="immutable"):
        del g.names
    for matrix in (g.adjacency, g.support):
        with pytest.raises(ValueError, match="WRITEABLE"):
            matrix.flags.writeable = True
    adjacency = np.zeros((2, 2), dtype=bool)
    h = DirectedGraph(adjacency)
    adjacency[0, 1] = True
    assert h.n_edges == 0


def test_empty_graphs():
    assert DirectedGraph(np.zeros((0, 0))).components == ()
    assert DirectedGraph(np.zeros((0, 0))).adjacency.shape == (0, 0)
    assert DirectedGraph(np.zeros((3, 3))).is_acyclic


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: DirectedGraph([[0, 1, 0], [0, 0, 1]]), "square"),
        (lambda: DirectedGraph([[0, 0.5], [0, 0]]), r"adjacency\[0, 1\] is 0.5"),
        (lambda: DirectedGraph([[0, np.nan], [0, 0]]), r"adjacency\[0, 1\] is nan"),
        (lambda: DirectedGraph([["a", "b"], ["c", "d"]]), "zeros and ones"),
        (lambda: DirectedGraph([[1, 0], [0, 0]], names=["a", "b"]), "'a' points to itself"),
        (lambda: DirectedGraph([[0, 1], [0, 0]], names=["a"]), "1 names for 2 nodes"),
        (lambda: DirectedGraph([[0, 1], [0, 0]], names=["a", "a"]), "'a' appears twice"),
        (lambda: DirectedGraph([[0, 1], [0, 0]], names="ab"), "give a list of names"),
        (lambda: DirectedGraph.from_edges([("a", "a")]), "self-loops"),
        (lambda: DirectedGraph.from_edges([("a", "d")], names=["a", "b"]), "no node 'd'"),
        (lambda: DirectedGraph.from_edges([(0, 5)], n_nodes=3), "no node 5"),
        (lambda: DirectedGraph.from_edges([(0, -1)]), "neither a name nor an index"),
        (lambda: DirectedGraph.from_edges(["ab"]), "not an edge"),
        (lambda: DirectedGraph.from_edges([("a", 0)]), "some edges give names"),
        (lambda: DirectedGraph.from_edges([(True, 0)]), "neither a name nor an index"),
        (lambda: DirectedGraph.from_edges(5), "give a list of pairs"),
        (lambda: DirectedGraph.from_edges([(1, 9)], names=[1, 2]), "no node '9'"),
        (lambda: DirectedGraph([[0, 1], [1]]), "not equally long"),
        (lambda: DirectedGraph([[0, 1], [0, 0]], names=5), "names is 5"),
        (lambda: DirectedGraph.from_edges([], names=5), "names is 5"),
        (
            lambda: DirectedGraph(pd.DataFrame([[0, pd.NA], [0, 0]], dtype=object)),
            r"adjacency\[0, 1\] is <NA>",
        ),
        (
            lambda: DirectedGraph.from_pandas(pd.DataFrame([[0, pd.NA], [0, 0]], dtype="Int64")),
            r"adjacency\[0, 1\] is <NA>",
        ),
        (lambda: DirectedGraph.from_pandas([[0]]), "list is not a table"),
        (lambda: DirectedGraph.from_networkx(nx.MultiDiGraph([(0, 1)])), "multigraph"),
        (lambda: DirectedGraph.from_networkx([(0, 1)]), "not a networkx graph"),
        (lambda: DirectedGraph([[0]]).simple_cycles(-1), "max_length is -1"),
        (
            lambda: DirectedGraph(np.zeros((3, 3)), names=list("abc")).reordered(list("abcc")),
            "'c' appears twice",
        ),
        (lambda: DirectedGraph.from_edges([(0, 1, 2)]), "not an edge"),
        (lambda: DirectedGraph.from_networkx(nx.Graph([("a", "b")])), "undirected"),
        (
            lambda: DirectedGraph.from_pandas(pd.DataFrame([[0]], index=["a"], columns=["b"])),
            "different nodes",
        ),
        (
            lambda: DirectedGraph.from_pandas(
                pd.DataFrame(np.zeros((2, 2)), index=["a", "a"], columns=["a", "b"])
            ),
            "twice",
        ),
        (lambda: DirectedGraph.from_dict({"nodes": []}), "a graph is"),
        (lambda: DirectedGraph([[0, 1], [0, 0]]).parents("X9"), "no node 'X9'"),
        (lambda: DirectedGraph([[0, 1], [0, 0]]).children(2), "no node 2"),
        (
            lambda: DirectedGraph([[0]], names=["a"]).reordered(["b"]),
            "only in the given names: b; only in the graph: a",
        ),
    ],
)
def test_bad_input_gets_one_clear_error(make, message):
    with pytest.raises(InputError, match=message):
        make()
