"""A search problem: data, limits and knowledge, with one way to run each method on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from cyclearn.errors import InputError, LimitError
from cyclearn.graphs import DirectedGraph
from cyclearn.graphs.steps import iter_reversions
from cyclearn.learning.auto_search import Annealing, AutoSearch
from cyclearn.learning.exact import MAX_STRUCTURES, TOLERANCE, Certificate, ExactSearch
from cyclearn.learning.local_search import (
    SearchRun,
    SearchStatus,
    SearchStep,
    Strategy,
    local_search,
)
from cyclearn.learning.score import Adjacency, GraphScore, SearchLimits

# How many cycles of an unstable structure are turned in search of a stable equivalent one.
_MAX_REVERSIONS = 50
# An exact search keeps a value for every set of variables.
_MAX_EXACT = 14


@dataclass(frozen=True)
class SearchProblem:
    """What all starts of a search share; can be sent to another process."""

    correlation: NDArray[np.float64]
    n_samples: int
    penalty: float
    limits: SearchLimits
    allowed: NDArray[np.bool_]
    required: NDArray[np.bool_]
    stable: bool
    max_cycle_length: int | None
    max_evaluations: int | None
    deadline: float | None
    thorough: bool = False

    def run(
        self,
        start: Adjacency,
        strategy: Strategy,
        on_step: Callable[[SearchStep], None] | None = None,
    ) -> SearchRun:
        """Search from one start, with a memory of components of its own."""
        score = GraphScore(self.correlation, self.penalty, self.limits)
        return local_search(
            score,
            start,
            # A strategy remembers its moves, so every start gets a fresh one.
            deepcopy(strategy),
            allowed=self.allowed,
            required=self.required,
            admit=self._admission(score),
            max_evaluations=self.max_evaluations,
            deadline=self.deadline,
            on_step=on_step,
        )

    def run_auto(
        self,
        start: Adjacency,
        acyclic_stage: bool,
        seed: int,
        effort: Annealing,
        on_step: Callable[[SearchStep], None] | None = None,
    ) -> SearchRun:
        """One start of the default search."""
        score = GraphScore(self.correlation, self.penalty, self.limits)
        search = AutoSearch(
            score,
            self.allowed,
            self.required,
            self._admission(score),
            1 / self.n_samples,
            seed,
            self.max_evaluations,
            self.deadline,
            on_step,
            effort,
        )
        return search.run(start, acyclic_stage=acyclic_stage)

    def run_exact(self) -> tuple[SearchRun, Certificate]:
        """The best graph of all, or an error with an estimate of what it would take."""
        limits = self.limits
        p = len(self.correlation)
        unused = {
            "max_cycle_length": self.max_cycle_length is not None,
            "max_edges": limits.max_edges < p * (p - 1),
            "max_evaluations": self.max_evaluations is not None,
        }
        if any(unused.values()):
            named = ", ".join(name for name, is_given in unused.items() if is_given)
            raise InputError(
                f"method 'exact' does not take {named}; limit max_component or max_parents, or use "
                "method='auto'"
            )
        if p > _MAX_EXACT:
            raise LimitError(
                f"an exact search over {p} variables is out of reach (at most {_MAX_EXACT}, and "
                "fewer without limits on components and parents); use method='auto'"
            )
        score = GraphScore(self.correlation, self.penalty, limits)
        start = np.ascontiguousarray(self.required, dtype=np.uint8)
        first = self.run_auto(start, True, 0, Annealing())
        search = ExactSearch(score, self.allowed, self.required, first.score, self.deadline)
        estimate = search.estimate()
        if estimate > MAX_STRUCTURES:
            raise LimitError(
                f"an exact search would list up to {estimate:.1e} structures, more than "
                f"{MAX_STRUCTURES:.0e}; limit max_component or max_parents, or use method='auto'"
            )
        banned: list[int] = []
        admit = self._admission(score)
        while True:
            value, best = search.run(banned)
            admitted, _ = admit(best)
            if admitted is not None or not np.isfinite(value):
                break
            banned += score.unstable_components(best)
        certificate = Certificate(
            max_component=min(limits.max_component, p),
            max_parents=min(limits.max_parents, p - 1),
            n_listed=search.n_listed,
            n_scored=search.n_scored,
            n_bounded=search.n_bounded,
            tolerance=TOLERANCE,
            is_stable=self.stable,
            n_unstable=len(banned),
        )
        best = best if admitted is None else admitted
        n = first.n_evaluations + search.n_scored
        status, none = SearchStatus.OPTIMAL, Counter[str]()
        return SearchRun(start, best, value, (), status, n, none, 0), certificate

    def _admission(
        self, score: GraphScore
    ) -> Callable[[Adjacency], tuple[Adjacency | None, str | None]]:
        """Which graphs may be visited, and which equivalent one in place of an unstable one."""

        def refusal(A: Adjacency) -> str | None:
            if self.max_cycle_length is not None and _has_longer_cycle(A, self.max_cycle_length):
                return "max_cycle_length"
            if self.stable and not score.is_stable(A, thorough=self.thorough):
                return "stable"
            return None

        def admit(A: Adjacency) -> tuple[Adjacency | None, str | None]:
            rule = refusal(A)
            if rule is None:
                return A, None
            if rule == "stable":
                for turned in self._turned(A):
                    if refusal(turned) is None:
                        return turned, None
            return None, rule

        return admit

    def _turned(self, A: Adjacency) -> Iterator[Adjacency]:
        """Equivalent graphs with one cycle reversed: turning a cycle inverts its gain."""
        graph = DirectedGraph(A.astype(bool))
        for reversion in islice(iter_reversions(graph), _MAX_REVERSIONS):
            turned = reversion.apply(graph).adjacency
            if (
                not (turned & ~self.allowed).any()
                and not (self.required & ~turned).any()
                and turned.sum(axis=0).max() <= self.limits.max_parents
            ):
                yield turned.astype(np.uint8)


def _has_longer_cycle(A: Adjacency, max_length: int) -> bool:
    cycles = DirectedGraph(A.astype(bool)).simple_cycles()
    return any(len(cycle) > max_length for cycle in cycles)
