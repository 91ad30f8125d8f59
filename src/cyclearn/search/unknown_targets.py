"""Unknown targets: which noises differ between tables, found by the score of graphs.

Tables share their weights. A target of a table has a different noise variance and intercept there,
as with ``intervention_kind="noise"``, but was not recorded. Each parameter that a target frees has
the penalty of an edge, so graphs and targets have one score:

    negative log-likelihood + λ · (edges + parameters freed + targets of the first table).

The last term makes the first table the reference if as many tables differ from it as agree. Given a
graph, the score is a sum over strongly connected components, whose targets are chosen one component
at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import inf

import numpy as np

from cyclearn.data.tables import Tables
from cyclearn.foundation.arrays import BoolArray
from cyclearn.foundation.stability import is_stable_radius
from cyclearn.graphs import DirectedGraph
from cyclearn.models.components import CollinearError, ComponentColumns
from cyclearn.models.experiments import Experiments, fit_shared
from cyclearn.search.runs import SAME_SCORE


def with_targets(tables: Tables, mask: BoolArray) -> Tables:
    """The same tables with these targets, an array of shape (tables, p)."""
    names = np.array(tables.names)
    parts = zip(tables, mask, strict=True)
    changed = (replace(table, targets=tuple(names[own].tolist())) for table, own in parts)
    return replace(tables, tables=tuple(changed))


@dataclass(frozen=True, eq=False)
class TargetSearch:
    """Scores of graphs with their best targets; nodes are in the order of the tables.

    Attributes
    ----------
    tables : Tables
    penalty : float
        The penalty per edge.
    stable : bool
        Whether a best fit must be stable.
    """

    tables: Tables
    penalty: float
    stable: bool
    _scores: dict[object, float] = field(default_factory=dict)

    @property
    def tie(self) -> float:
        """Scores closer than this are equal."""
        return SAME_SCORE * self.tables.n_effective

    def cost(self, mask: BoolArray) -> float:
        """The penalty of targets: variance, intercept, and more for the first table."""
        is_shared = self.tables.design is not None and self.tables.design.intercepts == "shared"
        n_freed = int(mask.sum()) * (2 if is_shared else 1)
        return self.penalty * (n_freed + int(mask[0].sum()))

    def score(self, columns: ComponentColumns, mask: BoolArray) -> float:
        """The score of one component with its targets, without the penalty of its edges.

        Infinite if no table has the ordinary noise of a node, or if the fit is unstable.
        """
        own = np.zeros_like(mask)
        own[:, columns.nodes] = mask[:, columns.nodes]
        key = columns.nodes.tobytes(), columns.offsets.tobytes(), columns.parents.tobytes()
        known = (*key, own.tobytes())
        if known not in self._scores:
            self._scores[known] = inf if own.all(axis=0).any() else self._fitted(columns, own)
        return self._scores[known]

    def _fitted(self, columns: ComponentColumns, mask: BoolArray) -> float:
        experiments = Experiments.of(with_targets(self.tables, mask))
        try:
            fitted = fit_shared(experiments, columns)
        except CollinearError:
            return inf
        if self.stable and not is_stable_radius(fitted.solutions[0].spectral_radius):
            return inf
        return self.tables.n_effective * fitted.value + self.cost(mask)

    def best(self, graph: DirectedGraph, mask: BoolArray) -> tuple[float, BoolArray]:
        """The best targets found for a graph, and its score: descents from none or some."""
        total, found = self.penalty * graph.n_edges, np.zeros_like(mask)
        for columns in self.components(graph):
            ends = [self._descent(columns, start) for start in (np.zeros_like(mask), mask)]
            score, best = ends[self._first_least([end[0] for end in ends])]
            total += score
            found[:, columns.nodes] = best[:, columns.nodes]
        return total, found

    def components(self, graph: DirectedGraph) -> list[ComponentColumns]:
        """Strongly connected components of nodes that have an equation."""
        return [
            ComponentColumns.of(graph.adjacency, sorted(map(graph.index, nodes)))
            for nodes in graph.components
            if not set(self.tables.exogenous).intersection(nodes)
        ]

    def improved(self, graphs: Sequence[DirectedGraph], mask: BoolArray) -> BoolArray:
        """Targets of the best of some graphs, or of graphs reached by reversing edges.

        Graphs that tie if everything is a target need not tie with the targets they need.
        """
        least = inf
        while graphs:
            found = [self.best(graph, mask) for graph in graphs]
            at = self._first_least([score for score, _ in found])
            if not found[at][0] < least - self.tie:
                break
            least, mask = found[at]
            graph, given = graphs[at], self.tables.exogenous
            edges = [edge for edge in sorted(graph.edges) if edge[0] not in given]
            graphs = [_turned(graph, edge) for edge in edges if edge[::-1] not in edges]
        return mask

    def without_one(self, graph: DirectedGraph, mask: BoolArray) -> list[BoolArray]:
        """Remove one target of a table that has several, the least loss first.

        At most as many as there are variables: each is the start of a search.
        """
        found = []
        for columns in self.components(graph):
            for e, j in product(range(len(mask)), columns.nodes.tolist()):
                if mask[e, j] and mask[e].sum() > 1:
                    fewer = mask.copy()
                    fewer[e, j] = False
                    loss = self.score(columns, fewer) - self.score(columns, mask)
                    found.append((round(loss, 6), e, j, fewer))
        ordered = sorted(found, key=lambda each: each[:3])
        return [fewer for *_, fewer in ordered[: mask.shape[1]]]

    def _first_least(self, scores: Sequence[float]) -> int:
        """The position of the best score, the first of ties."""
        return next(k for k, each in enumerate(scores) if each <= min(scores) + self.tie)

    def _descent(self, columns: ComponentColumns, mask: BoolArray) -> tuple[float, BoolArray]:
        """Make the best change or move of one target, until none improves the score."""
        score = self.score(columns, mask)
        while True:
            others = list(_neighbours(columns.nodes.tolist(), mask))
            scores = [self.score(columns, other) for other in others]
            at = self._first_least(scores)
            if not scores[at] < score - self.tie:
                return score, mask
            score, mask = scores[at], others[at]


def _turned(graph: DirectedGraph, edge: tuple[str, str]) -> DirectedGraph:
    """The graph with one edge reversed."""
    edges = [each[::-1] if each == edge else each for each in graph.edges]
    return DirectedGraph.from_edges(edges, graph.names)


def _neighbours(nodes: list[int], mask: BoolArray) -> Iterator[BoolArray]:
    """One target more or less, or one moved to another node."""
    for e in range(len(mask)):
        for j in nodes:
            changed = mask.copy()
            changed[e, j] ^= True
            yield changed
            for i in nodes:
                if mask[e, j] and not mask[e, i]:
                    moved = changed.copy()
                    moved[e, i] = True
                    yield moved
