import json
from itertools import combinations

import numpy as np
import pytest

import cyclearn as cl
from cyclearn.data import Moments
from cyclearn.graphs import random_graph
from cyclearn.identifiability.settling_rows import (
    Experiment,
    Rival,
    best_columns,
    rows_to_settle,
    scaled_columns,
    table_values,
    wins_with,
)
from cyclearn.models import random_model

CHAIN = cl.LinearGaussianModel(
    [[0, 0.7, 0, 0], [0, 0, 0.6, 0], [0, 0, 0, 0.8], [0, 0, 0, 0]], [1, 1, 1, 1], list("abcd")
)


@pytest.fixture(scope="module")
def result():
    return cl.learn(Moments(CHAIN.covariance, 1000, CHAIN.mean, CHAIN.names))


def test_the_partition_is_that_of_the_classes_under_the_design():
    for seed in range(4):
        graph = random_graph(5, max_degree=3, random_state=seed)
        members = cl.equivalence_class(graph)
        advice = cl.next_experiment(members, size=1 + seed % 2)
        assert sum(len(part) for part in advice.left(advice.best.targets)) == members.size
        for candidate in advice.candidates[::2]:
            parts = advice.left(candidate.targets)
            assert candidate.n_classes == len(parts)
            assert candidate.largest_left == len(parts[0])
            expected = sum(len(part) ** 2 for part in parts) / members.size
            assert candidate.expected_left == pytest.approx(expected)
            for part in parts:
                under = cl.equivalence_class(part[0], interventions=[[], candidate.targets])
                assert {g for g in members if g in under} == set(part)


def test_following_the_advice_settles_a_chain():
    after = cl.equivalence_class(CHAIN.graph)
    tables = [[]]
    while after.size > 1:
        tables.append(list(cl.next_experiment(after).best.targets))
        smaller = cl.equivalence_class(CHAIN.graph, interventions=tables)
        assert smaller.size < after.size
        after = smaller
    assert len(tables) <= 3
    assert "no experiment is needed" in str(cl.next_experiment(after))


def test_rows_of_a_pair_follow_from_the_divergence():
    # a → b with weight w against b → a, with the observed distribution known: setting a, the
    # rival says that b does not follow a at all.
    w = 0.5
    truth = cl.LinearGaussianModel([[0, w], [0, 0]], [1, 1], ["a", "b"])
    turned = cl.DirectedGraph.from_edges([("b", "a")], ["a", "b"])
    rival = cl.fit(turned, Moments(truth.covariance, 100, names=["a", "b"])).model
    experiment = Experiment(truth, (0,), np.inf)
    gap = table_values(experiment.tables, scaled_columns(rival)) - table_values(
        experiment.tables, experiment.columns
    )
    assert gap[0] == pytest.approx(0, abs=1e-9)
    # KL of N(w x, 1) from N(0, 1 + w²), with x of variance one.
    assert gap[1] == pytest.approx(0.5 * np.log(1 + w**2))
    rows = rows_to_settle(truth, [Rival(turned, (rival,))], [0], n_observed=np.inf)
    rng = np.random.default_rng(0)
    a = rng.standard_normal((2000, int(rows)))
    b = w * a + rng.standard_normal(a.shape)
    ratio = 0.5 * (b**2 / (1 + w**2) - (b - w * a) ** 2 + np.log(1 + w**2)).sum(axis=1)
    wins = (ratio > 0).mean()
    assert 0.86 < wins < 0.95
    more = rows_to_settle(truth, [Rival(turned, (rival,))], [0], n_observed=20)
    assert more > rows


def test_one_row_wins_as_often_as_it_does_in_draws():
    # As above: one row of the pair with a set at random favours the true direction or the other.
    truth = cl.LinearGaussianModel([[0, 2.0], [0, 0]], [1, 1], ["a", "b"])
    turned = cl.DirectedGraph.from_edges([("b", "a")], ["a", "b"])
    rival = Rival(turned, (cl.fit(turned, Moments(truth.covariance, 9, names=["a", "b"])).model,))
    a, noise = np.random.default_rng(0).standard_normal((2, 20_000))
    ratio = 0.5 * ((2 * a + noise) ** 2 / 5 - noise**2 + np.log(5))
    won = wins_with(1, truth, [rival], [0], np.inf)
    assert won == pytest.approx((ratio > 0).mean(), abs=0.04)
    assert won < wins_with(8, truth, [rival], [0], np.inf)


def test_the_best_columns_are_a_minimum_over_both_tables():
    graph = random_graph(4, max_degree=4, random_state=3)
    truth = random_model(graph, random_state=3)
    other = next(g for g in cl.equivalence_class(graph) if g != graph.reduced())
    start = scaled_columns(cl.fit(other, Moments(truth.covariance, 100, names=truth.names)).model)
    experiment = Experiment(truth, (1,), 100)
    counts = np.array([100.0, 300.0])
    Q = best_columns(experiment.tables, other, start, counts)
    least = counts @ table_values(experiment.tables, Q)
    assert least <= counts @ table_values(experiment.tables, start)
    assert least >= counts @ table_values(experiment.tables, experiment.columns) - 1e-9
    rng = np.random.default_rng(0)
    for _ in range(50):
        near = Q + np.where(other.support, 1e-3 * rng.standard_normal(Q.shape), 0)
        assert counts @ table_values(experiment.tables, near) > least - 1e-9


def test_a_result_says_rows_and_can_be_shown(result, cyclearn, tmp_path):
    advice = cl.next_experiment(result, ["b", "a"])
    assert advice.best.targets == ("b",)
    assert advice.table["rows"].between(6, 500).all()
    assert (advice.table["rows_typical"] <= advice.table["rows"]).all()
    assert "90% of repeats" in str(advice)
    json.dumps(advice.to_dict(), allow_nan=False)
    axes = advice.plot()
    assert axes.get_yticklabels()[0].get_text() == advice.best.targets[0]
    (tmp_path / "result.json").write_text(result.to_json())
    record = json.loads(cyclearn("next", "result.json", "--targets", "b", "--json").stdout)
    assert record["candidates"][0]["rows"] == advice.table.set_index("targets").at["b", "rows"]
    refused = cyclearn("next", "result.json", "--do", "a")
    assert (refused.returncode, "graph file" in refused.stderr) == (2, True)


def test_what_cannot_be_planned_is_refused_in_words(refused, tmp_path):
    (tmp_path / "m.csv").write_text("a,b\n1,2\n")
    assert "cyclearn learn m.csv --out result.json" in refused("next", "m.csv")
    (tmp_path / "chain.txt").write_text("a -> b\nb -> c\n")
    assert "give one" in refused("next", "chain.txt", "--targets", "a", "--size", "2")


def test_single_rows_are_ranked_by_how_often_they_find_the_truth(result, cyclearn, tmp_path):
    advice = cl.next_experiment(result, rows=1)
    found = advice.table["wins"] / advice.table["expected_left"]
    assert found.is_monotonic_decreasing
    assert advice.table["rows"].isna().all()
    assert advice.table["wins"].between(0, 1).all()
    assert f"With 1 row, the true graph has the best likelihood in {advice.best.wins:.0%}" in str(
        advice
    )
    (tmp_path / "result.json").write_text(result.to_json())
    record = json.loads(cyclearn("next", "result.json", "--rows", "1", "--json").stdout)
    assert record["rows"] == 1
    assert record["candidates"][0]["wins"] == advice.best.wins
    with pytest.raises(cl.InputError, match="rows=1 needs weights"):
        cl.next_experiment(CHAIN.graph, rows=1)


def test_the_command_takes_graphs_and_tables_already_there(cyclearn, tmp_path):
    (tmp_path / "chain.txt").write_text("a -> b\nb -> c\n")
    out = cyclearn("next", "chain.txt")
    assert out.returncode == 0
    assert "3 graphs remain. Intervening on b leaves 1 on average" in out.stdout
    assert "rows" not in out.stdout
    settled = cyclearn("next", "chain.txt", "--do", "b")
    assert (settled.returncode, "no experiment is needed" in settled.stdout) == (1, True)


def test_a_posterior_weighs_the_graphs_of_all_classes():
    options = {"effective_size": 50, "robust": False}
    learned = cl.learn(CHAIN.sample(60, random_state=0), posterior=options)
    advice = cl.next_experiment(learned, max_members=12, batch=2, max_predicted=0)
    found = learned.posterior
    likely = np.argsort(-found.weights, kind="stable")[:12]
    graphs = [cl.DirectedGraph(found.adjacencies[k].astype(bool), found.names) for k in likely]
    shares = found.weights[likely] / found.weights[likely].sum()
    several = [(one, [one]) for one in advice.candidates] + [(advice.batch[-1], advice.batch)]
    for candidate, done in several:
        design = [[], *(list(one.targets) for one in done)]
        classes = [cl.equivalence_class(graph, interventions=design) for graph in graphs]
        together = np.array([[graph in each for graph in graphs] for each in classes])
        assert candidate.probability_left == pytest.approx(shares @ together @ shares)
    left = [candidate.probability_left for candidate in advice.candidates]
    assert left == sorted(left)
    assert left[0] < left[-1]
    assert f"leaves {left[0]:.0%} of the probability on average" in str(advice)


def test_ties_count_as_open_where_an_experiment_gives_the_same():
    # A 3-cycle and a complete graph generate one distribution; with b set, c → a alone is left in
    # a cycle, and the complete graphs differ among themselves.
    cycle = cl.LinearGaussianModel([[0, 0.5, 0], [0, 0, 0.6], [0.7, 0, 0]], [1, 1, 1], list("abc"))
    learned = cl.learn(Moments(cycle.covariance, 10_000, names=cycle.names))
    assert learned.alternatives
    advice = cl.next_experiment(learned, max_truths=1)
    assert advice.size > 1
    assert all(1 <= c.n_classes <= advice.size for c in advice.candidates)


def test_groups_are_planned_for_by_structure():
    groups = {name: CHAIN.sample(300, random_state=n) for n, name in enumerate("st")}
    learned = cl.learn(groups, n_starts=1)
    advice = cl.next_experiment(learned)
    assert advice.table["rows"].isna().all()
    named = cl.next_experiment(learned, ["b"], model=learned.models["s"], max_truths=1)
    assert np.isfinite(named.best.rows)


def test_knowledge_holds_for_tables_with_interventions():
    observed = CHAIN.sample(300, random_state=0)
    held = observed.assign(d=np.random.default_rng(0).normal(size=300))
    knowledge = cl.Knowledge(forbidden=[("b", "a")])
    learned = cl.learn([observed, held], interventions=[[], ["d"]], knowledge=knowledge, n_starts=1)
    for graph in cl.next_experiment(learned).graphs:
        assert ("b", "a") not in graph.edges


def test_large_classes_are_sampled():
    complete = cl.DirectedGraph(np.triu(np.ones((4, 4)), 1))
    whole = cl.next_experiment(complete, max_members=1_000)
    drawn = cl.next_experiment(complete, max_members=60)
    assert (whole.selection, drawn.selection, len(drawn.graphs)) == ("all", "sampled", 60)
    assert drawn.size == whole.size
    assert drawn.best.expected_left == pytest.approx(whole.best.expected_left, rel=0.5)
    assert "drawn at random" in str(drawn)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"targets": "a"}, "list of experiments"),
        ({"targets": []}, "at least one"),
        ({"targets": ["z"]}, "z"),
        ({"targets": [list("abcd")]}, "all variables"),
        ({"targets": [[]]}, "no variables"),
        ({"size": 4}, "at least one of them free"),
        ({"confidence": 1.0}, "confidence"),
    ],
)
def test_bad_input(options, words):
    with pytest.raises(cl.InputError, match=words):
        cl.next_experiment(CHAIN.graph, **options)


def test_what_is_refused_by_name():
    under = cl.equivalence_class(CHAIN.graph, interventions=[[], ["a"]])
    with pytest.raises(cl.InputError, match="rows can be predicted only"):
        cl.next_experiment(under, model=CHAIN)
    with pytest.raises(cl.InputError, match="got str; give a result of learn"):
        cl.next_experiment("chain")
    big = cl.DirectedGraph(np.zeros((40, 40)))
    with pytest.raises(cl.LimitError, match="with targets"):
        cl.next_experiment(big, size=5)


@pytest.mark.parametrize("seed", range(4))
def test_a_batch_is_greedy_and_no_better_than_the_best_of_all(seed):
    """Against the classes under every pair of experiments, counted one by one."""
    graph = random_graph(5, max_component=4, random_state=seed).reduced()
    members = list(cl.equivalence_class(graph))
    advice = cl.next_experiment(graph, batch=2)

    def left(targets):
        tables = [[], *([t] for t in targets)]
        sizes = [cl.equivalence_class(g, interventions=tables).size for g in members]
        return float(np.mean(sizes))

    chosen = [one.targets[0] for one in advice.batch]
    assert advice.batch[0] == advice.best
    assert [left(chosen[: k + 1]) for k in range(len(chosen))] == pytest.approx(
        [one.expected_left for one in advice.batch]
    )
    pairs = {pair: left(pair) for pair in combinations(graph.names, 2)}
    beside = [value for pair, value in pairs.items() if chosen[0] in pair]
    assert advice.batch[-1].expected_left == pytest.approx(min(beside))
    assert advice.batch[-1].expected_left >= min(pairs.values()) - 1e-9
    assert advice.to_dict()["batch"][0]["targets"] == [chosen[0]]


def test_a_batch_ends_where_nothing_is_left_to_tell():
    pair = cl.DirectedGraph.from_edges([("a", "b")])
    advice = cl.next_experiment(pair, batch=2)
    assert [one.targets for one in advice.batch] == [("a",)]
    assert "Intervening on a leaves 1 on average" in str(advice)
    assert cl.next_experiment(pair).batch == ()
    with pytest.raises(cl.InputError, match="batch"):
        cl.next_experiment(pair, batch=0)
