"""Another member of the class of a graph: the one whose edges lead away from a node.

The current member of a class determines which other graphs are near. To give another parent to a
node at the end of a chain of edges, the whole chain has to be reversed, unless it leads away from
the node already.
"""

from __future__ import annotations

import numpy as np

from cyclearn.foundation.arrays import BoolArray, IntArray
from cyclearn.search.runs import Adjacency


def leading_away(
    graph: Adjacency, centre: int, label: IntArray, may_turn: BoolArray, furthest: int
) -> Adjacency:
    """An equivalent graph in which edges near the centre point away from it, where possible.

    An edge can be reversed if no cycle contains its ends and its target has the same parents as its
    source, apart from the source itself. ``label`` is the component of each node, and ``may_turn[i,
    j]`` says whether i → j may be reversed. Edges ``furthest`` steps away or more are kept: they
    hardly affect the surroundings of the centre.

    Examples
    --------
    >>> chain = np.diag(np.ones(3, np.uint8), k=1)
    >>> np.argwhere(leading_away(chain, 2, np.arange(4), np.ones((4, 4), bool), 4)).tolist()
    [[1, 0], [2, 1], [2, 3]]
    """
    distance = _distances(graph.view(np.bool_), centre, furthest)
    near = np.flatnonzero(distance < furthest)
    is_alone = np.bincount(label)[label] == 1
    toward = graph[:, near].view(np.bool_) & (distance[:, None] > distance[near])
    toward &= may_turn[:, near] & is_alone[near] & is_alone[:, None]
    if not toward.any():
        return graph
    A = graph.astype(bool)
    waiting = {(i, int(near[j])) for i, j in np.argwhere(toward).tolist()}
    while True:
        turned = [(i, j) for i, j in sorted(waiting) if _is_covered(A, i, j)]
        if not turned:
            return A.astype(np.uint8)
        for i, j in turned:
            # Reversing one edge may make another one reversible, or the opposite.
            if _is_covered(A, i, j):
                A[i, j], A[j, i] = False, True
                waiting.discard((i, j))


def _distances(A: BoolArray, centre: int, furthest: int) -> IntArray:
    """Steps from a node along edges in either direction; those of all other nodes are furthest.

    Only rows and columns of near nodes are read: with a thousand variables, a general function
    takes longer than everything else around a node.
    """
    distance = np.full(len(A), furthest)
    front = np.array([centre])
    for steps in range(furthest):
        distance[front] = steps
        joined = A[front].any(axis=0) | A[:, front].any(axis=1)
        front = np.flatnonzero(joined & (distance == furthest))
    return distance


def _is_covered(A: BoolArray, i: int, j: int) -> bool:
    differs = A[:, i] != A[:, j]
    return bool(differs[i]) and np.count_nonzero(differs) == 1
