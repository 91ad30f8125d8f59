"""What holds in some members and what in every member of a class, exactly, without counting.

Of all graphs that fit equally well, every one has an edge, some have it, or its direction differs
between them. This describes how far these graphs agree, not how probable the edge is: all of them
may be wrong.

**Edges.** A member assigns every node a set from a different territory (see
:mod:`cyclearn.classes.seating`). Whether some member has or lacks an edge is therefore a question
of a perfect matching, which is quick even if the class is too large or too complex to be counted.

**Feedback.** Two nodes affect each other if each has a directed path to the other: they are in the
same strongly connected component. Shifting the columns along a cycle gives another member, in which
every node of the cycle uses the territory of its successor; so the nodes of a cycle are in one
block of the class, and blocks can be examined separately.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from cyclearn.classes.filling_counts import completions
from cyclearn.classes.seating import Block, Seating
from cyclearn.foundation.arrays import BoolArray
from cyclearn.foundation.deadlines import Deadline, check_deadline
from cyclearn.graphs.bitsets import ancestor_sets, bits, nodes_alike, union

EdgeVerdict = Literal["in every equally good graph", "direction differs", "in some"]

SAME: EdgeVerdict = "in every equally good graph"
TURNS: EdgeVerdict = "direction differs"
OPTIONAL: EdgeVerdict = "in some"

if TYPE_CHECKING:
    from cyclearn.classes.equivalence_class import EquivalenceClass


def edge_verdict(*, compelled: bool, back_compelled: bool, always_adjacent: bool) -> EdgeVerdict:
    """The verdict on an edge a → b that some graph has.

    Parameters
    ----------
    compelled, back_compelled : bool
        Whether every graph has a → b, and whether every graph has b → a.
    always_adjacent : bool
        Whether every graph joins the two.

    Examples
    --------
    >>> edge_verdict(compelled=False, back_compelled=False, always_adjacent=True)
    'direction differs'
    >>> edge_verdict(compelled=False, back_compelled=True, always_adjacent=True)
    'in some'
    """
    if compelled:
        return SAME
    return TURNS if always_adjacent and not back_compelled else OPTIONAL


def pair_verdict(
    possible: tuple[bool, bool], compelled: tuple[bool, bool], *, always_adjacent: bool
) -> EdgeVerdict:
    """The verdict on a pair that some graph joins: that of its least certain edge.

    ``possible`` and ``compelled``: whether some, whether every graph has a → b and b → a.

    Examples
    --------
    >>> pair_verdict((True, True), (True, False), always_adjacent=True)
    'in some'
    """
    if possible == compelled:
        return SAME
    open_edge = compelled.index(False)
    return edge_verdict(
        compelled=False, back_compelled=compelled[1 - open_edge], always_adjacent=always_adjacent
    )


@dataclass(frozen=True, eq=False)
class ClassStatements:
    """Statements about the irreducible members of a class, as arrays of shape (p, p).

    Attributes
    ----------
    possible : array of bool
        ``possible[i, j]``: some member has i → j.
    compelled : array of bool
        ``compelled[i, j]``: every member has i → j.
    always_adjacent : array of bool
        ``always_adjacent[i, j]``: every member has i → j or j → i.
    is_empty : bool
        Whether no member agrees with the knowledge; then no statement holds.
    """

    possible: BoolArray
    compelled: BoolArray
    always_adjacent: BoolArray
    is_empty: bool


def class_statements(
    members: EquivalenceClass,
    allowed: BoolArray | None = None,
    required: BoolArray | None = None,
    *,
    deadline: Deadline = None,
) -> ClassStatements:
    """What holds in some and in every irreducible member of a class.

    Parameters
    ----------
    members : EquivalenceClass
    allowed, required : array of bool of shape (p, p), optional
        Consider only members whose edges are all allowed and that have all required edges.
    deadline : float, optional
        When to stop with a LimitError, by :func:`deadlines.now`.

    Examples
    --------
    >>> from cyclearn.classes import equivalence_class
    >>> from cyclearn.graphs import DirectedGraph
    >>> g = DirectedGraph.from_edges([("a", "c"), ("b", "c"), ("c", "d"), ("e", "f")])
    >>> found = class_statements(equivalence_class(g))
    >>> found.compelled.sum(), found.possible.sum(), found.always_adjacent.sum() // 2
    (np.int64(3), np.int64(5), np.int64(4))
    """
    seatings = members.irreducible_seatings(allowed, required)
    found = [_Matcher(seating, deadline).statements() for seating in seatings]
    held = [statements for statements in found if not statements.is_empty] or found[:1]
    return ClassStatements(
        np.logical_or.reduce([statements.possible for statements in held]),
        np.logical_and.reduce([statements.compelled for statements in held]),
        np.logical_and.reduce([statements.always_adjacent for statements in held]),
        held[0].is_empty,
    )


class _Matcher:
    def __init__(self, seating: Seating, deadline: Deadline) -> None:
        self._seating, self._deadline = seating, deadline
        p = self._p = len(seating.territories)
        self._block_of = {j: block for block in self._seating.blocks for j in block.nodes}
        # For every block and node, the seats in which the node has a set, as bits.
        self._reach = {j: self._seats(j) for j in range(p)}

    def _seats(self, j: int, containing: int = 0, avoiding: int = 0) -> int:
        """Seats of the block of j with a set for j that contains some nodes and avoids others."""
        block = self._block_of[j]
        found = 0
        for position, seat in enumerate(block.seats):
            if seat in self._seating.weights[j]:
                territory = self._seating.territory(j, seat).within(~avoiding)
                held = self._seating.least[j] | containing
                n_excluded = sum(
                    held & ~members == 0 and not members & avoiding
                    for members in self._seating.excluded(seat, j)
                )
                if territory.count(held) > n_excluded:
                    found |= 1 << position
        return found

    def _exists(self, block: Block, changed: Mapping[int, int]) -> bool:
        """Whether a block can be filled if some nodes use only the given seats."""
        check_deadline(self._deadline)
        reach = [changed.get(j, self._reach[j]) for j in block.nodes]
        return completions(reach, (1 << len(block.seats)) - 1) is not None

    def statements(self) -> ClassStatements:
        p = self._p
        possible, compelled, adjacent = (np.zeros((p, p), dtype=bool) for _ in range(3))
        if not all(self._exists(block, {}) for block in self._seating.blocks):
            return ClassStatements(possible, compelled, adjacent, True)
        for j in range(p):
            block = self._block_of[j]
            for i in bits(self._companions(j)):
                possible[i, j] = self._exists(block, {j: self._seats(j, containing=1 << i)})
                if possible[i, j]:
                    without = self._seats(j, avoiding=1 << i)
                    compelled[i, j] = not self._exists(block, {j: without})
        for i, j in np.argwhere(np.triu(possible | possible.T)).tolist():
            adjacent[i, j] = adjacent[j, i] = self._never_apart(i, j, compelled)
        return ClassStatements(possible, compelled, adjacent, False)

    def _companions(self, j: int) -> int:
        """The nodes that share an anchor with j in a territory that j may use."""
        block = self._block_of[j]
        found = union(
            self._seating.territories[block.seats[position]].around(1 << j)
            for position in bits(self._reach[j])
        )
        return found & self._seating.most[j] & ~(1 << j)

    def _never_apart(self, i: int, j: int, compelled: BoolArray) -> bool:
        if compelled[i, j] or compelled[j, i]:
            return True
        if self._block_of[i] is not self._block_of[j]:
            # Blocks are filled independently, so both edges can be missing at once.
            return False
        apart = {i: self._seats(i, avoiding=1 << j), j: self._seats(j, avoiding=1 << i)}
        return not self._exists(self._block_of[i], apart)


@dataclass(frozen=True, eq=False)
class FeedbackPairs:
    """Symmetric tables over the nodes: pairs on a common cycle in some and in every member.

    If a block has more fillings than were examined, ``is_exact`` is false: then ``some`` may lack
    pairs and ``every`` may have too many.
    """

    some: BoolArray
    every: BoolArray
    is_exact: bool


def feedback_pairs(seating: Seating, max_fillings: int, deadline: Deadline = None) -> FeedbackPairs:
    """Examine up to ``max_fillings`` fillings of every block of a class."""
    p = len(seating.territories)
    some, every = np.zeros((p, p), dtype=bool), np.zeros((p, p), dtype=bool)
    is_exact = True
    for block in seating.blocks:
        k = len(block.nodes)
        if k == 1:
            continue
        mask = sum(1 << j for j in block.nodes)
        full = (1 << k) - 1
        found, always = [0] * k, [full] * k
        for number, columns in enumerate(seating.iter_block(block)):
            check_deadline(deadline)
            if number == max_fillings:
                is_exact = False
                break
            for n, partners in enumerate(mutual_reach(block.nodes, columns, mask)):
                found[n] |= partners
                always[n] &= partners
            if all(row == full for row in found) and all(
                row == 1 << n for n, row in enumerate(always)
            ):
                # The other fillings cannot change the answer.
                break
        for n, j in enumerate(block.nodes):
            for table, rows in ((some, found), (every, always)):
                table[j, [block.nodes[m] for m in bits(rows[n] & ~(1 << n))]] = True
    return FeedbackPairs(some, every, is_exact)


def mutual_reach(nodes: Sequence[int], columns: Sequence[int], mask: int) -> list[int]:
    """For each of the nodes, by position, the nodes that reach it and that it reaches.

    ``columns[n]`` is the bit set {nodes[n]} ∪ parents; paths stay inside ``mask``.
    """
    position = {j: n for n, j in enumerate(nodes)}
    inside = [sum(1 << position[i] for i in bits(column & mask)) for column in columns]
    return nodes_alike(ancestor_sets(inside))
