import json
import pickle
import warnings
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from naive_posterior import (
    PIECES,
    all_graphs,
    feedback_data,
    summed_posterior,
    symmetric_weights,
    three_variables,
)

import cyclearn as cl
from cyclearn import DirectedGraph, InputError, Knowledge, Posterior
from cyclearn._kernels.admissible_components import (
    Admission,
    has_longer_cycle,
    is_admissible,
)
from cyclearn.data.reading import as_tables
from cyclearn.posterior import graph_sample
from cyclearn.posterior.chain import ComponentMemory, GraphChain
from cyclearn.posterior.chain_record import Batch, ChainRecord
from cyclearn.posterior.graph_jumps import jumps_between, packed_jumps
from cyclearn.posterior.graph_parts import PartsList, no_parts
from cyclearn.posterior.graph_sample import _run_in_turn
from cyclearn.posterior.learned_proposals import Proposals, pair_weights
from cyclearn.posterior.sample_quality import SampleQuality
from cyclearn.search.options import SearchOptions
from cyclearn.search.runs import Budget
from slow_tests import few


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
@pytest.mark.parametrize("assembles", few(1, [True, False]))
def test_a_chain_visits_all_graphs_as_often_as_they_are_probable(seed, options, assembles):
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
    parts = no_parts()
    if assembles:
        known = PartsList(problem, chain.weigh)
        chain.run(1, 100, 10)
        known.learn([chain.met])
        parts = known.parts(np.zeros(2))
    chain.propose(Proposals(pair_weights(symmetric_weights(3)), packed_jumps(PIECES), parts))
    n_blocks = 6000
    (batch,) = chain.run(1, n_blocks, 40)
    seen = Counter(batch.graphs)
    expected = {np.packbits(A).tobytes(): w for A, w in zip(graphs, weights, strict=True)}
    assert set(seen) <= set(expected)
    for graph, weight in expected.items():
        assert seen[graph] / n_blocks == pytest.approx(weight, abs=0.03)
    edges = np.tensordot(weights, graphs, axes=1)
    # Scores fit from one start, which misses the best fit of a few graphs.
    assert batch.shares[0] == pytest.approx(edges, abs=0.02)
    both = np.tensordot(weights, graphs & graphs.transpose(0, 2, 1), axes=1)
    assert batch.shares[1] == pytest.approx(np.triu(both), abs=0.02)


def test_loops_cost_what_their_size_says():
    moments = three_variables(5)
    graphs, weights = summed_posterior(moments, 1.0)
    # Loops of two cost less here than those of three, and both so much that it shows.
    costs = np.array([0.0, 0.0, 0.7, 1.6])
    sizes = [map(len, DirectedGraph(A.astype(bool)).component_indices) for A in graphs]
    weights = weights * np.exp([-sum(costs[k] for k in each) for each in sizes])
    weights /= weights.sum()
    problem = SearchOptions(penalty=1.0).problem(as_tables(moments))
    chain = GraphChain(problem, ComponentMemory(3), graphs[0], seed=3, costs=costs)
    (batch,) = chain.run(1, 6000, 20)
    assert batch.shares[0] == pytest.approx(np.tensordot(weights, graphs, axes=1), abs=0.015)


def test_proposals_are_fixed_in_a_round_and_only_the_last_one_counts(monkeypatch):
    rounds: list[tuple[graph_sample._Round, set[Proposals]]] = []
    run = graph_sample._run

    def watched(chains, current, *rest):
        batches = run(chains, current, *rest)
        rounds.append((current, {chain.proposals for chain in chains}))
        return batches

    monkeypatch.setattr(graph_sample, "_run", watched)
    found = cl.posterior(feedback_data(), robust=False, effective_size=300, n_samples=100)
    # In the first round nothing is known yet.
    assert len({id(current) for current, _ in rounds}) > 5
    for current, used in rounds:
        assert current is rounds[0][0] or len(used) == 1
        assert all((other is current) == (their == used) for other, their in rounds)
    last = rounds[-1][0]
    places = [sorted(found.names).index(name) for name in found.names]
    np.testing.assert_array_equal(found.edges, last.edges[np.ix_(places, places)])


@pytest.mark.uncompiled(only=True)
def test_graphs_are_admitted_by_the_best_of_several_fits():
    graph = cl.simulate.random_graph(4, max_component=4, random_state=0)
    data = cl.simulate.random_model(graph, random_state=0).sample(200, random_state=0)
    problem = SearchOptions(penalty=1.0).problem(as_tables(data))
    score, memory = problem.score(), ComponentMemory(4)
    data = score.S, score.shares, score.targeted, score.pooled
    admission = Admission(*data, memory.normals, *memory.verdicts, np.array([4, 1]))
    # One start fits this cycle stably; the best fit is another, and unstable.
    trap = np.zeros((4, 4), dtype=np.uint8)
    trap[[0, 1, 2, 3, 3], [1, 2, 0, 1, 2]] = 1
    assert not is_admissible(score._scored(trap), admission, np.arange(3))
    verdicts = set()
    for A in list(all_graphs(4))[5::60]:
        for nodes in DirectedGraph(A.astype(bool)).component_indices:
            if len(nodes) > 1:
                members = np.array(nodes)
                verdict = is_admissible(score._scored(A), admission, members)
                assert verdict == score.is_stable_component(A, members)
                verdicts.add(verdict)
    assert verdicts == {True, False}


@pytest.mark.uncompiled(only=True)
def test_cycles_longer_than_permitted():
    for A in list(all_graphs(4))[::20]:
        longest = max(map(len, DirectedGraph(A.astype(bool)).simple_cycles()), default=0)
        for length in (1, 2, 3):
            assert has_longer_cycle(A, np.arange(4), length) == (longest > length)


def test_defaults_agree_with_the_sum_over_all_graphs():
    moments = three_variables(6, n=60)
    found = cl.posterior(moments, penalty=1.5, robust=False)
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
    found = cl.posterior(
        moments, penalty=1.5, robust=False, prior="classes", stable=False, effective_size=200
    )
    graphs, weights = summed_posterior(moments, 1.5, stable=False)
    weights = weights.copy()
    for number, A in enumerate(graphs):
        weights[number] /= cl.equivalence_class(DirectedGraph(A.astype(bool))).size
    weights /= weights.sum()
    assert found.edges == pytest.approx(np.tensordot(weights, graphs, axes=1), abs=0.05)
    assert 0.1 < found.share_left < 1


def test_groups_share_the_graph():
    tables = {"x": three_variables(6, n=60), "y": three_variables(7, n=90)}
    found = cl.posterior(tables, penalty=0.8, robust=False, effective_size=1000)
    graphs, weights = summed_posterior(list(tables.values()), 1.6)
    assert found.penalty == pytest.approx(1.6)
    assert found.edges == pytest.approx(np.tensordot(weights, graphs, axes=1), abs=0.05)
    again = Posterior.from_json(found.to_json())
    assert str(again) == str(found)
    assert "150 samples, in 2 groups" in str(found)
    assert found.effects("X1", "X2", group="y", n_draws=20).draws.shape == (20,)
    with pytest.raises(InputError, match="group is None; give one of 'x', 'y'"):
        found.effects("X1", "X2")
    with pytest.raises(InputError, match="there are 2 groups"):
        found.moments  # noqa: B018 - the property itself refuses


def test_chains_that_disagree_give_no_probabilities(found):
    r_hat = np.where(found.edges > 0.5, 1.2, 1.0)
    quality = replace(found.quality, r_hat=r_hat)
    # Some edge is open, and chains disagree about it.
    edges = np.where(found.edges > 0.5, 0.6, found.edges)
    unsure = replace(found, edges=edges, quality=quality)
    assert not unsure.is_determined
    assert unsure.edge_probabilities().isna().all(axis=None)
    assert unsure.feedback_probabilities().isna().all(axis=None)
    assert np.isnan(unsure.probability(lambda graph: graph.is_acyclic))
    assert unsure.edge_table().empty
    for ask in (
        unsure.graph,
        unsure.classes,
        unsure.plot,
        lambda: unsure.effects("a", "b"),
    ):
        with pytest.raises(InputError, match="not determined"):
            ask()
    assert "not determined" in str(unsure)
    assert "probability" not in str(unsure).splitlines()[-1]


def test_groups_pay_for_the_prior_once():
    table = three_variables(6, n=60)
    alone = cl.posterior(table, effective_size=1).penalty
    both = cl.posterior([table, table], effective_size=1).penalty
    # Each pays for what a resample adds to its fit.
    assert both == pytest.approx(alone + 0.5 * np.log(60) + 0.5)
    plain = cl.posterior(table, effective_size=1, robust=False).penalty
    assert alone == pytest.approx(plain + 0.5)


def test_rows_that_are_worth_less_leave_more_open():
    table = three_variables(6, n=400)
    found = cl.posterior(table, n_effective=60, penalty=1.5, robust=False, effective_size=1000)
    fewer = cl.Moments(table.covariance, 60)
    graphs, weights = summed_posterior(fewer, 1.5)
    assert found.edges == pytest.approx(np.tensordot(weights, graphs, axes=1), abs=0.05)
    assert "400 samples, effective sample size 60" in str(found)


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
    assert "Probabilities, given these data" in str(found)
    assert "Warning" not in str(found)


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
    nothing = found.effects("c", "d", n_draws=1000)
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


def test_results_repeat_whatever_the_number_of_threads_and_the_order_of_columns():
    data = feedback_data()
    found, again = (cl.posterior(data, effective_size=50, n_jobs=n) for n in (None, 2))
    assert again.to_json() == found.to_json()
    turned = cl.posterior(data[sorted(data, reverse=True)], effective_size=50)
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
    with pytest.warns(cl.SamplingWarning, match="effective sample size"):
        found = cl.posterior(feedback_data(), max_steps=1000, effective_size=10**6)
    assert not found.converged
    assert "Warning: The " in str(found)
    with pytest.warns(cl.SamplingWarning, match="time limit"):
        found = cl.posterior(feedback_data(), time_limit=0, effective_size=10**6)
    assert found.is_cut


def test_chains_that_have_not_left_the_start_are_not_enough():
    """Nothing seems open there, whatever other graphs are as probable."""
    rows = np.random.default_rng(0).standard_normal((2_000, 2))
    rows[:, 1] += rows[:, 0]
    chain = cl.posterior(rows, effective_size=1, random_state=0)
    assert chain.n_steps >= 10_000
    assert cl.posterior(rows, effective_size=1, max_steps=5_000, random_state=0).n_steps <= 5_000


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
    r_hat, size = quality.over(np.array([[0.5]]))
    assert r_hat == np.inf
    assert size < 4


@pytest.mark.parametrize("flip", [0.2, 0.02])
def test_effective_size_of_a_chain_between_two_states(flip):
    rng = np.random.default_rng(1)
    n_batches, length = 48, 200
    flips = rng.random((4, n_batches * length)) < flip
    states = (rng.integers(2, size=(4, 1)) + flips.cumsum(axis=1)) % 2
    batches = states.reshape(4, n_batches, length).mean(axis=2)[:, :, None, None]
    # The variance of the mean of n states is (1/flip − 1) / (4n), that of one 1/4.
    expected = flips.size * flip / (1 - flip)
    assert 0.5 < SampleQuality.of(batches).effective_size[0, 0] / expected < 1.6


def test_jumps_lead_from_one_graph_to_the_other():
    rng = np.random.default_rng(0)
    graphs = (rng.random((2, 8, 8)) < 0.15).astype(np.uint8)
    graphs[:, range(8), range(8)] = 0
    jumps = jumps_between(graphs, seed=0)
    seen = set()
    for first, end in zip(jumps.starts, jumps.starts[1:], strict=False):
        entries = [tuple(entry) for entry in jumps.entries[first:end].tolist()]
        here = np.array([graphs[:, i, j] for i, j in entries])
        assert (here[:, 0] != here[:, 1]).all()
        assert any((side == jumps.present[first:end]).all() for side in here.T)
        seen |= set(entries)
    assert len(seen) >= 3
    assert jumps_between(graphs[:1], seed=0).starts.tolist() == [0]


def test_a_record_does_not_grow_with_the_steps():
    record = ChainRecord()
    for number in range(5):
        batch = Batch(np.full((2, 2, 2), float(number)), [bytes([number])])
        record.extend([batch] * (96 - len(record.batches)))
        assert len(record.batches) == 48
    assert 3 < np.mean([batch.shares.mean() for batch in record.batches]) <= 4
    record.extend([batch])
    assert len(record.even) == 48


def test_picture(found):
    pytest.importorskip("matplotlib")
    assert found.plot(threshold=0.3).texts
    with pytest.raises(InputError, match="threshold"):
        found.plot(threshold=2)


def test_quality_is_that_of_each_edge_by_itself():
    """Edges that were never or always there have nothing to be unsure about."""
    rng = np.random.default_rng(0)
    batches = rng.random((3, 8, 2, 2))
    batches[:, :, 0, 0], batches[:, :, 1, 1] = 0.0, 1.0
    batches[0, :, 0, 1], batches[1:, :, 0, 1] = 0.0, 1.0
    quality = SampleQuality.of(batches)
    assert quality.r_hat[0, 0] == quality.r_hat[1, 1] == 1
    assert np.isnan(quality.effective_size[[0, 1], [0, 1]]).all()
    assert np.isinf(quality.r_hat[0, 1])
    alone = SampleQuality.of(batches[:, :, 1:, :1])
    np.testing.assert_allclose(quality.r_hat[1, 0], alone.r_hat[0, 0])
    np.testing.assert_allclose(quality.effective_size[1, 0], alone.effective_size[0, 0])


def test_chains_wander_without_large_components():
    X = np.random.default_rng(0).standard_normal((40, 12))
    problem = SearchOptions(penalty=0.1, stable=False).problem(as_tables(X))
    chain = GraphChain(problem, ComponentMemory(12), np.zeros((12, 12), np.uint8), seed=1)
    chain.wander(1000, end=0.0)
    assert not chain.graph.any()
    chain.wander(1000)
    assert chain.graph.any()
    assert max(map(len, DirectedGraph(chain.graph.astype(bool)).component_indices)) <= 5


@pytest.mark.parametrize(("fewest", "end", "n"), [(12, 0.0, 12), (0, 0.0, 0), (0, None, 24)])
def test_a_round_that_is_cut_has_as_many_batches_of_every_chain(fewest, end, n):
    """Of a first round there are at least some: without them there is nothing to return."""

    class Chain:
        def run(self, n_batches, n_kept, stride):  # noqa: ARG002 - as chains have it
            return [Batch(np.zeros((2, 1, 1)), [b"0"] * n_kept)] * n_batches

    chains = [Chain() for _ in range(3)]
    current = graph_sample._Round(1, 10, [])
    _, batches = _run_in_turn(chains, current, [0, 1, 2], 3, fewest, Budget(None, end))
    assert [len(each) for each in batches] == [n] * 3
