"""Searches for the rivals of a result, with its tables, penalty, knowledge and limits."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from cyclearn.classes import EquivalenceClass
from cyclearn.foundation.arrays import BoolArray
from cyclearn.foundation.deadlines import now
from cyclearn.graphs.bitsets import bits, reached, support_to_columns
from cyclearn.graphs.directed_graph import DirectedGraph, structural_hamming_distance
from cyclearn.models import fit
from cyclearn.models.correlated_noise import Pairs
from cyclearn.results.rivals import Rival, RivalKind
from cyclearn.search.answer import shown_member
from cyclearn.search.mixed_graphs import best_mixed_graph
from cyclearn.search.problem import SearchProblem
from cyclearn.search.runs import Budget
from cyclearn.search.search_effort import MixedEffort
from cyclearn.search.starts import SearchCall

if TYPE_CHECKING:
    from cyclearn.results.result import LearnResult

_EFFORT = MixedEffort()


class RivalSearch:
    """Searches for rivals of one result; graphs inside have the order of the problem."""

    def __init__(self, result: LearnResult) -> None:
        self._result = result
        self._problem = result.options.problem(result.tables)
        self._learned = result.graph.reordered(self._problem.names)
        self.loops = tuple(nodes for nodes in result.graph.components if len(nodes) > 1)

    @cached_property
    def without_feedback(self) -> Rival | None:
        """The best graph found without feedback, as the member nearest to the learned graph."""
        if not self.loops:
            return None
        found = _searched(self._result, _limited(self._problem, 1))
        if found is None:
            return None
        if self._problem.experiments is None:
            found = next(iter(self._acyclic_members(found)), found)
        return self._rival("without feedback", found, self.loops)

    def smaller_loops(self) -> Rival | None:
        """The best graph found whose largest loop is smaller, from a start without loops."""
        largest = max(map(len, self.loops), default=0)
        if largest <= 2:
            return None
        problem = _limited(self._problem, largest - 1)
        start = None if self.without_feedback is None else self.without_feedback.graph
        found = _searched(self._result, problem, start)
        if found is None:
            return None
        if problem.experiments is None:
            found = shown_member(problem, problem.score(), EquivalenceClass(found)) or found
        loops = tuple(each for each in self.loops if len(each) == largest)
        return self._rival("smaller loops", found, loops)

    def without_loops(self) -> tuple[Rival, ...]:
        """For each loop the best graph found without it."""
        if len(self.loops) == 1:
            return () if self.without_feedback is None else (self.without_feedback,)
        found = []
        for loop in self.loops:
            broken = [self._without(loop), self.without_feedback]
            known = [each for each in broken if each is not None]
            if known:
                best = min(known, key=lambda each: each.difference)
                found.append(replace(best, kind="without the loop", loops=(loop,)))
        return tuple(found)

    def _without(self, loop: tuple[str, ...]) -> Rival | None:
        """The best graph found with other causes for the variables of a loop, without a cycle."""
        problem, A = self._problem, self._learned.adjacency
        inside = np.isin(np.array(problem.names), loop)
        nodes = sum(1 << i for i in np.flatnonzero(inside).tolist())
        may_cause = np.ones_like(inside)
        may_cause[list(bits(reached(support_to_columns(A.T), nodes)))] = False
        may_cause |= inside
        alone = replace(
            problem,
            allowed=problem.allowed & inside & may_cause[:, None],
            required=problem.required & inside,
        )
        found = _searched(self._result, _limited(alone, 1))
        if found is None:
            return None
        merged = DirectedGraph(np.where(inside, found.adjacency, A), problem.names)
        return self._rival("without the loop", merged, (loop,))

    def hidden_causes(self, max_pairs: int) -> Rival | None:
        """The best acyclic graph found with hidden common causes."""
        acyclic = self._learned
        if self.loops:
            if self.without_feedback is None:
                return None
            acyclic = self.without_feedback.graph.reordered(self._problem.names)
        if self._problem.experiments is not None:
            return None
        members = [acyclic, *self._acyclic_members(acyclic)][: _EFFORT.starts]
        starts: list[tuple[BoolArray, Pairs]] = [
            (graph.adjacency, frozenset()) for graph in dict.fromkeys(members)
        ]
        if self.loops:
            starts += self._opened(max_pairs)
        best, is_cut = best_mixed_graph(self._problem, starts, max_pairs, _EFFORT)
        names = self._problem.names
        found = self._rival("hidden causes", DirectedGraph(best.adjacency, names), self.loops)
        return replace(
            found,
            pairs=tuple((names[i], names[j]) for i, j in sorted(best.pairs)),
            score=best.score,
            difference=self._difference(best.score),
            is_cut=is_cut,
        )

    def _acyclic_members(self, graph: DirectedGraph) -> list[DirectedGraph]:
        """Admissible acyclic members of its class, those nearest to the learned graph first."""
        problem = self._problem
        kept = [
            each
            for each in islice(EquivalenceClass(graph).iter_acyclic(), _EFFORT.listed)
            if problem.respects_knowledge(each.adjacency)
            and problem.limits.allow(each.adjacency, 1)
        ]
        return sorted(
            kept, key=lambda each: (structural_hamming_distance(each, self._learned), each.edges)
        )

    def _opened(self, max_pairs: int) -> list[tuple[BoolArray, Pairs]]:
        """The learned graph with its loops opened; none if knowledge requires them.

        Variables with edges in both directions get a hidden cause instead; the weakest edges of the
        remaining cycles are removed.
        """
        A, required = self._learned.adjacency.copy(), self._problem.required
        mutual = np.argwhere(np.triu(A & A.T & ~required & ~required.T)).tolist()
        pairs = frozenset((i, j) for i, j in mutual[:max_pairs])
        for i, j in pairs:
            A[i, j] = A[j, i] = False
        weights = np.mean([np.abs(m.standardised_weights) for m in self._result.models.values()], 0)
        order = [self._result.graph.index(name) for name in self._problem.names]
        weights = weights[np.ix_(order, order)].round(6)
        while not (graph := DirectedGraph(A, self._problem.names)).is_acyclic:
            within = np.argwhere(A & ~required & graph.in_one_component)
            if not len(within):
                return []
            weakest = min(map(tuple, within.tolist()), key=lambda edge: (weights[edge], edge))
            A[weakest] = False
        return [(A, pairs)]

    def _rival(
        self, kind: RivalKind, found: DirectedGraph, loops: tuple[tuple[str, ...], ...]
    ) -> Rival:
        graph = found.reordered(self._result.graph.names)
        own, other = set(self._result.graph.edges), set(graph.edges)
        fitted = fit(graph, self._result.tables)
        # Learned targets are kept.
        score = -fitted.log_likelihood + self._result.penalty * graph.n_edges
        score += self._result.target_cost
        return Rival(
            kind=kind,
            graph=graph,
            pairs=(),
            score=score,
            difference=self._difference(score),
            added=tuple(sorted(other - own)),
            removed=tuple(sorted(own - other)),
            loops=loops,
        )

    def _difference(self, score: float) -> float:
        # Beyond these digits is rounding; adding zero makes -0.0 none.
        return round(score - self._result.score, 6) + 0.0


def _limited(problem: SearchProblem, max_component: int) -> SearchProblem:
    """The problem with a limit on the size of feedback loops, no larger than before."""
    most = min(max_component, problem.limits.max_component)
    return replace(problem, limits=replace(problem.limits, max_component=most))


def _searched(
    result: LearnResult, problem: SearchProblem, start: DirectedGraph | None = None
) -> DirectedGraph | None:
    """The best graph that a search with the options of the result finds.

    None if required edges close larger loops than permitted, or if no stable graph is found.
    """
    required = DirectedGraph(problem.required, problem.names)
    if max(map(len, required.component_indices)) > problem.limits.max_component:
        return None
    options = result.options
    budget = Budget.since(now(), options.max_evaluations, options.time_limit, problem.n_variables)
    call = SearchCall(
        seed=options.seed,
        budget=budget,
        starts=None if start is None else (start,),
        n_starts=None if start is not None else options.n_starts,
    )
    solution = options.solver().solve(problem, call)
    if not np.isfinite(solution.best.score):
        return None
    return DirectedGraph(solution.best.best.astype(bool), problem.names)
