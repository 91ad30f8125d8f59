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
from cyclearn.data.effective_rows import effective_rows
from cyclearn.data.resampling import Resampler
from cyclearn.search.penalty import DEFAULT_PENALTY, edge_penalty

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


@pytest.mark.parametrize("memory", [0.0, 0.5, 0.8, 0.95])
def test_the_estimate_against_the_formula(memory):
    estimates = [effective_rows(remembering(4_000, memory, s).to_numpy()) for s in range(5)]
    expected = 4_000 * (1 - memory**2) / (1 + memory**2)
    assert np.median(estimates) == pytest.approx(expected, rel=0.2)


def test_likelihood_and_penalty_count_the_same_rows():
    rows = remembering(600, 0.8)
    result = learn(rows, n_effective="auto")
    worth = result.model.n_effective
    assert 80 < worth < 250
    by_number = learn(rows, n_effective=worth)
    assert by_number.graph == result.graph
    assert result.score == pytest.approx(by_number.score)
    # The same as moments of so many rows.
    moments = Moments(np.cov(rows.T, bias=True), round(worth), names=list(rows.columns))
    assert learn(moments).graph == learn(rows, n_effective=round(worth)).graph
    assert result.penalty == pytest.approx(edge_penalty(DEFAULT_PENALTY, worth, rows.shape[1]))
    assert f"600 samples worth {worth:.0f} independent ones" in str(result)
    assert LearnResult.from_json(result.to_json()) == result
    assert learn(rows).graph.n_edges >= result.graph.n_edges


def test_fits_of_fewer_rows_are_less_certain():
    rows = remembering(600, 0.8)
    all_rows, honest = fit(MODEL.graph, rows), fit(MODEL.graph, rows, n_effective=150)
    assert np.array_equal(all_rows.B, honest.B)
    ratio = honest.standard_errors / all_rows.standard_errors
    np.testing.assert_allclose(ratio[MODEL.graph.adjacency], 2.0)
    assert honest.log_likelihood == pytest.approx(all_rows.log_likelihood / 4)
    assert honest.fit_indices.chi_square == pytest.approx(all_rows.fit_indices.chi_square / 4)


def test_blocks_keep_the_memory():
    rows = remembering(600, 0.8)
    found = bootstrap(rows, 4, n_effective="auto", method="hill-climbing")
    assert found.resampling == "blocks"
    assert found.options["n_effective"] == "auto"
    assert bootstrap(rows, 2, method="hill-climbing").resampling == "rows"
    halves = bootstrap(rows, 2, resampling="half", n_effective=300, method="hill-climbing")
    assert halves.resampling == "half"
    reading = Reading(n_effective=300)
    drawn, _, _ = Resampler.of(reading.tables(rows), reading, "half", 0).draw(0)
    assert drawn.n_effective == 150
    parametric = bootstrap(Moments(MODEL.covariance, 600), 2, n_effective=100, method="tabu")
    assert parametric.resampling == "parametric"


def test_the_estimator_takes_it():
    rows = remembering(600, 0.8)
    learner = CyclicGraphLearner(n_effective="auto").fit(rows)
    assert learner.graph_ == learn(rows, n_effective="auto").graph


@pytest.mark.parametrize("given", ["many", 1, -5.0, True, float("nan"), 10**6])
def test_bad_numbers_get_one_clear_error(given):
    with pytest.raises(InputError, match="n_effective is"):
        learn(remembering(100, 0.0), n_effective=given)
    with pytest.raises(InputError, match="n_effective is"):
        fit(MODEL.graph, remembering(100, 0.0), n_effective=given)


def test_moments_have_no_memory():
    with pytest.raises(InputError, match="which have none"):
        learn(Moments(MODEL.covariance, 100), n_effective="auto")
