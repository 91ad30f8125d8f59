"""Everything that a result says about each edge, in one row: the source of all tables of edges.

Two questions are kept apart. Do all graphs that fit equally well have the edge (``verdict``)? And
how probable is it, given these data (``probability`` by a posterior, ``resamples`` by a bootstrap)?
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from cyclearn.classes.class_statements import SAME, Verdict
from cyclearn.graphs.directed_graph import Edge
from cyclearn.search.knowledge import Knowledge
from cyclearn.search.over_time import lag_of

if TYPE_CHECKING:
    import pandas as pd

    from cyclearn.models import FittedModel
    from cyclearn.results.result import LearnResult


@dataclass(frozen=True)
class EdgeRow:
    """One edge that some graph has that fits equally well.

    Attributes
    ----------
    source, target : str
    in_graph : bool
        Whether the graph shown has it.
    weight, std_error, standardised : float
        Of the graph shown; NaN where it lacks the edge. Standardised: standard deviations of the
        target for one of the source. Of several groups, the mean, without a standard error.
    verdict : str
        ``"same in all"``, ``"turns"`` or ``"comes and goes"``, over all graphs that fit equally
        well.
    n_graphs : int or None
        How many of these have the edge; None where they could not be counted.
    probability : float or None
        Given these data, by the posterior of the result.
    resamples : float or None
        Share of resamples whose learned graph has the edge.
    lag : int or None
        Over how many rows it acts, 0 within one; None for data without ``lags``.
    """

    source: str
    target: str
    in_graph: bool
    weight: float
    std_error: float
    standardised: float
    verdict: Verdict
    n_graphs: int | None
    probability: float | None
    resamples: float | None
    lag: int | None = None

    @property
    def edge(self) -> Edge:
        """Source and target."""
        return self.source, self.target

    @property
    def evidence(self) -> str:
        """How probable the edge is, in words; empty where nobody asked."""
        parts = []
        if self.probability is not None:
            parts.append(f"probability {self.probability:.2f}")
        if self.resamples is not None:
            parts.append(f"in {self.resamples:.0%} of resamples")
        return ", ".join(parts)


def edge_rows(
    result: LearnResult, models: Sequence[FittedModel] | None = None
) -> tuple[EdgeRow, ...]:
    """The edges of the graph shown, then those that only other graphs have.

    Weights are those of the models; of several, by default those of all groups, the mean, without
    a standard error.
    """
    graph = result.graph
    models = models or list(result.models.values())
    weights = np.mean([model.B for model in models], axis=0)
    errors = models[0].standard_errors if len(models) == 1 else np.full_like(weights, nan)
    standardised = np.mean([model.standardised_weights for model in models], axis=0)
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
                probability=_probability(result, i, j),
                resamples=_share_of_resamples(result, i, j),
                lag=lag_of(edge[0], result.past) if result.lags else None,
            )
        )
    return tuple(rows)


def edge_table(rows: tuple[EdgeRow, ...]) -> pd.DataFrame:
    """The rows as a table; columns that nobody asked for are left out."""
    import pandas as pd

    names = ["source", "target", "in_graph", "weight", "std_error", "standardised"]
    names += ["verdict", "n_graphs", "probability", "resamples", "lag"]
    table = pd.DataFrame([[getattr(row, name) for name in names] for row in rows], columns=names)
    # So that table[table.in_graph] does what it says also where there are no edges.
    table = table.astype({"in_graph": bool, **dict.fromkeys(names[3:6], float)})
    optional = [name for name in names[-4:] if all(getattr(row, name) is None for row in rows)]
    return table.drop(columns=optional)


def agreement_in_words(result: LearnResult) -> str:
    """How many edges of the graph shown all graphs that fit equally well have.

    One sentence for print, headline and report.
    """
    knowledge, n_graphs = result.options.knowledge, result.n_equally_good
    agree = " that agree with the knowledge" if knowledge not in (None, Knowledge()) else ""
    if n_graphs == 1 and result.experiments is not None:
        if result.has_more_alternatives:
            return "Other graphs that fit these tables as well were not looked for to the end."
        return "No other graph was found that fits these tables as well."
    if n_graphs == 1:
        return f"No other graph{agree.replace('agree', 'agrees')} fits these data equally well."
    shown = [row for row in result.edge_rows if row.in_graph]
    number = sum(row.verdict == SAME for row in shown)
    if number == len(shown):
        which = "all of them have these edges"
    elif number == 0:
        which = "no edge is the same in all of them"
    else:
        which = f"{number} of {len(shown)} edges {'is' if number == 1 else 'are'} the same in all "
        which += "of them"
    many = "Graphs too many to be counted"
    if n_graphs is not None:
        count = f"{n_graphs:,}" if n_graphs < 10**15 else f"About 10^{int(log10(n_graphs))}"
        many = f"{count} graphs{agree}"
    return f"{many} fit these data equally well, and {which}."


def _probability(result: LearnResult, i: int, j: int) -> float | None:
    if result.posterior is None:
        return None
    names, own = result.posterior.names, result.graph.names
    return float(result.posterior.edges[names.index(own[i]), names.index(own[j])])


def _share_of_resamples(result: LearnResult, i: int, j: int) -> float | None:
    if result.bootstrap is None:
        return None
    names, own = result.bootstrap.names, result.graph.names
    frequencies = result.bootstrap.edge_frequencies
    return float(frequencies[names.index(own[i]), names.index(own[j])])


def edge_attributes(rows: Sequence[EdgeRow]) -> dict[Edge, dict[str, Any]]:
    """What is known about each edge of the graph shown, as networkx keeps it."""
    names = ("weight", "std_error", "standardised", "verdict", "probability", "resamples")
    known = {row.edge: {name: getattr(row, name) for name in names} for row in rows if row.in_graph}
    # Neither None nor NaN, which alone differs from itself.
    return {
        edge: {name: value for name, value in found.items() if value is not None and value == value}
        for edge, found in known.items()
    }
