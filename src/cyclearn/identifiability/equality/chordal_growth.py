"""Chordal graphs whose perfect orientation is among the columns of a multiset.

A perfect orientation of a connected chordal graph gives every node but one, the root, a column of
itself and a clique of earlier neighbours. Such columns, without the root's own, generate exactly
the singular positive semidefinite matrices with the zeros of the graph; with the column {v} of any
node v of it they generate all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cyclearn.graphs.bitsets import bits

# Sets of columns tried; what lies beyond is not found, what is found stays proved.
_MOST_GROWTHS = 1000


@dataclass(frozen=True)
class Growth:
    """A chordal graph: its nodes, the neighbours of each, and which columns it was made of."""

    nodes: int
    neighbours: tuple[int, ...]
    used: frozenset[int]

    def is_clique(self, members: int) -> bool:
        """Whether the members are pairwise adjacent nodes of the graph."""
        return members & ~self.nodes == 0 and all(
            members & ~(self.neighbours[v] | 1 << v) == 0 for v in bits(members)
        )

    def has_scaling(self, members: int) -> bool:
        """Whether the missing edges among the members have a bipartite component.

        A member without missing edges is one.
        """
        left = members
        while left:
            component, is_bipartite = self._missing_component(left & -left, members)
            if is_bipartite:
                return True
            left &= ~component
        return False

    def _missing_component(self, start: int, members: int) -> tuple[int, bool]:
        """Members linked to ``start`` by missing edges, and whether these are bipartite.

        Walks of even and of odd length from the start; a node that both reach lies on an odd cycle.
        """
        sides = [start, 0]
        waiting = [(start, 0)]
        while waiting:
            node, side = waiting.pop()
            v = node.bit_length() - 1
            missing = members & ~(self.neighbours[v] | node)
            new = missing & ~sides[1 - side]
            sides[1 - side] |= new
            waiting += [(1 << u, 1 - side) for u in bits(new)]
        return sides[0] | sides[1], not sides[0] & sides[1]


def iter_growths(columns: tuple[int, ...]) -> Iterator[Growth]:
    """Connected chordal graphs of two nodes or more, each set of columns once.

    ``columns`` are used by position; every column used adds one node to a clique.

    Examples
    --------
    Columns {0, 1} and {1, 2}: two edges, and a path.

    >>> sorted(bin(growth.nodes) for growth in iter_growths((0b011, 0b110)))
    ['0b11', '0b110', '0b111']
    """
    union = 0
    for column in columns:
        union |= column
    empty = (0,) * union.bit_length()
    waiting = [Growth(1 << root, empty, frozenset()) for root in bits(union)]
    seen: set[frozenset[int]] = set()
    while waiting:
        growth = waiting.pop()
        for position, column in enumerate(columns):
            used = growth.used | {position}
            new = column & ~growth.nodes
            old = column & growth.nodes
            if used in seen or new.bit_count() != 1 or not old or not growth.is_clique(old):
                continue
            if len(seen) == _MOST_GROWTHS:
                return
            seen.add(used)
            grown = list(growth.neighbours)
            grown[new.bit_length() - 1] |= old
            for v in bits(old):
                grown[v] |= new
            waiting.append(Growth(growth.nodes | new, tuple(grown), used))
            yield waiting[-1]
