"""From data to graph in one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from time import monotonic, perf_counter
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cyclearn.errors import InputError
from cyclearn.graphs import DirectedGraph, random_graph
from cyclearn.learning.exact import Certificate
from cyclearn.learning.knowledge import Knowledge
from cyclearn.learning.local_search import (
    HillClimbing,
    SearchRun,
    SearchStatus,
    SearchStep,
    Strategy,
    TabuSearch,
)
from cyclearn.learning.penalty import Penalty, edge_penalty
from cyclearn.learning.result import LearnResult, SearchCost, TracedMove
from cyclearn.learning.score import Adjacency, SearchLimits
from cyclearn.learning.search_problem import SearchProblem
from cyclearn.models import FittedModel, Moments, as_moments, fit
from cyclearn.models.moments import Data

Method = Literal["auto", "exact", "tabu", "hill-climbing"]
Start = DirectedGraph | Sequence[DirectedGraph] | None

# Longer cycles are found by single edges and smaller virtual-edge moves; listing them all would
# take longer than the rest of the search.
_MAX_VIRTUAL_CYCLE = 6
# Independent starts of the default search: enough to say whether they agree.
_AUTO_STARTS = 2


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
    random_state: int | np.random.Generator | None = None,
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
        Independent starts, two with ``"auto"`` and one for the local searches, whose further
        starts are random graphs. ``result.n_starts_agreeing`` says how many came to the best.
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
        For annealing and for random starts; None is a fixed seed with ``"auto"``.
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
    begun, deadline = perf_counter(), None if time_limit is None else monotonic() + time_limit
    moments = as_moments(data)
    p = moments.n_variables
    weight = edge_penalty(penalty, moments.n_samples, p)
    allowed, required = (knowledge or Knowledge()).masks(moments.names)
    # A node and its parents must stay below the number of samples.
    fit_limit = moments.n_samples - 2
    limits = SearchLimits(
        max_component=_at_least("max_component", max_component, 1) or p,
        max_parents=min(_or(_at_least("max_parents", max_parents, 0), p), fit_limit),
        max_edges=_or(_at_least("max_edges", max_edges, 0), p * p),
        max_virtual_cycle=min(p, _MAX_VIRTUAL_CYCLE) if virtual_edges and p > 2 else 0,
    )
    problem = SearchProblem(
        correlation=moments.correlation,
        n_samples=moments.n_samples,
        penalty=weight / moments.n_samples,
        limits=limits,
        allowed=allowed,
        required=required,
        stable=stable,
        max_cycle_length=_at_least("max_cycle_length", max_cycle_length, 1),
        max_evaluations=_at_least("max_evaluations", max_evaluations, 1),
        deadline=deadline,
        thorough=method not in ("tabu", "hill-climbing"),
    )
    _at_least("tabu_length", tabu_length, 0)
    _at_least("patience", patience, 1)
    certificate: Certificate | None = None
    strategy: Strategy | None = None
    if method == "exact":
        best, certificate = problem.run_exact()
        runs = [best]
    elif method == "auto":
        runs = _run_auto(problem, start, n_starts, moments, random_state, n_jobs, on_step)
    else:
        strategy = _strategy(method, tabu_length, patience, first_improvement)
        starts = _starts(start, _or(n_starts, 1), moments, problem, random_state)
        runs = _run_all(problem, starts, strategy, n_jobs, on_step)
    graph, model = _fitted(runs, moments, required)
    if strategy is not None and stable and not model.is_stable:
        # More starts found a better, unstable fit on the best graph: search again, asking for
        # as many starts wherever stability is decided.
        problem = replace(problem, thorough=True)
        runs = _run_all(problem, starts, strategy, n_jobs, on_step)
        graph, model = _fitted(runs, moments, required)
    best = min(runs, key=lambda run: run.score)
    options: dict[str, Any] = {
        "method": method,
        "penalty": penalty,
        "knowledge": None if knowledge is None else knowledge.to_dict(),
        "n_starts": len(runs),
        "virtual_edges": virtual_edges,
        "first_improvement": first_improvement,
        "stable": stable,
        "max_component": max_component,
        "max_cycle_length": max_cycle_length,
        "max_parents": max_parents,
        "max_edges": max_edges,
        "max_evaluations": max_evaluations,
        "time_limit": time_limit,
        "random_state": random_state if isinstance(random_state, int) else None,
    }
    if isinstance(strategy, TabuSearch):
        options |= {"tabu_length": strategy.length, "patience": strategy.patience}
    agreeing = sum(run.score <= best.score + 1e-6 for run in runs)
    result = LearnResult(
        graph=graph,
        model=model,
        score=-model.log_likelihood + weight * graph.n_edges,
        penalty=weight,
        status=best.status,
        limits=_limits_reached(runs),
        moves=_traced(best, moments),
        cost=SearchCost(
            n_moves=sum(len(run.steps) for run in runs),
            n_evaluations=sum(run.n_evaluations for run in runs),
            n_refused=sum(run.refusals.total() for run in runs),
            seconds=perf_counter() - begun,
        ),
        n_starts_agreeing=(agreeing, len(runs)),
        options=options,
        certificate=certificate,
    )
    if bootstrap is None:
        return result
    from cyclearn.learning.bootstrap import bootstrap as run_bootstrap

    resampled = run_bootstrap(
        data,
        **(bootstrap if isinstance(bootstrap, Mapping) else {"n_resamples": bootstrap}),
        random_state=random_state,
        n_jobs=n_jobs,
        method=method,
        penalty=penalty,
        knowledge=knowledge,
        start=start,
        n_starts=n_starts,
        virtual_edges=virtual_edges,
        first_improvement=first_improvement,
        tabu_length=tabu_length,
        patience=patience,
        stable=stable,
        max_component=max_component,
        max_cycle_length=max_cycle_length,
        max_parents=max_parents,
        max_edges=max_edges,
        max_evaluations=max_evaluations,
        time_limit=time_limit,
    )
    return replace(result, bootstrap=resampled)


def _fitted(
    runs: list[SearchRun], moments: Moments, required: NDArray[np.bool_]
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
    if not required.any():
        graph = graph.reduced()
    return graph, fit(graph, moments)


def _strategy(method: str, tabu_length: int, patience: int, first_improvement: bool) -> Strategy:
    if method == "tabu":
        return TabuSearch(tabu_length, patience, first_improvement)
    if method == "hill-climbing":
        return HillClimbing(first_improvement)
    raise InputError(f"method is {method!r}; give 'auto', 'exact', 'tabu' or 'hill-climbing'")


def _starts(
    start: Start,
    n_starts: int,
    moments: Moments,
    problem: SearchProblem,
    random_state: int | np.random.Generator | None,
) -> list[Adjacency]:
    """Starting graphs that respect knowledge and limits."""
    _at_least("n_starts", n_starts, 1)
    if start is None:
        p = moments.n_variables
        given = [DirectedGraph(problem.required, moments.names)]
        generator = np.random.default_rng(random_state)
        for _ in range(n_starts - 1):
            drawn = random_graph(p, max_component=1, random_state=generator).adjacency
            kept = drawn & problem.allowed
            # A random start takes no edge that a limit on parents or edges would refuse.
            kept[:, kept.sum(axis=0) > problem.limits.max_parents] = False
            if kept.sum() > problem.limits.max_edges:
                kept[:] = False
            given.append(DirectedGraph(kept | problem.required, moments.names))
    else:
        given = [start] if isinstance(start, DirectedGraph) else list(start)
        if not given:
            raise InputError("start is an empty list; give at least one graph")
        given = [graph.reordered(moments.names) for graph in given]
    return [_checked_start(graph, problem) for graph in given]


def _checked_start(graph: DirectedGraph, problem: SearchProblem) -> Adjacency:
    adjacency = graph.adjacency | problem.required
    for i, j in np.argwhere(adjacency & ~problem.allowed):
        raise InputError(
            f"the start has the edge {graph.names[i]} -> {graph.names[j]}, which the knowledge "
            "forbids"
        )
    whole = DirectedGraph(adjacency, graph.names)
    for name, value, limit in (
        ("max_component", max(map(len, whole.component_indices)), problem.limits.max_component),
        ("max_parents", int(adjacency.sum(axis=0).max()), problem.limits.max_parents),
        ("max_edges", whole.n_edges, problem.limits.max_edges),
    ):
        if value > limit:
            raise InputError(
                f"the start, with the required edges, breaks {name}: {value} is more than {limit}"
            )
    return np.ascontiguousarray(adjacency, dtype=np.uint8)


def _run_all(
    problem: SearchProblem,
    starts: list[Adjacency],
    strategy: Strategy,
    n_jobs: int | None,
    on_step: Callable[[SearchStep], None] | None,
) -> list[SearchRun]:
    if len(starts) == 1 or n_jobs in (None, 1):
        return [problem.run(start, strategy, on_step) for start in starts]
    from joblib import Parallel, delayed

    calls = [delayed(problem.run)(start, strategy) for start in starts]
    return list(Parallel(n_jobs=n_jobs)(calls))


def _run_auto(
    problem: SearchProblem,
    start: Start,
    n_starts: int | None,
    moments: Moments,
    random_state: int | np.random.Generator | None,
    n_jobs: int | None,
    on_step: Callable[[SearchStep], None] | None,
) -> list[SearchRun]:
    """Independent starts of the default search, each with a seed of its own."""
    starts = _starts(start, 1, moments, problem, None)
    if start is None:
        starts *= _at_least("n_starts", n_starts, 1) or _AUTO_STARTS
    generator = np.random.default_rng(0 if random_state is None else random_state)
    seeds = generator.integers(2**62, size=len(starts)).tolist()
    arguments = [(given, start is None, seed) for given, seed in zip(starts, seeds, strict=True)]
    if len(starts) == 1 or n_jobs in (None, 1):
        return [problem.run_auto(*each, on_step) for each in arguments]
    from joblib import Parallel, delayed

    return list(Parallel(n_jobs=n_jobs)(delayed(problem.run_auto)(*each) for each in arguments))


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


def _at_least(name: str, value: int | None, least: int) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise InputError(f"{name} is {value!r}; give a whole number of at least {least}")
    return int(value)


def _or(value: int | None, default: int) -> int:
    return default if value is None else value
