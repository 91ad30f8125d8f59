"""One class of rotations (Theorem 1), and redundant edges that no rotation drops.

A graph is reducible if a proper subgraph has the same distributions. In one class of rotations all
irreducible graphs have equally many edges. The rules beyond rotations join classes with different
numbers of edges, and then a graph that no rotation reduces can still have a subgraph in a class
with fewer. (Not always: it may have one edge more than another graph with the same distributions,
and yet none that could be dropped.)

Whether the column C of a node can lose an entry depends only on C, on the node, which must stay,
and on the smaller columns that move inside C and could no longer do so. So the graphs of a class
without such entries are found by fixing the smaller columns where they matter, and excluding some
sets of the larger ones.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

from cyclearn.classes.chordal_growth import SearchBudget
from cyclearn.classes.filling_counts import chain_below
from cyclearn.classes.rule_search import MAX_EFFORT, ClassKey, linked_classes
from cyclearn.classes.seated_graphs import SeatedGraphs
from cyclearn.classes.seating import Seating
from cyclearn.classes.territories import (
    Territory,
    is_reducible,
    reduced_columns,
    territories,
    territory_below,
)
from cyclearn.graphs.bitsets import bits


def has_redundant_edge(columns: Sequence[int]) -> bool:
    """Whether rotations or rules show that an edge of a graph can be dropped.

    Examples
    --------
    The column {0, 1} at node 0 does no more than {0}; at node 1, neither of its entries can go:

    >>> has_redundant_edge((0b0011, 0b0111, 0b1101, 0b1011))
    True
    >>> has_redundant_edge((0b0111, 0b0011, 0b1101, 0b1011))
    False
    """
    return is_reducible(columns) or _without_an_edge(columns) is not None


def irreducible_columns(columns: Sequence[int]) -> tuple[int, ...]:
    """Columns of a subgraph with the same distributions and without edges known to be redundant.

    Examples
    --------
    >>> [bin(c) for c in irreducible_columns((0b0011, 0b0111, 0b1101, 0b1011))]
    ['0b1', '0b111', '0b1101', '0b1011']
    """
    kept = reduced_columns(columns)
    while (fewer := _without_an_edge(kept)) is not None:
        kept = reduced_columns(fewer)
    return kept


def _without_an_edge(columns: Sequence[int]) -> tuple[int, ...] | None:
    """The columns without a redundant entry, for a graph that rotations do not reduce."""
    key = territories(columns)
    fewer = _with_fewer_edges(key, linked_classes(key).links)
    if not fewer:
        return None
    for j, column in enumerate(columns):
        for i in bits(column ^ (1 << j)):
            dropped = (*columns[:j], column ^ (1 << i), *columns[j + 1 :])
            if territories(dropped) in fewer:
                return dropped
    return None


def _n_entries(key: ClassKey) -> int:
    return sum(territory.size for territory in key)


def _with_fewer_edges(key: ClassKey, keys: Collection[ClassKey]) -> frozenset[ClassKey]:
    return frozenset(other for other in keys if _n_entries(other) < _n_entries(key))


def irreducible_seatings(
    key: ClassKey, keys: Collection[ClassKey], max_states: int, *, max_effort: int = MAX_EFFORT
) -> tuple[tuple[Seating, ...], str | None]:
    """The graphs of a class of rotations that have no subgraph in a smaller class.

    ``keys`` are the classes of rotations with the same distributions. Returns the graphs in
    disjoint parts, and the limit that stopped the search for redundant edges, or None:
    ``max_effort`` limits the number of reduced columns and placements of smaller columns to
    examine. A stopped search may leave graphs with a redundant edge, but does not lose any without.
    """
    fewer = _with_fewer_edges(key, keys)
    below = territory_below(key)
    budget = SearchBudget(max_effort)
    # A column whose territory is occupied in every smaller class cannot shrink.
    shrinking = [
        m
        for m, territory in enumerate(key)
        if territory.size > 1 and not all(territory in other for other in fewer)
    ]
    found: dict[int, dict[tuple[int, ...], frozenset[int]]] = {}
    placed: dict[int, list[int]] = {}
    for m in shrinking:
        inside = chain_below(m, below)[1:]
        sets = _shrunk_sets(key, m, inside, fewer, budget)
        if len(set(sets.values())) > 1:
            more = placed | {s: list(key[s].iter_sets()) for s in inside}
            if not budget.spend(prod(len(places) for places in more.values())):
                continue
            placed = more
        found[m] = sets
    parts = []
    for chosen in product(*placed.values()):
        at = dict(zip(placed, chosen, strict=True))
        redundant = {}
        for m, sets in found.items():
            inside = chain_below(m, below)[1:]
            # If it does not depend on the smaller columns, any placement of them suffices.
            place = tuple(at.get(s, next(key[s].iter_sets())) for s in inside)
            redundant[m] = sets.get(place, frozenset())
        parts.append(
            Seating(
                [Territory(t.size, (at[s],)) if s in at else t for s, t in enumerate(key)],
                reducible=False,
                redundant={m: sets for m, sets in redundant.items() if sets},
                max_states=max_states,
            )
        )
    cut_by = f"max_effort={max_effort}" if budget.is_exhausted else None
    return tuple(part for part in parts if not part.is_empty), cut_by


def _shrunk_sets(
    key: ClassKey,
    mover: int,
    inside: Sequence[int],
    fewer: Collection[ClassKey],
    budget: SearchBudget,
) -> dict[tuple[int, ...], frozenset[int]]:
    """For every placement of inner columns, the smaller sets that the mover can become.

    None if the budget is exhausted: then members with a redundant edge are kept.
    """
    territory = key[mover]
    if not budget.spend(territory.count() * territory.size * prod(key[s].count() for s in inside)):
        return {}
    smaller = {c ^ (1 << v) for c in territory.iter_sets() for v in bits(c)}
    columns = [next(t.iter_sets()) for t in key]
    found = {}
    for place in product(*(key[s].iter_sets() for s in inside)):
        for s, members in zip(inside, place, strict=True):
            columns[s] = members
        good = set()
        for members in smaller:
            columns[mover] = members
            if territories(columns) in fewer:
                good.add(members)
        found[place] = frozenset(good)
    return found


@dataclass(eq=False, repr=False)
class RotationClass(SeatedGraphs):
    """The graphs with these territories; part of an :class:`EquivalenceClass`, which makes it.

    Only irreducible members. ``linked`` are the territories of all classes with the same
    distributions: members with a subgraph in one of them are omitted too. If none are left,
    ``seatings`` is empty.
    """

    territories: ClassKey
    names: tuple[str, ...]
    linked: Collection[ClassKey]
    max_states: int

    @property
    def seatings(self) -> tuple[Seating, ...]:
        """Which nodes can use which territories; the members in disjoint parts.

        One part, unless some members have an edge that only a rule shows to be redundant.
        """
        return self._irreducible[0]

    @property
    def redundancy_cut_by(self) -> str | None:
        """The limit that stopped the search for redundant edges; None if it was completed."""
        return self._irreducible[1]

    @cached_property
    def _irreducible(self) -> tuple[tuple[Seating, ...], str | None]:
        return irreducible_seatings(self.territories, self.linked, self.max_states)

    @property
    def n_edges(self) -> int:
        """Number of edges of every irreducible member."""
        return sum(territory.size - 1 for territory in self.territories)

    def __repr__(self) -> str:
        return f"RotationClass({self.n_edges} edges, {len(self.names)} nodes)"
