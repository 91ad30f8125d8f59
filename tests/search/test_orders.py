"""The search over orders against least squares, all acyclic graphs, and its own promises."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_orders import best_of_all, grown_and_shrunk, node_value

from cyclearn import DirectedGraph, InputError, simulate
from cyclearn._kernels.order_search import FITTED, search_orders
from cyclearn._kernels.parent_sets import (
    append_parent,
    empty_factor,
    grow_and_shrink,
    new_factor,
)
from cyclearn.data import as_moments
from cyclearn.foundation.deadlines import now
from cyclearn.search.orders import _Problem, best_acyclic
from cyclearn.search.runs import Budget, SearchStatus
from cyclearn.search.score import GraphScore, SearchLimits

SEEDS = st.integers(0, 10_000)


def correlations(p, seed, n=500, max_component=3):
    rng = np.random.default_rng(seed)
    truth = simulate.random_graph(p, max_component=max_component, random_state=rng)
    rows = simulate.random_model(truth, random_state=rng).sample(n, random_state=rng)
    return as_moments(rows).correlation


def knowledge(p, seed, density=0.15):
    """Edges that are allowed and, along a random order, required."""
    rng = np.random.default_rng(seed)
    allowed = (rng.random((p, p)) < 0.8) & ~np.eye(p, dtype=bool)
    before = rng.permutation(p)
    required = allowed & (before[:, None] < before) & (rng.random((p, p)) < density)
    return allowed, required


def free(p):
    return ~np.eye(p, dtype=bool), np.zeros((p, p), dtype=bool)


def search(S, penalty=0.01, masks=None, max_parents=None, max_edges=None, **options):
    p = len(S)
    allowed, required = masks or free(p)
    max_parents = p if max_parents is None else max_parents
    max_edges = p * p if max_edges is None else max_edges
    score = GraphScore(S, penalty, SearchLimits(p, max_parents, max_edges, 0))
    options = {"seed": 0, "n_exchanges": 3, "budget": Budget()} | options
    return best_acyclic(score, allowed, required, **options)


@pytest.mark.uncompiled(only=True)
@settings(max_examples=60)
@given(st.integers(2, 9), SEEDS, st.sampled_from([0.0, 0.003, 0.02]), st.integers(1, 9))
def test_grown_and_shrunk_as_by_least_squares(p, seed, penalty, max_parents):
    S = correlations(p, seed)
    rng = np.random.default_rng(seed)
    position = rng.permutation(p)
    may = (rng.random(p) < 0.8).astype(np.uint8)
    node, limit = int(rng.integers(p)), int(rng.integers(p + 1))
    may[node] = 0
    candidates = {u for u in range(p) if may[u] and position[u] < limit}
    start = [u for u in sorted(candidates) if rng.random() < 0.4][:max_parents]
    required = np.zeros(p, np.uint8)
    required[start[:1]] = 1
    factor = new_factor(p, max_parents)
    empty_factor(S, factor, node)
    for u in start:
        append_parent(S, factor, node, u)
    value, _ = grow_and_shrink(S, factor, node, may, required, position, limit, penalty)
    expected = grown_and_shrunk(S, node, start, candidates, set(start[:1]), penalty, max_parents)
    assert set(factor.members[: factor.size[0]].tolist()) == expected
    assert value == pytest.approx(node_value(S, node, expected, penalty), abs=1e-9)


@settings(max_examples=40)
@given(st.integers(1, 12), SEEDS, st.booleans(), st.integers(2, 5))
def test_keeps_to_what_is_asked_and_scores_as_the_search_does(p, seed, has_knowledge, most):
    S = correlations(p, seed)
    allowed, required = knowledge(p, seed) if has_knowledge else free(p)
    max_parents = max(most, int(required.sum(axis=0).max()))
    max_edges = max(p, int(required.sum()))
    run = search(S, 0.004, (allowed, required), max_parents, max_edges, n_exchanges=1)
    A = run.adjacency.astype(bool)
    assert DirectedGraph(A).is_acyclic
    assert not (A & ~allowed).any()
    assert not (required & ~A).any()
    assert A.sum(axis=0).max() <= max_parents
    assert A.sum() <= max_edges
    score = GraphScore(S, 0.004, SearchLimits(p, p, p * p, 0))
    assert run.value == pytest.approx(score.value(run.adjacency), abs=1e-9)
    assert run.ended is SearchStatus.LOCAL_OPTIMUM


@pytest.mark.parametrize("seed", range(12))
def test_best_of_all_acyclic_graphs_with_four_nodes(seed):
    S = correlations(4, seed, max_component=1)
    allowed, required = knowledge(4, seed) if seed % 3 == 0 else free(4)
    max_parents = 2 if seed % 4 == 1 else 3
    best = best_of_all(S, 0.005, allowed, required, max_parents)
    found = search(S, 0.005, (allowed, required), max_parents)
    assert found.value == pytest.approx(best, abs=1e-9)


@settings(max_examples=15)
@given(st.integers(3, 12), SEEDS)
def test_more_effort_and_other_columns(p, seed):
    S = correlations(p, seed)
    found = search(S)
    assert found.value <= search(S, n_exchanges=0).value + 1e-9
    columns = np.random.default_rng(seed).permutation(p)
    turned = search(S[np.ix_(columns, columns)])
    assert turned.value == pytest.approx(found.value, abs=1e-9)
    np.testing.assert_array_equal(turned.adjacency, found.adjacency[np.ix_(columns, columns)])


def test_slices_change_nothing():
    allowed, required = free(15)
    problem = _Problem(correlations(15, 7), 0.004, allowed, required, 14, 3)
    whole, sliced = problem._start(), problem._start()
    assert search_orders(whole, 2**62, 20, 4)
    while not search_orders(sliced, int(sliced.progress[FITTED]) + 1, 20, 4):
        pass
    np.testing.assert_array_equal(whole.order, sliced.order)
    np.testing.assert_array_equal(whole.values, sliced.values)
    assert whole.progress[FITTED] == sliced.progress[FITTED]


def test_limits_return_the_best_so_far():
    S = correlations(30, 1)
    allowed, required = knowledge(30, 1, density=0.02)
    full = search(S, masks=(allowed, required))
    late = search(S, masks=(allowed, required), budget=Budget(deadline=now() - 1))
    assert late.ended is SearchStatus.TIME_LIMIT
    for limit in (1, 50, 500, 2000):
        cut = search(S, masks=(allowed, required), budget=Budget(limit))
        assert cut.ended is SearchStatus.MAX_EVALUATIONS
        for run in (cut, late):
            assert DirectedGraph(run.adjacency.astype(bool)).is_acyclic
            assert not (required & ~run.adjacency.astype(bool)).any()
            assert full.value <= run.value + 1e-9
    score = GraphScore(S, 0.01, SearchLimits(30, 30, 900, 0))
    assert late.value == pytest.approx(score.value(late.adjacency), abs=1e-9)


def test_few_edges_are_the_strongest():
    S = correlations(12, 5)
    values = [search(S, max_edges=m).value for m in range(0, 20, 3)]
    assert values[0] == pytest.approx(0)
    assert (np.diff(values) <= 1e-9).all()
    assert search(S, max_parents=0).adjacency.sum() == 0


def test_collinear_variables_are_left_out():
    S = correlations(5, 2)
    mixed = np.vstack([np.eye(5), np.eye(5)[:1], np.eye(5)[1:2] + np.eye(5)[2:3]])
    S = mixed @ S @ mixed.T
    S = S / np.sqrt(np.outer(np.diagonal(S), np.diagonal(S)))
    run = search(S, 0.001)
    assert np.isfinite(run.value)
    assert np.isfinite(GraphScore(S, 0.001, SearchLimits(7, 7, 49, 0)).value(run.adjacency))


def test_required_cycles_are_named():
    allowed, required = free(4)
    required[[0, 1, 2], [1, 2, 0]] = True
    with pytest.raises(InputError, match="0 → 1 → 2"):
        search(np.eye(4), masks=(allowed, required))
