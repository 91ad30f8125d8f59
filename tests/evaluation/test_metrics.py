"""Metrics against brute force over the members of small classes."""

import json
import pickle
from functools import cache
from itertools import combinations
from math import isnan

import networkx as nx
import numpy as np
import pytest

import cyclearn as cl
from cyclearn import DirectedGraph, InputError, LinearGaussianModel, equivalence_class, metrics
from cyclearn.classes.class_statements import mutual_reach
from cyclearn.evaluation import Domains, Evaluator
from cyclearn.graphs import random_graph
from cyclearn.models.projection import is_within
from strategies import iter_exchanges, iter_reversions

PAPER = DirectedGraph.from_edges([(0, 2), (2, 1), (1, 3), (3, 0), (3, 2)])


def drawn(seed, p=None, density=None):
    rng = np.random.default_rng(seed)
    p = p or int(rng.integers(2, 6))
    A = rng.random((p, p)) < (density or rng.uniform(0.1, 0.5))
    np.fill_diagonal(A, False)
    return DirectedGraph(A)


@cache
def steps(graph):
    """All graphs that parent exchanges and reversions reach: the class, by its definition."""
    found, frontier = {graph}, [graph]
    while frontier:
        now = frontier.pop()
        for step in [*iter_exchanges(now), *iter_reversions(now)]:
            following = step.apply(now)
            if following not in found:
                found.add(following)
                frontier.append(following)
    return found


def features(graph):
    edges = set(graph.edges)
    return {
        "adjacency": {frozenset(edge) for edge in edges},
        "arrowhead": edges,
        "cycle": {
            frozenset(pair)
            for nodes in nx.strongly_connected_components(graph.to_networkx())
            for pair in combinations(nodes, 2)
        },
    }


def expected(learned, members, kind):
    found = features(learned)[kind]
    held = [features(member)[kind] for member in members]
    some, every = set.union(*held), set.intersection(*held)
    return (
        len(found & some) / len(found) if found else None,
        len(found & every) / len(every) if every else None,
    )


@pytest.mark.parametrize("seed", range(40))
def test_precision_and_recall_by_listing_the_class(seed):
    true = drawn(seed)
    learned = drawn(1000 + seed, true.n_nodes)
    # Steps link the class of rotations; the rules beyond are tested with the whole class.
    by_rotations = equivalence_class(true, rules="rotations")
    members = steps(by_rotations.representative)
    alone = metrics.structure_scores(learned, true, to_class=False).to_dict()
    for kind in ("adjacency", "arrowhead", "cycle"):
        assert tuple(alone[kind].values()) == expected(learned, [true], kind)
    if learned in by_rotations:
        learned = equivalence_class(learned, rules="rotations").representative
    scores = metrics.structure_scores(learned, by_rotations).to_dict()
    for kind in ("adjacency", "arrowhead", "cycle"):
        assert tuple(scores[kind].values()) == expected(learned, members, kind)
    distance = metrics.class_distance(learned, by_rotations)
    assert distance == min(metrics.shd(learned, member) for member in members)
    assert distance.is_exact
    assert metrics.shd(learned, distance.nearest) == distance


@pytest.mark.parametrize("seed", range(5))
def test_members_of_the_class_are_perfect(seed):
    true = random_graph(5, random_state=seed)
    for member in equivalence_class(true).members(max_members=5):
        found = metrics.evaluate(member, true, n_domains=3)
        assert found.equivalent
        assert found.class_distance == 0
        assert found.success == 1
        scores = found.scores
        for pair in (scores.adjacency, scores.arrowhead, scores.cycle):
            assert all(isnan(x) or x == 1 for x in (pair.precision, pair.recall))


def test_a_true_graph_with_redundant_edges_is_perfect_too():
    true = DirectedGraph.from_edges([("a", "b"), ("b", "a"), ("b", "c")])
    assert true.is_reducible()
    found = metrics.evaluate(true, true, n_domains=3)
    assert found.class_distance == 0
    assert found.scores.arrowhead.precision == found.scores.adjacency.recall == 1
    assert found.n_redundant == (1, 1)
    assert "redundant among them           1, 1" in str(found)
    extra = DirectedGraph.from_edges([*true.edges, ("a", "c")])
    assert metrics.class_distance(extra, true) > 0


def test_other_nodes_are_named_where_they_are():
    true = DirectedGraph.from_edges([("a", "b")])
    learned = DirectedGraph.from_edges([("a", "b"), ("b", "e")])
    for compare in (metrics.shd, metrics.class_distance, metrics.structure_scores):
        with pytest.raises(InputError, match="only in the learned graph: e"):
            compare(learned, true)
    with pytest.raises(InputError, match="only in the true graph: e"):
        metrics.evaluate(true, learned)


def test_without_stable_weights_the_other_metrics_remain():
    dense = DirectedGraph(~np.eye(12, dtype=bool))
    found = metrics.evaluate(dense, dense, n_domains=2)
    assert found.success is None
    assert found.class_distance == 0
    assert "unknown" in str(found)
    assert found.to_dict()["multi_domain_success"] is None


def test_a_large_class_says_that_its_cycles_were_not_all_looked_at():
    graph = DirectedGraph(np.triu(np.ones((4, 4)), 1))
    exact = equivalence_class(graph).feedback_pairs()
    cut = equivalence_class(graph).feedback_pairs(max_fillings=1)
    assert (exact.is_exact, cut.is_exact) == (True, False)
    assert not (cut.some & ~exact.some).any()
    assert not (exact.every & ~cut.every).any()


def test_mutual_reach_is_that_of_strong_components():
    for seed, p in [*((seed, 7) for seed in range(20)), (0, 60), (1, 100)]:
        graph = drawn(seed, p)
        reach = mutual_reach(range(p), graph.columns, (1 << p) - 1)
        for component in graph.component_indices:
            for n in component:
                assert reach[n] == sum(1 << m for m in component)


@pytest.mark.parametrize("seed", range(12))
def test_within_a_bound_means_what_the_projection_says(seed):
    true, learned = random_graph(5, random_state=seed), random_graph(5, random_state=100 + seed)
    model = cl.simulate.random_model(true, random_state=seed)
    divergence = cl.project(learned, model).kl_divergence
    scale = np.sqrt(model.covariance.diagonal())
    R = np.ascontiguousarray(model.covariance / np.outer(scale, scale))
    assert is_within(learned, R, divergence + 1e-7)
    assert not is_within(learned, R, divergence - 1e-7)


def test_success_of_a_missing_edge_is_known_in_closed_form():
    # Without a → b the divergence is −½ log(1 − ρ²), ρ the correlation of a and b.
    weights = np.linspace(0.01, 0.2, 20)
    domains = [LinearGaussianModel([[0, w], [0, 0]], [1, 1], ["a", "b"]) for w in weights]
    true = domains[0].graph
    rho2 = weights**2 / (1 + weights**2)
    rate = metrics.multi_domain_success(DirectedGraph.from_edges([], ["b", "a"]), true,
                                        domains=domains)  # fmt: skip
    assert rate.eta == 2e-3
    assert rate.successes == tuple(-0.5 * np.log(1 - rho2) < 2e-3)
    assert 0 < rate == sum(rate.successes) / 20 < 1


def test_success_is_shared_by_a_class_and_agrees_with_projections():
    true = PAPER
    models = metrics.draw_domains(true, 6, random_state=3)
    learned = DirectedGraph.from_edges([(0, 2), (2, 1), (1, 3), (3, 2)])
    domains = Domains(true, models, eta=0.05)
    truth = tuple(cl.project(learned, model).kl_divergence < 0.05 for model in models)
    for member in equivalence_class(learned):
        assert Domains(true, models, eta=0.05).success(member).successes == truth
        assert domains.success(member) == sum(truth) / 6


def test_domains_that_the_true_graph_does_not_generate_are_projected_too():
    collider = DirectedGraph.from_edges([("a", "b"), ("c", "b")])
    full = LinearGaussianModel([[0, 0.5, 0.5], [0, 0, 0], [0, 0.5, 0]], [1, 1, 1], ["a", "b", "c"])
    assert metrics.multi_domain_success(collider, collider, domains=[full]) == 0


def test_outputs_of_a_method():
    outputs = metrics.multi_domain_outputs(
        PAPER, lambda moments: DirectedGraph(np.zeros((4, 4)), moments.names), n_domains=4
    )
    assert [output.success for output in outputs] == [0] * 4
    perfect = metrics.multi_domain_outputs(PAPER, lambda _: PAPER, n_domains=2, n_samples=50)
    assert [output.success for output in perfect] == [1, 1]


def test_metrics_survive_pickling_and_the_order_of_nodes():
    learned = PAPER.reordered(["X4", "X2", "X1", "X3"])
    found = metrics.evaluate(learned, PAPER, n_domains=2)
    again = pickle.loads(pickle.dumps(found))
    assert again.to_dict() == found.to_dict()
    assert again.success.successes == (True, True)
    assert again.class_distance.is_exact
    assert found.shd == 0
    json.dumps(found.to_dict())


def test_what_cannot_be_evaluated_is_refused():
    with pytest.raises(InputError, match="eta is 0"):
        metrics.multi_domain_success(PAPER, PAPER, eta=0)
    with pytest.raises(InputError, match="n_domains is 0"):
        metrics.multi_domain_success(PAPER, PAPER, n_domains=0)
    with pytest.raises(InputError, match="no domains"):
        Evaluator(PAPER, [])
    with pytest.raises(InputError, match="different nodes"):
        metrics.shd(PAPER, DirectedGraph.from_edges([("a", "b")]))


def test_what_there_is_no_time_for_is_left_out():
    complete = DirectedGraph(1 - np.eye(40))
    found = metrics.evaluate(complete, complete, time_limit=0)
    assert (found.equivalent, found.shd, int(found.class_distance)) == (True, 0, 0)
    assert found.scores is None
    assert found.success is None
    assert found.to_dict()["scores"] is None
    assert "the time limit was too short" in str(found)
