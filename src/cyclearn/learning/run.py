"""One search, from options that have been checked to a result."""

from __future__ import annotations

from math import inf
from time import perf_counter

from cyclearn.data.grouped_tables import SeveralData
from cyclearn.data.tables import Tables
from cyclearn.foundation.arguments import function, one_of
from cyclearn.foundation.deadlines import now
from cyclearn.foundation.interruption import OnInterrupt, asks_once
from cyclearn.foundation.progress import OnProgress, Progress
from cyclearn.graphs import DirectedGraph
from cyclearn.models import fit
from cyclearn.results.result import LearnResult
from cyclearn.results.trace import SearchCost, sample_score, traced_moves
from cyclearn.search.answer import answer
from cyclearn.search.options import SearchOptions
from cyclearn.search.problem import SearchProblem
from cyclearn.search.runs import Budget, SearchStep
from cyclearn.search.starts import SearchCall


def learn_with(
    options: SearchOptions,
    data: SeveralData | Tables,
    *,
    n_jobs: int | None = None,
    on_progress: OnProgress | None = None,
    on_interrupt: OnInterrupt = "raise",
) -> LearnResult:
    """Learn with options that have been checked; :func:`cyclearn.learn` says what they mean."""
    function("on_progress", on_progress)
    one_of("on_interrupt", on_interrupt, ("raise", "best"))
    begun, clock = perf_counter(), now()
    tables = options.tables(data)
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
    searched = fitted = fit(graph, tables.without_rows())
    if any(table.holes is not None or table.is_robust for table in tables):
        # Searched were moments; rows with missing cells, or not Gaussian, are fitted as they are.
        fitted = fit(graph, tables)
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
    """Tells of the best graph that a search has met, at every step of it."""

    def __init__(self, problem: SearchProblem, tell: OnProgress) -> None:
        self._problem, self._tell, self._begun = problem, tell, perf_counter()
        self._best = inf

    def __call__(self, step: SearchStep) -> None:
        if step.score < self._best:
            self._best = step.score
            self._graph = DirectedGraph(step.graph.astype(bool), self._problem.names)
        self._tell(
            Progress(
                "search",
                perf_counter() - self._begun,
                score=sample_score(self._best, self._problem),
                graph=self._graph,
                start=step.start,
                agreeing=step.agreeing,
            )
        )
