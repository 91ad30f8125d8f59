"""Maximum likelihood with correlated noises of two variables, against an obvious optimiser."""

import numpy as np
import pytest
from scipy.optimize import minimize

import cyclearn as cl
from cyclearn.models.hidden_pair import HiddenPair


def naive_log_likelihood(S, adjacency, pair):
    """Best log-likelihood of one row over B and Ω with Ω_ab free, by a general optimiser."""
    p = len(S)
    i, j = np.nonzero(adjacency)
    a, b = pair

    def value(theta):
        B = np.zeros((p, p))
        B[i, j] = theta[: len(i)]
        scale = np.exp(theta[len(i) : len(i) + p])
        omega = np.diag(scale**2)
        omega[a, b] = omega[b, a] = np.tanh(theta[-1]) * scale[a] * scale[b]
        C = np.eye(p) - B
        sign, log_det = np.linalg.slogdet(C)
        if sign == 0:
            return 1e6
        noise = C.T @ S @ C
        return (
            0.5 * (p * np.log(2 * np.pi) + np.linalg.slogdet(omega)[1])
            + 0.5 * np.trace(np.linalg.solve(omega, noise))
            - log_det
        )

    start = np.concatenate([np.full(len(i), 0.1), 0.5 * np.log(S.diagonal()), [0.1]])
    found = minimize(value, start, method="BFGS", options={"maxiter": 5_000, "gtol": 1e-8})
    return -found.fun


CASES = [
    # Edges and the pair with a hidden cause: acyclic, with a path between the two, in a loop.
    ([(0, 1), (3, 2)], (1, 2)),
    ([(0, 1), (1, 3), (3, 2)], (1, 2)),
    ([(0, 1), (1, 2), (2, 1), (3, 2)], (0, 3)),
    ([(0, 1), (1, 2), (2, 3), (3, 1)], (0, 2)),
    ([], (0, 1)),
]


@pytest.mark.parametrize(("edges", "pair"), CASES)
def test_the_likelihood_is_that_of_a_general_optimiser(edges, pair):
    rng = np.random.default_rng(len(edges))
    rows = rng.normal(size=(200, 4)) @ (np.eye(4) + 0.4 * rng.normal(size=(4, 4)))
    moments = cl.Moments(np.cov(rows.T, bias=True), 200)
    adjacency = cl.DirectedGraph.from_edges(edges, names=moments.names).adjacency
    names = moments.names[pair[0]], moments.names[pair[1]]
    found = HiddenPair(moments, names).fit(adjacency)
    expected = naive_log_likelihood(moments.covariance, adjacency, pair)
    assert found.log_likelihood == pytest.approx(expected, abs=1e-6)


def test_units_do_not_matter():
    rng = np.random.default_rng(0)
    S = np.cov(rng.normal(size=(4, 50)), bias=True)
    scale = np.array([1e-3, 10.0, 1.0, 1e4])
    adjacency = cl.DirectedGraph.from_edges([(0, 1), (1, 3), (3, 2)]).adjacency
    plain = HiddenPair(cl.Moments(S, 50), ("X2", "X3")).fit(adjacency)
    scaled = HiddenPair(cl.Moments(S * scale * scale[:, None], 50), ("X2", "X3")).fit(adjacency)
    shift = np.log(scale).sum()
    assert scaled.log_likelihood == pytest.approx(plain.log_likelihood - shift, abs=1e-6)
