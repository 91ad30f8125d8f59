"""Proposals of a Markov chain over graphs, each with the ratio of its two proposal probabilities.

A proposal is a set of entries of A to toggle. The nodes that it looks at are drawn from fixed
weights that do not depend on the graph, so most proposals are as probable as their reverse:

- *toggle* an entry, or both entries of a pair (reverses an edge, or adds or deletes a 2-cycle);
- *swap* two parents of a node, or two children, if exactly one of the two edges is present;
- *turn* (reverse) an edge and toggle, swap or toggle two entries around it, which a reversed edge
  often requires; or reverse some of the edges among three nodes;
- *redraw* three nodes: each of their six entries is toggled with probability ½;
- *exchange* parents: two columns that differ in one node, {S, S∖l}, become {S, S∖i}, with i drawn
  from S. One of the ways to assign them to their two nodes is drawn; the numbers of these ways
  before and after give the ratio;
- *reverse* a cycle: walk against the edges from a node, inside its component, until the walk
  returns to that node before it meets any other node twice. The walk takes each of the d parents
  inside the component with probability 1/d, and the turned columns have as many entries inside as
  before, so the turned cycle is as probable;
- *jump*: toggle a set of entries in which two graphs visited earlier differ, if these entries are
  as in one of the two; the jump leads to the other graph and back.

Exchanges and turned cycles stay in the equivalence class, so they are accepted unless stability or
a limit forbids it.
"""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np

from cyclearn._kernels.compilation import lean_kernel
from cyclearn._kernels.component_scores import Bytes, Floats, Ints
from cyclearn._kernels.proposals import (
    Walk,
    below,
    drawn,
    toggle,
    turn_stack,
    uniform,
    walk_until_met,
)
from cyclearn._kernels.typed_numbers import ZERO

_TWO, _SIXTY_FOUR = (cast(int, np.int64(n)) for n in (2, 64))


TOGGLE, TOGGLE_BOTH, SWAP_PARENTS, SWAP_CHILDREN, EXCHANGE, REVERSE_CYCLE = range(6)
TURN_AND_TOGGLE, TURN_AND_SWAP, TURN_AND_TOGGLE_TWO, TURN_SOME, REDRAW, JUMP = range(6, 12)
N_KINDS = 12


class PairWeights(NamedTuple):
    """Cumulative weights: of ordered pairs, shape (p²,), and of the second given the first, (p, p).

    The weights are symmetric and zero on the diagonal; each cumulative sum ends at one.
    """

    pairs: Floats
    rows: Floats


class Jumps(NamedTuple):
    """Sets of entries in which graphs differ.

    Set k is ``entries[starts[k]:starts[k + 1]]``, pairs (i, j). ``present`` says whether each entry
    is present in one of the two graphs; in the other it is the opposite.
    """

    entries: Ints
    present: Bytes
    starts: Ints


@lean_kernel
def _jump(A: Bytes, walk: Walk, jumps: Jumps) -> None:
    """Propose to toggle a set of entries if they are as in one of its two graphs."""
    n = jumps.starts.size - 1
    if n == 0:
        return
    chosen = np.int64(below(walk.state, n))
    first, end = jumps.starts[chosen], jumps.starts[chosen + 1]
    as_given = A[jumps.entries[first, 0], jumps.entries[first, 1]] == jumps.present[first]
    for e in range(first + 1, end):
        if (A[jumps.entries[e, 0], jumps.entries[e, 1]] == jumps.present[e]) != as_given:
            return
    for e in range(first, end):
        toggle(walk, jumps.entries[e, 0], jumps.entries[e, 1])


@lean_kernel
def _exchange(A: Bytes, walk: Walk, a: int, b: int) -> float:
    """Exchange parents of a and b; return the ratio of the ways to assign the columns."""
    n_a = n_b = 0
    size = ZERO
    for i in range(A.shape[0]):
        in_a = A[i, a] == 1 or i == a
        in_b = A[i, b] == 1 or i == b
        n_a += in_a and not in_b
        n_b += in_b and not in_a
        size += in_a or in_b
    if n_a + n_b != 1:
        return 1.0
    chosen = below(walk.state, size)
    dropped = -1
    for i in range(A.shape[0]):
        if A[i, a] == 1 or A[i, b] == 1 or i in (a, b):
            if chosen == 0:
                dropped = i
                break
            chosen -= 1
    large, small = (a, b) if n_a == 1 else (b, a)
    # Either node may get the larger column if each node is in the column of the other.
    ways_before = 2.0 if A[a, b] and A[b, a] else 1.0
    ways_after = 1.0 if dropped in (a, b) else 2.0
    # Whose column loses the node: not the node's own column; if neither is, chance decides.
    loser = small
    if dropped == small or (dropped != large and below(walk.state, _TWO) == 0):
        loser = large
    other = a + b - loser
    for i in range(A.shape[0]):
        in_union = A[i, a] == 1 or A[i, b] == 1 or i in (a, b)
        if in_union and i != other and not A[i, other]:
            toggle(walk, i, other)
        if i != loser and (A[i, loser] == 1) != (in_union and i != dropped):
            toggle(walk, i, loser)
    return ways_after / ways_before


@lean_kernel
def _turn(A: Bytes, walk: Walk, i: int, j: int) -> bool:
    """Reverse the edge between i and j; return whether there is exactly one."""
    if A[i, j] == A[j, i]:
        return False
    toggle(walk, i, j)
    toggle(walk, j, i)
    return True


@lean_kernel
def _swap(A: Bytes, walk: Walk, k: int, i: int, j: int, of_parent: bool) -> None:
    """Move the edge from k to one of i and j to the other, or that from one of them to k."""
    if of_parent and A[k, i] != A[k, j]:
        toggle(walk, k, i)
        toggle(walk, k, j)
    elif not of_parent and A[i, k] != A[j, k]:
        toggle(walk, i, k)
        toggle(walk, j, k)


@lean_kernel
def _propose_on_three(A: Bytes, walk: Walk, kind: int, i: int, j: int, k: int) -> None:
    """Reverse edges among i, j and k with the accompanying changes, or redraw all six entries."""
    chosen = np.int64(below(walk.state, _SIXTY_FOUR))
    if kind == TURN_AND_TOGGLE:
        if _turn(A, walk, i, j):
            end = i if chosen & 1 else j
            if chosen & 2:
                toggle(walk, k, end)
            else:
                toggle(walk, end, k)
    elif kind == TURN_AND_SWAP:
        if _turn(A, walk, i, j):
            _swap(A, walk, k, i, j, bool(chosen & 1))
    elif kind == TURN_SOME:
        for bit, (u, v) in enumerate(((i, j), (i, k), (j, k))):
            if chosen >> bit & 1:
                _turn(A, walk, u, v)
    else:
        for bit, (u, v) in enumerate(((i, j), (j, i), (i, k), (k, i), (j, k), (k, j))):
            if chosen >> bit & 1:
                toggle(walk, u, v)


@lean_kernel
def propose_balanced(A: Bytes, walk: Walk, weights: PairWeights, jumps: Jumps, kind: int) -> float:
    """Draw a proposal of a kind; return the probability of its reverse divided by its own.

    If a proposal leads nowhere, it is empty.
    """
    walk.size[0] = 0
    p = A.shape[0]
    if kind == REVERSE_CYCLE:
        start = int(np.int64(below(walk.state, p)))
        n, met = walk_until_met(A, walk, start)
        if met == start:
            turn_stack(A, walk, ZERO, n)
        return 1.0
    if kind == JUMP:
        _jump(A, walk, jumps)
        return 1.0
    pair = drawn(weights.pairs, uniform(walk.state))
    i, j = pair // p, pair % p
    if kind == TOGGLE:
        toggle(walk, i, j)
        return 1.0
    if kind == TOGGLE_BOTH:
        toggle(walk, i, j)
        toggle(walk, j, i)
        return 1.0
    if kind == EXCHANGE:
        return _exchange(A, walk, i, j)
    k = drawn(weights.rows[j], uniform(walk.state))
    if k == i:
        return 1.0
    if kind in (SWAP_PARENTS, SWAP_CHILDREN):
        _swap(A, walk, j, i, k, kind == SWAP_CHILDREN)
    elif kind == TURN_AND_TOGGLE_TWO:
        other = drawn(weights.rows[i], uniform(walk.state))
        if other != j and _turn(A, walk, i, j):
            toggle(walk, k, j)
            toggle(walk, other, i)
    else:
        _propose_on_three(A, walk, kind, i, j, k)
    return 1.0
