"""Which pairs of nodes drive each other in some member of a class, and which in all of them.

Two nodes drive each other when each has a directed path to the other: they share a strongly
connected component. Shifting the columns along a cycle makes another member, in which every node
of the cycle holds the territory of its successor; so the nodes of a cycle lie in one block of the
class, and blocks can be looked at one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cyclearn.classes.seating import Seating
from cyclearn.foundation.deadlines import Deadline, check_deadline
from cyclearn.graphs.bitsets import bits, strong_components

# With more nodes, components by a search are quicker than closing a relation of bit sets.
_FEW_NODES = 40


@dataclass(frozen=True, eq=False)
class FeedbackPairs:
    """Symmetric tables over the nodes: pairs on a common cycle in some and in every member.

    Where a block has more fillings than were looked at, ``is_exact`` is false: then ``some`` may
    lack pairs and ``every`` may have too many.
    """

    some: NDArray[np.bool_]
    every: NDArray[np.bool_]
    is_exact: bool


def feedback_pairs(seating: Seating, max_fillings: int, deadline: Deadline = None) -> FeedbackPairs:
    """Look at up to ``max_fillings`` fillings of every block of a class."""
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
                # Nothing left to learn from the other fillings.
                break
        for n, j in enumerate(block.nodes):
            for table, rows in ((some, found), (every, always)):
                table[j, [block.nodes[m] for m in bits(rows[n] & ~(1 << n))]] = True
    return FeedbackPairs(some, every, is_exact)


def mutual_reach(nodes: Sequence[int], columns: Sequence[int], mask: int) -> list[int]:
    """For each of the nodes, by position, those that reach it and are reached by it.

    ``columns[n]`` is the bit set {nodes[n]} ∪ parents; paths stay inside ``mask``.
    """
    k = len(nodes)
    position = {j: n for n, j in enumerate(nodes)}
    # reach[n] has the nodes with a path to n: closed under one intermediate node after another.
    reach = [sum(1 << position[i] for i in bits(column & mask)) for column in columns]
    if k > _FEW_NODES:
        return strong_components(reach)
    for via in range(k):
        for n in range(k):
            if reach[n] >> via & 1:
                reach[n] |= reach[via]
    return [sum(1 << m for m in range(k) if reach[n] >> m & reach[m] >> n & 1) for n in range(k)]
