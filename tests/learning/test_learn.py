import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cyclearn import (
    CyclicGraphLearner,
    DirectedGraph,
    InputError,
    Knowledge,
    LearnResult,
    LinearGaussianModel,
    Moments,
    equivalent,
    fit,
    learn,
    simulate,
)
from cyclearn.search import SearchStatus

MARKET = LinearGaussianModel(
    [[0, 0, 0.7, 0], [0, 0, 0, 0.8], [0, 0, 0, -0.6], [0, 0, 0.5, 0]],
    [1, 1, 1, 1],
    ["costs", "income", "price", "quantity"],
)
DATA = MARKET.sample(2_000, random_state=0)


def drawn(p, seed, n=2_000, max_component=4):
    rng = np.random.default_rng(seed)
    graph = simulate.random_graph(p, max_component=max_component, random_state=rng)
    return graph, simulate.random_model(graph, random_state=rng).sample(n, random_state=rng)


def score_of(graph, data, penalty):
    return -fit(graph, data).log_likelihood + penalty * graph.n_edges


def test_feedback_is_found():
    result = learn(DATA)
    assert equivalent(result.graph, MARKET.graph)
    assert result.model.is_stable
    assert result.score == pytest.approx(score_of(result.graph, DATA, result.penalty))
    assert result.equivalence_class.size == 2
    assert "price, quantity" in str(result)
    assert result.status is SearchStatus.SETTLED
    assert result.n_starts_agreeing == (5, 5)
    assert learn(DATA, method="tabu").status is SearchStatus.PATIENCE
    assert result.limits == ()


def test_the_virtual_edge_operator_is_what_finds_it():
    without = learn(DATA, method="tabu", virtual_edges=False)
    found = learn(DATA, method="tabu")
    assert not equivalent(without.graph, MARKET.graph)
    assert without.score > found.score
    assert "virtual edge" in set(found.trace["kind"])


@settings(max_examples=12)
@given(st.integers(2, 7), st.integers(0, 1000), st.sampled_from(["auto", "tabu", "hill-climbing"]))
def test_results_are_consistent(p, seed, method):
    _, data = drawn(p, seed, n=500)
    result = learn(data, method=method)
    assert result.model.is_stable
    assert not result.graph.is_reducible()
    assert result.score == pytest.approx(score_of(result.graph, data, result.penalty))
    assert result.score <= score_of(DirectedGraph(np.zeros((p, p))), data, result.penalty) + 1e-6
    trace = result.trace
    best = trace[trace["is_best"]]
    if len(best):
        # The final fit tries more starts than the search, so it can only be better.
        assert result.score <= best["score"].iloc[-1] + 1e-5
    assert LearnResult.from_json(result.to_json()) == result
    assert learn(data, method=method) == result


def test_hill_climbing_ends_at_a_local_optimum():
    _, data = drawn(5, 3)
    result = learn(data, method="hill-climbing")
    assert result.status is SearchStatus.LOCAL_OPTIMUM
    assert (result.trace["change"] < 0).all()
    first = learn(data, method="hill-climbing", first_improvement=True)
    assert (first.trace["change"] < 0).all()
    tabu = learn(data, method="tabu", start=result.graph)
    assert tabu.score <= result.score + 1e-6


@pytest.mark.parametrize("method", ["auto", "tabu"])
def test_several_starts_do_not_depend_on_jobs(method):
    _, data = drawn(6, 5)
    one = learn(data, method=method, n_starts=3, random_state=7)
    two = learn(data, method=method, n_starts=3, random_state=7, n_jobs=2)
    assert one == two
    assert one.n_starts_agreeing[1] == 3
    first = learn(data, method=method, n_starts=1, random_state=7)
    assert one.score <= first.score + 1e-6


def test_moments_tables_and_arrays_give_the_same():
    by_table = learn(DATA)
    by_moments = learn(Moments(np.cov(DATA.T, bias=True), len(DATA), names=list(DATA.columns)))
    assert by_moments.graph == by_table.graph
    by_array = learn(DATA.to_numpy())
    assert np.array_equal(by_array.graph.adjacency, by_table.graph.adjacency)
    scaled = learn(DATA * [1e-6, 1e6, 3.0, 1e-3])
    assert scaled.graph == by_table.graph


def test_limits_are_kept_and_reported():
    _graph, data = drawn(7, 11, max_component=5)
    assert learn(data, max_component=1).graph.is_acyclic
    few = learn(data, max_parents=1)
    assert few.graph.adjacency.sum(axis=0).max() <= 1
    assert "max_parents" in few.limits
    short = learn(data, max_edges=2)
    assert short.graph.n_edges == 2
    assert "max_edges" in short.limits
    cut = learn(data, max_evaluations=1)
    assert cut.status is SearchStatus.MAX_EVALUATIONS
    assert cut.limits == ("max_evaluations",)
    late = learn(data, time_limit=0.0)
    assert late.status is SearchStatus.TIME_LIMIT
    assert late.limits == ("time_limit",)
    loops = learn(data, max_cycle_length=2)
    assert all(len(cycle) <= 2 for cycle in loops.graph.simple_cycles())


@settings(max_examples=10)
@given(st.integers(3, 6), st.integers(0, 1000), st.data())
def test_knowledge_is_never_violated(p, seed, data):
    _graph, table = drawn(p, seed, n=300)
    names = list(table.columns)
    pairs = [(a, b) for a in names for b in names if a != b]
    forbidden = data.draw(st.sets(st.sampled_from(pairs), max_size=5))
    required = data.draw(st.sets(st.sampled_from(pairs), max_size=2)) - forbidden
    knowledge = Knowledge(required=sorted(required), forbidden=sorted(forbidden))
    result = learn(table, knowledge=knowledge, stable=False)
    assert required <= set(result.graph.edges)
    assert not forbidden & set(result.graph.edges)


def test_tiers_and_exogenous_variables():
    knowledge = Knowledge(tiers=[["costs", "income"], ["price", "quantity"]])
    result = learn(DATA, knowledge=knowledge)
    assert not any(b in ("costs", "income") for a, b in result.graph.edges if a[0] in "pq")
    exogenous = learn(DATA, knowledge=Knowledge(exogenous=["costs", "income"]))
    assert exogenous.graph.parents("costs") == exogenous.graph.parents("income") == ()
    assert equivalent(exogenous.graph, MARKET.graph)
    assert Knowledge.from_json(knowledge.to_json()) == knowledge


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"required": [("a", "b")], "forbidden": [("a", "b")]}, "a -> b is required and forbidden"),
        ({"required": [("a", "b")], "exogenous": ["b"]}, "b is exogenous"),
        ({"required": [("b", "a")], "tiers": [["a"], ["b"]]}, "later tier"),
        ({"required": [("a", "a")]}, "no self-loops"),
        ({"tiers": [["a"], ["a"]]}, "two tiers"),
        ({"tiers": ["ab"]}, "give a list of names"),
        ({"exogenous": "a"}, "list of names"),
        ({"forbidden": ["ab"]}, "not an edge"),
    ],
)
def test_contradictory_knowledge_names_the_contradiction(arguments, message):
    with pytest.raises(InputError, match=message):
        Knowledge(**arguments)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "magic"}, "method is 'magic'"),
        ({"penalty": "aic"}, "penalty is 'aic'"),
        ({"max_component": 0}, "max_component is 0"),
        ({"max_parents": -1}, "max_parents is -1"),
        ({"patience": 0}, "patience is 0"),
        ({"n_starts": 0}, "n_starts is 0"),
        ({"start": []}, "empty list"),
        ({"start": "price"}, "start is 'price'"),
        ({"start": MARKET.graph, "n_starts": 3}, "omit n_starts"),
        ({"knowledge": "costs first"}, "give a Knowledge"),
        ({"time_limit": float("nan")}, "time_limit is nan"),
        ({"time_limit": "1"}, "time_limit is '1'"),
        ({"penalty": True}, "penalty is True"),
        ({"random_state": -1}, "random_state is -1"),
        ({"n_jobs": 0}, "n_jobs is 0"),
        ({"n_jobs": 1.5, "method": "tabu"}, "n_jobs is 1.5"),
        ({"start": DirectedGraph.from_edges([("a", "b")])}, "different nodes"),
        ({"knowledge": Knowledge(forbidden=[("x", "costs")])}, "'x', which is not a variable"),
        (
            {
                "knowledge": Knowledge(forbidden=[("costs", "price")]),
                "start": MARKET.graph,
            },
            "costs -> price, which the knowledge forbids",
        ),
        (
            {
                "knowledge": Knowledge(required=[("price", "quantity"), ("quantity", "price")]),
                "max_component": 1,
            },
            "violates max_component",
        ),
    ],
)
def test_bad_options_get_one_clear_error(options, message):
    with pytest.raises(InputError, match=message):
        learn(DATA, **options)


def test_numbers_of_numpy_are_numbers():
    options = {"max_component": np.int64(3), "penalty": np.float32(4), "random_state": np.int64(3)}
    result = learn(DATA, method="tabu", **options)
    assert result.options.random_state == 3
    assert LearnResult.from_json(result.to_json()) == result


def test_bad_data_gets_one_clear_error():
    with pytest.raises(InputError, match="missing value in row"):
        learn(np.ma.masked_greater(DATA.to_numpy(), 2.0))
    with pytest.raises(InputError, match="price"):
        learn(DATA.assign(price=1.0))
    with pytest.raises(InputError, match="price"):
        learn(DATA.assign(price=np.nan))


def test_tiny_problems():
    with pytest.raises(InputError, match="one column, 'a'"):
        learn(pd.DataFrame({"a": np.random.default_rng(0).normal(size=20)}))
    few = learn(DATA.head(4))
    assert few.graph.adjacency.sum(axis=0).max() <= 2


def test_notebook_form_escapes_names():
    frame = DATA.rename(columns={"costs": "<b>costs</b>"})
    html = learn(frame)._repr_html_()
    assert "<b>costs" not in html
    assert "&lt;b&gt;costs" in html


def test_results_of_other_things_are_refused():
    with pytest.raises(InputError, match="not valid JSON"):
        LearnResult.from_json("{")
    with pytest.raises(InputError, match="schema"):
        LearnResult.from_json("{}")


def test_seconds_are_in_json_only_when_asked_for():
    result = learn(DATA)
    assert "seconds" not in result.to_json()
    assert json.loads(result.to_json(timings=True))["run"]["cost"]["seconds"] > 0


def test_the_estimator_passes_the_checks_of_scikit_learn():
    from sklearn.utils.estimator_checks import check_estimator

    results = check_estimator(CyclicGraphLearner(), on_fail=None, on_skip=None)
    failed = [r["check_name"] for r in results if r["status"] not in ("passed", "skipped")]
    assert failed == []


def test_the_estimator_in_pipelines_and_grids():
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    learner = CyclicGraphLearner().fit(DATA)
    assert list(learner.feature_names_in_) == list(DATA.columns)
    assert learner.graph_ == learn(DATA).graph
    np.testing.assert_array_equal(learner.coef_ != 0, learner.adjacency_)
    pipeline = make_pipeline(StandardScaler(), CyclicGraphLearner()).fit(DATA)
    assert pipeline[-1].adjacency_.sum() == 4
    grid = GridSearchCV(CyclicGraphLearner(), {"max_component": [1, None]}, cv=3).fit(DATA)
    assert grid.best_params_ == {"max_component": None}
    new = MARKET.sample(5_000, random_state=1)
    own = fit(MARKET.graph, new).log_likelihood / len(new)
    assert learner.score(new) == pytest.approx(own, abs=0.01)
