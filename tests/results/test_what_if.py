"""Predictions of interventions: means, intervals, and all graphs that fit equally well."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

import cyclearn as cl
from cyclearn.models.predictions import EstimatedModel
from cyclearn.results.what_if import estimated

NAMES = ["costs", "income", "price", "quantity"]
MARKET = cl.LinearGaussianModel(
    [[0, 0, 0.7, 0], [0, 0, 0, 0.8], [0, 0, 0, -0.6], [0, 0, 0.5, 0]],
    [1, 1, 1, 1],
    NAMES,
    mean=[1, 2, 3, 4],
)


@pytest.fixture(scope="module")
def result():
    return cl.learn(MARKET.sample(2_000, random_state=0))


def test_means_are_those_of_the_model(result):
    model = result.model.model
    table = result.do({"price": 5.0})
    after = model.do({"price": 5.0})
    assert np.allclose(table["mean"], after.mean)
    assert np.allclose(table["sd"] ** 2, after.covariance.diagonal())
    assert np.allclose(table["now"], model.mean)
    pushed = result.do(shift={"price": 2.0, "costs": -1.0})
    effects = model.total_effects()
    change = 2 * effects.loc["price"] - effects.loc["costs"]
    assert np.allclose(pushed["mean"], model.mean + change)
    assert np.allclose(pushed["sd"] ** 2, model.covariance.diagonal())
    both = result.do({"price": 5.0}, shift={"income": 1.0})
    assert np.allclose(both["mean"], after.mean + np.array([0, 1, 0, model.B[1, 3]]))


@pytest.mark.parametrize("seed", range(5))
def test_intervals_are_those_of_the_delta_method(seed):
    """Against numerical derivatives of the mean and the standard errors of the fit."""
    graph = cl.simulate.random_graph(5, max_component=4, random_state=seed)
    truth = cl.simulate.random_model(graph, random_state=seed)
    fitted = cl.fit(graph, truth.sample(400, random_state=seed))
    S, n = fitted.moments.covariance, fitted.n_effective
    whole = EstimatedModel(fitted.model, S, n, mean_is_known=True)
    i, j = whole.edges
    covariance = np.linalg.inv(whole.weight_information) / n
    assert np.allclose(np.sqrt(covariance.diagonal()), fitted.standard_errors[i, j])
    held, shifted = {0: 2.0}, {1: 1.0}
    found = whole.predict(held, shifted)
    if not found.settles:
        return
    step = 1e-5
    gradients = []
    for a, b in zip(i, j, strict=True):
        ends = []
        for sign in (-1, 1):
            B = fitted.B.copy()
            B[a, b] += sign * step
            moved = cl.LinearGaussianModel(B, fitted.noise_variances, mean=fitted.model.mean)
            ends.append(EstimatedModel(moved, S, n).predict(held, shifted).means)
        gradients.append((ends[1] - ends[0]) / (2 * step))
    G = np.array(gradients).T
    expected = np.sqrt(np.einsum("ik,kl,il->i", G, covariance, G))
    assert np.allclose(found.errors, expected, atol=1e-7)
    # With the mean estimated: a variable on which nothing acts has the error of its own mean.
    own = EstimatedModel(fitted.model, S, n).predict({}, {0: 1.0})
    untouched = [v for v in range(5) if found.errors[v] == 0 and v not in held and v not in shifted]
    for v in untouched:
        assert own.errors[v] >= np.sqrt(S[v, v] / n) - 1e-12


def test_the_interval_covers_the_truth_about_as_often_as_it_says():
    truth, value = MARKET.do({"price": 5.0}).mean[3], 5.0
    z = []
    for seed in range(60):
        fitted = cl.fit(MARKET.graph, MARKET.sample(300, random_state=seed))
        model = EstimatedModel(fitted.model, fitted.moments.covariance, 300)
        after = model.predict({2: value}, {})
        z.append((after.means[3] - truth) / after.errors[3])
    # 60 draws of a standard normal, at four standard errors.
    assert abs(np.mean(z)) < 4 / np.sqrt(60)
    assert 0.6 < np.std(z) < 1.4


def test_after_interventions_each_equation_has_rows_of_its_own():
    """Without feedback: the error of a regression on the rows in which the effect was not set."""
    rng = np.random.default_rng(7)
    tables = []
    for n, at in ((80, 1.0), (60, 4.0), (50, None)):
        a = rng.normal(at or 0.0, 1.0, n)
        b = 2 + 0.8 * a + rng.normal(size=n) if at is not None else rng.normal(9.0, 1.0, n)
        tables.append(pd.DataFrame({"a": a, "b": b}))
    targets = [[], ["a"], ["b"]]
    graph = cl.DirectedGraph.from_edges([("a", "b")])
    fitted = cl.fit(graph, tables, interventions=targets)
    (model,) = estimated(fitted, [fitted.model])
    rows = pd.concat(tables[:2])
    Z = np.column_stack([np.ones(len(rows)), rows["a"]])
    weights, left, *_ = np.linalg.lstsq(Z, rows["b"], rcond=None)
    at = np.array([1.0, 3.0])
    held = model.predict({0: 3.0}, {})
    error = np.sqrt(left[0] / len(rows) * at @ np.linalg.inv(Z.T @ Z) @ at)
    assert held.means[1] == pytest.approx(at @ weights)
    assert held.errors.tolist() == pytest.approx([0, error])
    # The mean of what was set elsewhere is that of the rows in which it was not.
    free = pd.concat([tables[0]["a"], tables[2]["a"]])
    pushed = model.predict({}, {1: 1.0})
    assert pushed.means[0] == pytest.approx(free.mean())
    assert pushed.errors[0] == pytest.approx(free.std(ddof=0) / np.sqrt(len(free)))


def test_all_equally_good_graphs_are_asked():
    chain = cl.LinearGaussianModel([[0, 0.5, 0], [0, 0, 0.5], [0, 0, 0]], [1, 1, 1], list("abc"))
    result = cl.learn(cl.Moments(chain.covariance, 1_000, names=list("abc")))
    table = result.do({"a": 1.0})
    # In two of the three chains a acts on nothing beyond b, or on nothing at all.
    assert table.attrs["n_models"] == table.attrs["n_looked_at"] == 3
    assert np.allclose(table.loc["b", ["smallest", "largest"]].to_list(), [0, 0.5])
    assert np.allclose(table.loc["c", ["smallest", "largest"]].to_list(), [0, 0.25])
    assert (table["lowest"] <= table["lower"] + 1e-12).all()
    assert (table["highest"] >= table["upper"] - 1e-12).all()
    wide, narrow = result.do({"b": 1.0}, level=0.99), result.do({"b": 1.0}, level=0.5)
    ratio = (wide["upper"] - wide["mean"]) / (narrow["upper"] - narrow["mean"])
    assert np.allclose(ratio.drop("b").dropna(), norm.ppf(0.995) / norm.ppf(0.75))


def test_what_does_not_settle_is_not_predicted():
    # Holding c takes away what keeps a and b from growing.
    B = np.zeros((3, 3))
    B[0, 1], B[1, 0], B[0, 2], B[2, 0] = 1.2, 1.0, 1.0, -0.9
    model = cl.LinearGaussianModel(B, [1, 1, 1])
    assert model.is_stable
    found = EstimatedModel(model, model.covariance, 100).predict({2: 1.0}, {})
    assert not found.settles


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((), {}, "no variable is held or shifted"),
        (({"nowhere": 1.0},), {}, "nowhere"),
        (({"price": float("inf")},), {}, "finite"),
        (([1.0],), {}, "by name"),
        (({"price": 1.0},), {"shift": {"price": 1.0}}, "both held and shifted"),
        (({"price": 1.0},), {"level": 2}, "level"),
    ],
)
def test_wrong_questions_are_refused(result, arguments, options, message):
    with pytest.raises(cl.InputError, match=message):
        result.do(*arguments, **options)


def test_on_the_command_line(cyclearn, refused, tmp_path, result):
    result.save(tmp_path / "r.json")
    ended = cyclearn("effects", "r.json", "--do", "price=5", "--from", "costs", "--to", "quantity")
    assert ended.returncode == 0
    assert f"{result.do({'price': 5.0}).loc['quantity', 'mean']:.3f}" in ended.stdout
    assert "Effect of costs on quantity" in ended.stdout
    assert ended.stdout.startswith("Means if price is held at 5:\n")
    assert "name=number" in refused("effects", "r.json", "--do", "price")
    assert "'price' twice" in refused("effects", "r.json", "--do", "price=1", "--do", "price = 2")
    assert "give both" in refused("effects", "r.json", "--from", "price")
    assert "nothing to compute" in refused("effects", "r.json")
    assert '"variables"' in cyclearn("effects", "r.json", "--shift", "price=1", "--json").stdout


def test_a_group_is_named_on_the_command_line(cyclearn, refused, tmp_path):
    rows = MARKET.sample(300, random_state=0).assign(site=["n", "s"] * 150)
    cl.learn(rows, groups="site").save(tmp_path / "groups.json")
    assert "--group" in refused("effects", "groups.json", "--do", "price=1")
    found = cyclearn("effects", "groups.json", "--do", "price=1", "--group", "s", "--json").stdout
    expected = cl.load(tmp_path / "groups.json").do({"price": 1.0}, group="s")["mean"]
    means = [row["mean"] for row in json.loads(found)["variables"]]
    assert means == pytest.approx(expected.tolist())
