"""Results on tables with interventions: ways to give them, JSON, effects, resamples, refusals."""

import json
from functools import partial

import pandas as pd
import pytest

import cyclearn as cl
from naive_interventions import sample_tables

GRAPH = cl.DirectedGraph.from_edges([("a", "b"), ("b", "c"), ("c", "b"), ("d", "c")])
TARGETS = [[], ["b"], ["c", "d"]]


@pytest.fixture(scope="module")
def tables():
    model = cl.simulate.random_model(GRAPH, random_state=1)
    return sample_tables(model, TARGETS, (400, 300, 300), 1)


@pytest.fixture(scope="module")
def learned(tables):
    return cl.learn(tables, interventions=TARGETS)


@pytest.fixture(scope="module")
def together(tables):
    named = [
        table.assign(set_by_us=", ".join(own) or None)
        for table, own in zip(tables, TARGETS, strict=True)
    ]
    return pd.concat(named, ignore_index=True)


def test_a_column_names_the_targets_of_each_row(learned, together, tmp_path):
    column = cl.learn(together, interventions="set_by_us")
    assert column.graph == learned.graph
    assert column.score == pytest.approx(learned.score, abs=1e-6)
    path = tmp_path / "rows.csv"
    together.to_csv(path, index=False)
    assert cl.learn(path, interventions="set_by_us").score == pytest.approx(learned.score, abs=1e-6)


def test_the_truth_is_found(learned):
    assert learned.graph == GRAPH
    assert "1000 samples in 3 tables with interventions" in str(learned)
    assert learned.model.converged


def test_a_result_is_read_again(learned):
    again = cl.LearnResult.from_json(learned.to_json())
    assert again == learned
    assert json.loads(learned.to_json())["tables"][2]["targets"] == ["c", "d"]
    assert (
        eval(learned.options.call("learn", "data"), {"cl": _Called(), "data": 0}) == learned.options
    )


class _Called:
    def learn(self, _, **options):
        return cl.SearchOptions(**options)


def test_effects_and_verdicts_are_those_of_the_graphs_that_tie(learned):
    effects = learned.effects("a", "c")
    assert len(effects.listed.members) == 1 + len(learned.alternatives)
    total = learned.model.model.total_effects().loc["a", "c"]
    assert effects.interval[0] <= total <= effects.interval[1]
    shared = {edge for pair in learned.verdicts for edge in pair.shared_edges}
    assert shared <= set(learned.graph.edges)


def test_the_class_is_that_of_the_tables_and_says_what_to_do_next(learned):
    members = learned.equivalence_class
    assert isinstance(members, cl.InterventionalClass)
    assert members.interventions == tuple(map(tuple, TARGETS))
    assert {learned.graph, *learned.alternatives} <= set(members)
    advice = cl.next_experiment(learned)
    assert advice.tables == members.interventions
    assert set(advice.graphs) == set(members)


def test_graphs_of_the_class_under_interventions_tie(learned, tables):
    """Two independent ways: what is proved about designs, and scores of these tables."""
    members = set(learned.equivalence_class)
    assert learned.graph in members
    cost = learned.penalty
    for graph in members:
        fitted = cl.fit(graph, tables, interventions=TARGETS)
        score = -fitted.log_likelihood + cost * graph.n_edges
        assert score == pytest.approx(learned.score, abs=1e-5)
        if fitted.is_stable:
            assert graph in {learned.graph, *learned.alternatives}
    table = cl.next_experiment(learned).table
    assert len(table)


def test_rows_are_drawn_within_tables(tables, together):
    found = cl.bootstrap(tables, 3, interventions=TARGETS, n_starts=1)
    assert found == cl.bootstrap(tables, 3, interventions=TARGETS, n_starts=1)
    same = cl.learn(together, interventions="set_by_us", n_starts=1, bootstrap=2)
    assert same.bootstrap.n_resamples == 2
    with pytest.raises(cl.InputError, match="resampled within each table"):
        cl.bootstrap(tables, 3, interventions=TARGETS, resampling="half")


def test_what_does_not_go_together_is_refused(tables):
    with pytest.raises(cl.InputError, match="missing='rows' cannot be combined"):
        cl.learn(tables, interventions=TARGETS, missing="rows")
    with pytest.raises(cl.InputError, match="is no option"):
        cl.bootstrap(tables, 3, interventons=TARGETS)


@pytest.mark.parametrize("call", [cl.learn, partial(cl.fit, GRAPH), cl.bootstrap])
def test_targets_by_name_are_refused(tables, call):
    """By name there are groups, and their order need not be that of the tables."""
    named = dict(zip("xyz", tables, strict=True))
    targets = dict(reversed(list(zip(named, TARGETS, strict=True))))
    with pytest.raises(cl.InputError, match="in the order of the tables"):
        call(named, interventions=targets)


def test_the_estimator_takes_a_column(together, learned):
    found = cl.CyclicGraphLearner(interventions="set_by_us").fit(together)
    assert found.graph_ == learned.graph
    with pytest.raises(cl.InputError, match="name of a column of X"):
        cl.CyclicGraphLearner(interventions=TARGETS).fit(together)


def test_the_command_line_takes_a_column(cyclearn, together, tmp_path, learned):
    together.to_csv(tmp_path / "rows.csv", index=False)
    cl.write_graph(GRAPH, tmp_path / "graph.json")
    options = ("--interventions", "set_by_us", "--no-posterior", "--json")
    record = json.loads(cyclearn("learn", "rows.csv", *options).stdout)
    assert record["graph"] == learned.graph.to_dict()
    fitted = cyclearn("fit", "rows.csv", "graph.json", "--interventions", "set_by_us")
    assert fitted.returncode == 0
    assert "no fit indices" in fitted.stdout
