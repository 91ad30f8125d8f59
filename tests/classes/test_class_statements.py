import numpy as np
import pytest

from cyclearn.classes import equivalence_class
from cyclearn.classes.class_statements import class_statements
from cyclearn.graphs import DirectedGraph, random_graph


def by_listing(graphs):
    """The three arrays from a list of members."""
    A = np.array([graph.adjacency for graph in graphs])
    joined = A | A.transpose(0, 2, 1)
    return A.any(axis=0), A.all(axis=0), joined.all(axis=0)


GRAPHS = [
    *(
        random_graph(p, max_degree=d, random_state=seed)
        for p, d in ((3, 4), (4, 4), (5, 5), (7, 3))
        for seed in range(8)
    ),
    DirectedGraph(~np.eye(4, dtype=bool)),
]


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda g: f"{g.n_nodes}-{g.n_edges}")
def test_statements_agree_with_the_list_of_members(graph):
    members = equivalence_class(graph)
    found = class_statements(members)
    possible, compelled, adjacent = by_listing(members)
    assert (found.possible == possible).all()
    assert (found.compelled == compelled).all()
    assert (found.always_adjacent == adjacent).all()
    assert not found.is_empty


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda g: f"{g.n_nodes}-{g.n_edges}")
def test_statements_agree_with_the_list_of_members_that_knowledge_leaves(graph):
    generator = np.random.default_rng(graph.n_edges)
    p = graph.n_nodes
    for _ in range(5):
        allowed = generator.random((p, p)) < 0.8
        np.fill_diagonal(allowed, False)
        required = (generator.random((p, p)) < 0.05) & allowed
        members = equivalence_class(graph)
        left = [
            member
            for member in members
            if not (member.adjacency & ~allowed).any() and not (required & ~member.adjacency).any()
        ]
        found = class_statements(members, allowed, required)
        assert found.is_empty == (not left)
        if left:
            possible, compelled, adjacent = by_listing(left)
            assert (found.possible == possible).all()
            assert (found.compelled == compelled).all()
            assert (found.always_adjacent == adjacent).all()


def test_a_class_too_entangled_to_be_counted_still_answers():
    graph = random_graph(40, max_degree=8, random_state=1)
    found = class_statements(equivalence_class(graph, max_states=1))
    assert (graph.reduced().adjacency <= found.possible).all()
    assert (found.compelled <= graph.reduced().adjacency).all()
