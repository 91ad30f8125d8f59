"""The default search: independent starts, each with a seed of its own, until some agree.

Starts that agree on a thicket of edges are followed by one that goes through graphs whose edges
cost more. Starts of large problems that do not agree are combined: what is better in each is taken,
and that graph is improved once more.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from joblib import effective_n_jobs

from cyclearn.foundation.deadlines import seconds_left
from cyclearn.foundation.interruption import is_asked_to_stop
from cyclearn.search.annealed_search import run_from
from cyclearn.search.combined_starts import combined
from cyclearn.search.problem import SearchProblem
from cyclearn.search.runs import Adjacency, SearchRun, SearchStatus, Solution
from cyclearn.search.search_effort import SIZES, AutoEffort
from cyclearn.search.starts import SearchCall, run_calls, starting_graphs


@dataclass(frozen=True)
class AutoSearch:
    """``"auto"``: independent starts, each with a seed of its own, until some agree."""

    effort: AutoEffort = field(default_factory=AutoEffort)

    def solve(self, problem: SearchProblem, call: SearchCall) -> Solution:
        """From given graphs, one start each; from the default one, as many as it takes.

        Starts that ran ahead on other cores after enough agreed do not count. With a time limit
        the first runs in this process: others take seconds to begin.
        """
        needed, most = self.effort.starts_of(problem.n_variables)
        starts = starting_graphs(problem, call.starts, 1, call.seed)
        is_default = call.starts is None
        may_add_starts = is_default and call.n_starts is None
        if not is_default:
            needed = most = len(starts)
        elif call.n_starts is not None:
            needed = most = call.n_starts
        seeds = np.random.default_rng(call.seed).integers(2**62, size=most).tolist()
        efforts = [self.effort.further] * most
        if is_default:
            starts *= most
            efforts[0] = self.effort.first
        calls = [
            (problem, start, is_default, seed, effort, call.budget)
            for start, seed, effort in zip(starts, seeds, efforts, strict=True)
        ]
        at_once = min(effective_n_jobs(call.n_jobs), most)
        runs: list[SearchRun] = []
        while len(runs) < most:
            is_first = not runs and call.budget.deadline is not None
            n_next = 1 if is_first or self._ends_soon(call) else at_once
            following = calls[len(runs) : len(runs) + n_next]
            for run in run_calls(run_from, following, n_jobs=n_next, on_step=call.on_step):
                runs.append(run)
                if len(Solution(tuple(runs)).agreeing) >= needed:
                    may_go_on = may_add_starts and not call.budget.ended(0)
                    if may_go_on and self._has_thicket(problem, runs):
                        dearer = self._run_through_dearer_edges(problem, starts[0], seeds[0], call)
                        runs.append(dearer)
                    return Solution(tuple(runs))
            if is_asked_to_stop() or any(run.status is SearchStatus.TIME_LIMIT for run in runs):
                return Solution(tuple(runs))
        if may_add_starts and problem.n_variables > SIZES.many:
            better = combined(problem, runs)
            if better is not None:
                last = (problem, better, False, seeds[-1], self.effort.further, call.budget)
                runs += run_calls(run_from, [last], n_jobs=1, on_step=call.on_step)
        return Solution(tuple(runs))

    def _ends_soon(self, call: SearchCall) -> bool:
        """Whether other processes would hardly have begun when the time is over."""
        return seconds_left(call.budget.deadline) < self.effort.workers_begin

    def _has_thicket(self, problem: SearchProblem, runs: list[SearchRun]) -> bool:
        """Whether the best graph of a problem that is not large has a component that is a thicket.

        With many variables a start takes long, and a thicket is a small part of what can be wrong.
        """
        if problem.n_variables > SIZES.many:
            return False
        return bool(self.effort.further.in_thicket(Solution(tuple(runs)).best.best).any())

    def _run_through_dearer_edges(
        self, problem: SearchProblem, start: Adjacency, seed: int, call: SearchCall
    ) -> SearchRun:
        """One start that goes on from what it finds where edges cost more."""
        dearer = replace(problem, penalty=self.effort.dearer * problem.penalty)
        sparse = run_from(dearer, start, True, seed, self.effort.first, call.budget)
        left = call.budget.evaluations_left(sparse.n_evaluations)
        budget = replace(call.budget, max_evaluations=left)
        further = self.effort.further
        found = run_from(problem, sparse.best, False, seed, further, budget, call.on_step)
        return replace(found, n_evaluations=found.n_evaluations + sparse.n_evaluations)
