"""Edges that lead away from a node, in a graph of the same class."""

import networkx as nx
import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

from cyclearn import DirectedGraph, equivalent, simulate
from cyclearn.search.turned_edges import leading_away

ANY = np.ones((12, 12), dtype=bool)


@pytest.mark.parametrize("seed", range(30))
def test_the_graph_stays_in_its_class(seed):
    graph = simulate.random_graph(12, max_component=5, random_state=seed)
    A = graph.adjacency.astype(np.uint8)
    _, label = connected_components(A, connection="strong")
    for centre in range(12):
        turned = leading_away(A, centre, label, ANY, 4)
        assert equivalent(DirectedGraph(turned.astype(bool), graph.names), graph)
        # Nothing comes nearer: what was a child of the centre stays one.
        assert (turned[centre] >= A[centre]).all()


@pytest.mark.parametrize("seed", range(10))
def test_every_node_can_be_the_root_of_a_tree(seed):
    tree = nx.random_labeled_rooted_tree(9, seed=seed)
    away = nx.bfs_tree(tree, tree.graph["root"])
    A = nx.to_numpy_array(away, nodelist=range(9), dtype=np.uint8)
    for centre in range(9):
        found = leading_away(A, centre, np.arange(9), ANY[:9, :9], 4)
        distance = nx.single_source_shortest_path_length(tree.to_undirected(), centre)
        # Edges as near as this are looked at.
        near = [v for v in range(9) if distance[v] < 4]
        among = np.ix_(near, near)
        expected = nx.to_numpy_array(nx.bfs_tree(tree, centre), nodelist=range(9))
        if distance[tree.graph["root"]] < 4:
            assert np.array_equal(found[among], expected[among])


def test_what_may_not_be_turned_is_not():
    chain = np.diag(np.ones(3, np.uint8), k=1)
    may_turn = ANY[:4, :4].copy()
    may_turn[1, 2] = False
    # The edge before it can be turned, the one after it only if it were.
    assert np.argwhere(leading_away(chain, 3, np.arange(4), may_turn, 4)).tolist() == [
        [1, 0],
        [1, 2],
        [2, 3],
    ]
