"""Everything that a report needs, computed once before it is written."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import log10

import numpy as np

from cyclearn.classes.class_statements import SAME
from cyclearn.data import DataWarning, Moments
from cyclearn.data.data_warnings import RankScale, ReachedLimits
from cyclearn.data.grouped_tables import SeveralData
from cyclearn.data.tables import Tables
from cyclearn.foundation import InputError, count_of
from cyclearn.foundation.arrays import FloatArray
from cyclearn.graphs import DirectedGraph
from cyclearn.graphs.directed_graph import Edge
from cyclearn.models import check_fit
from cyclearn.report.class_listing import ListedMember, Listing, listing
from cyclearn.results import LearnResult
from cyclearn.results.edge_rows import EdgeRow, PairVerdict
from cyclearn.results.hidden_causes import PairExplanation, hidden_causes
from cyclearn.results.rivals import Rivals
from cyclearn.search import Knowledge

# Correlations of the same rows differ only by rounding.
_SAME = 1e-6
# With more edges than this, comparing each with a hidden cause would take long.
MAX_COMPARED = 30
# With larger loops, searching for rivals would take as long as learning did.
_MAX_LOOP = 7


@dataclass(frozen=True, eq=False)
class Findings:
    """A result with everything that its report shows.

    ``listing`` has graphs that fit equally well: members of the learned class and of those that
    tie with it. ``hidden`` compares edges with hidden causes; None if there are too many edges.
    """

    result: LearnResult
    warnings: tuple[DataWarning, ...]
    has_rows: bool
    has_knowledge: bool
    listing: Listing
    hidden: tuple[PairExplanation, ...] | None = None

    @property
    def graph(self) -> DirectedGraph:
        """The learned graph."""
        return self.result.graph

    @cached_property
    def loops(self) -> tuple[tuple[str, ...], ...]:
        """Feedback loops: strongly connected components of more than one node."""
        return tuple(nodes for nodes in self.graph.components if len(nodes) > 1)

    @cached_property
    def rivals(self) -> Rivals | None:
        """Loops compared with other explanations; None without loops, or if they are large."""
        largest = max(map(len, self.graph.components))
        is_small = self.graph.n_edges <= MAX_COMPARED and 1 < largest <= _MAX_LOOP
        return self.result.rivals() if is_small else None

    @cached_property
    def shared(self) -> frozenset[Edge]:
        """Edges in every graph that fits equally well."""
        return frozenset(row.edge for row in self.result.edge_rows if row.verdict == SAME)

    @cached_property
    def row_of(self) -> dict[Edge, EdgeRow]:
        """What is known about an edge that some equally good graph has."""
        return {row.edge: row for row in self.result.edge_rows}

    @cached_property
    def pair_of(self) -> dict[Edge, PairVerdict]:
        """The verdict on the pair that an edge joins."""
        return {edge: pair for pair in self.result.verdicts for edge in pair.possible_edges}

    @cached_property
    def standardised(self) -> FloatArray:
        """Standardised weights (as lavaan's ``std.all``); means over groups."""
        models = self.result.models.values()
        return np.asarray(np.mean([m.standardised_weights for m in models], axis=0))

    @cached_property
    def scale(self) -> FloatArray:
        """Standard deviations within groups, shape (p,)."""
        models = self.result.models.values()
        variances = [m.moments.covariance.diagonal() for m in models]
        rows = [float(m.n_samples) for m in models]
        return np.sqrt(np.average(variances, axis=0, weights=rows))

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
        """The number of these graphs, in words."""
        if self.size is None:
            return "an unknown number of"
        return f"{self.size:,}" if self.size < 10**15 else f"about 10^{int(log10(self.size))}"


def find_out(
    result: LearnResult,
    data: SeveralData | Tables | None,
    max_members: int,
    *,
    is_brief: bool = False,
) -> Findings:
    """Everything that the report needs and the result does not contain.

    Graphs that contradict the knowledge of the search are omitted. A brief one
    compares no edges with hidden causes.
    """
    given = None if data is None else result.options.tables(data)
    if given is not None:
        _check_same_tables(result, given)
    models = result.models
    knowledge = result.options.knowledge
    is_small = result.graph.n_edges <= MAX_COMPARED
    has_one_table = result.experiments is None and not result.lags and not result.groups
    hidden = hidden_causes(result) if is_small and has_one_table and not is_brief else None
    return Findings(
        result,
        hidden=hidden,
        warnings=(
            *_data_warnings(result, given),
            *(w.in_group(name) for name, model in models.items() for w in check_fit(model)),
            *(each.warning for each in hidden or () if each.warning is not None),
            *((ReachedLimits(limits=result.limits),) if result.limits else ()),
        ),
        has_rows=given is not None and all(table.rows is not None for table in given),
        has_knowledge=knowledge is not None and knowledge != Knowledge(),
        listing=listing(result, max_members),
    )


def _data_warnings(result: LearnResult, given: Tables | None) -> tuple[DataWarning, ...]:
    """The warnings about the data, and about the scale of weights."""
    options = result.options
    found = result.warnings if given is None else options.warnings(given)
    if options.margins == "rank":
        found += (RankScale(),)
    return found


def _check_same_tables(result: LearnResult, given: Tables) -> None:
    """Raise if the result was not learned from these data."""
    learned = result.tables
    if given.groups != learned.groups or len(given) != len(learned):
        raise InputError(
            f"the data are {_in_words(given)}, but the result was learned from "
            f"{_in_words(learned)}; give the same data, or none"
        )
    for number, (one, own) in enumerate(zip(given, learned, strict=True), 1):
        where = f" of group {own.group!r}" if own.group else f" of table {number}"
        model = result.models[own.group if result.groups else ""]
        scale = None if result.experiments is None else model.moments.scale
        _check_same(one.moments, own.moments, where if len(learned) > 1 else "", scale)


def _in_words(tables: Tables) -> str:
    if tables.is_grouped:
        return f"groups {', '.join(tables.groups)}"
    return count_of(len(tables), "table")


def _check_same(given: Moments, own: Moments, where: str, scale: FloatArray | None = None) -> None:
    given = given.aligned_to(own.names)
    scale = own.scale if scale is None else scale
    gap = np.abs(given.covariance - own.covariance) / np.outer(scale, scale)
    if given.n_samples != own.n_samples or gap.max() > _SAME:
        raise InputError(
            f"the data{where}, {given.n_samples} rows, are not those that the result was "
            f"learned from, {own.n_samples} rows; give the same rows, or none"
        )
