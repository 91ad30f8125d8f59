"""Rows that remember: how many independent rows they are worth, and what that changes."""

import numpy as np
import pandas as pd
import pytest

from cyclearn import (
    CyclicGraphLearner,
    InputError,
    LearnResult,
    LinearGaussianModel,
    Moments,
    Reading,
    bootstrap,
    fit,
    learn,
)
from cyclearn.data.effective_rows import Memory
from cyclearn.data.resampling import Resampler
from cyclearn.search.penalty import DEFAULT_PENALTY, edge_penalty
from slow_tests import few

MODEL = LinearGaussianModel(
    [[0, 0.7, 0, 0], [0, 0, 0.6, 0], [0, -0.5, 0, 0.8], [0, 0, 0, 0]], np.ones(4), list("abcd")
)


def remembering(n, memory, seed=0):
    """Rows of the model whose noise remembers: every column has the same autocorrelation."""
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((n, 4))
    for t in range(1, n):
        noise[t] = memory * noise[t - 1] + np.sqrt(1 - memory**2) * noise[t]
    return pd.DataFrame(noise @ np.linalg.inv(np.eye(4) - MODEL.B), columns=MODEL.names)


def effective_rows(rows):
    return Memory.of(np.asarray(rows, dtype=float)).n_effective


@pytest.mark.parametrize("memory", [0.0, 0.5, 0.8, 0.95])
def test_the_estimate_against_the_formula(memory):
    estimates = [effective_rows(remembering(4_000, memory, s)) for s in range(5)]
    expected = 4_000 * (1 - memory**2) / (1 + memory**2)
    assert np.median(estimates) == pytest.approx(expected, rel=0.2)


def test_likelihood_and_penalty_count_the_same_rows():
    rows = remembering(600, 0.8)
    result = learn(rows)
    worth = result.model.n_effective
    assert 80 < worth < 250
    by_number = learn(rows, n_effective=worth)
    assert by_number.graph == result.graph
    assert result.score == pytest.approx(by_number.score)
    # The same as moments of so many rows.
    moments = Moments(np.cov(rows.T, bias=True), round(worth), names=list(rows.columns))
    assert learn(moments).graph == learn(rows, n_effective=round(worth)).graph
    assert result.penalty == pytest.approx(edge_penalty(DEFAULT_PENALTY, worth, rows.shape[1]))
    assert f"600 rows, counted as {worth:.0f} because neighbouring rows resemble" in str(result)
    assert LearnResult.from_json(result.to_json()) == result
    assert learn(rows, n_effective="all").graph.n_edges >= result.graph.n_edges


def test_fits_of_fewer_rows_are_less_certain():
    rows = remembering(600, 0.8)
    all_rows = fit(MODEL.graph, rows, n_effective="all")
    honest = fit(MODEL.graph, rows, n_effective=150)
    assert np.array_equal(all_rows.B, honest.B)
    ratio = honest.standard_errors / all_rows.standard_errors
    np.testing.assert_allclose(ratio[MODEL.graph.adjacency], 2.0)
    assert honest.log_likelihood == pytest.approx(all_rows.log_likelihood / 4)
    assert honest.fit_indices.chi_square == pytest.approx(all_rows.fit_indices.chi_square / 4)


def test_blocks_keep_the_memory():
    rows = remembering(600, 0.8)
    found = bootstrap(rows, 4, method="hill-climbing")
    assert found.resampling == "blocks"
    assert found.options["n_effective"] == "auto"
    plain = bootstrap(rows, 2, n_effective="all", method="hill-climbing")
    assert plain.resampling == "rows"
    halves = bootstrap(rows, 2, resampling="half", n_effective=300, method="hill-climbing")
    assert halves.resampling == "half"
    reading = Reading(n_effective=300)
    drawn, _, _ = Resampler.of(reading.tables(rows), reading, "half", 0).draw(0)
    assert drawn.n_effective == 150
    parametric = bootstrap(Moments(MODEL.covariance, 600), 2, n_effective=100, method="tabu")
    assert parametric.resampling == "parametric"


def test_the_estimator_takes_it():
    rows = remembering(600, 0.8)
    learner = CyclicGraphLearner(n_effective=100).fit(rows)
    assert learner.graph_ == learn(rows, n_effective=100).graph


@pytest.mark.parametrize("given", ["many", 1, -5.0, True, float("nan"), 10**6])
def test_bad_numbers_get_one_clear_error(given):
    with pytest.raises(InputError, match="n_effective is"):
        learn(remembering(100, 0.0), n_effective=given)
    with pytest.raises(InputError, match="n_effective is"):
        fit(MODEL.graph, remembering(100, 0.0), n_effective=given)


def test_rows_of_moments_are_not_checked():
    result = learn(Moments(MODEL.covariance, 100))
    assert result.tables.n_effective == 100
    assert (
        "All 100 rows count: the rows could not be checked because only moments were given."
        in str(result)
    )


def test_few_rows_all_count():
    rows = remembering(29, 0.9)
    assert effective_rows(rows) == 29
    assert "All 29 rows count: fewer than 30 are not checked." in str(fit(MODEL.graph, rows))


def test_independent_rows_have_the_same_answers():
    rows = MODEL.sample(300, random_state=1)
    result, every = learn(rows), learn(rows, n_effective="all")
    assert "All 300 rows count: neighbouring rows do not resemble each other." in str(result)
    assert "All 300 rows count: as requested" in str(every)
    assert result.graph == every.graph
    assert (result.score, result.penalty, result.warnings) == (
        every.score,
        every.penalty,
        every.warnings,
    )
    assert result.fitted.to_dict() == fit(result.graph, rows, n_effective="all").to_dict()
    quick = {"n_resamples": 3, "method": "hill-climbing"}
    assert (
        bootstrap(rows, **quick).resamples == bootstrap(rows, n_effective="all", **quick).resamples
    )


@pytest.mark.parametrize("n", few(2, [30, 100, 1_000]))
@pytest.mark.parametrize("kind", ["normal", "t", "exponential"])
def test_independent_rows_all_count(n, kind):
    rng = np.random.default_rng(n)
    draw = {
        "normal": lambda: rng.standard_normal((n, 8)),
        "t": lambda: rng.standard_t(5, (n, 8)),
        "exponential": lambda: rng.exponential(size=(n, 8)),
    }[kind]
    mixed = np.triu(rng.normal(size=(8, 8)))
    alarms = sum(effective_rows(draw() @ mixed) < n for _ in range(200))
    assert alarms <= 6


def bent(n, rng):
    """Exchangeable rows: bent relations, noise that grows, columns of two and of five values."""
    x = rng.standard_normal(n)
    y = np.exp(x) + (0.2 + 0.3 * np.abs(x)) * rng.standard_normal(n)
    z = x**2 - 0.5 * y + rng.standard_normal(n)
    two = (z + rng.standard_normal(n) > 0).astype(float)
    five = np.clip(np.round(x + two), -2, 2)
    tenths = np.round(x + 0.3 * rng.standard_normal(n), 1)
    return pd.DataFrame({"x": x, "y": y, "z": z, "two": two, "five": five, "tenths": tenths})


@pytest.mark.parametrize(
    "columns",
    [[], ["x"], ["y"], ["z"], ["two"], ["five"], ["tenths"], ["two", "y"], ["five", "two", "z"]],
)
def test_sorting_exchangeable_rows_changes_nothing(columns):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        rows = bent(int(rng.choice([80, 400, 1_500])), rng)
        if columns:
            rows = rows.sort_values(columns, ascending=bool(seed % 2), kind="stable")
        assert effective_rows(rows) == len(rows)


def test_blocks_of_any_order_change_nothing():
    rng = np.random.default_rng(0)
    rows = bent(500, rng)
    by_block = rows.assign(place=rows["five"].map({-2: 3, -1: 0, 0: 4, 1: 1, 2: 2}))
    assert effective_rows(by_block.sort_values("place").drop(columns="place")) == 500


def test_a_designed_experiment_has_no_memory():
    rng = np.random.default_rng(0)
    dose, heat, time = (each.ravel() for each in np.mgrid[0:5, 0:6, 0:15])
    outcome = dose * np.sin(time / 3) + heat**2 + rng.standard_normal(dose.size)
    rows = np.column_stack([dose, heat, time, dose + 2.0 * heat, outcome])
    assert effective_rows(rows) == len(rows)


def test_memory_beside_a_column_of_time_is_found():
    rows = remembering(300, 0.7)
    alone = effective_rows(rows)
    assert alone == pytest.approx(300 * (1 - 0.49) / (1 + 0.49), rel=0.25)
    assert effective_rows(rows.assign(year=1700 + np.arange(300))) == pytest.approx(alone)
    with_gaps = rows.assign(year=1700 + np.arange(300))
    with_gaps = with_gaps[np.random.default_rng(0).random(300) < 0.9]
    assert effective_rows(with_gaps) < 0.5 * len(with_gaps)
    # Where the steps of time differ, it is a column like others.
    more, stamps = remembering(1_000, 0.7), np.random.default_rng(0).exponential(size=1_000)
    assert effective_rows(more.assign(stamp=np.cumsum(stamps))) < 750
    half = np.repeat([0.0, 1.0], 150)
    assert effective_rows(rows.assign(half=half)) == pytest.approx(alone, rel=0.2)
    both = rows.assign(half=half, year=np.arange(300))
    assert effective_rows(both) == pytest.approx(alone, rel=0.2)


def test_the_order_of_columns_changes_nothing():
    rows = remembering(300, 0.7).assign(stamp=np.sqrt(np.arange(300)), later=np.arange(300) ** 3)
    assert effective_rows(rows.iloc[:, ::-1]) == pytest.approx(effective_rows(rows), rel=1e-9)


def test_lags_leave_what_the_past_does_not_explain():
    rows = remembering(600, 0.8)
    given = learn(rows, lags=1, method="hill-climbing")
    assert given.tables.n_effective == given.tables.n_samples == 599
    # Two rows of the past act, and one is given.
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((600, 4))
    for t in range(3, 600):
        noise[t] += 0.85 * noise[t - 3]
    found = learn(noise, lags=1, method="hill-climbing")
    assert found.tables.n_effective < 300
    assert "They count as" in found.warnings[0].remedy
    assert bootstrap(noise, 2, lags=1, method="hill-climbing").resampling == "blocks"


def test_interventions_count_by_table():
    slow, quick = remembering(400, 0.8), MODEL.sample(300, random_state=0)
    # What somebody set has a memory of its own, which says nothing about the rows.
    quick["a"] = np.repeat([-2.0, 2.0], 150) + 0.01 * np.random.default_rng(0).standard_normal(300)
    reading = {"interventions": [[], ["a"]]}
    found = fit(MODEL.graph, [slow, quick], **reading)
    counted = [table.n_effective for table in found.experiments.tables]
    assert counted == [pytest.approx(effective_rows(slow)), 300]
    assert found.n_effective == pytest.approx(sum(counted))
    assert "700 rows, counted as" in str(found)
    result = learn([slow, quick], method="hill-climbing", **reading)
    assert result.tables.n_effective == pytest.approx(sum(counted))
    same = fit(result.graph, [slow, quick], **reading)
    assert result.score == pytest.approx(
        result.penalty * result.graph.n_edges - same.log_likelihood
    )
    drawn = bootstrap([slow, quick], 2, method="hill-climbing", **reading)
    assert drawn.resampling == "blocks"
    number = fit(MODEL.graph, [slow, quick], n_effective=100, **reading)
    assert number.n_effective == 200
    with pytest.raises(InputError, match="table 2: n_effective is 350, and there are 300 rows"):
        fit(MODEL.graph, [slow, quick], n_effective=350, **reading)


def test_tables_that_count_for_less_weigh_less():
    first, second = MODEL.sample(200, random_state=0), 1.5 * MODEL.sample(200, random_state=1)
    reading = {"interventions": [[], ["a"]]}
    half = fit(MODEL.graph, [first, second], n_effective=100, **reading)
    every = fit(MODEL.graph, [first, second], **reading)
    np.testing.assert_allclose(half.B, every.B, atol=1e-7)
    assert half.log_likelihood == pytest.approx(every.log_likelihood / 2)
    edges = MODEL.graph.adjacency
    ratio = half.standard_errors[edges] / every.standard_errors[edges]
    np.testing.assert_allclose(ratio, np.sqrt(2), rtol=1e-5)


def test_missing_values_are_no_reason_for_blocks():
    rng = np.random.default_rng(0)
    rows = MODEL.sample(200, random_state=0).mask(rng.random((200, 4)) < 0.1)
    found = learn(rows, missing="em", method="hill-climbing", bootstrap=2)
    assert found.bootstrap.resampling == "rows"
    assert "because values are missing" in str(found)
