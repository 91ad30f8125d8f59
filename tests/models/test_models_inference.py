import json

import naive_likelihood as naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cyclearn.data import Moments
from cyclearn.foundation.errors import InputError
from cyclearn.graphs import DirectedGraph
from cyclearn.models import FitStatus, LinearGaussianModel, fit, random_model
from cyclearn.models.components import (
    ComponentSolution,
    component_columns,
    flat_directions,
    generic_deficiency,
    n_flat_directions,
)

GRAPH = DirectedGraph.from_edges(
    [("e", "a"), ("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("d", "f")]
)
DATA = random_model(GRAPH, random_state=1).sample(400, random_state=1)
FITTED = fit(GRAPH, DATA)


def test_standard_errors_are_those_of_the_full_numerical_hessian():
    i, j = np.nonzero(GRAPH.adjacency)
    S = np.cov(DATA[list(GRAPH.names)].T, ddof=0)

    def gradient(theta):
        B = np.zeros((6, 6))

        def value(t):
            B[i, j] = t[: len(i)]
            return naive.negative_log_likelihood(B, t[len(i) :], S)

        return naive.numerical_gradient(value, theta, 1e-5)

    theta = np.concatenate([FITTED.B[i, j], FITTED.noise_variances])
    hessian = naive.numerical_jacobian(gradient, theta, 1e-4)
    errors = np.sqrt(np.diag(np.linalg.inv(400 * (hessian + hessian.T) / 2)))
    summary = FITTED.summary()
    np.testing.assert_allclose(summary["std_error"], errors, rtol=1e-3)
    np.testing.assert_allclose(FITTED.standard_errors[i, j], summary["std_error"].iloc[: len(i)])
    np.testing.assert_allclose(FITTED.noise_variance_errors, summary["std_error"].iloc[len(i) :])


def test_summary_and_intervals():
    table = FITTED.summary()
    assert list(table.index[:2]) == ["e -> a", "a -> b"]
    assert "var(f)" in table.index
    np.testing.assert_allclose(table["z"].dropna(), (table.estimate / table.std_error).iloc[:6])
    intervals = FITTED.confidence_intervals(0.9)
    half = 1.6448536 * table.std_error
    np.testing.assert_allclose(intervals["upper"], table.estimate + half, rtol=1e-6)
    assert FITTED.not_identified == ()
    text = str(FITTED)
    assert "chi-square" in text
    assert "a -> b" in text
    assert "FittedModel(6 variables, 6 edges" in repr(FITTED)
    with pytest.raises(InputError, match="level"):
        FITTED.confidence_intervals(95)


def test_a_fit_as_plain_values_is_json_without_nan():
    record = json.loads(json.dumps(FITTED.to_dict(), allow_nan=False))
    assert record["status"] == "CONVERGED"
    assert LinearGaussianModel.from_dict(record["model"]) == FITTED.model
    assert record["parameters"][0]["parameter"] == "e -> a"
    assert record["parameters"][-1]["z"] is None
    assert record["fit_indices"]["degrees_of_freedom"] == 9


def test_fit_indices_follow_their_definitions():
    indices = FITTED.fit_indices
    S = np.cov(DATA[list(GRAPH.names)].T, ddof=0)
    sigma = FITTED.covariance
    n, p = 400, 6
    f = (
        np.linalg.slogdet(sigma)[1]
        + np.trace(np.linalg.solve(sigma, S))
        - np.linalg.slogdet(S)[1]
        - p
    )
    df = p * (p + 1) // 2 - 12
    assert indices.chi_square == pytest.approx(n * f, rel=1e-8)
    assert indices.degrees_of_freedom == df
    baseline = n * (np.log(np.diag(S)).sum() - np.linalg.slogdet(S)[1])
    assert indices.baseline_chi_square == pytest.approx(baseline)
    excess = max(n * f - df, 0)
    assert indices.rmsea == pytest.approx(np.sqrt(excess / (n * df)))
    assert indices.cfi == pytest.approx(1 - excess / (baseline - 15))
    assert indices.tli == pytest.approx((baseline / 15 - n * f / df) / (baseline / 15 - 1))
    scale = np.sqrt(np.diag(S))
    standardised = (S - sigma) / np.outer(scale, scale)
    lower = standardised[np.tril_indices(p)]
    assert indices.srmr == pytest.approx(np.sqrt((lower**2).mean()))
    assert indices.aic == pytest.approx(-2 * FITTED.log_likelihood + 24)
    assert indices.to_dict()["cfi"] == indices.cfi
    assert 0 < indices.p_value < 1


def test_the_chi_square_test_has_the_right_size_for_a_cyclic_truth():
    truth = random_model(GRAPH, random_state=3)
    rng = np.random.default_rng(0)
    values = [
        fit(GRAPH, truth.sample(500, random_state=rng)).fit_indices.p_value for _ in range(200)
    ]
    assert 0.01 <= np.mean(np.array(values) < 0.05) <= 0.10


def test_tucker_lewis_index_is_one_where_its_ratio_does_not_exist():
    full = fit(DirectedGraph.from_edges([(0, 1)]), Moments([[1.0, 0.5], [0.5, 1.0]], 50))
    assert full.fit_indices.degrees_of_freedom == 0
    assert full.fit_indices.tli == 1


def test_degrees_of_freedom_use_the_dimension():
    redundant = DirectedGraph.from_edges([("a", "b"), ("b", "a"), ("b", "c")])
    model = random_model(redundant, random_state=0)
    fitted = fit(redundant, Moments(model.covariance, 200, names=model.names))
    assert fitted.n_parameters == 6
    assert fitted.fit_indices.dimension == 5
    assert fitted.fit_indices.degrees_of_freedom == 1
    assert fitted.status is FitStatus.NOT_IDENTIFIED
    assert fitted.converged
    assert set(fitted.not_identified) == {"a -> b", "b -> a", "var(a)", "var(b)"}
    assert np.isfinite(fitted.standard_errors[1, 2])
    assert np.isnan(fitted.standard_errors[0, 1])


def test_a_graph_without_a_reduction_but_with_too_many_parameters_is_not_identified():
    # Columns {1,2,3}, {1,2,4}, {1,3,4}, {2,3,4}: 12 parameters, dimension 10.
    support = np.array([[1, 1, 1, 0], [1, 1, 0, 1], [1, 0, 1, 1], [0, 1, 1, 1]])
    graph = DirectedGraph(support - np.eye(4))
    assert graph.dimension() == 10
    model = random_model(graph, random_state=2)
    fitted = fit(graph, model.sample(500, random_state=0))
    assert fitted.fit_indices.degrees_of_freedom == 0
    assert fitted.fit_indices.chi_square == pytest.approx(0, abs=1e-5)
    assert "saturated" in fitted.fit_indices.note
    assert fitted.status is FitStatus.NOT_IDENTIFIED
    assert sum(component.n_flat for component in fitted.components) == 2


@given(st.integers(0, 2**31))
@settings(max_examples=50)
def test_excess_parameters_add_over_components(seed):
    rng = np.random.default_rng(seed)
    graph = DirectedGraph((rng.random((6, 6)) < 0.3) & ~np.eye(6, dtype=bool))
    _, loops = component_columns(graph)
    excess = sum(generic_deficiency(columns) for columns in loops)
    assert graph.n_edges + graph.n_nodes - graph.dimension() == excess


@given(st.integers(0, 2**31))
@settings(max_examples=50)
def test_flat_directions_are_as_many_as_the_dimension_lacks(seed):
    rng = np.random.default_rng(seed)
    graph = DirectedGraph((rng.random((4, 4)) < 0.5) & ~np.eye(4, dtype=bool))
    model = random_model(graph, stable=False, random_state=rng)
    S = np.cov(rng.standard_normal((4, 50)))
    for columns in component_columns(graph)[1]:
        edges = model.B[columns.parents, columns.children]
        solution = ComponentSolution(edges, model.noise_variances[columns.nodes], 0.0)
        n_flat = flat_directions(S, columns, solution).shape[1]
        assert n_flat >= generic_deficiency(columns)
        assert n_flat == n_flat_directions(S, columns, solution)
