"""Edges or hidden common causes: what can be told apart is told, and nothing else."""

import numpy as np
import pandas as pd
import pytest

import cyclearn as cl
from cyclearn.results.hidden_causes import PairExplanation, hidden_causes


@pytest.fixture(scope="module")
def confounded():
    """The example of the documentation: x → a ← hidden → b ← y."""
    rng = np.random.default_rng(0)
    hidden, x, y, noise_a, noise_b = rng.normal(size=(5, 5_000))
    a, b = 0.8 * x + hidden + noise_a, 0.8 * y + hidden + noise_b
    return cl.learn(pd.DataFrame({"x": x, "a": a, "b": b, "y": y}))


def test_a_hidden_cause_is_flagged_with_what_it_makes_superfluous(confounded):
    table = confounded.hidden_causes()
    first = table.iloc[0]
    assert ({first["a"], first["b"]}, first["superfluous"]) == ({"a", "b"}, "y -> a")
    assert first["verdict"] == "hidden cause fits better"
    # One edge fewer, and a likelihood that is lower by what one superfluous edge gains.
    assert -confounded.penalty <= first["difference"] < 0
    # Replacing any single edge changes nothing.
    assert np.allclose(table["difference"].iloc[1:], 0, atol=1e-6)
    assert (table["verdict"].iloc[1:] == "cannot be told apart").all()


def test_the_report_warns_of_it(confounded, tmp_path):
    words = confounded.report(tmp_path / "r.html").read_text()
    assert "A hidden common cause of a and b, without y → a, fits better than b → a" in words
    assert "hidden cause." in words.split("</header>")[0]


def test_one_edge_alone_cannot_be_told_from_a_hidden_cause():
    result = cl.learn(cl.Moments([[2.0, 1.0], [1.0, 2.0]], 500, names=["a", "b"]))
    (found,) = hidden_causes(result)
    assert found.difference == pytest.approx(0, abs=1e-6)
    assert found.verdict == "cannot be told apart"
    assert found.warning is None


def test_what_only_an_edge_explains_is_an_edge():
    # z is independent of y given a; with a hidden cause of a and y it would not be.
    chain = cl.LinearGaussianModel(
        [[0, 0, 0.9, 0], [0, 0, 0.9, 0], [0, 0, 0, 0.9], [0, 0, 0, 0]], [1, 1, 1, 1], list("zwab")
    )
    result = cl.learn(cl.Moments(chain.covariance, 2_000, names=list("zwab")))
    table = result.hidden_causes().set_index(["a", "b"])
    assert table.loc[("a", "b"), "verdict"] == "edge fits better"


def test_feedback_is_compared_as_a_pair():
    B = [[0, 0, 0.7, 0], [0, 0, 0, 0.8], [0, 0, 0, -0.6], [0, 0, 0.5, 0]]
    market = cl.LinearGaussianModel(B, [1, 1, 1, 1], ["costs", "income", "price", "quantity"])
    result = cl.learn(market.sample(2_000, random_state=0))
    found = {(each.a, each.b): each for each in hidden_causes(result)}
    both = found["price", "quantity"]
    assert both.learned == (("price", "quantity"), ("quantity", "price"))
    assert both.verdict == "edge fits better"


def test_only_a_hidden_cause_that_fits_better_is_warned_of():
    edges = (("a", "b"),)
    assert PairExplanation("a", "b", edges, (), 5.0).warning is None
    found = PairExplanation("a", "b", edges, (("c", "b"),), -5.0).warning
    assert "without c → b, fits" in found.message
    assert PairExplanation("a", "b", edges, (), float("inf")).verdict == "edge fits better"


def test_no_edges_no_pairs():
    result = cl.learn(cl.Moments(np.eye(3), 100))
    assert result.hidden_causes().empty
