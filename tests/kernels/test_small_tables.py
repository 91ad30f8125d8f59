"""All kernels at work on tables that are small enough to go through uncompiled."""

import numpy as np
import pytest

from cyclearn import DirectedGraph, fit, learn, simulate
from cyclearn.data import as_moments
from cyclearn.data.reading import as_tables
from cyclearn.models import project
from cyclearn.posterior.chain import ComponentMemory, GraphChain
from cyclearn.posterior.graph_parts import PartsList
from cyclearn.posterior.learned_proposals import Proposals
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
    start, memory = CYCLE.adjacency.astype(np.uint8), ComponentMemory(4)
    chains = [GraphChain(problem, memory, start, seed=seed) for seed in (1, 2)]
    known = PartsList(problem, chains[0].weigh)
    for chain in chains:
        chain.run(1, 10, 20)
    known.learn([chain.met for chain in chains])
    graphs = np.stack([chain.graph for chain in chains])
    proposals = Proposals.learned(graphs.mean(axis=0), graphs, known, most_loops=500, seed=0)
    assert len(proposals.parts.sets) > 4
    chains[0].propose(proposals)
    (batch,) = chains[0].run(1, 10, 20)
    assert batch.shares[0].max() <= 1
    assert chains[0].accepted[-1] > 0
    assert chains[0].accepted.sum() > chains[0].accepted[-1]
    # Without parts, which would all be weighed again.
    chains[1].see(SearchOptions(penalty=1.0).problem(as_tables(as_moments(TABLE[::2]))))
    (batch,) = chains[1].run(1, 5, 5)
    assert batch.shares[0].max() <= 1
