import itertools

import numpy as np
import pytest

from cyclearn.classes import equivalence_class
from cyclearn.data import Moments
from cyclearn.graphs import DirectedGraph
from cyclearn.models import FitStatus, project, random_model

CYCLE = DirectedGraph.from_edges([("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")])
TURNED = DirectedGraph.from_edges([("b", "a"), ("c", "b"), ("d", "c"), ("a", "d")], CYCLE.names)
CHAIN = DirectedGraph.from_edges([("a", "b"), ("b", "c"), ("c", "d")])
# The four-node example: edges 0→2, 2→1, 1→3, 3→0, 3→2.
EXAMPLE = DirectedGraph.from_edges([(0, 2), (2, 1), (1, 3), (3, 0), (3, 2)])


@pytest.mark.parametrize("seed", range(15))
def test_a_turned_cycle_makes_the_same_distributions(seed):
    truth = random_model(CYCLE, random_state=seed)
    found = project(TURNED, truth)
    assert found.kl_divergence < 1e-11
    np.testing.assert_allclose(found.model.covariance, truth.covariance, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("seed", range(15))
def test_a_parent_exchange_makes_the_same_distributions(seed):
    # Columns {a} and {a, b} of a → b become {b} and {a, b} of b → a; with an outside parent
    # on both, x → a, x → b, a → b likewise.
    first = DirectedGraph.from_edges([("x", "a"), ("x", "b"), ("a", "b")])
    second = DirectedGraph.from_edges([("x", "a"), ("x", "b"), ("b", "a")])
    truth = random_model(first, random_state=seed)
    assert project(second, truth).kl_divergence < 1e-12


@pytest.mark.parametrize("seed", range(3))
def test_the_eight_members_of_the_example_are_at_distance_zero(seed):
    truth = random_model(EXAMPLE, random_state=seed)
    members = list(equivalence_class(EXAMPLE))
    assert len(members) == 8
    for member in members:
        assert project(member, truth).kl_divergence < 1e-11


@pytest.mark.parametrize("seed", range(40))
def test_members_of_one_class_are_at_distance_zero(seed):
    rng = np.random.default_rng(seed)
    p = int(rng.integers(3, 6))
    graph = DirectedGraph((rng.random((p, p)) < 0.4) & ~np.eye(p, dtype=bool))
    truth = random_model(graph, random_state=rng)
    for member in itertools.islice(equivalence_class(graph), 6):
        assert project(member, truth).kl_divergence < 1e-10


@pytest.mark.parametrize("seed", range(10))
def test_separated_graphs_are_at_a_positive_distance(seed):
    truth = random_model(CYCLE, random_state=seed)
    found = project(CHAIN, truth)
    assert found.kl_divergence > 1e-5
    assert found.status is FitStatus.CONVERGED


def test_the_distance_is_the_kl_divergence():
    truth = random_model(CYCLE, random_state=0)
    found = project(CHAIN, truth)
    theta = found.model.precision
    ratio = theta @ truth.covariance
    expected = 0.5 * (np.trace(ratio) - 4 - np.linalg.slogdet(ratio)[1])
    assert found.kl_divergence == pytest.approx(expected, rel=1e-9)


def test_names_are_matched_and_moments_are_accepted():
    truth = random_model(CYCLE, random_state=0)
    shuffled = CYCLE.reordered(["d", "b", "a", "c"])
    assert project(shuffled, truth).kl_divergence < 1e-12
    moments = Moments(truth.covariance, 10, names=truth.names)
    assert project(CYCLE, moments).kl_divergence < 1e-12
    assert len(project(CYCLE, moments).alternatives) == 1
