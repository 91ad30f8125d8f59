"""Proposals and annealing against their slow twins, and moves that must stay in the class."""

import naive_annealing
import numpy as np
import pytest
from naive_annealing import Bits

from cyclearn import DirectedGraph, equivalent, simulate
from cyclearn._kernels.proposals import new_walk, propose
from cyclearn.data import as_moments
from cyclearn.search.score import GraphScore, SearchLimits

pytestmark = pytest.mark.uncompiled


def a_graph(p, rng):
    """A random graph, sparse or dense, with feedback as a rule."""
    adjacency = rng.random((p, p)) < rng.choice([0.2, 0.35, 0.6])
    np.fill_diagonal(adjacency, False)
    return adjacency


def proposals(adjacency, nodes, seed, number):
    """Proposals of the kernel, each beside that of the twin."""
    walk = new_walk(len(adjacency), seed)
    walk.first[:] = naive_annealing.component_of(adjacency)
    bits = Bits(int(walk.state[0]))
    A = adjacency.astype(np.uint8)
    for _ in range(number):
        propose(A, walk, np.array(nodes))
        toggles = [tuple(pair) for pair in walk.toggles[: walk.size[0]].tolist()]
        assert len(set(toggles)) == len(toggles)
        assert (adjacency == A).all()
        yield set(toggles), *naive_annealing.propose(adjacency, bits, nodes)
        assert bits.state == int(walk.state[0])


@pytest.mark.uncompiled(only=True)
def test_proposals_are_those_of_the_twin():
    kinds = set()
    for seed in range(20):
        rng = np.random.default_rng(seed)
        p = int(rng.integers(3, 8))
        nodes = np.sort(rng.permutation(p)[: rng.integers(2, p + 1)]).tolist()
        for found, kind, expected in proposals(a_graph(p, rng), nodes, seed, 80):
            assert found == expected
            kinds.add(kind if found else "none")
    assert len(kinds) == 10


@pytest.mark.uncompiled(only=True)
def test_exchanges_and_turned_cycles_stay_in_the_class():
    n_checked = {"exchange": 0, "turn": 0}
    for seed in range(40):
        rng = np.random.default_rng(seed)
        p = int(rng.integers(3, 6))
        adjacency = a_graph(p, rng)
        for found, kind, _ in proposals(adjacency, list(range(p)), seed, 60):
            if kind in n_checked and found:
                changed = adjacency.copy()
                for i, j in found:
                    changed[i, j] = not changed[i, j]
                assert not changed.diagonal().any()
                assert equivalent(DirectedGraph(adjacency), DirectedGraph(changed))
                n_checked[kind] += 1
    assert min(n_checked.values()) > 20


@pytest.mark.parametrize("seed", range(6))
def test_an_annealing_walks_as_its_twin(seed):
    rng = np.random.default_rng(seed)
    p = int(rng.integers(3, 6))
    model = simulate.random_model(simulate.random_graph(p, random_state=rng), random_state=rng)
    correlation = as_moments(model.sample(200, random_state=rng)).correlation
    max_component = 3
    score = GraphScore(correlation, 0.02, SearchLimits(max_component, p, p * p, 0))
    apart = GraphScore(correlation, 0.02, SearchLimits(p, p, p * p, 0))
    start = a_graph(p, rng)
    if max(map(len, DirectedGraph(start).component_indices)) > max_component:
        start = np.triu(start)
    everything = np.ones((p, p), np.uint8)
    options = {"temperatures": (0.1, 0.002), "n_proposals": 80}
    found = score.anneal(
        start.astype(np.uint8),
        np.arange(p),
        score.rules(everything, everything),
        max_evaluations=10**9,
        seed=seed,
        **options,
    )
    bits = Bits(int(new_walk(p, seed).state[0]))
    last, change, best, best_change = naive_annealing.anneal(
        start,
        bits,
        list(range(p)),
        lambda A: apart.value(A.astype(np.uint8)),
        max_component=max_component,
        **options,
    )
    assert (found.last == last).all()
    assert (found.best == best).all()
    assert found.change == pytest.approx(change, abs=1e-9)
    assert found.best_change == pytest.approx(best_change, abs=1e-9)
