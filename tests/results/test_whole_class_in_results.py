"""A class that rules beyond rotations enlarge: every part of the library speaks about all of it.

Rotations link four graphs, all with a loop between c and d. The block rule links four more, with a
loop between a and b, so no edge and no loop is certain.
"""

import numpy as np
import pytest

import cyclearn as cl

NAMES = ["a", "b", "c", "d"]
TRUTH = cl.DirectedGraph.from_edges(
    [("a", "b"), ("d", "c"), ("a", "d"), ("b", "d"), ("c", "d")], NAMES
)
TURNED = cl.DirectedGraph.from_edges(
    [("c", "d"), ("b", "a"), ("a", "b"), ("c", "b"), ("d", "b")], NAMES
)


@pytest.fixture(scope="module")
def moments():
    weights = {("a", "b"): 0.7, ("a", "d"): 0.6, ("b", "d"): -0.5, ("c", "d"): 0.8, ("d", "c"): 0.6}
    B = np.zeros((4, 4))
    for (source, target), weight in weights.items():
        B[NAMES.index(source), NAMES.index(target)] = weight
    model = cl.LinearGaussianModel(B, [1.0, 1.5, 2.0, 1.0], names=NAMES)
    return cl.Moments(model.covariance, 20_000, names=NAMES)


@pytest.fixture(scope="module")
def result(moments):
    return cl.learn(moments)


def test_the_answer_calls_nothing_certain_that_only_rotations_keep(result):
    by_rotations = cl.equivalence_class(result.graph, rules="rotations")
    assert TRUTH in by_rotations
    assert TURNED not in by_rotations
    assert TURNED in result.equivalence_class
    assert result.n_equally_good == result.equivalence_class.size == 2 * by_rotations.size == 8
    before = by_rotations.edge_table()
    assert (before["verdict"] == "in every equally good graph").any()
    assert "in every equally good graph" not in set(result.edge_table()["verdict"])
    assert "8 graphs fit these data equally well, and no edge is in every one" in str(result)


def test_effects_and_predictions_range_over_the_whole_class(result, moments):
    """Each stable best fit of a member, fitted by itself, has an effect that is in the table."""
    found = result.effects("a", "c").table
    stable = [
        model.total_effects()
        for model in (cl.fit(member, moments) for member in result.equivalence_class)
        if model.is_stable
    ]
    assert len(stable) > 0
    expected = {round(float(effects.loc["a", "c"]), 4) for effects in stable}
    assert expected <= set(found["total_effect"].round(4))
    # The graphs that only a rule finds are those with a loop between a and b.
    held = result.do({"b": 1.0})
    assert held.loc["a", "smallest"] < held.loc["a", "largest"]


def test_the_report_and_the_evaluation_count_the_whole_class(result, tmp_path):
    page = result.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "8 graphs fit these data equally well" in page
    assert cl.metrics.class_distance(TURNED, TRUTH) == 0
    assert cl.metrics.class_distance(TURNED, cl.equivalence_class(TRUTH, rules="rotations")) > 0
