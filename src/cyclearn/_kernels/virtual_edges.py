"""The moves of the virtual-edge operator (supplement, "Virtual Edge Search Operator").

Two nodes with a common child that is an ancestor of one of them look adjacent in every data set. A
search that has not found the cycle puts a real edge there, and no change of a single edge improves
the graph afterwards. Each move here forms the cycle and removes the edge in one step.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cyclearn._kernels.compilation import kernel, lean_kernel
from cyclearn._kernels.typed_numbers import FALSE, TRUE, ZERO

Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]


@lean_kernel
def _joined(A: Bytes, a: int, b: int) -> bool:
    return bool(A[a, b] or A[b, a])


@lean_kernel
def _orient(A: Bytes, a: int, b: int, exclusive: bool, toggles: Ints, n: int) -> int:
    """Append the toggles that orient the edge between a and b as a → b; return the new length.

    An edge b → a beside a → b is removed only if ``exclusive``.
    """
    if not A[a, b]:
        toggles[n, 0], toggles[n, 1] = a, b
        n += 1
    if A[b, a] and (exclusive or not A[a, b]):
        toggles[n, 0], toggles[n, 1] = b, a
        n += 1
    return n


@lean_kernel
def _remove(A: Bytes, a: int, b: int, toggles: Ints, n: int) -> int:
    """Append the toggles that remove every edge between a and b; return the new length."""
    if A[a, b]:
        toggles[n, 0], toggles[n, 1] = a, b
        n += 1
    if A[b, a]:
        toggles[n, 0], toggles[n, 1] = b, a
        n += 1
    return n


@lean_kernel
def _complete(A: Bytes, a: int, b: int, toggles: Ints, n: int) -> int:
    """Append the toggles that make a ⇄ b; return the new length."""
    if not A[a, b]:
        toggles[n, 0], toggles[n, 1] = a, b
        n += 1
    if not A[b, a]:
        toggles[n, 0], toggles[n, 1] = b, a
        n += 1
    return n


@kernel
def _grown(moves: Ints, sizes: Ints, n_moves: int) -> tuple[Ints, Ints]:
    """The same arrays, enlarged if one more move would not fit."""
    if n_moves < sizes.size:
        return moves, sizes
    more_moves = np.empty((2 * sizes.size, moves.shape[1], 2), np.int64)
    more_sizes = np.empty(2 * sizes.size, np.int64)
    for m in range(n_moves):
        more_sizes[m] = sizes[m]
        for t in range(sizes[m]):
            more_moves[m, t, 0] = moves[m, t, 0]
            more_moves[m, t, 1] = moves[m, t, 1]
    return more_moves, more_sizes


@kernel
def virtual_edge_moves(A: Bytes, max_cycle: int) -> tuple[Ints, Ints]:
    """All moves of the operator, as toggled entries of A.

    Case 1, a triangle i, j, k and another sequence of edges, in any directions, between k and j:
    reverse edges so that j → k and the sequence form a cycle of at most ``max_cycle`` nodes, delete
    the edge between i and j, and orient i → k.

    Case 2, triangles i, j, k and l, j, k over an edge j → k: delete the edge between i and j and
    the one between l and k, and add k → j.

    This goes beyond the supplement in three ways. The edge between j and k may be missing, because
    it can be hidden if paths around the cycle cancel it. In case 2 the other edges are oriented,
    i → k and l → j; otherwise a search that arrived by l ← j cannot continue. And in case 2 one
    triangle suffices: then only the edge between i and j is deleted.

    Returns the toggles, shape (moves, longest, 2), and the number of toggles of each move; there
    are no moves if ``max_cycle`` is zero.
    """
    longest = 2 * max_cycle + 8 if max_cycle > 0 else 2
    moves: Ints = np.empty((64, longest, 2), np.int64)
    sizes: Ints = np.empty(64, np.int64)
    if max_cycle == 0:
        return moves[:0], sizes[:0]
    near, n_near = _neighbours(A)
    moves, sizes, n_moves = _long_cycles(A, near, n_near, max_cycle, moves, sizes)
    return _two_cycles(A, near, n_near, moves, sizes, n_moves)


@kernel
def _neighbours(A: Bytes) -> tuple[Ints, Ints]:
    """The nodes adjacent to each node, in ascending order, and their number."""
    p = A.shape[0]
    n_near = np.zeros(p, np.int64)
    most = 0
    for v in range(p):
        for w in range(p):
            if v != w and _joined(A, v, w):
                n_near[v] += 1
        most = max(most, n_near[v])
    near = np.empty((p, most), np.int64)
    for v in range(p):
        n = 0
        for w in range(p):
            if v != w and _joined(A, v, w):
                near[v, n] = w
                n += 1
    return near, n_near


@lean_kernel
def _mark_two_away(near: Ints, n_near: Ints, j: int, mark: Bytes) -> None:
    """Mark the nodes that have a neighbour in common with j."""
    for k in range(mark.size):
        mark[k] = 0
    for a in range(n_near[j]):
        i = near[j, a]
        for b in range(n_near[i]):
            mark[near[i, b]] = 1
    mark[j] = 0


@kernel
def _long_cycles(
    A: Bytes, near: Ints, n_near: Ints, max_cycle: int, moves: Ints, sizes: Ints
) -> tuple[Ints, Ints, int]:
    """Case 1: cycles of three nodes or more."""
    p = A.shape[0]
    n_moves = ZERO
    path = np.empty(max_cycle + 1, np.int64)
    following = np.empty(max_cycle + 1, np.int64)
    visited = np.zeros(p, np.uint8)
    is_two_away = np.zeros(p, np.uint8)
    for j in range(p):
        _mark_two_away(near, n_near, j, is_two_away)
        for k in range(p):
            if not is_two_away[k]:
                continue
            for a in range(n_near[j]):
                i = near[j, a]
                if i == k or not _joined(A, i, k):
                    continue
                # Depth-first search over simple paths k = path[0], path[1], …, j that avoid i.
                path[0] = k
                following[0] = 0
                depth = 0
                visited[k] = visited[i] = 1
                while depth >= 0:
                    v = path[depth]
                    if following[depth] == n_near[v]:
                        visited[v] = 0
                        depth -= 1
                        continue
                    w = near[v, following[depth]]
                    following[depth] += 1
                    if visited[w]:
                        continue
                    if w == j and depth > 0:
                        moves, sizes = _grown(moves, sizes, n_moves)
                        toggles = moves[n_moves]
                        n = _orient(A, j, k, FALSE, toggles, ZERO)
                        for step in range(depth):
                            n = _orient(A, path[step], path[step + 1], FALSE, toggles, n)
                        n = _orient(A, v, j, FALSE, toggles, n)
                        n = _remove(A, i, j, toggles, n)
                        sizes[n_moves] = _orient(A, i, k, TRUE, toggles, n)
                        n_moves += 1
                    elif w != j and depth + 3 <= max_cycle:
                        depth += 1
                        path[depth] = w
                        following[depth] = 0
                        visited[w] = 1
                visited[i] = 0
    return moves, sizes, n_moves


@kernel
def _two_cycles(
    A: Bytes, near: Ints, n_near: Ints, moves: Ints, sizes: Ints, n_moves: int
) -> tuple[Ints, Ints]:
    """Case 2: j ⇄ k instead of one or two edges beside it."""
    p = A.shape[0]
    is_two_away = np.zeros(p, np.uint8)
    for j in range(p):
        _mark_two_away(near, n_near, j, is_two_away)
        for k in range(p):
            if not is_two_away[k] or (A[j, k] and A[k, j]):
                continue
            for a in range(n_near[j]):
                i = near[j, a]
                if i == k or not _joined(A, i, k):
                    continue
                for b in range(n_near[j]):
                    other = near[j, b]
                    # If the other node is i itself, there is only one triangle.
                    if other == k or (other == i and not _joined(A, j, k)):
                        continue
                    if not _joined(A, other, k):
                        continue
                    moves, sizes = _grown(moves, sizes, n_moves)
                    toggles = moves[n_moves]
                    n = _complete(A, j, k, toggles, ZERO)
                    n = _remove(A, i, j, toggles, n)
                    n = _orient(A, i, k, TRUE, toggles, n)
                    if other != i:
                        n = _remove(A, other, k, toggles, n)
                        n = _orient(A, other, j, TRUE, toggles, n)
                    sizes[n_moves] = n
                    n_moves += 1
    return moves[:n_moves], sizes[:n_moves]
