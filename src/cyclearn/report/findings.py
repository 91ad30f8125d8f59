"""All that a report says, found out once, before a word of it is written."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import log10
from typing import TYPE_CHECKING

import numpy as np

from cyclearn.classes.edge_verdicts import SAME
from cyclearn.errors import InputError
from cyclearn.graphs import DirectedGraph
from cyclearn.graphs.directed_graph import Edge
from cyclearn.learning import Knowledge, LearnResult
from cyclearn.learning.edge_rows import EdgeRow
from cyclearn.learning.hidden_causes import HiddenCause, hidden_causes
from cyclearn.learning.verdicts import PairVerdict
from cyclearn.models import (
    DataWarning,
    Moments,
    as_rows,
    check_data,
    check_fit,
)
from cyclearn.report.class_listing import ListedMember, Listing, listing

if TYPE_CHECKING:
    from cyclearn.models.moments import Data

# Correlations of the same rows differ by rounding only.
_SAME = 1e-6
# With more edges than this, comparing each with a hidden cause would take long.
MAX_COMPARED = 30


@dataclass(frozen=True, eq=False)
class Findings:
    """A result seen with the eyes of a reader.

    ``listing`` has graphs that fit equally well: members of the learned class and of those that
    tie with it. ``hidden`` compares edges with hidden causes; None where there are too many.
    """

    result: LearnResult
    warnings: tuple[DataWarning, ...]
    has_rows: bool
    has_knowledge: bool
    listing: Listing
    hidden: tuple[HiddenCause, ...] | None

    @property
    def pairs(self) -> tuple[PairVerdict, ...]:
        """What all graphs that fit equally well agree on, pair by pair."""
        return self.result.verdicts

    @property
    def rows(self) -> tuple[EdgeRow, ...]:
        """Everything about each edge; those of the learned graph come first."""
        return self.result.edge_rows

    @property
    def graph(self) -> DirectedGraph:
        """The learned graph."""
        return self.result.graph

    @cached_property
    def loops(self) -> tuple[tuple[str, ...], ...]:
        """Feedback groups: strongly connected components of more than one node."""
        return tuple(nodes for nodes in self.graph.components if len(nodes) > 1)

    @cached_property
    def shared(self) -> frozenset[Edge]:
        """Edges that every graph has that fits equally well."""
        return frozenset(row.edge for row in self.rows if row.verdict == SAME)

    @property
    def members(self) -> tuple[ListedMember, ...]:
        """The listed graphs that fit equally well, the learned one first."""
        return self.listing.members

    @property
    def size(self) -> int | None:
        """Number of graphs that fit equally well and agree with the knowledge, if known."""
        return self.listing.found.size

    @property
    def size_in_words(self) -> str:
        """The number of these graphs, however large."""
        if self.size is None:
            return "an unknown number of"
        return f"{self.size:,}" if self.size < 10**15 else f"about 10^{int(log10(self.size))}"


def find_out(result: LearnResult, data: Data | None, max_members: int) -> Findings:
    """Everything that the report of a result needs and the result does not hold by itself.

    Graphs that contradict the knowledge of the search are no answers, and left out.
    """
    rows = _checked_rows(result, data)
    knowledge = result.options.knowledge
    hidden = hidden_causes(result) if result.graph.n_edges <= MAX_COMPARED else None
    return Findings(
        result,
        hidden=hidden,
        warnings=(
            *_data_warnings(result, rows),
            *check_fit(result.model),
            *_hidden_warnings(hidden),
        ),
        has_rows=not isinstance(rows, Moments),
        has_knowledge=knowledge is not None and knowledge != Knowledge(),
        listing=listing(result, max_members),
    )


def _hidden_warnings(hidden: tuple[HiddenCause, ...] | None) -> tuple[DataWarning, ...]:
    """Pairs that a hidden common cause explains better than an edge."""
    return tuple(
        DataWarning(
            "hidden cause",
            each.in_words(),
            "Measure the suspected cause, or use a method that allows for hidden ones.",
            each.difference,
            (each.a, each.b),
        )
        for each in hidden or ()
        if each.verdict == "hidden cause fits better"
    )


def _data_warnings(result: LearnResult, rows: Data) -> tuple[DataWarning, ...]:
    """What the rows say, or what the result kept of it, and on which scale weights are."""
    options = result.options
    found = result.warnings
    if not isinstance(rows, Moments):
        found = check_data(rows, missing=options.missing, margins=options.margins)
        found += tuple(each for each in result.warnings if each.kind == "too few rows")
    elif not found:
        found = check_data(rows)
    if options.n_effective is not None:
        # What was done about it takes the place of what could be done.
        done = f"Here they count for {result.model.n_effective:.0f} independent rows."
        found = tuple(
            replace(each, remedy=done) if each.kind == "dependent rows" else each for each in found
        )
    if options.margins == "rank":
        found += (
            DataWarning(
                "rank scale",
                "Columns were replaced by normal scores of their ranks.",
                "Weights, effects and intervals are on that scale, not in the units of the data.",
                0.0,
            ),
        )
    return found


def _checked_rows(result: LearnResult, data: Data | None) -> Data:
    """The rows, if they are those of the result; its moments without any."""
    learned = result.model.moments
    if data is None:
        return learned
    rows = as_rows(data)
    given = result.options.tables(rows).only.moments.aligned_to(learned.names)
    gap = np.abs(given.covariance - learned.covariance) / np.outer(learned.scale, learned.scale)
    if given.n_samples != learned.n_samples or gap.max() > _SAME:
        raise InputError(
            f"the data, {given.n_samples} rows, are not those that the result was learned from, "
            f"{learned.n_samples} rows: give the same rows, or none"
        )
    return rows
