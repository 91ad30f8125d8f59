"""Vanishing minors and normal directions against determinants of random matrices."""

from itertools import permutations

import numpy as np
import pytest

from cyclearn.classes import equivalence_class
from cyclearn.classes.dimension import gram_jacobian
from cyclearn.graphs import DirectedGraph, d_separated, random_graph
from cyclearn.graphs.bitsets import bits
from cyclearn.identifiability.constraints.conormals import differing_conormal_minor
from cyclearn.identifiability.constraints.invariants import (
    differing_minor,
    iter_minors,
    vanishing_minors,
)


def integer_factor(graph, rng):
    Q = rng.integers(1, 1000, (graph.n_nodes, graph.n_nodes)).astype(object)
    return np.where(graph.support, Q, 0)


def determinant(matrix):
    """By the Leibniz formula, exact for integers."""
    total = 0
    for order in permutations(range(len(matrix))):
        sign = np.linalg.det(np.eye(len(order))[list(order)])
        term = round(sign)
        for i, j in enumerate(order):
            term *= matrix[i][j]
        total += term
    return total


@pytest.mark.parametrize("seed", range(25))
def test_vanishing_minors_are_those_that_vanish_at_a_random_point(seed):
    rng = np.random.default_rng(seed)
    graph = DirectedGraph((rng.random((4, 4)) < 0.4) & ~np.eye(4, dtype=bool))
    Q = integer_factor(graph, rng)
    theta = Q @ Q.T
    zero = vanishing_minors(graph)
    for a, b in iter_minors(4):
        block = theta[np.ix_(list(bits(a)), list(bits(b)))]
        assert (determinant(block) == 0) == ((a, b) in zero)


@pytest.mark.parametrize("seed", range(10))
def test_almost_principal_minors_are_d_separations(seed):
    graph = random_graph(5, max_component=4, random_state=seed)
    zero = vanishing_minors(graph)
    for x in range(5):
        for y in range(x + 1, 5):
            for rest in range(1 << 5):
                if rest >> x & 1 or rest >> y & 1:
                    continue
                given = 31 & ~(rest | 1 << x | 1 << y)
                a, b = rest | 1 << x, rest | 1 << y
                vanishes = (a, b) in zero or (b, a) in zero
                assert vanishes == d_separated(graph, x, y, list(bits(given)))


@pytest.mark.parametrize("seed", range(8))
def test_members_of_a_class_have_the_same_invariants(seed):
    graph = random_graph(5, max_component=5, random_state=seed)
    for member in equivalence_class(graph).members(max_members=5):
        assert differing_minor(graph, member) is None
        assert differing_conormal_minor(graph, member) is None


def test_jacobian_is_the_derivative():
    graph = DirectedGraph.from_edges([(0, 1), (1, 2), (2, 0)])
    rng = np.random.default_rng(0)
    Q = np.where(graph.support, rng.standard_normal((3, 3)), 0)
    change = np.where(graph.support, rng.standard_normal((3, 3)), 0)
    along = [change[i, j] for j, c in enumerate(graph.columns) for i in bits(c)]
    expected = (change @ Q.T + Q @ change.T)[np.triu_indices(3)]
    assert np.allclose(np.array(along) @ gram_jacobian(graph.columns, Q), expected)
