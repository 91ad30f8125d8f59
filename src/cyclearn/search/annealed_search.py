"""One start of the default search: acyclic graphs, then cycles, then annealing by region.

1. The best acyclic graph is searched for over orders of the variables: no component is fitted, so
   moves are cheap, and this removes most wrong orientations, whose extra edges look like cycles.
2. Hill climbing closes cycles.
3. The edges among a few nodes near each other are annealed, cycles included, then polished by hill
   climbing; every node is the centre of such a region in turn, until a whole pass over all nodes
   finds nothing better. Each region starts from an equivalent graph whose edges lead away from the
   centre.
4. Long cycles that the graph only imitates are closed; if that leads to a better graph, 3 restarts.
5. Hill climbing with virtual-edge moves, of which there are few once few superfluous edges are
   left, first without and then with very large components; if it finds a better graph, 3 restarts.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import inf

import numpy as np

from cyclearn._kernels.typed_numbers import ROUNDING
from cyclearn.foundation.arrays import BoolArray, IntArray
from cyclearn.search.closed_rings import iter_ringed, linked_pairs
from cyclearn.search.local_search import Strategy, local_search
from cyclearn.search.orders import best_acyclic
from cyclearn.search.problem import SearchProblem
from cyclearn.search.runs import Adjacency, Budget, OnStep, SearchRun, SearchStatus, SearchStep
from cyclearn.search.score import GraphScore
from cyclearn.search.search_effort import SIZES, MoveEffort, StartEffort
from cyclearn.search.turned_edges import leading_away


def run_from(
    problem: SearchProblem,
    start: Adjacency,
    acyclic_stage: bool,
    seed: int,
    effort: StartEffort,
    budget: Budget,
    on_step: OnStep | None = None,
) -> SearchRun:
    """One start; without the acyclic stage the given graph is improved."""
    search = AnnealedSearch(problem, problem.score(is_walking=True), seed, effort, budget, on_step)
    return search.run(start, acyclic_stage=acyclic_stage)


@dataclass
class AnnealedSearch:
    """One start of the search; ``run`` does the work."""

    problem: SearchProblem
    score: GraphScore
    seed: int
    effort: StartEffort = field(default_factory=StartEffort)
    budget: Budget = field(default_factory=Budget)
    on_step: OnStep | None = None

    def run(self, start: Adjacency, *, acyclic_stage: bool = True) -> SearchRun:
        """Search from a graph; without the acyclic stage the given graph is improved."""
        self._rng = np.random.default_rng(self.seed)
        self._may_add = self.problem.allowed.astype(np.uint8)
        self._may_delete = (~self.problem.required).astype(np.uint8)
        self._may_turn = ~self.problem.required & self.problem.allowed.T
        self._admit = self.problem.admission(self.score)
        # One unit of log-likelihood of the whole sample, per sample.
        self._unit = 1 / self.problem.tables.n_effective
        self._steps: list[SearchStep] = []
        self._refusals: Counter[str] = Counter()
        # The start is the first graph that is evaluated.
        self._n_evaluations, self._limits = 1, 0
        # Nodes around which annealing is finished, for the graph it was finished with.
        self._settled = np.zeros(len(start), dtype=bool)
        self._graph_seen = np.zeros_like(start, dtype=np.uint8)
        # The components of the last graph of which a region was annealed.
        self._labelled = self._graph_seen, np.arange(len(start))
        self._has_groups = len(self.score.shares) > 1
        self._rings_seen: set[bytes] = set()
        start = np.ascontiguousarray(start, dtype=np.uint8)
        self._graph, self._value = start, self.score.thorough_value(start)
        self._is_admitted = self._admit(start)[0] is start
        # Any time limit leaves enough time for a first graph.
        may_begin = self._ended() in (None, SearchStatus.TIME_LIMIT)
        found = self._best_acyclic() if acyclic_stage and may_begin else start
        if not self._ended() or not self._is_admitted:
            self._climb(found, may_start_refused=True)
        # Without cycles, a pass over regions is useful only with few variables, where the search
        # over orders does little (*Acyclic*).
        is_over_orders = acyclic_stage and self._takes_orders
        is_acyclic = self.score.limits.max_component == 1
        is_settled = is_over_orders and is_acyclic and len(start) >= SIZES.small
        while self._ended() is None and not is_settled:
            is_settled = not (
                self._pass_over_regions() or self._close_rings() or self._climb_with_virtual_edges()
            )
        score = self._value if self._is_admitted else inf
        outcome = start, self._graph, score, tuple(self._steps)
        status = self._ended() or SearchStatus.SETTLED
        return SearchRun(*outcome, status, self._n_evaluations, self._refusals, self._limits)

    def _ended(self) -> SearchStatus | None:
        return self.budget.ended(self._n_evaluations)

    def _evaluations_left(self) -> int:
        return self.budget.evaluations_left(self._n_evaluations)

    def _anneal(
        self,
        start: Adjacency,
        nodes: IntArray,
        max_component: int,
        temperature: float,
        n_proposals: int,
    ) -> tuple[Adjacency, float]:
        """The best graph visited and its change of score; in slices, to respect a time limit."""
        n_parts = 1 + n_proposals // self.effort.proposals_at_once
        ratio = self.effort.last_temperature / temperature
        score = self.score.limited(max_component=max_component, max_virtual_cycle=0)
        current, change = start, 0.0
        best, best_change = start, 0.0
        for part in range(n_parts):
            steps = [self._unit * temperature * ratio ** ((part + k) / n_parts) for k in (0, 1)]
            annealed = score.anneal(
                current,
                nodes,
                score.rules(self._may_add, self._may_delete),
                temperatures=(steps[0], steps[1]),
                n_proposals=n_proposals // n_parts,
                max_evaluations=self._evaluations_left(),
                seed=int(self._rng.integers(1, 2**62)),
            )
            self._n_evaluations += annealed.n_evaluations
            if change + annealed.best_change < best_change - ROUNDING:
                best, best_change = annealed.best, change + annealed.best_change
            current, change = annealed.last, change + annealed.change
            if self._ended():
                break
        return best, best_change

    @cached_property
    def _takes_orders(self) -> bool:
        """Whether orders are searched: only for one table without required cycles."""
        is_plain = len(self.score.shares) == 1 and self.score.experiments is None
        required = self.problem.required.astype(np.uint8)
        return is_plain and self.score.largest_component(required) == 1

    def _best_acyclic(self) -> Adjacency:
        """The best acyclic graph found; the search continues from it if it is admissible."""
        p = len(self._graph)
        if not self._takes_orders:
            # No component may grow beyond those of the start.
            found, change = self._anneal(
                self._graph,
                np.arange(p),
                self.score.largest_component(self._graph),
                self.effort.acyclic_temperature,
                self.effort.acyclic_proposals_of(p),
            )
        else:
            search = partial(
                best_acyclic,
                self.score,
                self.problem.allowed,
                self.problem.required,
                seed=int(self._rng.integers(2**31)),
                budget=replace(self.budget, max_evaluations=self._evaluations_left()),
            )
            if self.on_step is not None:
                # The search over orders can take a minute; this reports a first graph at once.
                quick = search(n_exchanges=0)
                toggles = np.argwhere(self._graph != quick.adjacency)
                delta = quick.value - self._value
                self.on_step(SearchStep(toggles, delta, quick.value, True, quick.adjacency, True))
            run = search(n_exchanges=self.effort.exchanges_of(p))
            self._n_evaluations += run.n_evaluations
            found, change = run.adjacency, run.value - self._value
        # With required cycles it may have no stable fit.
        is_admitted = self._admit(found)[0] is found
        if change < -ROUNDING and (is_admitted or not self._is_admitted):
            self._adopt(found, self._value + change)
            self._is_admitted = is_admitted
        return found

    @cached_property
    def _linked(self) -> BoolArray:
        # With very many variables this takes up to a second, which may exceed the time limit.
        return linked_pairs(self.score.S, self.score.shares, self.score.penalty)

    def _close_rings(self) -> bool:
        """Close long cycles that the graph imitates; return whether a better graph was found."""
        if self.score.experiments is not None:
            return False  # links are those of variables without interventions
        largest_now = self.score.largest_component(self._graph)
        in_thicket = self.effort.in_thicket(self._graph)
        for ringed, nodes in iter_ringed(self._graph, self._linked):
            if self._ended():
                return False
            if in_thicket[nodes].all():
                continue
            columns = ringed[:, nodes].tobytes()
            if columns in self._rings_seen:
                continue
            self._rings_seen.add(columns)
            largest = self.score.largest_component(ringed)
            if not self.score.limits.allow(ringed, largest):
                continue
            if largest > max(self.effort.ring_grows * len(nodes), largest_now):
                continue
            if not self.problem.respects_knowledge(ringed):
                continue
            worse = self.score.value(ringed) - self._value
            if worse >= self.effort.ring_worse * self.score.penalty:
                continue
            # Elsewhere nothing has changed, and no move improved the score.
            near = np.zeros(len(ringed), dtype=bool)
            near[nodes] = True
            near |= (ringed[nodes] | ringed[:, nodes].T).any(axis=0)
            if largest > self.effort.virtual_component:
                ringed = self._pruned(ringed, near)
                if self.score.value(ringed) >= self._value - ROUNDING:
                    continue
            if self._climb(ringed, near=near):
                return True
        return False

    def _pruned(self, ringed: Adjacency, near: BoolArray) -> Adjacency:
        """Without superfluous edges; with all moves, each takes tens of thousands of slow fits."""
        budget = replace(self.budget, max_evaluations=self._evaluations_left())
        score = self.score.limited(max_component=len(ringed), max_virtual_cycle=0)
        run = local_search(self.problem, score, ringed, Strategy(), budget, near=near, adds=False)
        self._n_evaluations += run.n_evaluations
        return run.best

    def _pass_over_regions(self) -> bool:
        """Anneal around every node in turn; return whether a better graph was found."""
        p = len(self._graph)
        before = self._value
        effort = self.effort
        is_whole = p <= effort.region_nodes
        largest = self.score.largest_component(self._graph)
        # A small graph is one region, annealed twice.
        for centre in self._rng.permutation(p)[: 2 if is_whole else p].tolist():
            if self._ended():
                return False
            if p > SIZES.many and self._is_settled(centre):
                continue
            nodes = np.arange(p) if is_whole else self._region(centre)
            if nodes.size < 2:
                continue
            found, change = self._anneal(
                self._graph if is_whole else self._leading_away(centre),
                nodes,
                max(effort.region_nodes, largest + 2),
                self._first_temperature(largest),
                self._proposals(largest),
            )
            if change < -ROUNDING or not self._is_admitted:
                self._climb(found)
                largest = self.score.largest_component(self._graph)
        return self._value < before - ROUNDING

    def _first_temperature(self, largest: int) -> float:
        penalty = self.score.penalty / self._unit
        if largest > self.effort.region_nodes:
            return max(self.effort.last_temperature, self.effort.steps_up_beside_large * penalty)
        return max(self.effort.region_temperature, self.effort.steps_up * penalty)

    def _proposals(self, largest: int) -> int:
        is_longer = self._has_groups and largest <= self.effort.region_nodes
        return self.effort.region_proposals * (self.effort.longer_in_groups if is_longer else 1)

    def _leading_away(self, centre: int) -> Adjacency:
        """An equivalent graph in which as many edges as can be lead away from a node."""
        if self.score.experiments is not None:
            return self._graph  # interventions change which graphs are equivalent
        if self._labelled[0] is not self._graph:
            self._labelled = self._graph, self.score.components(self._graph)
        furthest = self.effort.turned_distance
        return leading_away(self._graph, centre, self._labelled[1], self._may_turn, furthest)

    def _is_settled(self, centre: int) -> bool:
        """Whether nothing near the node has changed since its region was annealed.

        If not, the caller is about to anneal it.
        """
        # Comparing two graphs of a thousand variables takes milliseconds.
        is_new = self._graph is not self._graph_seen
        changed = np.argwhere(self._graph != self._graph_seen) if is_new else np.empty(0)
        if len(changed):
            near = np.zeros(len(self._graph), dtype=bool)
            near[changed] = True
            for _ in range(2):
                near |= self._near(near)
            self._settled[near] = False
            self._graph_seen = self._graph
        was_settled = bool(self._settled[centre])
        self._settled[centre] = True
        return was_settled

    def _near(self, nodes: BoolArray | int) -> BoolArray:
        """Neighbours, and parents of a common child."""
        A = self._graph.view(np.bool_)
        children = np.atleast_2d(A[nodes]).any(axis=0)
        parents = np.atleast_2d(A.T[nodes]).any(axis=0)
        beside = A[:, children].any(axis=1)
        return np.asarray(children | parents | beside)

    def _climb_with_virtual_edges(self) -> bool:
        is_thicket = self.effort.in_thicket(self._graph).any()
        if is_thicket and not self.effort.climbs_in_thicket:
            return False
        if self.effort.is_overgrown(self._graph):
            return False
        most = min(self.score.limits.max_component, len(self._graph))
        least = min(self.effort.virtual_component, most)
        return any(
            self._climb(self._graph, component, self.effort.virtual_cycle)
            for component in sorted({least, max(least, self._affordable(most))})
        )

    def _affordable(self, most: int) -> int:
        """The largest component for which fitting all neighbours is not too much work."""
        from cyclearn._kernels.neighbourhood import reachability

        paths = reachability(self._graph).astype(np.float32)
        closing = (paths.T > 0) & (self._graph == 0)
        # An edge i → j makes one component of all nodes on paths from j to i.
        sizes = np.sort((paths @ paths).T[closing])
        work = np.cumsum(sizes**3)
        beyond = sizes[work > self.effort.last_climb_work]
        return most if beyond.size == 0 else min(most, int(beyond[0]) - 1)

    def _region(self, centre: int) -> IntArray:
        """The centre and its neighbours, then random nodes near those chosen, one by one.

        Reversing all edges of a node at once requires a region that contains them all.
        """
        A = self._graph.view(np.bool_)
        inside = np.zeros(len(A), dtype=bool)
        inside[centre] = True
        joined, front = A[centre] | A[:, centre], self._near(centre)
        for _ in range(self.effort.region_nodes - 1):
            candidates = np.flatnonzero(joined & ~inside)
            if candidates.size == 0:
                candidates = np.flatnonzero(front & ~inside)
            if candidates.size == 0 and self.score.experiments is not None:
                # Interventions tell apart what joins two parts of a graph.
                candidates = np.flatnonzero(~inside)
            if candidates.size == 0:
                break
            chosen = int(self._rng.choice(candidates))
            inside[chosen] = True
            front |= self._near(chosen)
        return np.flatnonzero(inside)

    def _climb(
        self,
        found: Adjacency,
        component: int = MoveEffort.large_component,
        virtual_cycle: int = 0,
        *,
        near: BoolArray | None = None,
        may_start_refused: bool = False,
    ) -> bool:
        """Climb from a graph; move to the end, and return True, if it is admissible and better.

        Components larger than ``component`` are not entered unless the graph has one already. If
        nodes are marked as ``near``, only edges that begin or end there are changed.
        """
        from cyclearn._kernels.neighbourhood import LIMIT_COMPONENT

        admitted, rule = self._admit(found)
        if admitted is None:
            self._refusals[rule or "refused"] += 1
            if self._is_admitted and not may_start_refused:
                return False
            admitted = found
        most = min(
            self.score.limits.max_component, max(component, self.score.largest_component(admitted))
        )
        score = self.score.limited(max_component=most, max_virtual_cycle=virtual_cycle)
        budget = replace(self.budget, max_evaluations=self._evaluations_left())
        run = local_search(self.problem, score, admitted, Strategy(), budget, near=near)
        self._n_evaluations += run.n_evaluations
        self._refusals += run.refusals
        # A limit that applies only to this stage must not be reported.
        own = LIMIT_COMPONENT if most < self.score.limits.max_component else 0
        self._limits |= run.limits & ~own
        if run.score < (self._value - ROUNDING if self._is_admitted else inf):
            self._adopt(admitted, self.score.thorough_value(admitted))
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
            self._note(SearchStep(toggles, delta, value, delta < -ROUNDING, graph, True))
        self._graph, self._value = graph, value

    def _note(self, step: SearchStep) -> None:
        self._steps.append(step)
        if self.on_step is not None:
            self.on_step(step)
