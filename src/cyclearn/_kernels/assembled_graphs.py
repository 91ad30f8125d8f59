"""Proposals of a whole graph, assembled from known components.

A *part* is a component together with the columns of its nodes. The parts of a graph can usually be
put in several orders in which each part comes after its outside parents. Parts are drawn from the
last to the first, so a graph G is drawn in proportion to π(G) times the number of its orders.
Graphs with many edges or large components have few orders. The *tilts* give their parts more
weight, so that a graph is drawn in proportion to π(G) s(G); the *surplus* s(G) is the number of
orders times the exponential of the tilts. Between two graphs made of parts, a proposal is accepted
with probability min(1, s(G) / s(H)). This gives detailed balance, whatever the tilts are:
π(G) q(H) a(G → H) ∝ π(G) π(H) min(s(G), s(H)). From any other graph nothing is proposed.

A set of nodes is stored as the bits of an integer. Weights are stored as logarithms because they
span thousands of powers of e.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cyclearn._kernels.compilation import kernel, lean_kernel
from cyclearn._kernels.component_scores import (
    Floats,
    Ints,
    Keys,
    Scored,
    column_key,
    component_value,
    parents_of,
)
from cyclearn._kernels.proposals import Walk, toggle, uniform


class Parts(NamedTuple):
    """Components from which graphs are assembled, fixed while a chain runs.

    By node set c: ``sets[c]`` is the set of its nodes; its parts are ``starts[c]`` to
    ``starts[c + 1]``, the most probable first; ``totals[c, S]`` is the log weight of those parts
    whose outside parents all lie in S. By part: ``outside`` are its outside parents, ``logs`` its
    tilted log weight, ``columns`` the parents of every node. ``tilts`` are the log weights that a
    part gets for each node beyond the first and for each edge. ``leading[S]`` is the log of the sum
    over all orders of parts with the nodes S. ``table`` has the keys of all parts.
    """

    sets: Ints
    starts: Ints
    totals: Floats
    outside: Ints
    logs: Floats
    columns: Ints
    tilts: Floats
    leading: Floats
    table: Keys


class LoopsMet(NamedTuple):
    """Components of several nodes that a chain visited; ``size[0]`` counts them, up to a maximum.

    ``keys`` are their keys, which are also in the ``table``; the other arrays are the parents of
    every node (zero for nodes outside the component) and the log weights.
    """

    size: Ints
    keys: Keys
    columns: Ints
    logs: Floats
    table: Keys


@kernel
def part_values(g: Scored, sets: Ints, columns: Ints) -> Floats:
    """The values of parts, given the nodes and the columns of each; ``g.A`` is overwritten."""
    p = g.A.shape[0]
    values = np.empty(sets.size)
    room = np.empty(p, np.int64)
    for e in range(sets.size):
        size = 0
        for v in range(p):
            if sets[e] >> v & 1:
                room[size] = v
                size += 1
                for i in range(p):
                    g.A[i, v] = columns[e, v] >> i & 1
        nodes = room[:size].copy()
        offsets, parents = parents_of(g, nodes)
        values[e] = component_value(g, nodes, offsets, parents)
    return values


@kernel
def table_of(keys: Keys) -> Keys:
    """A table of the keys; at least half of its places are empty."""
    size = 2
    while size < 2 * keys.size:
        size *= 2
    table = np.zeros(size, np.uint64)
    for key in keys:
        table[_place_in(table, key)] = key
    return table


@lean_kernel
def _place_in(table: Keys, key: np.uint64) -> int:
    """The place of a key in the table, or the empty place where it belongs."""
    mask = table.size - 1
    at = int(np.int64(key & np.uint64(mask)))
    while table[at] != 0 and table[at] != key:
        at = (at + 1) & mask
    return at


@kernel
def sum_parts(parts: Parts) -> None:
    """Fill ``totals`` and ``leading``."""
    n_sets, n_all = parts.totals.shape
    for c in range(n_sets):
        for S in range(n_all):
            parts.totals[c, S] = -np.inf
        for e in range(parts.starts[c], parts.starts[c + 1]):
            S = parts.outside[e]
            parts.totals[c, S] = np.logaddexp(parts.totals[c, S], parts.logs[e])
        bit = 1
        while bit < n_all:
            for S in range(n_all):
                # Nodes of the part itself are never among those before it.
                is_before = S & bit and S & parts.sets[c] == 0
                if is_before and parts.totals[c, S ^ bit] > -np.inf:
                    total = np.logaddexp(parts.totals[c, S], parts.totals[c, S ^ bit])
                    parts.totals[c, S] = total
            bit *= 2
    parts.leading[0] = 0.0
    for S in range(1, n_all):
        parts.leading[S] = -np.inf
        for c in range(n_sets):
            if parts.sets[c] & ~S == 0:
                before = S & ~parts.sets[c]
                log = parts.leading[before] + parts.totals[c, before]
                parts.leading[S] = np.logaddexp(parts.leading[S], log)


@kernel
def part_shares(parts: Parts) -> Floats:
    """The share of drawn graphs that have each part, as logarithms with a constant added."""
    n_sets, n_all = parts.totals.shape
    shares = np.empty(parts.logs.size)
    # Over all orders of the nodes that are not in S, after those in S.
    trailing = np.full(n_all, -np.inf)
    trailing[n_all - 1] = 0.0
    for S in range(n_all - 2, -1, -1):
        for c in range(n_sets):
            if parts.sets[c] & S == 0:
                log = parts.totals[c, S] + trailing[S | parts.sets[c]]
                trailing[S] = np.logaddexp(trailing[S], log)
    around = np.empty(n_all)
    for c in range(n_sets):
        for S in range(n_all):
            around[S] = -np.inf
            if parts.sets[c] & S == 0:
                around[S] = parts.leading[S] + trailing[S | parts.sets[c]]
        bit = 1
        while bit < n_all:
            for S in range(n_all):
                if not S & bit and around[S | bit] > -np.inf:
                    around[S] = np.logaddexp(around[S], around[S | bit])
            bit *= 2
        for e in range(parts.starts[c], parts.starts[c + 1]):
            shares[e] = parts.logs[e] + around[parts.outside[e]]
    return shares


@lean_kernel
def _drawn_set(state: Keys, parts: Parts, S: int) -> int:
    """Draw the node set of the last part of S."""
    u = uniform(state)
    found = -1
    for c in range(parts.sets.size):
        if parts.sets[c] & ~S == 0:
            before = S & ~parts.sets[c]
            share = np.exp(parts.leading[before] + parts.totals[c, before] - parts.leading[S])
            if share > 0.0:
                found = c
                u -= share
                if u < 0.0:
                    break
    return found


@lean_kernel
def _drawn_part(state: Keys, parts: Parts, c: int, before: int) -> int:
    """Draw a part of node set c whose outside parents are among those before it."""
    u = uniform(state)
    found = -1
    for e in range(parts.starts[c], parts.starts[c + 1]):
        if parts.outside[e] & ~before == 0:
            found = e
            u -= np.exp(parts.logs[e] - parts.totals[c, before])
            if u < 0.0:
                break
    return found


@lean_kernel
def draw_graph(state: Keys, parts: Parts, columns: Ints) -> None:
    """Write the columns of a graph drawn in proportion to π times its surplus."""
    S = parts.leading.size - 1
    while S != 0:
        c = _drawn_set(state, parts, S)
        S &= ~parts.sets[c]
        e = _drawn_part(state, parts, c, S)
        for v in range(columns.size):
            if parts.sets[c] >> v & 1:
                columns[v] = parts.columns[e, v]


@kernel
def log_orders(columns: Ints) -> tuple[float, int]:
    """The number of orders of the components of a graph, as a logarithm, and how many there are.

    In an order each component comes after its outside parents.
    """
    p = columns.size
    reach = columns.copy()
    for k in range(p):
        for v in range(p):
            if reach[v] >> k & 1:
                reach[v] |= reach[k]
    # By component: its nodes, and all nodes that come before it.
    nodes = np.zeros(p, np.int64)
    above = np.zeros(p, np.int64)
    n = 0
    for v in range(p):
        members = 1 << v
        for u in range(p):
            if reach[v] >> u & 1 and reach[u] >> v & 1:
                members |= 1 << u
        if members & ((1 << v) - 1) == 0:
            nodes[n], above[n] = members, reach[v] & ~members
            n += 1
    full = (1 << p) - 1
    counts = np.zeros(full + 1)
    counts[0] = 1.0
    for S in range(full):
        if counts[S] > 0.0:
            for c in range(n):
                if nodes[c] & S == 0 and above[c] & ~S == 0:
                    counts[S | nodes[c]] += counts[S]
    return float(np.log(counts[full])), n


@kernel
def log_surplus(columns: Ints, tilts: Floats) -> float:
    """The log surplus: how much more often a graph is drawn than its probability implies."""
    orders, n_components = log_orders(columns)
    n_edges = 0
    for column in columns:
        while column:
            column &= column - 1
            n_edges += 1
    return float(orders + tilts[0] * (columns.size - n_components) + tilts[1] * n_edges)


@lean_kernel
def _is_of_parts(g: Scored, walk: Walk, parts: Parts) -> bool:
    """Whether all components of a walk's graph are parts."""
    for v in range(walk.first.size):
        key = np.uint64(0)
        for u in range(v, walk.first.size):
            if walk.first[u] == v:
                key ^= column_key(g, u)
        if key != 0 and parts.table[_place_in(parts.table, key)] != key:
            return False
    return True


@kernel
def assemble(g: Scored, walk: Walk, parts: Parts, surplus: Floats) -> None:
    """Propose a graph made of parts, to be accepted as it is; the proposal is empty if rejected.

    ``surplus[0]`` is the surplus of the current graph: infinite if the graph is not made of parts,
    and nan if it is not known yet.
    """
    p = g.A.shape[0]
    columns = np.zeros(p, np.int64)
    if np.isnan(surplus[0]):
        for v in range(p):
            for i in range(p):
                columns[v] |= np.int64(g.A[i, v]) << i
        surplus[0] = np.inf
        if _is_of_parts(g, walk, parts):
            surplus[0] = log_surplus(columns, parts.tilts)
    if surplus[0] == np.inf:
        return
    draw_graph(walk.state, parts, columns)
    if np.log(uniform(walk.state)) > surplus[0] - log_surplus(columns, parts.tilts):
        return
    for v in range(p):
        for i in range(p):
            if columns[v] >> i & 1 != g.A[i, v]:
                toggle(walk, i, v)


@lean_kernel
def note_loop(g: Scored, met: LoopsMet, nodes: Ints, log: float) -> None:
    """Store a component of the graph with its log weight."""
    key = np.uint64(0)
    for v in nodes:
        key ^= column_key(g, v)
    at = _place_in(met.table, key)
    k = met.size[0]
    if k == met.keys.size or met.table[at] == key:
        return
    met.table[at] = key
    met.keys[k] = key
    met.logs[k] = log
    for v in nodes:
        for i in range(g.A.shape[0]):
            if g.A[i, v]:
                met.columns[k, v] |= 1 << i
    met.size[0] += 1
