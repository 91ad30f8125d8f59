"""The score under interventions over all graphs of three nodes, and every method on it."""

from itertools import permutations

import numpy as np
import pytest

import cyclearn as cl
from cyclearn.search.options import SearchOptions
from naive_interventions import sample_tables

TARGETS = [[], ["b"], ["a"]]
PAIRS = list(permutations(range(3), 2))


def all_graphs():
    for bits in range(64):
        A = np.zeros((3, 3), dtype=bool)
        for n, pair in enumerate(PAIRS):
            A[pair] = bits >> n & 1
        yield cl.DirectedGraph(A, names=["a", "b", "c"])


def tables_of(seed, kind="perfect", targets=TARGETS):
    truth = cl.simulate.random_graph(3, random_state=seed)
    model = cl.simulate.random_model(cl.DirectedGraph(truth.adjacency, ["a", "b", "c"]))
    return sample_tables(model, targets, (200, 150, 120)[: len(targets)], seed, kind)


@pytest.mark.parametrize("kind", ["perfect", "noise"])
def test_the_score_is_that_of_the_fit_and_every_method_finds_the_best(kind):
    tables = tables_of(5, kind)
    options = SearchOptions(interventions=TARGETS, intervention_kind=kind, penalty="bic")
    problem = options.problem(options.tables(tables))
    score, n = problem.score(), 470
    scores = {}
    for graph in all_graphs():
        fitted = cl.fit(graph, tables, interventions=TARGETS, intervention_kind=kind)
        A = graph.adjacency.astype(np.uint8)
        total = -fitted.log_likelihood + 0.5 * np.log(n) * graph.n_edges
        # One start may end above the best of several, never below.
        assert n * (score.value(A) + problem.constant) >= total - 1e-6
        assert n * (score.thorough_value(A) + problem.constant) == pytest.approx(total, abs=1e-6)
        assert score.is_stable(A) == fitted.is_stable
        if fitted.is_stable:
            scores[graph] = total
    best = min(scores.values())
    for method in ("auto", "exact", "tabu", "hill-climbing"):
        found = cl.learn(
            tables, interventions=TARGETS, intervention_kind=kind, method=method, penalty="bic"
        )
        assert found.score == pytest.approx(scores[found.graph], abs=1e-6)
        if found.moves:
            # What moves are said to change adds up to what the graph has.
            assert found.moves[-1].score >= found.score - 1e-6
        if method in ("auto", "exact"):
            assert found.score == pytest.approx(best, abs=1e-6)
            tied = {graph for graph, value in scores.items() if value < best + 1e-6}
            assert {found.graph, *found.alternatives} == tied


@pytest.mark.parametrize("kind", ["perfect", "noise"])
def test_the_change_of_a_move_is_the_difference_of_two_scores(kind):
    options = SearchOptions(interventions=TARGETS, intervention_kind=kind, penalty="bic")
    score = options.problem(options.tables(tables_of(7, kind))).score()
    everything = np.ones((3, 3), dtype=np.uint8)
    for graph in all_graphs():
        A = graph.adjacency.astype(np.uint8)
        move = score.best_neighbour(A, score.rules(everything, everything))
        change = score.value(move.applied_to(A)) - score.value(A)
        assert move.delta == pytest.approx(change, abs=1e-10)


@pytest.mark.uncompiled(only=True)
def test_the_bound_is_below_every_value():
    """No structure on three nodes has a value below the saturated one."""
    from cyclearn._kernels.component_scores import saturated_value

    for kind in ("perfect", "noise"):
        options = SearchOptions(interventions=TARGETS, intervention_kind=kind, penalty="bic")
        score = options.problem(options.tables(tables_of(2, kind))).score()
        bound = saturated_value(score._scored(np.zeros((3, 3), dtype=np.uint8)), np.arange(3))
        for graph in all_graphs():
            A = graph.adjacency.astype(np.uint8)
            assert score.value(A) - score.penalty * A.sum() >= bound - 1e-9


def test_what_is_always_set_has_no_parents():
    targets = [["b"], ["b", "a"]]
    tables = tables_of(1, targets=targets)
    for method in ("auto", "exact"):
        found = cl.learn(tables, interventions=targets, method=method)
        assert not found.graph.parents("b")
    required = cl.Knowledge(required=[("a", "b")])
    with pytest.raises(
        cl.InputError, match="a -> b is required, but b was intervened on in every table"
    ):
        cl.learn(tables, interventions=targets, knowledge=required)


def test_knowledge_and_limits_hold():
    known = cl.Knowledge(required=[("c", "a")], forbidden=[("a", "b")])
    found = cl.learn(tables_of(3), interventions=TARGETS, knowledge=known, max_component=1)
    assert ("c", "a") in found.graph.edges
    for graph in (found.graph, *found.alternatives):
        assert ("a", "b") not in graph.edges
        assert graph.is_acyclic


def test_an_intervention_settles_the_direction_of_an_edge():
    B = np.zeros((2, 2))
    B[0, 1] = 0.8
    model = cl.LinearGaussianModel(B, [1, 1], ["a", "b"])
    observed = cl.learn(model.sample(500, random_state=0))
    assert observed.equivalence_class.size == 2
    targets = [[], ["a"]]
    found = cl.learn(sample_tables(model, targets, (500, 500), 0), interventions=targets)
    assert found.graph.edges == (("a", "b"),)
    assert not found.alternatives
