"""The default search: independent starts with different seeds, until some agree.

If the best graph has a thicket of edges, another start first uses a larger penalty per edge. In
large problems, starts that do not agree are combined: the better parts of each are taken, and that
graph is improved once more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from joblib import effective_n_jobs

from cyclearn.foundation import is_asked_to_stop, seconds_left
from cyclearn.search.annealed_search import run_from
from cyclearn.search.combined_starts import combined
from cyclearn.search.problem import SearchProblem
from cyclearn.search.runs import Adjacency, SearchRun, SearchStatus, Solution
from cyclearn.search.search_effort import SIZES, AutoEffort, Effort
from cyclearn.search.starts import SearchCall, run_calls, starting_graphs


@dataclass(frozen=True)
class AutoSearch:
    """``"auto"``: independent starts with different seeds, until some agree."""

    effort: Effort = "default"

    @property
    def _effort(self) -> AutoEffort:
        return AutoEffort() if self.effort == "default" else AutoEffort().higher()

    def solve(self, problem: SearchProblem, call: SearchCall) -> Solution:
        """One start from each given graph; from the default one, as many as needed.

        Starts on other cores that were not needed do not count. With a time limit the first runs in
        this process: other processes take seconds to begin.
        """
        needed, most = self._effort.starts_of(problem.n_variables)
        starts = starting_graphs(problem, call.starts, 1, call.seed)
        is_default = call.starts is None
        may_add_starts = is_default and call.n_starts is None
        if not is_default:
            needed = most = len(starts)
        elif call.n_starts is not None:
            needed = most = call.n_starts
        seeds = np.random.default_rng(call.seed).integers(2**62, size=most).tolist()
        efforts = [self._effort.further] * most
        if is_default:
            starts *= most
            efforts[0] = replace(self._effort.first, climbs_in_thicket=most == 1)
        calls = [
            (problem, start, is_default, seed, effort, call.budget)
            for start, seed, effort in zip(starts, seeds, efforts, strict=True)
        ]
        at_once = min(effective_n_jobs(call.n_jobs), most)
        runs: list[SearchRun] = []
        is_enough = False
        while len(runs) < most and not is_enough:
            is_first = not runs and call.budget.deadline is not None
            # Other processes would hardly begin before the time is over.
            ends_soon = seconds_left(call.budget.deadline) < self._effort.workers_begin
            n_next = 1 if is_first or ends_soon else at_once
            following = calls[len(runs) : len(runs) + n_next]
            on_step = call.told_of(runs)
            for run in run_calls(run_from, following, n_jobs=n_next, on_step=on_step):
                runs.append(run)
                solution = Solution(tuple(runs))
                is_enough = len(solution.agreeing) >= needed
                if may_add_starts:
                    is_enough = is_enough or self._is_entangled(solution)
                if is_enough:
                    break
            if is_asked_to_stop() or any(run.status is SearchStatus.TIME_LIMIT for run in runs):
                return Solution(tuple(runs))
        if may_add_starts and not call.budget.ended(0):
            last = self._last_run(problem, Solution(tuple(runs)), starts[0], seeds[0], call)
            runs += [] if last is None else [last]
        return Solution(tuple(runs))

    def _last_run(
        self, problem: SearchProblem, found: Solution, start: Adjacency, seed: int, call: SearchCall
    ) -> SearchRun | None:
        """One more start, for one table: with a larger penalty if the best graph has a thicket.

        With many variables, where a thicket is only a small part of what can be wrong, it starts
        from the better parts of all starts, if they differ. With intermediate numbers starts are
        long, and one more is useful only if they agree on a thicket (hard_tables.md).
        """
        further, on_step = self._effort.further, call.told_of(found.runs)
        p, is_agreed = problem.n_variables, len(found.agreeing) > 1
        if p > SIZES.many:
            better = None if is_agreed else combined(problem, found.runs)
            if better is None:
                return None
            return run_from(problem, better, False, seed, further, call.budget, on_step)
        is_short = is_agreed or p <= SIZES.small
        if len(problem.tables) > 1 or not is_short or not self._has_thicket(found):
            return None
        dearer = replace(problem, penalty=self._effort.dearer * problem.penalty)
        sparse = run_from(dearer, start, True, seed, self._effort.first, call.budget)
        left = call.budget.evaluations_left(sparse.n_evaluations)
        budget = replace(call.budget, max_evaluations=left)
        run = run_from(problem, sparse.best, False, seed, further, budget, on_step)
        return replace(run, n_evaluations=run.n_evaluations + sparse.n_evaluations)

    def _is_entangled(self, found: Solution) -> bool:
        """Whether further starts would take long and probably not agree."""
        effort, n_runs = self._effort, len(found.runs)
        if n_runs >= effort.most_overgrown and effort.further.is_overgrown(found.best.best):
            return True
        return n_runs >= effort.most_in_thicket and self._has_thicket(found)

    def _has_thicket(self, found: Solution) -> bool:
        return bool(self._effort.further.in_thicket(found.best.best).any())
