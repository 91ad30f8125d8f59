"""Maximum likelihood with correlated noises: against an obvious optimiser, and against lavaan."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

import cyclearn as cl
from cyclearn.models.correlated_noise import CorrelatedNoise, fit_correlated

HERE = Path(__file__).parent / "golden"
CASES = {case["name"]: case for case in json.loads((HERE / "correlated_cases.json").read_text())}
LAVAAN = {
    case["name"]: case
    for case in json.loads((HERE / "lavaan_correlated.json").read_text())["cases"]
}


def naive_log_likelihoods(moments, adjacency, pairs, fitted):
    """Log-likelihoods that a general optimiser on all free parameters of B and Ω comes to.

    From small weights, and from a fit.
    """
    S, p = moments.covariance, moments.n_variables
    i, j = np.nonzero(adjacency)
    a, b = np.array(pairs, dtype=int).reshape(-1, 2).T

    def value(theta):
        B, omega = np.zeros((p, p)), np.zeros((p, p))
        B[i, j] = theta[: len(i)]
        scale = np.exp(theta[len(i) : len(i) + p])
        omega[a, b] = theta[len(i) + p :]
        omega = (omega + omega.T + np.eye(p)) * np.outer(scale, scale)
        C = np.eye(p) - B
        sign, log_det = np.linalg.slogdet(C)
        if sign == 0 or np.linalg.eigvalsh(omega / np.outer(scale, scale))[0] < 1e-9:
            return 1e6
        noise = C.T @ S @ C
        return (
            0.5 * (p * np.log(2 * np.pi) + np.linalg.slogdet(omega)[1])
            + 0.5 * np.trace(np.linalg.solve(omega, noise))
            - log_det
        )

    scale = np.sqrt(fitted.omega.diagonal())
    correlations = (fitted.omega / np.outer(scale, scale))[a, b]
    starts = [
        np.concatenate([np.full(len(i), 0.1), 0.5 * np.log(S.diagonal()), 0 * a]),
        np.concatenate([fitted.B[i, j], np.log(scale), correlations]),
    ]
    options = {"maxiter": 5_000, "gtol": 1e-8}
    found = [minimize(value, start, method="BFGS", options=options) for start in starts]
    return [-moments.n_samples * each.fun for each in found]


def random_moments(p, n, seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, p)) @ (np.eye(p) + 0.4 * rng.normal(size=(p, p)))
    return cl.Moments(np.cov(rows.T, bias=True), n)


@pytest.mark.uncompiled
@pytest.mark.parametrize(
    ("edges", "pairs"),
    [
        ([], [(0, 1)]),
        ([(0, 1), (3, 2)], [(1, 2)]),
        ([(0, 1), (1, 3), (3, 2)], [(1, 2)]),
        ([(0, 1), (3, 2), (0, 4)], [(1, 2), (1, 4), (2, 4)]),
        ([(0, 1), (1, 2), (3, 4)], [(0, 3), (1, 3), (2, 4)]),
        ([(0, 1), (1, 2), (2, 3), (3, 4)], [(1, 3), (2, 4)]),
        # With loops: beside the pair, touching it, and around it.
        ([(0, 1), (1, 2), (2, 1), (3, 2)], [(0, 3)]),
        ([(0, 1), (1, 2), (2, 1), (3, 2), (4, 3)], [(1, 4)]),
        ([(0, 1), (1, 2), (2, 3), (3, 1)], [(0, 2)]),
        ([(0, 1), (1, 2), (2, 1)], []),
    ],
)
def test_the_likelihood_is_that_of_a_general_optimiser(edges, pairs):
    moments = random_moments(5, 200, len(edges))
    graph = cl.DirectedGraph.from_edges(edges, names=moments.names)
    named = [(moments.names[i], moments.names[j]) for i, j in pairs]
    found = fit_correlated(graph, moments, named)
    one, refined = naive_log_likelihoods(moments, graph.adjacency, pairs, found)
    # Where there are loops, there may be several maxima, and one start find another one.
    assert found.log_likelihood > one - 1e-4
    assert graph.is_acyclic or found.log_likelihood == pytest.approx(refined, abs=1e-4)
    assert not graph.is_acyclic or found.log_likelihood == pytest.approx(one, abs=1e-4)
    implied = np.linalg.inv(np.eye(5) - found.B)
    implied = implied.T @ found.omega @ implied
    again = -100 * (
        5 * np.log(2 * np.pi)
        + np.linalg.slogdet(implied)[1]
        + np.trace(np.linalg.solve(implied, moments.covariance))
    )
    assert again == pytest.approx(found.log_likelihood, abs=1e-6)


def test_without_pairs_it_is_the_usual_fit():
    moments = random_moments(5, 200, 1)
    graph = cl.DirectedGraph.from_edges([(0, 1), (1, 2), (2, 1), (3, 2)], names=moments.names)
    usual = cl.fit(graph, moments).log_likelihood
    assert fit_correlated(graph, moments, []).log_likelihood == pytest.approx(usual, abs=1e-6)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # a -> b, b -> a and a <-> b; the same with a common parent; a collider with an instrument.
        (([(0, 1)], []), ([], [(0, 1)])),
        (([(2, 0), (2, 1), (0, 1)], []), ([(2, 0), (2, 1)], [(0, 1)])),
        (([(0, 1), (2, 1)], []), ([(0, 1)], [(1, 2)])),
        # All three pairs, and a complete acyclic graph.
        (([(0, 1), (0, 2), (1, 2)], []), ([], [(0, 1), (0, 2), (1, 2)])),
    ],
)
def test_equivalent_models_have_one_likelihood(one, other):
    values = [
        CorrelatedNoise(random_moments(3, 100, 5).correlation).value(
            cl.DirectedGraph.from_edges(edges, names=["a", "b", "c"]).adjacency, frozenset(pairs)
        )
        for edges, pairs in (one, other)
    ]
    assert values[0] == pytest.approx(values[1], abs=1e-9)


def test_units_do_not_matter():
    rng = np.random.default_rng(0)
    S = np.cov(rng.normal(size=(4, 50)), bias=True)
    scale = np.array([1e-3, 10.0, 1.0, 1e4])
    graph = cl.DirectedGraph.from_edges([("X1", "X2"), ("X2", "X4"), ("X4", "X3")])
    plain = fit_correlated(graph, cl.Moments(S, 50), [("X2", "X3")])
    large = cl.Moments(S * scale * scale[:, None], 50)
    scaled = fit_correlated(graph, large, [("X2", "X3")])
    shift = 50 * np.log(scale).sum()
    assert scaled.log_likelihood == pytest.approx(plain.log_likelihood - shift, abs=1e-6)


def test_each_block_is_fitted_once():
    fits = CorrelatedNoise(random_moments(5, 200, 2).correlation)
    A = cl.DirectedGraph.from_edges([(0, 1), (3, 2)], names=list("abcde")).adjacency
    fits.value(A, frozenset([(1, 2)]))
    assert fits.n_fits == 4
    fits.value(A, frozenset())
    # Only the two that were one block are new.
    assert fits.n_fits == 6


def test_parents_that_leave_nothing_have_no_fit():
    S = np.array([[1.0, 1.0, 0.3], [1.0, 1.0, 0.3], [0.3, 0.3, 1.0]])
    A = np.array([[0, 1, 0], [0, 0, 0], [0, 0, 0]], dtype=bool)
    assert CorrelatedNoise(S).value(A, frozenset([(1, 2)])) == np.inf
    assert CorrelatedNoise(S).value(A, frozenset()) == np.inf


def test_a_pair_is_two_variables():
    graph = cl.DirectedGraph.from_edges([("X1", "X2")])
    with pytest.raises(cl.InputError, match="two different"):
        fit_correlated(graph, cl.Moments(np.eye(2), 10), [("X1", "X1")])


@pytest.mark.parametrize("name", CASES)
def test_lavaan_finds_the_same(name):
    case, lavaan = CASES[name], LAVAAN[name]
    assert lavaan["converged"]
    graph = cl.DirectedGraph.from_edges(case["edges"], case["names"])
    moments = cl.Moments(case["covariance"], case["n"], names=case["names"])
    found = fit_correlated(graph, moments, [tuple(pair) for pair in case["pairs"]])
    assert found.log_likelihood == pytest.approx(lavaan["measures"]["logl"], abs=1e-5)
    for label, value in lavaan["estimates"].items():
        if "->" not in label:
            continue
        a, b = (case["names"].index(each) for each in label.replace("<", "").split(" -> "))
        own = found.omega[a, b] if "<->" in label else found.B[a, b]
        assert own == pytest.approx(value, rel=1e-3, abs=1e-4), label
