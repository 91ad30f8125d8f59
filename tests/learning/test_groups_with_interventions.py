"""Groups with interventions: weights are shared over the tables of a group, the graph over all."""

import numpy as np
import pandas as pd
import pytest

import cyclearn as cl
from classes.naive_designs import all_adjacencies
from cyclearn.classes import finest_design
from cyclearn.data.reading import as_tables
from cyclearn.data.resampling import Resampler
from cyclearn.learning import load
from cyclearn.search.options import SearchOptions
from naive_interventions import sample_tables

LOOP = cl.DirectedGraph.from_edges([("a", "b"), ("b", "c"), ("c", "b")])
WEIGHTS = {"east": (0.8, 0.6, -0.5), "west": (-0.4, 0.3, 0.7)}
TARGETS = {"east": [[], ["b"]], "west": [[], ["c"], ["b"]]}


def model_of(group):
    B = np.zeros((3, 3))
    B[0, 1], B[1, 2], B[2, 1] = WEIGHTS[group]
    return cl.LinearGaussianModel(B, np.ones(3), LOOP.names)


TABLES = {
    group: sample_tables(model_of(group), own, [60, 40, 50][: len(own)], seed)
    for seed, (group, own) in enumerate(TARGETS.items())
}


def labelled(group, columns=("site", "target")):
    parts = [
        table.assign(**{columns[0]: group, columns[1]: ",".join(own)})
        for table, own in zip(TABLES[group], TARGETS[group], strict=True)
    ]
    return pd.concat(parts, ignore_index=True)


TOGETHER = pd.concat([labelled("east"), labelled("west")], ignore_index=True)


@pytest.fixture(scope="module")
def learned():
    return cl.learn(TOGETHER, groups="site", interventions="target")


def test_every_way_to_give_them_is_one(learned, tmp_path):
    assert learned.groups == ("east", "west")
    assert learned.graph == LOOP
    path = tmp_path / "rows.csv"
    TOGETHER.to_csv(path, index=False)
    tables = [table.assign(site=name) for name, own in TABLES.items() for table in own]
    targets = [each for own in TARGETS.values() for each in own]
    for data, how in (
        (path, {"groups": "site", "interventions": "target"}),
        (TABLES, {"interventions": TARGETS}),
        (TOGETHER, {"groups": "site", "interventions": {"east": "target", "west": "target"}}),
        (
            {name: labelled(name).drop(columns="site") for name in TABLES},
            {"interventions": {"west": "target", "east": "target"}},
        ),
        (tables, {"groups": "site", "interventions": targets}),
    ):
        other = cl.learn(data, **how)
        assert other.groups == learned.groups
        assert other.graph == learned.graph
        assert other.score == pytest.approx(learned.score, rel=1e-9)


def test_one_graph_and_the_weights_of_each_group(learned):
    for name, fitted in learned.models.items():
        alone = cl.fit(LOOP, TABLES[name], interventions=TARGETS[name])
        np.testing.assert_allclose(fitted.B, alone.B, atol=1e-9)
        np.testing.assert_allclose(fitted.standard_errors, alone.standard_errors, atol=1e-9)
        assert fitted.log_likelihood == pytest.approx(alone.log_likelihood)
    assert learned.weights_by_group().loc["a -> b", ("test", "differs")]


@pytest.mark.parametrize("kind", ["perfect", "noise"])
def test_a_score_is_the_sum_of_those_of_the_groups(kind):
    how = {"interventions": TARGETS, "intervention_kind": kind, "intercepts": "table"}
    tables = as_tables(TABLES, **how)
    score = SearchOptions(penalty=0.0, **how).problem(tables).score()
    constant = SearchOptions(penalty=0.0, **how).problem(tables).constant
    for A in list(all_adjacencies(3))[::5]:
        graph = cl.DirectedGraph(A, LOOP.names)
        each = [
            cl.fit(graph, TABLES[name], **how | {"interventions": TARGETS[name]}).log_likelihood
            for name in TABLES
        ]
        whole = tables.n_effective * (score.thorough_value(A.astype(np.uint8)) + constant)
        assert whole == pytest.approx(-sum(each), abs=1e-5)
        # A search fits from fewer starts.
        assert tables.n_effective * (score.value(A.astype(np.uint8)) + constant) >= whole - 1e-5
        assert cl.fit(graph, tables).log_likelihood == pytest.approx(sum(each))


def test_one_group_is_no_group():
    one = cl.learn({"x": TABLES["west"]}, interventions={"x": TARGETS["west"]})
    plain = cl.learn(TABLES["west"], interventions=TARGETS["west"])
    assert (one.graph, one.score, one.groups) == (plain.graph, plain.score, ("x",))
    found = [
        cl.posterior(data, interventions=how, robust=False, n_samples=100)
        for data, how in (
            ({"x": TABLES["west"]}, {"x": TARGETS["west"]}),
            (TABLES["west"], TARGETS["west"]),
        )
    ]
    np.testing.assert_array_equal(found[0].edges, found[1].edges)


def test_the_order_of_groups_does_not_matter(learned):
    turned = cl.learn(dict(reversed(TABLES.items())), interventions=dict(reversed(TARGETS.items())))
    assert turned.groups == ("west", "east")
    assert turned.graph == learned.graph
    assert turned.score == pytest.approx(learned.score)


@pytest.mark.parametrize("method", ["exact", "tabu"])
def test_other_methods_find_it_too(learned, method):
    other = cl.learn(TABLES, interventions=TARGETS, method=method)
    assert other.score == pytest.approx(learned.score)


def test_what_a_result_answers(learned, tmp_path):
    assert "250 samples in 5 tables with interventions in 2 groups" in str(learned)
    assert learned.targets["west 5"] == ("c",)
    effects = learned.effects_by_group("a", "b")
    assert effects.loc["east", "smallest"] > 0 > effects.loc["west", "largest"]
    assert learned.do({"a": 1.0}, group="west").loc["b", "mean"] < 0
    assert learned.rank_members(TOGETHER).best.graph == LOOP
    learned.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "in 5 tables with interventions in 2 groups" in page
    path = tmp_path / "result.json"
    learned.save(path)
    again = load(path)
    assert str(again) == str(learned)
    assert again.equivalence_class == learned.equivalence_class
    again.report(tmp_path / "page.html", data=TOGETHER)
    with pytest.raises(cl.InputError, match="without groups, interventions or lags"):
        learned.hidden_causes()


def test_groups_with_other_interventions_each():
    targets = {"east": [[], ["b"]], "west": [[], ["c"]]}
    tables = {name: own[:2] for name, own in TABLES.items()}
    found = cl.learn(tables, interventions=targets, posterior={"n_samples": 100})
    with pytest.raises(cl.InputError, match="the interventions of no group distinguish all"):
        _ = found.equivalence_class
    rows = {name: [table - 1 for table in own] for name, own in tables.items()}
    assert found.rank_members(rows).best.graph == found.graph
    assert isinstance(found.posterior.classes()[0].equivalence_class, cl.EquivalenceClass)
    again = type(found).from_json(found.to_json())
    assert again.options == found.options
    assert str(again) == str(found)


def test_a_posterior_has_both():
    found = cl.posterior(TOGETHER, groups="site", interventions="target", n_samples=100)
    assert "in 5 tables that share their weights within each of 2 groups" in str(found)
    assert found.edges[0, 1] > 0.9
    again = cl.Posterior.from_json(found.to_json())
    assert again.classes()[0] == found.classes()[0]
    for name, sign in (("east", 1), ("west", -1)):
        assert sign * again.effects("a", "b", group=name, n_draws=50).mean > 0
    with pytest.raises(cl.InputError, match="give one of 'east', 'west'"):
        found.effects("a", "b")


def test_resamples_keep_groups_whole():
    tables = as_tables(TABLES, interventions=TARGETS)
    reading = SearchOptions(interventions=TARGETS).reading
    rows, _, _ = Resampler.of(tables, reading, "rows", 0).draw(0)
    assert [table.targets for table in rows] == [table.targets for table in tables]
    for number in range(4):
        drawn, _, _ = Resampler.of(tables, reading, "groups", 0).draw(number)
        assert len(drawn.groups) == 2
        for name, own in drawn.by_group.items():
            assert [list(table.targets) for table in own] == TARGETS[name[3:]]


@pytest.mark.parametrize(
    ("data", "how", "message"),
    [
        (TABLES, {"interventions": {"east": [[], ["b"]]}}, "but the data have east, west"),
        (TABLES["east"], {"interventions": {"1": [[]], "3": [[]]}}, "but the data have 1, 2"),
        (TOGETHER, {"interventions": {"east": "target"}}, "but the data have no groups"),
        (TOGETHER, {"groups": "site", "interventions": "site"}, "there is no such column"),
        (TABLES, {"interventions": {"east": ["b"], "west": []}}, r"such as \[\[\], \['a'\]\]"),
        (
            TABLES,
            {"interventions": TARGETS | {"west": [["d"], [], []]}},
            "group 'west': table 1: target 'd' is not a variable",
        ),
        (
            TABLES,
            {"interventions": TARGETS | {"east": [["b"], ["b"]]}},
            "group 'east': 'b' was intervened on in every table of the group",
        ),
    ],
)
def test_what_is_refused(data, how, message):
    with pytest.raises(cl.InputError, match=message):
        cl.learn(data, **how)


def same_class(design):
    """Which pairs of graphs with three nodes a design cannot distinguish."""
    graphs = [cl.DirectedGraph(A, LOOP.names) for A in all_adjacencies(3)]
    keys = [cl.equivalence_class(graph, interventions=design) for graph in graphs]
    return np.array([[one == other for other in keys] for one in keys])


@pytest.mark.parametrize(
    "designs",
    [
        ([[]], [[], ["a"]]),
        ([[], ["a"]], [[], ["b", "c"]]),
        ([[], ["a"], ["b"]], [[], ["a"]], [[]]),
    ],
)
def test_the_class_of_groups_is_that_of_the_finest_design(designs):
    finest = finest_design(designs, LOOP)
    expected = np.logical_and.reduce([same_class(list(own)) for own in designs])
    np.testing.assert_array_equal(same_class(finest), expected)


def test_designs_that_do_not_divide_each_other_have_no_listed_class():
    one, other = [[], ["a"]], [[], ["c"]]
    assert finest_design([one, other], LOOP) is None
    # With weights of their own, groups distinguish fewer graphs than tables that share weights.
    together = same_class([[], ["a"], ["c"]])
    apart = same_class(one) & same_class(other)
    assert (apart >= together).all()
    assert (apart != together).any()
