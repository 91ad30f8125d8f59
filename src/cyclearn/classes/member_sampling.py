"""Members of a class drawn at random, each with the same probability, without listing them.

Node by node, a territory is drawn with the number of members that use it for a weight, then a set
of that territory; so large classes cost no more than the counts that they need.
"""

from __future__ import annotations

from functools import lru_cache
from random import Random

from cyclearn.classes.seating import Block, Seating
from cyclearn.classes.territories import Territory
from cyclearn.graphs.bitsets import bits


class MemberSampler:
    """Draws members of the class that a seating describes.

    Raises
    ------
    LimitError
        If the class is too entangled to be counted.
    """

    def __init__(self, seating: Seating) -> None:
        self._seating = seating
        # Draws share their first choices, and with them the counts.
        self._ways = lru_cache(maxsize=1 << 16)(self._count_ways)

    def draw(self, source: Random) -> tuple[int, ...]:
        """Columns of one member."""
        columns = [0] * len(self._seating.territories)
        for block in self._seating.blocks:
            chosen: tuple[int, ...] = ()
            for j in block.nodes:
                ways = self._ways(block.nodes[0], chosen)
                seat = _weighted(ways, source)
                columns[j] = self._draw_set(seat, j, source)
                chosen = (*chosen, seat)
        return tuple(columns)

    def _draw_set(self, seat: int, j: int, source: Random) -> int:
        """A set that node j may hold, all such sets equally likely."""
        if self._seating.excluded(seat, j):
            return source.choice(list(self._seating.iter_sets(seat, j)))
        return _drawn_set(self._seating.territory(j, seat), self._seating.least[j], source)

    def _count_ways(self, first: int, chosen: tuple[int, ...]) -> dict[int, int]:
        """Members of a block for each seat of its next node, given the seats chosen so far."""
        block = self._block(first)
        fixed = {j: {seat: 1} for j, seat in zip(block.nodes, chosen, strict=False)}
        j = block.nodes[len(chosen)]
        ways = {}
        for seat, n_sets in self._seating.weights[j].items():
            if seat in block.entry:
                found = n_sets * self._seating.count(block, {**fixed, j: {seat: 1}})
                if found:
                    ways[seat] = found
        return ways

    def _block(self, first: int) -> Block:
        return next(block for block in self._seating.blocks if block.nodes[0] == first)


def _weighted(ways: dict[int, int], source: Random) -> int:
    # Whole numbers of any size, so that no weight is rounded away.
    place = source.randrange(sum(ways.values()))
    for seat, number in ways.items():
        place -= number
        if place < 0:
            return seat
    raise AssertionError("the weights have been used up")


def _drawn_set(territory: Territory, containing: int, source: Random) -> int:
    """A set of a territory that contains some elements, all such sets equally likely."""
    union = 0
    for anchor in territory.anchors:
        union |= anchor
    left = territory.count(containing)
    for element in bits(union & ~containing):
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
