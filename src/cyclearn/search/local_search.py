"""Local search over directed graphs: one loop, several strategies (section 5 of the paper)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from time import monotonic
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cyclearn.search.score import Adjacency, GraphScore, Neighbour

# Changes of score per sample smaller than this are rounding.
_ROUNDING = 1e-10


class SearchStatus(Enum):
    """Why a search ended."""

    LOCAL_OPTIMUM = "no permitted move improves the score"
    PATIENCE = "no new best graph within the patience of the tabu search"
    SETTLED = "every region of the graph was annealed again without a better graph"
    OPTIMAL = "no graph that was allowed has a better score (see certificate)"
    MAX_EVALUATIONS = "the limit on evaluations was reached; raise max_evaluations for more"
    TIME_LIMIT = "the time limit was reached; the result may differ between runs"


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
class HillClimbing:
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
class TabuSearch:
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


@dataclass(frozen=True)
class SearchStep:
    """One move of a search: entries toggled, change of score per sample, score after it."""

    toggles: NDArray[np.int64]
    delta: float
    score: float
    is_new_best: bool
    is_annealed: bool = False


@dataclass(frozen=True)
class SearchRun:
    """Where a search ended, how it got there and what that cost."""

    start: Adjacency
    best: Adjacency
    score: float
    steps: tuple[SearchStep, ...]
    status: SearchStatus
    n_evaluations: int
    refusals: Counter[str]
    limits: int


def local_search(
    score: GraphScore,
    start: Adjacency,
    strategy: Strategy,
    *,
    allowed: NDArray[np.bool_],
    required: NDArray[np.bool_],
    admit: Callable[[Adjacency], tuple[Adjacency | None, str | None]],
    max_evaluations: int | None = None,
    deadline: float | None = None,
    on_step: Callable[[SearchStep], None] | None = None,
) -> SearchRun:
    """Move from graph to graph as the strategy decides; return the best graph met.

    ``admit`` returns the graph to visit in place of a given one, the graph itself as a rule, or
    None and the name of the rule that keeps the search away. It is asked only for the move about
    to be taken; a refusal rules out that graph alone.
    """
    may_add, may_delete = allowed.astype(np.uint8), (~required).astype(np.uint8)
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
        if max_evaluations is not None and n_evaluations >= max_evaluations:
            status = SearchStatus.MAX_EVALUATIONS
            break
        if deadline is not None and monotonic() > deadline:
            status = SearchStatus.TIME_LIMIT
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
        steps.append(SearchStep(toggles, delta, value, is_new_best))
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
