"""Proofs are never contradicted: by rotations, by other proofs, by the numbers."""

from dataclasses import replace
from itertools import combinations, islice, product

import numpy as np
import pytest

from cyclearn.classes import equivalent
from cyclearn.classes.territories import territories
from cyclearn.graphs import DirectedGraph
from cyclearn.identifiability import Conclusion, Sampler, Sharing, compare
from cyclearn.identifiability.difference.separating_matrix import (
    Separation,
    separate,
    separate_by_largest_column,
)
from cyclearn.identifiability.interior_points import InteriorPoint, interior_point
from cyclearn.identifiability.numerics.numerical_overlap import draw_factor, nearest_factor
from cyclearn.identifiability.numerics.separation_search import (
    iter_face_factors,
    iter_wide_factors,
    search_separation,
)
from slow_tests import few
from strategies import iter_exchanges, iter_reductions, iter_reversions


def random_graph_of(p, rng):
    return DirectedGraph((rng.random((p, p)) < rng.uniform(0.2, 0.8)) & ~np.eye(p, dtype=bool))


def rotated(graph, n_steps, rng):
    """The graph after random reductions, exchanges and reversions."""
    for _ in range(n_steps):
        steps = [*iter_reductions(graph), *iter_exchanges(graph)]
        steps += islice(iter_reversions(graph), 20)
        if not steps:
            break
        graph = steps[rng.integers(len(steps))].apply(graph)
    return graph


def classes_of_three_nodes():
    found = {}
    for flat in product([False, True], repeat=6):
        adjacency = np.zeros((3, 3), dtype=bool)
        adjacency[~np.eye(3, dtype=bool)] = flat
        graph = DirectedGraph(adjacency)
        found.setdefault(territories(graph.columns), graph)
    return list(found.values())


def divergence(graph, Q, n_starts=60):
    covariance = np.linalg.inv(Q @ Q.T)
    scale = np.sqrt(covariance.diagonal())
    R = covariance / np.outer(scale, scale)
    return nearest_factor(
        graph,
        (R + R.T) / 2,
        n_starts=n_starts,
        tolerance=1e-9,
        generator=np.random.default_rng(0),
    )[0]


@pytest.mark.parametrize("p", few(2, [4, 6, 3, 5]))
def test_rotations_are_never_contradicted(p):
    """No invariant and no separating matrix tells a graph from what rotations make of it."""
    rng = np.random.default_rng(p)
    for _ in range(5):
        g = random_graph_of(p, rng)
        h = rotated(g, 6, rng)
        assert compare(g, h).verdict is Conclusion.EQUIVALENT_BY_ROTATIONS
        assert separate_by_largest_column(g, h) is None
        assert separate_by_largest_column(h, g) is None
        found = search_separation(g, h, n_faces=4, n_wide=4, n_boundary=0, random_state=0)
        assert found is None


def test_three_nodes_all_pairs():
    """Every verdict against twenty distributions each way; no pair of classes is equal."""
    graphs = classes_of_three_nodes()
    assert len(graphs) == 12
    rng = np.random.default_rng(0)
    for g, h in combinations(graphs, 2):
        found = compare(g, h, n_draws=20)
        assert not found.verdict.is_equal
        assert found.verdict.is_proved
        missed = shared = 0
        for one, other in ((g, h), (h, g)):
            for _ in range(20):
                Q, _ = draw_factor(one, Sampler.GAUSSIAN, rng)
                is_generated = divergence(other, Q, n_starts=20) < 1e-9
                missed += not is_generated
                shared += is_generated and found.dimensions[0] == found.dimensions[1]
        assert missed > 0
        assert (shared > 0) == (found.sharing is not Sharing.REFUTED)


@pytest.mark.parametrize("seed", few(2, range(4)))
def test_four_nodes_sample(seed):
    """Pairs of equal dimension: equal means no failure, different closures nothing in common."""
    rng = np.random.default_rng(seed)
    n_checked = 0
    while n_checked < 10:
        g, h = random_graph_of(4, rng), random_graph_of(4, rng)
        if g.dimension() != h.dimension() or equivalent(g, h):
            continue
        n_checked += 1
        found = compare(g, h, n_draws=20)
        assert found.verdict.is_proved
        for one, other in ((g, h), (h, g)):
            for _ in range(5):
                Q, _ = draw_factor(one, Sampler.GAUSSIAN, rng)
                is_generated = divergence(other, Q) < 1e-9
                if found.verdict.is_equal:
                    assert is_generated
                if found.sharing is Sharing.REFUTED:
                    assert not is_generated


@pytest.mark.parametrize("seed", range(3))
def test_separated_distributions_are_not_generated(seed):
    """With projection as an independent witness, at the distribution and near it."""
    rng = np.random.default_rng(seed)
    n_checked = 0
    while n_checked < 8:
        g, h = random_graph_of(4, rng), random_graph_of(4, rng)
        wide = iter_wide_factors(g, rng)
        found = separate(g, h, [next(wide) for _ in range(3)])
        if found is None:
            continue
        assert found.holds()
        Q = np.array(found.Q, dtype=float)
        if np.linalg.cond(Q) > 1e3:
            continue
        n_checked += 1
        near = Q * (1 + 1e-5 * rng.standard_normal(Q.shape))
        assert divergence(h, Q) > 0
        assert divergence(h, near) > 0


@pytest.mark.parametrize("seed", few(2, range(6)))
def test_what_a_graph_generates_is_never_separated_from_it(seed):
    rng = np.random.default_rng(seed)
    for _ in range(10):
        graph = random_graph_of(5, rng)
        for stream in (iter_wide_factors, iter_face_factors):
            drawn = stream(graph, rng)
            assert separate(graph, graph, [next(drawn) for _ in range(4)]) is None


def test_a_forged_separation_does_not_hold():
    cycle = DirectedGraph.from_edges([("a", "b"), ("b", "c"), ("c", "a")])
    dag = DirectedGraph.from_edges([("a", "b"), ("b", "c"), ("a", "c")])
    true = separate_by_largest_column(dag, cycle)
    assert true.holds()
    whole = tuple(tuple(row) for row in np.eye(3, dtype=int).tolist())
    for forged in (
        Separation(cycle, dag, true.Q, true.Y, true.c),
        Separation(dag, dag, true.Q, true.Y, true.c),
        Separation(dag, cycle, whole, true.Y, true.c),
        Separation(dag, cycle, true.Q, whole, true.c),
        Separation(dag, cycle, true.Q, true.Y, tuple(c - 10**6 for c in true.c)),
        Separation(dag, cycle, ((1, 1, 1),) * 3, true.Y, true.c),
    ):
        assert not forged.holds()


def test_interior_points_are_generated_with_what_is_near():
    """Against projection: nearby matrices in random directions."""
    rng = np.random.default_rng(1)
    one = DirectedGraph.from_columns((0b0011, 0b1110, 0b0111, 0b1101), tuple("abcd"))
    other = DirectedGraph.from_columns((0b0001, 0b0011, 0b0111, 0b1111), tuple("abcd"))
    found = compare(one, other)
    assert found.sharing is Sharing.PROVED
    points = found.shared or tuple(
        interior_point(graph, np.eye(4, dtype=int).tolist(), np.eye(4)) for graph in (one, other)
    )
    for point in points:
        assert point.holds()
        theta = np.array(point.theta, dtype=float)
        for _ in range(5):
            change = rng.standard_normal((4, 4)) * 1e-4 * np.abs(theta).min()
            near = np.linalg.cholesky(theta + change + change.T)
            assert divergence(point.graph, near) < 1e-9


def test_an_interior_point_that_is_not_one_does_not_hold():
    cycle = DirectedGraph.from_edges([("a", "b"), ("b", "c"), ("c", "a")])
    true = interior_point(cycle, np.eye(3, dtype=int).tolist(), np.eye(3))
    assert true.holds()
    outside = ((10, 9, 9), (9, 10, 9), (9, 9, 10))
    assert interior_point(cycle, outside, np.linalg.cholesky(np.array(outside))) is None
    for theta, Q, K in (
        (outside, true.Q, true.K),
        (true.theta, ((1, 1, 1),) * 3, true.K),
        (true.theta, true.Q, tuple(tuple(0 for _ in row) for row in true.K)),
        (((1, 1, 0), (0, 1, 0), (0, 0, 1)), true.Q, true.K),
    ):
        assert not InteriorPoint(cycle, theta, Q, K).holds()


def test_interior_points_among_matrices_with_vanishing_minors():
    """Θ[1, 2] follows from the other entries on both graphs; forged proofs of it do not hold."""
    names = tuple("12345")
    one = DirectedGraph.from_columns((0b00001, 0b00010, 0b01111, 0b11011, 0b10111), names)
    other = DirectedGraph.from_columns((0b00001, 0b00010, 0b01111, 0b11101, 0b10111), names)
    found = compare(one, other, n_draws=5)
    assert found.sharing is Sharing.PROVED
    rng = np.random.default_rng(2)
    for point in found.shared:
        assert point.holds()
        assert [(each.row, each.column) for each in point.determined] == [(0, 1)]
        assert set(point.determined[0].minor) == {0b11101, 0b11110}
        # What one graph generates near the point, the other generates too.
        Q = np.array(point.Q, dtype=float)
        for _ in range(3):
            near = Q * (1 + 1e-4 * rng.standard_normal(Q.shape))
            for graph in (one, other):
                assert divergence(graph, near) < 1e-9
        minors = [(0b11101, 0b11011), (0b00001, 0b00010), (0b11001, 0b11010)]
        for forged in ((), *((replace(point.determined[0], minor=minor),) for minor in minors)):
            assert not replace(point, determined=forged).holds()
        assert not replace(point, determined=point.determined * 2).holds()


def test_points_on_the_boundary_of_a_set_prove_nothing():
    """Equality in the inequality is not enough: the point itself may be generated."""
    graph = DirectedGraph.from_edges([("a", "b")])
    Q = ((1, 0), (0, 1))
    Y = ((0, 0), (0, 0))
    assert not Separation(graph, graph, Q, Y, (0, 0)).holds()


def test_four_facets_generate_all_matrices_of_factor_width_three():
    """The bound is known by hand where all correlations among four nodes are ρ: ρ ≤ 2/3.

    The matrix 3I − J is positive semidefinite on every three nodes, and its trace with such a
    matrix is 12(2/3 − ρ).
    """
    names = tuple("dabce")
    # Node d is in every column, so the other four see the facets and what the first column adds.
    facets = (0b01111, 0b10111, 0b11011, 0b11101)
    graph = DirectedGraph.from_columns((0b00001, *facets), names)
    other = DirectedGraph.from_columns((0b01101, *facets), names)
    assert compare(graph, other).verdict is Conclusion.EQUIVALENT_BY_RULES
    for rho, is_inside in ((0.6, True), (0.66, True), (0.68, False), (0.9, False)):
        theta = np.full((5, 5), rho)
        theta[0, 1:] = theta[1:, 0] = 0.1
        np.fill_diagonal(theta, 1.0)
        scale = np.sqrt(np.linalg.inv(theta).diagonal())
        R = np.linalg.inv(theta) / np.outer(scale, scale)
        for each in (graph, other):
            found = nearest_factor(
                each, R, n_starts=200, tolerance=1e-8, generator=np.random.default_rng(0)
            )[0]
            assert (found < 1e-8) == is_inside


def test_exact_arithmetic_is_exact():
    """Rounding 10⁻¹² away would let this pass, and a graph generates what it generates."""
    graph = DirectedGraph.from_edges([("a", "b")])
    scale = 10**12
    Q = ((1, 0), (0, 1))
    Y = ((scale, 0), (0, -scale))
    # tr(YΘ) = 0; Y on {a} allows c below 10¹², Y on {a, b} below −10¹².
    assert not Separation(graph, graph, Q, Y, (scale - 1, -scale - 1)).holds()
    assert not Separation(graph, graph, Q, Y, (scale, 1 - scale)).holds()
