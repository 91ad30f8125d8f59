"""One list of options: every place that takes them has the same names and defaults."""

import inspect
import json
import pickle
from dataclasses import fields

import numpy as np
import pytest
from typer.main import get_command

import cyclearn as cl
from cyclearn.cli.app import app
from cyclearn.cli.field_options import parameter_name
from cyclearn.search.methods import METHODS

DEFAULTS = {each.name: each.default for each in fields(cl.SearchOptions)}
# What a call has beside the options of the search.
AROUND = {"data", "X", "self", "n_jobs", "on_progress", "on_interrupt", "bootstrap", "posterior"}
WRITTEN = {"n_starts": "starts", "random_state": "seed", "covariance": "estimate"}


def options_of(function):
    parameters = inspect.signature(function).parameters
    return {name: each.default for name, each in parameters.items() if name not in AROUND}


def test_learn_and_the_estimator_have_them():
    assert options_of(cl.learn) == DEFAULTS
    assert options_of(cl.CyclicGraphLearner.__init__) == DEFAULTS
    assert set(cl.CyclicGraphLearner().get_params()) == {*DEFAULTS, "n_jobs"}


@pytest.mark.parametrize("command", ["learn", "report"])
def test_the_command_line_has_them(command):
    parameters = {each.name: each for each in get_command(app).get_command(None, command).params}
    for name, default in DEFAULTS.items():
        parameter = parameters[parameter_name(name)]
        # A list of names is written as text.
        assert parameter.default == ("" if default == () else default), name
        written = WRITTEN.get(name, name).replace("_", "-")
        assert f"--{written}" in parameter.opts


def test_the_documentation_of_learn_names_them():
    assert "SearchOptions" in cl.learn.__doc__
    documented = f"{cl.SearchOptions.__doc__} {cl.Reading.__doc__}"
    for name in DEFAULTS:
        assert name in documented


def test_methods_take_options_that_exist():
    for method in METHODS.values():
        assert {each.name for each in fields(method)} <= {*DEFAULTS, "limits"}


GRAPH = cl.DirectedGraph.from_edges([("a", "b"), ("b", "a")], names=["a", "b", "c"])
GIVEN = [
    {},
    {"penalty": 3, "max_parents": np.int64(2), "time_limit": 5},
    {"method": "tabu", "tabu_length": 4, "first_improvement": True, "stable": np.False_},
    {"knowledge": cl.Knowledge(required=[("a", "b")]), "max_component": 2},
    {"start": GRAPH},
    {"start": [GRAPH, GRAPH]},
    {"random_state": 7, "n_starts": 3},
]


@pytest.mark.parametrize("given", GIVEN)
def test_they_travel_and_are_read_again(given):
    options = cl.SearchOptions(**given)
    assert cl.SearchOptions.from_dict(options.to_dict()) == options
    assert pickle.loads(pickle.dumps(options)) == options
    assert set(options.given()) == set(given)
    line = options.call("learn", "data")
    data = "the data"
    called = eval(line, {"cl": _Recorder(), "data": data})
    assert called == (data, options)


class _Recorder:
    """Stands for the module in a line of Python; keeps what ``learn`` was given."""

    Knowledge, DirectedGraph = cl.Knowledge, cl.DirectedGraph

    def learn(self, data, **options):
        return data, cl.SearchOptions(**options)


def test_the_line_repeats_the_run():
    data = cl.simulate.random_model(GRAPH, random_state=0).sample(300, random_state=0)
    drawn = cl.learn(data, random_state=np.random.default_rng(5), n_starts=2)
    again = eval(drawn.options.call("learn", "data"), {"cl": cl, "data": data})
    assert again == drawn
    started = cl.learn(data, method="hill-climbing", start=GRAPH)
    assert eval(started.options.call("learn", "data"), {"cl": cl, "data": data}) == started


def test_a_bootstrap_refuses_options_that_do_not_exist():
    data = np.random.default_rng(0).normal(size=(50, 3))
    with pytest.raises(
        cl.InputError, match="there is no option 'max_parent'; did you mean 'max_parents'"
    ):
        cl.bootstrap(data, 2, max_parent=2)
    with pytest.raises(cl.InputError, match="give a Knowledge"):
        cl.bootstrap(data, 2, knowledge="required")


@pytest.mark.parametrize("name", ["graph", "options", "tables", "status", "certificate"])
def test_a_damaged_result_is_said_to_be(name):
    record = json.loads(cl.learn(np.random.default_rng(0).normal(size=(50, 3))).to_json())
    for broken in (
        {key: value for key, value in record.items() if key != name},
        record | {name: 5},
        record | {name: {"nodes": 3}},
    ):
        with pytest.raises(cl.InputError, match="damaged"):
            cl.LearnResult.from_json(json.dumps(broken))
