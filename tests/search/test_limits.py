"""Time limits: what is set aside for the end, and what is left out when there is no time."""

import pickle

import numpy as np
import pytest

import cyclearn as cl
from cyclearn.data.reading import as_tables
from cyclearn.foundation import deadlines
from cyclearn.search import answer as room
from cyclearn.search import local_search, runs
from cyclearn.search.auto_search import AutoSearch
from cyclearn.search.options import SearchOptions
from cyclearn.search.runs import Budget
from cyclearn.search.search_effort import LocalEffort, Sizes
from cyclearn.search.starts import SearchCall


@pytest.fixture
def clock(monkeypatch):
    """The time of the clock, which stands still unless it is moved."""
    time = [100.0]
    monkeypatch.setattr(deadlines, "now", lambda: time[0])
    return time


def test_the_answer_has_its_time(clock):
    clock[0] = 100.5  # reading took half a second
    assert Budget.since(100.0, None, 10.0).deadline == 110.0
    many = Budget.since(100.0, None, 10.0, n_variables=1000).deadline
    assert 108.0 < many < 110.0
    # But half of the limit is left for the search.
    assert Budget.since(100.0, None, 1.0, n_variables=1000).deadline == 101.0
    assert Budget.since(100.0, 7, None, n_variables=1000) == Budget(7)


def test_a_part_of_the_time_can_be_kept_back(clock):
    budget = Budget(5, 104.0)
    assert budget.before(1.0) == Budget(5, 103.0)
    assert budget.before(100.0) == Budget(5, 102.0)
    clock[0] = 200.0
    assert budget.before(1.0) == budget
    assert Budget(5).before(1.0) == Budget(5)


def test_another_process_has_another_clock(monkeypatch):
    sent = pickle.dumps([Budget(5, deadlines.now() + 30), Budget(5)])
    # It has left out other times, and may be on another machine.
    monkeypatch.setattr(deadlines, "monotonic", lambda: 7.0)
    limited, unlimited = pickle.loads(sent)
    assert 29 < deadlines.seconds_left(limited.deadline) <= 30
    assert limited.ended(0) is None
    assert unlimited == Budget(5)
    assert deadlines.seconds_left(unlimited.deadline) == np.inf
    assert not deadlines.has_passed(unlimited.deadline)


def test_without_time_the_graph_found_is_the_answer(monkeypatch):
    model = cl.LinearGaussianModel([[0, 0.8, 0], [0, 0, 0.8], [0, 0, 0]], [1, 1, 1], list("abc"))
    tables = as_tables(model.sample(500, random_state=0))
    problem = SearchOptions().problem(tables)
    solution = AutoSearch().solve(problem, SearchCall(seed=0, budget=Budget()))
    # Another member of the class than the one that is shown.
    turned = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], dtype=np.uint8)
    other = runs.Solution((runs.replace(solution.best, best=turned),))
    chosen = room.answer(problem, other, Budget(), end=0.0)
    assert chosen.graph.edges == (("a", "b"), ("b", "c"))
    monkeypatch.setattr(room, "SIZES", Sizes(very_many=2))
    late = room.answer(problem, other, Budget(), end=0.0)
    assert late.graph.edges == (("b", "a"), ("c", "b"))
    assert late.is_cut
    assert room.answer(problem, other, Budget(), end=np.inf).graph == chosen.graph


def test_moves_one_by_one_enter_large_components_only_if_told(monkeypatch):
    monkeypatch.setattr(local_search, "_EFFORT", LocalEffort(max_component=6))
    ring = np.roll(np.eye(8, dtype=bool), 1, axis=1)
    model = cl.LinearGaussianModel(0.7 * ring, np.ones(8))
    moments = cl.Moments(model.covariance, 5000)
    path = ring.copy()
    path[7, 0] = False
    start, whole = (cl.DirectedGraph(A, model.names) for A in (path, ring))
    for method in ("hill-climbing", "tabu"):
        options = {"method": method, "virtual_edges": False, "patience": 1}
        found = cl.learn(moments, start=start, **options)
        assert found.graph.n_edges > 8
        assert found.limits == ("max_component",)
        for told in ({"start": start, "max_component": 8}, {"start": whole}):
            found = cl.learn(moments, **told, **options)
            assert found.graph.n_edges == 8
            assert found.limits == ()
