"""Warnings appear where people look: in the result, in print and in the report."""

import numpy as np
import pandas as pd
import pytest

import cyclearn as cl
from cyclearn.search.few_rows import few_rows


def codes(result):
    return [warning.code for warning in result.warnings]


def test_random_walks_are_not_passed_in_silence():
    walks = np.random.default_rng(0).standard_normal((200, 4)).cumsum(axis=0)
    result = cl.learn(walks, n_starts=1)
    assert "dependent_rows" in codes(result)
    assert "Warning: Rows resemble earlier rows" in str(result)
    assert "Warning:" in result._repr_html_()
    again = cl.LearnResult.from_json(result.to_json())
    assert again.warnings == result.warnings
    learner = cl.CyclicGraphLearner(n_starts=1).fit(walks)
    assert codes(learner.result_) == codes(result)


def test_noise_of_few_rows_gives_almost_no_edges():
    counts = []
    for seed in range(8):
        result = cl.learn(np.random.default_rng(seed).standard_normal((8, 10)), n_starts=1)
        counts.append(result.graph.n_edges)
        assert "too_few_rows" in codes(result)
        assert result.penalty == pytest.approx(few_rows(8, 10).price)
    assert np.mean(counts) < 1


def test_what_is_given_is_left_alone():
    rows = np.random.default_rng(0).standard_normal((8, 5))
    assert cl.learn(rows, penalty=2.0, max_parents=2).penalty == 2.0
    many = cl.learn(np.random.default_rng(0).standard_normal((13, 5)), n_starts=1)
    assert "too_few_rows" not in codes(many)
    required = cl.Knowledge(required=[("X1", "X5"), ("X2", "X5"), ("X3", "X5")])
    assert cl.learn(rows, knowledge=required, n_starts=1).graph.n_edges >= 3


def test_the_price_grows_with_the_parents_that_are_allowed():
    assert few_rows(25, 12) is not None
    assert few_rows(27, 12) is None
    assert few_rows(8, 10).price < few_rows(8, 40).price


def test_no_internal_error_escapes():
    rows = np.random.default_rng(1).standard_normal((6, 8))
    found = cl.learn(rows, penalty=0.5, max_edges=12, n_starts=1, max_evaluations=3_000)
    assert found.graph.n_edges <= 12


def test_ranks_undo_monotone_bends():
    graph = cl.DirectedGraph.from_edges([("a", "b"), ("c", "b")])
    truth = cl.LinearGaussianModel(np.where(graph.adjacency, 0.9, 0.0), np.ones(3), graph.names)
    frame = truth.sample(800, random_state=0)
    bent = np.sinh(2 * frame)
    assert "nonnormal_columns" in codes(cl.learn(bent))
    plain, ranked = cl.learn(frame, margins="rank"), cl.learn(bent, margins="rank")
    assert ranked.graph == graph
    np.testing.assert_array_equal(plain.model.B, ranked.model.B)
    assert "normal scores of ranks" in str(ranked)
    assert "nonnormal_columns" not in codes(ranked)
    fitted = cl.fit(graph, bent, margins="rank")
    np.testing.assert_allclose(fitted.B, ranked.model.B)
    with pytest.raises(cl.InputError, match="Moments, which have no rows"):
        cl.learn(cl.Moments(np.eye(2), 50), margins="rank")
    with pytest.raises(cl.InputError, match="margins is 'ranks'"):
        cl.learn(frame, margins="ranks")
    with pytest.raises(cl.InputError, match="to score rows, use"):
        cl.CyclicGraphLearner(margins="rank", n_starts=1).fit(frame).score(frame)


def test_codes_and_counters_are_suspected_aloud():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((100, 3)), columns=list("abc"))
    frame.loc[[3, 50], "b"] = -999
    frame["year"] = np.arange(1900, 2000)
    found = {warning.code: warning for warning in cl.check_data(frame)}
    assert found["missing_codes"].columns == ("b",)
    assert "--missing-codes -999" in found["missing_codes"].remedy
    assert found["row_numbers"].columns == ("year",)
    scores = pd.DataFrame({"points": rng.integers(0, 120, 200), "other": rng.normal(size=200)})
    assert "missing_codes" not in {warning.code for warning in cl.check_data(scores)}


def test_a_report_of_holes_and_ranks(tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).standard_normal((200, 3)), columns=list("abc"))
    frame = frame.mask(np.random.default_rng(1).random(frame.shape) < 0.1)
    result = cl.learn(frame, missing="em", margins="rank", n_starts=1)
    page = result.report(tmp_path / "r.html", data=frame).read_text()
    assert "of the cells are missing" in page
    assert "normal scores of their ranks" in page


def test_few_rows_limit_a_search_at_any_price_and_a_posterior():
    rows = np.random.default_rng(3).standard_normal((7, 8))
    cheap = cl.learn(rows, penalty=1.0, n_starts=1, max_evaluations=2_000)
    assert cheap.penalty == 1.0
    assert cheap.graph.adjacency.sum(axis=0).max() <= few_rows(7, 8).max_parents
    assert (
        "the penalty per edge is 1.00, and noise alone can reach 5.52; the search allows at most 1 "
        "parent per variable and at most 2 variables per feedback loop."
    ) in str(cheap)
    given = cl.learn(rows, max_parents=3, n_starts=1)
    (words,) = [warning.message for warning in given.warnings if warning.code == "too_few_rows"]
    assert "parent" not in words
    assert "; the search allows at most 2 variables per feedback loop." in words
    found = cl.posterior(rows, effective_size=50, max_steps=400_000)
    assert found.penalty == pytest.approx(few_rows(7, 8).price)
    assert found.edge_probabilities().to_numpy().max() < 0.5
    assert codes(found) == ["low_power", "too_few_rows"]
    assert "Warning: 7 rows are too few" in str(found)
    assert cl.Posterior.from_json(found.to_json()).warnings == found.warnings


def test_a_shrunk_covariance_for_every_function():
    rows = np.random.default_rng(0).standard_normal((12, 3))
    learned = cl.learn(rows, covariance="shrunk", n_starts=1)
    fitted = cl.fit(learned.graph, rows, covariance="shrunk")
    assert fitted.log_likelihood == pytest.approx(learned.fitted.log_likelihood)
    options = {"effective_size": 20, "max_steps": 200_000}
    plain = cl.posterior(rows, **options)
    shrunk = cl.posterior(rows, covariance="shrunk", **options)
    assert shrunk.penalty == plain.penalty
    assert "shrunk_correlations" in codes(shrunk)
    with pytest.raises(cl.InputError, match="complete rows"):
        cl.fit(learned.graph, rows, covariance="shrunk", missing="em")


def test_a_saved_result_says_all_that_the_result_said():
    walks = np.random.default_rng(0).standard_normal((60, 3)).cumsum(axis=0)
    result = cl.learn(walks)
    assert "starts reached this score" in str(result)
    assert str(cl.LearnResult.from_json(result.to_json())) == str(result)
    lagged = cl.posterior(walks, lags=1, effective_size=20, max_steps=200_000)
    assert cl.Posterior.from_json(lagged.to_json()).moments.exogenous == lagged.moments.exogenous


def test_what_rounding_leaves_is_not_shown():
    rows = pd.DataFrame(np.random.default_rng(0).standard_normal((200, 3)), columns=list("abc"))
    rows["b"] += rows["a"]
    result = cl.learn(rows, margins="rank")
    table = result.do({"a": 1.0})
    small = np.abs(table.to_numpy())
    assert not ((small > 0) & (small < 1e-9)).any()
    assert table.attrs["scale"] == "normal scores of ranks"
    left = np.abs(result.model.residual_correlations().to_numpy())
    assert not ((left > 0) & (left < 1e-12)).any()
    assert not (
        result.hidden_causes()["difference"].abs().between(0, 1e-7, inclusive="neither")
    ).any()


def test_the_past_leaves_enough_rows():
    walks = np.random.default_rng(0).standard_normal((6, 3)).cumsum(axis=0)
    with pytest.raises(cl.InputError, match=r"lags is 4, and there are 6 rows.*at least three"):
        cl.learn(walks, lags=4)
    with pytest.raises(cl.InputError, match="2 rows; a covariance needs at least 3"):
        cl.learn(walks[:2])
    with pytest.raises(cl.InputError, match=r"column 'b' .*also not numeric: 'c'.*encode it"):
        cl.learn(pd.DataFrame({"a": [1.0, 2, 4], "b": list("xyz"), "c": list("uvw")}))
    with pytest.raises(cl.InputError, match=r"holds '\.'; if that codes a missing value"):
        cl.learn(pd.DataFrame({"a": [1.0, 2, 4, 3], "b": ["1", ".", "2", "4"]}))


def test_exact_search_of_few_rows_divides_nothing_by_nothing():
    result = cl.learn(np.random.default_rng(3).standard_normal((5, 6)), method="exact")
    assert result.graph.n_edges <= 1
