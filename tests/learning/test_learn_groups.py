"""Several groups from the tables given to the answer: names, weights, files, bad input."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2

import cyclearn as cl
from cyclearn.models.fitted_model import holm

GRAPH = cl.DirectedGraph.from_edges([("a", "b"), ("b", "c"), ("c", "b"), ("d", "c")])


def model_with(weight):
    B = np.zeros((4, 4))
    B[0, 1], B[1, 2], B[2, 1], B[3, 2] = weight, 0.5, -0.4, 0.7
    return cl.LinearGaussianModel(B, np.ones(4), GRAPH.names)


@pytest.fixture(scope="module")
def tables():
    rows = (400, 600, 500)
    return {
        name: model_with(weight).sample(n, random_state=n)
        for name, weight, n in zip(("x", "y", "z"), (0.8, 0.8, -0.3), rows, strict=True)
    }


@pytest.fixture(scope="module")
def learned(tables):
    return cl.learn(tables, n_starts=1, penalty="bic")


@pytest.fixture(scope="module")
def together(tables):
    parts = [table.assign(subject=f"s{name}") for name, table in tables.items()]
    return pd.concat(parts, ignore_index=True)


def test_three_ways_to_give_groups_are_one(tables, learned, together, tmp_path):
    assert learned.groups == ("x", "y", "z")
    listed = cl.learn(list(tables.values()), n_starts=1, penalty="bic")
    assert listed.groups == ("1", "2", "3")
    column = cl.learn(together, groups="subject", n_starts=1, penalty="bic")
    assert column.groups == ("sx", "sy", "sz")
    paths = []
    for name, table in tables.items():
        paths.append(tmp_path / f"{name}.csv")
        # Another order of the columns is the same table.
        table[["d", "b", "c", "a"]].to_csv(paths[-1], index=False)
    files = cl.learn(paths, n_starts=1, penalty="bic")
    assert files.groups == ("x", "y", "z")
    assert set(files.graph.edges) == set(learned.graph.edges)
    for other in (listed, column):
        assert other.graph == learned.graph
        assert other.score == learned.score
    path = tmp_path / "all.csv"
    together.to_csv(path, index=False)
    assert cl.learn(path, groups="subject", n_starts=1, penalty="bic").score == pytest.approx(
        learned.score
    )


def test_models_are_the_fits_of_the_groups(tables, learned):
    for name, table in tables.items():
        assert (learned.models[name].B == cl.fit(learned.graph, table).B).all()
    with pytest.raises(cl.InputError, match="3 groups, each with its own model"):
        learned.model  # noqa: B018
    assert learned.fitted.log_likelihood == pytest.approx(
        sum(model.log_likelihood for model in learned.models.values())
    )
    cost = sum(0.5 * np.log(len(table)) for table in tables.values())
    assert learned.score == pytest.approx(
        -learned.fitted.log_likelihood + cost * learned.graph.n_edges
    )


def test_weights_that_differ_are_found_and_only_they(tables):
    fitted = cl.fit(GRAPH, tables)
    for alpha in ("x", 0, 1, float("nan"), None):
        with pytest.raises(cl.InputError, match="alpha is"):
            fitted.weights_by_group(alpha)
    table = fitted.weights_by_group()
    assert table["test"]["differs"].to_dict() == {
        "a -> b": True,
        "b -> c": False,
        "c -> b": False,
        "d -> c": False,
    }
    row = table.loc["d -> c"]
    w, v = (row[part].to_numpy(dtype=float) for part in ("weight", "std_error"))
    v = v**2
    # Wald's test of Rβ = 0 for contrasts with the first group.
    R = np.array([[-1.0, 1, 0], [-1, 0, 1]])
    statistic = (R @ w) @ np.linalg.solve(R @ np.diag(v) @ R.T, R @ w)
    assert row["test"]["chi_square"] == pytest.approx(statistic)
    assert row["test"]["p_value"] == pytest.approx(chi2.sf(statistic, 2))


def test_equal_weights_rarely_differ():
    """The level of the test: 5% over all edges of a graph, not of each."""
    same = model_with(0.8)
    found = 0
    for seed in range(60):
        drawn = [same.sample(300, random_state=[seed, g]) for g in range(3)]
        found += cl.fit(GRAPH, drawn).weights_by_group()["test"]["differs"].any()
    assert found <= 9


def test_holm_is_the_step_down_rule():
    p = np.array([0.02, 0.5, 0.001, 0.02])
    expected = [0.06, 0.5, 0.004, 0.06]
    assert holm(p) == pytest.approx(expected)
    assert np.isnan(holm(np.array([np.nan, 0.5])))[0]


def test_a_result_is_read_again(learned):
    again = cl.LearnResult.from_json(learned.to_json())
    assert again == learned
    assert again.groups == learned.groups
    assert (again.models["z"].B == learned.models["z"].B).all()


def test_effects_are_those_of_a_group(tables, learned):
    by_group = learned.effects_by_group("d", "c")
    for name in tables:
        assert learned.effects("d", "c", group=name).interval == tuple(by_group.loc[name])
    with pytest.raises(cl.InputError, match="3 groups"):
        learned.effects("d", "c")
    with pytest.raises(cl.InputError, match="group is 'w'; the groups are 'x', 'y', 'z'"):
        learned.effects("d", "c", group="w")


def test_resamples_are_drawn_within_groups(tables):
    found = cl.bootstrap(tables, 8, n_starts=1, random_state=3)
    assert found == cl.bootstrap(tables, 8, n_starts=1, random_state=3)
    edges = found.edges.set_index(["source", "target"])
    assert edges.loc[("a", "b"), "possible"] > 0.5
    groups = cl.bootstrap(tables, 3, resampling="groups", n_starts=1)
    assert groups.n_resamples == 3
    assert "of the groups" in str(groups)
    with pytest.raises(cl.InputError, match="needs several tables"):
        cl.bootstrap(tables["x"], 2, resampling="groups")


def test_every_group_has_rows_of_its_own_worth(tables):
    found = cl.learn(tables, n_effective="auto", n_starts=1)
    for name, table in tables.items():
        alone = cl.fit(GRAPH, table, n_effective="auto")
        assert found.models[name].n_effective == alone.n_effective


def test_holes_are_treated_within_groups(tables):
    holed = {name: table.copy() for name, table in tables.items()}
    holed["y"].iloc[::5, 0] = np.nan
    with pytest.raises(cl.InputError, match="group 'y': column 'a'"):
        cl.learn(holed)
    found = cl.learn(holed, missing="em", n_starts=1)
    assert set(found.graph.edges) == set(cl.learn(tables, n_starts=1).graph.edges)
    fitted = cl.fit(GRAPH, holed, missing="em")
    assert fitted.models["y"].observed is not None
    assert fitted.models["x"].observed is None


def test_print_and_report_speak_of_groups(tables, learned, tmp_path):
    said = str(learned)
    assert "1500 samples in 3 groups" in said
    assert "(differs)" in said
    page = learned.report(tmp_path / "page.html", data=tables).read_text()
    assert "1,500 rows of 4 variables in 3 groups" in page
    assert "Weights by group" in page
    assert "Group x" in page
    with pytest.raises(cl.InputError, match="not those that the result was learned from"):
        learned.report(tmp_path / "other.html", data=tables | {"y": tables["x"]})
    with pytest.raises(cl.InputError, match="learned from groups x, y, z"):
        learned.report(tmp_path / "other.html", data=tables["x"])


def test_the_estimator_takes_a_column(together):
    found = cl.CyclicGraphLearner(groups="subject", n_starts=1, penalty="bic").fit(together)
    assert found.coef_.shape == (3, 4, 4)
    assert found.adjacency_.shape == (4, 4)
    assert list(found.feature_names_in_) == ["a", "b", "c", "d"]
    with pytest.raises(cl.InputError, match="groups"):
        found.score(together)


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (lambda t: [t["x"], t["y"].drop(columns="a")], {}, "group '2': .*not in the data: a"),
        (lambda t: [t["x"], t["y"].assign(e=t["y"].a ** 2)], {}, "not in the first table: e"),
        (lambda t: [t["x"], t["y"][:1]], {}, "group '2': .*1 row;"),
        (lambda t: [t["x"], 3], {}, "number 2 is int"),
        (lambda t: [t["x"], t["y"].to_numpy()], {}, "column names"),
        (lambda _: {"u": [1, 2]}, {}, "'u' of the mapping"),
        (lambda _: {}, {}, "no tables"),
        (lambda t: t["x"], {"groups": "site"}, "groups is 'site'"),
        (lambda t: t["x"], {"groups": "a"}, "names 400 groups"),
        (lambda t: t["x"], {"groups": 3}, "name of a column"),
        (lambda t: t["x"].to_numpy(), {"groups": "site"}, "give a DataFrame"),
        (
            lambda t: t["x"].assign(g=[None, *["u"] * 399]),
            {"groups": "g"},
            "not name a group in row 0",
        ),
    ],
)
def test_bad_groups_are_named(tables, data, options, message):
    with pytest.raises(cl.InputError, match=message):
        cl.learn(data(tables), **options)


def test_a_group_with_fewer_rows_than_parameters_is_named(tables):
    with pytest.raises(
        cl.InputError, match="group 'y': 'b' has 2 parents, but there are only 3 samples"
    ):
        cl.fit(GRAPH, {"x": tables["x"], "y": tables["y"][:3]})


def test_few_rows_in_one_group_are_said(tables):
    found = cl.learn({"x": tables["x"], "y": tables["y"][:8]}, n_starts=1)
    assert any("Group y: 8 rows are too few" in warning.message for warning in found.warnings)
