"""Warnings about data: alarms where the assumption is broken, silence where it holds."""

import os
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.signal import lfilter

import cyclearn as cl
from cyclearn.data.effective_rows import autocorrelations
from cyclearn.models import check_fit


def codes(data):
    return [warning.code for warning in cl.check_data(data)]


def autoregressive(phi, n, p, seed):
    noise = np.random.default_rng(seed).standard_normal((n + 500, p))
    return lfilter([1], [1, -phi], noise, axis=0)[500:]


@pytest.mark.parametrize(("n", "p"), [(50, 3), (100, 5), (400, 20)])
def test_independent_gaussian_rows_rarely_alarm(n, p):
    tally = Counter()
    for seed in range(60):
        tally.update(codes(np.random.default_rng(seed).standard_normal((n, p))))
    # Each test on rows may err once in a hundred tables; 5 of 60 has a chance below 0.0005.
    assert tally["dependent_rows"] <= 4
    assert tally["nonnormal_columns"] <= 4
    assert tally["collinear_columns"] == 0


def test_data_of_the_generator_are_well_behaved():
    for seed in range(10):
        graph = cl.simulate.random_graph(20, max_component=5, random_state=seed)
        model = cl.simulate.random_model(graph, random_state=seed)
        assert codes(model.sample(5_000, random_state=seed)) == []


@pytest.mark.parametrize("phi", [0.5, -0.6, 0.8, 0.95])
def test_effective_rows_of_an_autoregression(phi):
    # Bartlett: the variance of a sample variance grows by the sum of φ^(2|k|) over all lags.
    n = 4_000
    truth = n * (1 - phi**2) / (1 + phi**2)
    (warning,) = cl.check_data(autoregressive(phi, n, 9, seed=1))
    assert warning.code == "dependent_rows"
    assert warning.n_effective == pytest.approx(truth, rel=0.15)
    assert len(warning.columns) == 9


def test_effective_rows_predict_how_variances_scatter():
    draws = np.stack([autoregressive(0.9, 1_000, 1, seed)[:, 0] for seed in range(400)])
    # Of m independent Gaussian rows, the relative variance of the sample variance is 2 / m.
    variances = draws.var(axis=1)
    scattered = 2 / (variances.var() / variances.mean() ** 2)
    said = np.median([cl.check_data(x[:, None])[0].n_effective for x in draws[:50]])
    assert said == pytest.approx(scattered, rel=0.2)


def test_memory_does_not_pass_for_a_shape():
    alarms = sum("nonnormal_columns" in codes(autoregressive(0.9, 1_000, 3, s)) for s in range(60))
    assert alarms <= 4


def test_autocorrelations_against_the_definition():
    X = np.random.default_rng(0).standard_normal((101, 2)).cumsum(axis=0)
    centred = X - X.mean(axis=0)
    for max_lag in (None, 7):
        rho = autocorrelations(X, max_lag)
        for lag in range(len(rho)):
            products = (centred[lag:] * centred[: len(X) - lag]).sum(axis=0)
            np.testing.assert_allclose(rho[lag], products / (centred**2).sum(axis=0))
    assert len(autocorrelations(X)) == 26


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: rng.standard_t(4, 500),
        lambda rng: rng.exponential(size=500),
        lambda rng: rng.integers(0, 2, 500),
        lambda rng: rng.random(500),
    ],
    ids=["heavy tails", "skewed", "binary", "uniform"],
)
def test_columns_that_are_not_gaussian_are_named(draw):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        table = pd.DataFrame(rng.standard_normal((500, 3)), columns=["a", "b", "c"])
        table["b"] = draw(rng)
        (warning,) = cl.check_data(table, continuous=["b"])
        assert (warning.code, warning.columns) == ("nonnormal_columns", ("b",))


def test_a_small_departure_in_many_rows_is_not_worth_a_word():
    rows = np.random.default_rng(0).standard_t(30, (50_000, 2))
    assert codes(rows) == []


def test_collinearity_says_how_much_is_explained():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.standard_normal((1_000, 4)), columns=list("abcd"))
    assert codes(table.assign(d=table.a + table.b + 0.7 * table.d)) == []
    near = table.assign(d=table.a + table.b + 0.1 * table.d)
    (warning,) = cl.check_data(near)
    # The variances are 2 and 0.01: 99.5 percent of d.
    assert warning.code == "collinear_columns"
    assert warning.explained == pytest.approx(2 / 2.01, abs=0.001)
    assert warning.columns == ("a", "b", "d")
    assert f"{100 * warning.explained:.1f}%" in warning.message
    # The same from moments alone.
    moments = cl.Moments(near.cov(ddof=0), 1_000)
    assert [w.code for w in cl.check_data(moments)] == ["collinear_columns"]


def test_chance_does_not_pass_for_collinearity():
    # 60 columns explain nearly all of any other in 64 rows, by chance alone.
    few = ["low_power", "too_few_rows"]
    assert codes(np.random.default_rng(0).standard_normal((64, 61))) == few
    assert codes(np.random.default_rng(0).standard_normal((5, 30))) == few


def test_more_columns_than_rows_that_are_twins():
    rows = np.random.default_rng(0).standard_normal((40, 50))
    rows[:, 7] = rows[:, 3] + 0.01 * rows[:, 7]
    warning = next(w for w in cl.check_data(rows) if w.code == "collinear_columns")
    assert warning.columns == ("X4", "X8")


def test_few_rows():
    rng = np.random.default_rng(0)
    assert "low_power" in codes(rng.standard_normal((20, 2)))
    assert "low_power" in codes(rng.standard_normal((150, 20)))
    assert "low_power" not in codes(rng.standard_normal((200, 20)))


def test_the_weakest_edge_is_that_of_the_penalty_and_the_rows():
    # An edge is noticed where n/2 log 1/(1 − r²) exceeds its penalty.
    moments = cl.Moments(np.eye(2), 20)
    (warning,) = cl.check_data(moments)
    assert warning.weakest == pytest.approx(np.sqrt(1 - np.exp(-cl.learn(moments).penalty / 10)))
    (warning,) = cl.learn(moments, penalty="bic").warnings
    assert "about 0.37" in warning.message
    (warning,) = cl.learn(cl.Moments(np.eye(2), 200), n_effective=15, penalty=0.6).warnings
    assert "200 rows (effective sample size about 15)" in warning.message
    assert warning.weakest == pytest.approx(np.sqrt(1 - np.exp(-0.6 / 7.5)))
    # Groups pay together, and gain together.
    both = cl.learn([moments, moments])
    assert both.warnings[0].weakest == pytest.approx(np.sqrt(1 - np.exp(-both.penalty / 20)))


def test_the_order_of_rows_is_all_that_dependence_looks_at():
    rows = autoregressive(0.8, 500, 3, seed=0)
    assert "dependent_rows" in codes(rows)
    assert "dependent_rows" not in codes(np.random.default_rng(0).permutation(rows))


def test_a_file_is_read(tmp_path):
    path = tmp_path / "rows.csv"
    pd.DataFrame(autoregressive(0.8, 900, 3, seed=0)).to_csv(path, index=False)
    assert codes(path) == codes(str(path)) == ["dependent_rows"]


def test_resting_state_recordings_depend_on_their_past():
    folder = os.environ.get("CYCLEARN_DATA")
    files = sorted(Path(folder).glob("hippocampus/*.csv")) if folder else []
    if not files:
        pytest.skip("set CYCLEARN_DATA to a folder with hippocampus/*.csv")
    for path in files:
        warning = cl.check_data(path)[0]
        assert warning.code == "dependent_rows"
        assert warning.n_effective < 100


def test_unstable_fits_are_said_to_be():
    graph = cl.DirectedGraph.from_edges([("a", "b"), ("b", "a"), ("c", "a"), ("d", "b")])
    for weight, expected in ((1.3, ["unstable_feedback"]), (0.98, ["slow_feedback"]), (0.4, [])):
        B = [[0, weight, 0, 0], [weight, 0, 0, 0], [0.9, 0, 0, 0], [0, 0.9, 0, 0]]
        model = cl.LinearGaussianModel(B, [1, 1, 1, 1], graph.names)
        fitted = cl.fit(graph, cl.Moments(model.covariance, 10_000, names=graph.names))
        warnings = check_fit(fitted)
        assert [w.code for w in warnings] == expected
        assert all(w.radius == pytest.approx(weight, rel=1e-4) for w in warnings)


def test_a_fit_that_is_no_ordinary_maximum_is_said_so():
    # A 3-cycle without outside parents has two solutions, of gains w and 1/w.
    graph = cl.DirectedGraph.from_edges([(0, 1), (1, 2), (2, 0)])
    model = cl.LinearGaussianModel([[0, 0.5, 0], [0, 0, 0.5], [0.5, 0, 0]], [1, 1, 1])
    fitted = cl.fit(graph, cl.Moments(model.covariance, 1_000))
    (warning,) = check_fit(fitted)
    assert warning.message == (
        "1 other set of coefficients fits exactly as well on the same graph."
    )
    redundant = cl.DirectedGraph.from_edges([(0, 1), (1, 0)])
    (warning, *_) = check_fit(cl.fit(redundant, cl.Moments([[2, 1], [1, 2]], 1_000)))
    assert "more parameters" in str(warning)
