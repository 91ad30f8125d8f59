"""One search, from checked options to a result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, replace
from functools import partial
from math import inf
from time import perf_counter

import numpy as np

from cyclearn.data.grouped_tables import SeveralData
from cyclearn.data.intervened_tables import target_mask
from cyclearn.data.tables import Tables
from cyclearn.foundation.arguments import function, one_of
from cyclearn.foundation.arrays import BoolArray
from cyclearn.foundation.deadlines import deadline_after, has_passed, now, seconds_left
from cyclearn.foundation.interruption import OnInterrupt, asks_once
from cyclearn.graphs import DirectedGraph
from cyclearn.models import fit
from cyclearn.results.result import LearnResult
from cyclearn.results.trace import SearchCost, sample_score, traced_moves
from cyclearn.search.answer import answer
from cyclearn.search.options import SearchOptions
from cyclearn.search.problem import SearchProblem
from cyclearn.search.progress import OnProgress, Progress
from cyclearn.search.runs import Budget, SearchStatus, SearchStep
from cyclearn.search.starts import SearchCall
from cyclearn.search.unknown_targets import TargetSearch, with_targets

_CUT = (SearchStatus.INTERRUPTED, SearchStatus.TIME_LIMIT)


def learn_with(
    options: SearchOptions,
    data: SeveralData | Tables,
    *,
    n_jobs: int | None = None,
    on_progress: OnProgress | None = None,
    on_interrupt: OnInterrupt = "raise",
) -> LearnResult:
    """Learn with checked options; see :func:`cyclearn.learn` for their meaning."""
    function("on_progress", on_progress)
    one_of("on_interrupt", on_interrupt, ("raise", "best"))
    clock = now()
    tables = options.tables(data)
    search = partial(_searched, n_jobs=n_jobs, on_progress=on_progress, on_interrupt=on_interrupt)
    if options.is_unknown:
        return _with_targets(options, tables, search)
    return search(options, tables, clock)


def _with_targets(
    options: SearchOptions, tables: Tables, search: Callable[..., LearnResult]
) -> LearnResult:
    """Search for a graph given targets and for targets given the graph, until neither improves.

    The search starts once from all possible targets and once from none. A wrong graph needs more
    targets in a table than the right one, so searches that omit one of several targets follow.
    """
    end = deadline_after(options.time_limit)
    choice = TargetSearch(tables.without_rows(), options.edge_penalty(tables), options.stable)
    results: list[LearnResult] = []

    def cut() -> SearchStatus | None:
        last = results[-1].status if results else None
        return last if last in _CUT else SearchStatus.TIME_LIMIT if has_passed(end) else None

    def settled(mask: BoolArray, known: LearnResult | None) -> LearnResult:
        """The result of searches from some targets, or the known result if it is better."""
        while known is None or cut() is None:
            left = None if end is None else max(seconds_left(end), 0.1)
            result = search(options.replaced(time_limit=left), with_targets(tables, mask), now())
            results.append(result)
            score = result.score + choice.cost(mask)
            if known is not None and score > known.score - choice.tie:
                break
            known = replace(result, score=score, options=options)
            changed = choice.improved([result.graph, *result.alternatives], mask)
            if (changed == mask).all():
                break
            mask = changed
        return known

    # All variables are targets in every table except the first: the largest possible set of
    # targets.
    start = np.zeros_like(target_mask(tables))
    start[1:] = ~tables.tables[0].moments.is_exogenous
    found, better = None, settled(np.zeros_like(start), settled(start, None))
    while found is not better:
        found = better
        for fewer in choice.without_one(found.graph, target_mask(found.tables)):
            better = settled(fewer, found)
            if better is not found:
                break
    status, limits = cut() or found.status, found.limits
    if status is SearchStatus.TIME_LIMIT:
        limits = tuple(dict.fromkeys((*limits, "time_limit")))
    cost = SearchCost(*map(sum, zip(*(astuple(each.cost) for each in results), strict=True)))
    return replace(found, status=status, limits=limits, cost=cost)


def _searched(
    options: SearchOptions,
    tables: Tables,
    clock: float,
    *,
    n_jobs: int | None,
    on_progress: OnProgress | None,
    on_interrupt: OnInterrupt,
) -> LearnResult:
    """The result of one search."""
    begun = perf_counter()
    problem = options.problem(tables)
    limits = options.max_evaluations, options.time_limit
    budget = Budget.since(clock, *limits, problem.n_variables)
    call = SearchCall(
        seed=options.seed,
        budget=budget,
        starts=options.starts,
        n_starts=options.n_starts,
        n_jobs=n_jobs,
        on_step=None if on_progress is None else _Followed(problem, on_progress),
    )
    with asks_once(on_interrupt):
        solution = options.solver().solve(problem, call)
    if not solution.runs:
        raise KeyboardInterrupt
    end = None if options.time_limit is None else clock + options.time_limit
    best_class = answer(problem, solution, budget, end)
    graph = best_class.graph.reordered(tables.names)
    searched = fitted = fit(graph, tables)
    if any(table.holes is not None for table in tables):
        # The search used moments; the likelihood of rows with missing cells is another one.
        searched = fit(graph, tables.without_rows())
    weight, reached = options.edge_penalty(tables), solution.limits_reached
    runs, best = solution.runs, solution.best
    return LearnResult(
        graph=graph,
        fitted=fitted,
        tables=tables.without_rows(),
        score=-searched.log_likelihood + weight * graph.n_edges,
        penalty=weight,
        status=solution.ended_early or best.status,
        limits=reached,
        alternatives=tuple(tied.reordered(tables.names) for tied in best_class.ties),
        has_more_alternatives=best_class.is_cut,
        moves=traced_moves(best, problem),
        cost=SearchCost(
            n_moves=sum(len(run.steps) for run in runs),
            n_evaluations=sum(run.n_evaluations for run in runs),
            n_refused=sum(run.refusals.total() for run in runs),
            seconds=perf_counter() - begun,
        ),
        n_starts_agreeing=(len(solution.agreeing), len(runs)),
        options=options,
        certificate=solution.certificate,
        warnings=options.warnings(tables),
    )


class _Followed:
    """Reports the best graph found so far, at every step of a search."""

    def __init__(self, problem: SearchProblem, tell: OnProgress) -> None:
        self._problem, self._tell, self._begun = problem, tell, perf_counter()
        self._best = inf

    def __call__(self, step: SearchStep) -> None:
        if step.score < self._best:
            self._best = step.score
            self._graph = DirectedGraph(step.graph.astype(bool), self._problem.names)
        seconds, score = perf_counter() - self._begun, sample_score(self._best, self._problem)
        self._tell(
            Progress("search", seconds, score, self._graph, step.start, agreeing=step.agreeing)
        )
