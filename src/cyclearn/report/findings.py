"""All that a report says, found out once, before a word of it is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import log10
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cyclearn.errors import InputError
from cyclearn.graphs import DirectedGraph
from cyclearn.graphs.directed_graph import Edge
from cyclearn.learning import Knowledge, LearnResult
from cyclearn.learning.members import MemberList, list_members
from cyclearn.learning.verdicts import PairVerdict
from cyclearn.models import (
    DataWarning,
    Moments,
    as_rows,
    check_data,
    check_fit,
)
from cyclearn.models.grouped_tables import SeveralData, named_tables
from cyclearn.report.class_listing import ListedMember, Listing, listing

if TYPE_CHECKING:
    from cyclearn.models.moments import Data

# Correlations of the same rows differ by rounding only.
_SAME = 1e-6


@dataclass(frozen=True, eq=False)
class Findings:
    """A result seen with the eyes of a reader.

    ``listing`` has members of the learned class, ``equally_good`` those of the classes that tie
    with it as well.
    """

    result: LearnResult
    warnings: tuple[DataWarning, ...]
    has_rows: bool
    has_knowledge: bool
    listing: Listing
    equally_good: MemberList

    @property
    def pairs(self) -> tuple[PairVerdict, ...]:
        """What all graphs that fit equally well agree on, pair by pair."""
        return self.result.verdicts

    @property
    def graph(self) -> DirectedGraph:
        """The learned graph."""
        return self.result.graph

    @cached_property
    def loops(self) -> tuple[tuple[str, ...], ...]:
        """Feedback groups: strongly connected components of more than one node."""
        return tuple(nodes for nodes in self.graph.components if len(nodes) > 1)

    @cached_property
    def standardised(self) -> NDArray[np.float64]:
        """Weights in standard deviations of effect for one of cause, shape (p, p).

        Of several groups, the mean.
        """
        models = self.result.models.values()
        weights = [m.B * m.moments.scale[:, None] / m.moments.scale for m in models]
        return np.asarray(np.mean(weights, axis=0))

    @cached_property
    def scale(self) -> NDArray[np.float64]:
        """Standard deviations within groups, shape (p,)."""
        models = self.result.models.values()
        variances = [m.moments.covariance.diagonal() for m in models]
        rows = [float(m.n_samples) for m in models]
        return np.sqrt(np.average(variances, axis=0, weights=rows))

    @cached_property
    def certain(self) -> frozenset[Edge]:
        """Edges that every member of the class has."""
        return frozenset(edge for pair in self.pairs for edge in pair.certain_edges)

    @cached_property
    def pair_of(self) -> dict[Edge, PairVerdict]:
        """The verdict on the pair that an edge joins."""
        return {edge: pair for pair in self.pairs for edge in pair.possible_edges}

    @property
    def members(self) -> tuple[ListedMember, ...]:
        """The listed members of the class, the learned graph first."""
        return self.listing.members

    @property
    def size(self) -> int | None:
        """Number of members of the class that agree with the knowledge, if known."""
        return self.listing.found.size

    @property
    def size_in_words(self) -> str:
        """The number of members, however large."""
        if self.size is None:
            return "an unknown number of"
        return f"{self.size:,}" if self.size < 10**15 else f"about 10^{int(log10(self.size))}"


def find_out(result: LearnResult, data: SeveralData | None, max_members: int) -> Findings:
    """Everything that the report of a result needs and the result does not hold by itself.

    Members that contradict the knowledge of the search are no answers, and left out.
    """
    rows = _checked_rows(result, data)
    models = result.models
    knowledge = result.options.knowledge
    listed = listing(result, max_members)
    everything = listed.found
    if result.alternatives:
        everything = list_members(
            (result.graph, *result.alternatives),
            [model.moments for model in models.values()],
            knowledge,
            max_members=max_members,
        )
    return Findings(
        result,
        warnings=(
            *_data_warnings(result, rows),
            *(w.in_group(name) for name, model in models.items() for w in check_fit(model)),
        ),
        has_rows=not any(isinstance(each, Moments) for each in rows.values()),
        has_knowledge=knowledge is not None and knowledge != Knowledge(),
        listing=listed,
        equally_good=everything,
    )


def _data_warnings(result: LearnResult, rows: Mapping[str, Data]) -> tuple[DataWarning, ...]:
    """What the rows say, or what the result kept of it, and on which scale weights are."""
    options = result.options
    found = result.warnings
    if not any(isinstance(each, Moments) for each in rows.values()):
        kept = tuple(each for each in found if each.kind == "too few rows")
        how = {"missing": options.missing, "margins": options.margins}
        found = (*_checked(rows, how), *kept)
    elif not found:
        found = _checked(rows, {})
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


def _checked(rows: Mapping[str, Data], how: Mapping[str, Any]) -> tuple[DataWarning, ...]:
    return tuple(w.in_group(name) for name, each in rows.items() for w in check_data(each, **how))


def _checked_rows(result: LearnResult, data: SeveralData | None) -> dict[str, Data]:
    """The rows of every group, if they are those of the result; its moments without any."""
    learned = {name: model.moments for name, model in result.models.items()}
    if data is None:
        return dict(learned)
    options = result.options
    named = named_tables(data, options.groups)
    rows = {"": as_rows(data)} if named is None else {n: as_rows(t) for n, t in named.items()}
    if list(rows) != list(learned):
        raise InputError(
            f"the data have groups {', '.join(rows) or 'none'}, and the result was learned from "
            f"{', '.join(learned) or 'none'}: give the same data, or none"
        )
    alone = options.replaced(groups=None)
    for name, own in learned.items():
        given = alone.tables(rows[name]).only.moments.aligned_to(own.names)
        gap = np.abs(given.covariance - own.covariance) / np.outer(own.scale, own.scale)
        if given.n_samples != own.n_samples or gap.max() > _SAME:
            raise InputError(
                f"the data{f' of group {name!r}' * bool(name)}, {given.n_samples} rows, are not "
                f"those that the result was learned from, {own.n_samples} rows: give the same "
                "rows, or none"
            )
    return rows
