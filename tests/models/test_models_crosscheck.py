"""Against semopy: implied covariances and likelihoods, never coefficients."""

import itertools
import warnings

import naive_likelihood as naive
import numpy as np
import pytest
from scipy.optimize import minimize

from cyclearn.graphs import DirectedGraph
from cyclearn.models import fit, random_model

pytestmark = pytest.mark.crosscheck


def _description(graph):
    """Regressions of the graph. semopy adds covariances among variables without parents and
    among variables without children unless they are fixed to zero.
    """
    lines = [f"{v} ~ {' + '.join(graph.parents(v))}" for v in graph.names if graph.parents(v)]
    ends = [[v for v in graph.names if not graph.parents(v)]]
    ends.append([v for v in graph.names if not graph.children(v)])
    for group in ends:
        lines += [f"{a} ~~ 0*{b}" for a, b in itertools.combinations(group, 2)]
    return "\n".join(lines)


def _semopy_parameters(semopy, graph, X):
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        model = semopy.Model(_description(graph))
        model.fit(X)
        estimates = model.inspect(std_est=False)
        sigma = model.calc_sigma()[0]
        order = [model.vars["observed"].index(v) for v in graph.names]
    S = np.cov(X[list(graph.names)].T, ddof=0)
    B = np.zeros(S.shape)
    for row in estimates.itertuples():
        if row.op == "~":
            B[graph.index(row.rval), graph.index(row.lval)] = row.Estimate
    return B, sigma[np.ix_(order, order)], S


def _random_case(seed):
    rng = np.random.default_rng(seed)
    inside, outside = int(rng.integers(2, 5)), int(rng.integers(0, 3))
    adjacency = naive.random_cyclic_adjacency(rng, inside, outside, density=0.2)
    # semopy has no place for a variable without edges.
    adjacency[inside:, 0] |= ~adjacency[inside:].any(axis=1)
    p = len(adjacency) + 1
    grown = np.zeros((p, p), dtype=bool)
    grown[:-1, :-1] = adjacency
    grown[rng.integers(0, inside), -1] = True
    graph = DirectedGraph(grown)
    truth = random_model(graph, stable=bool(seed % 3), random_state=rng)
    if abs(np.linalg.det(np.eye(p) - truth.B)) < 0.1:
        return _random_case(seed + 100_000)
    return graph, truth.sample(300, random_state=rng)


@pytest.fixture(scope="module")
def semopy():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("semopy")


def test_never_below_semopy_and_equal_once_its_solution_is_polished(semopy):
    equal = 0
    for seed in range(50):
        graph, X = _random_case(seed)
        fitted = fit(graph, X)
        B, sigma, S = _semopy_parameters(semopy, graph, X)
        ours = naive.negative_log_likelihood(fitted.B, fitted.noise_variances, S)
        theirs = 0.5 * (np.linalg.slogdet(sigma)[1] + np.trace(np.linalg.solve(sigma, S)))
        assert ours <= theirs + 1e-9, seed
        scale = np.sqrt(np.diag(S))
        R = S / np.outer(scale, scale)
        start = (B * scale[:, None] / scale)[np.nonzero(graph.adjacency)]
        polished = minimize(
            lambda b, graph=graph, R=R: naive.profiled(graph.adjacency, b, R),
            start,
            method="BFGS",
            options={"gtol": 1e-8},
        )
        value = polished.fun + np.log(scale).sum() + len(S) / 2
        assert ours <= value + 1e-9, seed
        if value <= ours + 1e-6:
            equal += 1
            best = np.zeros(S.shape)
            best[np.nonzero(graph.adjacency)] = polished.x
            C = np.eye(len(S)) - best
            inverse = np.linalg.inv(C)
            implied = inverse.T @ np.diag(np.diag(C.T @ R @ C)) @ inverse
            np.testing.assert_allclose(
                fitted.covariance / np.outer(scale, scale), implied, atol=2e-3, err_msg=str(seed)
            )
    # In the remaining cases semopy stops in a local maximum that is strictly worse.
    assert equal >= 48


def test_standard_errors_and_chi_square_agree_with_semopy(semopy):
    graph = DirectedGraph.from_edges([("e", "a"), ("a", "b"), ("b", "c"), ("c", "a"), ("c", "f")])
    X = random_model(graph, random_state=0).sample(2000, random_state=0)
    fitted = fit(graph, X)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        model = semopy.Model(_description(graph))
        model.fit(X)
        estimates = model.inspect(std_est=False)
        statistics = semopy.calc_stats(model)
    summary = fitted.summary()
    for row in estimates.itertuples():
        if row.op == "~":
            ours = summary.loc[f"{row.rval} -> {row.lval}"]
            assert ours["estimate"] == pytest.approx(row.Estimate, abs=2e-3)
            assert ours["std_error"] == pytest.approx(float(row[5]), rel=0.02)
    assert fitted.fit_indices.chi_square == pytest.approx(
        float(statistics["chi2"].iloc[0]), abs=0.1
    )
