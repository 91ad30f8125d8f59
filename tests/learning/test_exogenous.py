"""Variables taken as given: one meaning in every call and on every surface."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import cyclearn as cl
from command_line import run_cyclearn
from cyclearn.foundation.errors import InputError
from cyclearn.results.member_ranking import rank_members

DAYS = ["mon", "tue", "wed"]
TRUTH = cl.DirectedGraph.from_edges(
    [("waves", "price"), ("price", "amount"), ("amount", "price"), ("mon", "amount")],
    ["price", "amount", "waves", *DAYS],
)


def market(n=600, seed=0):
    """Prices and amounts that drive each other, weekdays, and waves that are larger on Mondays."""
    rng = np.random.default_rng(seed)
    day = rng.integers(0, 4, n)
    days = np.array([day == k for k in range(3)], dtype=float).T
    waves = rng.standard_normal(n) + days[:, 0]
    B = np.array([[0, -0.6], [0.4, 0]])
    own = rng.standard_normal((n, 2))
    own[:, 0] += 0.9 * waves
    own[:, 1] += 1.2 * days[:, 0]
    pair = own @ np.linalg.inv(np.eye(2) - B)
    return pd.DataFrame(np.column_stack([pair, waves, days]), columns=list(TRUTH.names))


GIVEN = ["waves", *DAYS]


@pytest.fixture(scope="module")
def found():
    return cl.learn(market(), exogenous=GIVEN, n_starts=1)


def test_knowledge_and_reading_mean_the_same(found):
    known = cl.learn(market(), knowledge=cl.Knowledge(exogenous=GIVEN), n_starts=1)
    assert known.score == found.score
    assert known.graph == found.graph
    assert known.exogenous == found.exogenous == tuple(GIVEN)
    assert known.model.fit_indices == found.model.fit_indices
    half = cl.learn(
        market(), knowledge=cl.Knowledge(exogenous=DAYS), exogenous=["waves"], n_starts=1
    )
    assert set(half.exogenous) == set(GIVEN)
    assert half.score == found.score
    assert known.knowledge.exogenous == tuple(GIVEN)


def test_the_truth_is_found_and_no_edge_leads_into_what_is_given(found):
    assert TRUTH in found.equivalence_class
    assert not any(target in GIVEN for _, target in found.graph.edges)
    # The loop with its two equations exchanged has the same distributions, and is unstable.
    members = set(found.equivalence_class)
    assert len(members) == found.n_equally_good == 2
    assert not any(target in GIVEN for graph in members for _, target in graph.edges)
    # Without being told, what the weekdays have to do with each other costs edges.
    assert cl.learn(market(), n_starts=1).graph.n_edges > found.graph.n_edges


def test_what_is_learned_is_what_fit_gives(found):
    fitted = cl.fit(found.graph, market(), exogenous=GIVEN)
    assert fitted.log_likelihood == found.model.log_likelihood
    assert found.score == pytest.approx(-fitted.log_likelihood + found.penalty * 4)
    assert fitted.exogenous == tuple(GIVEN)
    p, e = 6, 4
    moments = p * (p + 1) // 2 - e * (e + 1) // 2
    assert fitted.fit_indices.degrees_of_freedom == moments - 4 - 2


def test_names_that_only_count_and_moments(found):
    data = market()
    unnamed = cl.fit(cl.DirectedGraph(TRUTH.adjacency), data.to_numpy(), exogenous=["X3", "X4"])
    assert unnamed.exogenous == ("X3", "X4")
    moments = cl.Moments(
        np.cov(data.to_numpy().T, bias=True), len(data), names=list(data.columns), exogenous=DAYS
    )
    given = cl.fit(TRUTH, moments, exogenous=["waves"], n_effective="all")
    assert set(given.exogenous) == set(GIVEN)
    assert given.fit_indices.chi_square == pytest.approx(found.model.fit_indices.chi_square)


def test_a_result_is_saved_and_read(found):
    again = cl.LearnResult.from_json(found.to_json())
    assert again == found
    assert again.exogenous == found.exogenous
    assert again.model.fit_indices == found.model.fit_indices
    record = json.loads(found.to_json())
    record["tables"][0]["moments"]["exogenous"] = ["nobody"]
    with pytest.raises(InputError, match="damaged"):
        cl.LearnResult.from_dict(record)


def test_words_say_what_is_taken_as_given(found, tmp_path):
    words = "Exogenous: waves, mon, tue, wed."
    assert words in str(found)
    assert words in str(cl.fit(TRUTH, market(), exogenous=GIVEN))
    page = found.report(tmp_path / "page.html").read_text()
    assert words in page
    assert "Exogenous" not in str(cl.learn(market()[["price", "amount"]]))


def test_posterior_and_bootstrap():
    few = market(150)[["price", "waves", "mon"]]
    sampled = cl.posterior(few, exogenous=["waves", "mon"], robust=False, effective_size=100)
    assert sampled.edge_probabilities().to_numpy()[:, 1:].max() == 0
    assert sampled.edge_probabilities().loc["waves", "price"] > 0.9
    assert cl.Posterior.from_json(sampled.to_json()).moments.exogenous == ("waves", "mon")
    resampled = cl.bootstrap(market(150), 3, exogenous=GIVEN, n_starts=1, random_state=1)
    assert not any(j >= 2 for each in resampled.resamples for _, j in each.edges)
    assert resampled.options["exogenous"] == GIVEN


def test_groups_lags_ranks_and_pairs_take_them_too():
    data = market(300).assign(half=["a", "b"] * 150)
    grouped = cl.learn(data, groups="half", exogenous=GIVEN, n_starts=1)
    assert grouped.exogenous == tuple(GIVEN)
    assert all(model.exogenous == tuple(GIVEN) for model in grouped.models.values())
    lagged = cl.learn(market(300)[["price", "waves"]], lags=1, exogenous=["waves"], n_starts=1)
    assert lagged.past == ("price[t-1]", "waves[t-1]")
    assert set(lagged.exogenous) == {"waves", *lagged.past}
    assert lagged.graph.parents("waves") == ()
    assert cl.LearnResult.from_json(lagged.to_json()) == lagged
    again = cl.bootstrap(market(90)[["price", "waves"]], 2, lags=1, exogenous=["waves"], n_starts=1)
    assert not any(j == 1 for each in again.resamples for _, j in each.edges)
    holes = market(300)
    holes.iloc[::7, 0] = np.nan
    for reading in ({"margins": "rank"}, {"covariance": "shrunk"}, {"missing": "pairwise"}):
        table = holes if "missing" in reading else market(300)
        assert cl.fit(TRUTH, table, exogenous=GIVEN, **reading).exogenous == tuple(GIVEN)


@pytest.mark.parametrize("kind", ["perfect", "noise"])
def test_interventions_take_them_too(kind):
    data = market(400)
    tables, targets = [data[:200], data[200:].reset_index(drop=True)], [[], ["price"]]
    options = {"interventions": targets, "intervention_kind": kind, "n_effective": "all"}
    fitted = cl.fit(TRUTH, tables, exogenous=GIVEN, **options)
    assert fitted.exogenous == tuple(GIVEN)
    # The same with the four as further variables: they add a likelihood of their own.
    whole = cl.fit(TRUTH, tables, **options)
    assert pytest.approx(fitted.B, abs=1e-6) == whole.B
    assert fitted.n_parameters == whole.n_parameters - 4
    assert fitted.log_likelihood > whole.log_likelihood
    if kind == "perfect":
        set_too = cl.fit(TRUTH, tables, **options | {"interventions": [GIVEN, [*GIVEN, "price"]]})
        assert set_too.log_likelihood == pytest.approx(fitted.log_likelihood)
        learned = cl.learn(tables, exogenous=GIVEN, n_starts=1, **options)
        assert learned.graph.parents("waves") == ()
        assert learned.equivalence_class.design.always_targeted == (2, 3, 4, 5)
        assert cl.LearnResult.from_json(learned.to_json()) == learned
        assert learned.do({"price": 1.0}).loc["waves", "mean"] == pytest.approx(
            data["waves"].mean()
        )


def test_holding_a_variable_leaves_what_is_given_as_variable_as_it_was(found):
    model, S = found.model, np.cov(market().to_numpy().T, bias=True)
    i, j = TRUTH.index("price"), TRUTH.index("amount")
    B = model.B.copy()
    B[:, i] = 0
    noise = np.diag(model.noise_variances)
    noise[2:, 2:] = S[2:, 2:]
    noise[i, i] = 0
    reach = np.linalg.inv(np.eye(6) - B)[:, j]
    sd = np.sqrt(reach @ noise @ reach)
    assert found.effects("price", "amount").do(0.0)["sd"].tolist() == pytest.approx([sd])
    assert found.do({"price": 0.0}).loc["amount", "sd"] == pytest.approx(sd)
    known = cl.Knowledge(exogenous=GIVEN)
    apart = cl.class_effects(found.graph, market(), "price", "amount", knowledge=known)
    assert apart.do(0.0)["sd"].tolist() == pytest.approx([sd])


def test_members_are_ranked_by_noise_alone():
    rng = np.random.default_rng(0)
    season = (rng.random(400) < 0.2).astype(float)
    a = season + rng.standard_normal(400)
    data = pd.DataFrame({"season": season, "a": a, "b": 0.7 * a + rng.standard_normal(400)})
    chains = [
        cl.DirectedGraph.from_edges([("a", "b"), ("season", each)], list(data)) for each in "ab"
    ]
    shown = cl.fit(chains[0], data, exogenous=["season"]).model
    known = cl.Knowledge(exogenous=["season"])
    assert not rank_members(chains, data, [shown], knowledge=known).is_clear


def test_scores_of_the_estimator_are_given_what_is_exogenous():
    data = market()
    learner = cl.CyclicGraphLearner(exogenous=GIVEN, n_starts=1, n_effective="all").fit(data)
    assert learner.score(data) * len(data) == pytest.approx(learner.result_.model.log_likelihood)


def test_indicators_of_one_variable_are_recognised():
    found = {each.code: each for each in cl.check_data(market())}
    assert found["indicator_columns"].columns == tuple(DAYS)
    assert f"exogenous={DAYS!r}" in found["indicator_columns"].remedy
    assert "exogenous=" not in found["indicator_columns"].page_remedy
    given = {each.code for each in cl.check_data(market(), exogenous=DAYS)}
    assert "indicator_columns" not in given
    # Two-valued columns that have nothing to do with each other, and rare ones, are none.
    rng = np.random.default_rng(0)
    loose = pd.DataFrame((rng.random((300, 6)) < [0.5, 0.3, 0.05, 0.05, 0.01, 0.01]).astype(float))
    loose[6] = rng.standard_normal(300)
    assert "indicator_columns" not in {each.code for each in cl.check_data(loose)}


def test_what_is_given_need_be_neither_gaussian_nor_without_memory():
    n = 600
    rng = np.random.default_rng(3)
    trend = np.arange(n) / n
    season = np.repeat([0.0, 1.0, 0.0, 1.0], n // 4)
    a = 3 * trend + season + rng.standard_normal(n)
    data = pd.DataFrame({"trend": trend, "season": season, "a": a})
    data["b"] = 0.6 * a + rng.standard_normal(n)
    assert cl.check_data(data)
    assert cl.check_data(data, exogenous=["trend", "season"]) == ()
    assert cl.learn(data, exogenous=["trend", "season"]).tables.n_effective == n


def test_the_command_line(tmp_path, capsys):
    table, graph = tmp_path / "market.csv", tmp_path / "graph.txt"
    market(200).to_csv(table, index=False)
    graph.write_text("\n".join(f"{a} -> {b}" for a, b in TRUTH.edges))
    given = ",".join(GIVEN)
    words = f"Exogenous: {', '.join(GIVEN)}."
    assert words in run_cyclearn(["fit", table, graph, "--exogenous", given], capsys).stdout
    listed = run_cyclearn(["class", graph, "--exogenous", "waves, mon", "--json"], capsys)
    assert json.loads(listed.stdout)["size"] == 2
    refused = run_cyclearn(["class", graph, "--exogenous", "waves", "--acyclic"], capsys)
    assert refused.returncode == 2
    assert "--exogenous" in refused.stderr
    learned = ["learn", table, "--exogenous", given, "--starts", "1", "--no-posterior"]
    assert words in run_cyclearn(learned, capsys).stdout
