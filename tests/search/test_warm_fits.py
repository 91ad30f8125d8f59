"""Fits that start at the weights of another graph, and components that turned cycles make."""

import numpy as np
import pytest

from cyclearn import DirectedGraph
from cyclearn._kernels.annealing import _is_turned, apply_toggles
from cyclearn._kernels.component_scores import region_values
from cyclearn._kernels.proposals import new_walk, toggle, turn_stack
from cyclearn.models.components import ComponentColumns
from cyclearn.search.score import GraphScore, SearchLimits, turned_weights
from cyclearn.search.search_effort import StartEffort, TieEffort
from cyclearn.simulate import random_model


def ring(p: int, *more: tuple[int, int]) -> np.ndarray:
    A = np.zeros((p, p), dtype=np.uint8)
    A[np.arange(p), np.roll(np.arange(p), -1)] = 1
    for i, j in more:
        A[i, j] = 1
    return A


def score_of(A: np.ndarray, n: int = 300) -> GraphScore:
    model = random_model(DirectedGraph(A.astype(bool)), random_state=1)
    rows = model.sample(n, random_state=2).to_numpy()
    p = len(A)
    limits = SearchLimits(p, p, p * p, min(p, 6))
    return GraphScore(np.corrcoef(rows, rowvar=False), 0.02, limits)


def value(score: GraphScore, A: np.ndarray, *, is_warm: bool) -> float:
    p = len(A)
    scored = score._scored(A, is_warm=is_warm)
    return region_values(scored, np.arange(p), np.empty(p, dtype=np.int64), np.empty(p), p)


def test_a_warm_fit_comes_to_what_a_thorough_one_finds():
    A = ring(5, (0, 2), (3, 1))
    score, other = score_of(A), score_of(A)
    cold = value(other, A, is_warm=False)
    best = score.thorough_value(A) - score.penalty * A.sum()
    assert abs(value(score, A, is_warm=True) - best) < 1e-10
    assert best <= cold + 1e-10


@pytest.mark.uncompiled(only=True)
def test_a_turned_cycle_is_recognised_and_weights_follow():
    A = ring(4, (0, 2))
    score = score_of(A)
    score.thorough_value(A)
    scored = score._scored(A.copy(), is_warm=True)
    before = np.linalg.inv(implied_precision(score.S[0], A, scored.warm.weights[0]))
    walk = new_walk(4, 1)
    walk.stack[:4] = [3, 2, 1, 0]
    turn_stack(scored.A, walk, 0, 4)
    assert _is_turned(scored, walk)
    apply_toggles(scored.A, walk)
    assert (scored.A != A).any()
    after = np.linalg.inv(implied_precision(score.S[0], scored.A, scored.warm.weights[0]))
    np.testing.assert_allclose(after, before, atol=1e-10)
    walk.size[0] = 0
    toggle(walk, 0, 1)
    assert not _is_turned(scored, walk)


def implied_precision(S: np.ndarray, A: np.ndarray, weights: np.ndarray) -> np.ndarray:
    Q = np.eye(len(A)) - np.where(A == 1, weights, 0.0)
    return Q / np.diag(Q.T @ S @ Q) @ Q.T


@pytest.mark.uncompiled(only=True)
def test_a_large_component_turned_has_the_radius_of_its_own_fit():
    A = ring(8, (0, 4))
    score = score_of(A)
    first = score._fitted(A, np.arange(8))
    walk = new_walk(8, 1)
    walk.stack[:8] = np.arange(8)[::-1]
    turned = A.copy()
    turn_stack(turned, walk, 0, 8)
    apply_toggles(turned, walk)
    own = score_of(A)._fitted(turned, np.arange(8))
    carried = score._fitted(turned, np.arange(8))
    assert carried.value == first.value
    assert abs(carried.value - own.value) < 1e-9
    assert carried.is_stable == own.is_stable
    np.testing.assert_allclose(carried.solutions[0][0], own.solutions[0][0], rtol=1e-4)


def test_weights_of_columns_that_stay_do_not_change():
    columns = ComponentColumns.of(ring(3).astype(bool), [0, 1, 2])
    b = np.array([0.5, -0.3, 0.8])
    nodes = np.arange(3)
    np.testing.assert_allclose(turned_weights(columns, b, columns, nodes, nodes), b)


def test_thickets_are_large_components_with_many_edges():
    effort = StartEffort()
    assert not effort.in_thicket(ring(8)).any()
    assert effort.in_thicket(ring(8, (0, 2), (4, 6))).all()
    assert not effort.in_thicket(ring(7, (0, 2), (4, 6))).any()


def test_graphs_with_large_components_and_groups_count_for_more():
    effort = TieEffort()
    assert effort.cost_of(7, 1) == 1
    assert effort.cost_of(18, 2) > 10 * effort.cost_of(7, 2) > effort.cost_of(7, 1)
