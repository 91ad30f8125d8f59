"""Local search over directed graphs: one loop, two strategies (section 5 of the paper)."""

from __future__ import annotations

from collections import Counter
from copy import deepcopy
from dataclasses import dataclass, field, replace

import numpy as np

from cyclearn._kernels.typed_numbers import ROUNDING
from cyclearn.foundation.arrays import BoolArray
from cyclearn.search.orders import best_acyclic
from cyclearn.search.problem import SearchProblem
from cyclearn.search.runs import (
    Adjacency,
    Budget,
    OnStep,
    SearchRun,
    SearchStatus,
    SearchStep,
    Solution,
)
from cyclearn.search.score import GraphScore, Neighbour
from cyclearn.search.search_effort import LocalEffort
from cyclearn.search.starts import SearchCall, run_calls, starting_graphs

_EFFORT = LocalEffort()


@dataclass
class Strategy:
    """A rule for the moves that a search takes, and for when it ends.

    Without ``patience`` this is hill climbing: improving moves until there are none. With it, this
    is tabu search: the best move, improving or not, that does not lead to one of the last
    ``length`` graphs, until ``patience`` moves in a row gave no new best graph. Because graphs are
    forbidden, not edges, the search can reverse an edge that it has just added.
    """

    first_improvement: bool = False
    length: int = 0
    patience: int | None = None
    tabu: list[int] = field(default_factory=list, init=False)
    _n_stalled: int = field(default=0, init=False)

    def wants(self, neighbour: Neighbour) -> bool:
        """Whether to take the best move: if it is an improvement, or with patience any move."""
        if self.patience is None:
            return neighbour.delta < -ROUNDING
        return bool(np.isfinite(neighbour.delta))

    def left(self, key: int, is_new_best: bool) -> None:
        """Keep the last ``length`` graphs, and count moves without a new best."""
        self.tabu = [*self.tabu, key][-self.length :] if self.length else []
        self._n_stalled = 0 if is_new_best else self._n_stalled + 1

    @property
    def is_exhausted(self) -> bool:
        """Whether the patience is used up."""
        return self.patience is not None and self._n_stalled >= self.patience


class _Walk:
    """The current graph of a local search, the best graph so far, and the work done."""

    def __init__(
        self,
        problem: SearchProblem,
        score: GraphScore,
        start: Adjacency,
        near: BoolArray | None,
        adds: bool,
    ) -> None:
        within = np.True_ if near is None else near | near[:, None]
        self._may_add = (problem.allowed & within & adds).astype(np.uint8)
        self._may_delete = (~problem.required & within).astype(np.uint8)
        self._score = score
        self._admit = problem.admission(score)
        self._start = np.ascontiguousarray(start, dtype=np.uint8)
        self._current = self._best = self._start
        self._value = self._best_value = score.thorough_value(self._start)
        if self._admit(self._start)[0] is not self._start:
            # The search may leave an inadmissible start, but not return it.
            self._best_value = np.inf
        self._refused: list[int] = []
        self._refusals: Counter[str] = Counter()
        self._limits = 0
        self.steps: list[SearchStep] = []
        self.n_evaluations = 0

    def move(self, strategy: Strategy) -> bool:
        """Take the move that the strategy chooses, or reject it; false if it chooses none.

        Admissibility (:meth:`SearchProblem.admission`) is checked only for the chosen move; a
        rejection rules out only that graph.
        """
        score, tabu = self._score, strategy.tabu
        neighbour = score.best_neighbour(
            self._current,
            score.rules(self._may_add, self._may_delete, [*tabu, *self._refused]),
            first_improvement=strategy.first_improvement,
        )
        self.n_evaluations += neighbour.n_evaluations
        self._limits |= neighbour.limits
        if not strategy.wants(neighbour):
            return False
        proposed = neighbour.applied_to(self._current)
        following, rule = self._admit(proposed)
        if following is not proposed:
            self._refused.append(score.key(proposed))
        if following is None or (following is not proposed and score.key(following) in tabu):
            self._refusals[rule or "tabu"] += 1
            return True
        # The neighbour was fitted from one start, or was replaced by an equivalent graph.
        delta = score.thorough_value(following) - self._value
        if strategy.wants(replace(neighbour, delta=delta)):
            self._go_to(following, delta, strategy)
        else:
            self._refused.append(score.key(proposed))
        return True

    def _go_to(self, following: Adjacency, delta: float, strategy: Strategy) -> None:
        is_new_best = self._value + delta < self._best_value - ROUNDING
        strategy.left(self._score.key(self._current), is_new_best)
        toggles = np.argwhere(self._current != following)
        self._current, self._value = following, self._value + delta
        if is_new_best:
            self._best, self._best_value = self._current, self._value
        self.steps.append(SearchStep(toggles, delta, self._value, is_new_best, self._current))

    def ended(self, status: SearchStatus) -> SearchRun:
        """The run, which ends here."""
        found = self._best, self._best_value, tuple(self.steps), status
        return SearchRun(self._start, *found, self.n_evaluations, self._refusals, self._limits)


def local_search(
    problem: SearchProblem,
    score: GraphScore,
    start: Adjacency,
    strategy: Strategy,
    budget: Budget,
    on_step: OnStep | None = None,
    near: BoolArray | None = None,
    *,
    adds: bool = True,
) -> SearchRun:
    """Move from graph to graph as the strategy decides; return the best graph visited.

    With nodes marked as ``near``, only edges that begin or end there are changed; without ``adds``
    edges are only deleted.
    """
    walk = _Walk(problem, score, start, near, adds)
    while True:
        if strategy.is_exhausted:
            return walk.ended(SearchStatus.PATIENCE)
        if status := budget.ended(walk.n_evaluations):
            return walk.ended(status)
        n_steps = len(walk.steps)
        if not walk.move(strategy):
            return walk.ended(SearchStatus.LOCAL_OPTIMUM)
        if on_step is not None and len(walk.steps) > n_steps:
            on_step(walk.steps[-1])


@dataclass(frozen=True)
class HillClimbing:
    """``"hill-climbing"``: improving moves from every start until there are none."""

    first_improvement: bool
    max_component: int | None

    @property
    def strategy(self) -> Strategy:
        """The rule for its moves."""
        return Strategy(self.first_improvement)

    def solve(self, problem: SearchProblem, call: SearchCall) -> Solution:
        """One run from every start."""
        starts = starting_graphs(problem, call.starts, call.n_starts or 1, call.seed)
        own = self.strategy, self.max_component, call.budget
        calls = [(problem, start, *own) for start in starts]
        runs = run_calls(_run_from, calls, n_jobs=call.n_jobs, on_step=call.on_step)
        return Solution(tuple(runs))


@dataclass(frozen=True)
class TabuSearch(HillClimbing):
    """``"tabu"``: always the best move that does not return to one of the last graphs."""

    tabu_length: int
    patience: int

    @property
    def strategy(self) -> Strategy:
        """The rule for its moves."""
        return Strategy(self.first_improvement, self.tabu_length, self.patience)


def _run_from(
    problem: SearchProblem,
    start: Adjacency,
    strategy: Strategy,
    max_component: int | None,
    budget: Budget,
    on_step: OnStep | None = None,
) -> SearchRun:
    """Search from one start, with its own memory of components and moves.

    Large components are entered only if ``max_component`` allows them or the start has one.
    """
    score = problem.score()
    if max_component is None:
        largest = score.largest_component(np.ascontiguousarray(start, dtype=np.uint8))
        score = score.limited(
            max_component=max(_EFFORT.max_component, largest),
            max_virtual_cycle=score.limits.max_virtual_cycle,
        )
    most = budget.before(_EFFORT.quick_seconds * problem.n_variables)
    run = local_search(problem, score, start, deepcopy(strategy), most, on_step)
    if run.status is SearchStatus.TIME_LIMIT:
        return _no_worse_than_quick(problem, score, run, budget)
    return run


def _no_worse_than_quick(
    problem: SearchProblem, score: GraphScore, run: SearchRun, budget: Budget
) -> SearchRun:
    """The run, with a last step to a quickly found acyclic graph if that is better.

    With many variables there is time only for a few moves, which alone would give a poor answer.
    """
    requires_cycles = score.largest_component(problem.required.astype(np.uint8)) > 1
    if requires_cycles or len(score.shares) > 1 or score.experiments is not None:
        return run  # orders are searched only for one table
    at_once = replace(budget, max_evaluations=None)
    quick = best_acyclic(
        score, problem.allowed, problem.required, seed=0, n_exchanges=0, budget=at_once
    ).adjacency
    value = score.value(quick)
    if not value < run.score - ROUNDING:
        return run
    last, before = run.start, score.value(run.start)
    if run.steps:
        last, before = run.steps[-1].graph, run.steps[-1].score
    step = SearchStep(
        np.argwhere(last != quick), value - before, value, True, quick, is_annealed=True
    )
    return replace(run, best=quick, score=value, steps=(*run.steps, step))
