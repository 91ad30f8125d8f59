"""Whatever is passed, public functions give an answer or one clear InputError."""

import inspect

import numpy as np
import pandas as pd
import pytest

import cyclearn as cl
from cyclearn.data import read_table
from cyclearn.evaluation import Evaluator
from cyclearn.identifiability import check_assumption_one, is_faithful

CHAIN = cl.DirectedGraph.from_edges([("a", "b"), ("b", "c")])
FORK = cl.DirectedGraph.from_edges([("b", "a"), ("b", "c")], ["a", "b", "c"])
CLASS = cl.equivalence_class(CHAIN)
MODEL = cl.LinearGaussianModel([[0, 0.5], [0.5, 0]], [1.0, 1.0])

# Functions of one graph, with what else they need.
OF_A_GRAPH = {
    "d_separated": lambda g: cl.d_separated(g, "a", "c"),
    "virtual_edges": cl.virtual_edges,
    "markov_equivalent, first": lambda g: cl.markov_equivalent(g, CHAIN),
    "markov_equivalent, second": lambda g: cl.markov_equivalent(CHAIN, g),
    "write_graph": lambda g: cl.write_graph(g, "never written.json"),
    "is_subgraph_of": lambda g: CHAIN.is_subgraph_of(g),
    "equivalent, first": lambda g: cl.equivalent(g, CHAIN),
    "equivalent, second": lambda g: cl.equivalent(CHAIN, g),
    "equivalence_class": cl.equivalence_class,
    "EquivalenceClass": cl.EquivalenceClass,
    "EquivalenceClass.nearest": lambda g: CLASS.nearest(g),
    "EquivalenceClass.distance": lambda g: CLASS.distance(g),
    "compare, first": lambda g: cl.compare(g, CHAIN),
    "compare, second": lambda g: cl.compare(CHAIN, g),
    "quasi_equivalent, first": lambda g: cl.quasi_equivalent(g, CHAIN),
    "quasi_equivalent, second": lambda g: cl.quasi_equivalent(CHAIN, g),
    "hard_constraints": cl.hard_constraints,
    "is_faithful": lambda g: is_faithful(MODEL, g),
    "check_assumption_one": check_assumption_one,
    "random_model": cl.simulate.random_model,
    "shd, first": lambda g: cl.metrics.shd(g, CHAIN),
    "shd, second": lambda g: cl.metrics.shd(CHAIN, g),
    "class_distance, first": lambda g: cl.metrics.class_distance(g, CHAIN),
    "class_distance, second": lambda g: cl.metrics.class_distance(CHAIN, g),
    "structure_scores, first": lambda g: cl.metrics.structure_scores(g, CHAIN),
    "structure_scores, second": lambda g: cl.metrics.structure_scores(CHAIN, g),
    "evaluate, first": lambda g: cl.metrics.evaluate(g, CHAIN),
    "evaluate, second": lambda g: cl.metrics.evaluate(CHAIN, g),
    "Evaluator": lambda g: Evaluator(g, None).evaluate(CHAIN),
    "draw_domains": cl.metrics.draw_domains,
    "multi_domain_success, first": lambda g: cl.metrics.multi_domain_success(g, CHAIN),
    "multi_domain_success, second": lambda g: cl.metrics.multi_domain_success(CHAIN, g),
    "multi_domain_outputs": lambda g: cl.metrics.multi_domain_outputs(g, lambda _: CHAIN),
}
NO_GRAPHS = {
    "array": np.zeros((3, 3)),
    "lists": [[0, 1], [0, 0]],
    "table": pd.DataFrame(np.zeros((3, 3))),
    "networkx": CHAIN.to_networkx(),
    "record": CHAIN.to_dict(),
    "file name": "graph.json",
    "nothing": None,
    "number": 3,
    "model": MODEL,
}


@pytest.mark.parametrize("call", OF_A_GRAPH.values(), ids=OF_A_GRAPH)
def test_only_graphs_are_graphs(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for value in NO_GRAPHS.values():
        with pytest.raises(cl.InputError, match=r"is of type .*, not a DirectedGraph; pass "):
            call(value)


TABLE = MODEL.sample(50, random_state=0)
# An open file has a number, and reading from it would close it.
NO_FILES = [None, True, 1, 0.5, b"x", [], ["a"], {}, MODEL]
NUMBERS = [-1, 0.5, float("nan"), float("inf"), "3", None, [], True]


@pytest.mark.parametrize(
    ("call", "values"),
    [
        (lambda v: MODEL.sample(v), [0, *NUMBERS]),
        (lambda v: MODEL.do(v), [None, 3, "a", [("a", 1)], {"a": 1}, {"X1": "x"}, {"X1": None}]),
        (lambda v: cl.Moments(np.eye(2), v), [1, *NUMBERS]),
        (lambda v: cl.Moments(np.eye(2), 9, mean=v), ["ab", [1], [1, "x"], [1, np.nan], 3]),
        (lambda v: cl.Moments(np.eye(2), 9, names=v), [3, "ab", ["a"], ["a", "a"]]),
        (lambda v: cl.LinearGaussianModel([[0]], v), ["x", [-1], [0], [np.inf], [[1]], None]),
        (lambda v: cl.LinearGaussianModel(v, [1]), [None, "x", 3, [1], [[1]], [[0], [0, 1]]]),
        (
            lambda v: cl.simulate.random_model(CHAIN, weights=v),
            [3, "ab", (1,), (2, 1), (-1, 1), (0, np.inf), ("a", "b"), None],
        ),
        (lambda v: cl.simulate.random_model(CHAIN, max_draws=v), [0, *NUMBERS]),
        (lambda v: cl.simulate.random_model(CHAIN, random_state=v), [-1, "x", 0.5]),
        (lambda v: cl.simulate.random_graph(v), [10**9, *NUMBERS]),
        (lambda v: cl.simulate.random_graph(5, v), [*NUMBERS]),
        (
            lambda v: cl.DirectedGraph.from_edges(v),
            [None, 3, "ab", ["ab"], [(0, 0)], [(0, 10**12)]],
        ),
        (lambda v: cl.DirectedGraph.from_edges([(0, 1)], n_nodes=v), [-1, "3", 10**12, [], 1.5]),
        (lambda v: cl.DirectedGraph.from_edges([], v), [3, "ab", ["a", "a"]]),
        (
            lambda v: cl.DirectedGraph(v),
            [None, 3, "x", [[2]], [[1]], [[0, 1]], [[0], [1, 0]], [["a"]]],
        ),
        (lambda v: cl.DirectedGraph.from_dict(v), [None, 3, [], {}, {"nodes": 3, "edges": []}]),
        (lambda v: cl.DirectedGraph.from_networkx(v), [None, 3, np.eye(2)]),
        (lambda v: cl.DirectedGraph.from_pandas(v), [None, 3, np.eye(2)]),
        (lambda v: CHAIN.parents(v), ["x", 9, -1, None, 0.5, [], ("a",)]),
        (lambda v: CHAIN.simple_cycles(v), [-1, 0.5, "x"]),
        (lambda v: CHAIN.reordered(v), ["abc", ["a", "b"], ["a", "b", "d"], 3]),
        (lambda v: cl.d_separated(CHAIN, v, "c"), ["x", 9, None, 0.5, ["a", None]]),
        (lambda v: cl.metrics.class_distance(FORK, CHAIN, time_limit=v), [-1, "x", [], np.nan]),
        (lambda v: cl.metrics.evaluate(FORK, CHAIN, time_limit=v), [-1, "x", [], np.nan]),
        (lambda v: cl.metrics.evaluate(FORK, CHAIN, n_domains=v), [0, *NUMBERS]),
        (lambda v: cl.metrics.evaluate(FORK, CHAIN, eta=v), [0, -1, "x", np.nan, np.inf, []]),
        (
            lambda v: cl.metrics.multi_domain_success(FORK, CHAIN, domains=v),
            [3, [], "ab", [CHAIN], {"a": MODEL}],
        ),
        (lambda v: cl.metrics.draw_domains(CHAIN, v), [0, *NUMBERS]),
        (lambda v: cl.Knowledge(required=v), [5, None, "ab", [5], ["ab"], [("a",)], [("a", None)]]),
        (lambda v: cl.Knowledge(tiers=v), [5, None, "ab", ["ab"], [5], [[None]], {"a": ["b"]}]),
        (lambda v: cl.Knowledge(exogenous=v), [5, None, "ab", [None], [["a"]], [True]]),
        (lambda v: cl.Knowledge.from_dict(v), [5, None, [], "x", {"other": []}]),
        (
            lambda v: cl.check_data(v),
            [None, 3, "x.csv", [], [[1]], [["a"]], [[1], [1, 2]], {"a": 1}],
        ),
        (lambda v: cl.read_graph(v), ["absent", ".", "nul\x00l", *NO_FILES]),
        (lambda v: cl.next_experiment(CHAIN, size=v), [0, *NUMBERS]),
        (lambda v: cl.next_experiment(CHAIN, batch=v), [0, *NUMBERS]),
        (lambda v: cl.next_experiment(CHAIN, rows=v), [0, 0.5, "3", [], True]),
        (lambda v: cl.next_experiment(CHAIN, confidence=v), [0, 1, 2, *NUMBERS]),
        (lambda v: cl.next_experiment(CHAIN, max_members=v), [1, *NUMBERS]),
        (lambda v: cl.next_experiment(CHAIN, model=v), [3, "x", [], CHAIN, {"a": 1}]),
        (lambda v: cl.posterior(TABLE, lags=v), [*NUMBERS, TABLE]),
        (lambda v: cl.Posterior.from_json(v), [None, 3, [], {}, "x", "[]", "{}"]),
        (lambda v: cl.LearnResult.from_json(v), [None, 3, [], {}, "x", "[]", "{}"]),
        (lambda v: cl.load(v), ["absent", ".", "nul\x00l", *NO_FILES]),
        (lambda v: cl.write_graph(CHAIN, v), [".", "nul\x00l", *NO_FILES]),
        (lambda v: cl.learn(TABLE).save(v), [".", *NO_FILES]),
        (lambda v: cl.learn(TABLE).report(v), [".", *NO_FILES]),
    ],
)
def test_values_that_break_a_rule(call, values):
    for value in values:
        with pytest.raises(cl.InputError) as caught:
            call(value)
        message = str(caught.value)
        assert "\n" not in message
        assert 10 < len(message) < 500


RESULT = cl.learn(TABLE)
# Every option of every function that takes any, as the function itself names them.
FUNCTIONS = {
    "learn": (cl.learn, (TABLE,)),
    "fit": (cl.fit, (MODEL.graph, TABLE)),
    "bootstrap": (cl.bootstrap, (TABLE, 1)),
    "posterior": (cl.posterior, (TABLE,)),
    "check_data": (cl.check_data, (TABLE,)),
    "SearchOptions": (cl.SearchOptions, ()),
    "estimator": (lambda **options: cl.CyclicGraphLearner(**options).fit(TABLE), ()),
    "equivalence_class": (cl.equivalence_class, (CHAIN,)),
    "next_experiment": (cl.next_experiment, (CHAIN,)),
    "rank_members": (RESULT.rank_members, (TABLE,)),
    "do": (RESULT.do, ({"X1": 1.0},)),
    "effects": (RESULT.effects, ("X1", "X2")),
    "hidden_causes": (RESULT.hidden_causes, ()),
    "rivals": (RESULT.rivals, ()),
    "to_text": (RESULT.to_text, ()),
    "plot": (RESULT.plot, ()),
    "report": (RESULT.report, ("never written.html",)),
    "read_table": (read_table, ("table.csv",)),
}
FURTHER = {
    "bootstrap": cl.SearchOptions.names(),
    "estimator": (*cl.SearchOptions.names(), "n_jobs"),
    "effects": ("max_members", "random_state"),
    "plot": ("labels", "standardised", "group"),
    "report": ("title", "command", "max_members", "bootstrap", "posterior"),
    "read_table": ("sep", "decimal", "encoding", "header", "columns", "drop", "index", "labels"),
}
# No word and no number; some compare with words cell by cell, and are long when written out.
NO_OPTIONS = {
    "table": pd.DataFrame(np.arange(4_000.0).reshape(100, 40)),
    "column": pd.Series(np.arange(500.0)),
    "array": np.arange(500.0),
    "object": object(),
    "bytes": b"raw" * 100,
    "complex": 1j,
}
# A whole table is what it takes.
TAKES_TABLES = {("report", "data")}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_option_takes_a_table_for_a_word(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    TABLE.to_csv("table.csv", index=False)
    function, given = FUNCTIONS[name]
    parameters = list(inspect.signature(function).parameters.values())
    own = [each.name for each in parameters[len(given) :] if each.kind is not each.VAR_KEYWORD]
    options = [each for each in (*FURTHER.get(name, ()), *own) if each != "options"]
    assert options
    for option in dict.fromkeys(options):
        if (name, option) in TAKES_TABLES:
            continue
        for value in NO_OPTIONS.values():
            with pytest.raises(cl.InputError) as caught:
                function(*given, **{option: value})
            message = str(caught.value)
            assert "\n" not in message
            assert 10 < len(message) < 400, (option, message)
