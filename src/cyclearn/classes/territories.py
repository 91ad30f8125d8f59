"""Territories: the sets that each column of a support can become under lossless rotations.

Up to the order of its columns a graph is a multiset of p sets. Two rules keep its distribution
set: *exchange* {S, S∖l} → {S, S∖i}, and *reduction* {S, S} → {S, S∖i}. Both move the smaller set
inside the larger one, so a column of size s moves only inside columns of size s + 1, smaller
columns do not affect larger ones, and the largest columns never move.

The *territory* of a column of size s is the family of sets it can become. It is always of one
form: all s-subsets of any of some fixed sets, its *anchors*, which are columns that never move.
By induction from the largest size down: if the columns of size s + 1 have such territories, then
a column that lies inside one of their sets can be moved to every s-subset of these anchors, and on
to every anchor that shares s elements with one already reached, while the larger columns, which
move freely, return to their places. Hence

- the columns of an irreducible graph move independently: its orbit under exchange is the product
  of the territories of its columns;
- two columns of one size whose territories meet have the same territory and can be made equal, so
  the graph is reducible; if none meet, no reduction is ever available;
- a reduction replaces one of two columns with the same territory by a column one smaller inside
  it and changes nothing else, so every sequence of reductions ends in the same territories.

So the territories of the reduced graph identify the class of Theorem 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import comb

from cyclearn.graphs.bitsets import bits, union


@dataclass(frozen=True, order=True)
class Territory:
    """All sets of ``size`` elements inside at least one of the ``anchors``.

    Examples
    --------
    >>> edge = Territory(1, (0b011, 0b110))
    >>> edge.count(), edge.count(containing=0b010), [bin(s) for s in edge.iter_sets()]
    (3, 1, ['0b1', '0b10', '0b100'])
    """

    size: int
    anchors: tuple[int, ...]

    def __contains__(self, members: int) -> bool:
        return members.bit_count() == self.size and any(members & ~a == 0 for a in self.anchors)

    @property
    def elements(self) -> int:
        """All elements of the sets of the territory."""
        return union(self.anchors)

    def around(self, core: int) -> int:
        """All elements of the anchors that contain ``core``."""
        return union(anchor for anchor in self.anchors if core & ~anchor == 0)

    def within(self, allowed: int) -> Territory:
        """The sets of the territory without elements outside ``allowed``."""
        return Territory(self.size, tuple(anchor & allowed for anchor in self.anchors))

    def count(self, containing: int = 0) -> int:
        """Number of sets that contain all of ``containing``."""
        inner = tuple(a & ~containing for a in self.anchors if containing & ~a == 0)
        return _count_subsets(inner, self.size - containing.bit_count())

    def iter_sets(self, containing: int = 0) -> Iterator[int]:
        """Iterate over the sets that contain all of ``containing``, in a fixed order, each once."""
        n_free = self.size - containing.bit_count()
        if n_free < 0:
            return
        earlier: list[int] = []
        for anchor in self.anchors:
            if containing & ~anchor:
                continue
            for chosen in combinations([1 << i for i in bits(anchor & ~containing)], n_free):
                members = containing | sum(chosen)
                if all(members & ~seen for seen in earlier):
                    yield members
            earlier.append(anchor)


@lru_cache(maxsize=1 << 16)
def _count_subsets(sets: tuple[int, ...], size: int) -> int:
    """Number of ``size``-subsets of at least one of the sets."""
    if size < 0:
        return 0
    if size == 0:
        return 1 if sets else 0
    if size == 1:
        return union(sets).bit_count()
    total = 0
    for position, members in enumerate(sets):
        shared = {members & earlier for earlier in sets[:position]}
        total += comb(members.bit_count(), size) - _count_subsets(_maximal(shared, size), size)
    return total


def _maximal(sets: set[int], size: int) -> tuple[int, ...]:
    """The maximal sets among those with at least ``size`` elements, in a fixed order."""
    kept: list[int] = []
    for members in sorted(sets, key=lambda m: (-m.bit_count(), m)):
        if members.bit_count() >= size and all(members & ~larger for larger in kept):
            kept.append(members)
    return tuple(kept)


@dataclass(frozen=True)
class Occupant:
    """A column in its territory, and redundant columns of the same territory."""

    territory: Territory
    column: int
    redundant: tuple[int, ...]


def survey(columns: Sequence[int]) -> Iterator[Occupant]:
    """Iterate over the occupied territories from the largest size down, with columns by index.

    If several columns share a territory, all but the first lose an off-diagonal entry and appear
    again one size below; any choice of entry leads to the same territories.
    """
    current = list(columns)
    by_size: dict[int, list[int]] = {}
    for j, column in enumerate(current):
        by_size.setdefault(column.bit_count(), []).append(j)
    above: list[Territory] = []
    for size in range(max(by_size, default=0), 0, -1):
        regions = _by_element(_joined_anchors(above, size))
        residents: dict[tuple[int, ...], list[int]] = {}
        for j in sorted(by_size.get(size, ())):
            nearby = regions.get(_lowest(current[j]), ())
            inside = next((r for r in nearby if any(current[j] & ~a == 0 for a in r)), None)
            residents.setdefault(inside or (current[j],), []).append(j)
        above = []
        for anchors, (first, *others) in residents.items():
            above.append(Territory(size, anchors))
            yield Occupant(above[-1], first, tuple(others))
            for j in others:
                current[j] ^= _droppable(current[j], j)
                by_size.setdefault(size - 1, []).append(j)


def _joined_anchors(above: list[Territory], size: int) -> list[tuple[int, ...]]:
    """Anchors of the territories one size up, merged if they share a set of ``size``."""
    regions: dict[int, set[int]] = {}
    at: dict[int, set[int]] = {}
    for number, territory in enumerate(above):
        joined = set(territory.anchors)
        elements = bits(territory.elements)
        # Only sets with a common element can share more.
        for other in set().union(*(at.get(element, ()) for element in elements)):
            region = regions.get(other, ())
            if any((a & b).bit_count() >= size for a in region for b in territory.anchors):
                joined |= regions.pop(other)
        regions[number] = joined
        for element in bits(union(joined)):
            at.setdefault(element, set()).add(number)
    return [tuple(sorted(region)) for region in regions.values()]


def _by_element(regions: list[tuple[int, ...]]) -> dict[int, list[tuple[int, ...]]]:
    """The regions that have an anchor with an element, by the element as a set."""
    found: dict[int, list[tuple[int, ...]]] = {}
    for region in regions:
        for element in bits(union(region)):
            found.setdefault(1 << element, []).append(region)
    return found


def _lowest(members: int) -> int:
    """The lowest element, as a set."""
    return members & -members


def _droppable(column: int, diagonal: int) -> int:
    """The lowest entry of a column off the diagonal, as a set."""
    return _lowest(column & ~(1 << diagonal))


def territories(columns: Sequence[int]) -> tuple[Territory, ...]:
    """Territories of the irreducible form, sorted: equal for two graphs iff rotations link them."""
    return tuple(sorted(occupant.territory for occupant in survey(columns)))


def territory_below(territories: Sequence[Territory]) -> tuple[int | None, ...]:
    """For every territory, the territory one size smaller whose columns move inside its sets."""
    at = {(anchor, t.size): n for n, t in enumerate(territories) for anchor in t.anchors}
    return tuple(at.get((t.anchors[0], t.size - 1)) for t in territories)


def is_reducible(columns: Sequence[int]) -> bool:
    """Whether exchanges can make two columns equal (Proposition 6)."""
    return any(occupant.redundant for occupant in survey(columns))


def reduced_columns(columns: Sequence[int]) -> tuple[int, ...]:
    """Columns of an irreducible subgraph with the same territories."""
    kept = list(columns)
    for occupant in survey(columns):
        for j in occupant.redundant:
            kept[j] ^= _droppable(kept[j], j)
    return tuple(kept)
