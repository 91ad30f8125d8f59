"""In how many members of a class each pair of nodes is joined, and how.

The members in which node j uses territory u factor into the sets of u and the ways to seat all
other nodes, so one count for each node and territory serves every edge into that node.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from math import prod
from typing import TYPE_CHECKING

from cyclearn.classes.edge_verdicts import pair_verdict
from cyclearn.classes.seating import Seating
from cyclearn.classes.territories import Territory
from cyclearn.graphs.bitsets import bits

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class PairCount:
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

    def __iter__(self) -> Iterator[PairCount]:
        """Stream the pairs that are adjacent in some member, in the order of their indices."""
        into = self._inner_counts
        for i, j in sorted({(min(edge), max(edge)) for edge in into}):
            to, back = self._times_others((i, j)), self._times_others((j, i))
            both = self._count_both(i, j) if to and back else 0
            yield PairCount(i, j, to - both, back - both, both)

    @cached_property
    def _inner_counts(self) -> dict[tuple[int, int], int]:
        """For each edge i → j, the fillings of the block of j that have it."""
        counts: dict[tuple[int, int], int] = {}
        for j in self._block_of:
            for seat, ways in self._ways_to_seat(j).items():
                for i in self._companions(seat, j):
                    counts[i, j] = counts.get((i, j), 0) + ways * self._sets(seat, i, j)
        return {edge: count for edge, count in counts.items() if count}

    def _companions(self, seat: int, j: int) -> Iterator[int]:
        """The nodes that share a set of the territory with j."""
        territory = self._seating.territories[seat]
        found = 0
        if territory.size > 1:
            for anchor in territory.anchors:
                if anchor >> j & 1:
                    found |= anchor
        return bits(found & ~(1 << j))

    def _sets(self, seat: int, i: int, j: int) -> int:
        """Number of sets of a territory with i that node j may hold."""
        # Where nothing is excluded, nodes with equal bounds may change places.
        held = self._seating.least[j] | 1 << i
        child = j if seat in self._seating.redundant else -1
        key = (self._seating.territory(j, seat), held, child)
        if key not in self._pair_counts:
            self._pair_counts[key] = self._seating.count_sets(seat, j, 1 << i)
        return self._pair_counts[key]

    @cached_property
    def _pair_counts(self) -> dict[tuple[Territory, int, int], int]:
        return {}

    def _ways_to_seat(self, j: int) -> dict[int, int]:
        """For each territory that j may use, the ways to seat the others of its block."""
        block = self._seating.blocks[self._block_of[j]]
        # Territories that lead to the same place leave the same ways to the others.
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
        """The members that have an edge."""
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


def summed(parts: Iterable[Iterable[PairCount]]) -> list[PairCount]:
    """Counts over several sets of members together, in the order of the pairs."""
    totals: dict[tuple[int, int], PairCount] = {}
    for pair in chain.from_iterable(parts):
        known = totals.setdefault((pair.i, pair.j), PairCount(pair.i, pair.j, 0, 0, 0))
        totals[pair.i, pair.j] = PairCount(
            pair.i,
            pair.j,
            known.forward + pair.forward,
            known.backward + pair.backward,
            known.both + pair.both,
        )
    return [totals[pair] for pair in sorted(totals)]


def edge_table(pairs: Iterable[PairCount], size: int, names: Sequence[str]) -> pd.DataFrame:
    """The counts as a table with shares and verdicts; ``size`` is the number of members."""
    import pandas as pd

    rows = []
    for pair in pairs:
        counts = (pair.forward, pair.backward, pair.both)
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
    # Every column by itself, since pandas would make floats of some large integers.
    return pd.DataFrame(
        {
            name: pd.Series(
                [row[n] for row in rows],
                dtype=types.get(name, "float64" if name == "share" else None),
            )
            for n, name in enumerate(columns)
        }
    )
