"""Tables with holes: an obvious twin, independent software, and what holds by theory."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_normal

import cyclearn as cl
from cyclearn.data import as_moments
from cyclearn.data.missing_values import treat_missing
from cyclearn.data.observed_rows import ObservedRows
from cyclearn.data.reading import as_tables
from cyclearn.data.rows import Rows
from cyclearn.foundation.errors import InputError
from cyclearn.models import fit
from slow_tests import slow

GOLDEN = Path(__file__).parents[1] / "models" / "golden"
CASES = {case["name"]: case for case in json.loads((GOLDEN / "fiml_cases.json").read_text())}
LAVAAN = {
    case["name"]: case for case in json.loads((GOLDEN / "lavaan_fiml.json").read_text())["cases"]
}


def with_holes(n, p, share, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) @ rng.standard_normal((p, p)) + rng.normal(size=p) * 5
    X[rng.random(X.shape) < share] = np.nan
    X[np.isnan(X).all(axis=1), 0] = 1.0
    return X


def naive_log_likelihood(X, mean, S):
    total = 0.0
    for row in X:
        seen = ~np.isnan(row)
        density = multivariate_normal(mean[seen], S[np.ix_(seen, seen)])
        total += density.logpdf(row[seen])
    return total


def naive_em_step(X, mean, S):
    n, p = X.shape
    first, second = np.zeros(p), np.zeros((p, p))
    for row in X:
        seen, hidden = np.flatnonzero(~np.isnan(row)), np.flatnonzero(np.isnan(row))
        filled, extra = row.copy(), np.zeros((p, p))
        if hidden.size:
            slopes = S[np.ix_(hidden, seen)] @ np.linalg.inv(S[np.ix_(seen, seen)])
            filled[hidden] = mean[hidden] + slopes @ (row[seen] - mean[seen])
            extra[np.ix_(hidden, hidden)] = (
                S[np.ix_(hidden, hidden)] - slopes @ S[np.ix_(seen, hidden)]
            )
        first += filled
        second += np.outer(filled, filled) + extra
    new_mean = first / n
    return new_mean, second / n - np.outer(new_mean, new_mean)


@pytest.mark.uncompiled
@pytest.mark.parametrize("seed", range(4))
def test_a_step_is_that_of_the_obvious_twin(seed):
    X = with_holes(30, 2 + seed, 0.3, seed)
    rng = np.random.default_rng(seed)
    p = X.shape[1]
    mean, root = rng.normal(size=p), rng.normal(size=(p, p))
    S = root @ root.T + np.eye(p)
    data = ObservedRows.of(X)
    units = data.scale
    standard = (mean - data.centre) / units, S / np.outer(units, units)
    found, filled = data.expected(standard[0], np.linalg.inv(standard[1]))
    new_mean, new_S = naive_em_step(X, mean, S)
    np.testing.assert_allclose(data.centre + units * found.mean, new_mean, atol=1e-9)
    np.testing.assert_allclose(found.covariance * np.outer(units, units), new_S, atol=1e-9)
    assert found.log_likelihood == pytest.approx(naive_log_likelihood(X, mean, S), abs=1e-8)
    seen = ~np.isnan(X)
    back = np.empty_like(X)
    back[data.order] = data.centre + units * filled
    np.testing.assert_allclose(back[seen], X[seen], atol=1e-9)


def test_em_is_a_maximum_of_the_observed_likelihood():
    X = with_holes(80, 4, 0.25, 7)
    found = treat_missing(Rows.of(X), "em")
    mean, S = found.moments.mean, found.moments.covariance
    best = naive_log_likelihood(X, mean, S)
    assert found.holes.converged
    rng = np.random.default_rng(0)
    for _ in range(20):
        change = rng.normal(size=(4, 4)) * 0.01
        there = naive_log_likelihood(X, mean + rng.normal(size=4) * 0.01, S + change @ change.T)
        assert there < best


def test_without_holes_nothing_changes():
    X = with_holes(50, 3, 0.0, 1)
    for missing in ("error", "em", "rows", "pairwise"):
        table = as_tables(X, missing=missing).only
        np.testing.assert_array_equal(table.moments.covariance, as_moments(X).covariance)
        assert table.n_effective == 50
    one = X.copy()
    one[0, 0] = np.nan
    np.testing.assert_allclose(
        treat_missing(Rows.of(one), "rows").moments.covariance, as_moments(X[1:]).covariance
    )


def test_the_order_of_columns_changes_no_bit():
    frame = pd.DataFrame(with_holes(60, 4, 0.2, 3), columns=["d", "a", "c", "b"])
    first = treat_missing(Rows.of(frame), "em").moments
    turned = treat_missing(Rows.of(frame[["a", "b", "c", "d"]]), "em").moments
    assert (turned.aligned_to(first.names).covariance == first.covariance).all()


@slow
def test_superfluous_edges_count_for_the_rows_that_have_both():
    rng = np.random.default_rng(0)
    squares = []
    for _ in range(300):
        X = rng.standard_normal((150, 3))
        X[rng.random(X.shape) < 0.3] = np.nan
        found = treat_missing(Rows.of(X), "em")
        R = found.moments.correlation[np.triu_indices(3, 1)]
        squares.append(found.n_effective * R**2)
    # χ² with one degree of freedom has mean 1; 900 draws of it scatter by 0.05.
    assert np.mean(squares) == pytest.approx(1, abs=0.15)


def test_pairs_that_make_no_covariance_matrix_are_repaired_by_the_rule():
    rng = np.random.default_rng(3)
    z = rng.standard_normal(40)
    X = np.full((120, 3), np.nan)
    X[:40, 0], X[:40, 1] = z, z + 0.05 * rng.standard_normal(40)
    X[40:80, 1], X[40:80, 2] = z, z + 0.05 * rng.standard_normal(40)
    X[80:, 0], X[80:, 2] = z, -z + 0.05 * rng.standard_normal(40)
    found = treat_missing(Rows.of(X), "pairwise")
    assert found.holes.shrinkage > 0.3
    assert np.linalg.eigvalsh(found.moments.correlation)[0] == pytest.approx(1e-3)
    assert any(w.code == "pairwise_covariances" for w in cl.check_data(X, missing="pairwise"))


@pytest.mark.parametrize(
    ("change", "missing", "message"),
    [
        (lambda X: X, "mean", "missing is 'mean'; give 'error'"),
        (lambda X: X, "error", "row 0; .* cells are missing: use missing='em'"),
        (lambda X: np.where(np.arange(3) == 1, np.nan, X), "em", "'X2' has 0 values"),
        (lambda X: np.where((np.arange(3) == 1) & ~np.isnan(X), 5.0, X), "em", "'X2' is constant"),
        (lambda X: np.where(np.nanmax(X) == X, np.inf, X), "em", "infinite value in row"),
        (lambda X: X[:3], "em", "observed together in|too few"),
    ],
)
def test_what_cannot_be_used_is_named(change, missing, message):
    X = with_holes(40, 3, 0.2, 5)
    X[0, 0] = np.nan
    with pytest.raises(InputError, match=message):
        cl.learn(change(X), missing=missing)


def test_pairs_never_seen_together_are_named():
    X = np.random.default_rng(0).standard_normal((40, 3))
    X[:20, 0], X[20:, 1] = np.nan, np.nan
    for missing in ("em", "pairwise"):
        with pytest.raises(InputError, match="'X1' and 'X2' are observed together in 0 rows"):
            cl.learn(X, missing=missing)
    with pytest.raises(InputError, match="0 of 40 rows have no missing value"):
        cl.learn(X, missing="rows")


@pytest.mark.parametrize("name", CASES)
def test_fit_is_that_of_lavaan(name):
    case, golden = CASES[name], LAVAAN[name]
    assert golden["converged"]
    frame = pd.DataFrame(case["rows"], columns=case["names"], dtype=float)
    graph = cl.DirectedGraph.from_edges([tuple(edge) for edge in case["edges"]], case["names"])
    fitted = fit(graph, frame, missing="em")
    assert fitted.converged
    assert fitted.log_likelihood == pytest.approx(golden["log_likelihood"], abs=1e-6)
    indices = fitted.fit_indices
    assert indices.saturated_log_likelihood == pytest.approx(
        golden["saturated_log_likelihood"], abs=1e-6
    )
    assert indices.chi_square == pytest.approx(golden["chi_square"], abs=1e-5)
    assert indices.degrees_of_freedom == golden["degrees_of_freedom"]
    assert indices.baseline_chi_square == pytest.approx(golden["baseline_chi_square"], abs=1e-4)
    np.testing.assert_allclose(fitted.covariance, golden["implied"], rtol=1e-4, atol=1e-4)
    # Cycles have mirror solutions of equal likelihood: one of them is lavaan's.
    models = [fitted.model, *fitted.alternatives]
    table = fitted.summary()
    agreeing = []
    for model in models:
        B = pd.DataFrame(model.B, index=case["names"], columns=case["names"])
        gaps = [abs(B.loc[e["source"], e["target"]] - e["estimate"]) for e in golden["edges"]]
        agreeing.append(max(gaps) < 1e-4)
    assert any(agreeing)
    if agreeing[0]:
        for edge in golden["edges"]:
            error = table.loc[f"{edge['source']} -> {edge['target']}", "std_error"]
            assert error == pytest.approx(edge["error"], rel=2e-3)
        for variance in golden["variances"]:
            error = table.loc[f"var({variance['node']})", "std_error"]
            assert error == pytest.approx(variance["error"], rel=2e-3)


def test_a_saturated_graph_reaches_the_saturated_likelihood():
    frame = pd.DataFrame(with_holes(100, 3, 0.2, 11), columns=list("abc"))
    graph = cl.DirectedGraph.from_edges([("a", "b"), ("a", "c"), ("b", "c")])
    fitted = fit(graph, frame, missing="em")
    saturated = treat_missing(Rows.of(frame), "em").moments
    np.testing.assert_allclose(fitted.covariance, saturated.covariance, atol=1e-6)
    assert fitted.fit_indices.chi_square == pytest.approx(0, abs=1e-6)
    assert fitted.log_likelihood == pytest.approx(
        naive_log_likelihood(frame.to_numpy(), saturated.mean, saturated.covariance), abs=1e-6
    )
    half = fit(graph, frame, missing="em", n_effective=50)
    assert half.log_likelihood == pytest.approx(fitted.log_likelihood / 2)
    np.testing.assert_allclose(
        half.standard_errors, fitted.standard_errors * np.sqrt(2), rtol=1e-6, equal_nan=True
    )
    unnamed = fit(cl.DirectedGraph(graph.adjacency), frame.to_numpy(), missing="em")
    np.testing.assert_allclose(unnamed.B, fitted.B, atol=1e-9)


def test_learning_bootstrap_and_estimator_take_holes():
    graph = cl.DirectedGraph.from_edges([("a", "b"), ("c", "b")])
    truth = cl.LinearGaussianModel(np.where(graph.adjacency, 0.9, 0.0), np.ones(3), graph.names)
    frame = truth.sample(600, random_state=0)
    frame = frame.mask(np.random.default_rng(1).random(frame.shape) < 0.2)
    for missing in ("em", "rows", "pairwise"):
        assert cl.learn(frame, missing=missing).graph == graph
    found = cl.learn(frame, missing="em")
    assert 350 < found.tables.n_effective < 420
    assert found.fitted.to_dict() == cl.fit(graph, frame, missing="em").to_dict()
    assert cl.LearnResult.from_json(found.to_json()) == found
    resampled = cl.bootstrap(frame, 4, missing="em", n_starts=1)
    assert resampled.resampling == "rows"
    assert resampled.edges.set_index(["source", "target"]).loc[("a", "b"), "compelled"] > 0.7
    learner = cl.CyclicGraphLearner(missing="em").fit(frame)
    assert learner.graph_ == graph
    with pytest.raises(ValueError, match="NaN"):
        cl.CyclicGraphLearner().fit(frame)
