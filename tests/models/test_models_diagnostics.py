"""R², residual correlations and modification indices: lavaan's, and what they promise."""

import json
from pathlib import Path

import numpy as np
import pytest

import cyclearn as cl

HERE = Path(__file__).parent / "golden"
CASES = {case["name"]: case for case in json.loads((HERE / "cases.json").read_text())}
GOLDEN = json.loads((HERE / "lavaan_diagnostics.json").read_text())["cases"]
LAVAAN = {case["name"]: case for case in GOLDEN if case["converged"]}


def fitted(case):
    graph = cl.DirectedGraph.from_edges(case["edges"], case["names"])
    return cl.fit(graph, cl.Moments(case["covariance"], case["n"], names=case["names"]))


def added(model):
    table = model.modification_indices()
    return table[table["change"] == "add"].drop(columns="change")


@pytest.mark.parametrize("name", LAVAAN)
def test_the_numbers_are_those_of_lavaan(name):
    model, golden = fitted(CASES[name]), LAVAAN[name]
    residuals = model.residual_correlations().loc[CASES[name]["names"], CASES[name]["names"]]
    assert np.allclose(residuals, golden["residuals"], atol=1e-5)
    if model.not_identified:
        # The weights, and what is made of them, are one choice among many.
        return
    for variable, value in golden["r_squared"].items():
        assert model.r_squared[variable] == pytest.approx(value, abs=1e-5)
    weights = model.standardised_weights
    for row in golden["standardised"]:
        i, j = (model.names.index(row[end]) for end in ("source", "target"))
        assert weights[i, j] == pytest.approx(row["value"], abs=1e-5)
        label = f"{row['source']} -> {row['target']}"
        table = model.summary(standardised=True)
        assert table.loc[label, "estimate"] == pytest.approx(row["value"], abs=1e-5)
        assert table.loc[label, "z"] == pytest.approx(model.summary().loc[label, "z"])
    indices = added(model).set_index(["source", "target"])
    for row in golden["indices"]:
        found = indices.loc[(row["source"], row["target"])]
        if np.isnan(found["index"]):
            # The others can imitate it; lavaan divides by rounding errors here.
            continue
        assert found["index"] == pytest.approx(row["index"], rel=1e-3, abs=1e-4)
        assert found["expected"] == pytest.approx(row["expected"], rel=1e-3, abs=1e-4)
        assert found["standardised"] == pytest.approx(row["standardised"], rel=1e-3, abs=1e-4)


def test_lavaan_was_asked_for_enough():
    assert len(LAVAAN) >= 5
    assert sum(len(case["indices"]) for case in LAVAAN.values()) >= 20


@pytest.mark.parametrize("seed", range(6))
def test_an_index_is_what_the_edge_is_worth(seed):
    """With a weak edge left out, index and expected weight are close to what adding it gives."""
    graph = cl.simulate.random_graph(5, max_component=3, random_state=seed)
    truth = cl.simulate.random_model(graph, random_state=seed)
    model = cl.fit(graph, truth.sample(2_000, random_state=seed))
    table = added(model)
    assert set(zip(table["source"], table["target"], strict=True)).isdisjoint(graph.edges)
    assert len(table) == 20 - graph.n_edges
    for row in table.head(3).itertuples():
        with_edge = cl.DirectedGraph.from_edges([*graph.edges, row[1:3]], graph.names)
        more = cl.fit(with_edge, model.moments)
        if more.not_identified or np.isnan(row[3]):
            continue
        gain = 2 * (more.log_likelihood - model.log_likelihood)
        assert gain == pytest.approx(row[3], rel=0.3, abs=0.3)


def test_the_order_does_not_hang_on_rounding():
    chain = cl.LinearGaussianModel([[0, 0.5, 0], [0, 0, 0.5], [0, 0, 0]], [1, 1, 1], list("abc"))
    model = cl.fit(chain.graph, chain.sample(200, random_state=0))
    table = added(model)
    tied = table[np.isclose(table["index"], table["index"].max())]
    pairs = list(zip(tied["source"], tied["target"], strict=True))
    assert len(pairs) > 1
    assert pairs == sorted(pairs)


def test_rows_with_holes_are_refused():
    model = cl.LinearGaussianModel([[0, 0.5], [0, 0]], [1, 1])
    rows = model.sample(100, random_state=0)
    rows.iloc[0, 0] = np.nan
    with pytest.raises(cl.InputError, match="complete rows"):
        cl.fit(model.graph, rows, missing="em").modification_indices()


def test_a_full_graph_has_nothing_left_over():
    graph = cl.DirectedGraph.from_edges([(0, 1), (0, 2), (1, 2)])
    rng = np.random.default_rng(0)
    model = cl.fit(graph, rng.normal(size=(100, 3)))
    assert np.abs(model.residual_correlations()).to_numpy().max() < 1e-9
    left = model.modification_indices()["index"].dropna()
    assert (left < 1e-9).all()
    assert model.r_squared["X1"] == 0
