"""From data to graph in one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from time import monotonic, perf_counter
from typing import Any, Literal

import numpy as np

from cyclearn.errors import InputError
from cyclearn.graphs import DirectedGraph
from cyclearn.learning.knowledge import Knowledge
from cyclearn.learning.result import LearnResult, SearchCost, TracedMove
from cyclearn.models import FittedModel, Moments, as_moments, fit
from cyclearn.models.moments import Data
from cyclearn.random_state import RandomState
from cyclearn.search.arguments import at_least, processes, recorded_seed, seconds
from cyclearn.search.exact import Certificate
from cyclearn.search.local_search import (
    HillClimbing,
    SearchRun,
    SearchStatus,
    SearchStep,
    Strategy,
    TabuSearch,
)
from cyclearn.search.penalty import Penalty, edge_penalty
from cyclearn.search.problem import SearchProblem
from cyclearn.search.starts import Start, n_agreeing, run_all, run_auto, starting_graphs

Method = Literal["auto", "exact", "tabu", "hill-climbing"]


def learn(
    data: Data,
    *,
    method: Method = "auto",
    penalty: Penalty = "bic",
    knowledge: Knowledge | None = None,
    start: Start = None,
    n_starts: int | None = None,
    virtual_edges: bool = True,
    first_improvement: bool = False,
    tabu_length: int = 10,
    patience: int = 10,
    stable: bool = True,
    max_component: int | None = None,
    max_cycle_length: int | None = None,
    max_parents: int | None = None,
    max_edges: int | None = None,
    max_evaluations: int | None = None,
    time_limit: float | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    on_step: Callable[[SearchStep], None] | None = None,
    bootstrap: int | Mapping[str, Any] | None = None,
) -> LearnResult:
    """Learn a directed graph, feedback loops included, from observational data.

    Search for the graph with the smallest negative log-likelihood + λ·|E| (section 5 of the
    paper). Only the covariance of the data is used.

    Parameters
    ----------
    data : DataFrame, array of shape (n, p), path or Moments
    method : {"auto", "exact", "tabu", "hill-climbing"}
        ``"auto"`` anneals acyclic graphs, climbs from the best with cyclic moves, and anneals
        region by region until nothing improves. ``"exact"`` finds the best graph of all, for few
        variables, and says what it went through (``result.certificate``). ``"tabu"`` and
        ``"hill-climbing"`` are the local searches of the paper, whose moves add, delete or
        reverse an edge or are those of the virtual-edge operator.
    penalty : "bic", a multiple such as "2 bic", "ebic", or a number
        What one edge costs; ½ log n by default.
    knowledge : Knowledge, optional
        Edges that must or must not be there; never violated.
    start : DirectedGraph or several, optional
        Where to start; the graph without edges by default.
    n_starts : int, optional
        Independent starts: one for the local searches, whose further starts are random graphs;
        with ``"auto"``, by default, until two of at most four come to the same best score, five of
        at most twelve with up to 7 variables, and two starts with more than 50.
        ``result.n_starts_agreeing`` says how many did.
    virtual_edges : bool
        Whether to use the virtual-edge operator.
    first_improvement : bool
        Take the first improving move instead of the best one.
    tabu_length, patience : int
        A tabu search enters none of the last ``tabu_length`` graphs and ends after ``patience``
        moves without a new best. The paper used lengths 5 and 10, and patience 5; 10 and 10 get
        stuck less often.
    stable : bool
        Visit only structures on which some best-likelihood parameter set found is stable; where a
        move leads to an unstable one, equivalent graphs with a cycle reversed are tried instead.
    max_component, max_cycle_length, max_parents, max_edges : int, optional
        Limits on the graph: nodes in a strongly connected component, nodes in a cycle, parents of
        a node, edges.
    max_evaluations : int, optional
        Limit on the number of components fitted, for each start; keeps results repeatable.
    time_limit : float, optional
        Limit in seconds; results may then differ between runs, and say so.
    random_state : int, Generator or None
        For annealing and for random starts; None is a fixed seed, so that results repeat.
    n_jobs : int, optional
        Processes for several starts; the result does not depend on it.
    on_step : callable, optional
        Called with every move of a search in this process.
    bootstrap : int or mapping, optional
        Learn also from this many resamples of the data, with the same options, and keep the
        frequencies as ``result.bootstrap``; a mapping gives ``n_resamples`` and other arguments
        of :func:`cyclearn.bootstrap`.

    Returns
    -------
    LearnResult

    Examples
    --------
    >>> from cyclearn import LinearGaussianModel
    >>> truth = LinearGaussianModel(
    ...     [[0, 0.8, 0, 0], [0, 0, 0.7, 0], [0, -0.6, 0, 0], [0, 0, 0.8, 0]], [1, 1, 1, 1]
    ... )
    >>> found = learn(truth.sample(5_000, random_state=0))
    >>> truth.graph in found.equivalence_class
    True
    """
    begun, time_limit = perf_counter(), seconds("time_limit", time_limit)
    deadline = None if time_limit is None else monotonic() + time_limit
    moments = as_moments(data)
    weight = edge_penalty(penalty, moments.n_samples, moments.n_variables)
    limits = {
        "max_component": at_least("max_component", max_component, 1),
        "max_cycle_length": at_least("max_cycle_length", max_cycle_length, 1),
        "max_parents": at_least("max_parents", max_parents, 0),
        "max_edges": at_least("max_edges", max_edges, 0),
        "max_evaluations": at_least("max_evaluations", max_evaluations, 1),
    }
    if not isinstance(knowledge, Knowledge | None):
        raise InputError(f"knowledge is {knowledge!r}; give a Knowledge")
    problem = SearchProblem.of(
        moments,
        weight,
        (knowledge or Knowledge()).masks(moments.names),
        stable=stable,
        virtual_edges=virtual_edges,
        deadline=deadline,
        thorough=method not in ("tabu", "hill-climbing"),
        **limits,
    )
    at_least("tabu_length", tabu_length, 0)
    at_least("patience", patience, 1)
    n_starts, n_jobs = at_least("n_starts", n_starts, 1), processes(n_jobs)
    if start is not None and n_starts is not None:
        raise InputError("start gives the starts, one each; drop n_starts")
    certificate: Certificate | None = None
    strategy: Strategy | None = None
    if method == "exact":
        if start is not None or n_starts is not None:
            raise InputError("method 'exact' has no starts; drop start and n_starts")
        (first,) = starting_graphs(None, 1, moments, problem, None)
        best, certificate = problem.run_exact(first)
        runs = [best]
    elif method == "auto":
        starts = starting_graphs(start, 1, moments, problem, None)
        runs = run_auto(problem, starts, start is None, n_starts, random_state, n_jobs, on_step)
    else:
        strategy = _strategy(method, tabu_length, patience, first_improvement)
        seed = 0 if random_state is None else random_state
        starts = starting_graphs(start, n_starts or 1, moments, problem, seed)
        runs = run_all(problem, starts, strategy, n_jobs, on_step)
    graph, model = _fitted(runs, moments, problem)
    if strategy is not None and stable and not model.is_stable:
        # More starts found a better, unstable fit on the best graph: search again, asking for
        # as many starts wherever stability is decided.
        problem = replace(problem, thorough=True)
        runs = run_all(problem, starts, strategy, n_jobs, on_step)
        graph, model = _fitted(runs, moments, problem)
    best, reached = min(runs, key=lambda run: run.score), _limits_reached(runs)
    shared: dict[str, Any] = {
        "method": method,
        "penalty": penalty if isinstance(penalty, str) else weight,
        "n_starts": n_starts,
        "virtual_edges": virtual_edges,
        "first_improvement": first_improvement,
        "stable": stable,
        **limits,
        "time_limit": time_limit,
    }
    options = shared | {
        "knowledge": None if knowledge is None else knowledge.to_dict(),
        "random_state": recorded_seed(random_state),
    }
    if isinstance(strategy, TabuSearch):
        options |= {"tabu_length": strategy.length, "patience": strategy.patience}
    result = LearnResult(
        graph=graph,
        model=model,
        score=-model.log_likelihood + weight * graph.n_edges,
        penalty=weight,
        status=SearchStatus.TIME_LIMIT if "time_limit" in reached else best.status,
        limits=reached,
        moves=_traced(best, moments),
        cost=SearchCost(
            n_moves=sum(len(run.steps) for run in runs),
            n_evaluations=sum(run.n_evaluations for run in runs),
            n_refused=sum(run.refusals.total() for run in runs),
            seconds=perf_counter() - begun,
        ),
        n_starts_agreeing=(n_agreeing(runs), len(runs)),
        options=options,
        certificate=certificate,
    )
    if bootstrap is None:
        return result
    from cyclearn.learning.bootstrap import bootstrap as run_bootstrap

    own = bootstrap if isinstance(bootstrap, Mapping) else {"n_resamples": bootstrap}
    inherited = shared | {
        "knowledge": knowledge,
        "start": start,
        "tabu_length": tabu_length,
        "patience": patience,
        "random_state": random_state,
        "n_jobs": n_jobs,
    }
    resampled = run_bootstrap(data, **(inherited | dict(own)))
    return replace(result, bootstrap=resampled)


def _fitted(
    runs: list[SearchRun], moments: Moments, problem: SearchProblem
) -> tuple[DirectedGraph, FittedModel]:
    """The best graph of all runs, without redundant edges, and its fit."""
    best = min(runs, key=lambda run: run.score)
    if not np.isfinite(best.score):
        raise InputError(
            "no stable structure was found from the start given; allow unstable ones with "
            "stable=False, or start elsewhere"
        )
    graph = DirectedGraph(best.best.astype(bool), moments.names)
    # A required edge stays even where rotations show it to be redundant.
    if not problem.required.any():
        reduced = graph.reduced()
        model = fit(reduced, moments)
        # Without its redundant edges a graph may have lost its stable fits.
        if model.is_stable or not problem.stable or reduced == graph:
            return reduced, model
    return graph, fit(graph, moments)


def _strategy(method: str, tabu_length: int, patience: int, first_improvement: bool) -> Strategy:
    if method == "tabu":
        return TabuSearch(tabu_length, patience, first_improvement)
    if method == "hill-climbing":
        return HillClimbing(first_improvement)
    raise InputError(f"method is {method!r}; give 'auto', 'exact', 'tabu' or 'hill-climbing'")


def _traced(run: SearchRun, moments: Moments) -> tuple[TracedMove, ...]:
    """The moves of a run by name; scores on the scale of the data, constants included."""
    names, n = moments.names, moments.n_samples
    # From standardised values per sample to the negative log-likelihood of the sample.
    constant = 0.5 * len(names) * (np.log(2 * np.pi) + 1) + np.log(moments.scale).sum()
    moves = []
    A = run.start.copy()
    for step in run.steps:
        added: list[tuple[str, str]] = []
        removed: list[tuple[str, str]] = []
        for i, j in step.toggles.tolist():
            (removed if A[i, j] else added).append((names[i], names[j]))
            A[i, j] ^= 1
        moves.append(
            TracedMove(
                tuple(added),
                tuple(removed),
                n * step.delta,
                float(n * (step.score + constant)),
                step.is_new_best,
                step.is_annealed,
            )
        )
    return tuple(moves)


def _limits_reached(runs: list[SearchRun]) -> tuple[str, ...]:
    from cyclearn._kernels.neighbourhood import LIMIT_COMPONENT, LIMIT_EDGES, LIMIT_PARENTS

    hit = 0
    for run in runs:
        hit |= run.limits
    reached = [
        name
        for name, bit in (
            ("max_component", LIMIT_COMPONENT),
            ("max_parents", LIMIT_PARENTS),
            ("max_edges", LIMIT_EDGES),
        )
        if hit & bit
    ]
    if any("max_cycle_length" in run.refusals for run in runs):
        reached.append("max_cycle_length")
    for name, status in (
        ("max_evaluations", SearchStatus.MAX_EVALUATIONS),
        ("time_limit", SearchStatus.TIME_LIMIT),
    ):
        if any(run.status is status for run in runs):
            reached.append(name)
    return tuple(reached)
