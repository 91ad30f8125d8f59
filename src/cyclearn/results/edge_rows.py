"""Statements of a result about edges: the source of all tables of edges.

Two questions are separate. Do all graphs that fit equally well have the edge (``verdict``, pair
by pair)? And how probable is it, given these data (``probability`` by a posterior, ``resamples`` by
a bootstrap)? The graphs that fit equally well are the members of the learned class, and of the
classes whose scores tie exactly, that respect the knowledge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from math import isfinite, log10, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from cyclearn.classes import ClassStatements, EquivalenceClass, class_statements
from cyclearn.classes.class_statements import SAME, EdgeVerdict, edge_verdict, pair_verdict
from cyclearn.foundation import LimitError, pd
from cyclearn.foundation.arrays import BoolArray, FloatArray
from cyclearn.graphs.directed_graph import DirectedGraph, Edge
from cyclearn.search.knowledge import Knowledge
from cyclearn.search.members import respecting
from cyclearn.search.over_time import lag_of

if TYPE_CHECKING:
    from cyclearn.models import FittedModel
    from cyclearn.results.result import LearnResult


Counts = tuple[int, ...]


@dataclass(frozen=True)
class PairVerdict:
    """How the graphs that fit equally well join a pair of nodes.

    ``possible`` and ``compelled``: whether some, whether every graph has a → b and b → a.
    ``counts``: graphs with only a → b, only b → a, both, neither, if they could be counted.
    """

    a: str
    b: str
    possible: tuple[bool, bool]
    compelled: tuple[bool, bool]
    can_vanish: bool
    counts: Counts | None = None

    def _edges(self, which: tuple[bool, bool]) -> tuple[Edge, ...]:
        both = ((self.a, self.b), (self.b, self.a))
        return tuple(edge for edge, holds in zip(both, which, strict=True) if holds)

    @property
    def shared_edges(self) -> tuple[Edge, ...]:
        """The edges of this pair that every graph has."""
        return self._edges(self.compelled)

    @property
    def possible_edges(self) -> tuple[Edge, ...]:
        """The edges of this pair that some graph has."""
        return self._edges(self.possible)

    @property
    def verdict(self) -> EdgeVerdict:
        """Whether every graph has it, some have it, or its direction differs."""
        return pair_verdict(self.possible, self.compelled, always_adjacent=not self.can_vanish)

    def edge_verdict(self, edge: Edge) -> EdgeVerdict:
        """The verdict on one of the two edges of this pair."""
        compelled, back = self.compelled if edge == (self.a, self.b) else self.compelled[::-1]
        return edge_verdict(
            compelled=compelled, back_compelled=back, always_adjacent=not self.can_vanish
        )

    def count(self, edge: Edge) -> int | None:
        """Number of graphs with the edge, if they could be counted."""
        if self.counts is None:
            return None
        forward, backward, both, _ = self.counts
        return both + (forward if edge == (self.a, self.b) else backward)

    def chances(self, edge: Edge) -> str:
        """The number of graphs with the edge, in words."""
        if self.counts is None:
            return "in some of the graphs that fit equally well"
        return f"in {self.count(edge):,} of {sum(self.counts):,} graphs that fit equally well"


def pair_verdicts(
    graphs: Sequence[DirectedGraph], knowledge: Knowledge | None
) -> tuple[PairVerdict, ...]:
    """Verdicts on all pairs that some graph joins; one graph is given for each class."""
    names = graphs[0].names
    allowed, required = (knowledge or Knowledge()).masks(names)
    classes = [EquivalenceClass(graph) for graph in graphs]
    statements = [
        statements_beside(graph, each, allowed, required)
        for graph, each in zip(graphs, classes, strict=True)
    ]
    possible = np.any([each.possible for each in statements], axis=0)
    compelled = np.all([each.compelled for each in statements], axis=0)
    adjacent = np.all([each.always_adjacent for each in statements], axis=0)
    return _verdicts(names, possible, compelled, adjacent, _counts(classes, allowed, required))


def graph_verdicts(graphs: Sequence[DirectedGraph]) -> tuple[PairVerdict, ...]:
    """Verdicts on all pairs that some graph joins, over these graphs only."""
    A = np.array([graph.adjacency for graph in graphs])
    back = A.transpose(0, 2, 1)
    forward, both = (A & ~back).sum(axis=0), (A & back).sum(axis=0)
    neither = (~(A | back)).sum(axis=0)
    parts = np.stack([forward, forward.T, both, neither], axis=-1)
    counts = {(i, j): tuple(parts[i, j].tolist()) for i, j in np.ndindex(neither.shape)}
    possible, compelled = np.asarray(A.any(axis=0)), np.asarray(A.all(axis=0))
    return _verdicts(graphs[0].names, possible, compelled, neither == 0, counts)


def _verdicts(
    names: tuple[str, ...],
    possible: BoolArray,
    compelled: BoolArray,
    adjacent: BoolArray,
    counts: Mapping[tuple[int, int], Counts] | None,
) -> tuple[PairVerdict, ...]:
    """Verdicts on the pairs that may be joined."""
    return tuple(
        PairVerdict(
            names[i],
            names[j],
            (bool(possible[i, j]), bool(possible[j, i])),
            (bool(compelled[i, j]), bool(compelled[j, i])),
            not adjacent[i, j],
            None if counts is None else counts.get((i, j)),
        )
        for i, j in np.argwhere(np.triu(possible | possible.T)).tolist()
    )


def statements_beside(
    graph: DirectedGraph, members: EquivalenceClass, allowed: BoolArray, required: BoolArray
) -> ClassStatements:
    """What holds in the members of a graph's class; in the graph itself if none is admissible."""
    stated = class_statements(members, allowed, required)
    if not stated.is_empty:
        return stated
    # A graph with a required redundant edge is not an irreducible member, but it is the result.
    A = graph.adjacency
    return ClassStatements(A, A, A | A.T, False)


def _counts(
    classes: Sequence[EquivalenceClass], allowed: BoolArray, required: BoolArray
) -> dict[tuple[int, int], Counts] | None:
    """How the graphs of all classes join each pair; None if they cannot be counted."""
    members = respecting(classes, (allowed, required))
    try:
        total, pairs = members.size, members.pair_counts()
    except LimitError:
        return None
    return {(i, j): (*ways, total - sum(ways)) for i, j, *ways in pairs} if total else None


@dataclass(frozen=True)
class EdgeRow:
    """One edge of some graph that fits equally well.

    Attributes
    ----------
    source, target : str
    in_graph : bool
        Whether the graph shown has the edge.
    weight, std_error, standardised : float
        Those of the graph shown; NaN if it lacks the edge. Standardised: standard deviations of the
        target per standard deviation of the source. For several groups, the mean, without a
        standard error.
    verdict : str
        ``"in every equally good graph"``, ``"in some"`` of these, or ``"direction differs"``.
    n_graphs : int or None
        Number of these graphs with the edge; None if they could not be counted.
    probability : float or None
        Given these data, by the posterior of the result.
    resamples : float or None
        Share of resamples whose learned graph has the edge.
    lag : int or None
        Number of rows between cause and effect, 0 within a row; None for data without ``lags``.
    signs_differ : bool or None
        Whether it is positive in some groups and negative in others, so that the mean is not
        informative; None for one table.
    """

    source: str
    target: str
    in_graph: bool
    weight: float
    std_error: float
    standardised: float
    verdict: EdgeVerdict
    n_graphs: int | None
    probability: float | None
    resamples: float | None
    lag: int | None = None
    signs_differ: bool | None = None

    @property
    def edge(self) -> Edge:
        """Source and target."""
        return self.source, self.target

    @property
    def evidence(self) -> str:
        """The probability of the edge, in words; empty if not computed."""
        parts = []
        if self.probability is not None:
            known = f"{self.probability:.2f}" if isfinite(self.probability) else "not determined"
            parts.append(f"probability {known}")
        if self.resamples is not None:
            parts.append(f"in {self.resamples:.0%} of resamples")
        return ", ".join(parts)


def edge_rows(
    result: LearnResult, models: Sequence[FittedModel] | None = None
) -> tuple[EdgeRow, ...]:
    """The edges of the graph shown, then those that only other graphs have.

    Weights are those of the models; with several models (by default those of all groups) their
    mean, without a standard error.
    """
    graph = result.graph
    models = models or list(result.models.values())
    weights = np.mean([model.B for model in models], axis=0)
    errors = models[0].standard_errors if len(models) == 1 else np.full_like(weights, nan)
    by_group = np.array([model.standardised_weights for model in models])
    standardised = by_group.mean(axis=0)
    signs_differ = (by_group.min(axis=0) < 0) & (by_group.max(axis=0) > 0)
    probable = resampled = None
    if result.posterior is not None:
        probable = _by_node(
            graph, result.posterior.names, result.posterior.edge_probabilities().to_numpy()
        )
    if result.bootstrap is not None:
        resampled = _by_node(graph, result.bootstrap.names, result.bootstrap.edge_frequencies)
    verdicts = {edge: pair for pair in result.verdicts for edge in pair.possible_edges}
    others = sorted(
        (edge for edge in verdicts if not graph.has_edge(*edge)),
        key=lambda edge: (graph.index(edge[0]), graph.index(edge[1])),
    )
    rows = []
    for edge in (*graph.edges, *others):
        i, j = graph.index(edge[0]), graph.index(edge[1])
        shown = graph.has_edge(*edge)
        pair = verdicts[edge]
        rows.append(
            EdgeRow(
                *edge,
                in_graph=shown,
                weight=float(weights[i, j]) if shown else nan,
                std_error=float(errors[i, j]) if shown else nan,
                standardised=float(standardised[i, j]) if shown else nan,
                verdict=pair.edge_verdict(edge),
                n_graphs=pair.count(edge),
                probability=None if probable is None else probable[i][j],
                resamples=None if resampled is None else resampled[i][j],
                lag=lag_of(edge[0], result.past) if result.lags else None,
                signs_differ=bool(signs_differ[i, j]) if len(models) > 1 else None,
            )
        )
    return tuple(rows)


def edge_table(rows: tuple[EdgeRow, ...]) -> pd.DataFrame:
    """The rows as a table; columns that were not computed are omitted."""
    names = [each.name for each in fields(EdgeRow)]
    table = pd.DataFrame([asdict(row) for row in rows], columns=names)
    # So that table[table.in_graph] also works without edges.
    table = table.astype({"in_graph": bool, **dict.fromkeys(names[3:6], float)})
    optional = [name for name in names[-5:] if all(getattr(row, name) is None for row in rows)]
    return table.drop(columns=optional)


def agreement_in_words(result: LearnResult) -> str:
    """State how many edges of the graph shown are in all graphs that fit equally well.

    One sentence for print, headline and report.
    """
    found = _agreement(result)
    if result.status.is_finished:
        return found
    return f"The search did not finish, so better graphs with other edges may exist. {found}"


def _agreement(result: LearnResult) -> str:
    knowledge, n_graphs = result.options.knowledge, result.n_equally_good
    agree = " that agree with the knowledge" if knowledge not in (None, Knowledge()) else ""
    if n_graphs == 1 and result.experiments is not None:
        if result.has_more_alternatives:
            return "The search for other graphs that fit these tables equally well is incomplete."
        return "No other graph was found that fits these tables equally well."
    if n_graphs == 1:
        return f"No other graph{agree.replace('agree', 'agrees')} fits these data equally well."
    shown = [row for row in result.edge_rows if row.in_graph]
    number = sum(row.verdict == SAME for row in shown)
    if number == len(shown):
        which = "all of them have these edges"
    elif number == 0:
        which = "no edge is in every one of them"
    else:
        which = f"{number} of {len(shown)} edges {'is' if number == 1 else 'are'} in every one of "
        which += "them"
    many = "Graphs too many to be counted"
    if n_graphs is not None:
        count = f"{n_graphs:,}" if n_graphs < 10**15 else f"About 10^{int(log10(n_graphs))}"
        many = f"{count} graphs{agree}"
    return f"{many} fit these data equally well, and {which}."


def _by_node(graph: DirectedGraph, names: Sequence[str], edges: FloatArray) -> list[list[float]]:
    """Probabilities of edges, in the order of the nodes of the graph."""
    order = [names.index(name) for name in graph.names]
    shares: list[list[float]] = edges[np.ix_(order, order)].tolist()
    return shares


def edge_attributes(rows: Sequence[EdgeRow]) -> dict[Edge, dict[str, Any]]:
    """Edge attributes for networkx: what is known about each edge of the graph shown."""
    names = ("weight", "std_error", "standardised", "verdict", "probability", "resamples")
    known = {row.edge: {name: getattr(row, name) for name in names} for row in rows if row.in_graph}
    # Omit None and NaN (which differs from itself).
    return {
        edge: {name: value for name, value in found.items() if value is not None and value == value}
        for edge, found in known.items()
    }
