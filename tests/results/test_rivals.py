"""Rivals: a loop is told from no loop and from a hidden cause, as far as the data can."""

import json
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pandas as pd
import pytest

import cyclearn as cl
from cyclearn.models.correlated_noise import fit_correlated
from cyclearn.results.rivals import BOUNDARIES, STRONG, WEAK, Rival, evidence

LOOP = cl.LinearGaussianModel(
    [[0, 0, 0.8, 0], [0, 0, 0, 0.8], [0, 0, 0, 0.6], [0, 0, 0.6, 0]], [1, 1, 1, 1], list("xyab")
)


def with_hidden(n, loadings, seed=0, instruments=True):
    """Rows in which a hidden cause acts on some variables, each with an instrument of its own."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=n)
    columns = {}
    for name, loading in loadings.items():
        own = rng.normal(size=n)
        if instruments:
            columns[f"z{name}"] = rng.normal(size=n)
            own = own + 0.8 * columns[f"z{name}"]
        columns[name] = own + loading * hidden
    return pd.DataFrame(columns)


@pytest.fixture(scope="module")
def looped():
    return cl.learn(LOOP.sample(5_000, random_state=0))


@pytest.fixture(scope="module")
def confounded():
    return cl.learn(with_hidden(3_000, {"a": 1.0, "b": 1.0}))


def checked(result, rival):
    """The score of a rival is that of its own fit, and its changes lead from the learned graph."""
    assert (set(result.graph.edges) | set(rival.added)) - set(rival.removed) == set(
        rival.graph.edges
    )
    (table,) = result.tables
    moments = table.moments
    own = fit_correlated(rival.graph, moments, rival.pairs).log_likelihood
    penalty = result.penalty * (rival.graph.n_edges + len(rival.pairs))
    assert rival.score == pytest.approx(-own + penalty, abs=1e-4)
    assert rival.difference == pytest.approx(rival.score - result.score, abs=1e-5)


def test_a_true_loop_wins_clearly(looped):
    found = looped.rivals()
    assert not looped.graph.is_acyclic
    assert found.without_feedback.graph.is_acyclic
    assert found.without_feedback.difference > STRONG
    assert found.hidden_causes.difference > STRONG
    assert str(found).startswith("Without feedback the best graph found is worse by ")
    assert "strong evidence for the loop." in str(found)
    assert BOUNDARIES in str(found)
    # A loop of two has no smaller one but none.
    assert found.smaller_loops is None
    for rival in found:
        checked(looped, rival)


def test_without_feedback_is_what_the_search_finds_without_feedback(looped):
    acyclic = cl.learn(looped.tables.only.moments, max_component=1)
    assert looped.rivals().without_feedback.score == pytest.approx(acyclic.score, abs=1e-6)


def test_a_hidden_cause_of_two_is_named(confounded):
    found = confounded.rivals()
    assert (found.without_feedback, found.smaller_loops) == (None, None)
    assert found.hidden_causes.pairs == (("a", "b"),)
    assert set(found.hidden_causes.graph.edges) == {("za", "a"), ("zb", "b")}
    assert found.hidden_causes.difference < 0
    assert "hidden common cause of a and b the best graph found is better by" in str(found)
    checked(confounded, found.hidden_causes)


def test_a_hidden_cause_of_three_is_one_cause():
    result = cl.learn(with_hidden(3_000, {"a": 1.0, "b": -0.9, "c": 0.8}))
    rival = result.rivals().hidden_causes
    assert rival.hidden == (("a", "b", "c"),)
    assert {("za", "a"), ("zb", "b"), ("zc", "c")} <= set(rival.graph.edges)
    assert rival.evidence == "strong evidence"
    assert "a hidden common cause of a, b and c" in rival.in_words
    checked(result, rival)
    # With fewer pairs than it takes, it is worse and keeps to the limit.
    fewer = result.rivals(max_pairs=1).hidden_causes
    assert len(fewer.pairs) <= 1
    assert fewer.score > rival.score
    assert result.rivals(max_pairs=0).hidden_causes.pairs == ()


def test_a_hidden_cause_that_does_as_well_as_three_edges_is_shown():
    # Without instruments nothing tells it from three edges: as good, and evidence for neither.
    result = cl.learn(with_hidden(3_000, {"a": 1.0, "b": 0.9, "c": 0.8}, instruments=False))
    rival = result.rivals().hidden_causes
    assert rival.hidden == (("a", "b", "c"),)
    assert rival.difference == 0
    assert "is as good: no evidence for or against a hidden cause." in rival.in_words


def test_no_one_hidden_cause_makes_three_correlations_of_such_signs():
    S = np.array([[1.0, 0.5, 0.5], [0.5, 1.0, -0.4], [0.5, -0.4, 1.0]])
    assert cl.learn(cl.Moments(S, 500)).rivals().hidden_causes.pairs == ()


def test_data_of_an_acyclic_graph_have_no_rival():
    truth = cl.LinearGaussianModel(
        [[0, 0.8, 0, 0], [0, 0, 0.8, 0], [0, 0, 0, 0], [0, 0, 0.8, 0]], [1, 1, 1, 1]
    )
    found = cl.learn(truth.sample(3_000, random_state=0)).rivals()
    assert list(found) == [found.hidden_causes]
    assert found.hidden_causes.pairs == ()
    assert found.hidden_causes.difference == 0
    assert "No hidden common cause improves the graph." in str(found)
    assert found.without_loop == ()


def two_loops(n, seed):
    B = np.zeros((8, 8))
    for i, j in ((0, 1), (2, 3), (4, 5), (6, 7)):
        B[i, j] = 0.8
    for i, j in ((1, 3), (3, 1), (5, 7), (7, 5)):
        B[i, j] = 0.6
    return cl.LinearGaussianModel(B, np.ones(8)).sample(n, random_state=seed)


def test_each_of_several_loops_has_a_rival():
    result = cl.learn(two_loops(4_000, 0))
    loops = [nodes for nodes in result.graph.components if len(nodes) > 1]
    assert len(loops) == 2
    found = result.rivals()
    assert found.without_loop == result.loop_rivals
    assert [each.loops for each in found.without_loop] == [(loop,) for loop in loops]
    for rival, loop in zip(found.without_loop, loops, strict=True):
        checked(result, rival)
        kept = [nodes for nodes in rival.graph.components if len(nodes) > 1]
        assert not any(set(loop) & set(nodes) for nodes in kept)
        # To give up one loop costs less than to give up both.
        assert 0 < rival.difference <= found.without_feedback.difference
        assert f"Without the loop among {', '.join(loop)} the best graph" in str(found)


def test_one_loop_is_broken_as_all_feedback_is(looped):
    (only,) = looped.loop_rivals
    assert only == looped.rivals().without_feedback


def test_smaller_loops():
    B = np.zeros((6, 6))
    for i, j in ((0, 3), (1, 4), (2, 5)):
        B[i, j] = 0.8
    for i, j in ((3, 4), (4, 5), (5, 3)):
        B[i, j] = 0.7
    result = cl.learn(cl.LinearGaussianModel(B, np.ones(6)).sample(4_000, random_state=0))
    assert max(map(len, result.graph.components)) == 3
    rival = result.rivals().smaller_loops
    assert max(map(len, rival.graph.components)) < 3
    assert rival.difference > 0
    assert "for a loop of 3 variables." in rival.in_words
    checked(result, rival)


def test_groups_have_their_own_weights():
    other = replace_signs(LOOP)
    tables = {"one": LOOP.sample(1_500, random_state=0), "two": other.sample(1_500, random_state=1)}
    result = cl.learn(tables)
    found = result.rivals()
    assert found.without_feedback.difference > STRONG
    acyclic = cl.learn(tables, max_component=1)
    assert found.without_feedback.score == pytest.approx(acyclic.score, abs=1e-5)
    hidden = {
        name: with_hidden(1_500, {"a": 1.0, "b": sign}, seed)
        for seed, (name, sign) in enumerate({"one": 1.0, "two": -1.0}.items())
    }
    rival = cl.learn(hidden).rivals().hidden_causes
    assert rival.pairs == (("a", "b"),)
    likelihood = sum(
        fit_correlated(rival.graph, cl.data.as_moments(rows), rival.pairs).log_likelihood
        for rows in hidden.values()
    )
    penalty = cl.learn(hidden).penalty * (rival.graph.n_edges + 1)
    assert rival.score == pytest.approx(-likelihood + penalty, abs=1e-4)


def replace_signs(model):
    return cl.LinearGaussianModel(-model.B, model.noise_variances, model.names)


def test_knowledge_and_limits_are_respected(confounded):
    rows = with_hidden(3_000, {"a": 1.0, "b": 1.0})
    known = cl.Knowledge(required=[("b", "a")], forbidden=[("zb", "b")])
    rival = cl.learn(rows, knowledge=known).rivals().hidden_causes
    assert rival.graph.has_edge("b", "a")
    assert not rival.graph.has_edge("zb", "b")
    assert ("a", "b") not in rival.pairs
    for options in ({"max_parents": 1}, {"max_edges": 2}):
        rival = cl.learn(rows, **options).rivals().hidden_causes
        n_parents = rival.graph.adjacency.sum(axis=0)
        for pair in rival.pairs:
            n_parents[[rival.graph.index(name) for name in pair]] += 1
        assert n_parents.max() <= options.get("max_parents", 9)
        assert rival.graph.n_edges + len(rival.pairs) <= options.get("max_edges", 99)
    # The penalty of the result is that of its rivals.
    dear = cl.learn(rows, penalty=2 * confounded.penalty).rivals().hidden_causes
    assert dear.score == pytest.approx(
        confounded.rivals().hidden_causes.score + 3 * confounded.penalty, abs=1e-5
    )


def test_required_feedback_has_no_rival_without():
    known = cl.Knowledge(required=[("a", "b"), ("b", "a")])
    found = cl.learn(LOOP.sample(1_000, random_state=0), knowledge=known).rivals()
    assert (found.without_feedback, found.hidden_causes, found.without_loop) == (None, None, ())
    assert "Knowledge requires feedback" in str(found)


def test_interventions_compare_loops_and_refuse_hidden_causes():
    observed = LOOP.sample(2_000, random_state=0)
    B = LOOP.B.copy()
    B[:, 2] = 0.0
    cut = cl.LinearGaussianModel(B, [1, 1, 1, 1], LOOP.names).sample(1_000, random_state=1)
    result = cl.learn([observed, cut], interventions=[[], ["a"]])
    found = result.rivals()
    assert not result.graph.is_acyclic
    assert found.without_feedback.graph.is_acyclic
    assert found.without_feedback.difference > STRONG
    assert found.hidden_causes is None
    assert "Hidden causes cannot be compared for tables with interventions." in str(found)


def test_the_past_has_no_hidden_causes():
    rng = np.random.default_rng(0)
    rows = np.zeros((1_500, 3))
    for t in range(1, len(rows)):
        hidden = rng.normal()
        rows[t] = 0.5 * rows[t - 1] + rng.normal(size=3) + hidden * np.array([1.0, 1.0, 0.0])
    result = cl.learn(pd.DataFrame(rows, columns=list("abc")), lags=1)
    rival = result.rivals().hidden_causes
    assert rival.pairs == (("a", "b"),)
    assert not any(name in result.past for pair in rival.pairs for name in pair)
    assert not any(target in result.past for _, target in rival.graph.edges)


def test_a_saved_result_has_the_same_rivals(looped, tmp_path):
    loaded = cl.load(looped.save(tmp_path / "result.json"))
    assert loaded.rivals() == looped.rivals()


def test_columns_in_another_order_have_the_same_rivals():
    rows = LOOP.sample(2_000, random_state=3)
    one, other = (cl.learn(rows[list(names)]).rivals() for names in ("xyab", "bayx"))
    assert [each.difference for each in one] == pytest.approx([each.difference for each in other])
    assert [set(each.graph.edges) for each in one] == [set(each.graph.edges) for each in other]
    assert [each.pairs for each in one] == [each.pairs for each in other]


def test_values(looped):
    found = looped.rivals()
    table = found.to_frame()
    assert list(table["rival"]) == ["without feedback", "hidden causes"]
    assert table["difference"].tolist() == [each.difference for each in found]
    record = json.loads(json.dumps(found.to_dict()))
    assert [each["evidence"] for each in record["rivals"]] == table["evidence"].tolist()
    with pytest.raises(FrozenInstanceError):
        found.notes = ()


def test_words_follow_the_difference(looped):
    rival = looped.rivals().without_feedback
    words = {
        0.0: "is as good: no evidence for the loop.",
        1.5: "is worse by 1.5: no evidence for the loop.",
        WEAK: "is worse by 3.0: weak evidence for the loop.",
        STRONG: "is worse by 5.0: strong evidence for the loop.",
        -1.0: "is better by 1.0: no evidence for the loop.",
        -6.0: "is better by 6.0: strong evidence against the loop.",
    }
    for difference, expected in words.items():
        sentence = replace(rival, difference=difference).in_words
        assert sentence == f"Without feedback the best graph found {expected}"
    hidden = replace(rival, kind="hidden causes", pairs=(("a", "b"),))
    assert "a and b instead of feedback" in hidden.in_words
    assert replace(hidden, difference=-4.0).in_words.endswith("weak evidence for a hidden cause.")
    two = replace(hidden, difference=-4.0, pairs=(("a", "b"), ("x", "y")), loops=())
    assert two.in_words.startswith("With hidden common causes of a and b; of x and y the best")
    assert two.in_words.endswith("weak evidence for hidden causes.")
    assert isinstance(two, Rival)
    assert evidence(-WEAK) == evidence(WEAK) == "weak evidence"


def test_the_limit_on_fits_is_said(confounded, monkeypatch):
    from cyclearn.results import rival_search

    monkeypatch.setattr(rival_search, "_EFFORT", replace(rival_search._EFFORT, max_fits=5))
    found = confounded.rivals()
    assert found.hidden_causes.is_cut
    assert "reached its limit on fits" in str(found)


@pytest.mark.parametrize("value", [-1, 1.5, "three", None, True])
def test_wrong_numbers_of_pairs(looped, value):
    with pytest.raises(cl.InputError, match="max_pairs"):
        looped.rivals(max_pairs=value)


def test_on_the_command_line(cyclearn, refused, tmp_path, looped):
    looped.save(tmp_path / "result.json")
    assert cyclearn("rivals", "result.json").stdout.strip() == str(looped.rivals())
    record = json.loads(cyclearn("rivals", "result.json", "--pairs", "1", "--json").stdout)
    assert record["command"] == "rivals"
    assert record["rivals"][0]["kind"] == "without feedback"
    assert "omit it" in refused("rivals", "result.json", "--penalty", "bic")


def test_the_report_has_them(looped, confounded, tmp_path):
    words = looped.report(tmp_path / "r.html").read_text()
    assert "The loops and their rivals" in words
    assert looped.rivals().without_feedback.in_words in words
    assert "The loops and their rivals" not in confounded.report(tmp_path / "c.html").read_text()
