"""Chordal graphs with a perfect orientation among given columns.

A perfect orientation of a connected chordal graph gives every node but one, the root, a column of
itself and a clique of earlier neighbours. Such columns, without the root's own, generate exactly
the singular positive semidefinite matrices with the zeros of the graph; with the column {v} of any
node v of it they generate all of them.

Columns are given as pairs (seat, set). Several sets with one seat are alternatives: the seat's
column can be brought to any of them, but only to one at a time.

**Substitution.** A change of variables can make columns those of a chordal graph. Let every column
that has a node z have the node i too, and let W be one of them. Adding r times row z to row i keeps
the columns unchanged, and for a suitable r the vector on W loses its entry at i. So with F° for
the columns with W ∖ {i} in place of W, and Tᵣ for the change of rows,

    S(F) is the closure of the union of all Tᵣ S(F°) Tᵣᵀ,

and if F and G lose an entry in this way, with the same z and i, then S(F°) = S(G°) gives
S(F) = S(G). Several such *substitutions* may be combined. If they end in the columns of a perfect
orientation of a connected chordal graph, an additional column {v} is equivalent to {w}, for any
nodes v and w of it: for the final columns, hence for the initial ones, unless v or w is one of the
nodes z, because then {z} would have to contain i.

The block rule is a case of this: {1, 2}, {3, 4}, {1, 2, 3, 4} become {1, 2}, {3, 4}, {2, 4}.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from cyclearn.graphs.bitsets import bits, union


@dataclass
class SearchBudget:
    """A limited number of steps for a search; it records whether more were requested.

    Examples
    --------
    >>> budget = SearchBudget(2)
    >>> budget.spend(), budget.spend(), budget.is_exhausted, budget.spend(), budget.is_exhausted
    (True, True, False, False, True)
    """

    n_left: int
    is_exhausted: bool = False

    def spend(self, n_steps: int = 1) -> bool:
        """Take steps from the budget; returns false, and takes none, if there are not enough."""
        if n_steps > self.n_left:
            self.is_exhausted = True
            return False
        self.n_left -= n_steps
        return True


Seated: TypeAlias = tuple[int, int]
"""The seat of a column and the set that it becomes."""


@dataclass(frozen=True)
class Growth:
    """A chordal graph: its nodes, the neighbours of each, and the columns that generate it.

    ``seats`` are those of the columns as bits, because these are needed more often.
    """

    nodes: int
    neighbours: tuple[int, ...]
    used: frozenset[Seated]
    seats: int

    def is_clique(self, members: int) -> bool:
        """Whether the members are pairwise adjacent nodes of the graph."""
        return members & ~self.nodes == 0 and all(
            members & ~(self.neighbours[v] | 1 << v) == 0 for v in bits(members)
        )

    def uses(self, seat: int) -> bool:
        """Whether the column of this seat is part of the graph."""
        return bool(self.seats >> seat & 1)

    def has_scaling(self, members: int) -> bool:
        """Whether the missing edges among the members have a bipartite component.

        A member without missing edges is such a component.
        """
        left = members
        while left:
            component, is_bipartite = self._missing_component(left & -left, members)
            if is_bipartite:
                return True
            left &= ~component
        return False

    def _missing_component(self, start: int, members: int) -> tuple[int, bool]:
        """Members connected to ``start`` by missing edges, and whether these are bipartite.

        Uses walks of even and odd length from the start; a node reached by both is on an odd cycle.
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


def is_perfect_orientation(columns: Sequence[int]) -> bool:
    """Whether these are the columns of a connected chordal graph, without the column of its root.

    A node in only one column is the latest node of the column, or a root that may be treated as
    such: the others are a clique of the rest. So such nodes can be removed in any order.

    Examples
    --------
    >>> is_perfect_orientation((0b0011, 0b0111, 0b1100))
    True
    >>> is_perfect_orientation((0b0011, 0b1100, 0b1111))
    False
    """
    left = list(columns)
    while left:
        once = twice = 0
        for column in left:
            twice |= once & column
            once |= column
        alone = once & ~twice
        if not alone:
            return False
        latest = alone & -alone
        column = next(c for c in left if c & latest)
        left.remove(column)
        rest = column ^ latest
        if not left:
            return rest.bit_count() == 1
        for v in bits(rest):
            neighbours = union(c for c in left if c >> v & 1)
            if rest & ~neighbours:
                return False
        if not rest:
            return False
    return False


def iter_growths(columns: Sequence[Seated], budget: SearchBudget) -> Iterator[Growth]:
    """Connected chordal graphs of two nodes or more, each set of columns once.

    Every column adds one node to a clique; no two columns have the same seat.

    Examples
    --------
    Columns {0, 1} and {1, 2}: two edges, and a path.

    >>> growths = iter_growths([(0, 0b011), (1, 0b110)], SearchBudget(100))
    >>> sorted(bin(growth.nodes) for growth in growths)
    ['0b11', '0b110', '0b111']
    """
    nodes = union(column for _, column in columns)
    empty = (0,) * nodes.bit_length()
    waiting = [Growth(1 << root, empty, frozenset(), 0) for root in bits(nodes)]
    seen: set[frozenset[Seated]] = set()
    while waiting:
        growth = waiting.pop()
        if not budget.spend(len(columns)):
            return
        for seat, column in columns:
            new = column & ~growth.nodes
            old = column & growth.nodes
            # The fastest checks first: most columns fail one of them.
            if not old or new & (new - 1) or not new or growth.uses(seat):
                continue
            used = growth.used | {(seat, column)}
            if used in seen or not growth.is_clique(old):
                continue
            seen.add(used)
            grown = list(growth.neighbours)
            grown[new.bit_length() - 1] |= old
            for v in bits(old):
                grown[v] |= new
            seats = growth.seats | 1 << seat
            waiting.append(Growth(growth.nodes | new, tuple(grown), used, seats))
            yield waiting[-1]


def iter_clique_growths(
    last: Seated, columns: Sequence[Seated], apart: int, budget: SearchBudget
) -> Iterator[tuple[int, frozenset[Seated]]]:
    """Smallest connected chordal graphs whose last column is ``last``: nodes, and columns.

    A clique of a chordal graph lies inside one column, that of its latest node. So such a graph is
    a chain: without its latest node u, the column ``last`` is a clique that lies inside the column
    before, which does not have u; the chain begins with a pair. None of its columns has a node of
    ``apart``.

    Examples
    --------
    The triangle {0, 1, 2} needs a pair inside it:

    >>> chains = iter_clique_growths((0, 0b111), [(1, 0b011), (2, 0b1100)], 0, SearchBudget(100))
    >>> [(bin(nodes), sorted(used)) for nodes, used in chains]
    [('0b111', [(0, 7), (1, 3)])]
    """
    seat, column = last
    if column & apart or not budget.spend(len(columns)):
        return
    if column.bit_count() == 2:
        yield column, frozenset((last,))
        return
    others = [(s, c) for s, c in columns if s != seat]
    for u in bits(column):
        clique = column ^ (1 << u)
        for before in others:
            if clique & ~before[1] == 0 and not before[1] >> u & 1:
                for nodes, used in iter_clique_growths(before, others, apart | 1 << u, budget):
                    yield nodes | column, used | {last}


def exchangeable_nodes(columns: Sequence[int], budget: SearchBudget) -> list[int]:
    """Sets of nodes for which an additional column {v} is equivalent to {w}, v and w in one set.

    A set needs one column less than it has nodes; only maximal sets are returned.

    Examples
    --------
    >>> [bin(nodes) for nodes in exchangeable_nodes((0b0011, 0b1100, 0b1111), SearchBudget(1000))]
    ['0b111', '0b1011', '0b1101', '0b1110']
    """
    nodes = union(columns)
    if nodes.bit_count() != len(columns) + 1:
        return []
    found: set[int] = set()
    start = tuple(sorted(columns)), 0
    waiting, seen = [start], {start}
    while waiting:
        current, used = waiting.pop()
        if not budget.spend(len(columns)):
            break
        free = nodes & ~used
        if any(free & ~larger == 0 for larger in found):
            continue
        if is_perfect_orientation(current):
            found.add(free)
            continue
        for z, smaller in _iter_substitutions(current, nodes):
            after = smaller, used | 1 << z
            if after not in seen and (nodes & ~after[1]).bit_count() >= 2:
                seen.add(after)
                waiting.append(after)
    return sorted(f for f in found if not any(f != g and f & ~g == 0 for g in found))


def _iter_substitutions(
    columns: tuple[int, ...], nodes: int
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """A node z, and the columns after one of the columns with z has lost a node common to these."""
    for z in bits(nodes):
        having = [n for n, column in enumerate(columns) if column >> z & 1]
        common = nodes & ~(1 << z)
        for n in having:
            common &= columns[n]
        for n in having:
            # A pair would become a single node, which is not a column of a chordal graph.
            if columns[n].bit_count() > 2:
                for i in bits(common):
                    yield z, tuple(sorted((*columns[:n], columns[n] ^ (1 << i), *columns[n + 1 :])))
