"""Another member of the class of a graph: the one whose edges lead away from a node.

The current member of a class determines which other graphs are near. To give another parent to a
node at the end of a chain of edges, the whole chain has to be reversed, unless it leads away from
the node already.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse.csgraph import dijkstra

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
    A = graph.astype(bool)
    distance = dijkstra(A, directed=False, indices=centre, unweighted=True, limit=furthest)
    near = distance < furthest
    toward = A & near & (distance[:, None] > distance) & may_turn
    if not toward.any():
        return graph
    is_alone = np.bincount(label)[label] == 1
    waiting = {(i, j) for i, j in np.argwhere(toward).tolist() if is_alone[i] and is_alone[j]}
    while True:
        turned = [(i, j) for i, j in sorted(waiting) if _is_covered(A, i, j)]
        if not turned:
            return A.astype(np.uint8)
        for i, j in turned:
            # Reversing one edge may make another one reversible, or the opposite.
            if _is_covered(A, i, j):
                A[i, j], A[j, i] = False, True
                waiting.discard((i, j))


def _is_covered(A: BoolArray, i: int, j: int) -> bool:
    differs = A[:, i] != A[:, j]
    return bool(differs[i]) and np.count_nonzero(differs) == 1
