"""Local search over directed graphs: one loop, several strategies (section 5 of the paper)."""

from __future__ import annotations

from collections import Counter
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

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
from cyclearn.search.starts import SearchCall, run_calls, starting_graphs

# Changes of score per sample smaller than this are rounding.
_ROUNDING = 1e-10
# Moves one by one make components of dozens of nodes out of superfluous edges, and every further
# move is then a thousand slow fits.
_SMALL_COMPONENT = 15
# Seconds for each variable, about, that a quick acyclic graph takes.
_QUICK = 0.4e-3


class Strategy(Protocol):
    """Decides which moves a search may take and when it ends."""

    first_improvement: bool

    @property
    def tabu(self) -> list[int]:
        """Keys of graphs not to be entered now."""

    def wants(self, neighbour: Neighbour) -> bool:
        """Whether to take the best move."""

    def left(self, key: int, is_new_best: bool) -> None:
        """Note the graph that was left, and whether the one entered is a new best."""

    @property
    def is_exhausted(self) -> bool:
        """Whether to stop although moves are left."""


@dataclass
class Climbing:
    """Take improving moves until there are none: the best each time, or the first found."""

    first_improvement: bool = False
    is_exhausted: bool = field(default=False, init=False)

    @property
    def tabu(self) -> list[int]:
        """Nothing is tabu: the score never returns."""
        return []

    def wants(self, neighbour: Neighbour) -> bool:
        """Only improvements."""
        return neighbour.delta < -_ROUNDING

    def left(self, key: int, is_new_best: bool) -> None:
        """Nothing to note."""


@dataclass
class Tabu:
    """Take the best move, improving or not, that enters none of the last ``length`` graphs.

    Ends after ``patience`` moves in a row without a new best graph. Forbidding graphs, not edges,
    leaves the search free to turn an edge that it has just added.
    """

    length: int
    patience: int
    first_improvement: bool = False
    _recent: list[int] = field(default_factory=list, init=False)
    _n_stalled: int = field(default=0, init=False)

    @property
    def tabu(self) -> list[int]:
        """Keys of the last ``length`` graphs."""
        return self._recent

    def wants(self, neighbour: Neighbour) -> bool:
        """Any move that exists."""
        return bool(np.isfinite(neighbour.delta))

    def left(self, key: int, is_new_best: bool) -> None:
        """Keep the last ``length`` graphs, and count moves without a new best."""
        self._recent = [*self._recent, key][-self.length :] if self.length else []
        self._n_stalled = 0 if is_new_best else self._n_stalled + 1

    @property
    def is_exhausted(self) -> bool:
        """Whether the patience is used up."""
        return self._n_stalled >= self.patience


def local_search(
    problem: SearchProblem,
    score: GraphScore,
    start: Adjacency,
    strategy: Strategy,
    budget: Budget,
    on_step: OnStep | None = None,
    near: NDArray[np.bool_] | None = None,
) -> SearchRun:
    """Move from graph to graph as the strategy decides; return the best graph met.

    Whether a graph may be visited (:meth:`SearchProblem.admission`) is asked only for the move
    about to be taken; a refusal rules out that graph alone. With nodes marked as ``near``, only
    edges that begin or end there are changed.
    """
    within = np.True_ if near is None else near | near[:, None]
    may_add = (problem.allowed & within).astype(np.uint8)
    may_delete = (~problem.required & within).astype(np.uint8)
    admit = problem.admission(score)
    current = best = np.ascontiguousarray(start, dtype=np.uint8)
    value = best_value = score.value(current)
    if admit(current)[0] is not current:
        # A start that may not be visited may be left, but not returned.
        best_value = np.inf
    refusals: Counter[str] = Counter()
    steps: list[SearchStep] = []
    refused: list[int] = []
    n_evaluations = limits = 0
    status = SearchStatus.LOCAL_OPTIMUM
    while True:
        if strategy.is_exhausted:
            status = SearchStatus.PATIENCE
            break
        if ended := budget.ended(n_evaluations):
            status = ended
            break
        tabu = strategy.tabu
        neighbour = score.best_neighbour(
            current,
            may_add,
            may_delete,
            [*tabu, *refused],
            first_improvement=strategy.first_improvement,
        )
        n_evaluations += neighbour.n_evaluations
        limits |= neighbour.limits
        if not strategy.wants(neighbour):
            break
        proposed = neighbour.applied_to(current)
        following, rule = admit(proposed)
        if following is None or (following is not proposed and score.key(following) in tabu):
            refusals[rule or "tabu"] += 1
            refused.append(score.key(proposed))
            continue
        delta = neighbour.delta
        if following is not proposed:
            # Equivalent, so of the same score but for rounding.
            refused.append(score.key(proposed))
            delta = score.value(following) - value
        is_new_best = value + delta < best_value - _ROUNDING
        strategy.left(score.key(current), is_new_best)
        toggles = np.argwhere(current != following)
        current, value = following, value + delta
        if is_new_best:
            best, best_value = current, value
        steps.append(SearchStep(toggles, delta, value, is_new_best, current))
        if on_step is not None:
            on_step(steps[-1])
    return SearchRun(
        np.ascontiguousarray(start, dtype=np.uint8),
        best,
        best_value,
        tuple(steps),
        status,
        n_evaluations,
        refusals,
        limits,
    )


@dataclass(frozen=True)
class HillClimbing:
    """``"hill-climbing"``: improving moves from every start until there are none."""

    first_improvement: bool
    max_component: int | None

    def solve(self, problem: SearchProblem, call: SearchCall) -> Solution:
        """One run from every start."""
        return _solve(problem, call, Climbing(self.first_improvement), self.max_component)


@dataclass(frozen=True)
class TabuSearch:
    """``"tabu"``: the best move each time, to none of the last graphs."""

    tabu_length: int
    patience: int
    first_improvement: bool
    max_component: int | None

    def solve(self, problem: SearchProblem, call: SearchCall) -> Solution:
        """One run from every start."""
        strategy = Tabu(self.tabu_length, self.patience, self.first_improvement)
        return _solve(problem, call, strategy, self.max_component)


def _solve(
    problem: SearchProblem, call: SearchCall, strategy: Strategy, max_component: int | None
) -> Solution:
    starts = starting_graphs(problem, call.starts, call.n_starts or 1, call.seed)
    runs = run_calls(
        _run_from,
        [(problem, start, strategy, max_component, call.budget) for start in starts],
        n_jobs=call.n_jobs,
        on_step=call.on_step,
    )
    return Solution(tuple(runs))


def _run_from(
    problem: SearchProblem,
    start: Adjacency,
    strategy: Strategy,
    max_component: int | None,
    budget: Budget,
    on_step: OnStep | None = None,
) -> SearchRun:
    """Search from one start, with a memory of components and of moves of its own.

    Large components are entered only where ``max_component`` says how large, or the start has one.
    """
    score = problem.score()
    if max_component is None:
        largest = score.largest_component(np.ascontiguousarray(start, dtype=np.uint8))
        score = score.limited(
            max_component=max(_SMALL_COMPONENT, largest),
            max_virtual_cycle=score.limits.max_virtual_cycle,
        )
    most = budget.before(_QUICK * problem.n_variables)
    run = local_search(problem, score, start, deepcopy(strategy), most, on_step)
    if run.status is SearchStatus.TIME_LIMIT:
        return _no_worse_than_quick(problem, score, run, budget)
    return run


def _no_worse_than_quick(
    problem: SearchProblem, score: GraphScore, run: SearchRun, budget: Budget
) -> SearchRun:
    """The run, with a last step to an acyclic graph that is found at once, where that is better.

    With many variables there is time for a few moves only, and these alone would be no answer.
    """
    requires_cycles = score.largest_component(problem.required.astype(np.uint8)) > 1
    if requires_cycles or len(score.shares) > 1 or score.experiments is not None:
        return run  # orders are searched for one table
    limits = problem.limits
    quick = best_acyclic(
        score.S[0],
        problem.penalty,
        problem.allowed,
        problem.required,
        limits.max_parents,
        limits.max_edges,
        seed=0,
        effort=0,
        deadline=budget.deadline,
    ).adjacency
    value = score.value(quick)
    if not value < run.score - _ROUNDING:
        return run
    last, before = run.start, score.value(run.start)
    if run.steps:
        last, before = run.steps[-1].graph, run.steps[-1].score
    step = SearchStep(
        np.argwhere(last != quick), value - before, value, True, quick, is_annealed=True
    )
    return replace(run, best=quick, score=value, steps=(*run.steps, step))
