"""Variables taken as given, against lavaan (``golden/lavaan_exogenous.R``)."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import cyclearn as cl
from cyclearn.foundation.errors import InputError
from cyclearn.models.syntax import lavaan_syntax

HERE = Path(__file__).parent / "golden"
CASES = {case["name"]: case for case in json.loads((HERE / "exogenous_cases.json").read_text())}
LAVAAN = {
    case["name"]: case for case in json.loads((HERE / "lavaan_exogenous.json").read_text())["cases"]
}
HOLES = "two_cycle_with_holes"
MEASURES = {
    "logl": "log_likelihood",
    "unrestricted.logl": "saturated_log_likelihood",
    "chisq": "chi_square",
    "df": "degrees_of_freedom",
    "pvalue": "p_value",
    "baseline.chisq": "baseline_chi_square",
    "baseline.df": "baseline_degrees_of_freedom",
    "rmsea": "rmsea",
    "cfi": "cfi",
    "tli": "tli",
    "npar": "n_parameters",
    "aic": "aic",
    "bic": "bic",
    "srmr": "srmr",
}


def fitted(case, **options):
    graph = cl.DirectedGraph.from_edges(case["edges"], case["names"])
    if "rows" in case:
        data = pd.DataFrame(case["rows"], columns=case["names"], dtype=float)
        options |= {"missing": "em", "n_effective": "all"}
    else:
        data = cl.Moments(case["covariance"], case["n"], names=case["names"])
    return cl.fit(graph, data, exogenous=case["exogenous"], **options)


@pytest.mark.parametrize("name", CASES)
def test_fits_are_those_of_lavaan(name):
    theirs, ours = LAVAAN[name], fitted(CASES[name])
    assert theirs["converged"]
    assert ours.converged
    indices = ours.fit_indices.to_dict()
    for key, value in theirs["measures"].items():
        assert indices[MEASURES[key]] == pytest.approx(value, rel=1e-5, abs=1e-5), key
    table = ours.summary()
    assert set(table.index) == set(theirs["estimates"])
    # lavaan stops where its gradient is small, which leaves the last digits open.
    for label, value in theirs["estimates"].items():
        assert table.estimate[label] == pytest.approx(value, rel=1e-4, abs=1e-5), label
    for label, value in theirs["standard_errors"].items():
        assert table.std_error[label] == pytest.approx(value, rel=1e-3), label
    if name != HOLES:
        assert dict(ours.r_squared) == pytest.approx(theirs["r_squared"], abs=1e-4)
    # With holes lavaan takes the covariance of the exogenous variables with the divisor n too.
    assert ours.covariance == pytest.approx(np.array(theirs["implied"]), rel=1e-3, abs=1e-3)


def test_the_fulton_fish_market_is_not_rejected():
    case = CASES["fulton_fish_market"]
    indices = fitted(case).fit_indices
    assert indices.chi_square == pytest.approx(3.02, abs=0.005)
    assert indices.degrees_of_freedom == 4
    assert indices.p_value == pytest.approx(0.56, abs=0.005)
    graph = cl.DirectedGraph.from_edges(case["edges"], case["names"])
    moments = cl.Moments(case["covariance"], case["n"], names=case["names"])
    independent = cl.fit(graph, moments).fit_indices
    assert independent.chi_square == pytest.approx(72.8, abs=0.05)
    assert independent.degrees_of_freedom == 14


@pytest.mark.parametrize("name", ["two_loops", "fulton_fish_market"])
def test_to_leave_a_covariance_free_is_to_join_by_all_edges_of_an_order(name):
    case, own = CASES[name], fitted(CASES[name])
    given = case["exogenous"]
    block = [(a, b) for n, a in enumerate(given) for b in given[n + 1 :]]
    graph = cl.DirectedGraph.from_edges([*map(tuple, case["edges"]), *block], case["names"])
    moments = cl.Moments(case["covariance"], case["n"], names=case["names"])
    joined = cl.fit(graph, moments)
    assert joined.fit_indices.chi_square == pytest.approx(own.fit_indices.chi_square, abs=1e-6)
    assert joined.fit_indices.degrees_of_freedom == own.fit_indices.degrees_of_freedom
    assert joined.covariance == pytest.approx(own.covariance, rel=1e-6, abs=1e-9)
    kept = own.summary().index
    for column in ("estimate", "std_error"):
        assert joined.summary().loc[kept, column].to_numpy() == pytest.approx(
            own.summary()[column].to_numpy(), rel=1e-6
        )


def test_the_export_for_lavaan_names_no_variances_of_exogenous_variables():
    text = lavaan_syntax(fitted(CASES["chain"]))
    assert "fixed.x = TRUE" in text
    assert "a ~~" in text
    assert "x ~~" not in text
    assert "z ~~" not in text


def test_an_observed_likelihood_is_saved_and_read():
    case = CASES[HOLES]
    data = pd.DataFrame(case["rows"], columns=case["names"], dtype=float)
    result = cl.learn(data, missing="em", exogenous=case["exogenous"])
    again = cl.LearnResult.from_json(result.to_json())
    assert again == result
    assert again.model.summary().equals(result.model.summary())
    assert result.model.log_likelihood == pytest.approx(
        cl.fit(result.graph, data, missing="em", exogenous=case["exogenous"]).log_likelihood
    )
    data.loc[3, "x"] = np.nan
    with pytest.raises(InputError, match="'x' is exogenous and has missing values"):
        cl.learn(data, missing="em", exogenous=case["exogenous"])


@pytest.mark.parametrize(
    ("exogenous", "words"),
    [
        (["k"], "nothing causes it"),
        (["nobody"], "exogenous names 'nobody', which is not a variable"),
        (["a", "b", "d", "k", "w", "x", "z"], "none is left to explain"),
        ("x", "give a list of names"),
        ([True], "not a name"),
    ],
)
def test_what_cannot_be_taken_as_given_is_refused(exogenous, words):
    with pytest.raises(InputError, match=words):
        fitted({**CASES["three_cycle"], "exogenous": exogenous})
