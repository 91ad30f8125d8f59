"""The class by rotations and rules, against brute force that shares nothing with the search."""

import pickle
from functools import partial
from itertools import combinations, islice

import naive
import naive_rules
import numpy as np
import pytest

from cyclearn import DirectedGraph, InputError, compare, equivalence_class
from cyclearn.classes import (
    Completeness,
    ParentAddition,
    RuleStep,
    class_statements,
    rotation_class,
)
from cyclearn.classes.rotation_class import irreducible_seatings
from cyclearn.classes.rule_search import iter_column_multisets, linked_classes
from cyclearn.classes.territories import is_reducible, territories
from cyclearn.graphs import random_graph


def columns_of(text):
    return tuple(sum(1 << int(v) - 1 for v in word) for word in text.split())


def graph_of(text):
    """A graph with these columns, as in "1 12 34 1234"."""
    columns = min(naive_rules.seatings(columns_of(text)))
    return DirectedGraph.from_columns(columns, tuple(str(v + 1) for v in range(len(columns))))


BLOCK = "1 12 34 1234"
SCALING = "1 123 124 134"
# On five nodes: a class whose rules lead to reducible graphs, facets, and two that depend on the
# place of smaller columns.
GROWING = [
    BLOCK,
    SCALING,
    "12 13 124 135 12345",
    "1 1234 1235 1245 1345",
    "1 2 134 135 145",
    "1 12 34 1235 1345",
]
LARGEST = "1 12 1234 1235 1245"


@pytest.fixture(scope="module")
def brute():
    return {text: naive_rules.members(columns_of(text)) for text in GROWING}


@pytest.mark.parametrize("text", GROWING)
def test_members_are_those_of_brute_force(text, brute):
    everything, irreducible = brute[text]
    graph = graph_of(text)
    for members, expected in (
        (equivalence_class(graph), irreducible),
        (equivalence_class(graph, reducible=True), everything),
    ):
        listed = [member.columns for member in members]
        assert len(listed) == len(expected) == members.size
        assert set(listed) == expected
        drawn = members.sample(40, random_state=0)
        assert {member.columns for member in drawn} <= expected
    assert {h.columns for h in members.iter_acyclic()} == {
        columns
        for columns in irreducible
        if DirectedGraph.from_columns(columns, graph.names).is_acyclic
    }


def test_members_that_depend_on_the_place_of_smaller_columns():
    graph = graph_of(LARGEST)
    members = equivalence_class(graph)
    listed = list(members)
    assert members.size == len(set(listed)) == 874
    assert equivalence_class(graph, reducible=True).size == 3255
    assert not any(member.is_reducible() for member in listed[::25])
    assert any(len(part.seatings) > 1 for part in members.rotation_classes)
    assert members.n_edges == (10, 12)


@pytest.mark.parametrize("text", GROWING)
def test_tables_and_statements_count_the_members(text, brute):
    members = equivalence_class(graph_of(text))
    adjacencies = np.array([member.adjacency for member in members])
    table = members.edge_table().set_index(["a", "b"])
    for i, j in combinations(range(len(members.names)), 2):
        to, back = adjacencies[:, i, j], adjacencies[:, j, i]
        if not (to | back).any():
            assert (members.names[i], members.names[j]) not in table.index
            continue
        row = table.loc[(members.names[i], members.names[j])]
        counts = [np.sum(to & ~back), np.sum(back & ~to), np.sum(to & back), np.sum(to | back)]
        assert row[["forward", "backward", "both", "adjacent"]].tolist() == counts
    said = class_statements(members)
    np.testing.assert_array_equal(said.possible, adjacencies.any(axis=0))
    np.testing.assert_array_equal(said.compelled, adjacencies.all(axis=0))
    either = adjacencies | adjacencies.transpose(0, 2, 1)
    np.testing.assert_array_equal(said.always_adjacent, either.all(axis=0))
    # What holds in every irreducible member holds in every graph with these distributions.
    everything = np.array(
        [DirectedGraph.from_columns(c, members.names).adjacency for c in brute[text][0]]
    )
    np.testing.assert_array_equal(said.compelled, everything.all(axis=0))
    pairs = members.feedback_pairs()
    on_cycle = [_mutual(member) for member in members]
    np.testing.assert_array_equal(pairs.some, np.any(on_cycle, axis=0))
    np.testing.assert_array_equal(pairs.every, np.all(on_cycle, axis=0))


def _mutual(graph):
    table = np.zeros((graph.n_nodes, graph.n_nodes), dtype=bool)
    for nodes in graph.component_indices:
        table[np.ix_(nodes, nodes)] = True
    np.fill_diagonal(table, False)
    return table


def test_statements_under_knowledge():
    members = equivalence_class(graph_of(SCALING))
    p = len(members.names)
    allowed, required = np.ones((p, p), dtype=bool), np.zeros((p, p), dtype=bool)
    allowed[1, 0] = False
    required[2, 1] = True
    kept = [m.adjacency for m in members if not m.adjacency[1, 0] and m.adjacency[2, 1]]
    said = class_statements(members, allowed, required)
    np.testing.assert_array_equal(said.possible, np.any(kept, axis=0))
    np.testing.assert_array_equal(said.compelled, np.all(kept, axis=0))


@pytest.mark.parametrize("text", GROWING[:3])
def test_distances_are_the_smallest_over_the_members(text):
    members = equivalence_class(graph_of(text))
    listed = list(members)
    rng = np.random.default_rng(0)
    p = len(members.names)
    for _ in range(4):
        other = DirectedGraph((rng.random((p, p)) < 0.4) & ~np.eye(p, dtype=bool), members.names)
        assert members.distance(other) == min(naive.hamming(other, member) for member in listed)
        assert members.nearest(other).member in members
    assert all(members.distance(member) == 0 for member in listed[::9])


def test_a_loop_that_rotations_call_certain_is_not():
    """The counterexample: by rotations X3 ⇄ X4 is in every member, by the rules it is not."""
    graph = DirectedGraph.from_edges([(0, 1), (3, 2), (0, 3), (1, 3), (2, 3)])
    verdicts = {
        rules: equivalence_class(graph, rules=rules).edge_table().set_index(["a", "b"])["verdict"]
        for rules in ("rotations", "all")
    }
    assert verdicts["rotations"]["X3", "X4"] == "in every equally good graph"
    assert verdicts["all"]["X3", "X4"] == "direction differs"
    by_rotations = equivalence_class(graph, rules="rotations")
    assert by_rotations.feedback_pairs().every[2, 3]
    assert not equivalence_class(graph).feedback_pairs().every.any()
    assert (by_rotations.size, equivalence_class(graph).size) == (4, 8)


def test_an_edge_that_rotations_call_certain_is_not():
    """Columns 1 123 124 134: rotations call 1 → 2 certain; a graph with one edge more lacks it."""
    graph = graph_of(SCALING)
    before = class_statements(equivalence_class(graph, rules="rotations")).compelled
    after = class_statements(equivalence_class(graph)).compelled
    assert before[0, 1:].all()
    assert not after.any()
    without = next(h for h in equivalence_class(graph) if not h.has_edge("1", "2"))
    assert compare(graph, without)


def test_redundant_edges_of_every_graph_of_a_class(brute):
    for text in (SCALING, "12 13 124 135 12345"):
        everything, irreducible = brute[text]
        for columns in list(everything)[::3]:
            graph = DirectedGraph.from_columns(columns, tuple("abcde"[: len(columns)]))
            reduced = graph.reduced()
            assert graph.is_reducible() == (columns not in irreducible)
            assert reduced.is_subgraph_of(graph)
            assert reduced.columns in irreducible


def test_every_member_gives_the_same_class(brute):
    for text in GROWING:
        members = equivalence_class(graph_of(text))
        first = list(members)
        for columns in list(brute[text][0])[::17]:
            graph = DirectedGraph.from_columns(columns, members.names)
            other = equivalence_class(graph)
            assert graph in members
            assert other == members
            assert hash(other) == hash(members)
            assert list(other) == first


def test_random_graphs_outside_are_not_in_the_class(brute):
    rng = np.random.default_rng(1)
    for text in GROWING:
        members = equivalence_class(graph_of(text))
        p = len(members.names)
        for _ in range(30):
            adjacency = (rng.random((p, p)) < 0.5) & ~np.eye(p, dtype=bool)
            graph = DirectedGraph(adjacency, members.names)
            assert (graph in members) == (graph.columns in brute[text][0])


def test_certificates_replay_and_every_rule_step_is_one_of_brute_force():
    for text in (*GROWING, LARGEST):
        start = graph_of(text)
        members = equivalence_class(start)
        goals = [next(iter(part), None) for part in members.rotation_classes]
        for goal in [*filter(None, goals), *members.sample(3, random_state=0)]:
            proof = members.certificate(goal)
            assert proof.replayed() == goal
            back = goal
            for step in proof.backward:
                back = step.apply(back)
            assert back.is_subgraph_of(start)
            graph = start
            for step in proof.forward:
                following = step.apply(graph)
                if isinstance(step, RuleStep | ParentAddition):
                    assert step.inverse().apply(following) == graph
                assert _is_one_step(graph, following)
                graph = following
            assert proof.explain()


def _is_one_step(graph, following):
    one, other = tuple(sorted(graph.columns)), tuple(sorted(following.columns))
    steps = (naive_rules.rotations, naive_rules.additions, naive_rules.rule_steps)
    return one == other or any(other in set(step(one)) for step in steps)


def test_a_certificate_is_refused_where_it_does_not_fit():
    members = equivalence_class(graph_of(BLOCK))
    goal = next(m for m in members if any(m.columns[j] == 0b100 for j in range(4)))
    step = next(s for s in members.certificate(goal).forward if isinstance(s, RuleStep))
    with pytest.raises(InputError):
        step.apply(graph_of("1 12 123 1234"))
    with pytest.raises(InputError):
        members.certificate(graph_of("1 12 123 1234"))
    assert members.certificate(members.graph).explain() == "no step needed"


def test_the_search_finds_what_single_steps_find_on_six_nodes():
    """Random dense graphs and lifted ones; every multiset of every class is tried for rules."""
    rng = np.random.default_rng(5)
    grown = 0
    texts = ["16 126 346 12346 6 56", "1 123 124 134 45 56", "1 12 45 345 12345 56"]
    graphs = [graph_of(text) for text in texts]
    while len(graphs) < 40:
        columns = tuple(int(c) for c in rng.integers(1, 64, 6))
        if naive_rules.seatings(columns) and not is_reducible(columns):
            graphs.append(graph_of(_text(columns)))
    for graph in graphs:
        found = linked_classes(territories(graph.columns))
        grown += len(found.links) > 1
        assert found.cut_by is None
        for key in islice(found.links, 3):
            for columns in iter_column_multisets(key, 60):
                for after in naive_rules.rule_steps(tuple(sorted(columns))):
                    assert territories(after) in found.links
    assert grown >= 3


def _text(columns):
    return " ".join("".join(str(v + 1) for v in naive_rules.nodes_of(c)) for c in columns)


def test_parts_multiply():
    """Two counterexamples side by side, and one within a sparse graph."""
    one = DirectedGraph.from_edges([(0, 1), (3, 2), (0, 3), (1, 3), (2, 3)])
    both = DirectedGraph(np.kron(np.eye(2), one.adjacency))
    members = equivalence_class(both)
    assert len(members.rotation_classes) == 4
    assert members.size == equivalence_class(one).size ** 2
    assert members.completeness is Completeness.PROVED
    rest = random_graph(40, random_state=0)
    adjacency = np.zeros((44, 44))
    adjacency[:4, :4], adjacency[4:, 4:] = one.adjacency, rest.adjacency
    large = equivalence_class(DirectedGraph(adjacency))
    assert large.size == equivalence_class(one).size * equivalence_class(rest).size
    assert large.completeness is Completeness.CONJECTURED


def test_the_one_pair_on_five_nodes_that_no_single_distribution_tells_apart():
    """Found so by all draws of a long search; the larger set has more dimensions."""
    smaller, larger = (graph_of(f"{one} 123 124 125 1345") for one in ("1", "12"))
    assert larger not in equivalence_class(smaller)
    assert equivalence_class(smaller).completeness is Completeness.PROVED
    # A rank at one point is never above the dimension, parameters are never fewer.
    assert larger.dimension() == 15 > smaller.n_edges + smaller.n_nodes


def test_limits_and_options():
    graph = graph_of(BLOCK)
    cut = equivalence_class(graph, max_classes=1)
    assert (cut.completeness, cut.cut_by) == (Completeness.CUT, "max_classes=1")
    assert equivalence_class(graph).completeness is Completeness.PROVED
    assert equivalence_class(graph, rules="rotations").completeness is Completeness.ROTATIONS
    dense = DirectedGraph(
        (np.random.default_rng(0).random((20, 20)) < 0.7) & ~np.eye(20, dtype=bool)
    )
    assert equivalence_class(dense).completeness in (Completeness.CUT, Completeness.CONJECTURED)
    with pytest.raises(InputError, match="rotations"):
        equivalence_class(graph, rules="facets")
    with pytest.raises(InputError, match="max_classes"):
        equivalence_class(graph, max_classes=0)
    members = equivalence_class(graph_of(SCALING), max_classes=99)
    copy = pickle.loads(pickle.dumps(members))
    assert copy == members
    assert copy.max_classes == 99
    assert repr(members) == "EquivalenceClass(29 irreducible members, 6 to 7 edges)"


@pytest.mark.parametrize("text", [SCALING, "1 2 134 135 145", LARGEST])
@pytest.mark.parametrize("max_effort", [0, 3, 20, 60])
def test_a_cut_search_for_redundant_edges_says_so_and_loses_no_graph(text, max_effort):
    """What is left out is left out rightly; what is kept too much is flagged."""
    links = linked_classes(territories(columns_of(text))).links

    def graphs(parts):
        return {columns for seating in parts for columns in seating.iter_columns()}

    is_cut = False
    for key in links:
        every = graphs(irreducible_seatings(key, links, 300_000)[0])
        parts, cut_by = irreducible_seatings(key, links, 300_000, max_effort=max_effort)
        assert every <= graphs(parts)
        assert cut_by in (None, f"max_effort={max_effort}")
        assert graphs(parts) == every or cut_by
        is_cut |= cut_by is not None
    assert is_cut or max_effort > 3


def test_a_class_hands_the_flag_on(monkeypatch):
    graph = graph_of(SCALING)
    whole = equivalence_class(graph).size
    assert equivalence_class(graph).redundancy_cut_by is None
    assert equivalence_class(graph, interventions=[[]]).redundancy_cut_by is None
    cut = partial(irreducible_seatings, max_effort=0)
    monkeypatch.setattr(rotation_class, "irreducible_seatings", cut)
    for interventions in (None, [[]]):
        members = equivalence_class(graph, interventions=interventions)
        assert members.redundancy_cut_by == "max_effort=0"
        assert members.size > whole
