"""Scores of a part of a graph against those of the whole one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cyclearn import DirectedGraph, simulate
from cyclearn.data import as_moments
from cyclearn.data.reading import as_tables
from cyclearn.search import score as score_module
from cyclearn.search.local_scores import LocalScores
from cyclearn.search.options import SearchOptions
from cyclearn.search.redrawn_triples import redrawn_pairs, toggled
from cyclearn.search.score import GraphScore, SearchLimits
from cyclearn.search.search_effort import Sizes
from cyclearn.search.surroundings import Surroundings

PENALTY = 0.002


@pytest.fixture(autouse=True)
def parts_of_small_graphs(monkeypatch):
    monkeypatch.setattr(score_module, "SIZES", Sizes(small=0))


def drawn(p, seed):
    """A graph and the score on data of another one, which it need not fit."""
    rng = np.random.default_rng(seed)
    model = simulate.random_model(simulate.random_graph(p, random_state=rng), random_state=rng)
    moments = as_moments(model.sample(800, random_state=rng))
    A = np.triu(rng.random((p, p)) < 1.5 / p, 1).astype(np.uint8)
    cyclic = rng.choice(p, size=3, replace=False)
    A[cyclic, np.roll(cyclic, 1)] = 1
    return rng, A, GraphScore(moments.correlation, PENALTY, SearchLimits(p, p, p * p, 0))


@settings(max_examples=40)
@given(st.integers(4, 12), st.integers(0, 10_000))
def test_edges_among_some_nodes_change_their_part_alone(p, seed):
    rng, A, score = drawn(p, seed)
    nodes = np.sort(rng.choice(p, size=min(p, 4), replace=False))
    around, part_score = score.around(A, nodes)
    assert np.isin(nodes, around.index[around.is_inner]).all()
    changed = A.copy()
    inside = np.ix_(nodes, nodes)
    changed[inside] = rng.random((len(nodes), len(nodes))) < 0.4
    np.fill_diagonal(changed, 0)
    before, after = around.part(A), around.part(changed)
    np.testing.assert_array_equal(around.with_part(A, after), changed)
    assert part_score.value(after) - part_score.value(before) == pytest.approx(
        score.value(changed) - score.value(A), abs=1e-10
    )


def test_everything_is_a_part():
    _, A, _ = drawn(6, 3)
    around = Surroundings.everything(6)
    np.testing.assert_array_equal(around.part(A), A)


@settings(max_examples=15)
@given(st.integers(8, 14), st.integers(0, 10_000))
def test_annealing_a_part_is_annealing_the_whole(p, seed):
    rng, A, score = drawn(p, seed)
    nodes = np.sort(rng.choice(p, size=4, replace=False))
    free = (~np.eye(p, dtype=bool)).astype(np.uint8)
    options = {
        "max_evaluations": 10**9,
        "temperatures": (0.02, 0.001),
        "n_proposals": 200,
        "seed": seed,
    }
    score = score.limited(max_component=5, max_virtual_cycle=0)
    found = score.anneal(A, nodes, score.rules(free, free), **options)
    whole = GraphScore(score.S[0], PENALTY, score.limits)
    whole.around = lambda *_: (Surroundings.everything(p), whole)
    expected = whole.anneal(A, nodes, whole.rules(free, free), **options)
    np.testing.assert_array_equal(found.best, expected.best)
    np.testing.assert_array_equal(found.last, expected.last)
    assert found.change == pytest.approx(expected.change, abs=1e-12)
    assert found.best_change == pytest.approx(expected.best_change, abs=1e-12)


@settings(max_examples=10)
@given(st.integers(4, 8), st.integers(0, 10_000))
def test_ties_around_a_graph_are_those_of_whole_scores(p, seed):
    rng, A, _ = drawn(p, seed)
    rows = simulate.random_model(DirectedGraph(A.astype(bool)), random_state=rng).sample(
        300, random_state=rng
    )
    problem = SearchOptions(penalty="bic").problem(as_tables(rows))
    score = problem.score()
    local, value = LocalScores(problem, score, A), score.thorough_value(A)
    for pairs in redrawn_pairs(A):
        if pairs:
            redrawn = toggled(A, pairs)
            quick, whole = score.value(redrawn), score.thorough_value(redrawn)
            # Values in between are decided by rounding.
            if not 1e-10 < abs(whole - value) < 1e-7:
                is_tied = quick - value < 1e-4 and abs(whole - value) < 1e-8
                assert local.are_tied(pairs, value) == is_tied
