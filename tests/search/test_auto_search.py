from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cyclearn import (
    DirectedGraph,
    InputError,
    Knowledge,
    LinearGaussianModel,
    Moments,
    equivalent,
    fit,
    learn,
    simulate,
)
from cyclearn.data.reading import as_tables
from cyclearn.search import SearchStatus, answer, auto_search
from cyclearn.search.options import SearchOptions
from cyclearn.search.runs import Budget
from cyclearn.search.score import GraphScore, SearchLimits
from cyclearn.search.search_effort import AutoEffort, TieEffort
from cyclearn.search.starts import SearchCall
from slow_tests import few


def drawn(p, seed, n=10_000):
    rng = np.random.default_rng([p, seed])
    graph = simulate.random_graph(p, max_component=5, random_state=rng)
    rows = simulate.random_model(graph, random_state=rng).sample(n, random_state=rng)
    return graph, Moments(np.cov(rows.T, bias=True), n)


def annealed(score, start, nodes, *, may_add=None, max_component=8, n_proposals=400, seed=1):
    p = len(start)
    free = (~np.eye(p, dtype=bool)).astype(np.uint8)
    score = score.limited(max_component=max_component, max_virtual_cycle=0)
    return score.anneal(
        start,
        np.array(nodes, dtype=np.int64),
        score.rules(free if may_add is None else may_add, free),
        max_evaluations=10**9,
        temperatures=(20 / 10_000, 0.5 / 10_000),
        n_proposals=n_proposals,
        seed=seed,
    )


def fresh_value(moments, A, penalty):
    """The score of a graph by whole fits of its own, per sample."""
    n, p = moments.n_samples, moments.n_variables
    model = fit(DirectedGraph(A.astype(bool)), moments, n_starts=20)
    constant = 0.5 * p * (np.log(2 * np.pi) + 1) + np.log(moments.scale).sum()
    return -model.log_likelihood / n - constant + penalty * A.sum()


@settings(max_examples=15)
@given(st.integers(3, 7), st.integers(0, 500), st.data())
def test_annealing_keeps_its_books(p, seed, data):
    graph, moments = drawn(p, seed)
    penalty = 0.5 * np.log(moments.n_samples) / moments.n_samples
    score = GraphScore(moments.correlation, penalty, SearchLimits(p, p, p * p, 0))
    nodes = sorted(data.draw(st.sets(st.integers(0, p - 1), min_size=2)))
    start = graph.adjacency.astype(np.uint8)
    walk = annealed(score, start, nodes, seed=seed + 1)
    # A memory of its own: nothing is taken from the walk.
    before = GraphScore(moments.correlation, penalty, score.limits).value(start)
    for A, change in ((walk.last, walk.change), (walk.best, walk.best_change)):
        # A fit near the walk may miss the best maximum, but has a likelihood that is one.
        assert fresh_value(moments, A, penalty) <= before + change + 1e-6
    assert walk.best_change <= min(0.0, walk.change) + 1e-9
    again = annealed(score, start, nodes, seed=seed + 1)
    assert np.array_equal(again.last, walk.last)


def test_annealing_respects_what_is_allowed():
    _, moments = drawn(6, 1)
    penalty = 0.5 * np.log(moments.n_samples) / moments.n_samples
    score = GraphScore(moments.correlation, penalty, SearchLimits(6, 2, 7, 0))
    may_add = (~np.eye(6, dtype=bool)).astype(np.uint8)
    may_add[:, 2] = 0
    empty = np.zeros((6, 6), dtype=np.uint8)
    for seed in range(1, 20):
        walk = annealed(score, empty, range(6), may_add=may_add, max_component=1, seed=seed)
        for A in (walk.last, walk.best):
            assert DirectedGraph(A.astype(bool)).is_acyclic
            assert A[:, 2].sum() == 0
            assert A.sum(axis=0).max() <= 2
            assert A.sum() <= 7


@pytest.mark.parametrize("seed", few(4, range(8)))
def test_the_truth_is_reached(seed):
    graph, moments = drawn(6, seed)
    result = learn(moments)
    bar = -fit(graph, moments).log_likelihood + result.penalty * graph.n_edges
    assert result.score <= bar + 1e-6 * moments.n_samples
    assert result.status is SearchStatus.SETTLED
    assert learn(moments) == result


def test_starts_that_agree_on_a_thicket_are_asked_again_with_dearer_edges():
    ring = 0.7 * np.roll(np.eye(8), 1, axis=1)
    thicket = ring.copy()
    thicket[[0, 3], [3, 6]] = 0.4
    model = LinearGaussianModel(thicket, np.ones(8))
    problem = SearchOptions().problem(as_tables(Moments(model.covariance, 5000)))
    call = SearchCall(seed=0, budget=Budget())
    *agreeing, last = auto_search.AutoSearch().solve(problem, call).runs
    assert not any(run.start.any() for run in agreeing)
    # What is found with dearer edges is where the last one goes on from.
    assert last.start.any()
    assert last.score == pytest.approx(min(run.score for run in agreeing))
    assert not AutoEffort().further.in_thicket((ring > 0).astype(np.uint8)).any()


def test_limits_on_time_and_evaluations_are_said():
    _, moments = drawn(12, 0)
    late = learn(moments, time_limit=0.01)
    assert late.status is SearchStatus.TIME_LIMIT
    assert "time_limit" in late.limits
    cut = learn(moments, max_evaluations=500, n_starts=1)
    assert cut.status is SearchStatus.MAX_EVALUATIONS
    assert cut == learn(moments, max_evaluations=500, n_starts=1)


def test_a_time_limit_keeps_what_other_processes_found(monkeypatch):
    """The best of all starts is returned, even where the first was cut and the second was not."""
    _, moments = drawn(8, 0)
    whole = learn(moments, n_starts=1)
    run_one = auto_search.run_from
    calls_made = []

    def cut_at_first(_run, calls, **_options):
        calls_made.extend(calls)
        first, second = (run_one(*call) for call in calls * 2)
        cut = replace(first, best=first.start, score=np.inf, status=SearchStatus.TIME_LIMIT)
        return [cut, second]

    monkeypatch.setattr(auto_search, "run_calls", cut_at_first)
    result = learn(moments, time_limit=60.0)
    assert result.score == pytest.approx(whole.score, abs=1e-3)
    assert result.status is SearchStatus.TIME_LIMIT
    assert len(calls_made) == 1


@pytest.mark.parametrize(("limit", "together"), [(None, [2, 2]), (1e6, [1, 2]), (4.5, [1, 1, 1])])
def test_starts_go_to_other_processes_where_these_have_the_time(monkeypatch, limit, together):
    _, moments = drawn(8, 0)
    sizes = []

    def here(run, calls, **_options):
        sizes.append(len(calls))
        return [run(*call) for call in calls]

    monkeypatch.setattr(auto_search, "run_calls", here)
    learn(moments, n_starts=sum(together), n_jobs=2, time_limit=limit)
    assert sizes == together


@pytest.mark.parametrize("method", ["auto", "tabu", "exact"])
def test_required_cycles_have_stable_fits(method):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 3))
    rows[:, 1] += rows[:, 0]
    rows[:, 2] += rows[:, 1]
    loop = Knowledge(required=[("X1", "X2"), ("X2", "X1")])
    result = learn(rows, knowledge=loop, method=method, penalty="bic")
    assert result.model.is_stable
    assert result.score == pytest.approx(855.629, abs=1e-3)


def test_limits_of_single_stages_keep_nothing_away():
    """The last climb closes a ring of more nodes than those before it may."""
    p = 24
    chain = np.diag(np.full(p - 1, 0.9), 1)
    B = chain.copy()
    B[-1, 0] = 0.9
    moments = Moments(LinearGaussianModel(B, np.ones(p)).covariance, 100_000)
    result = learn(moments, start=DirectedGraph(chain != 0, moments.names))
    assert max(map(len, result.graph.components)) > 20
    assert result.limits == ()


def test_ties_are_listed():
    loop = LinearGaussianModel([[0, 0.6, 0], [0, 0, 0.6], [-0.5, 0, 0]], [1, 1, 1])
    result = learn(loop.sample(10_000, random_state=0))
    graphs = [result.graph, *result.alternatives]
    complete = DirectedGraph(np.triu(np.ones((3, 3)), 1), result.graph.names)
    assert len(graphs) == 2
    assert any(equivalent(graph, loop.graph) for graph in graphs)
    assert any(equivalent(graph, complete) for graph in graphs)
    assert graphs[0].is_acyclic
    assert "those of another class, with exactly the same score" in str(result)
    assert learn(loop.sample(10_000, random_state=0), max_cycle_length=2).alternatives == ()


def test_ties_that_are_many(monkeypatch):
    """Each of three loops can be a complete acyclic graph instead: 7 other classes."""
    B = np.kron(np.eye(3), [[0, 0.8, 0], [0, 0, 0.7], [0.6, 0, 0]])
    moments = Moments(LinearGaussianModel(B, np.ones(9)).covariance, 100_000)
    result = learn(moments, n_starts=1)
    assert len(result.alternatives) == 7
    assert result.graph.is_acyclic
    assert not result.has_more_alternatives
    monkeypatch.setattr(answer, "_EFFORT", TieEffort(max_classes=5))
    cut = learn(moments, n_starts=1)
    assert len(cut.alternatives) == 5
    assert "more than 5 other classes" in str(cut)


@pytest.mark.parametrize("method", ["auto", "tabu", "hill-climbing"])
def test_the_least_time_is_enough_for_a_first_graph(method):
    """A table whose reading took all the time was learned to have no edges."""
    graph, moments = drawn(20, 3)
    late = learn(moments, method=method, time_limit=0.0)
    greedy = learn(moments, method="hill-climbing")
    assert late.status is SearchStatus.TIME_LIMIT
    assert late.score < greedy.score + 0.01 * abs(greedy.score)
    assert late.graph.n_edges > graph.n_edges / 2


@pytest.mark.parametrize("method", ["auto", "tabu", "hill-climbing"])
@pytest.mark.parametrize("most", [1, 10, 100])
def test_evaluations_go_over_their_limit_by_one_move_at_most(method, most):
    _, moments = drawn(10, 0)
    found = learn(moments, method=method, max_evaluations=most, n_starts=1)
    assert found.cost.n_evaluations < most + 3 * 10


def test_a_high_effort_goes_on_and_is_never_worse():
    rng = np.random.default_rng(4)
    data = rng.normal(size=(60, 8)) @ rng.normal(size=(8, 8))
    default, high = (learn(data, effort=effort) for effort in ("default", "high"))
    assert high.score <= default.score + 1e-8
    assert high.n_starts_agreeing[1] > default.n_starts_agreeing[1]


@pytest.mark.parametrize("own", [{"n_starts": 3}, {"method": "tabu"}])
def test_a_high_effort_chooses_the_starts_itself(own):
    with pytest.raises(InputError, match="effort='high' sets the number of starts"):
        learn(np.eye(5), effort="high", **own)
