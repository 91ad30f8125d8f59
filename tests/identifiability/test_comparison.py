"""compare and quasi_equivalent: verdicts, evidence, promises."""

import json

import numpy as np
import pytest

from cyclearn.classes import equivalence_class
from cyclearn.foundation.errors import InputError
from cyclearn.graphs import DirectedGraph, random_graph
from cyclearn.identifiability import (
    Closures,
    Conclusion,
    Sampler,
    Sharing,
    compare,
    quasi_equivalent,
)
from cyclearn.identifiability.numerics.numerical_overlap import (
    draw_factor,
    nearest_factor,
    overlap,
    wilson_interval,
)

CYCLE = DirectedGraph.from_edges([("a", "b"), ("b", "c"), ("c", "a")])
DAG = DirectedGraph.from_edges([("a", "b"), ("b", "c"), ("a", "c")])


@pytest.mark.parametrize("sampler", Sampler)
def test_three_cycle_and_complete_graph(sampler):
    found = quasi_equivalent(CYCLE, DAG, sampler=sampler, n_draws=200)
    assert found
    assert found.sharing is Sharing.PROVED
    assert found.first_in_second
    assert not found.second_in_first
    assert found.closures is Closures.EQUAL
    assert found.verdict is Conclusion.NOT_GENERATED
    assert found.certificate is not None
    assert found.certificate.holds()
    assert found.forward is not None
    assert found.backward is not None
    assert found.forward.share == 1
    low, high = (0.3, 0.55) if sampler is Sampler.GAUSSIAN else (0.65, 0.9)
    assert low < found.backward.share < high
    assert not compare(CYCLE, DAG)


def test_the_pair_of_the_block_rule_is_equal_by_numerics_too():
    a = DirectedGraph.from_edges([(0, 1), (3, 2), (0, 3), (1, 3), (2, 3)])
    b = DirectedGraph.from_edges([(2, 3), (1, 0), (0, 1), (2, 1), (3, 1)])
    for g, h in ((a, b), (b, a)):
        drawn = overlap(
            g,
            h,
            n_draws=200,
            n_starts=20,
            tolerance=1e-9,
            sampler=Sampler.GAUSSIAN,
            random_state=0,
        )
        assert drawn.n_generated == 200
        assert drawn.n_common_tangent == 3


@pytest.mark.parametrize("seed", range(6))
def test_members_of_one_class_are_equivalent(seed):
    graph = random_graph(6, max_component=6, random_state=seed)
    member = list(equivalence_class(graph).members(max_members=4))[-1]
    found = compare(graph, member)
    assert found.verdict is Conclusion.EQUIVALENT_BY_ROTATIONS
    assert found.equivalence.forward is not None


@pytest.mark.parametrize("seed", range(12))
def test_verdicts_agree_with_projection(seed):
    """A proof of different closures means that no random distribution is shared."""
    g = random_graph(5, max_component=5, random_state=seed)
    h = random_graph(5, max_component=5, random_state=100 + seed)
    found = compare(g, h)
    if found.sharing is not Sharing.REFUTED or found.dimensions[0] < found.dimensions[1]:
        return
    drawn = overlap(
        g, h, n_draws=5, n_starts=20, tolerance=1e-9, sampler=Sampler.GAUSSIAN, random_state=0
    )
    assert drawn.n_generated == 0


def test_certificate_is_confirmed_by_projection():
    certificate = compare(CYCLE, DAG).certificate
    assert certificate.generates == DAG
    Q = np.array(certificate.Q, dtype=float)
    covariance = np.linalg.inv(Q @ Q.T)
    scale = np.sqrt(covariance.diagonal())
    R = covariance / np.outer(scale, scale)
    divergences = [
        nearest_factor(
            graph.reordered(certificate.generates.names),
            R,
            n_starts=50,
            tolerance=1e-9,
            generator=np.random.default_rng(0),
        )[0]
        for graph in (CYCLE, DAG)
    ]
    assert divergences[0] > 1e-6
    assert divergences[1] < 1e-9


def test_answers_are_symmetric_deterministic_and_plain():
    one, again, turned = compare(CYCLE, DAG), compare(CYCLE, DAG), compare(DAG, CYCLE)
    assert one.to_dict() == again.to_dict()
    assert one.verdict is turned.verdict
    json.dumps(one.to_dict())
    assert "quasi equivalent, proved" in one.explain().lower()


def test_order_of_the_nodes_plays_no_part():
    shuffled = DirectedGraph.from_edges(DAG.edges, ["c", "a", "b"])
    assert compare(DAG, shuffled).verdict is Conclusion.EQUIVALENT_BY_ROTATIONS


def test_bad_input():
    with pytest.raises(InputError, match="n_draws is 0"):
        compare(CYCLE, DAG, n_draws=0)
    with pytest.raises(InputError):
        compare(CYCLE, DirectedGraph.from_edges([("x", "y")]))


@pytest.mark.parametrize("seed", range(4))
def test_the_seed_does_not_change_the_verdict_on_six_nodes(seed):
    rng = np.random.default_rng(seed)
    adjacency = (rng.random((6, 6)) < 0.35) & ~np.eye(6, dtype=bool)
    g = DirectedGraph(adjacency)
    member = list(equivalence_class(g).members(max_members=3))[-1]
    edges = list(member.edges)
    h = DirectedGraph.from_edges([*edges[1:], edges[0][::-1]], g.names)
    assert compare(g, h).verdict is compare(g, h, random_state=1).verdict


def test_every_component_stops_where_nothing_better_is_conceivable(monkeypatch):
    """Two cycles that generate the distribution: the first start of each is the last."""
    from cyclearn.models import components

    edges = [("a", "b"), ("b", "a"), ("c", "d"), ("d", "c"), ("b", "c")]
    graph = DirectedGraph.from_edges(edges)
    _, R = draw_factor(graph, Sampler.PAPER, np.random.default_rng(1))
    fitted, of = [], components.ComponentRuns.of

    def counted(R, columns, starts, *rest):
        fitted.append(len(starts))
        return of(R, columns, starts, *rest)

    monkeypatch.setattr(components.ComponentRuns, "of", counted)
    divergence, _ = nearest_factor(
        graph, R, n_starts=200, tolerance=1e-9, generator=np.random.default_rng(0)
    )
    assert divergence < 1e-9
    assert fitted == [1, 1]


def test_wilson_interval_at_the_ends():
    assert wilson_interval(0, 20)[0] == 0
    assert wilson_interval(20, 20)[1] == 1
    low, high = wilson_interval(50, 100)
    assert low == pytest.approx(0.4038, abs=1e-3)
    assert high == pytest.approx(0.5962, abs=1e-3)


def test_many_nodes_fall_back_on_separations():
    chain = [(v, v + 1) for v in range(12)]
    g = DirectedGraph.from_edges([*chain, (3, 1)])
    h = DirectedGraph.from_edges([*chain, (4, 1)])
    assert compare(g, h).verdict in (Conclusion.DIFFERENT_RANKS, Conclusion.DIFFERENT_DIMENSIONS)
    turned = DirectedGraph.from_edges([(v + 1, v) for v in range(12)], g.names)
    assert compare(DirectedGraph.from_edges(chain, g.names), turned)


def test_overlap_of_nearly_everything_is_not_called_equal():
    """Five nodes, full dimension, about 98% of one set inside the other."""
    g = DirectedGraph.from_columns((0b00011, 0b10111, 0b01111, 0b11011, 0b11100), tuple("abcde"))
    h = DirectedGraph.from_columns((0b01111, 0b10111, 0b10100, 0b11011, 0b11101), tuple("abcde"))
    found = compare(g, h)
    assert not found
    assert found.sharing.is_positive
