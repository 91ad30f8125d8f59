"""Targets that nobody recorded, learned with the graph."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

import cyclearn as cl
from cyclearn.data.reading import Reading
from cyclearn.search.unknown_targets import TargetSearch

LOOP = cl.LinearGaussianModel(
    [[0, 0.8, 0, 0], [0, 0, 0.9, 0], [0, -0.5, 0, 0.7], [0, 0, 0, 0]],
    [1, 1, 1, 1],
    ["light", "sugar", "growth", "height"],
)


def rows_of(model, n, seed, *, variance=(), shift=()):
    """Rows in which some noises have four times the variance, or are shifted by one deviation."""
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((n, model.n_variables)) * np.sqrt(model.noise_variances)
    for name in variance:
        noise[:, model.names.index(name)] *= 2
    for name in shift:
        j = model.names.index(name)
        noise[:, j] += np.sqrt(model.noise_variances[j])
    X = noise @ np.linalg.inv(np.eye(model.n_variables) - model.B)
    return pd.DataFrame(X, columns=model.names)


@pytest.fixture(scope="module")
def tables():
    return {
        "plain": rows_of(LOOP, 400, 0),
        "hot": rows_of(LOOP, 400, 1, variance=["height"]),
        "fed": rows_of(LOOP, 400, 2, shift=["sugar"]),
    }


@pytest.fixture(scope="module")
def learned(tables):
    return cl.learn(tables, interventions="unknown", n_starts=1)


def test_graph_and_targets_are_learned_together(learned, tables):
    assert learned.graph == LOOP.graph
    assert learned.targets == {"plain": (), "hot": ("height",), "fed": ("sugar",)}
    cost = learned.penalty * (4 + 2 * 2)
    assert learned.score == pytest.approx(cost - learned.model.log_likelihood)
    # A rival has the same targets, which cost the same.
    rival = learned.rivals().without_feedback
    fitted = cl.fit(
        rival.graph,
        tables,
        interventions=list(learned.targets.values()),
        intervention_kind="noise",
    )
    other = learned.penalty * (rival.graph.n_edges + 4) - fitted.log_likelihood
    assert rival.difference == pytest.approx(other - learned.score, abs=1e-5)


def test_the_answer_says_how_probable_targets_are_and_what_differs(learned):
    table = learned.target_table().set_index(["table", "variable"])
    assert (table["target"] == (table["probability"] > 0.5)).all()
    hot, fed = table.loc["hot", "height"], table.loc["fed", "sugar"]
    assert hot["variance_ratio"] == pytest.approx(4, rel=0.3)
    assert fed["shift"] == pytest.approx(1, abs=0.2)
    assert fed["variance_ratio"] == pytest.approx(1, abs=0.3)
    # Light is no part of the loop: no turned cycle swaps its noise with that of sugar.
    assert fed["or_rather"] == "growth"
    assert hot["or_rather"] == ""
    text = str(learned)
    assert "table fed: sugar 1.00" in text
    assert "table plain: none" in text
    assert "sugar can be distinguished from a parent in the loop only by" in text
    assert "unknown targets" in text


def test_targets_are_kept_in_a_file_and_reported(learned, tmp_path):
    again = cl.load(learned.save(tmp_path / "r.json"))
    assert again == learned
    assert again.targets == learned.targets
    assert again.target_table().equals(learned.target_table())
    page = learned.report(tmp_path / "r.html").read_text()
    assert "Within a feedback loop, targets are determined only up to equivalence" in page
    assert "What differs between tables" in page


def test_a_column_may_tell_tables_apart(tables, learned):
    together = pd.concat([rows.assign(day=name) for name, rows in tables.items()])
    found = cl.learn(together, groups="day", interventions="unknown", n_starts=1)
    assert found.graph == learned.graph
    assert found.targets == learned.targets


@pytest.mark.parametrize("edges", [[("a", "b")], [("a", "b"), ("b", "a")]])
def test_targets_of_a_graph_are_the_best_of_all(edges):
    """Against every set of targets of two nodes in three tables."""
    model = cl.LinearGaussianModel([[0, 0.7], [-0.4 * (len(edges) > 1), 0]], [1, 1], ["a", "b"])
    data = [
        rows_of(model, 100, 0),
        rows_of(model, 100, 1, variance=["a"]),
        rows_of(model, 100, 2, variance=["b"], shift=["b"]),
    ]
    tables = Reading(interventions="unknown").tables(data)
    search = TargetSearch(tables, 2.0, stable=True)
    graph = cl.DirectedGraph.from_edges(edges, ["a", "b"])
    score, found = search.best(graph, np.zeros((3, 2), dtype=bool))
    scores = {}
    for cells in product([False, True], repeat=6):
        mask = np.array(cells).reshape(3, 2)
        if mask.all(axis=0).any():
            continue
        targets = [[n for n, m in zip("ab", own, strict=True) if m] for own in mask]
        fitted = cl.fit(graph, data, interventions=targets, intervention_kind="noise")
        if fitted.is_stable:
            cost = 2.0 * (graph.n_edges + 2 * mask.sum() + mask[0].sum())
            scores[cells] = cost - fitted.log_likelihood
    best = min(scores, key=scores.get)
    assert tuple(found.ravel().tolist()) == best
    # Scores of the search leave a constant out.
    nothing = search.best(graph, found)[0] - scores[best]
    assert score - scores[best] == pytest.approx(nothing, abs=1e-6)


def test_members_are_ranked_with_the_targets_learned(tables, learned):
    ranking = learned.rank_members({name: rows.iloc[:, ::-1] for name, rows in tables.items()})
    assert ranking.n_rows == 1200
    # Where height is noisier, its rows do not show the ordinary noise.
    assert ranking.rows[0].shows(3).sum() == 800


def test_resamples_learn_targets_too(tables):
    two = [tables[name][["growth", "height"]] for name in ("plain", "hot")]
    found = cl.bootstrap(two, 1, interventions="unknown", n_starts=1, random_state=0)
    assert found.n_resamples == 1


def test_margins_hold_for_unknown_targets(tables):
    logs = np.log(10 + pd.concat([tables["plain"], tables["fed"]]).clip(-9, 9))
    raw = [np.exp(logs.iloc[:400]), np.exp(logs.iloc[400:])]
    read = Reading(interventions="unknown", margins="log").tables(raw)
    np.testing.assert_allclose(read.tables[1].rows, logs.iloc[400:])


def test_bad_input(tables):
    with pytest.raises(cl.InputError, match="table 2 has 4 rows for 4 variables"):
        cl.learn([tables["plain"], tables["hot"].iloc[:4]], interventions="unknown")
    with pytest.raises(cl.InputError, match="differences between tables"):
        cl.learn(tables["hot"], interventions="unknown")
    with pytest.raises(cl.InputError, match="needs known targets"):
        cl.fit(LOOP.graph, tables, interventions="unknown")
    with pytest.raises(cl.InputError, match="needs known targets"):
        cl.posterior(tables, interventions="unknown")
    with pytest.raises(cl.InputError, match="needs known targets"):
        cl.learn(tables, interventions="unknown", posterior=True)
    with pytest.raises(cl.InputError, match="no targets were learned"):
        cl.learn(tables["hot"], n_starts=1).target_table()
