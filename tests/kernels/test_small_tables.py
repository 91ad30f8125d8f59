"""All kernels at work on tables that are small enough to go through uncompiled."""

import numpy as np
import pytest

from cyclearn import DirectedGraph, fit, learn, simulate
from cyclearn._kernels.group_search import SearchMemory, Seen, climb, look_near
from cyclearn.data import as_moments
from cyclearn.data.reading import as_tables
from cyclearn.models import project
from cyclearn.posterior.chain import ComponentMemory, GraphChain
from cyclearn.posterior.graph_jumps import jumps_between
from cyclearn.posterior.graph_parts import learn_groups, no_groups, single_nodes
from cyclearn.search.options import SearchOptions
from naive_interventions import sample_tables

pytestmark = pytest.mark.uncompiled

CYCLE = DirectedGraph.from_edges([("a", "b"), ("b", "c"), ("c", "a"), ("d", "a")])
PAIR = DirectedGraph.from_edges([("a", "b"), ("b", "c"), ("c", "b")])
MODEL = simulate.random_model(CYCLE, random_state=2)
TABLE = MODEL.sample(300, random_state=0)


def test_every_method_reaches_the_optimum():
    best = learn(TABLE, method="exact")
    for method, options in (("auto", {"max_evaluations": 80}), ("tabu", {}), ("hill-climbing", {})):
        found = learn(TABLE, method=method, **options)
        assert found.score >= best.score - 1e-6
    assert learn(TABLE, method="tabu", max_component=2, max_parents=2).score >= best.score - 1e-6


@pytest.mark.parametrize("kind", ["perfect", "noise", "groups"])
def test_several_tables_go_through(kind):
    targets = [[], ["b"]]
    model = simulate.random_model(PAIR, random_state=3)
    tables = sample_tables(model, targets, (60, 50), 0, kind)
    how = {} if kind == "groups" else {"interventions": targets, "intervention_kind": kind}
    found = learn(tables, method="hill-climbing", virtual_edges=False, **how)
    # What moves are said to change adds up to what the graph has.
    assert found.moves[-1].score == pytest.approx(found.score, abs=1e-6)


def test_the_gradient_is_zero_at_a_fit_and_the_truth_projects_to_itself():
    fitted = fit(CYCLE, TABLE)
    assert fitted.converged
    assert all(component.gradient_norm < 1e-7 for component in fitted.components)
    assert np.isfinite(fitted.summary()["std_error"]).all()
    assert project(CYCLE, MODEL, n_starts=3).kl_divergence < 1e-9


def test_chains_over_graphs():
    problem = SearchOptions(penalty=1.0).problem(as_tables(as_moments(TABLE)))
    chains: list[GraphChain] = []
    for seed in (1, 2):
        start = CYCLE.adjacency.astype(np.uint8)
        chain = GraphChain(problem, ComponentMemory(4), start, seed=seed)
        parts = chains[0].parts if chains else single_nodes(problem, chain.weigh_single)
        chain.assemble_from(parts, patience=5)
        (batch,) = chain.run(1, 20, 20)
        assert batch.shares[0].max() <= 1
        assert chain.accepted[-1] > 0
        chains.append(chain)
    found = no_groups(4)
    inputs = chains[0].kernel_inputs(found)
    state = np.array([5], dtype=np.uint64)
    near, solved = (
        Seen(np.zeros(1, dtype=np.int64), np.zeros(1 << 10, dtype=np.uint64)) for _ in range(2)
    )
    memory = SearchMemory(near, solved)
    climb(*inputs, memory, (1 << np.arange(4)) @ CYCLE.adjacency[None, :, :], 60, state)
    look_near(*inputs, memory, 3, state)
    assert found.size[0] > 0
    assert near.size[0] > 10
    learn_groups(parts, [found, *(chain.met for chain in chains)])
    assert parts.size[1] > 4 * 8
    jumps = jumps_between(np.stack([chain.graph for chain in chains]), seed=0)
    chains[0].set_proposals(np.ones((4, 4)), jumps)
    (batch,) = chains[0].run(1, 20, 20)
    assert chains[0].accepted.sum() > chains[0].accepted[-1]
