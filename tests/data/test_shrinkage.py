"""Shrunk covariances: those of scikit-learn, free of units, and said in the result."""

import numpy as np
import pandas as pd
import pytest
from sklearn.covariance import ledoit_wolf

import cyclearn as cl
from cyclearn.data.reading import as_tables
from cyclearn.foundation.errors import InputError


@pytest.fixture
def few_rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((15, 20)) * rng.uniform(0.1, 10, 20)
    X[:, 1] += 3 * X[:, 0]
    return pd.DataFrame(X, columns=[f"v{j:02}" for j in range(20)])


def test_it_is_that_of_scikit_learn_on_standardised_columns(few_rows):
    X = few_rows.to_numpy()
    S, _ = ledoit_wolf((X - X.mean(axis=0)) / X.std(axis=0))
    moments = as_tables(few_rows, covariance="shrunk").only.moments
    np.testing.assert_allclose(moments.correlation, S, atol=1e-12)
    np.testing.assert_allclose(moments.scale, X.std(axis=0))
    scaled = as_tables(few_rows * 7, covariance="shrunk").only.moments
    np.testing.assert_allclose(scaled.correlation, moments.correlation)


def test_the_result_says_by_how_much(few_rows):
    found = cl.learn(few_rows, covariance="shrunk", n_starts=1)
    (warning,) = (w for w in found.warnings if w.code == "shrunk_correlations")
    share = 1 - found.model.moments.correlation[0, 1] / np.corrcoef(few_rows.T)[0, 1]
    assert warning.shrinkage == pytest.approx(share)
    assert f"{share:.0%}" in str(found)
    assert cl.LearnResult.from_json(found.to_json()) == found
    assert found.options.given()["covariance"] == "shrunk"
    learner = cl.CyclicGraphLearner(covariance="shrunk", n_starts=1).fit(few_rows)
    assert learner.result_.score == pytest.approx(found.score)


def test_a_price_by_name_shrinks_with_the_evidence(few_rows):
    options = cl.SearchOptions(penalty="bic"), cl.SearchOptions(penalty="bic", covariance="shrunk")
    plain, shrunk = (each.edge_penalty(each.tables(few_rows)) for each in options)
    share = options[1].tables(few_rows).only.shrinkage
    assert shrunk == pytest.approx((1 - share) ** 2 * plain)
    number = cl.SearchOptions(penalty=3.0, covariance="shrunk")
    assert number.edge_penalty(number.tables(few_rows)) == 3.0


def test_resamples_are_shrunk_as_well(few_rows):
    found = cl.bootstrap(few_rows, 2, covariance="shrunk", n_starts=1)
    assert found.n_resamples == 2


def test_the_command_line_calls_it_estimate(cyclearn, few_rows, tmp_path):
    few_rows.to_csv(tmp_path / "few.csv", index=False)
    options = ("--estimate", "shrunk", "--starts", "1", "--no-posterior")
    done = cyclearn("learn", str(tmp_path / "few.csv"), *options)
    assert "Correlations were shrunk by" in done.stdout


@pytest.mark.parametrize(
    ("data", "options", "words"),
    [
        (cl.Moments(np.eye(2), 9), {}, "Moments"),
        (np.eye(3), {"missing": "em"}, "complete rows"),
        ([np.eye(3)], {"interventions": [[]]}, "interventions"),
    ],
)
def test_what_does_not_go_together_is_refused(data, options, words):
    with pytest.raises(InputError, match=words):
        cl.learn(data, covariance="shrunk", **options)
    with pytest.raises(InputError, match="'sample' or 'shrunk'"):
        cl.learn(np.eye(3), covariance="oracle")
