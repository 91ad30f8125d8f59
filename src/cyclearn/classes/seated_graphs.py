"""Graphs described by seatings: listing, counting and sampling, in disjoint parts.

**Edges.** The number of members in which node j uses territory u is a product of the sets of u and
the ways to seat all other nodes, so one count per node and territory suffices for all edges into
that node.

**Sampling.** Members are drawn with equal probabilities, without listing them. For each node, a
territory is drawn with a weight equal to the number of members that use it, then a set of that
territory; so the work for large classes is only that of the counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from math import prod
from operator import add
from random import Random
from typing import NamedTuple

from cyclearn.classes.class_statements import pair_verdict
from cyclearn.classes.seating import Seating
from cyclearn.classes.territories import Territory
from cyclearn.foundation.late_imports import pd
from cyclearn.graphs.bitsets import bits
from cyclearn.graphs.directed_graph import DirectedGraph


class PairCount(NamedTuple):
    """Numbers of members with only i → j, only j → i, and both, for i < j."""

    i: int
    j: int
    forward: int
    backward: int
    both: int


class EdgeCounts:
    """Counts of the edges over all members of the class that a seating describes."""

    def __init__(self, seating: Seating, block_sizes: Sequence[int]) -> None:
        self._seating = seating
        self._block_sizes = tuple(block_sizes)
        self._size = prod(block_sizes)
        self._block_of = {j: n for n, block in enumerate(seating.blocks) for j in block.nodes}
        self._pair_counts: dict[tuple[Territory, int, int], int] = {}

    def __iter__(self) -> Iterator[PairCount]:
        """Iterate over pairs that are adjacent in some member, in the order of their indices."""
        into = self._inner_counts
        for i, j in sorted({(min(edge), max(edge)) for edge in into}):
            to, back = self._times_others((i, j)), self._times_others((j, i))
            both = self._count_both(i, j) if to and back else 0
            yield PairCount(i, j, to - both, back - both, both)

    @cached_property
    def _inner_counts(self) -> dict[tuple[int, int], int]:
        """For each edge i → j, the number of fillings of the block of j with the edge."""
        counts: dict[tuple[int, int], int] = {}
        for j in self._block_of:
            for seat, ways in self._ways_to_seat(j).items():
                for i in self._companions(seat, j):
                    counts[i, j] = counts.get((i, j), 0) + ways * self._sets(seat, i, j)
        return {edge: count for edge, count in counts.items() if count}

    def _companions(self, seat: int, j: int) -> Iterator[int]:
        """The nodes that share a set of the territory with j."""
        territory = self._seating.territories[seat]
        return bits(territory.around(1 << j) & ~(1 << j) if territory.size > 1 else 0)

    def _sets(self, seat: int, i: int, j: int) -> int:
        """Number of sets with i of a territory that node j may use."""
        # If nothing is excluded, nodes with equal bounds are interchangeable.
        held = self._seating.least[j] | 1 << i
        child = j if seat in self._seating.redundant else -1
        key = (self._seating.territory(j, seat), held, child)
        if key not in self._pair_counts:
            self._pair_counts[key] = self._seating.count_sets(seat, j, 1 << i)
        return self._pair_counts[key]

    def _ways_to_seat(self, j: int) -> dict[int, int]:
        """For each territory that j may use, the number of ways to seat the others of its block."""
        block = self._seating.blocks[self._block_of[j]]
        # Territories that lead to the same place leave the same possibilities for the others.
        ways: dict[int, int] = {}
        found = {}
        for seat in self._seating.weights[j]:
            if seat in block.entry:
                place = block.entry[seat]
                if place not in ways:
                    ways[place] = self._seating.count(block, {j: {seat: 1}})
                if ways[place]:
                    found[seat] = ways[place]
        return found

    def _times_others(self, edge: tuple[int, int]) -> int:
        """Number of members with an edge."""
        inside = self._inner_counts.get(edge, 0)
        return inside * (self._size // self._block_sizes[self._block_of[edge[1]]])

    def _count_both(self, i: int, j: int) -> int:
        a, b = self._block_of[i], self._block_of[j]
        if a != b:
            others = self._size // (self._block_sizes[a] * self._block_sizes[b])
            return self._inner_counts[i, j] * self._inner_counts[j, i] * others
        changed = {
            v: {seat: self._sets(seat, other, v) for seat in self._seating.weights[v]}
            for v, other in ((i, j), (j, i))
        }
        block = self._seating.blocks[a]
        return self._seating.count(block, changed) * (self._size // self._block_sizes[a])


def edge_table(pairs: Iterable[PairCount], size: int, names: Sequence[str]) -> pd.DataFrame:
    """The counts as a table with shares and verdicts; ``size`` is the number of members."""
    rows = []
    for pair in pairs:
        counts = pair[2:]
        adjacent = sum(counts)
        ways = pair.forward + pair.both, pair.backward + pair.both
        verdict = pair_verdict(
            (ways[0] > 0, ways[1] > 0),
            (ways[0] == size, ways[1] == size),
            always_adjacent=adjacent == size,
        )
        ends = names[pair.i], names[pair.j]
        rows.append((*ends, *counts, adjacent, adjacent / size, verdict))
    columns = ["a", "b", "forward", "backward", "both", "adjacent", "share", "verdict"]
    types = dict.fromkeys(columns[2:6], object if size >= 2**62 else "int64")
    # As objects first, since pandas would make floats of some large integers.
    table = pd.DataFrame(rows, columns=columns, dtype=object)
    return table.astype({**types, "share": "float64"})


class MemberSampler:
    """Draws members of the class that a seating describes.

    Raises
    ------
    LimitError
        If the class is too complex to be counted.
    """

    def __init__(self, seating: Seating) -> None:
        self._seating = seating
        # Draws share their first choices, and so the counts.
        self._ways = lru_cache(maxsize=1 << 16)(self._count_ways)

    def draw(self, source: Random) -> tuple[int, ...]:
        """Draw the columns of one member."""
        columns = [0] * len(self._seating.territories)
        for n, block in enumerate(self._seating.blocks):
            chosen: tuple[int, ...] = ()
            for j in block.nodes:
                seat = _weighted(self._ways(n, chosen), source)
                columns[j] = self._draw_set(seat, j, source)
                chosen = (*chosen, seat)
        return tuple(columns)

    def _draw_set(self, seat: int, j: int, source: Random) -> int:
        """Draw a set that node j may have, all such sets equally likely."""
        if self._seating.excluded(seat, j):
            return source.choice(list(self._seating.iter_sets(seat, j)))
        return _drawn_set(self._seating.territory(j, seat), self._seating.least[j], source)

    def _count_ways(self, n: int, chosen: tuple[int, ...]) -> dict[int, int]:
        """Number of members of a block by the seat of its next node, given the seats so far."""
        block = self._seating.blocks[n]
        fixed = {j: {seat: 1} for j, seat in zip(block.nodes, chosen, strict=False)}
        j = block.nodes[len(chosen)]
        ways = {}
        for seat, n_sets in self._seating.weights[j].items():
            if seat in block.entry:
                found = n_sets * self._seating.count(block, {**fixed, j: {seat: 1}})
                if found:
                    ways[seat] = found
        return ways


def _weighted(ways: dict[int, int], source: Random) -> int:
    # Integers of any size, so that no weight is lost by rounding.
    place = source.randrange(sum(ways.values()))
    for seat, number in ways.items():
        place -= number
        if place < 0:
            return seat
    raise AssertionError("no weights are left")


def _drawn_set(territory: Territory, containing: int, source: Random) -> int:
    """Draw a set of a territory that contains some elements, all such sets equally likely."""
    left = territory.count(containing)
    for element in bits(territory.elements & ~containing):
        if containing.bit_count() == territory.size:
            break
        number = territory.count(containing | 1 << element)
        if source.randrange(left) < number:
            containing |= 1 << element
            left = number
        else:
            left -= number
            anchors = tuple(anchor & ~(1 << element) for anchor in territory.anchors)
            territory = Territory(territory.size, anchors)
    return containing


class SeatedGraphs:
    """The members of some seatings, which are disjoint."""

    def __init__(self, seatings: Sequence[Seating], names: tuple[str, ...]) -> None:
        self._seatings = seatings
        self.names = names

    @property
    def seatings(self) -> Sequence[Seating]:
        """Which nodes can use which territories; the members in disjoint parts."""
        return self._seatings

    @property
    def size(self) -> int:
        """Number of members, exact, without listing them.

        Raises
        ------
        LimitError
            If the class is too complex to be counted with ``max_states`` states.
        """
        return sum(prod(sizes) for sizes in self._block_sizes)

    @cached_property
    def _block_sizes(self) -> tuple[tuple[int, ...], ...]:
        return tuple(
            tuple(seating.count(block) for block in seating.blocks) for seating in self.seatings
        )

    def __iter__(self) -> Iterator[DirectedGraph]:
        for seating in self.seatings:
            for columns in seating.iter_columns():
                yield DirectedGraph.from_columns(columns, self.names)

    def draw(self, place: int, source: Random) -> DirectedGraph:
        """A random member of the part that contains member number ``place``."""
        for seating, sizes in zip(self._samplers, self._block_sizes, strict=True):
            place -= prod(sizes)
            if place < 0:
                return DirectedGraph.from_columns(seating.draw(source), self.names)
        raise AssertionError("no members are left")

    @cached_property
    def _samplers(self) -> tuple[MemberSampler, ...]:
        return tuple(MemberSampler(seating) for seating in self.seatings)

    def pair_counts(self) -> list[PairCount]:
        """The number of members in which each pair of nodes is joined, by direction, in order."""
        totals: dict[tuple[int, int], PairCount] = {}
        for seating, sizes in zip(self.seatings, self._block_sizes, strict=True):
            for i, j, *counts in EdgeCounts(seating, sizes) if all(sizes) else ():
                known = totals.get((i, j), (i, j, 0, 0, 0))
                totals[i, j] = PairCount(i, j, *map(add, known[2:], counts))
        return [totals[pair] for pair in sorted(totals)]
