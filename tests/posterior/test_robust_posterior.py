"""Probabilities averaged over resamples: against sums over all graphs, and what they say."""

import numpy as np
import pytest
from naive_posterior import feedback_data, summed_posterior, three_variables

import cyclearn as cl
from cyclearn import Moments, Posterior
from cyclearn.data.reading import Reading, as_tables
from cyclearn.data.resampling import Resampler
from cyclearn.posterior import graph_sample
from cyclearn.posterior.chain_record import Batch, ChainRecord
from slow_tests import few


@pytest.mark.parametrize(
    ("p", "n_groups", "size", "forbidden"),
    few(1, [(3, 1, 100, {("X2", "X1"), ("X3", "X1")}), (2, 2, 1000, set())]),
)
def test_robust_probabilities_are_means_over_resamples(p, n_groups, size, forbidden):
    tables = {
        f"group {seed}": cl.simulate.random_model(
            cl.simulate.random_graph(p, random_state=seed), random_state=seed
        ).sample(60, random_state=seed)
        for seed in range(n_groups)
    }
    options = {"penalty": 1.0, "stable": False}
    known = cl.Knowledge(forbidden=sorted(forbidden))
    found = cl.posterior(tables, effective_size=size, knowledge=known, **options)
    assert found.converged
    assert found.n_resamples >= 96
    assert f"means over {found.n_resamples} resamples of the rows" in str(found)
    resampler = Resampler.of(as_tables(tables), Reading(), "rows", 0, weighs=True)
    expected = []
    for number in range(found.n_resamples):
        tables_drawn = resampler.draw(number)[0]
        assert [table.moments.n_samples for table in tables_drawn] == [60] * n_groups
        drawn = [Moments(table.moments.covariance, 60) for table in tables_drawn]
        graphs, weights = summed_posterior(
            drawn, float(n_groups), stable=False, admits=lambda g: forbidden.isdisjoint(g.edges)
        )
        expected.append(np.tensordot(weights, graphs, axes=1))
    # The resamples are the same, so that only the steps of the chains differ.
    assert found.edges == pytest.approx(np.mean(expected, axis=0), abs=0.05)
    # What resamples leave open counts: as much at least as their own probabilities differ.
    share = found.edges
    spread = np.var(expected, axis=0) / found.n_resamples
    is_open = (share > 0.05) & (share < 0.95)
    worth = (share * (1 - share) / found.quality.effective_size)[is_open]
    assert (worth > 0.5 * spread[is_open]).all()


def test_every_graph_of_a_robust_posterior_is_admitted_by_the_data():
    data = feedback_data()
    found = cl.posterior(data, effective_size=50, max_component=3)
    for graph in found.graphs[:20]:
        assert max(map(len, graph.components)) <= 3
        assert cl.fit(graph, data).model.is_stable


def test_moments_are_drawn_parametrically_and_the_result_says_so():
    found = cl.posterior(three_variables(6, n=60), effective_size=50)
    assert found.is_parametric
    assert "without rows, these do not show misfit of all graphs" in str(found)
    assert Posterior.from_json(found.to_json()).is_parametric


@pytest.mark.parametrize(("drift", "is_seen"), [(0.0, False), (0.1, True)])
def test_chains_that_drift_within_resamples_do_not_agree(drift, is_seen):
    rng = np.random.default_rng(0)
    records = []
    for _ in range(4):
        halves = rng.uniform(0.3, 0.5, (24, 2, 2, 2, 2))
        halves[:, 1] += drift
        records.append(ChainRecord())
        records[-1].extend([Batch.of_halves(Batch(a, [b"0"]), Batch(b, [b"0"])) for a, b in halves])
    current = graph_sample._Round(2, 10, records, resamples=lambda number: number)
    assert current.drifts == is_seen
    r_hat, _ = current.quality.over(current.edges)
    assert np.isinf(r_hat) == is_seen


def test_resamples_of_few_rows_leave_no_row_out():
    """Draws of 31 rows have fewer than 30 distinct ones, which determine each other's columns."""
    rows = np.random.default_rng(0).standard_normal((31, 30))
    resampler = Resampler.of(as_tables(rows), Reading(), "rows", 0, weighs=True)
    for number in range(20):
        tables, _, n_refused = resampler.draw(number)
        assert n_refused == 0
        assert np.linalg.eigvalsh(tables.tables[0].moments.correlation)[0] > 1e-9


def test_weights_of_resamples_vary_as_draws_with_replacement():
    rows = np.random.default_rng(0).standard_normal((400, 2))
    drawn = {}
    for weighs in (False, True):
        resampler = Resampler.of(as_tables(rows), Reading(), "rows", 0, weighs=weighs)
        draws = [resampler.draw(number)[0].tables[0].moments for number in range(600)]
        drawn[weighs] = np.var([moments.covariance[0, 1] for moments in draws])
    assert drawn[True] / drawn[False] == pytest.approx(1, abs=0.15)
