"""All that a report says, found out once, before a word of it is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import log10
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cyclearn.classes.edge_verdicts import SAME
from cyclearn.data import DataWarning, Moments, as_rows, check_data
from cyclearn.data.data_warnings import DependentRows, RankScale, SearchLimits, TooFewRows
from cyclearn.data.grouped_tables import SeveralData, named_tables
from cyclearn.foundation.errors import InputError
from cyclearn.graphs import DirectedGraph
from cyclearn.graphs.directed_graph import Edge
from cyclearn.models import check_fit
from cyclearn.report.class_listing import ListedMember, Listing, listing
from cyclearn.results import LearnResult
from cyclearn.results.edge_rows import EdgeRow
from cyclearn.results.hidden_causes import HiddenCause, hidden_causes
from cyclearn.results.pair_verdicts import PairVerdict
from cyclearn.search import Knowledge

if TYPE_CHECKING:
    from cyclearn.data.moments import Data
    from cyclearn.data.tables import Tables

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

    @cached_property
    def row_of(self) -> dict[Edge, EdgeRow]:
        """What is known about an edge that some equally good graph has."""
        return {row.edge: row for row in self.rows}

    @cached_property
    def pair_of(self) -> dict[Edge, PairVerdict]:
        """The verdict on the pair that an edge joins."""
        return {edge: pair for pair in self.pairs for edge in pair.possible_edges}

    @cached_property
    def standardised(self) -> NDArray[np.float64]:
        """Weights in standard deviations of effect for one of cause; of groups, the mean."""
        models = self.result.models.values()
        return np.asarray(np.mean([m.standardised_weights for m in models], axis=0))

    @cached_property
    def scale(self) -> NDArray[np.float64]:
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
        """The number of these graphs, however large."""
        if self.size is None:
            return "an unknown number of"
        return f"{self.size:,}" if self.size < 10**15 else f"about 10^{int(log10(self.size))}"


def find_out(result: LearnResult, data: SeveralData | None, max_members: int) -> Findings:
    """Everything that the report of a result needs and the result does not hold by itself.

    Graphs that contradict the knowledge of the search are no answers, and left out.
    """
    if result.experiments is None:
        rows = _checked_rows(result, data)
    else:
        # What stands for its rows in questions that a table of its own is asked.
        rows = {"": result.model.moments}
        if data is not None:
            _check_tables(result, result.experiments.tables, data)
    models = result.models
    knowledge = result.options.knowledge
    is_small = result.graph.n_edges <= MAX_COMPARED and not result.groups
    has_one_table = result.experiments is None and not result.lags
    hidden = hidden_causes(result) if is_small and has_one_table else None
    return Findings(
        result,
        hidden=hidden,
        warnings=(
            *_data_warnings(result, rows),
            *(w.in_group(name) for name, model in models.items() for w in check_fit(model)),
            *(each.warning for each in hidden or () if each.warning is not None),
            *((SearchLimits(limits=result.limits),) if result.limits else ()),
        ),
        has_rows=not any(isinstance(each, Moments) for each in rows.values()),
        has_knowledge=knowledge is not None and knowledge != Knowledge(),
        listing=listing(result, max_members),
    )


def _data_warnings(result: LearnResult, rows: Mapping[str, Data]) -> tuple[DataWarning, ...]:
    """What the rows say, or what the result kept of it, and on which scale weights are."""
    options = result.options
    found = result.warnings
    if not any(isinstance(each, Moments) for each in rows.values()):
        kept = tuple(each for each in found if isinstance(each, TooFewRows))
        names = ("missing", "margins", "lags", "covariance")
        how = {name: getattr(options, name) for name in names}
        found = (*_checked(rows, how), *kept)
    elif not found and result.experiments is None:
        found = _checked(rows, {})
    if options.n_effective is not None:
        n = result.fitted.n_effective
        found = tuple(
            replace(each, n_counted=n) if isinstance(each, DependentRows) else each
            for each in found
        )
    if options.margins == "rank":
        found += (RankScale(),)
    return found


def _checked(rows: Mapping[str, Data], how: Mapping[str, Any]) -> tuple[DataWarning, ...]:
    return tuple(w.in_group(name) for name, each in rows.items() for w in check_data(each, **how))


def _checked_rows(result: LearnResult, data: SeveralData | None) -> dict[str, Data]:
    """The rows of every group, if they are those of the result; its moments without any."""
    learned = {name: model.moments for name, model in result.models.items()}
    if data is None:
        return dict(learned)
    options = result.options
    named = named_tables(data, options.groups, in_order=options.lags > 0)
    rows = {"": as_rows(data)} if named is None else {n: as_rows(t) for n, t in named.items()}
    if list(rows) != list(learned):
        raise InputError(
            f"the data have groups {', '.join(rows) or 'none'}, and the result was learned from "
            f"{', '.join(learned) or 'none'}: give the same data, or none"
        )
    alone = options.replaced(groups=None)
    for name, own in learned.items():
        _check_same(alone.tables(rows[name]).only.moments, own, f" of group {name!r}" * bool(name))
    return rows


def _check_tables(result: LearnResult, learned: Tables, data: Any) -> None:
    """Tables with interventions are those of the result."""
    given = result.options.tables(data)
    if len(given) != len(learned):
        raise InputError(
            f"the data are {len(given)} tables, and the result was learned from {len(learned)}: "
            "give the same data, or none"
        )
    scale = result.model.moments.scale
    for number, (one, own) in enumerate(zip(given, learned, strict=True), 1):
        _check_same(one.moments, own.moments, f" of table {number}", scale)


def _check_same(
    given: Moments, own: Moments, where: str, scale: NDArray[np.float64] | None = None
) -> None:
    given = given.aligned_to(own.names)
    scale = own.scale if scale is None else scale
    gap = np.abs(given.covariance - own.covariance) / np.outer(scale, scale)
    if given.n_samples != own.n_samples or gap.max() > _SAME:
        raise InputError(
            f"the data{where}, {given.n_samples} rows, are not those that the result was learned "
            f"from, {own.n_samples} rows: give the same rows, or none"
        )
