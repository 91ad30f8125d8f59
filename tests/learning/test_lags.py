"""Rows given their past: the likelihood, the class, and what is found in simulated series."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest

import cyclearn as cl
from cyclearn.classes import InterventionalClass
from cyclearn.data.lagged_rows import past_names, with_past
from cyclearn.data.rows import Rows
from cyclearn.foundation.errors import InputError
from cyclearn.models.predictions import EstimatedModel

NAMES = ("gdp", "rate", "oil")
WITHIN = np.array([[0, 0.6, 0], [0, 0, 0.5], [0, -0.5, 0]])
OVER_TIME = np.array([[0.5, 0, 0], [0, 0.4, 0], [0.4, 0, 0.3]])
TRUTH = cl.DirectedGraph.from_edges(
    [
        ("gdp", "rate"),
        ("rate", "oil"),
        ("oil", "rate"),
        ("gdp[t-1]", "gdp"),
        ("rate[t-1]", "rate"),
        ("oil[t-1]", "gdp"),
        ("oil[t-1]", "oil"),
    ],
    (*NAMES, *past_names(NAMES, 1)),
)


def lagged(data, lags):
    rows = with_past(Rows.of(data), lags)
    return pd.DataFrame(rows.values, columns=list(rows.names))


def series(n, seed, names=NAMES):
    """A stable vector autoregression with feedback within a row."""
    noise = np.random.default_rng(seed).standard_normal((n + 50, 3))
    X, M = np.zeros_like(noise), np.linalg.inv(np.eye(3) - WITHIN)
    for t in range(1, len(X)):
        X[t] = (X[t - 1] @ OVER_TIME + noise[t]) @ M
    return pd.DataFrame(X[50:], columns=list(names))


@pytest.fixture(scope="module")
def found():
    return cl.learn(series(3_000, 1), lags=1, n_starts=1)


def test_edges_within_a_row_and_over_time_are_recovered(found):
    assert TRUTH in found.equivalence_class
    graphs = list(found.equivalence_class)
    assert found.n_equally_good == len(graphs)
    assert not any(edge[1] in found.past for graph in graphs for edge in graph.edges)
    assert found.within_graph.names == NAMES
    truth = cl.fit(TRUTH, series(3_000, 1), lags=1)
    assert truth.log_likelihood == pytest.approx(found.model.log_likelihood, abs=1e-6)
    np.testing.assert_allclose(truth.B[:3, :3], WITHIN, atol=0.12)
    np.testing.assert_allclose(truth.B[3:, :3], OVER_TIME, atol=0.12)


def test_text_table_and_weights_tell_the_two_kinds_apart(found):
    text = str(found)
    assert text.startswith("3 variables, 2999 samples, given 1 row before each:")
    within, _, over_time = text.partition("Over time:")
    assert "rate -> oil" in within
    assert "[t-1]" not in within
    assert "oil[t-1] -> gdp" in over_time
    table = found.edge_table()
    assert (table["lag"] == table["source"].str.endswith("[t-1]")).all()
    shown = table[table["in_graph"]]
    for lag in (0, 1):
        weights = found.lag_weights(lag)
        assert (weights.to_numpy() != 0).sum() == (shown["lag"] == lag).sum()
    assert found.lag_weights(1).loc["oil", "gdp"] == pytest.approx(0.4, abs=0.1)
    with pytest.raises(InputError, match="lags 0 to 1"):
        found.lag_weights(2)


def test_a_result_is_saved_reported_and_asked_what_if(found, tmp_path):
    again = cl.load(found.save(tmp_path / "result.json"))
    assert again == found
    assert again.past == found.past
    assert again.model.log_likelihood == pytest.approx(found.model.log_likelihood)
    page = found.report(tmp_path / "page.html", data=series(3_000, 1)).read_text()
    assert "Edges within a row" in page
    assert "Edges over time" in page
    assert found.options.call("learn", "data") == "cl.learn(data, lags=1, n_starts=1)"
    lavaan = found.export(tmp_path / "model.lav").read_text()
    assert "fixed.x = TRUE" in lavaan
    assert "gdp ~~" in lavaan
    assert "gdp_t_1_ ~~" not in lavaan
    what = found.do({"gdp[t-1]": 2.0})
    assert what.loc["gdp", "mean"] - what.loc["gdp", "now"] == pytest.approx(
        found.lag_weights(1).loc["gdp", "gdp"] * (2 - what.loc["gdp[t-1]", "now"])
    )
    assert (what["lower"] < what["upper"])[list(NAMES)].all()
    assert what.loc["oil[t-1]", "sd"] == pytest.approx(series(3_000, 1)["oil"].std(), rel=0.01)


def test_intervals_of_predictions_are_those_of_a_regression_on_the_past():
    data = series(300, 5)[["gdp", "oil"]]
    names = ("gdp", "oil", "gdp[t-1]", "oil[t-1]")
    edges = [("gdp", "oil"), ("oil[t-1]", "oil"), ("gdp[t-1]", "gdp")]
    chain = cl.DirectedGraph.from_edges(edges, names)
    fitted = cl.fit(chain, data, lags=1)
    moments = fitted.moments
    model = EstimatedModel(fitted.model, moments.covariance, fitted.n_effective, given=(2, 3))
    held = model.predict({0: 2.0}, {})
    rows = lagged(data, 1)
    Z = np.column_stack([np.ones(len(rows)), rows["gdp"], rows["oil[t-1]"]])
    weights, left, *_ = np.linalg.lstsq(Z, rows["oil"], rcond=None)
    at = np.array([1.0, 2.0, rows["oil[t-1]"].mean()])
    error = np.sqrt(left[0] / len(rows) * at @ np.linalg.inv(Z.T @ Z) @ at)
    assert held.means[1] == pytest.approx(at @ weights)
    assert held.errors[1] == pytest.approx(error)
    # What is held, and the past, are given.
    assert held.errors[[0, 2, 3]].tolist() == [0, 0, 0]


def test_the_likelihood_is_that_of_the_present_given_the_past():
    data = series(400, 3)
    fitted = cl.fit(TRUTH, data, lags=1)
    rows = lagged(data, 1)[list(fitted.names)].to_numpy()
    rows = rows - rows.mean(axis=0)
    noise = (rows @ (np.eye(6) - fitted.B))[:, :3]
    variances = fitted.noise_variances[:3]
    density = -0.5 * (noise**2 / variances + np.log(2 * np.pi * variances)).sum()
    density += len(rows) * np.linalg.slogdet(np.eye(3) - fitted.B[:3, :3])[1]
    assert fitted.log_likelihood == pytest.approx(density)
    assert fitted.n_parameters == 7 + 3
    assert not any("t-1" in name for name in fitted.summary().index if name.startswith("var"))
    np.testing.assert_allclose(fitted.covariance[3:, 3:], fitted.moments.covariance[3:, 3:])


def test_the_saturated_model_is_a_regression_on_the_past():
    data = series(300, 4)
    past = past_names(NAMES, 1)
    edges = [*product(past, NAMES), ("gdp", "rate"), ("gdp", "oil"), ("rate", "oil")]
    indices = cl.fit(cl.DirectedGraph.from_edges(edges, (*NAMES, *past)), data, lags=1).fit_indices
    X = lagged(data, 1).to_numpy()
    design = np.column_stack([X[:, 3:], np.ones(len(X))])
    left = X[:, :3] - design @ np.linalg.lstsq(design, X[:, :3], rcond=None)[0]
    log_det = np.linalg.slogdet(left.T @ left / len(X))[1]
    saturated = -0.5 * len(X) * (log_det + 3 * (1 + np.log(2 * np.pi)))
    assert indices.log_likelihood == pytest.approx(saturated)
    assert indices.saturated_log_likelihood == pytest.approx(saturated)
    assert (indices.degrees_of_freedom, indices.dimension) == (0, 15)
    assert indices.srmr == pytest.approx(0, abs=1e-9)


def test_the_test_of_fit_has_its_level_although_the_past_is_dependent():
    n = 80
    fits = [cl.fit(TRUTH, series(500, seed), lags=1, n_starts=1) for seed in range(100, 100 + n)]
    df = fits[0].fit_indices.degrees_of_freedom
    assert df == 15 - 10
    mean = np.mean([fitted.fit_indices.chi_square for fitted in fits])
    assert mean == pytest.approx(df, abs=3.5 * np.sqrt(2 * df / n))


def graphs_given_the_past():
    """All graphs of two variables whose last row may cause them."""
    names = ("a", "b", "a[t-1]", "b[t-1]")
    offered = [("a", "b"), ("b", "a"), *product(names[2:], names[:2])]
    for chosen in product((False, True), repeat=len(offered)):
        kept = [edge for edge, holds in zip(offered, chosen, strict=True) if holds]
        yield cl.DirectedGraph.from_edges(kept, names)


def distribution(graph, seed):
    """Moments of a random model whose past is dependent."""
    rng = np.random.default_rng(seed)
    A = graph.adjacency
    B = np.where(A, rng.uniform(0.3, 0.9, A.shape) * rng.choice([-1, 1], A.shape), 0.0)
    noise = np.diag(rng.uniform(0.5, 2, 4))
    noise[2, 3] = noise[3, 2] = rng.uniform(0.2, 0.45)
    M = np.linalg.inv(np.eye(4) - B)
    S = M.T @ noise @ M
    saturated = -0.5 * np.linalg.slogdet(S)[1] + 0.5 * np.linalg.slogdet(S[2:, 2:])[1]
    return cl.Moments(S, 1_000, names=graph.names, exogenous=graph.names[2:]), saturated


def gap(graph, moments, saturated):
    """Divergence of the best fit from the truth, a row, given the past."""
    fitted = cl.fit(graph, moments, n_starts=3)
    return saturated - (fitted.log_likelihood / 1_000 + np.log(2 * np.pi) + 1)


def test_the_class_given_the_past_is_that_of_all_distributions_given_a_dependent_past():
    past = ["a[t-1]", "b[t-1]"]
    graphs = list(graphs_given_the_past())
    classes = [InterventionalClass(graph, [past]) for graph in graphs]
    shown = [g for g, c in zip(graphs, classes, strict=True) if c.representative == g]
    drawn = {graph: [distribution(graph, seed) for seed in range(3)] for graph in shown}
    n_pairs = 0
    for graph in shown:
        members = InterventionalClass(graph, [past])
        plain = [h for h in cl.equivalence_class(graph) if not (h.adjacency[:, 2:]).any()]
        assert set(members) == set(plain)
        for other in shown:
            if other == graph or other.n_edges != graph.n_edges:
                continue
            gaps = (gap(other, *each) for each in drawn[graph])
            back = (gap(graph, *each) for each in drawn[other])
            n_pairs += 1
            if other in members:
                assert max(*gaps, *back) < 1e-7
            else:
                assert any(each > 1e-5 for each in gaps) or any(each > 1e-5 for each in back)
    assert n_pairs > 300


def test_the_past_stays_within_its_group():
    long = pd.concat([series(60, 1).assign(who="s1"), series(40, 2).assign(who="s2")])
    fitted = cl.fit(TRUTH, long, groups="who", lags=1)
    assert [model.n_samples for model in fitted.models.values()] == [59, 39]
    alone = cl.fit(TRUTH, series(40, 2), lags=1)
    np.testing.assert_allclose(fitted.models["s2"].B, alone.B)


def test_groups_whose_rows_are_mixed_are_refused():
    mixed = series(60, 1).assign(who=["s1", "s2"] * 30)
    for function in (cl.learn, lambda data, **options: cl.fit(TRUTH, data, **options)):
        with pytest.raises(InputError, match="sort the rows by group and time"):
            function(mixed, groups="who", lags=1)
    tidy = mixed.sort_values("who", kind="stable")
    assert len(cl.fit(TRUTH, tidy, groups="who", lags=1).models) == 2


def test_a_graph_without_the_past_is_tested_as_one_in_which_it_causes_nothing():
    data = series(200, 5)
    within = cl.DirectedGraph.from_edges([("gdp", "rate")], NAMES)
    fitted = cl.fit(within, data, lags=1)
    assert fitted.names == TRUTH.names
    assert fitted.fit_indices.degrees_of_freedom == 15 - 4
    assert fitted.fit_indices.p_value < 1e-10


def test_lags_of_several_rows_and_columns_without_names():
    X = series(50, 6).to_numpy()
    rows = lagged(pd.DataFrame(X, columns=["X1", "X2", "X3"]), 2)
    assert list(rows.columns[3:5]) == ["X1[t-1]", "X2[t-1]"]
    np.testing.assert_array_equal(rows.to_numpy()[0], np.concatenate([X[2], X[1], X[0]]))
    found = cl.CyclicGraphLearner(lags=2, n_starts=1).fit(X)
    assert found.adjacency_.shape == (9, 9)
    assert not found.adjacency_[:, 3:].any()
    with pytest.raises(InputError, match="lags is 2"):
        found.score(X)


@pytest.mark.parametrize("method", ["exact", "tabu"])
def test_every_method_leaves_the_past_without_causes(method):
    data = series(400, 1)[["rate", "oil"]]
    best, other = cl.learn(data, lags=1), cl.learn(data, lags=1, method=method)
    assert other.score == pytest.approx(best.score)
    assert not other.graph.adjacency[:, 2:].any()


def test_holes_cost_the_rows_that_look_back_on_them():
    data = series(100, 7)
    data.iloc[50, 1] = np.nan
    assert cl.fit(TRUTH, data, lags=1, missing="rows").n_samples == 97


def test_ranks_are_taken_before_rows_look_back():
    data = series(300, 8)
    bent = np.exp(data)
    one, other = (cl.fit(TRUTH, d, lags=1, margins="rank") for d in (data, bent))
    np.testing.assert_allclose(one.B, other.B)


def test_memory_that_the_lags_leave_is_a_warning():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 2))
    for t in range(2, 600):
        X[t] += 0.8 * X[t - 2]
    assert [w.code for w in cl.check_data(X, lags=1)] == ["too_few_lags"]
    assert cl.check_data(X, lags=2) == ()


def test_bootstrap_and_posterior_keep_the_past_without_causes():
    data = series(300, 9)
    resampled = cl.bootstrap(data, 3, lags=1, n_starts=1)
    assert resampled.names == TRUTH.names
    assert not resampled.edge_frequencies[:, 3:].any()
    probable = cl.posterior(data, lags=1, effective_size=50)
    assert not probable.edge_probabilities().iloc[:, 3:].to_numpy().any()
    assert probable.edge_probabilities().loc["gdp[t-1]", "gdp"] > 0.9


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"lags": -1}, "lags"),
        ({"lags": None}, "lags is None"),
        ({"lags": 1, "missing": "em"}, "missing='em' cannot be combined with lags"),
        ({"lags": 99}, "100 rows"),
        ({"lags": 1, "interventions": [[]]}, "lags=1 cannot be combined with interventions"),
        ({"lags": 1, "knowledge": cl.Knowledge(required=[("gdp", "gdp[t-1]")])}, "is exogenous"),
    ],
)
def test_what_does_not_go_together_is_refused_by_name(options, words):
    data = series(100, 1)
    with pytest.raises(InputError, match=words.replace("[", r"\[")):
        cl.learn([data] if "interventions" in options else data, **options)


def test_other_refusals(found):
    data = series(100, 1)
    with pytest.raises(InputError, match="Moments, which have no rows"):
        cl.learn(cl.Moments(np.eye(2), 50), lags=1)
    with pytest.raises(InputError, match="rename it"):
        cl.learn(data.rename(columns={"oil": "gdp[t-1]"}), lags=1)
    with pytest.raises(InputError, match="nothing causes it"):
        cl.fit(cl.DirectedGraph.from_edges([("gdp", "gdp[t-1]")], TRUTH.names), data, lags=1)
    with pytest.raises(InputError, match="lags"):
        found.hidden_causes()
    with pytest.raises(InputError, match="lags"):
        found.rank_members(data)
    with pytest.raises(InputError, match="within_graph"):
        cl.next_experiment(found)


def test_the_command_line_takes_lags(cyclearn, tmp_path):
    series(300, 2).to_csv(tmp_path / "macro.csv", index=False)
    options = ("--lags", "1", "--starts", "1", "--no-posterior")
    done = cyclearn("learn", str(tmp_path / "macro.csv"), *options)
    assert done.returncode == 0
    assert "Over time:" in done.stdout
