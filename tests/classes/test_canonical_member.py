from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyclearn import DirectedGraph, equivalence_class
from cyclearn.classes import canonical_member as chosen
from cyclearn.classes.seating import Seating
from cyclearn.classes.territories import territories
from cyclearn.foundation.errors import LimitError
from strategies import graphs, walks


def slow_order(graph):
    """The rule, word for word."""
    loops = [set(nodes) for nodes in graph.component_indices if len(nodes) > 1]
    inside = [(i, j) for i, j in np.argwhere(graph.adjacency) if any({i, j} <= c for c in loops)]
    edges = sorted(map(tuple, np.argwhere(graph.adjacency).tolist()))
    return graph.n_edges, sum(map(len, loops)), len(inside), edges


def member(graph, admits=lambda _nodes, _columns: True, **options):
    masks = [options.pop(name, None) for name in ("allowed", "required")]
    seating = Seating(territories(graph.columns), **{"reducible": False} | options).respecting(
        *masks
    )
    columns = chosen.canonical_member(seating, admits)
    return None if columns is None else DirectedGraph.from_columns(columns, graph.names)


def rotations(graph, **options):
    return equivalence_class(graph, rules="rotations", **options)


def few_members(graph):
    return rotations(graph).size <= 2_000


@given(graphs(max_nodes=6).filter(few_members))
def test_the_first_of_all_members_by_the_rule(graph):
    assert member(graph) == min(rotations(graph), key=slow_order)
    order = chosen.canonical_order(range(graph.n_nodes), graph.columns)
    assert (*order[:3], list(order[3])) == slow_order(graph)


@given(graphs(max_nodes=12), st.integers(0, 10**6))
def test_the_order_of_edges_is_that_of_their_lists(graph, seed):
    A, apart = graph.adjacency.copy(), ~np.eye(graph.n_nodes, dtype=bool)
    A[apart] = np.random.default_rng(seed).permutation(A[apart])
    both, nodes = (graph, DirectedGraph(A)), range(graph.n_nodes)
    lists = [chosen._edge_list(nodes, each.columns) for each in both]
    keys = [chosen._edge_order(nodes, each.columns) for each in both]
    assert (lists[0] < lists[1]) == (keys[0] < keys[1])


@given(walks(max_nodes=5))
def test_every_member_leads_to_the_same_one(walk):
    first, *_, last = walk
    assert member(first) == member(last)


@given(graphs(max_nodes=5).filter(few_members), st.integers(0, 10**6))
def test_knowledge_and_components_that_are_not_admitted(graph, seed):
    rng = np.random.default_rng(seed)
    p = graph.n_nodes
    allowed = rng.random((p, p)) < 0.9
    required = (rng.random((p, p)) < 0.05) & allowed & ~np.eye(p, dtype=bool)
    refused = int(rng.integers(p))

    def admits(nodes, _columns):
        return refused not in nodes

    def may_be_shown(each):
        A = each.adjacency
        loops = [nodes for nodes in each.component_indices if len(nodes) > 1]
        return not ((A & ~allowed) | (required & ~A)).any() and all(map(admits, loops, loops))

    possible = [each for each in rotations(graph) if may_be_shown(each)]
    found = member(graph, admits, allowed=allowed, required=required)
    assert found == (min(possible, key=slow_order) if possible else None)


@given(graphs(max_nodes=5).filter(few_members), st.integers(0, 10**6))
def test_acyclic_fillings_without_listing(graph, seed):
    rng = np.random.default_rng(seed)
    allowed = rng.random((graph.n_nodes, graph.n_nodes)) < 0.9
    its_class = territories(graph.columns)
    seating = Seating(its_class, reducible=False).respecting(allowed, None)
    for block in Seating(its_class, reducible=False).blocks:
        fillings = list(seating.iter_block(block))
        if fillings:
            acyclic = [f for f in fillings if not list(chosen.components_of(block.nodes, f))]
            first = min(acyclic, default=None, key=lambda f: chosen._edge_list(block.nodes, f))
            any_filling = fillings[rng.integers(len(fillings))]
            assert chosen._first_acyclic(seating, block, any_filling) == first


@pytest.mark.parametrize("p", [3, 9, 25])
def test_complete_graphs_are_not_listed(p):
    """25! members, all acyclic ones: the first is the order of the nodes."""
    complete = DirectedGraph(np.triu(np.ones((p, p)), 1))
    shuffled = np.random.default_rng(p).permutation(p)
    other = DirectedGraph(complete.adjacency[np.ix_(shuffled, shuffled)])
    assert member(other) == complete


@given(graphs(max_nodes=4))
def test_reducible_members_with_the_fewest_edges(graph):
    members = list(rotations(graph, reducible=True))
    required = members[-1].adjacency
    agreeing = [each for each in members if not (required & ~each.adjacency).any()]
    assert member(graph, required=required, reducible=True) == min(agreeing, key=slow_order)


def test_where_fillings_are_too_many_to_list_nothing_is_claimed(monkeypatch):
    """Two cycles through six nodes have many members, none acyclic."""
    rings = [(0, 1, 2, 3, 4, 5), (0, 3, 5, 1, 4, 2)]
    edges = [(str(a), str(b)) for ring in rings for a, b in pairwise((*ring, ring[0]))]
    graph = DirectedGraph.from_edges(edges, [str(v) for v in range(6)])
    cyclic = [each for each in rotations(graph) if not each.is_acyclic]
    assert len(cyclic) == rotations(graph).size > 6
    monkeypatch.setattr(chosen, "_MAX_LISTED", 5)
    assert member(graph) in rotations(graph)
    with pytest.raises(LimitError, match="no member is admissible among the first 5"):
        member(graph, admits=lambda _nodes, _columns: False)
