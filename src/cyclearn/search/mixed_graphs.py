"""Acyclic graphs with hidden common causes: pairs without an edge whose noises correlate.

A greedy search: add, remove or reverse an edge, add or remove a pair, replace an edge by a pair or
a pair by an edge; the best change first, until none improves the score. After adding a pair, edges
into the two that it makes superfluous are removed before the scores are compared: a graph without
hidden causes needs these edges, so adding a pair alone would not improve the score. For the same
reason some starts have a hidden cause of three variables in place of the edges among them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from cyclearn.foundation.arrays import BoolArray
from cyclearn.graphs.bitsets import ancestor_sets, columns_to_support, reached, support_to_columns
from cyclearn.models.correlated_noise import CorrelatedNoise, Pairs, is_one_factor
from cyclearn.search.problem import SearchProblem
from cyclearn.search.search_effort import MixedEffort

# Scores closer than this are equal, and further digits are rounding.
_DIGITS = 6


@dataclass(frozen=True, eq=False)
class MixedGraph:
    """A graph, the pairs with a hidden common cause, and the score of both together."""

    adjacency: BoolArray
    pairs: Pairs
    score: float


class MixedScore:
    """Negative log-likelihood + λ·(edges + pairs), like the score of a result, over all groups.

    Variables are in the order of the problem. A pair has the same penalty as an edge, over all
    groups; each group has its own correlation.
    """

    def __init__(self, problem: SearchProblem) -> None:
        tables = problem.tables
        self._fits = [CorrelatedNoise(table.moments.correlation) for table in tables]
        self._rows = [table.n_effective for table in tables]
        self._constant = tables.n_effective * problem.constant
        self.price = tables.n_effective * problem.penalty

    @property
    def n_fits(self) -> int:
        """Number of blocks fitted, over all tables."""
        return sum(each.n_fits for each in self._fits)

    def of(self, adjacency: BoolArray, pairs: Pairs) -> MixedGraph:
        """Score a graph with pairs."""
        values = (
            rows * fits.value(adjacency, pairs)
            for rows, fits in zip(self._rows, self._fits, strict=True)
        )
        price = self.price * (int(adjacency.sum()) + len(pairs))
        return MixedGraph(adjacency, pairs, float(self._constant + sum(values) + price))

    def changed(
        self, graph: MixedGraph, adjacency: BoolArray, pairs: Pairs, nodes: Sequence[int]
    ) -> MixedGraph:
        """Score a graph that differs from another one in edges into some nodes and their pairs.

        Only the blocks that contain these nodes, before or after, are fitted.
        """
        part = reached(_partners(graph.pairs | pairs, len(adjacency)), sum(1 << n for n in nodes))
        value = graph.score
        for rows, fits in zip(self._rows, self._fits, strict=True):
            value += rows * fits.value_of_part(adjacency, pairs, part)
            value -= rows * fits.value_of_part(graph.adjacency, graph.pairs, part)
        n_more = int(adjacency.sum()) + len(pairs) - int(graph.adjacency.sum()) - len(graph.pairs)
        return MixedGraph(adjacency, pairs, float(value + self.price * n_more))

    def has_cause_of_three(self, graph: MixedGraph) -> bool:
        """Whether, in every table, one hidden cause explains the pairs of some three variables."""
        for triple in triples(graph.pairs):
            noises = (fits.noise(graph.adjacency, graph.pairs, triple) for fits in self._fits)
            if all(map(is_one_factor, noises)):
                return True
        return False


def _partners(pairs: Pairs, n_nodes: int) -> list[int]:
    partners = [0] * n_nodes
    for i, j in pairs:
        partners[i] |= 1 << j
        partners[j] |= 1 << i
    return partners


def triples(pairs: Pairs) -> list[tuple[int, ...]]:
    """Sets of three variables of which every two are a pair."""
    nodes = sorted({node for pair in pairs for node in pair})
    return [t for t in combinations(nodes, 3) if pairs.issuperset(combinations(t, 2))]


def best_mixed_graph(
    problem: SearchProblem,
    starts: Iterable[tuple[BoolArray, Pairs]],
    max_pairs: int,
    effort: MixedEffort,
) -> tuple[MixedGraph, bool]:
    """The best acyclic graph with a limited number of pairs that climbs from the starts reach.

    Ties go to the first, but one hidden cause of three variables is preferred to the edges among
    them. Also returns whether the limit on fits ended the search.
    """
    search = _MixedSearch(problem, max_pairs, effort)
    begun = [search.score.of(*start) for start in starts]
    found = [search.climbed(graph) for graph in (*begun, *search.with_triples(begun))]
    best = min(found, key=lambda each: round(each.score, _DIGITS))
    as_good = (each for each in found if each.score < best.score + 10.0**-_DIGITS)
    return next(filter(search.score.has_cause_of_three, as_good), best), search.is_over


class _MixedSearch:
    """Climbs that share their fits and one limit on them."""

    def __init__(self, problem: SearchProblem, max_pairs: int, effort: MixedEffort) -> None:
        self.score = MixedScore(problem)
        self._allowed, self._required = problem.allowed, problem.required
        self._limits = problem.limits
        self._max_pairs = max_pairs
        self._max_fits, self._n_triples = effort.max_fits, effort.triples
        self._is_exogenous = problem.tables.tables[0].moments.is_exogenous

    @property
    def is_over(self) -> bool:
        """Whether the limit on fits is reached."""
        return self.score.n_fits >= self._max_fits

    def climbed(self, graph: MixedGraph) -> MixedGraph:
        """Make the best change again and again, until none improves the score."""
        while not self.is_over:
            better = self._best_neighbour(graph)
            if better is None:
                break
            graph = better
        return graph

    def _best_neighbour(self, graph: MixedGraph) -> MixedGraph | None:
        """The best of all changes; a change that adds a pair also removes superfluous edges."""
        best, joined = graph, []
        for adjacency, pairs, nodes in self._changes(graph):
            if self.is_over:
                break
            if not self._may_be(adjacency, pairs):
                continue
            found = self.score.changed(graph, adjacency, pairs, nodes)
            best = self._better(best, found)
            if len(pairs) > len(graph.pairs):
                joined.append((found, nodes))
        for found, nodes in sorted(joined, key=lambda each: round(each[0].score, _DIGITS)):
            removable = found.adjacency[:, nodes] & ~self._required[:, nodes]
            # Removing an edge saves at most its penalty.
            if found.score - self.score.price * int(removable.sum()) < best.score:
                best = self._better(best, self._without_superfluous(found, nodes))
        return None if best is graph else best

    def _better(self, one: MixedGraph, other: MixedGraph) -> MixedGraph:
        return other if round(other.score, _DIGITS) < round(one.score, _DIGITS) else one

    def _without_superfluous(self, graph: MixedGraph, nodes: Sequence[int]) -> MixedGraph:
        """Remove the least useful edge into the nodes, as long as the score falls."""
        while not self.is_over:
            best = graph
            for j in nodes:
                for i in np.flatnonzero(graph.adjacency[:, j] & ~self._required[:, j]).tolist():
                    adjacency = graph.adjacency.copy()
                    adjacency[i, j] = False
                    found = self.score.changed(graph, adjacency, graph.pairs, [j])
                    best = self._better(best, found)
            if best is graph:
                break
            graph = best
        return graph

    def _changes(self, graph: MixedGraph) -> Iterator[tuple[BoolArray, Pairs, tuple[int, int]]]:
        """Acyclic graphs one change away that keep required edges, and the two nodes."""
        A, pairs = graph.adjacency, graph.pairs
        may = self._allowed & ~A & ~columns_to_support(ancestor_sets(support_to_columns(A))).T
        for pair in combinations(range(len(A)), 2):
            both = (pair, pair[::-1])
            if pair in pairs:
                yield A, pairs - {pair}, pair
                yield from ((_with(A, edge), pairs - {pair}, pair) for edge in both if may[edge])
                continue
            edges = [edge for edge in both if A[edge]]
            if any(self._required[edge] for edge in edges):
                continue
            without = _without(A, pair) if edges else A
            for i, j in edges:
                yield without, pairs, pair
                if (
                    self._allowed[j, i]
                    and not reached(support_to_columns(without.T), 1 << i) >> j & 1
                ):
                    yield _with(without, (j, i)), pairs, pair
            if not edges:
                yield from ((_with(A, edge), pairs, pair) for edge in both if may[edge])
            if not self._is_exogenous[list(pair)].any():
                yield without, pairs | {pair}, pair

    def with_triples(self, graphs: Sequence[MixedGraph]) -> list[MixedGraph]:
        """The best graphs with a hidden common cause of three connected variables.

        It replaces the edges among the three.
        """
        found: list[MixedGraph] = []
        fixed = self._required | self._required.T
        for graph in graphs:
            joined = graph.adjacency | graph.adjacency.T
            for triple in combinations(np.flatnonzero(~self._is_exogenous).tolist(), 3):
                block = np.ix_(triple, triple)
                if joined[block].sum() < 6 or fixed[block].any() or self.is_over:
                    continue
                pairs = frozenset(combinations(triple, 2))
                adjacency = _without(graph.adjacency, triple)
                if self._may_be(adjacency, pairs):
                    begun = self.score.changed(graph, adjacency, pairs, triple)
                    found.append(self._without_superfluous(begun, triple))
        found.sort(key=lambda each: round(each.score, _DIGITS))
        return found[: self._n_triples]

    def _may_be(self, adjacency: BoolArray, pairs: Pairs) -> bool:
        """Whether limits hold; a hidden cause counts as an edge, and as a parent of the two."""
        if len(pairs) > self._max_pairs:
            return False
        n_parents = adjacency.sum(axis=0)
        for pair in pairs:
            n_parents[list(pair)] += 1
        n_edges = int(adjacency.sum()) + len(pairs)
        return bool(
            n_parents.max() <= self._limits.max_parents and n_edges <= self._limits.max_edges
        )


def _with(A: BoolArray, edge: tuple[int, ...]) -> BoolArray:
    changed = A.copy()
    changed[edge] = True
    return changed


def _without(A: BoolArray, nodes: Sequence[int]) -> BoolArray:
    """The graph without edges among the nodes."""
    changed = A.copy()
    changed[np.ix_(nodes, nodes)] = False
    return changed
