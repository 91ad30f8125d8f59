"""Graphs put together from known components: the sum over all of them, layer by layer.

A *part* is a component with the columns of its nodes. A graph whose components are parts comes in
layers: first the components without outside parents, then always those whose outside parents are
all in the layers before, one of them at least in the last. A graph has its layers in one way only,
so a sum over layers is a sum over graphs: what may follow a set S of nodes, T of which are the last
layer, is the sum over next layers L of their weight times what may follow S ∪ L after L.

Single nodes are parts with all their parent sets from the beginning. Components of several nodes
are noted where they are found, and become parts between the steps of chains.

Sets of nodes are bits of a whole number. Weights span thousands of powers of e, so they are taken
relative to a sum that bounds them: that over all orders of parts, in which a graph counts as often
as it has orders.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cyclearn._kernels.compilation import kernel, lean_kernel
from cyclearn._kernels.component_scores import Bytes, Floats, Ints, Keys, Scored, column_key

# Relative weights below exp of this are none.
_LEAST = -20.0
# How much of the orders that a larger component has less is made good in its outlook: as read off
# three data sets, where it is right within a factor of three.
_ORDERS_SHARE = 0.45


class Parts(NamedTuple):
    """Components from which graphs are put together: ``size[0]`` node sets, ``size[1]`` parts.

    By node set: ``sets``, their nodes, ``heads``, the first of their parts, ``next_sets``, the next
    one with the same lowest node, or −1, and ``totals[c, S]``, the log weight of those whose
    outside parents are all in S. By part: ``follows``, the next one of the same nodes, of smaller
    weight, or −1; ``columns``, the parents of every node; ``outside``, those not in it; and
    ``logs``, the log weights. The keys of those with several nodes are in the table ``known``. By
    node: ``first_sets``, the first of the node sets of which it is the lowest. By set of nodes S:
    ``place_of``, where it is in ``sets``, or −1; ``codes``, its bits as digits of a number to the
    base three; ``leading`` and ``trailing``, the logs of the sums over all orders that lead to S,
    and from S to all nodes; ``is_open``, whether graphs that count have the nodes of S before all
    others in some order; and ``first``, what S weighs as the first layer, relative to all.
    ``following[codes[S] + codes[T]]`` is what may follow S when T is its last layer, relative to
    ``trailing[S]``.
    """

    size: Ints
    sets: Ints
    heads: Ints
    next_sets: Ints
    totals: Floats
    follows: Ints
    columns: Ints
    outside: Ints
    logs: Floats
    known: Keys
    first_sets: Ints
    place_of: Ints
    codes: Ints
    leading: Floats
    trailing: Floats
    is_open: Bytes
    first: Floats
    following: Floats


class GroupsMet(NamedTuple):
    """Components of several nodes that a chain was at, ``size[0]``, as long as there is room.

    Their ``keys``, which are in the table ``known`` too, the parents of every node, zero for those
    outside, the log weights, and whether they ``must`` become parts, whatever their outlook.
    """

    size: Ints
    keys: Keys
    columns: Ints
    logs: Floats
    known: Keys
    must: Bytes


class Layers(NamedTuple):
    """Next layers after a set S, for several last layers T.

    ``last`` are the sets T. The parts of a few node sets may come next: ``rest[0]`` are all their
    nodes, ``first_sets`` and ``next_sets`` those with the same lowest node, as in parts.
    ``shares``, by node set and T: how much of the weight of its parts with outside parents in S is
    on those with one in T. ``weights``, by next layer and T: what the layer and its trailing sum
    weigh, relative to that of S. ``place_of`` says at which place a layer is.
    """

    last: Ints
    rest: Ints
    first_sets: Ints
    next_sets: Ints
    shares: Floats
    weights: Floats
    place_of: Ints


@lean_kernel
def place_in(known: Keys, key: np.uint64) -> int:
    """Where a table has a key, or the empty place where it would be."""
    mask = known.size - 1
    at = int(np.int64(key & np.uint64(mask)))
    while known[at] != 0 and known[at] != key:
        at = (at + 1) & mask
    return at


@lean_kernel
def lowest(S: int) -> int:
    """The lowest node of a set."""
    v = 0
    while not S >> v & 1:
        v += 1
    return v


@lean_kernel
def _insert(parts: Parts, members: int, columns: Ints, key: np.uint64, log: float) -> None:
    """Make a component a part, if it is none and there is room; sums are to be made again."""
    n_sets, e = parts.size
    c = parts.place_of[members]
    is_full = e == parts.logs.size or (c < 0 and n_sets == parts.sets.size)
    at = place_in(parts.known, key)
    if is_full or parts.known[at] == key:
        return
    parts.known[at] = key
    n_all = parts.leading.size
    if c < 0:
        c = n_sets
        parts.sets[c] = members
        parts.place_of[members] = c
        parts.heads[c] = -1
        low = lowest(members)
        parts.next_sets[c] = parts.first_sets[low]
        parts.first_sets[low] = c
        for S in range(n_all):
            parts.totals[c, S] = -np.inf
        parts.size[0] += 1
    parts.size[1] += 1
    for v in range(columns.size):
        parts.columns[e, v] = columns[v]
    outside = parents_outside(columns, members)
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
        parts.totals[c, S] = np.logaddexp(parts.totals[c, S], log)
        if more == others:
            return
        more = (more - others) & others


@lean_kernel
def members_of(columns: Ints) -> int:
    """The nodes of a component of several, given by its columns: each has a parent in it."""
    members = 0
    for v in range(columns.size):
        if columns[v] != 0:
            members |= 1 << v
    return members


@lean_kernel
def parents_outside(columns: Ints, members: int) -> int:
    """All parents of a component's nodes but these themselves."""
    parents = 0
    for v in range(columns.size):
        if members >> v & 1:
            parents |= columns[v]
    return parents & ~members


@lean_kernel
def outlook(parts: Parts, members: int, outside: int, log: float) -> float:
    """About how probable a component of several nodes is: the log, relative to all graphs.

    From the sum over all orders of parts with it. Graphs with larger components have fewer orders
    and count too little there, by a factor of which about the square root is made good.
    """
    full = parts.leading.size - 1
    others = full & ~(members | outside)
    most = -np.inf
    total = 0.0
    # Twice, since terms that are small beside the largest take no exponential.
    for is_second in range(2):
        more = 0
        while True:
            S = outside | more
            both = parts.leading[S] + parts.trailing[S | members]
            if is_second and both > most + _LEAST:
                total += np.exp(both - most)
            most = max(most, both)
            if more == others:
                break
            more = (more - others) & others
    if total == 0.0:
        return -np.inf
    n_left = parts.columns.shape[1]
    more_orders = 0.0
    left = members
    while left:
        left &= left - 1
        more_orders += np.log(n_left)
        n_left -= 1
    # One of them has a place in all orders anyway.
    more_orders -= np.log(n_left + 1)
    return float(most + np.log(total) + log - parts.leading[full] + _ORDERS_SHARE * more_orders)


@kernel
def add_parts(
    parts: Parts, columns: Ints, keys: Keys, logs: Floats, must: Bytes, least: float
) -> None:
    """Make components of several nodes parts, as far as there is room, the most probable first.

    Only those that must, and those with an outlook above the ``least``.
    """
    outlooks = np.empty(keys.size)
    for k in range(keys.size):
        members = members_of(columns[k])
        outside = parents_outside(columns[k], members)
        outlooks[k] = outlook(parts, members, outside, logs[k])
    n_before = parts.size[1]
    for k in np.argsort(-outlooks):
        if must[k] or outlooks[k] > least:
            _insert(parts, members_of(columns[k]), columns[k], keys[k], logs[k])
    if parts.size[1] > n_before:
        sum_parts(parts)


@kernel
def sum_parts(parts: Parts) -> None:
    """Sum over all orders of parts, then over all layers."""
    _sum_orders(parts)
    n_all = parts.leading.size
    n_sets = parts.size[0]
    layers = Layers(
        np.empty(n_all, np.int64),
        np.zeros(1, np.int64),
        np.empty(parts.columns.shape[1], np.int64),
        np.empty(n_sets, np.int64),
        np.empty(n_sets * n_all),
        np.empty(n_all),
        np.empty(n_all, np.int64),
    )
    for S in range(n_all - 1, -1, -1):
        _sum_layers(parts, S, layers)
    # The last one, after no nodes.
    for L in range(n_all):
        is_layer = L & ~layers.rest[0] == 0
        parts.first[L] = layers.weights[layers.place_of[L]] if is_layer else 0.0


@lean_kernel
def _sum_orders(parts: Parts) -> None:
    """Sums over all orders that lead to each set, and from it to all nodes."""
    full = parts.leading.size - 1
    for S in range(full + 1):
        parts.leading[S] = 0.0 if S == 0 else -np.inf
        parts.trailing[S] = 0.0 if full == S else -np.inf
    for S in range(1, full + 1):
        for c in range(parts.size[0]):
            if parts.sets[c] & ~S == 0:
                before = S & ~parts.sets[c]
                log = parts.leading[before] + parts.totals[c, before]
                parts.leading[S] = np.logaddexp(parts.leading[S], log)
    for S in range(full - 1, -1, -1):
        for c in range(parts.size[0]):
            if parts.sets[c] & S == 0:
                log = parts.trailing[S | parts.sets[c]] + parts.totals[c, S]
                parts.trailing[S] = np.logaddexp(parts.trailing[S], log)
    for S in range(full + 1):
        parts.is_open[S] = parts.leading[S] + parts.trailing[S] > parts.leading[full] + _LEAST


@lean_kernel
def _sum_layers(parts: Parts, S: int, layers: Layers) -> None:
    """What may follow S, after each last layer."""
    full = parts.leading.size - 1
    n = 0
    T = 0
    while True:
        layers.last[n] = T
        parts.following[parts.codes[S] + parts.codes[T]] = 1.0 if full == S else 0.0
        n += 1
        if T == S:
            break
        T = (T - S) & S
    if full == S or not parts.is_open[S]:
        return
    weigh_layers(parts, S, n, layers)
    rest = layers.rest[0]
    L = 0
    while rest != L:
        L = (L - rest) & rest
        after = parts.following[parts.codes[S | L] + parts.codes[L]]
        if after > 0.0:
            first = layers.place_of[L] * n
            for t in range(n):
                at = parts.codes[S] + parts.codes[layers.last[t]]
                parts.following[at] += layers.weights[first + t] * after


@lean_kernel
def find_next(parts: Parts, S: int, layers: Layers) -> None:
    """Find the node sets whose parts may come next after S.

    A layer weighs no more than any of its parts would as the next one in an order.
    """
    layers.rest[0] = 0
    for v in range(layers.first_sets.size):
        layers.first_sets[v] = -1
        c = parts.first_sets[v]
        while c >= 0:
            members = parts.sets[c]
            if members & S == 0:
                log = parts.totals[c, S] + parts.trailing[S | members] - parts.trailing[S]
                if log > _LEAST:
                    layers.rest[0] |= members
                    layers.next_sets[c] = layers.first_sets[v]
                    layers.first_sets[v] = c
            c = parts.next_sets[c]


@lean_kernel
def weigh_layers(parts: Parts, S: int, n: int, layers: Layers) -> None:
    """Weigh all next layers after S, for the first n of its last layers.

    A layer is the part with its lowest node, and what it is without that part.
    """
    find_next(parts, S, layers)
    for v in range(layers.first_sets.size):
        c = layers.first_sets[v]
        while c >= 0:
            for t in range(n):
                earlier = parts.totals[c, S & ~layers.last[t]] - parts.totals[c, S]
                layers.shares[c * n + t] = 1.0 if S == 0 else -np.expm1(earlier)
            c = layers.next_sets[c]
    for t in range(n):
        layers.weights[t] = 1.0
    layers.place_of[0] = 0
    rest = layers.rest[0]
    L = 0
    place = 0
    while rest != L:
        L = (L - rest) & rest
        place += 1
        layers.place_of[L] = place
        for t in range(n):
            layers.weights[place * n + t] = 0.0
        if not parts.is_open[S | L]:
            continue
        c = layers.first_sets[lowest(L)]
        while c >= 0:
            weight = weight_with(parts, S, L, c)
            if weight > 0.0:
                others = layers.place_of[L & ~parts.sets[c]] * n
                _add_product(layers, place * n, weight, c * n, others, n)
            c = layers.next_sets[c]


@lean_kernel
def _add_product(layers: Layers, to: int, weight: float, share: int, others: int, n: int) -> None:
    """Add to the weights of a layer those of a part times those of all others of it."""
    for t in range(n):
        product = layers.shares[share + t] * layers.weights[others + t]
        layers.weights[to + t] += weight * product


@lean_kernel
def weight_with(parts: Parts, S: int, L: int, c: int) -> float:
    """What the parts of node set c weigh in a layer L after S, relative to L without them."""
    if parts.sets[c] & ~L != 0:
        return 0.0
    before = S | (L & ~parts.sets[c])
    if not parts.is_open[before]:
        return 0.0
    log = parts.totals[c, S] + parts.trailing[S | L] - parts.trailing[before]
    return float(np.exp(log)) if log > _LEAST else 0.0


@lean_kernel
def meet(g: Scored, met: GroupsMet, members: int, log: float) -> None:
    """Note a component of the graph, with its log weight."""
    key = group_key(g, members)
    at = place_in(met.known, key)
    k = met.size[0]
    if met.known[at] == key or k == met.keys.size:
        return
    met.known[at] = key
    met.keys[k] = key
    met.logs[k] = log
    for v in range(g.A.shape[0]):
        if members >> v & 1:
            met.columns[k, v] = parents_in(g, v)
    met.size[0] += 1


@lean_kernel
def insist(g: Scored, met: GroupsMet, members: int) -> None:
    """Let a component of the graph that was noted become a part whatever its outlook."""
    key = group_key(g, members)
    for k in range(met.size[0]):
        if met.keys[k] == key:
            met.must[k] = 1


@lean_kernel
def parents_in(g: Scored, v: int) -> int:
    """The parents of a node of the graph."""
    parents = 0
    for i in range(g.A.shape[0]):
        if g.A[i, v]:
            parents |= 1 << i
    return parents


@lean_kernel
def group_key(g: Scored, members: int) -> np.uint64:
    """The key of a component of the graph."""
    key = np.uint64(0)
    for v in range(g.A.shape[0]):
        if members >> v & 1:
            key ^= column_key(g, v)
    return key
