"""The default search: acyclic graphs first, then cycles, then region by region.

1. Acyclic graphs are annealed over all edges: no component is fitted, so proposals are cheap, and
   wrong orientations, which cost extra edges that look like cycles, are mostly gone.
2. Hill climbing closes cycles.
3. The edges among a few nodes near each other are annealed, cycles included, then polished by hill
   climbing; every node is the centre of such a region in turn, until a whole pass over all nodes
   finds nothing better.
4. Hill climbing with virtual-edge moves, which are few where few superfluous edges are left, first
   without and then with very large components; if it finds something better, 3 begins again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from cyclearn.search.local_search import (
    HillClimbing,
    SearchRun,
    SearchStatus,
    SearchStep,
    local_search,
)
from cyclearn.search.score import Adjacency, GraphScore

_ROUNDING = 1e-10
# Temperatures are in units of the log-likelihood of the whole sample, an edge's penalty at most.
_LAST_TEMPERATURE = 0.5
# While superfluous edges are many, climbing would make components of dozens of nodes out of them,
# and virtual-edge moves with long cycles by the ten thousand. Larger components are left for later
# climbs, and long cycles for shorter ones one after the other.
_CLIMBED_COMPONENT = 10
_VIRTUAL_COMPONENT = 20
_VIRTUAL_CYCLE = 3


@dataclass(frozen=True)
class Annealing:
    """How much work the search does.

    ``acyclic_proposals`` and ``acyclic_temperature`` belong to the first stage: proposals per
    node, in graphs of 20 nodes or more, and as the square of the nodes in smaller ones.
    ``region_nodes``, ``region_proposals``, ``region_temperature`` and ``region_component`` (the
    largest component entered in a region) belong to the third, which ends after ``n_passes`` over
    all nodes without a better graph. A graph of at most ``region_nodes`` nodes is one region.
    """

    acyclic_proposals: int = 5000
    acyclic_temperature: float = 100.0
    region_nodes: int = 7
    region_proposals: int = 1500
    region_temperature: float = 5.0
    region_component: int = 7
    n_passes: int = 1


@dataclass
class AutoSearch:
    """One start of the search; ``run`` does the work.

    ``unit`` is one unit of log-likelihood per sample, 1/n, or more where the penalty is larger.
    """

    score: GraphScore
    allowed: NDArray[np.bool_]
    required: NDArray[np.bool_]
    admit: Callable[[Adjacency], tuple[Adjacency | None, str | None]]
    unit: float
    seed: int
    max_evaluations: int | None = None
    deadline: float | None = None
    on_step: Callable[[SearchStep], None] | None = None
    effort: Annealing = field(default_factory=Annealing)

    def run(self, start: Adjacency, *, acyclic_stage: bool = True) -> SearchRun:
        """Search from a graph; without the acyclic stage it is improved as it is."""
        self._rng = np.random.default_rng(self.seed)
        self._may_add = self.allowed.astype(np.uint8)
        self._may_delete = (~self.required).astype(np.uint8)
        self._steps: list[SearchStep] = []
        self._refusals: Counter[str] = Counter()
        self._n_evaluations = self._limits = 0
        start = np.ascontiguousarray(start, dtype=np.uint8)
        self._graph, self._value = start, self.score.value(start)
        self._is_admitted = self.admit(start)[0] is start
        found = self._anneal_acyclic() if acyclic_stage and not self._ended() else start
        if not self._ended():
            self._climb(found, may_start_refused=True)
        while self._ended() is None:
            if not (self._pass_over_regions() or self._climb_with_virtual_edges()):
                break
        return SearchRun(
            start,
            self._graph,
            self._value if self._is_admitted else inf,
            tuple(self._steps),
            self._ended() or SearchStatus.SETTLED,
            self._n_evaluations,
            self._refusals,
            self._limits,
        )

    def _ended(self) -> SearchStatus | None:
        if self._evaluations_left() <= 0:
            return SearchStatus.MAX_EVALUATIONS
        if self.deadline is not None and monotonic() > self.deadline:
            return SearchStatus.TIME_LIMIT
        return None

    def _evaluations_left(self) -> int:
        return (self.max_evaluations or 2**62) - self._n_evaluations

    def _anneal(
        self,
        start: Adjacency,
        nodes: NDArray[np.int64],
        max_component: int,
        temperature: float,
        n_proposals: int,
    ) -> tuple[Adjacency, float]:
        """The best graph met and its change of score; in parts, to keep to a time limit."""
        n_parts = 1 + n_proposals // 20_000
        ratio = _LAST_TEMPERATURE / temperature
        current, change = start, 0.0
        best, best_change = start, 0.0
        for part in range(n_parts):
            steps = [self.unit * temperature * ratio ** ((part + k) / n_parts) for k in (0, 1)]
            annealed = self.score.anneal(
                current,
                nodes,
                self._may_add,
                self._may_delete,
                max_component=max_component,
                max_evaluations=self._evaluations_left(),
                temperatures=(steps[0], steps[1]),
                n_proposals=n_proposals // n_parts,
                seed=int(self._rng.integers(1, 2**62)),
            )
            self._n_evaluations += annealed.n_evaluations
            if change + annealed.best_change < best_change - _ROUNDING:
                best, best_change = annealed.best, change + annealed.best_change
            current, change = annealed.last, change + annealed.change
            if self._ended():
                break
        return best, best_change

    def _anneal_acyclic(self) -> Adjacency:
        """The best acyclic graph met, which is where the search then stands if it may."""
        p = len(self._graph)
        effort = self.effort
        # Required edges may close cycles: no component may grow beyond those of the start.
        found, change = self._anneal(
            self._graph,
            np.arange(p),
            self._largest(self._graph),
            effort.acyclic_temperature,
            effort.acyclic_proposals * p * min(p, 20) ** 2 // 400,
        )
        # With required cycles it can have no stable fit.
        is_admitted = self.admit(found)[0] is found
        if change < -_ROUNDING and (is_admitted or not self._is_admitted):
            self._adopt(found, self._value + change)
            self._is_admitted = is_admitted
        return found

    def _pass_over_regions(self) -> bool:
        """Anneal around every node in turn; whether a better graph was found."""
        p = len(self._graph)
        before = self._value
        effort = self.effort
        is_whole = p <= effort.region_nodes
        for _ in range(effort.n_passes):
            # A small graph is a region of its own, annealed twice.
            for centre in self._rng.permutation(p)[: 2 if is_whole else p].tolist():
                if self._ended():
                    return False
                nodes = np.arange(p) if is_whole else self._region(centre)
                if nodes.size < 2:
                    continue
                largest = self._largest(self._graph)
                found, change = self._anneal(
                    self._graph,
                    nodes,
                    min(self.score.limits.max_component, max(effort.region_component, largest)),
                    effort.region_temperature,
                    effort.region_proposals,
                )
                if change < -_ROUNDING or not self._is_admitted:
                    self._climb(found)
        return self._value < before - _ROUNDING

    def _climb_with_virtual_edges(self) -> bool:
        most = min(self.score.limits.max_component, len(self._graph))
        return any(
            self._climb(self._graph, component, _VIRTUAL_CYCLE)
            for component in sorted({min(_VIRTUAL_COMPONENT, most), most})
        )

    def _largest(self, graph: Adjacency) -> int:
        """Nodes in the largest strongly connected component."""
        return int(np.bincount(self.score.components(graph)).max())

    def _region(self, centre: int) -> NDArray[np.int64]:
        """Nodes near the centre, drawn one by one: neighbours and parents of a common child."""
        A = self._graph.astype(np.int64)
        near = (A + A.T + A @ A.T) > 0
        inside = np.zeros(len(A), dtype=bool)
        inside[centre] = True
        front = near[centre].copy()
        for _ in range(self.effort.region_nodes - 1):
            candidates = np.flatnonzero(front & ~inside)
            if candidates.size == 0:
                break
            chosen = self._rng.choice(candidates)
            inside[chosen] = True
            front |= near[chosen]
        return np.flatnonzero(inside)

    def _climb(
        self,
        found: Adjacency,
        component: int = _CLIMBED_COMPONENT,
        virtual_cycle: int = 0,
        *,
        may_start_refused: bool = False,
    ) -> bool:
        """Climb from a graph; go there, and say so, if the end may be visited and is better.

        No ``component`` larger than that is entered, unless there is one already.
        """
        from cyclearn._kernels.neighbourhood import LIMIT_COMPONENT

        admitted, rule = self.admit(found)
        if admitted is None:
            self._refusals[rule or "refused"] += 1
            if self._is_admitted and not may_start_refused:
                return False
            admitted = found
        most = min(self.score.limits.max_component, max(component, self._largest(admitted)))
        run = local_search(
            self.score.limited(max_component=most, max_virtual_cycle=virtual_cycle),
            admitted,
            HillClimbing(),
            allowed=self.allowed,
            required=self.required,
            admit=self.admit,
            max_evaluations=self._evaluations_left(),
            deadline=self.deadline,
        )
        self._n_evaluations += run.n_evaluations
        self._refusals += run.refusals
        # A limit that only this stage has is none that kept anything away.
        own = LIMIT_COMPONENT if most < self.score.limits.max_component else 0
        self._limits |= run.limits & ~own
        if run.score < (self._value - _ROUNDING if self._is_admitted else inf):
            self._adopt(admitted, self.score.value(admitted))
            for step in run.steps:
                self._note(step)
            self._graph, self._value = run.best, run.score
            self._is_admitted = True
            return True
        return False

    def _adopt(self, graph: Adjacency, value: float) -> None:
        toggles = np.argwhere(self._graph != graph)
        if len(toggles):
            delta = value - self._value
            self._note(SearchStep(toggles, delta, value, delta < -_ROUNDING, True))
        self._graph, self._value = graph, value

    def _note(self, step: SearchStep) -> None:
        self._steps.append(step)
        if self.on_step is not None:
            self.on_step(step)
