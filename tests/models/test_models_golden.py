"""Against lavaan: golden values, made by ``golden/lavaan_golden.R``, and live where R is present.

lavaan is told to add no covariances, to treat every variable as random (``fixed.x = FALSE``), to
leave out the means, and that the covariance has the divisor n (``likelihood = "normal"``,
``sample.cov.rescale = FALSE``). Its parameters are then |E| + p, and AIC and BIC are ours.
"""

import json
import shutil
import subprocess
from pathlib import Path

import naive_likelihood as naive
import numpy as np
import pytest

from cyclearn.data import Moments, as_moments
from cyclearn.graphs import DirectedGraph
from cyclearn.models import FitStatus, fit, random_model

HERE = Path(__file__).parent / "golden"
CASES = {case["name"]: case for case in json.loads((HERE / "cases.json").read_text())}
GOLDEN = json.loads((HERE / "lavaan_golden.json").read_text())
LAVAAN = {case["name"]: case for case in GOLDEN["cases"]}

# More parameters than dimensions. lavaan counts parameters, so that its degrees of freedom, and
# the indices made of them, are those of a smaller model.
NOT_IDENTIFIED = "not_identified_two_cycle"
IDENTIFIED = [name for name in CASES if name != NOT_IDENTIFIED]

# Our name of each measure of lavaan, and the largest difference.
LIKELIHOODS = {
    "npar": ("n_parameters", 0),
    "logl": ("log_likelihood", 1e-6),
    "unrestricted.logl": ("saturated_log_likelihood", 1e-8),
    "aic": ("aic", 2e-6),
    "bic": ("bic", 2e-6),
    "chisq": ("chi_square", 2e-6),
    "baseline.chisq": ("baseline_chi_square", 1e-8),
    "baseline.df": ("baseline_degrees_of_freedom", 0),
    "srmr": ("srmr", 1e-6),
}
DEGREES = {
    "df": ("degrees_of_freedom", 0),
    "pvalue": ("p_value", 1e-6),
    "rmsea": ("rmsea", 1e-6),
    "cfi": ("cfi", 1e-6),
    "tli": ("tli", 1e-6),
}


def _fit(case):
    graph = DirectedGraph.from_edges(case["edges"], case["names"])
    return fit(graph, Moments(case["covariance"], case["n"], names=case["names"]))


@pytest.fixture(scope="module")
def fits():
    return {name: _fit(case) for name, case in CASES.items()}


def _correlations(fitted, covariance):
    return np.array(covariance) / np.outer(fitted.moments.scale, fitted.moments.scale)


def _assert_measures(fitted, measures, names):
    ours = fitted.fit_indices.to_dict()
    for name, (our_name, tolerance) in names.items():
        # lavaan has no p-value without degrees of freedom: null in JSON, NaN here.
        theirs = np.nan if measures[name] is None else measures[name]
        assert ours[our_name] == pytest.approx(theirs, rel=0, abs=tolerance, nan_ok=True), name


def test_the_golden_values_belong_to_the_cases_and_converged():
    assert list(LAVAAN) == list(CASES)
    assert set(GOLDEN["versions"]) == {"R", "lavaan", "jsonlite"}
    assert all(case["converged"] for case in LAVAAN.values())
    assert max(case["largest_gradient"] for case in LAVAAN.values()) < 1e-6


@pytest.mark.parametrize("name", CASES)
def test_likelihood_and_implied_covariance(fits, name):
    fitted, theirs = fits[name], LAVAAN[name]
    assert fitted.converged
    # Rounding of the stored values is 1e-15 of their size.
    assert fitted.log_likelihood >= theirs["measures"]["logl"] * (1 + 1e-14)
    np.testing.assert_allclose(
        _correlations(fitted, fitted.covariance),
        _correlations(fitted, theirs["implied"]),
        rtol=0,
        atol=1e-5,
    )
    _assert_measures(fitted, theirs["measures"], LIKELIHOODS)


@pytest.mark.parametrize("name", IDENTIFIED)
def test_chi_square_test_and_indices(fits, name):
    _assert_measures(fits[name], LAVAAN[name]["measures"], DEGREES)


@pytest.mark.parametrize("name", IDENTIFIED)
def test_estimates_and_standard_errors(fits, name):
    # lavaan found the solution that we prefer in all of these cases.
    table = fits[name].summary()
    errors = np.array([LAVAAN[name]["standard_errors"][label] for label in table.index])
    estimates = np.array([LAVAAN[name]["estimates"][label] for label in table.index])
    np.testing.assert_allclose(table["std_error"], errors, rtol=1e-4)
    np.testing.assert_allclose((table["estimate"] - estimates) / errors, 0, atol=1e-4)


def test_what_differs_when_parameters_are_not_identified(fits):
    fitted, theirs = fits[NOT_IDENTIFIED], LAVAAN[NOT_IDENTIFIED]
    assert fitted.status is FitStatus.NOT_IDENTIFIED
    indices = fitted.fit_indices
    excess = indices.n_parameters - indices.dimension
    assert excess == 1
    assert indices.degrees_of_freedom == theirs["measures"]["df"] + excess
    table = fitted.summary()
    identified = table.index[table["std_error"].notna()]
    assert set(identified) == set(table.index) - set(fitted.not_identified)
    for label in identified:
        assert table["estimate"][label] == pytest.approx(theirs["estimates"][label], rel=1e-5)
        assert table["std_error"][label] == pytest.approx(
            theirs["standard_errors"][label], rel=1e-4
        )


def _run_lavaan(cases, directory):
    rscript = shutil.which("Rscript")
    packages = "library(lavaan); library(jsonlite)"
    if rscript is None or subprocess.run([rscript, "-e", packages], capture_output=True).returncode:
        pytest.skip("needs R with the packages lavaan and jsonlite")
    source, target = directory / "cases.json", directory / "lavaan.json"
    source.write_text(json.dumps(cases))
    subprocess.run(
        [rscript, HERE / "lavaan_golden.R", source, target], check=True, capture_output=True
    )
    return json.loads(target.read_text())["cases"]


@pytest.mark.crosscheck
def test_lavaan_still_gives_the_golden_values(tmp_path):
    for case in _run_lavaan(list(CASES.values()), tmp_path):
        golden = LAVAAN[case["name"]]
        assert case["converged"]
        assert case["measures"]["logl"] == pytest.approx(golden["measures"]["logl"], abs=1e-6)
        np.testing.assert_allclose(case["implied"], golden["implied"], atol=1e-4)


def _random_case(seed):
    rng = np.random.default_rng(seed)
    n_inside, n_outside = int(rng.integers(2, 5)), int(rng.integers(0, 3))
    adjacency = naive.random_cyclic_adjacency(rng, n_inside, n_outside, density=0.2)
    graph = DirectedGraph(adjacency)
    X = random_model(graph, random_state=rng).sample(300, random_state=rng)
    return {
        "name": str(seed),
        "n": 300,
        "names": list(graph.names),
        "edges": [[graph.names[i], graph.names[j]] for i, j in np.argwhere(adjacency)],
        "covariance": as_moments(X).covariance.tolist(),
    }


@pytest.mark.crosscheck
def test_never_below_lavaan_on_random_graphs(tmp_path):
    cases = [_random_case(seed) for seed in range(40)]
    equal = 0
    for case, theirs in zip(cases, _run_lavaan(cases, tmp_path), strict=True):
        fitted = _fit(case)
        S, sigma = np.array(case["covariance"]), np.array(theirs["implied"])
        ours = naive.negative_log_likelihood(fitted.B, fitted.noise_variances, S)
        sign, log_det = np.linalg.slogdet(sigma)
        value = 0.5 * (log_det + np.trace(np.linalg.solve(sigma, S))) if sign > 0 else np.inf
        assert ours <= value + 1e-10, case["name"]
        if value <= ours + 1e-6:
            equal += 1
            np.testing.assert_allclose(
                _correlations(fitted, fitted.covariance),
                _correlations(fitted, sigma),
                atol=1e-4,
                err_msg=case["name"],
            )
    # In the remaining cases lavaan stops at a stationary point that is strictly worse.
    assert equal >= 38
