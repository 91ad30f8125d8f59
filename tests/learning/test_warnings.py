"""What is to mind stands where people look: in the result, in print and in the report."""

import numpy as np
import pandas as pd
import pytest

import cyclearn as cl
from cyclearn.learning.few_rows import few_rows


def kinds(result):
    return [warning.kind for warning in result.warnings]


def test_random_walks_are_not_passed_in_silence():
    walks = np.random.default_rng(0).standard_normal((200, 4)).cumsum(axis=0)
    result = cl.learn(walks, n_starts=1)
    assert "dependent rows" in kinds(result)
    assert "Mind: Rows resemble the rows before them" in str(result)
    assert "Mind:" in result._repr_html_()
    again = cl.LearnResult.from_json(result.to_json())
    assert again.warnings == result.warnings
    learner = cl.CyclicGraphLearner(n_starts=1).fit(walks)
    assert kinds(learner.result_) == kinds(result)


def test_noise_of_few_rows_gives_almost_no_edges():
    counts = []
    for seed in range(8):
        result = cl.learn(np.random.default_rng(seed).standard_normal((8, 10)), n_starts=1)
        counts.append(result.graph.n_edges)
        assert "too few rows" in kinds(result)
        assert result.penalty == pytest.approx(few_rows(8, 10).price)
    assert np.mean(counts) < 1


def test_what_is_given_is_left_alone():
    rows = np.random.default_rng(0).standard_normal((8, 5))
    assert cl.learn(rows, penalty=2.0, max_parents=2).penalty == 2.0
    many = cl.learn(np.random.default_rng(0).standard_normal((13, 5)), n_starts=1)
    assert "too few rows" not in kinds(many)
    required = cl.Knowledge(required=[("X1", "X5"), ("X2", "X5"), ("X3", "X5")])
    assert cl.learn(rows, knowledge=required, n_starts=1).graph.n_edges >= 3


def test_the_price_grows_with_the_parents_that_are_allowed():
    assert few_rows(25, 12) is not None
    assert few_rows(27, 12) is None
    assert few_rows(8, 10).price < few_rows(8, 40).price


def test_no_internal_error_escapes():
    rows = np.random.default_rng(1).standard_normal((6, 8))
    cl.learn(rows, penalty=0.5, max_edges=12, n_starts=1, max_evaluations=3_000)


def test_ranks_undo_monotone_bends():
    graph = cl.DirectedGraph.from_edges([("a", "b"), ("c", "b")])
    truth = cl.LinearGaussianModel(np.where(graph.adjacency, 0.9, 0.0), np.ones(3), graph.names)
    frame = truth.sample(800, random_state=0)
    bent = np.sinh(2 * frame)
    assert "not Gaussian" in kinds(cl.learn(bent))
    plain, ranked = cl.learn(frame, margins="rank"), cl.learn(bent, margins="rank")
    assert ranked.graph == graph
    np.testing.assert_array_equal(plain.model.B, ranked.model.B)
    assert "normal scores of ranks" in str(ranked)
    assert "not Gaussian" not in kinds(ranked)
    fitted = cl.fit(graph, bent, margins="rank")
    np.testing.assert_allclose(fitted.B, ranked.model.B)
    with pytest.raises(cl.InputError, match="Moments, which have none"):
        cl.learn(cl.Moments(np.eye(2), 50), margins="rank")
    with pytest.raises(cl.InputError, match="margins is 'ranks'"):
        cl.learn(frame, margins="ranks")
    with pytest.raises(cl.InputError, match="score rows with"):
        cl.CyclicGraphLearner(margins="rank", n_starts=1).fit(frame).score(frame)


def test_codes_and_counters_are_suspected_aloud():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((100, 3)), columns=list("abc"))
    frame.loc[[3, 50], "b"] = -999
    frame["year"] = np.arange(1900, 2000)
    found = {warning.kind: warning for warning in cl.check_data(frame)}
    assert found["missing codes"].columns == ("b",)
    assert "--missing-codes -999" in found["missing codes"].remedy
    assert found["counter"].columns == ("year",)
    scores = pd.DataFrame({"points": rng.integers(0, 120, 200), "other": rng.normal(size=200)})
    assert "missing codes" not in {warning.kind for warning in cl.check_data(scores)}


def test_a_report_of_holes_and_ranks(tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).standard_normal((200, 3)), columns=list("abc"))
    frame = frame.mask(np.random.default_rng(1).random(frame.shape) < 0.1)
    result = cl.learn(frame, missing="em", margins="rank", n_starts=1)
    page = result.report(tmp_path / "r.html", data=frame).read_text()
    assert "of the cells are missing" in page
    assert "normal scores of their ranks" in page
