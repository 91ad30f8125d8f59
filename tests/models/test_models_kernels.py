import naive_likelihood as naive
import numpy as np
import pytest
from scipy.optimize import minimize

from cyclearn._kernels import component_fit as kernel
from cyclearn._kernels.component_information import expected_information, information
from cyclearn._kernels.component_optima import fit_component_from_starts


def _likelihood(p, arrays, S):
    """Naive likelihood of (coefficients, variances) with exogenous outside nodes profiled."""
    nodes, offsets, parents = arrays
    m = len(parents)

    def function(theta):
        B = naive.weight_matrix(p, nodes, offsets, parents, theta[:m])
        variances = np.ones(p)
        variances[nodes] = theta[m:]
        return naive.negative_log_likelihood(B, variances, S)

    return function


def _gradient(p, arrays, S):
    """Gradient of ℓ in coefficients and variances, by the formulas."""
    nodes, offsets, parents = arrays
    m = len(parents)
    children = np.repeat(nodes, np.diff(offsets))

    def function(theta):
        B = naive.weight_matrix(p, nodes, offsets, parents, theta[:m])
        Q, omega = np.eye(p) - B, np.ones(p)
        omega[nodes] = theta[m:]
        slopes = np.linalg.inv(Q).T - S @ Q / omega
        residual = np.diagonal(Q.T @ S @ Q)[nodes]
        by_variance = 0.5 / omega[nodes] - 0.5 * residual / omega[nodes] ** 2
        return np.concatenate([slopes[parents, children], by_variance])

    return function


@pytest.mark.uncompiled(only=True)
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("n_outside", [0, 2])
def test_information_matches_finite_differences(sign, n_outside):
    rng = np.random.default_rng(4 + n_outside)
    seen = 0
    while seen < 6:
        adjacency = naive.random_cyclic_adjacency(rng, 4, n_outside)
        p = len(adjacency)
        arrays = naive.component_arrays(adjacency, range(4))
        b = rng.normal(size=len(arrays[2]))
        det = np.linalg.det(np.eye(p) - naive.weight_matrix(p, *arrays, b))
        if det * sign < 0.3:
            continue
        seen += 1
        S = naive.sample_correlation(adjacency, rng)
        theta = np.concatenate([b, rng.uniform(0.5, 2, 4)])
        m = len(b)
        analytic = _gradient(p, arrays, S)
        expected = naive.numerical_gradient(_likelihood(p, arrays, S), theta)
        np.testing.assert_allclose(analytic(theta), expected, rtol=1e-5, atol=1e-6)
        hessian = naive.numerical_jacobian(analytic, theta)
        np.testing.assert_allclose(
            information(S, *arrays, b, theta[m:]), hessian, rtol=1e-5, atol=1e-5
        )


@pytest.mark.uncompiled(only=True)
def test_expected_information_is_the_observed_one_at_the_implied_covariance():
    rng = np.random.default_rng(0)
    adjacency = naive.random_cyclic_adjacency(rng, 3, 3, density=0.4)
    nodes, offsets, parents = naive.component_arrays(adjacency, range(3))
    b = rng.uniform(-0.7, 0.7, len(parents))
    variances = rng.uniform(1, 2, 3)
    S = np.cov(rng.standard_normal((6, 50)))
    B = naive.weight_matrix(6, nodes, offsets, parents, b)
    M = np.linalg.inv(np.eye(6) - B)
    noise = S.copy()
    noise[:3], noise[:, :3] = 0, 0
    noise[:3, :3] = np.diag(variances)
    implied = M.T @ noise @ M
    np.testing.assert_allclose(
        expected_information(S, nodes, offsets, parents, b, variances),
        information(implied, nodes, offsets, parents, b, variances),
        rtol=1e-9,
        atol=1e-9,
    )


def test_node_score_is_least_squares():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((100, 5)) @ rng.standard_normal((5, 5))
    X = (X - X.mean(0)) / X.std(0)
    S = X.T @ X / 100
    parents = np.array([0, 2, 3])
    b, *_ = np.linalg.lstsq(X[:, parents], X[:, 4], rcond=None)
    residual = ((X[:, 4] - X[:, parents] @ b) ** 2).mean()
    assert kernel.node_score(S, 4, parents) == pytest.approx(0.5 * np.log(residual), abs=1e-12)
    values, coefficients = kernel.fit_nodes(S, np.array([4]), np.array([0, 3]), parents)
    np.testing.assert_allclose(coefficients, b, atol=1e-12)
    assert kernel.node_score(S, 4, parents[:0]) == pytest.approx(0, abs=1e-12)
    assert values[0] == kernel.node_score(S, 4, parents)


@pytest.mark.uncompiled(only=True)
def test_collinear_parents_are_reported():
    S = np.array([[1.0, 1.0, 0.5], [1.0, 1.0, 0.5], [0.5, 0.5, 1.0]])
    assert kernel.node_score(S, 2, np.array([0, 1])) == np.inf
    arrays = np.array([0, 1]), np.array([0, 1, 2]), np.array([1, 0])
    assert kernel.fit_component(S, *arrays, np.zeros(2), 1e-9, 100)[4] == kernel.COLLINEAR


@pytest.mark.uncompiled(only=True)
@pytest.mark.parametrize("seed", range(40))
def test_component_fit_reaches_a_stationary_point_no_general_optimiser_improves(seed):
    rng = np.random.default_rng(seed)
    inside, outside = rng.integers(2, 7), rng.integers(0, 3)
    adjacency = naive.random_cyclic_adjacency(rng, inside, outside)
    p = inside + outside
    S = naive.sample_correlation(adjacency, rng)
    arrays = naive.component_arrays(adjacency, range(inside))
    start = np.zeros(len(arrays[2]))
    value, b, norm, iterations, status = kernel.fit_component(S, *arrays, start, 1e-9, 500)
    assert status in (kernel.CONVERGED, kernel.SINGULAR)
    assert norm <= 1e-9
    assert iterations < 200
    assert not start.any()

    def function(weights):
        B = naive.weight_matrix(p, *arrays, weights)
        C = (np.eye(p) - B)[:, :inside]
        s = np.diag(C.T @ S @ C)
        return 0.5 * np.log(s).sum() - np.linalg.slogdet(np.eye(p) - B)[1]

    assert value == pytest.approx(function(b), abs=1e-10)
    assert np.abs(naive.numerical_gradient(function, b)).max() < 1e-6
    polished = minimize(function, b, method="BFGS")
    assert polished.fun >= value - 1e-9
    from_zero = minimize(function, start + 1e-3, method="BFGS")
    many = np.vstack([start, 3 * rng.standard_normal((5, len(b)))])
    best = fit_component_from_starts(S, *arrays, many, 1e-9, 500)[0].min()
    assert best <= value + 1e-10
    assert best <= from_zero.fun + 1e-8


@pytest.mark.uncompiled(only=True)
def test_a_singular_start_is_left():
    arrays = np.array([0, 1]), np.array([0, 1, 2]), np.array([1, 0])
    S = np.array([[1.0, 0.3], [0.3, 1.0]])
    value, _, _, _, status = kernel.fit_component(S, *arrays, np.ones(2), 1e-9, 100)
    assert status in (kernel.CONVERGED, kernel.SINGULAR)
    assert value == pytest.approx(0.5 * np.log(1 - 0.09), abs=1e-12)


@pytest.mark.uncompiled(only=True)
def test_the_iteration_limit_is_reported():
    rng = np.random.default_rng(3)
    adjacency = naive.random_cyclic_adjacency(rng, 6, 0)
    S = naive.sample_correlation(adjacency, rng)
    arrays = naive.component_arrays(adjacency, range(6))
    fitted = kernel.fit_component(S, *arrays, np.zeros(len(arrays[2])), 1e-12, 1)
    assert fitted[3:] == (1, kernel.ITERATION_LIMIT)
