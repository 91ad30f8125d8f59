"""All that a report says, found out once, before a word of it is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import log10
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cyclearn.classes import class_statements
from cyclearn.errors import InputError
from cyclearn.graphs import DirectedGraph
from cyclearn.graphs.directed_graph import Edge
from cyclearn.learning import Knowledge, LearnResult
from cyclearn.models import (
    DataWarning,
    Moments,
    as_moments,
    check_data,
    check_fit,
    read_table,
)
from cyclearn.report.class_listing import Listing, Member, list_members

if TYPE_CHECKING:
    from cyclearn.models.moments import Data

# Correlations of the same rows differ by rounding only.
_SAME = 1e-6


@dataclass(frozen=True)
class PairVerdict:
    """How a pair of nodes is joined over the members of a class.

    ``possible`` and ``compelled``: whether some, whether every member has a → b and b → a.
    ``counts``: members with only a → b, only b → a, both, neither, where they could be counted.
    """

    a: str
    b: str
    possible: tuple[bool, bool]
    compelled: tuple[bool, bool]
    can_vanish: bool
    counts: tuple[int, int, int, int] | None = None

    def _edges(self, which: tuple[bool, bool]) -> tuple[Edge, ...]:
        both = ((self.a, self.b), (self.b, self.a))
        return tuple(edge for edge, holds in zip(both, which, strict=True) if holds)

    @property
    def certain_edges(self) -> tuple[Edge, ...]:
        """The edges of this pair that every member has."""
        return self._edges(self.compelled)

    @property
    def possible_edges(self) -> tuple[Edge, ...]:
        """The edges of this pair that some member has."""
        return self._edges(self.possible)

    @property
    def kind(self) -> str:
        """Certain, can turn, or comes and goes."""
        if self.possible == self.compelled:
            return "certain"
        return "comes and goes" if self.can_vanish or any(self.compelled) else "can turn"

    def chances(self, edge: Edge) -> str:
        """In how many members the edge is, in words."""
        if self.counts is None:
            return "in some graphs of the class"
        forward, backward, both, _ = self.counts
        count = both + (forward if edge == (self.a, self.b) else backward)
        return f"in {count:,} of {sum(self.counts):,} graphs of the class"


@dataclass(frozen=True, eq=False)
class Findings:
    """A result seen with the eyes of a reader."""

    result: LearnResult
    warnings: tuple[DataWarning, ...]
    has_rows: bool
    has_knowledge: bool
    pairs: tuple[PairVerdict, ...]
    listing: Listing

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
        """Weights in standard deviations of effect for one of cause, shape (p, p)."""
        scale = self.result.model.moments.scale
        return self.result.model.B * scale[:, None] / scale

    @cached_property
    def certain(self) -> frozenset[Edge]:
        """Edges that every member of the class has."""
        return frozenset(edge for pair in self.pairs for edge in pair.certain_edges)

    @cached_property
    def pair_of(self) -> dict[Edge, PairVerdict]:
        """The verdict on the pair that an edge joins."""
        return {edge: pair for pair in self.pairs for edge in pair.possible_edges}

    @property
    def members(self) -> tuple[Member, ...]:
        """The listed members of the class, the learned graph first."""
        return self.listing.members

    @property
    def size(self) -> int | None:
        """Number of members of the class that agree with the knowledge, if known."""
        return self.listing.size

    @property
    def size_in_words(self) -> str:
        """The number of members, however large."""
        if self.size is None:
            return "an unknown number of"
        return f"{self.size:,}" if self.size < 10**15 else f"about 10^{int(log10(self.size))}"


def find_out(result: LearnResult, data: Data | None, max_members: int) -> Findings:
    """Everything that the report of a result needs and the result does not hold by itself.

    Members that contradict the knowledge of the search are no answers, and left out.
    """
    rows = _checked_rows(result, data)
    record = result.options.get("knowledge")
    allowed, required = Knowledge.from_dict(record or {}).masks(result.graph.names)
    has_knowledge = not allowed[~np.eye(len(allowed), dtype=bool)].all() or bool(required.any())

    def agrees(graph: DirectedGraph) -> bool:
        A = graph.adjacency
        return not ((A & ~allowed) | (required & ~A)).any()

    listing = list_members(result, agrees, has_knowledge=has_knowledge, max_members=max_members)
    counts: dict[tuple[str, str], tuple[int, int, int, int]] = {}
    if not has_knowledge and listing.size is not None:
        counts = _counts(result, listing.size)
    return Findings(
        result,
        warnings=(*check_data(rows), *check_fit(result.model)),
        has_rows=not isinstance(rows, Moments),
        has_knowledge=has_knowledge,
        pairs=_pairs(result, allowed, required, counts),
        listing=listing,
    )


def _checked_rows(result: LearnResult, data: Data | None) -> Data:
    """The rows, if they are those of the result; its moments without any."""
    learned = result.model.moments
    if data is None:
        return learned
    rows = read_table(data) if isinstance(data, (str, Path)) else data
    given = as_moments(rows).aligned_to(learned.names)
    gap = np.abs(given.covariance - learned.covariance) / np.outer(learned.scale, learned.scale)
    if given.n_samples != learned.n_samples or gap.max() > _SAME:
        raise InputError(
            f"the data, {given.n_samples} rows, are not those that the result was learned from, "
            f"{learned.n_samples} rows: give the same rows, or none"
        )
    return rows


def _counts(result: LearnResult, size: int) -> dict[tuple[str, str], tuple[int, int, int, int]]:
    table = result.equivalence_class.edge_table()
    return {
        (row.a, row.b): (row.forward, row.backward, row.both, size - row.adjacent)
        for row in table.itertuples()
    }


def _pairs(
    result: LearnResult,
    allowed: NDArray[np.bool_],
    required: NDArray[np.bool_],
    counts: Mapping[tuple[str, str], tuple[int, int, int, int]],
) -> tuple[PairVerdict, ...]:
    names, A = result.graph.names, result.graph.adjacency
    stated = class_statements(result.equivalence_class, allowed, required)
    # A graph that keeps a redundant edge because it is required is no irreducible member, but it
    # is an answer all the same.
    possible, compelled, adjacent = A, A, A | A.T
    if not stated.is_empty:
        possible, compelled = stated.possible | A, stated.compelled & A
        adjacent = stated.always_adjacent & adjacent
    return tuple(
        PairVerdict(
            names[i],
            names[j],
            (bool(possible[i, j]), bool(possible[j, i])),
            (bool(compelled[i, j]), bool(compelled[j, i])),
            not adjacent[i, j],
            counts.get((names[i], names[j])),
        )
        for i, j in np.argwhere(np.triu(possible | possible.T)).tolist()
    )
