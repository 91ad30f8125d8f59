"""Fits do not depend on the order in which the columns of a table stand."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cyclearn import DirectedGraph, Moments, fit, simulate


@settings(max_examples=20)
@given(st.integers(2, 7), st.integers(0, 10**6))
def test_the_order_of_columns_changes_no_bit(p, seed):
    rng = np.random.default_rng(seed)
    names = [f"{rng.integers(10**6)}-{j}" for j in range(p)]
    graph = simulate.random_graph(p, max_component=5, random_state=rng)
    # Data of another graph, on which several optima are common.
    other = simulate.random_model(
        simulate.random_graph(p, max_component=5, random_state=rng), random_state=rng
    )
    order = rng.permutation(p)
    first = fit(DirectedGraph(graph.adjacency, names), Moments(other.covariance, 500, names=names))
    moved = [names[j] for j in order]
    second = fit(
        DirectedGraph(graph.adjacency[np.ix_(order, order)], moved),
        Moments(other.covariance[np.ix_(order, order)], 500, names=moved),
    )
    assert np.array_equal(first.B[np.ix_(order, order)], second.B)
    assert len(first.alternatives) == len(second.alternatives)
