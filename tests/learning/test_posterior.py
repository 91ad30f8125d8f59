import json
import pickle
import warnings
from collections import Counter

import numpy as np
import pytest
from naive_posterior import all_graphs, proposals, summed_posterior

import cyclearn as cl
from cyclearn import DirectedGraph, InputError, Knowledge, LinearGaussianModel, Posterior
from cyclearn._kernels import balanced_moves
from cyclearn._kernels.admissible_components import has_longer_cycle
from cyclearn._kernels.proposals import new_walk
from cyclearn.learning.graph_chain import ComponentMemory, GraphChain
from cyclearn.learning.options import SearchOptions
from cyclearn.learning.sample_quality import SampleQuality
from cyclearn.models import as_moments
from cyclearn.models.tables import as_tables

KINDS = range(balanced_moves.N_KINDS)


def symmetric_weights(p):
    W = np.random.default_rng(p).uniform(0.5, 2, (p, p))
    return W + W.T


def feedback_data(n=300, seed=0):
    B = [[0, 0.6, 0, 0], [0, 0, 0.7, 0], [0, -0.5, 0, 0.5], [0, 0, 0, 0]]
    return LinearGaussianModel(B, [1, 1, 1, 1], list("dbac")).sample(n, random_state=seed)


def three_variables(seed, n=150):
    graph = cl.simulate.random_graph(3, random_state=seed)
    model = cl.simulate.random_model(graph, random_state=seed)
    return as_moments(model.sample(n, random_state=seed))


@pytest.mark.parametrize("kind", KINDS)
def test_every_proposal_comes_back_with_the_probability_that_its_ratio_says(kind):
    W = symmetric_weights(3)
    # Two pairs of columns may lead to one graph with different ratios; each comes back by itself.
    there: Counter[tuple[bytes, bytes, float]] = Counter()
    for A in all_graphs(3):
        listed = proposals(A, kind, W)
        assert sum(q for q, _, _ in listed) == pytest.approx(1)
        for q, B, ratio in listed:
            there[A.tobytes(), B.tobytes(), ratio] += q
    for (a, b, ratio), q in there.items():
        assert there[b, a, 1 / ratio] == pytest.approx(ratio * q)


@pytest.mark.parametrize("kind", KINDS)
def test_compiled_proposals_are_those_of_the_twin(kind):
    rng = np.random.default_rng(kind)
    for p in (3, 4):
        W = symmetric_weights(p)
        W[np.eye(p, dtype=bool)] = 0
        pairs, rows = W.ravel().cumsum(), W.cumsum(axis=1)
        weights = balanced_moves.PairWeights(pairs / pairs[-1], rows / rows[:, -1:])
        for _ in range(3):
            A = (rng.random((p, p)) < 0.5).astype(np.uint8)
            np.fill_diagonal(A, 0)
            walk = new_walk(p, int(rng.integers(1, 2**62)))
            for nodes in DirectedGraph(A.astype(bool)).component_indices:
                walk.first[list(nodes)] = min(nodes)
            expected: Counter[tuple[bytes, float]] = Counter()
            for q, B, ratio in proposals(A, kind, W):
                expected[B.tobytes(), 1.0 if (B == A).all() else ratio] += q
            n = 1000
            drawn: Counter[tuple[bytes, float]] = Counter()
            for _ in range(n):
                ratio = balanced_moves.propose_balanced(A, walk, weights, kind)
                B = A.copy()
                for i, j in walk.toggles[: walk.size[0]]:
                    B[i, j] ^= 1
                drawn[B.tobytes(), 1.0 if (B == A).all() else ratio] += 1
            assert set(drawn) <= set(expected)
            for proposal, q in expected.items():
                spread = np.sqrt(max(0.0, q * (1 - q)) / n)
                assert drawn[proposal] / n == pytest.approx(q, abs=5 * spread + 1e-9)


@pytest.mark.parametrize(
    ("seed", "options"),
    [
        (0, {}),
        (1, {"stable": False}),
        (2, {"max_component": 2, "max_parents": 1}),
        (3, {"max_cycle_length": 2, "max_edges": 3}),
        (4, {"knowledge": Knowledge(required=[("X1", "X2")], forbidden=[("X3", "X1")])}),
    ],
)
def test_a_chain_visits_all_graphs_as_often_as_they_are_probable(seed, options):
    moments = three_variables(seed)
    penalty = 1.0

    def admits(graph):
        sizes = map(len, graph.component_indices)
        return (
            max(sizes) <= options.get("max_component", 3)
            and graph.adjacency.sum(axis=0).max() <= options.get("max_parents", 3)
            and graph.n_edges <= options.get("max_edges", 9)
            and all(len(c) <= options.get("max_cycle_length", 3) for c in graph.simple_cycles())
            and ("knowledge" not in options or (graph.has_edge(0, 1) and not graph.has_edge(2, 0)))
        )

    stable = options.get("stable", True)
    graphs, weights = summed_posterior(moments, penalty, admits=admits, stable=stable)
    problem = SearchOptions(penalty=penalty, **options).problem(as_tables(moments))
    start = graphs[weights.argmax()]
    chain = GraphChain(problem, ComponentMemory(3), start, seed=seed + 1)
    n_blocks, seen = 6000, Counter()
    occupancy = np.zeros((2, 3, 3))
    for _ in range(n_blocks):
        occupancy += chain.run(40)
        seen[chain.graph.tobytes()] += 1
    expected = {A.tobytes(): w for A, w in zip(graphs, weights, strict=True)}
    assert set(seen) <= set(expected)
    for graph, weight in expected.items():
        assert seen[graph] / n_blocks == pytest.approx(weight, abs=0.03)
    edges = np.tensordot(weights, graphs, axes=1)
    assert occupancy[0] / (40 * n_blocks) == pytest.approx(edges, abs=0.015)
    both = np.tensordot(weights, graphs & graphs.transpose(0, 2, 1), axes=1)
    assert occupancy[1] / (40 * n_blocks) == pytest.approx(np.triu(both), abs=0.015)


def test_hotter_copies_do_not_change_the_distribution():
    moments = three_variables(5)
    graphs, weights = summed_posterior(moments, 1.0)
    problem = SearchOptions(penalty=1.0).problem(as_tables(moments))
    chain = GraphChain(problem, ComponentMemory(3), graphs[0], seed=3, temperatures=(1.0, 2.0, 4.0))
    occupancy = sum(chain.run(20)[0] for _ in range(6000)) / 120_000
    assert occupancy == pytest.approx(np.tensordot(weights, graphs, axes=1), abs=0.015)
    assert (chain.n_swaps[:, 0] > 0).all()


def test_cycles_longer_than_permitted():
    for A in list(all_graphs(4))[::20]:
        longest = max(map(len, DirectedGraph(A.astype(bool)).simple_cycles()), default=0)
        for length in (1, 2, 3):
            assert has_longer_cycle(A, np.arange(4), length) == (longest > length)


def test_defaults_agree_with_the_sum_over_all_graphs():
    moments = three_variables(6, n=60)
    found = cl.posterior(moments, penalty=1.5)
    graphs, weights = summed_posterior(moments, 1.5)
    assert found.converged
    assert found.edges == pytest.approx(np.tensordot(weights, graphs, axes=1), abs=0.04)
    probable = DirectedGraph(graphs[weights.argmax()].astype(bool), moments.names)
    assert found.probability(lambda g: g == probable) == pytest.approx(weights.max(), abs=0.05)
    shares: dict[cl.EquivalenceClass, float] = {}
    for A, weight in zip(graphs, weights, strict=True):
        its_class = cl.equivalence_class(DirectedGraph(A.astype(bool), moments.names))
        shares[its_class] = shares.get(its_class, 0.0) + weight
    for probability, its_class in found.classes():
        assert probability == pytest.approx(shares[its_class], abs=0.05)


def test_a_prior_over_classes_weighs_members_down():
    moments = three_variables(6, n=60)
    found = cl.posterior(moments, penalty=1.5, prior="classes", stable=False, effective_size=200)
    graphs, weights = summed_posterior(moments, 1.5, stable=False)
    weights = weights.copy()
    for number, A in enumerate(graphs):
        weights[number] /= cl.equivalence_class(DirectedGraph(A.astype(bool))).size
    weights /= weights.sum()
    assert found.edges == pytest.approx(np.tensordot(weights, graphs, axes=1), abs=0.05)
    assert 0.1 < found.share_left < 1


@pytest.fixture(scope="module")
def found():
    return cl.posterior(feedback_data(), effective_size=300)


def test_answers_fit_together(found):
    edges, joined = found.edge_probabilities(), found.adjacency_probabilities()
    ancestors, loops = found.ancestor_probabilities(), found.feedback_probabilities()
    assert list(edges.index) == list(edges.columns) == ["d", "b", "a", "c"]
    assert joined.loc["d", "b"] > 0.95
    assert (joined.to_numpy() >= edges.to_numpy() - 1e-12).all()
    assert np.allclose(joined, joined.T)
    weights = found.weights
    assert weights.sum() == pytest.approx(1)
    for i, j in ((0, 1), (1, 2), (2, 3), (3, 0)):
        a, b = found.names[i], found.names[j]
        paths = [b in _reached(g, a) for g in found.graphs]
        assert ancestors.iat[i, j] == pytest.approx(weights[paths].sum())
        same = [any({i, j} <= set(c) for c in g.component_indices) for g in found.graphs]
        assert loops.iat[i, j] == pytest.approx(weights[same].sum())
        assert found.probability(lambda g, a=a, b=b: g.has_edge(a, b)) == pytest.approx(
            edges.iat[i, j], abs=0.06
        )
    assert sum(each.probability for each in found.classes()) == pytest.approx(1)
    graph = found.graph(0.6)
    assert set(graph.edges) == {
        (a, b) for a in found.names for b in found.names if edges.loc[a, b] >= 0.6
    }
    table = found.edge_table()
    assert table["probability"].is_monotonic_decreasing
    assert "How probable, given these data" in str(found)
    assert "WARNING" not in str(found)


def _reached(graph, source):
    import networkx as nx

    return nx.descendants(graph.to_networkx(), source)


def test_effects_over_graphs_and_parameters(found):
    effects = found.effects("d", "b", n_draws=100)
    low, high = effects.interval(0.9)
    assert low <= effects.mean <= high
    assert effects.probability == pytest.approx(
        found.ancestor_probabilities().loc["d", "b"], abs=0.06
    )
    assert "Total effect of d on b" in str(effects)
    nothing = found.effects("c", "d", n_draws=100)
    assert nothing.probability == pytest.approx(
        found.ancestor_probabilities().loc["c", "d"], abs=0.05
    )
    with pytest.raises(InputError, match="give two variables"):
        found.effects("a", "a")


def test_saved_and_read_again(found):
    again = Posterior.from_json(found.to_json())
    assert again.to_json() == found.to_json()
    assert str(again) == str(found)
    assert again.effects("d", "b", n_draws=20).mean == found.effects("d", "b", n_draws=20).mean
    assert str(pickle.loads(pickle.dumps(found))) == str(found)
    with pytest.raises(InputError, match="not a result of posterior"):
        Posterior.from_json(json.dumps({"schema": "other"}))
    with pytest.raises(InputError, match="damaged"):
        Posterior.from_json(json.dumps({"schema": json.loads(found.to_json())["schema"]}))
    with pytest.raises(InputError, match="not valid JSON"):
        Posterior.from_json("{")


def test_results_repeat_whatever_the_number_of_threads_and_the_order_of_columns(found):
    data = feedback_data()
    assert cl.posterior(data, effective_size=300, n_jobs=2).to_json() == found.to_json()
    turned = cl.posterior(data[sorted(data, reverse=True)], effective_size=300)
    names = list(found.names)
    assert np.allclose(
        turned.edge_probabilities().loc[names, names], found.edge_probabilities(), atol=1e-9
    )


def test_knowledge_and_limits_hold_in_every_graph():
    knowledge = Knowledge(required=[("d", "b")], forbidden=[("b", "a")], exogenous=["c"])
    found = cl.posterior(
        feedback_data(), knowledge=knowledge, max_component=2, max_parents=2, effective_size=100
    )
    for graph in found.graphs:
        assert graph.has_edge("d", "b")
        assert not graph.has_edge("b", "a")
        assert not graph.parents("c")
        assert max(map(len, graph.components)) <= 2
        assert graph.adjacency.sum(axis=0).max() <= 2
    assert found.edge_probabilities().loc["d", "b"] == 1


def test_says_when_the_sample_is_not_good():
    with pytest.warns(cl.SamplingWarning, match="effective size"):
        found = cl.posterior(feedback_data(), max_steps=1000, effective_size=10**6)
    assert not found.converged
    assert "WARNING" in str(found)
    with pytest.warns(cl.SamplingWarning, match="time limit"):
        found = cl.posterior(feedback_data(), time_limit=0, effective_size=10**6)
    assert found.is_cut


def test_bad_arguments():
    data = feedback_data()
    for options, message in (
        ({"prior": "edges"}, "prior is 'edges'"),
        ({"n_chains": 1}, "n_chains is 1"),
        ({"n_samples": 0}, "n_samples is 0"),
        ({"penalty": "what"}, "penalty is 'what'"),
        ({"effective_size": 0.5}, "effective_size is 0.5"),
    ):
        with pytest.raises(InputError, match=message):
            cl.posterior(data, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cl.SamplingWarning)
        found = cl.posterior(data, max_steps=1, effective_size=1)
    with pytest.raises(InputError, match="threshold is 0"):
        found.graph(0)


def test_quality_of_chains_that_disagree():
    batches = np.zeros((4, 10, 1, 1))
    batches[:2] = 1.0
    quality = SampleQuality.of(batches)
    assert quality.over(np.array([[0.5]])) == (np.inf, pytest.approx(39))


def test_picture(found):
    pytest.importorskip("matplotlib")
    assert found.plot(threshold=0.3).texts
    with pytest.raises(InputError, match="threshold"):
        found.plot(threshold=2)
