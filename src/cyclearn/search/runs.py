"""The budget of a search and the runs that it returns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cyclearn.foundation import deadlines
from cyclearn.foundation.arrays import IntArray
from cyclearn.foundation.interruption import is_asked_to_stop

if TYPE_CHECKING:
    from cyclearn.search.exact import Certificate

Adjacency = NDArray[np.uint8]

# Scores per sample closer than this are equal. Ties agree to about 1e-15, and other scores rarely
# to 1e-6.
SAME_SCORE = 1e-8

# Approximate seconds per variable to turn the graph that was found into an answer.
_ENDING = 0.7e-3


class SearchStatus(Enum):
    """Why a search ended."""

    LOCAL_OPTIMUM = "no permitted move improves the score"
    PATIENCE = "no new best graph within the patience of the tabu search"
    SETTLED = "no change improved the score"
    OPTIMAL = "no allowed graph has a better score"
    MAX_EVALUATIONS = "the limit on evaluations was reached; raise max_evaluations for more"
    TIME_LIMIT = "the time limit was reached; the result may differ between runs"
    INTERRUPTED = "the search was stopped; the result is the best graph found so far"

    @property
    def is_finished(self) -> bool:
        """Whether the search was completed, not ended by a limit or an interruption."""
        cut = SearchStatus.MAX_EVALUATIONS, SearchStatus.TIME_LIMIT, SearchStatus.INTERRUPTED
        return self not in cut


@dataclass(frozen=True)
class SearchStep:
    """One move of a search: entries toggled, change of score per sample, score and graph after it.

    Rows and columns are those of the problem, whose names are sorted. ``start`` is the number of
    the start that took it, and ``agreeing`` how many before that one reached the best score.
    """

    toggles: IntArray
    delta: float
    score: float
    is_new_best: bool
    graph: Adjacency
    is_annealed: bool = False
    start: int = 1
    agreeing: int = 0


OnStep = Callable[[SearchStep], None]


@dataclass(frozen=True)
class Budget:
    """How much a search may do: components fitted, for each start, and a time on the clock."""

    max_evaluations: int | None = None
    deadline: deadlines.Deadline = None

    @classmethod
    def since(
        cls,
        begun: float,
        max_evaluations: int | None,
        time_limit: float | None,
        n_variables: int = 0,
    ) -> Budget:
        """A budget whose time began then, by :func:`deadlines.now`.

        The time to prepare an answer about this many variables is reserved.
        """
        return cls(
            max_evaluations, deadlines.deadline_since(begun, time_limit, _ENDING * n_variables)
        )

    def before(self, seconds: float) -> Budget:
        """The same with fewer seconds; at most half of the remaining time is subtracted."""
        if self.deadline is None:
            return self
        less = min(seconds, deadlines.seconds_left(self.deadline) / 2)
        return replace(self, deadline=self.deadline - less)

    def __reduce__(self) -> tuple[Any, ...]:
        # Another process has another clock.
        return _arrived, (self.max_evaluations, deadlines.for_other_processes(self.deadline))

    def evaluations_left(self, n_evaluations: int) -> int:
        """Number of evaluations left."""
        return 2**62 if self.max_evaluations is None else self.max_evaluations - n_evaluations

    def ended(self, n_evaluations: int) -> SearchStatus | None:
        """The reason why a search must end after this many evaluations, if there is one."""
        if self.evaluations_left(n_evaluations) <= 0:
            return SearchStatus.MAX_EVALUATIONS
        if deadlines.has_passed(self.deadline):
            return SearchStatus.TIME_LIMIT
        return SearchStatus.INTERRUPTED if is_asked_to_stop() else None


def _arrived(max_evaluations: int | None, end: float | None) -> Budget:
    return Budget(max_evaluations, deadlines.from_other_processes(end))


@dataclass(frozen=True)
class SearchRun:
    """The end of a search from one start, its moves and its cost."""

    start: Adjacency
    best: Adjacency
    score: float
    steps: tuple[SearchStep, ...]
    status: SearchStatus
    n_evaluations: int
    refusals: Counter[str]
    limits: int


@dataclass(frozen=True)
class Solution:
    """The solution of a method: one run for each start, and a certificate if it was exact."""

    runs: tuple[SearchRun, ...]
    certificate: Certificate | None = None

    @property
    def best(self) -> SearchRun:
        """The run with the best score."""
        return min(self.runs, key=lambda run: run.score)

    @property
    def agreeing(self) -> tuple[SearchRun, ...]:
        """The runs that reached the best score."""
        best = self.best.score
        return tuple(run for run in self.runs if run.score <= best + SAME_SCORE)

    @property
    def ended_early(self) -> SearchStatus | None:
        """The limit or interruption that ended the search, if any."""
        ended = {run.status for run in self.runs}
        cuts = (SearchStatus.INTERRUPTED, SearchStatus.TIME_LIMIT)
        return next((status for status in cuts if status in ended), None)

    @property
    def limits_reached(self) -> tuple[str, ...]:
        """Names of the limits that excluded moves or ended a run."""
        from cyclearn._kernels.neighbourhood import LIMIT_COMPONENT, LIMIT_EDGES, LIMIT_PARENTS

        hit = 0
        for run in self.runs:
            hit |= run.limits
        ended = {run.status for run in self.runs}
        reached = {
            "max_component": hit & LIMIT_COMPONENT,
            "max_parents": hit & LIMIT_PARENTS,
            "max_edges": hit & LIMIT_EDGES,
            "max_cycle_length": any("max_cycle_length" in run.refusals for run in self.runs),
            "max_evaluations": SearchStatus.MAX_EVALUATIONS in ended,
            "time_limit": SearchStatus.TIME_LIMIT in ended,
        }
        return tuple(name for name, is_reached in reached.items() if is_reached)
