"""What holds in some, and what in every, member of a class; exact, without counting members.

A member gives every node a set of a territory of its own (see :mod:`cyclearn.classes.seating`).
Whether some member has or lacks an edge is therefore a question of a perfect matching, and stays
cheap where the class is far too large or too entangled to be counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cyclearn.classes.equivalence_class import EquivalenceClass
from cyclearn.classes.seating import Block, Seating
from cyclearn.classes.surplus_seats import completions
from cyclearn.foundation.deadlines import Deadline, check_deadline
from cyclearn.graphs.bitsets import bits

BoolArray = NDArray[np.bool_]


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
        Look only at members all of whose edges are allowed and that have all required edges.
    deadline : float, optional
        When to give up with a LimitError, by :func:`deadlines.now`.

    Examples
    --------
    >>> from cyclearn.classes import equivalence_class
    >>> from cyclearn.graphs import DirectedGraph
    >>> g = DirectedGraph.from_edges([("a", "c"), ("b", "c"), ("c", "d"), ("e", "f")])
    >>> found = class_statements(equivalence_class(g))
    >>> found.compelled.sum(), found.possible.sum(), found.always_adjacent.sum() // 2
    (np.int64(3), np.int64(5), np.int64(4))
    """
    found = [
        _Matcher(seating, allowed, required, deadline).statements()
        for rotations in members.rotation_classes
        for seating in rotations.irreducible_seatings
    ]
    return _in_all(found)


def _in_all(found: Sequence[ClassStatements]) -> ClassStatements:
    """The statements about several sets of members together."""
    held = [statements for statements in found if not statements.is_empty] or found[:1]
    return ClassStatements(
        np.logical_or.reduce([statements.possible for statements in held]),
        np.logical_and.reduce([statements.compelled for statements in held]),
        np.logical_and.reduce([statements.always_adjacent for statements in held]),
        held[0].is_empty,
    )


class _Matcher:
    def __init__(
        self,
        seating: Seating,
        allowed: BoolArray | None,
        required: BoolArray | None,
        deadline: Deadline,
    ) -> None:
        self._deadline = deadline
        self._seating = Seating.respecting(
            seating.territories, allowed, required, redundant=seating.redundant
        )
        p = len(seating.territories)
        self._p = p
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
        """Whether a block can be filled when some nodes use only the seats given."""
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
        found = 0
        for position in bits(self._reach[j]):
            for anchor in self._seating.territories[block.seats[position]].anchors:
                if anchor >> j & 1:
                    found |= anchor
        return found & self._seating.most[j] & ~(1 << j)

    def _never_apart(self, i: int, j: int, compelled: BoolArray) -> bool:
        if compelled[i, j] or compelled[j, i]:
            return True
        if self._block_of[i] is not self._block_of[j]:
            # Blocks are filled independently, so both edges can be missing at once.
            return False
        apart = {i: self._seats(i, avoiding=1 << j), j: self._seats(j, avoiding=1 << i)}
        return not self._exists(self._block_of[i], apart)
