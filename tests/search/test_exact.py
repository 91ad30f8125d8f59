from functools import cache
from itertools import product

import numpy as np
import pytest

from cyclearn import (
    DirectedGraph,
    InputError,
    Knowledge,
    LearnResult,
    LimitError,
    Moments,
    learn,
    simulate,
)
from cyclearn.data.reading import as_tables
from cyclearn.search import SearchOptions, SearchStatus
from cyclearn.search.exact import ExactSearch, n_structures
from cyclearn.search.penalty import DEFAULT_PENALTY, edge_penalty
from cyclearn.search.runs import Budget
from cyclearn.search.score import GraphScore, SearchLimits
from cyclearn.search.search_effort import ExactEffort
from cyclearn.search.starts import SearchCall
from slow_tests import few

PAIRS = [(i, j) for i in range(4) for j in range(4) if i != j]


def drawn(p, seed, n):
    rng = np.random.default_rng([p, seed])
    graph = simulate.random_graph(p, random_state=rng)
    rows = simulate.random_model(graph, random_state=rng).sample(n, random_state=rng)
    return Moments(np.cov(rows.T, bias=True), n)


@cache
def graphs_on_four_nodes():
    """All 4096, with the most parents of a node and the size of the largest component."""
    found = []
    for bits in product((0, 1), repeat=12):
        A = np.zeros((4, 4), dtype=np.uint8)
        for pair, bit in zip(PAIRS, bits, strict=True):
            A[pair] = bit
        components = DirectedGraph(A.astype(bool)).component_indices
        found.append((A, A.sum(axis=0).max(), max(map(len, components))))
    return found


def brute_force(moments, *, max_component=4, max_parents=4):
    """The least score per sample over all graphs on four nodes."""
    n = moments.n_samples
    penalty = edge_penalty(DEFAULT_PENALTY, n, moments.n_variables) / n
    score = GraphScore(moments.correlation, penalty, SearchLimits(4, 4, 16, 0))
    best = min(
        score.value(A)
        for A, parents, largest in graphs_on_four_nodes()
        if parents <= max_parents and largest <= max_component
    )
    constant = 2 * (np.log(2 * np.pi) + 1) + np.log(moments.scale).sum()
    return moments.n_samples * (best + constant)


@pytest.mark.parametrize("seed", few(9, range(30)))
def test_exact_is_brute_force(seed):
    moments = drawn(4, seed, n=[200, 2_000, 10_000][seed % 3])
    result = learn(moments, method="exact", stable=False)
    assert result.score == pytest.approx(brute_force(moments), abs=1e-4)
    assert result.status is SearchStatus.OPTIMAL


def test_limits_are_part_of_the_certificate():
    moments = drawn(4, 7, 2_000)
    result = learn(moments, method="exact", stable=False, max_component=2, max_parents=2)
    bar = brute_force(moments, max_component=2, max_parents=2)
    assert result.score == pytest.approx(bar, abs=1e-4)
    assert result.certificate.max_component == 2
    assert result.certificate.max_parents == 2
    assert "components of at most 2" in result.certificate.explain()
    assert LearnResult.from_json(result.to_json()) == result
    knowledge = Knowledge(forbidden=[("X1", "X2"), ("X3", "X1")], required=[("X2", "X1")])
    known = learn(moments, method="exact", knowledge=knowledge)
    assert ("X2", "X1") in known.graph.edges
    assert not {("X1", "X2"), ("X3", "X1")} & set(known.graph.edges)


@pytest.mark.parametrize("seed", range(6))
def test_stable_optima(seed):
    moments = drawn(4, seed, 500)
    free = learn(moments, method="exact", stable=False)
    stable = learn(moments, method="exact")
    assert stable.model.is_stable
    assert stable.score >= free.score - 1e-4
    assert learn(moments).score >= stable.score - 1e-4


def test_out_of_reach_is_refused_with_an_estimate():
    with pytest.raises(LimitError, match=r"over 15 variables would list up to 1\.6e\+63"):
        learn(drawn(15, 0, 2_000), method="exact")
    with pytest.raises(LimitError, match=r"over 60 variables would list more than 1\.6e\+63"):
        learn(drawn(60, 0, 2_000), method="exact", time_limit=1)
    with pytest.raises(LimitError, match="time limit"):
        learn(drawn(6, 0, 2_000), method="exact", penalty=0.5, time_limit=0.05)
    # As for nine variables, which would take its time to say so.
    problem = SearchOptions().problem(as_tables(drawn(5, 0, 2_000)))
    call = SearchCall(seed=0, budget=Budget())
    with pytest.raises(
        LimitError, match=r"would list up to .* structures, more than the maximum of 1e\+04"
    ):
        ExactSearch(ExactEffort(max_structures=10_000)).solve(problem, call)
    with pytest.raises(LimitError, match="would list more than"):
        ExactSearch(ExactEffort(max_structures=10)).solve(problem, call)


@pytest.mark.parametrize(("p", "largest", "parents"), [(2, 2, 1), (3, 3, 2), (3, 2, 1)])
def test_the_estimate_counts_structures(p, largest, parents):
    counted = 0
    for sizes in product((0, 1, 2), repeat=p):
        component, before = sizes.count(1), sizes.count(2)
        if 1 <= component <= largest:
            n_pairs = component * (component - 1 + before)
            counted += sum(
                sum(bits) <= component * parents for bits in product((0, 1), repeat=n_pairs)
            )
    assert n_structures(p, largest, parents) == counted


def test_nearly_collinear_data():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 3)) @ rng.normal(size=(3, 3))
    rows = np.c_[rows, rows.sum(axis=1) + 1e-4 * rng.normal(size=200)]
    exact = learn(rows, method="exact")
    assert exact.certificate.tolerance > 1e-9
    assert exact.score <= learn(rows).score + 200 * exact.certificate.tolerance


def test_the_certificate_says_that_knowledge_was_given():
    moments = drawn(4, 7, 2_000)
    known = learn(moments, method="exact", knowledge=Knowledge(forbidden=[("X1", "X2")]))
    assert "respects the knowledge" in known.certificate.explain()
    assert "knowledge" not in learn(moments, method="exact").certificate.explain()


def test_knowledge_that_leaves_no_stable_graph():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 3))
    rows[:, 1] += rows[:, 0]
    rows[:, 2] += rows[:, 1]
    required = [("X1", "X2"), ("X2", "X1"), ("X3", "X1")]
    others = [("X1", "X3"), ("X2", "X3"), ("X3", "X2")]
    with pytest.raises(InputError, match="no graph that respects the knowledge"):
        learn(rows, method="exact", knowledge=Knowledge(required=required, forbidden=others))
    with pytest.raises(InputError, match="violates max_component"):
        learn(rows, method="exact", knowledge=Knowledge(required=required), max_component=1)


@pytest.mark.parametrize(
    "option", [{"max_edges": 3}, {"max_cycle_length": 2}, {"max_evaluations": 9}, {"n_starts": 2}]
)
def test_options_of_other_methods_are_refused_by_name(option):
    with pytest.raises(InputError, match=next(iter(option))):
        learn(drawn(4, 0, 2_000), method="exact", **option)
