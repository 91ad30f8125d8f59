"""Proposals of a whole graph, put together from components that are known.

A *part* is a component with the columns of its nodes. Any graph whose components are parts comes
from taking parts in an order, each with its outside parents among the nodes before it. Sums over
all orders are sums over sets of nodes: what leads to a set S is, over the parts that may come last,
what leads to S without that part times its weight. Drawn backwards from the set of all nodes, a
graph comes up in proportion to its probability times the number of orders it has. So a proposal
that is accepted with the ratio of these numbers, before and after, is balanced, whatever the two
graphs are worth; from a graph with a component that is no part there is none.

Single nodes are parts with all their parent sets from the beginning. Components of several nodes
are noted when a chain comes there, and become parts when it has left them: a chain that left as
soon as it knows the place would be there too seldom.

Sets of nodes are bits of a whole number.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cyclearn._kernels.compilation import kernel, lean_kernel
from cyclearn._kernels.component_scores import (
    Bytes,
    Floats,
    Ints,
    Keys,
    Scored,
    column_key,
    component_value,
    parents_of,
)
from cyclearn._kernels.proposals import Walk, toggle, uniform

# Chances below exp of this are none.
_LEAST = -40.0


class Parts(NamedTuple):
    """Components from which graphs are put together: ``size[0]`` node sets, ``size[1]`` parts.

    By node set: ``sets``, their nodes, ``heads``, the first of their parts, and ``totals[c, S]``,
    the log weight of those whose outside parents are all in S. By part: ``follows``, the next one
    of the same nodes, of smaller weight, or −1; ``columns``, the parents of every node;
    ``outside``, those not in it; and ``logs``, the log weights. The keys of those with several
    nodes are in the table ``known``. By set of nodes S: ``place_of[S]``, where it is in ``sets``,
    or −1; ``leading[S]``, the log of what leads to S, and ``chances[S, c]``, how probable it is
    that c comes last in S. ``orders`` are the numbers of orders of the graph of a chain, zero where
    it is to be counted, and of that proposed last.
    """

    size: Ints
    sets: Ints
    heads: Ints
    totals: Floats
    follows: Ints
    columns: Ints
    outside: Ints
    logs: Floats
    known: Keys
    place_of: Ints
    leading: Floats
    chances: Floats
    orders: Floats


class GroupsMet(NamedTuple):
    """Components of several nodes that a chain was at, ``size[0]``, as long as there is room.

    Their ``keys``, which are in the table ``known`` too, the parents of every node, zero for those
    outside, and the log weights. The first ``size[1]`` are parts. ``at_once[0]`` says whether they
    become parts while the chain is there.
    """

    size: Ints
    keys: Keys
    columns: Ints
    logs: Floats
    known: Keys
    at_once: Bytes


@kernel
def single_values(g: Scored, nodes: Ints, parents: Ints) -> Floats:
    """The values of single nodes, each with its parents; A is room to work."""
    p = g.A.shape[0]
    values = np.empty(nodes.size)
    node = np.empty(1, np.int64)
    for e in range(nodes.size):
        node[0] = nodes[e]
        for i in range(p):
            g.A[i, nodes[e]] = parents[e] >> i & 1
        offsets, members = parents_of(g, node)
        values[e] = component_value(g, node, offsets, members)
    return values


@lean_kernel
def _log_sum(a: float, b: float) -> float:
    """log(exp a + exp b)."""
    high, low = max(a, b), min(a, b)
    if low == -np.inf:
        return high
    return float(high + np.log1p(np.exp(low - high)))


@lean_kernel
def _place_in(known: Keys, key: np.uint64) -> int:
    """Where a table has a key, or the empty place where it would be."""
    mask = known.size - 1
    at = int(np.int64(key & np.uint64(mask)))
    while known[at] != 0 and known[at] != key:
        at = (at + 1) & mask
    return at


@lean_kernel
def _insert(parts: Parts, members: int, columns: Ints, key: np.uint64, log: float) -> bool:
    """Make a component a part; whether there was room for it and it was none.

    What leads to sets of nodes is to be summed again.
    """
    n_sets, e = parts.size
    c = parts.place_of[members]
    is_full = e == parts.logs.size or (c < 0 and n_sets == parts.sets.size)
    at = _place_in(parts.known, key)
    if is_full or parts.known[at] == key:
        return False
    parts.known[at] = key
    n_all = parts.leading.size
    if c < 0:
        c = n_sets
        parts.sets[c] = members
        parts.place_of[members] = c
        parts.heads[c] = -1
        for S in range(n_all):
            parts.totals[c, S] = -np.inf
        parts.size[0] += 1
    parts.size[1] += 1
    parents = 0
    for v in range(columns.size):
        parts.columns[e, v] = columns[v]
        parents |= columns[v]
    outside = parents & ~members
    parts.outside[e] = outside
    parts.logs[e] = log
    before = -1
    after = parts.heads[c]
    while after >= 0 and parts.logs[after] >= log:
        before, after = after, parts.follows[after]
    parts.follows[e] = after
    if before < 0:
        parts.heads[c] = e
    else:
        parts.follows[before] = e
    # All sets with the outside parents.
    others = (n_all - 1) & ~(members | outside)
    more = 0
    while True:
        S = outside | more
        parts.totals[c, S] = _log_sum(parts.totals[c, S], log)
        if more == others:
            return True
        more = (more - others) & others


@lean_kernel
def sum_orders(parts: Parts, changed: int) -> None:
    """What leads to the sets of nodes that contain those where something has changed."""
    others = (parts.leading.size - 1) & ~changed
    more = 0
    while True:
        _sum_last(parts, changed | more)
        if more == others:
            return
        more = (more - others) & others


@lean_kernel
def _sum_last(parts: Parts, S: int) -> None:
    """What leads to S, over the parts that may come last."""
    if S == 0:
        parts.leading[0] = 0.0
        return
    chances = parts.chances[S]
    most = -np.inf
    for c in range(parts.size[0]):
        if parts.sets[c] & ~S == 0:
            before = S & ~parts.sets[c]
            chances[c] = parts.leading[before] + parts.totals[c, before]
            most = max(most, chances[c])
    total = 0.0
    for c in range(parts.size[0]):
        if parts.sets[c] & ~S == 0:
            is_some = chances[c] > most + _LEAST
            chances[c] = np.exp(chances[c] - most) if is_some else 0.0
            total += chances[c]
    for c in range(parts.size[0]):
        chances[c] /= total if total > 0.0 else 1.0
    parts.leading[S] = most + np.log(total) if total > 0.0 else -np.inf


@lean_kernel
def add_parts(parts: Parts, columns: Ints, keys: Keys, logs: Floats) -> None:
    """Make components of several nodes parts, as far as they are none and there is room."""
    is_changed = False
    for k in range(keys.size):
        if _insert(parts, members_of(columns[k]), columns[k], keys[k], logs[k]):
            is_changed = True
    if is_changed:
        sum_orders(parts, 0)


@lean_kernel
def members_of(columns: Ints) -> int:
    """The nodes of a component of several, given by its columns: each has a parent in it."""
    members = 0
    for v in range(columns.size):
        if columns[v] != 0:
            members |= 1 << v
    return members


@lean_kernel
def meet(g: Scored, met: GroupsMet, nodes: Ints, log: float) -> None:
    """Note a component of the graph, with its log weight."""
    key = np.uint64(0)
    for v in nodes:
        key ^= column_key(g, v)
    at = _place_in(met.known, key)
    k = met.size[0]
    if met.known[at] == key or k == met.keys.size:
        return
    met.known[at] = key
    met.keys[k] = key
    met.logs[k] = log
    for v in nodes:
        for i in range(g.A.shape[0]):
            if g.A[i, v]:
                met.columns[k, v] |= 1 << i
    met.size[0] += 1


@lean_kernel
def _learn(parts: Parts, met: GroupsMet) -> None:
    """Make parts of the components that were noted."""
    while met.size[1] < met.size[0]:
        k = met.size[1]
        met.size[1] += 1
        columns = met.columns[k]
        members = members_of(columns)
        if _insert(parts, members, columns, met.keys[k], met.logs[k]):
            # Its outside parents, as the last part.
            sum_orders(parts, members | parts.outside[parts.size[1] - 1])


@kernel
def number_of_orders(n: int, nodes: Ints, outside: Ints) -> float:
    """In how many orders n components can be put, each after its outside parents.

    Sets are of components here. A set that can come first has those that may come next: all that
    might come next before its last one was placed, and those that waited for that one.
    """
    waits_for = np.zeros(n, np.int64)
    waiting = np.zeros(n, np.int64)
    first = 0
    for c in range(n):
        for d in range(n):
            if outside[c] & nodes[d]:
                waits_for[c] |= 1 << d
                waiting[d] |= 1 << c
        if waits_for[c] == 0:
            first |= 1 << c
    n_all = 1 << n
    ways = np.zeros(n_all)
    following = np.empty(n_all, np.int64)
    ways[0] = 1.0
    following[0] = first
    for S in range(n_all - 1):
        if ways[S] == 0.0:
            continue
        left = following[S]
        c = 0
        while left != 0:
            if left & 1:
                T = S | 1 << c
                if ways[T] == 0.0:
                    after = following[S] & ~(1 << c)
                    if waiting[c] != 0:
                        for d in range(n):
                            if waiting[c] >> d & 1 and waits_for[d] & ~T == 0:
                                after |= 1 << d
                    following[T] = after
                ways[T] += ways[S]
            left >>= 1
            c += 1
    return float(ways[n_all - 1])


@lean_kernel
def _find_parts(g: Scored, walk: Walk, parts: Parts, nodes: Ints, outside: Ints) -> int:
    """Write the components of a walk's graph; return their number, −1 where one is no part."""
    p = walk.first.size
    n = 0
    for v in range(p):
        if walk.first[v] != v:
            continue
        members = 0
        parents = 0
        key = np.uint64(0)
        for u in range(v, p):
            if walk.first[u] == v:
                members |= 1 << u
                key ^= column_key(g, u)
                for i in range(p):
                    if g.A[i, u]:
                        parents |= 1 << i
        nodes[n] = members
        outside[n] = parents & ~members
        n += 1
        # Single nodes have all parents that are permitted.
        if members != 1 << v and parts.known[_place_in(parts.known, key)] != key:
            return -1
    return n


@lean_kernel
def _drawn_last(walk: Walk, parts: Parts, S: int) -> int:
    """The node set of the part that comes last in S."""
    u = uniform(walk.state)
    found = -1
    for c in range(parts.size[0]):
        if parts.chances[S, c] > 0.0:
            found = c
            u -= parts.chances[S, c]
            if u < 0.0:
                break
    return found


@lean_kernel
def _drawn_part(walk: Walk, parts: Parts, c: int, before: int) -> int:
    """One of the parts with the nodes of set c and outside parents among those before."""
    u = uniform(walk.state)
    total = parts.totals[c, before]
    found = -1
    e = parts.heads[c]
    while e >= 0:
        if parts.outside[e] & ~before == 0:
            found = e
            u -= np.exp(parts.logs[e] - total)
            if u < 0.0:
                break
        e = parts.follows[e]
    return found


@kernel
def assemble(g: Scored, walk: Walk, parts: Parts, met: GroupsMet) -> bool:
    """Propose another graph; whether it is to be taken, which does not hang on its value.

    Components that were noted become parts here, where the chain stands at none of them.
    """
    p = g.A.shape[0]
    if parts.sets.size == 0:
        return False
    nodes = np.empty(p, np.int64)
    outside = np.empty(p, np.int64)
    if parts.orders[0] == 0.0:
        if met.at_once[0]:
            _learn(parts, met)
        n = _find_parts(g, walk, parts, nodes, outside)
        if n < 0:
            return False
        parts.orders[0] = number_of_orders(n, nodes, outside)
        _learn(parts, met)
    columns = np.zeros(p, np.int64)
    n = 0
    S = (1 << p) - 1
    while S != 0:
        c = _drawn_last(walk, parts, S)
        members = parts.sets[c]
        S &= ~members
        e = _drawn_part(walk, parts, c, S)
        nodes[n] = members
        outside[n] = parts.outside[e]
        n += 1
        for v in range(p):
            if members >> v & 1:
                columns[v] = parts.columns[e, v]
    parts.orders[1] = number_of_orders(n, nodes, outside)
    if uniform(walk.state) * parts.orders[1] >= parts.orders[0]:
        return False
    for v in range(p):
        for i in range(p):
            if columns[v] >> i & 1 != g.A[i, v]:
                toggle(walk, i, v)
    return True
