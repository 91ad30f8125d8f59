"""Every move keeps the posterior: flows between all pairs of graphs of three nodes are equal."""

from collections import Counter

import numpy as np
import pytest
from naive_posterior import (
    PIECES,
    all_graphs,
    every_outcome,
    orders_of,
    proposals,
    summed_posterior,
    symmetric_weights,
    three_variables,
)

from cyclearn import DirectedGraph
from cyclearn._kernels import assembled_graphs, balanced_moves
from cyclearn._kernels.proposals import new_walk
from cyclearn.data.reading import as_tables
from cyclearn.posterior import graph_parts
from cyclearn.posterior.chain import ComponentMemory, GraphChain
from cyclearn.posterior.graph_jumps import packed_jumps
from cyclearn.posterior.graph_parts import PartsList
from cyclearn.posterior.learned_proposals import pair_weights
from cyclearn.posterior.sampler_effort import SamplerEffort
from cyclearn.search.options import SearchOptions

pytestmark = pytest.mark.uncompiled

KINDS = range(balanced_moves.N_KINDS)


@pytest.fixture(scope="module")
def posterior():
    """Probabilities of graphs of three nodes by their bytes; unstable ones have none."""
    graphs, weights = summed_posterior(three_variables(0, n=40), 0.5)
    assert 10 < len(graphs) < 64
    return {A.tobytes(): weight for A, weight in zip(graphs, weights, strict=True)}


def assert_balanced(flows):
    assert len(flows) > 10
    for (a, b), flow in flows.items():
        assert flow == pytest.approx(flows.get((b, a), 0.0), rel=1e-9)


def walk_at(A, seed=1):
    walk = new_walk(len(A), seed)
    for nodes in DirectedGraph(A.astype(bool)).component_indices:
        walk.first[list(nodes)] = min(nodes)
    return walk


def toggled(A, walk):
    B = A.copy()
    for i, j in walk.toggles[: walk.size[0]]:
        B[i, j] ^= 1
    return B


def flows_of(posterior, listed, graphs=None):
    """Probability that flows from one graph to another, by Metropolis and Hastings."""
    flows: Counter[tuple[bytes, bytes]] = Counter()
    for A in all_graphs(3) if graphs is None else graphs:
        a = A.tobytes()
        if a not in posterior:
            continue
        moves = listed(A)
        assert sum(q for q, _, _ in moves) == pytest.approx(1)
        for q, B, ratio in moves:
            b = B.tobytes()
            if a != b and b in posterior:
                accepted = min(1.0, posterior[b] / posterior[a] * ratio)
                flows[a, b] += posterior[a] * q * accepted
    return flows


@pytest.mark.parametrize("kind", KINDS)
def test_moves_are_balanced(kind, posterior):
    W = symmetric_weights(3)
    flows = flows_of(posterior, lambda A: proposals(A, kind, W, PIECES))
    if kind == balanced_moves.JUMP:
        assert len(flows) > 2
        flows |= {("", str(k)): 0.0 for k in range(10)}
    assert_balanced(flows)


# Random choices of compiled kernels cannot be listed.
@pytest.mark.uncompiled(only=True)
@pytest.mark.parametrize("kind", KINDS)
def test_moves_of_the_kernel_are_balanced(kind, posterior, monkeypatch):
    """The kernel itself, with every random choice taken in turn, does what its twin does.

    From a twelfth of the graphs, others for each kind: some kinds have thousands of outcomes.
    """
    W, jumps = pair_weights(symmetric_weights(3)), packed_jumps(PIECES)
    graphs = list(all_graphs(3))[kind::12]

    def listed(A):
        def run(choose):
            def drawn(cumulative, _):
                return choose(np.diff(cumulative, prepend=0.0))

            def below(_, n):
                return choose(np.full(int(n), 1 / int(n)))

            monkeypatch.setattr(balanced_moves, "drawn", drawn)
            monkeypatch.setattr(balanced_moves, "below", below)
            monkeypatch.setattr("cyclearn._kernels.proposals.below", below)
            walk = walk_at(A)
            ratio = balanced_moves.propose_balanced(A, walk, W, jumps, kind)
            return toggled(A, walk), ratio

        return [(chance, B, ratio) for chance, (B, ratio) in every_outcome(run)]

    flows = flows_of(posterior, listed, graphs)
    twin = flows_of(posterior, lambda A: proposals(A, kind, symmetric_weights(3), PIECES), graphs)
    assert flows
    for pair in flows | twin:
        assert flows[pair] == pytest.approx(twin[pair])


@pytest.mark.uncompiled(only=True)
@pytest.mark.parametrize("kind", KINDS)
def test_proposals_are_those_of_the_twin(kind):
    rng = np.random.default_rng(kind)
    jumps = packed_jumps(PIECES)
    for p in (3, 4):
        W = symmetric_weights(p)
        weights = pair_weights(W)
        for _ in range(3):
            A = (rng.random((p, p)) < 0.5).astype(np.uint8)
            np.fill_diagonal(A, 0)
            walk = walk_at(A, int(rng.integers(1, 2**62)))
            expected: Counter[tuple[bytes, float]] = Counter()
            for q, B, ratio in proposals(A, kind, W, PIECES):
                expected[B.tobytes(), 1.0 if (B == A).all() else ratio] += q
            n = 1000
            seen: Counter[tuple[bytes, float]] = Counter()
            for _ in range(n):
                ratio = balanced_moves.propose_balanced(A, walk, weights, jumps, kind)
                B = toggled(A, walk)
                seen[B.tobytes(), 1.0 if (B == A).all() else ratio] += 1
            assert set(seen) <= set(expected)
            for proposal, q in expected.items():
                spread = np.sqrt(max(0.0, q * (1 - q)) / n)
                assert seen[proposal] / n == pytest.approx(q, abs=5 * spread + 1e-9)


@pytest.mark.uncompiled(only=True)
@pytest.mark.parametrize("most_loops", [None, 8])
def test_assembled_graphs_are_balanced(posterior, most_loops, monkeypatch):
    """From every graph of parts, as often as the twin says; and the twin is balanced."""
    monkeypatch.setattr(graph_parts, "EFFORT", SamplerEffort(least_share=0.15))
    problem = SearchOptions(penalty=0.5).problem(as_tables(three_variables(0, n=40)))
    chain = GraphChain(problem, ComponentMemory(3), np.zeros((3, 3), np.uint8), seed=1)
    known = PartsList(problem, chain.weigh)
    chain.run(1, 1, 150)
    known.learn([chain.met])
    tilts = np.array([0.4, 0.3])
    parts = known.parts(tilts, most_loops)
    nodes = np.repeat(parts.sets, np.diff(parts.starts)).tolist()
    known_parts = set(zip(nodes, map(tuple, parts.columns.tolist()), strict=True))
    graphs, surplus = {}, {}
    for a in posterior:
        A = np.frombuffer(a, np.uint8).reshape(3, 3)
        graph = DirectedGraph(A.astype(bool))
        columns = (1 << np.arange(3)) @ A.astype(np.int64)
        inside = [np.isin(range(3), nodes) for nodes in graph.component_indices]
        its = {(int(c @ [1, 2, 4]), tuple(np.where(c, columns, 0).tolist())) for c in inside}
        if its <= known_parts:
            graphs[a], n = A, orders_of(graph)
            found = assembled_graphs.log_orders(columns)
            assert found == (pytest.approx(np.log(n)), len(graph.component_indices))
            beyond = 3 - len(graph.component_indices)
            surplus[a] = n * np.exp(0.4 * beyond + 0.3 * graph.n_edges)
    n_plain = sum(DirectedGraph(A.astype(bool)).is_acyclic for A in graphs.values())
    assert n_plain < len(graphs) < len(posterior)
    assert n_plain == 25 if most_loops is None else n_plain < 25
    total = sum(posterior[b] * surplus[b] for b in graphs)
    moves = {
        (a, b): posterior[b] * surplus[b] / total * min(1.0, surplus[a] / surplus[b])
        for a in graphs
        for b in graphs
        if a != b
    }
    assert_balanced({(a, b): posterior[a] * q for (a, b), q in moves.items()})
    n = 200
    for a, A in graphs.items():
        walk, scored = walk_at(A, 7), chain._scored()._replace(A=A.copy())
        seen: Counter[bytes] = Counter()
        for _ in range(n):
            walk.size[0] = 0
            assembled_graphs.assemble(scored, walk, parts, np.array([np.nan]))
            seen[toggled(A, walk).tobytes()] += 1
        assert set(seen) <= set(graphs)
        for b in graphs:
            if a != b:
                q = moves[a, b]
                assert seen[b] / n == pytest.approx(q, abs=5 * np.sqrt(q / n) + 2 / n)
    outside = next(a for a in posterior if a not in graphs)
    A = np.frombuffer(outside, np.uint8).reshape(3, 3)
    walk, scored = walk_at(A), chain._scored()._replace(A=A.copy())
    assembled_graphs.assemble(scored, walk, parts, np.array([np.nan]))
    assert walk.size[0] == 0
