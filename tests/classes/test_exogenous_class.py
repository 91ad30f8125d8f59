"""Classes given exogenous variables: rotations of the other columns, and a complete block.

E is taken as given and N is modelled. Two descriptions: rotations act on the columns of N alone; or
E is joined by all edges of an order, and of that graph's class those members count that have no
edges from N into E, edges within E not looked at.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations, permutations, product

import naive
import networkx as nx
import numpy as np
import pytest

import cyclearn as cl
from cyclearn.foundation.errors import InputError

SPLITS = [(1, 1), (1, 2), (2, 1), (1, 3), (2, 2), (3, 1)]


def graphs_given(n_exogenous: int, n_modelled: int) -> list[cl.DirectedGraph]:
    """All graphs without edges into the first nodes."""
    p = n_exogenous + n_modelled
    offered = [(i, j) for i in range(p) for j in range(n_exogenous, p) if i != j]
    return [
        cl.DirectedGraph.from_edges(
            [edge for edge, holds in zip(offered, chosen, strict=True) if holds], n_nodes=p
        )
        for chosen in product((False, True), repeat=len(offered))
    ]


def steps_given(columns: tuple[int, ...], modelled: range) -> set[tuple[int, ...]]:
    """What one exchange, reduction or swap makes of the columns of N, by definition."""
    found = set()
    places = range(len(columns))
    for a, b in permutations(places, 2):
        if (columns[a] ^ columns[b]).bit_count() <= 1:
            union = columns[a] | columns[b]
            for i in range(union.bit_length()):
                if columns[a] >> i & 1:
                    changed = list(columns)
                    changed[a], changed[b] = union ^ 1 << i, union
                    found.add(tuple(changed))
    found |= set(permutations(columns))
    return {each for each in found if all(each[k] >> j & 1 for k, j in enumerate(modelled))}


@cache
def classes_by_rotations(n_exogenous: int, n_modelled: int) -> list[frozenset[cl.DirectedGraph]]:
    """The first description, by brute force."""
    p = n_exogenous + n_modelled
    modelled, linked = range(n_exogenous, p), nx.Graph()
    by_columns = {}
    for graph in graphs_given(n_exogenous, n_modelled):
        columns = graph.columns[n_exogenous:]
        by_columns[columns] = graph
        linked.add_node(columns)
        linked.add_edges_from((columns, each) for each in steps_given(columns, modelled))
    return [
        frozenset(by_columns[columns] for columns in members)
        for members in nx.connected_components(linked)
    ]


def joined(graph: cl.DirectedGraph, exogenous: range) -> cl.DirectedGraph:
    """The graph with a complete acyclic block."""
    block = [(graph.names[i], graph.names[j]) for i, j in combinations(exogenous, 2)]
    return cl.DirectedGraph.from_edges([*graph.edges, *block], graph.names)


def without_block(graph: cl.DirectedGraph, exogenous: range) -> cl.DirectedGraph | None:
    """The graph without edges among exogenous variables; None where something else causes one."""
    A = graph.adjacency.copy()
    if A[len(exogenous) :, : len(exogenous)].any():
        return None
    A[:, : len(exogenous)] = False
    return cl.DirectedGraph(A, names=graph.names)


@pytest.mark.parametrize("split", SPLITS)
def test_both_descriptions_agree_on_all_small_graphs(split):
    exogenous = range(split[0])
    by_rotations = set(classes_by_rotations(*split))
    by_block = set()
    for members in naive.classes(sum(split)):
        kept = {without_block(graph, exogenous) for graph in members}
        full = {g for g in kept if g is not None and joined(g, exogenous) in members}
        if full:
            by_block.add(frozenset(full))
    assert by_rotations == by_block


@pytest.mark.parametrize("split", SPLITS)
def test_the_class_is_that_of_both_descriptions(split):
    exogenous = list(range(split[0]))
    n_members = 0
    for members in classes_by_rotations(*split):
        fewest = min(graph.n_edges for graph in members)
        irreducible = {graph for graph in members if graph.n_edges == fewest}
        graph = next(iter(members))
        found = cl.equivalence_class(graph, exogenous=exogenous, rules="rotations")
        assert set(found) == irreducible
        assert found.size == len(irreducible)
        assert found.representative in irreducible
        whole = cl.equivalence_class(graph, exogenous=exogenous)
        assert irreducible & set(whole) or whole.representative.n_edges < fewest
        assert all(each in whole for each in members)
        n_members += len(members)
    assert n_members == len(graphs_given(*split))


@pytest.mark.parametrize("n_exogenous", [2, 3])
def test_both_descriptions_agree_on_random_graphs_with_six_nodes(n_exogenous):
    exogenous = range(n_exogenous)
    rng = np.random.default_rng(n_exogenous)
    sizes = []
    for _ in range(50):
        A = rng.random((6, 6)) < 0.3
        A[:, :n_exogenous] = False
        np.fill_diagonal(A, False)
        graph = cl.DirectedGraph(A)
        found = cl.equivalence_class(graph, exogenous=list(exogenous), rules="rotations")
        allowed = ~np.eye(6, dtype=bool)
        allowed[n_exogenous:, :n_exogenous] = False
        whole = cl.equivalence_class(joined(graph, exogenous), rules="rotations")
        members = {
            without_block(member, exogenous)
            for seating in whole.irreducible_seatings(allowed)
            for member in cl.classes.seated_graphs.SeatedGraphs([seating], graph.names)
        }
        assert set(found) == members
        assert found.size == len(members)
        frontier = [found.representative.columns[n_exogenous:]]
        orbit = set(frontier)
        while frontier:
            new = steps_given(frontier.pop(), range(n_exogenous, 6)) - orbit
            orbit |= new
            frontier += new
        assert {member.columns[n_exogenous:] for member in members} <= orbit
        fewest = sum(map(int.bit_count, found.representative.columns[n_exogenous:]))
        assert len(members) == sum(sum(map(int.bit_count, each)) == fewest for each in orbit)
        sizes.append(len(members))
    assert max(sizes) > 4


def test_the_dimension_is_that_of_the_completed_graph():
    rng = np.random.default_rng(0)
    for _ in range(20):
        A = rng.random((5, 5)) < 0.5
        A[:, :2] = False
        np.fill_diagonal(A, False)
        graph = cl.DirectedGraph(A)
        assert joined(graph, range(2)).dimension() == graph.dimension() + 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"exogenous": "a"}, "exogenous is 'a'"),
        ({"exogenous": ["z"]}, "z"),
        ({"exogenous": ["a"], "reducible": True}, "exogenous variables"),
        ({"exogenous": ["a", "b"]}, "all variables"),
    ],
)
def test_what_cannot_be_taken_as_given_is_refused(options, words):
    with pytest.raises(InputError, match=words):
        cl.equivalence_class(cl.DirectedGraph.from_edges([("a", "b")]), **options)


def test_interventions_and_exogenous_variables_together():
    graph = cl.DirectedGraph.from_edges([("z", "a"), ("a", "b"), ("b", "a"), ("b", "k")])
    both = cl.equivalence_class(graph, interventions=[[], ["b"]], exogenous=["z"])
    assert both.interventions == (("z",), ("z", "b")) or both.interventions == (("z",), ("b", "z"))
    assert both == cl.equivalence_class(graph, interventions=[["z"], ["z", "b"]])
