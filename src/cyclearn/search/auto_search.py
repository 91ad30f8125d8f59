"""The default search: independent starts, each with a seed of its own, until some agree.

Starts that agree on a thicket of edges are followed by one that goes through graphs whose edges
cost more. Starts of large problems that do not agree are combined: what is better in each is taken,
and that graph is improved once more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from joblib import effective_n_jobs
from scipy.sparse.csgraph import connected_components

from cyclearn.foundation.deadlines import seconds_left
from cyclearn.foundation.interruption import is_asked_to_stop
from cyclearn.search.annealed_search import MANY_VARIABLES, Annealing, run_from
from cyclearn.search.combined_starts import combined
from cyclearn.search.problem import SearchProblem
from cyclearn.search.runs import Adjacency, SearchRun, SearchStatus, Solution
from cyclearn.search.starts import SearchCall, run_calls, starting_graphs

# The search starts again until this many starts have come to the best score, and at most so often.
# Few variables have near ties that one start in two misses, and starts cost little. Very many have
# so many near ties that starts hardly ever agree.
_FEW_VARIABLES, _VERY_MANY_VARIABLES = 7, 200
_FEW_AGREE, _FEW_STARTS = 5, 12
_AGREE, _STARTS = 2, 4
_VERY_MANY_STARTS = 2
# The first start is a quick one; those that are to confirm or to improve on it take longer.
_FURTHER = Annealing()
_FIRST = replace(
    _FURTHER,
    n_exchanges=_FURTHER.n_exchanges // 2,
    acyclic_proposals=_FURTHER.acyclic_proposals // 2,
    region_proposals=_FURTHER.region_proposals // 2,
)
# Starts agree on components made of superfluous edges now and then. Where one is larger than what a
# region takes in, and has so many edges more than nodes, another start goes through graphs whose
# edges cost so many times as much: in these there are none.
_THICKET = 2
_DEARER = 1.5
# Seconds until other processes work: they start, and load compiled code.
_WORKERS_BEGIN = 5.0


@dataclass(frozen=True)
class AutoSearch:
    """``"auto"``: independent starts, each with a seed of its own, until some agree."""

    def solve(self, problem: SearchProblem, call: SearchCall) -> Solution:
        """From given graphs, one start each; from the default one, as many as it takes.

        Starts that ran ahead on other cores after enough agreed do not count. With a time limit
        the first runs in this process: others take seconds to begin.
        """
        p, deadline = problem.n_variables, call.budget.deadline
        needed, most = (_FEW_AGREE, _FEW_STARTS) if p <= _FEW_VARIABLES else (_AGREE, _STARTS)
        if p > _VERY_MANY_VARIABLES:
            most = _VERY_MANY_STARTS
        starts = starting_graphs(problem, call.starts, 1, call.seed)
        is_default = call.starts is None
        may_add_starts = is_default and call.n_starts is None
        if not is_default:
            needed = most = len(starts)
        elif call.n_starts is not None:
            needed = most = call.n_starts
        seeds = np.random.default_rng(call.seed).integers(2**62, size=most).tolist()
        calls = [
            (problem, start, is_default, seed, effort, call.budget)
            for start, seed, effort in zip(
                starts * most if is_default else starts,
                seeds,
                [_FIRST if is_default else _FURTHER] + [_FURTHER] * (most - 1),
                strict=True,
            )
        ]
        at_once = min(effective_n_jobs(call.n_jobs), most)
        runs: list[SearchRun] = []
        while len(runs) < most:
            is_first = not runs and deadline is not None
            n_next = 1 if is_first or seconds_left(deadline) < _WORKERS_BEGIN else at_once
            following = calls[len(runs) : len(runs) + n_next]
            for run in run_calls(run_from, following, n_jobs=n_next, on_step=call.on_step):
                runs.append(run)
                if len(Solution(tuple(runs)).agreeing) >= needed:
                    may_go_on = may_add_starts and not call.budget.ended(0)
                    if may_go_on and _has_thicket(problem, runs):
                        runs.append(_run_through_dearer_edges(problem, starts[0], seeds[0], call))
                    return Solution(tuple(runs))
            if is_asked_to_stop() or any(run.status is SearchStatus.TIME_LIMIT for run in runs):
                return Solution(tuple(runs))
        if may_add_starts and p > MANY_VARIABLES:
            better = combined(problem, runs)
            if better is not None:
                last = (problem, better, False, seeds[-1], _FURTHER, call.budget)
                runs += run_calls(run_from, [last], n_jobs=1, on_step=call.on_step)
        return Solution(tuple(runs))


def _has_thicket(problem: SearchProblem, runs: list[SearchRun]) -> bool:
    """Whether the best graph of a problem that is not large has a component larger than a region.

    One with more edges than a ring, or a ring with one way across, needs. With many variables a
    start takes long, and a thicket is a small part of what can be wrong.
    """
    if problem.n_variables > MANY_VARIABLES:
        return False
    best = Solution(tuple(runs)).best.best
    _, label = connected_components(best, connection="strong")
    inside = label == np.bincount(label).argmax()
    n_nodes, n_edges = int(inside.sum()), int(best[np.ix_(inside, inside)].sum())
    return n_nodes > _FURTHER.region_component and n_edges >= n_nodes + _THICKET


def _run_through_dearer_edges(
    problem: SearchProblem, start: Adjacency, seed: int, call: SearchCall
) -> SearchRun:
    """One start that goes on from what it finds where edges cost more."""
    dearer = replace(problem, penalty=_DEARER * problem.penalty)
    sparse = run_from(dearer, start, True, seed, _FIRST, call.budget)
    left = call.budget.evaluations_left(sparse.n_evaluations)
    budget = replace(call.budget, max_evaluations=left)
    found = run_from(problem, sparse.best, False, seed, _FURTHER, budget, call.on_step)
    return replace(found, n_evaluations=found.n_evaluations + sparse.n_evaluations)
