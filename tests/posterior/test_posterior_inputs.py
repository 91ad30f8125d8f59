"""Posterior and bootstrap of tables with holes, bent columns and few rows, and costly loops."""

import warnings
from time import monotonic

import numpy as np
import pytest

import cyclearn as cl
from cyclearn.data.reading import as_tables
from cyclearn.foundation import deadlines
from cyclearn.foundation.errors import InputError
from cyclearn.posterior.chain import GraphChain

MODEL = cl.LinearGaussianModel(
    [[0, 0, 0.8], [0, 0, 0.8], [0, 0, 0]], [1, 1, 1], names=["a", "b", "c"]
)


@pytest.fixture(scope="module")
def rows():
    return MODEL.sample(400, random_state=0)


@pytest.fixture(scope="module")
def holes(rows):
    return rows.mask(np.random.default_rng(1).random(rows.shape) < 0.2)


@pytest.mark.parametrize("missing", ["em", "rows", "pairwise"])
def test_a_posterior_of_rows_with_holes_is_that_of_the_moments_they_are_treated_to(holes, missing):
    table = as_tables(holes, missing=missing).only
    options = {"robust": False, "effective_size": 100}
    found = cl.posterior(holes, missing=missing, **options)
    same = cl.posterior(table.moments, n_effective=table.n_effective, **options)
    assert found.edge_probabilities().equals(same.edge_probabilities())
    assert found.edge_probabilities().loc["a", "c"] > 0.7


def test_a_posterior_of_ranks_does_not_mind_bends(rows):
    one, other = (
        cl.posterior(data, margins="rank", effective_size=100) for data in (rows, np.exp(rows))
    )
    assert one.edge_probabilities().equals(other.edge_probabilities())


def test_a_bootstrap_treats_every_resample(rows, holes):
    for data, options in (
        (holes, {"missing": "em"}),
        (holes, {"missing": "rows"}),
        (holes, {"missing": "em", "margins": "rank"}),
        (np.exp(rows), {"margins": "rank"}),
    ):
        found = cl.bootstrap(data, 5, n_starts=1, **options)
        assert found.edge_frequencies[0, 2] > 0.7


def test_holes_are_refused_unless_treated(holes):
    with pytest.raises(InputError, match="missing='em'"):
        cl.posterior(holes)


def test_learn_hands_its_treatment_on(holes):
    options = {"effective_size": 100, "robust": False}
    found = cl.learn(holes, missing="em", n_starts=1, posterior=options)
    alone = cl.posterior(holes, missing="em", **options)
    assert found.posterior.edge_probabilities().equals(alone.edge_probabilities())


def test_the_command_line_reads_and_treats(cyclearn, holes, tmp_path):
    holes.assign(id=range(len(holes))).to_csv(tmp_path / "d.csv", index=False)
    done = cyclearn(
        *("posterior", str(tmp_path / "d.csv"), "--drop", "id", "--missing", "em"),
        *("--margins", "rank", "--effective-size", "50"),
    )
    assert done.returncode == 0
    assert "a" in done.stdout


def test_the_first_round_is_short_where_there_is_little_time():
    """A hundred variables and two seconds took 43."""
    rows = np.random.default_rng(0).standard_normal((300, 30))
    with pytest.warns(cl.SamplingWarning):
        found = cl.posterior(rows, time_limit=0.05)
    assert found.n_steps < 1000 * 30 / 4
    assert found.is_cut
    assert found.n_resamples == 16
    assert not found.is_determined


def test_too_many_variables_for_chains_are_refused_at_once():
    with pytest.raises(
        cl.InputError, match=r"301 variables, more than the maximum of 300.*bootstrap"
    ):
        cl.posterior(cl.Moments(np.eye(301), 1000))


def test_too_many_variables_are_said_before_the_number_of_graphs():
    """As with the default number of graphs and 2,001 variables."""
    with pytest.raises(cl.InputError, match=r"301 variables, more than the maximum of 300"):
        cl.posterior(cl.Moments(np.eye(301), 1000), n_samples=10**6)


def test_a_limit_holds_where_a_single_step_takes_long(monkeypatch):
    """As with a million rows and large components: here every step takes a second."""
    passed = 0.0
    run = GraphChain.run

    def slow(chain, n_batches, n_kept, stride):
        nonlocal passed
        passed += n_batches * n_kept * stride
        return run(chain, n_batches, n_kept, stride)

    monkeypatch.setattr(GraphChain, "run", slow)
    monkeypatch.setattr(deadlines, "monotonic", lambda: monotonic() + passed)
    rows = np.random.default_rng(0).normal(size=(50, 4))
    with pytest.warns(cl.SamplingWarning):
        cl.posterior(rows, time_limit=20, random_state=0)
    # Of each of four chains: what takes twenty seconds, or the fewest steps that make a sample; and
    # four resamples with three steps each.
    assert passed <= 24 + 4 * 4 * 3


def test_loops_of_more_than_five_pay_for_every_further_variable():
    ring = 0.8 * np.roll(np.eye(7), 1, axis=1)
    data = cl.LinearGaussianModel(ring, np.ones(7)).sample(100, random_state=0)
    largest = {}
    for cost in (0, 100):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cl.SamplingWarning)
            found = cl.posterior(data, loop_cost=cost, max_steps=2000)
        largest[cost] = max(len(c) for graph in found.graphs for c in graph.component_indices)
        assert found.options["loop_cost"] == cost
    assert largest[0] > 5
    assert largest[100] <= 5
    with pytest.raises(InputError, match="loop_cost is -1; give a number of at least 0"):
        cl.posterior(data, loop_cost=-1)
