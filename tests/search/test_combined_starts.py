"""Starts that missed different things."""

from collections import Counter

import numpy as np

from cyclearn import DirectedGraph, LinearGaussianModel
from cyclearn.data.reading import as_tables
from cyclearn.search.combined_starts import combined
from cyclearn.search.options import SearchOptions
from cyclearn.search.runs import SearchRun, SearchStatus

# Two colliders that have nothing to do with each other.
TRUE = DirectedGraph.from_edges([("a", "c"), ("b", "c"), ("d", "f"), ("e", "f")])
MODEL = LinearGaussianModel(0.7 * TRUE.adjacency, np.ones(6), TRUE.names)


def run_ending_at(problem, edges):
    graph = DirectedGraph.from_edges(edges, TRUE.names).adjacency.astype(np.uint8)
    value = problem.score().value(graph)
    return SearchRun(graph, graph, value, (), SearchStatus.SETTLED, 1, Counter(), 0)


def test_what_is_better_in_each_is_taken():
    problem = SearchOptions().problem(as_tables(MODEL.sample(2_000, random_state=0)))
    first = run_ending_at(problem, [("a", "c"), ("b", "c"), ("f", "d"), ("f", "e")])
    second = run_ending_at(problem, [("c", "a"), ("c", "b"), ("d", "f"), ("e", "f")])
    for runs in ([first, second], [second, first]):
        np.testing.assert_array_equal(combined(problem, runs), TRUE.adjacency)


def test_nothing_better_is_none():
    problem = SearchOptions().problem(as_tables(MODEL.sample(2_000, random_state=0)))
    best = run_ending_at(problem, TRUE.edges)
    worse = run_ending_at(problem, [("a", "c"), ("b", "c"), ("f", "d"), ("f", "e")])
    assert combined(problem, [worse, best]) is None
