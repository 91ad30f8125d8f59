"""The best graph of all, for few variables: a dynamic programme over strongly connected components.

best(V) = min over the last component C ⊆ V of best(V∖C) + cost(C | parents in V∖C). No graph on
a set of nodes fits better than the saturated likelihood, so a structure of C is skipped as soon
as best(V∖C), its own bound and the bound of the nodes still to come exceed a known score.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from math import comb, floor, isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cyclearn.foundation import Deadline, InputError, LimitError, has_passed, is_asked_to_stop
from cyclearn.foundation.arrays import BoolArray, IntArray
from cyclearn.graphs.bitsets import bits
from cyclearn.search.annealed_search import run_from
from cyclearn.search.problem import SearchProblem
from cyclearn.search.runs import Adjacency, SearchRun, SearchStatus, Solution
from cyclearn.search.score import GraphScore
from cyclearn.search.search_effort import ExactEffort, StartEffort
from cyclearn.search.starts import SearchCall, starting_graphs

# Scores per sample closer than this, or than rounding, are not distinguished: ties agree to about
# 1e-15, and other scores rarely to 1e-6.
TOLERANCE = 1e-9
# Half the logarithm of a variance that counts as zero.
_NO_BOUND = 1e3
# A structure is stored in the bits of one signed 64-bit integer.
_MAX_BITS = 60


@dataclass(frozen=True)
class Certificate:
    """The certificate of an exact search.

    Every structure of every component of at most ``max_component`` nodes, with at most
    ``max_parents`` parents per node, was listed (``n_listed``), or could not be part of a graph
    within ``tolerance`` per sample of the best score (``n_bounded``). ``n_scored`` of those listed
    had to be fitted; the saturated likelihood ruled out the others. The certificate assumes that
    the fit of each component, which starts at zero coefficients, is its best fit. With
    ``is_stable``, the ``n_unstable`` structures without a stable best fit were excluded. With
    ``has_knowledge``, only graphs that respect the knowledge were considered.
    """

    max_component: int
    max_parents: int
    tolerance: float
    is_stable: bool
    n_unstable: int = 0
    has_knowledge: bool = False
    n_listed: int = field(default=0, compare=False)
    n_scored: int = field(default=0, compare=False)
    n_bounded: int = field(default=0, compare=False)

    def to_dict(self, *, timings: bool = False) -> dict[str, Any]:
        """The certificate as plain values; optionally with counts of work, which may differ."""
        work = () if timings else ("n_listed", "n_scored", "n_bounded")
        return {name: value for name, value in asdict(self).items() if name not in work}

    def explain(self) -> str:
        """The certificate in words."""
        return (
            "No graph "
            + ("that respects the knowledge, " if self.has_knowledge else "")
            + f"with components of at most {self.max_component} nodes and at most "
            f"{self.max_parents} parents per node scores better by more than "
            f"{self.tolerance:.2g} per sample, provided that the fit of each component, started "
            "from zero coefficients, is its best fit: every structure of a component was "
            "either listed or excluded because even its saturated likelihood cannot reach the "
            "best score."
            + (
                " Structures of components without a stable fit were excluded."
                if self.n_unstable
                else " No structure was excluded."
            )
        )


@dataclass
class ComponentProgramme:
    """A dynamic programme over sets of nodes; ``incumbent`` is the score of a known graph."""

    score: GraphScore
    allowed: BoolArray
    required: BoolArray
    incumbent: float
    effort: ExactEffort
    deadline: Deadline = None

    def __post_init__(self) -> None:
        self.p = self.score.n_variables
        self.n_listed = self.n_scored = self.n_bounded = 0
        self._saturated = np.zeros(1 << self.p)
        for V in range(1, 1 << self.p):
            self._saturated[V] = self._least_value(list(bits(V)))
        self._everything = (1 << self.p) - 1
        # Bounds and fits are sums of logarithms of pivots, of which the smallest is the least
        # accurate.
        experiments = self.score.experiments
        fitted = self.score.S if experiments is None else experiments.pooled.matrices
        rounding = self.p * np.finfo(float).eps * np.linalg.cond(fitted).max()
        self.tolerance = max(TOLERANCE, float(rounding))

    def _least_value(self, nodes: list[int]) -> float:
        """Half the log determinant of the covariance of some nodes, given the targets."""
        score, experiments = self.score, self.score.experiments
        if experiments is None:
            blocks = score.S[:, nodes][:, :, nodes]
            return float(0.5 * score.shares @ np.linalg.slogdet(blocks)[1])
        total = 0.0
        for table, S, share, targets in zip(
            experiments.tables, score.S, score.shares, score.targeted, strict=True
        ):
            given = np.flatnonzero(targets).tolist()
            if table.moments.n_samples <= self.p:
                # The rows of this table alone could be explained exactly.
                total -= share * _NO_BOUND * len(set(nodes) - set(given))
                continue
            both = sorted({*nodes, *given})
            value = np.linalg.slogdet(S[np.ix_(both, both)])[1]
            total += 0.5 * share * (value - np.linalg.slogdet(S[np.ix_(given, given)])[1])
        return float(total)

    def estimate(self) -> int:
        """The maximum number of structures to list; a lower bound if it is too large to count."""
        total = 0
        for V in range(1, 1 << self.p):
            for C in self._last_components(V):
                U = V ^ C
                sources, _, _ = self._edges(C, U)
                fewest, most = self._edge_range(C, U, float(self._saturated[U]))
                total += sum(comb(sources.size, m) for m in range(fewest, most + 1))
                if sources.size > _MAX_BITS and most >= fewest:
                    total += 1 << _MAX_BITS
                if total > self.effort.counted_structures:
                    return total
        return total

    def run(self, banned: list[int]) -> tuple[float, Adjacency]:
        """The best score per sample and its graph; no component has a banned key."""
        self.n_listed = self.n_scored = self.n_bounded = 0
        best = np.full(1 << self.p, np.inf)
        best[0] = 0.0
        choice: dict[int, tuple[int, int]] = {}
        refused = np.array(banned, dtype=np.uint64)
        for V in range(1, 1 << self.p):
            for C in self._last_components(V):
                U = V ^ C
                if not np.isfinite(best[U]):
                    continue
                value, chosen = self._best_structure(C, U, best[U], best[V], refused)
                if chosen >= 0 and best[U] + value < best[V]:
                    best[V] = best[U] + value
                    choice[V] = (C, chosen)
        A = np.zeros((self.p, self.p), dtype=np.uint8)
        V = self._everything
        while V and V in choice:
            C, chosen = choice[V]
            sources, targets, _ = self._edges(C, V ^ C)
            for b in range(sources.size):
                A[sources[b], targets[b]] = chosen >> b & 1
            V ^= C
        return float(best[-1]), A

    def _best_structure(
        self, C: int, U: int, below: float, known: float, banned: NDArray[np.uint64]
    ) -> tuple[float, int]:
        from cyclearn._kernels.component_enumeration import best_structure

        nodes = np.array(list(bits(C)), dtype=np.int64)
        later = list(bits(self._everything ^ (C | U)))
        if self.required[later][:, nodes].any():
            return np.inf, -1
        sources, targets, n_inside = self._edges(C, U)
        fewest, most = self._edge_range(C, U, below)
        self.n_bounded += sum(comb(sources.size, m) for m in range(most + 1, sources.size + 1))
        if most < fewest:
            return np.inf, -1
        required = sum(1 << b for b in range(sources.size) if self.required[sources[b], targets[b]])
        room = self._room(C | U, below)
        best, best_bits = float(min(room, known - below)), -1
        # One call lists them all, unless there is a time limit.
        step = most - fewest if self.deadline is None else 0
        for n_edges in range(fewest, most + 1, step + 1):
            self._check_time()
            value, chosen, n_listed, n_scored = best_structure(
                self.score._scored(np.zeros((self.p, self.p), dtype=np.uint8)),
                nodes,
                sources,
                targets,
                n_inside,
                required,
                (n_edges, n_edges + step),
                self.score.limits.max_parents,
                self.score.penalty,
                best,
                banned,
            )
            if chosen >= 0:
                best, best_bits = float(value), int(chosen)
            self.n_listed += n_listed
            self.n_scored += n_scored
        return best, best_bits

    def _check_time(self) -> None:
        if is_asked_to_stop():
            raise _StoppedError
        if has_passed(self.deadline):
            raise LimitError(
                "the time limit ended the exact search before it was complete; raise "
                "time_limit, limit max_component or max_parents, or use method='auto'"
            )

    def _last_components(self, V: int) -> Iterator[int]:
        nodes = list(bits(V))
        for size in range(1, min(len(nodes), self.score.limits.max_component) + 1):
            for chosen in combinations(nodes, size):
                yield sum(1 << i for i in chosen)

    def _edges(self, C: int, U: int) -> tuple[IntArray, IntArray, int]:
        """Possible edges into C from C itself, then from U; and how many are inside."""
        inside = [(i, j) for j in bits(C) for i in bits(C) if self.allowed[i, j]]
        outside = [(i, j) for j in bits(C) for i in bits(U) if self.allowed[i, j]]
        pairs = np.array(inside + outside, dtype=np.int64).reshape(-1, 2)
        return (np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1]), len(inside))

    def _room(self, V: int, value: float) -> float:
        """What the incumbent leaves when V has this value, and the nodes outside V their least."""
        return self.incumbent + self.tolerance - value - self._between(self._everything, V)

    def _between(self, V: int, U: int) -> float:
        """The smallest value of V given U; −∞, an empty bound, if there are too few rows."""
        least = float(self._saturated[V])
        return least - float(self._saturated[U]) if isfinite(least) else least

    def _edge_range(self, C: int, U: int, below: float) -> tuple[int, int]:
        """The fewest edges that connect C, and the most that the incumbent allows."""
        size = C.bit_count()
        fewest = 0 if size == 1 else size
        most = min(size * (size - 1 + U.bit_count()), size * self.score.limits.max_parents)
        own = self._between(C | U, U)
        room = self._room(C | U, below + own)
        if room < 0:
            return fewest, fewest - 1
        if self.score.penalty > 0 and isfinite(room):
            most = min(most, floor(room / self.score.penalty))
        return fewest, most


def n_structures(p: int, max_component: int, max_parents: int) -> int:
    """Number of structures of components in all sets of p nodes, without any pruning."""
    total = 0
    for size in range(1, min(p, max_component) + 1):
        for n_before in range(p - size + 1):
            choices = comb(p, size) * comb(p - size, n_before)
            n_pairs = size * (size - 1 + n_before)
            total += choices * sum(
                comb(n_pairs, m) for m in range(min(n_pairs, size * max_parents) + 1)
            )
    return total


class _StoppedError(Exception):
    """An interrupt has requested the best graph so far."""


@dataclass(frozen=True)
class ExactSearch:
    """``"exact"``: the globally best graph, or an error with an estimate of the work."""

    limits: ExactEffort = field(default_factory=ExactEffort)

    def solve(self, problem: SearchProblem, call: SearchCall) -> Solution:
        """A first search from the empty graph gives a score to beat."""
        _check_call(problem, call, self.limits.max_variables)
        limits, p = problem.limits, problem.n_variables
        (start,) = starting_graphs(problem, None, 1, call.seed)
        score = problem.score()
        first = run_from(problem, start, True, 0, StartEffort(), call.budget)
        known = score.value(first.best) if isfinite(first.score) else np.inf
        programme = ComponentProgramme(
            score, problem.allowed, problem.required, known, self.limits, call.budget.deadline
        )
        estimate = programme.estimate()
        if estimate > self.limits.max_structures:
            how_many = "up to" if estimate <= self.limits.counted_structures else "more than"
            raise LimitError(
                f"an exact search would list {how_many} {_power_of_ten(estimate)} structures, "
                f"more than the maximum of {self.limits.max_structures:.0e}; limit max_component "
                "or max_parents, or use method='auto'"
            )
        banned: list[int] = []
        admit = problem.admission(score)
        while True:
            try:
                value, best = programme.run(banned)
            except _StoppedError:
                return Solution((replace(first, status=SearchStatus.INTERRUPTED),))
            admitted = admit(best)[0] if isfinite(value) else None
            if admitted is not None or not isfinite(value):
                break
            banned += score.unstable_components(best)
        if known < value:
            # Equal up to rounding, as the search has proved.
            value, admitted = known, first.best
        if admitted is None:
            raise InputError(
                "no graph that respects the knowledge and the limits has a stable fit; use "
                "stable=False to allow unstable fits"
            )
        certificate = Certificate(
            max_component=min(limits.max_component, p),
            max_parents=min(limits.max_parents, p - 1),
            n_listed=programme.n_listed,
            n_scored=programme.n_scored,
            n_bounded=programme.n_bounded,
            tolerance=programme.tolerance,
            is_stable=problem.stable,
            n_unstable=len(banned),
            has_knowledge=problem.has_knowledge,
        )
        n = first.n_evaluations + programme.n_scored
        status, none = SearchStatus.OPTIMAL, Counter[str]()
        run = SearchRun(start, admitted, value, (), status, n, none, 0)
        return Solution((run,), certificate)


def _check_call(problem: SearchProblem, call: SearchCall, max_variables: int) -> None:
    """Raise if an option does not apply to this method, or if there are too many variables."""
    limits, p = problem.limits, problem.n_variables
    if call.starts is not None or call.n_starts is not None:
        raise InputError("method 'exact' does not use starts; omit start and n_starts")
    unused = {
        "max_cycle_length": problem.max_cycle_length is not None,
        "max_edges": limits.max_edges < p * (p - 1),
        "max_evaluations": call.budget.max_evaluations is not None,
    }
    if any(unused.values()):
        named = ", ".join(name for name, is_given in unused.items() if is_given)
        raise InputError(
            f"method 'exact' does not accept {named}; limit max_component or max_parents, or use "
            "method='auto'"
        )
    if p > max_variables:
        # For many more variables, counting takes minutes.
        counted = max_variables + 1
        estimate = n_structures(counted, limits.max_component, limits.max_parents)
        how_many = "up to" if p == counted else "more than"
        raise LimitError(
            f"an exact search over {p} variables would list {how_many} {_power_of_ten(estimate)} "
            f"structures and store values for 2^{p} sets; the maximum is {max_variables} "
            "variables, or fewer without limits on components and parents; use method='auto'"
        )


def _power_of_ten(number: int) -> str:
    """A count that may be too large for a float."""
    digits = str(number)
    return f"{digits[0]}.{(digits + '0')[1]}e+{len(digits) - 1:02d}"
