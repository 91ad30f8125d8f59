"""Proposals of simulated annealing: which edges among a few nodes to change.

A proposal toggles one or several entries of A. It adds, deletes or reverses an edge or moves it to
another end; it exchanges parents or turns a cycle, which changes no score and moves within the
equivalence class; or it redraws all edges among three nodes. Exchanges and turned cycles also move
edges from outside; all other changes stay among the nodes.

Random numbers come from a 64-bit generator whose state the caller passes: the same state gives the
same walk.
"""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np

from cyclearn._kernels.compilation import kernel, lean_kernel
from cyclearn._kernels.component_scores import Bytes, Floats, Ints, Keys
from cyclearn._kernels.typed_numbers import NONE, ZERO

MAX_TOGGLES = 64
# Typed like variables, as the imported numbers are.
_THREE, _FIVE, _HUNDRED = (cast(int, np.int64(n)) for n in (3, 5, 100))
_HALF = np.uint64(0xFFFFFFFF)
_FACTOR_HIGH, _FACTOR_LOW = np.uint64(0x2545F491), np.uint64(0x4F6CDD1D)


class Walk(NamedTuple):
    """The state of a walk: the first node of each node's component, and values by that node.

    ``toggles`` and ``size`` are the current proposal; ``mark`` and ``stack`` are work arrays.
    """

    first: Ints
    values: Floats
    toggles: Ints
    size: Ints
    mark: Bytes
    stack: Ints
    state: Keys


@kernel
def new_walk(p: int, seed: int) -> Walk:
    """A walk over graphs of p nodes that has not started yet."""
    walk = Walk(
        np.arange(p),
        np.empty(p),
        np.empty((MAX_TOGGLES, 2), np.int64),
        np.zeros(1, np.int64),
        np.zeros(p, np.uint8),
        np.empty(p + 2, np.int64),
        np.empty(1, np.uint64),
    )
    walk.state[0] = np.uint64(seed) ^ np.uint64(88172645463325252)
    return walk


@lean_kernel
def _draw(state: Keys) -> np.uint64:
    """64 random bits (the xorshift* generator).

    The product is computed in halves: the full product would overflow when Python runs the kernel
    uncompiled.
    """
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    low, high = x & _HALF, x >> np.uint64(32)
    product = low * _FACTOR_LOW
    upper = (low * _FACTOR_HIGH & _HALF) + (high * _FACTOR_LOW & _HALF) + (product >> np.uint64(32))
    return np.uint64((upper << np.uint64(32)) | (product & _HALF))


@lean_kernel
def below(state: Keys, n: int) -> int:
    """A random integer from 0 to n − 1."""
    return int((_draw(state) >> np.uint64(33)) % np.uint64(n))


@lean_kernel
def uniform(state: Keys) -> float:
    """A random number above 0 and below 1."""
    return float((_draw(state) >> np.uint64(11)) + np.uint64(1)) / 9007199254740993.0


@lean_kernel
def drawn(cumulative: Floats, u: float) -> int:
    """The first index whose cumulative weight exceeds u."""
    low, high = 0, cumulative.size - 1
    while low < high:
        middle = (low + high) // 2
        if cumulative[middle] > u:
            high = middle
        else:
            low = middle + 1
    return low


@lean_kernel
def toggle(walk: Walk, i: int, j: int) -> None:
    """Add an entry to the proposal; adding the same entry again removes it."""
    n = walk.size[0]
    for t in range(n):
        if walk.toggles[t, 0] == i and walk.toggles[t, 1] == j:
            walk.toggles[t, 0] = walk.toggles[n - 1, 0]
            walk.toggles[t, 1] = walk.toggles[n - 1, 1]
            walk.size[0] = n - 1
            return
    if n < MAX_TOGGLES:
        walk.toggles[n, 0] = i
        walk.toggles[n, 1] = j
        walk.size[0] = n + 1


@lean_kernel
def set_column(A: Bytes, walk: Walk, target: int, source: int) -> None:
    """Toggle entries so that the column of ``target`` becomes the present column of ``source``."""
    for i in range(A.shape[0]):
        if i == target:
            continue
        wanted = A[i, source] == 1 or i == source
        if wanted != (A[i, target] == 1):
            toggle(walk, i, target)


@lean_kernel
def _some_parent(A: Bytes, state: Keys, nodes: Ints, j: int) -> int:
    """A random parent of j among the nodes; −1 if there is none."""
    n = ZERO
    for i in nodes:
        if A[i, j]:
            n += 1
    if n == 0:
        return -1
    chosen = below(state, n)
    for i in nodes:
        if A[i, j]:
            if chosen == 0:
                return int(i)
            chosen -= 1
    return -1


@lean_kernel
def _exchange(A: Bytes, walk: Walk, nodes: Ints, j: int, k: int) -> None:
    """Propose a parent exchange of j and k if their columns differ in one node."""
    added = NONE
    for i in range(A.shape[0]):
        if (A[i, j] == 1 or i == j) != (A[i, k] == 1 or i == k):
            if added >= 0:
                return
            added = i
    if added < 0:
        return
    dropped = _some_parent(A, walk.state, nodes, j)
    if dropped < 0:
        return
    # k gets the union of both columns; j loses ``dropped``.
    if A[added, j] or added == j:
        toggle(walk, added, k)
    else:
        toggle(walk, added, j)
    toggle(walk, dropped, j)


@lean_kernel
def walk_until_met(A: Bytes, walk: Walk, j: int) -> tuple[int, int]:
    """Walk against the edges from j, inside its component, until a node is met twice.

    The nodes are left on the stack. Returns their number and the node met twice, −1 if the walk
    cannot continue.
    """
    p = A.shape[0]
    n = 0
    v = j
    for u in range(p):
        walk.mark[u] = 0
    while not walk.mark[v]:
        walk.mark[v] = 1
        walk.stack[n] = v
        n += 1
        n_parents = ZERO
        for i in range(p):
            if A[i, v] and walk.first[i] == walk.first[v]:
                n_parents += 1
        if n_parents == 0:
            return n, -1
        chosen = below(walk.state, n_parents)
        for i in range(p):
            if A[i, v] and walk.first[i] == walk.first[v]:
                if chosen == 0:
                    v = i
                    break
                chosen -= 1
    return n, v


@lean_kernel
def turn_stack(A: Bytes, walk: Walk, begin: int, n: int) -> None:
    """Propose to turn the cycle on the stack from ``begin`` to the end, of n nodes in all."""
    # stack[begin + 1] → stack[begin], and so on: every node gives its column to its predecessor.
    for a in range(begin, n):
        before = walk.stack[a + 1] if a + 1 < n else walk.stack[begin]
        set_column(A, walk, before, walk.stack[a])


@lean_kernel
def _turn_cycle(A: Bytes, walk: Walk, j: int) -> None:
    """Propose to turn a cycle found by a random walk from j."""
    n, v = walk_until_met(A, walk, j)
    if v >= 0:
        begin = ZERO
        while walk.stack[begin] != v:
            begin += 1
        turn_stack(A, walk, begin, n)


@lean_kernel
def propose(A: Bytes, walk: Walk, nodes: Ints) -> None:
    """Draw a proposal among the nodes."""
    walk.size[0] = 0
    m = nodes.size
    kind = below(walk.state, _HUNDRED)
    j = nodes[below(walk.state, m)]
    i = nodes[below(walk.state, m)]
    if kind < 30:
        if i != j:
            toggle(walk, i, j)
    elif kind < 80:
        i = _some_parent(A, walk.state, nodes, j)
        if i < 0:
            return
        k = nodes[below(walk.state, m)]
        if kind < 38:
            toggle(walk, i, j)
        elif kind < 55:
            toggle(walk, i, j)
            if not A[j, i]:
                toggle(walk, j, i)
        elif kind < 61:
            if k not in (i, j) and not A[k, j]:
                toggle(walk, i, j)
                toggle(walk, k, j)
        elif kind < 67:
            if k not in (i, j) and not A[i, k]:
                toggle(walk, i, j)
                toggle(walk, i, k)
        elif kind < 73:
            _exchange(A, walk, nodes, j, i)
        else:
            _exchange(A, walk, nodes, i, j)
    elif kind < 86:
        _turn_cycle(A, walk, j)
    elif kind < 90:
        # A triangle of the skeleton, or two of its edges: reverse both, or one of them and a third.
        a = _some_parent(A, walk.state, nodes, j)
        if a >= 0 and i not in (a, j):
            for u, v in ((a, j), (i, j), (i, a)):
                if (A[u, v] != A[v, u]) and below(walk.state, _THREE) < 2:
                    toggle(walk, u, v)
                    toggle(walk, v, u)
    else:
        k = _some_parent(A, walk.state, nodes, j)
        if k < 0 or k == i or i == j:
            return
        for u, v in ((i, j), (j, i), (i, k), (k, i), (j, k), (k, j)):
            if below(walk.state, _FIVE) < 2:
                toggle(walk, u, v)
