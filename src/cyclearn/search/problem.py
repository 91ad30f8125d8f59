"""A search problem: data, limits and knowledge, with one way to run each method on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from cyclearn.classes.steps import iter_reversions
from cyclearn.errors import InputError, LimitError
from cyclearn.graphs import DirectedGraph
from cyclearn.models import Moments
from cyclearn.search.auto_search import Annealing, AutoSearch
from cyclearn.search.exact import (
    COUNTED_STRUCTURES,
    MAX_STRUCTURES,
    Certificate,
    ExactSearch,
    n_structures,
)
from cyclearn.search.local_search import (
    SearchRun,
    SearchStatus,
    SearchStep,
    Strategy,
    local_search,
)
from cyclearn.search.score import Adjacency, GraphScore, SearchLimits

# How many cycles of an unstable structure are turned in search of a stable equivalent one.
_MAX_REVERSIONS = 50
# An exact search keeps a value for every set of variables.
_MAX_EXACT = 14
# Longer cycles are found by single edges and smaller virtual-edge moves; listing them all would
# take longer than the rest of the search.
_MAX_VIRTUAL_CYCLE = 6


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

    @classmethod
    def of(
        cls,
        moments: Moments,
        penalty: float,
        masks: tuple[NDArray[np.bool_], NDArray[np.bool_]],
        *,
        stable: bool,
        virtual_edges: bool,
        max_component: int | None,
        max_cycle_length: int | None,
        max_parents: int | None,
        max_edges: int | None,
        max_evaluations: int | None = None,
        deadline: float | None = None,
        thorough: bool = False,
    ) -> SearchProblem:
        """The problem that checked arguments of ``learn`` pose.

        ``penalty`` is for one edge, ``masks`` say which edges are allowed and which required.
        """
        p, n = moments.n_variables, moments.n_samples
        allowed, required = masks
        limits = SearchLimits(
            max_component=max_component or p,
            # A node and its parents must stay below the number of samples.
            max_parents=min(p if max_parents is None else max_parents, n - 2),
            max_edges=p * p if max_edges is None else max_edges,
            max_virtual_cycle=min(p, _MAX_VIRTUAL_CYCLE) if virtual_edges and p > 2 else 0,
        )
        return cls(
            correlation=moments.correlation,
            n_samples=n,
            penalty=penalty / n,
            limits=limits,
            allowed=allowed,
            required=required,
            stable=stable,
            max_cycle_length=max_cycle_length,
            max_evaluations=max_evaluations,
            deadline=deadline,
            thorough=thorough,
        )

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
            admit=self.admission(score),
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
            self.admission(score),
            1 / self.n_samples,
            seed,
            self.max_evaluations,
            self.deadline,
            on_step,
            effort,
        )
        return search.run(start, acyclic_stage=acyclic_stage)

    def run_exact(self, start: Adjacency) -> tuple[SearchRun, Certificate]:
        """The best graph of all, or an error with an estimate of what it would take.

        A first search from the start gives a score that the rest has to beat.
        """
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
            estimate = n_structures(p, limits.max_component, limits.max_parents)
            raise LimitError(
                f"an exact search over {p} variables would list up to {_power_of_ten(estimate)} "
                f"structures, and keep values of 2^{p} sets; at most {_MAX_EXACT} variables are "
                "taken, fewer without limits on components and parents; use method='auto'"
            )
        score = GraphScore(self.correlation, self.penalty, limits)
        first = self.run_auto(start, True, 0, Annealing())
        known = score.value(first.best) if np.isfinite(first.score) else np.inf
        search = ExactSearch(score, self.allowed, self.required, known, self.deadline)
        estimate = search.estimate()
        if estimate > MAX_STRUCTURES:
            how_many = "up to" if estimate <= COUNTED_STRUCTURES else "more than"
            raise LimitError(
                f"an exact search would list {how_many} {_power_of_ten(estimate)} structures, and "
                f"{MAX_STRUCTURES:.0e} are taken; limit max_component or max_parents, or use "
                "method='auto'"
            )
        banned: list[int] = []
        admit = self.admission(score)
        while True:
            value, best = search.run(banned)
            admitted = admit(best)[0] if np.isfinite(value) else None
            if admitted is not None or not np.isfinite(value):
                break
            banned += score.unstable_components(best)
        if known < value:
            # Equal but for rounding, by what the search has proved.
            value, admitted = known, first.best
        if admitted is None:
            raise InputError(
                "no graph that keeps to the knowledge and the limits has a stable fit; allow "
                "unstable ones with stable=False"
            )
        certificate = Certificate(
            max_component=min(limits.max_component, p),
            max_parents=min(limits.max_parents, p - 1),
            n_listed=search.n_listed,
            n_scored=search.n_scored,
            n_bounded=search.n_bounded,
            tolerance=search.tolerance,
            is_stable=self.stable,
            n_unstable=len(banned),
            has_knowledge=bool(self.required.any() or self.allowed.sum() < p * (p - 1)),
        )
        n = first.n_evaluations + search.n_scored
        status, none = SearchStatus.OPTIMAL, Counter[str]()
        return SearchRun(start, admitted, value, (), status, n, none, 0), certificate

    def admission(
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


def _power_of_ten(number: int) -> str:
    """A count that may be far beyond any float."""
    digits = str(number)
    return f"{digits[0]}.{(digits + '0')[1]}e+{len(digits) - 1:02d}"


def _has_longer_cycle(A: Adjacency, max_length: int) -> bool:
    cycles = DirectedGraph(A.astype(bool)).simple_cycles()
    return any(len(cycle) > max_length for cycle in cycles)
