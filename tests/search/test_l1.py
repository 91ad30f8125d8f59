import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import approx_fprime, minimize

from cyclearn import InputError, l1_learn, simulate
from cyclearn.data import as_moments
from cyclearn.search.l1 import _likelihood


def drawn(p, seed, n=2_000):
    rng = np.random.default_rng(seed)
    graph = simulate.random_graph(p, max_component=4, random_state=rng)
    return simulate.random_model(graph, random_state=rng).sample(n, random_state=rng)


def test_gradient():
    S = as_moments(drawn(4, 0)).covariance
    B = np.random.default_rng(1).normal(size=(4, 4)) * 0.5
    np.fill_diagonal(B, 0)

    def value(flat):
        return _likelihood(S, flat.reshape(4, 4))[0]

    numeric = approx_fprime(B.ravel(), value, 1e-7).reshape(4, 4)
    np.fill_diagonal(numeric, 0)
    np.testing.assert_allclose(_likelihood(S, B)[1], numeric, atol=1e-5)


@settings(max_examples=20)
@given(st.integers(2, 8), st.integers(0, 1000))
def test_optimality_conditions_hold(p, seed):
    data = drawn(p, seed)
    found = l1_learn(data)
    assert found.converged
    S = as_moments(data).covariance
    gradient = _likelihood(S, found.B)[1]
    off = ~np.eye(p, dtype=bool)
    assert np.all(np.abs(gradient[off & (found.B == 0)]) <= 0.1 + 1e-6)
    on = found.B != 0
    np.testing.assert_allclose(gradient[on], -0.1 * np.sign(found.B[on]), atol=1e-6)
    np.testing.assert_array_equal(found.graph.adjacency, np.abs(found.B) > 0.05)


def test_no_nearby_point_is_better():
    """A general optimiser on the split problem B = B⁺ − B⁻, started at the solution."""
    data = drawn(4, 5)
    S = as_moments(data).covariance
    found = l1_learn(data)
    off = ~np.eye(4, dtype=bool)

    def value(parts):
        B = np.zeros((4, 4))
        B[off] = parts[:12] - parts[12:]
        return _likelihood(S, B)[0] + 0.1 * parts.sum()

    start = np.concatenate([np.maximum(found.B[off], 0), np.maximum(-found.B[off], 0)])
    polished = minimize(value, start, bounds=[(0, None)] * 24, tol=1e-12)
    assert polished.fun >= found.objective - 1e-7


def test_a_large_coefficient_gives_the_empty_graph():
    assert l1_learn(drawn(5, 1), coefficient=100.0).graph.n_edges == 0
    for name in ("coefficient", "threshold", "tolerance"):
        for value in (-1.0, np.nan, np.inf, "x", None):
            with pytest.raises(InputError, match=f"{name} is .*at least zero"):
                l1_learn(drawn(5, 1), **{name: value})
    with pytest.raises(InputError, match="max_iterations is 0"):
        l1_learn(drawn(5, 1), max_iterations=0)
    assert not l1_learn(drawn(5, 1), max_iterations=2).converged


def test_a_time_limit_ends_it_where_it_is():
    found = l1_learn(drawn(5, 1), time_limit=0)
    assert (found.n_iterations, found.converged, found.graph.n_edges) == (0, False, 0)
    with pytest.raises(InputError, match="time_limit is -1"):
        l1_learn(drawn(5, 1), time_limit=-1)


@pytest.mark.parametrize("scale", [1e-150, 1e-100, 1e-6, 1e6, 1e100, 1e150])
def test_units_that_differ_too_much_end_it_at_once(scale):
    """One column in other units took 20,000 steps of 20 trials each."""
    data = drawn(5, 1)
    together = l1_learn(data * scale)
    assert together.converged
    assert together.graph == l1_learn(data).graph
    apart = l1_learn(data * np.array([1, scale, 1, 1, 1]), max_iterations=300)
    assert np.isfinite(apart.B).all()
    assert np.isfinite(apart.objective)
