"""The class under interventions: brute force on small graphs, and what must hold on larger ones."""

import pickle
from itertools import combinations

import numpy as np
import pytest

from classes.naive_designs import all_adjacencies, same_under, told
from cyclearn import DirectedGraph, InputError, equivalence_class
from cyclearn.classes import Completeness
from cyclearn.classes.interventional_class import InterventionDesign
from cyclearn.graphs.directed_graph import structural_hamming_distance
from cyclearn.graphs.random_graphs import random_graph

NAMES3 = ("a", "b", "c")
ALL3 = [DirectedGraph(A, NAMES3) for A in all_adjacencies(3)]
DESIGNS3 = [
    [[], ["a"]],
    [[], ["a", "b"]],
    [["a"], ["b"]],
    [["a"]],
    [["a", "b"], ["b", "c"]],
]


def partition(graphs, design):
    """Graphs by class, with one class made for each."""
    classes = []
    for graph in graphs:
        for members, inside in classes:
            if graph in members:
                inside.append(graph)
                break
        else:
            classes.append((equivalence_class(graph, interventions=design), [graph]))
    return classes


@pytest.mark.parametrize("design", DESIGNS3, ids=str)
def test_three_nodes_against_brute_force(design):
    rng = np.random.default_rng(0)
    tables = [[NAMES3.index(name) for name in targets] for targets in design]
    classes = partition(ALL3, design)
    firsts = [inside[0].adjacency for _, inside in classes]
    for _, inside in classes:
        # One other graph of each class; the benchmark compares every pair.
        for other in inside[-1:]:
            assert same_under(
                inside[0].adjacency, other.adjacency, tables, rng, n_draws=1, n_batches=8
            )
    pairs = list(combinations(range(len(firsts)), 2))
    for k in rng.permutation(len(pairs))[:20]:
        i, j = pairs[k]
        assert not same_under(firsts[i], firsts[j], tables, rng, n_draws=25, n_batches=1)


@pytest.mark.parametrize("design", DESIGNS3, ids=str)
def test_listing_counting_and_measuring_three_nodes(design):
    for members, inside in partition(ALL3, design):
        free = [j for j in range(3) if not all(NAMES3[j] in targets for targets in design)]
        # Nothing is told about what drives a variable that every table sets.
        plain = [g for g in inside if not np.delete(g.adjacency, free, axis=1).any()]
        irreducible = {
            g
            for g in plain
            if not any(h != g and not (h.adjacency & ~g.adjacency).any() for h in plain)
        }
        listed = list(members)
        assert set(listed) == irreducible
        assert len(listed) == len(irreducible) == members.size
        assert members.completeness is Completeness.PROVED
        assert members.representative in irreducible
        for graph in ALL3[5::29]:
            expected = min(structural_hamming_distance(graph, h) for h in irreducible)
            assert members.distance(graph) == expected
        for row in members.edge_table().itertuples():
            i, j = NAMES3.index(row.a), NAMES3.index(row.b)
            both = sum(h.has_edge(i, j) and h.has_edge(j, i) for h in listed)
            assert row.both == both
            assert row.forward == sum(h.has_edge(i, j) for h in listed) - both
            assert row.backward == sum(h.has_edge(j, i) for h in listed) - both


def test_the_pair_that_meets_every_necessary_condition_and_differs():
    g = DirectedGraph.from_edges([(0, 1), (0, 2), (1, 2)])
    h = DirectedGraph.from_edges([(0, 2), (1, 2), (2, 1)])
    assert h in equivalence_class(g)
    assert h not in equivalence_class(g, interventions=[[], [1]])
    for graph in (g, h):
        held = graph.adjacency.copy()
        held[:, 1] = False
        assert DirectedGraph(held) == DirectedGraph.from_edges([(0, 2), (1, 2)])


def test_a_redundant_edge_is_settled_by_an_intervention():
    both = DirectedGraph.from_edges([("a", "b"), ("b", "a")])
    one = DirectedGraph.from_edges([("a", "b")])
    assert both in equivalence_class(one)
    assert list(equivalence_class(both, interventions=[[], ["a"]])) == [both]


def test_no_intervention_is_the_class_of_observed_data():
    for seed in range(20):
        graph = random_graph(6, max_degree=3, random_state=seed)
        plain = equivalence_class(graph)
        members = equivalence_class(graph, interventions=[[]])
        assert members.size == plain.size
        assert set(members) == set(plain)
        assert members.completeness is plain.completeness
        assert members.edge_table().equals(plain.edge_table())


def test_more_tables_and_all_single_targets():
    for seed in range(10):
        graph = random_graph(5, max_degree=4, random_state=seed).reduced()
        design = [[]]
        before = set(equivalence_class(graph, interventions=design))
        for j in range(5):
            design.append([j])
            members = equivalence_class(graph, interventions=design)
            assert set(members) <= before
            before = set(members)
            assert graph in members
            # Any member makes the same class.
            drawn = members.sample(1, random_state=seed)[0]
            assert equivalence_class(drawn, interventions=design) == members
        assert before == {graph}


def test_members_give_the_same_tables():
    # Turning a cycle inside a group keeps what every table tells.
    rng = np.random.default_rng(3)
    graph = DirectedGraph.from_edges([("a", "b"), ("b", "c"), ("c", "a"), ("d", "a"), ("a", "e")])
    members = equivalence_class(graph, interventions=[[], ["d"], ["e"], ["d", "e"]])
    Q = np.where(graph.support, rng.normal(size=(5, 5)), 0)
    shifted = Q[:, [1, 2, 0, 3, 4]]
    other = DirectedGraph((shifted != 0) & ~np.eye(5, dtype=bool), graph.names)
    assert other in members
    for targets in ([], [3], [4], [3, 4]):
        for a, b in zip(*(told(*_weights(q), targets) for q in (Q, shifted)), strict=True):
            assert np.allclose(a, b)


def _weights(Q):
    scale = Q.diagonal()
    return np.eye(len(Q)) - Q / scale, 1 / scale**2


def test_values_behave():
    graph = DirectedGraph.from_edges([("a", "b"), ("b", "c"), ("c", "a")])
    members = equivalence_class(graph, interventions=[[], ["a"]])
    assert pickle.loads(pickle.dumps(members)) == members
    assert hash(equivalence_class(graph, interventions=[["a"], []])) == hash(
        equivalence_class(graph, interventions=[[], ["a"], []])
    )
    assert members.interventions == ((), ("a",))
    assert members.groups == (("a",), ("b", "c"))
    assert "1 members, 2 tables" in repr(members)
    assert object() not in members
    rotations = equivalence_class(graph, interventions=[[]], rules="rotations")
    assert rotations.completeness is Completeness.ROTATIONS
    with pytest.raises(AttributeError):
        members.graph = graph
    with pytest.raises(AttributeError):
        del members.graph
    assert InterventionDesign(3, ((0,), (0, 1))).always_targeted == (0,)


@pytest.mark.parametrize(
    ("design", "words"),
    [
        ("a", "give the targets of every table"),
        (["a"], "a list of names"),
        ([[], ["z"]], "z"),
        ([[], ["a", "a"]], "twice"),
        ([["a", "b", "c"]], "all variables"),
        ([], r"\[\[\]\]"),
        ([[], 3], "a list of names"),
    ],
)
def test_bad_designs(design, words):
    with pytest.raises(InputError, match=words):
        equivalence_class(ALL3[0], interventions=design)


def test_reducible_members_are_refused_by_name():
    with pytest.raises(InputError, match="reducible=True"):
        equivalence_class(ALL3[0], interventions=[[]], reducible=True)
