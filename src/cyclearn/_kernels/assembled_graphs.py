"""Proposals of a whole graph, drawn from all that can be put together from parts.

Drawn layer by layer, a graph comes up in proportion to its probability. The proposal is then a draw
from the distribution itself, as far as it is on graphs of parts, and is taken whatever it is worth;
from a graph with a component that is no part there is none.

A group that a chain has met becomes a part when the chain has left it: one that left as soon as it
knows the place would be there too seldom.
"""

from __future__ import annotations

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
from cyclearn._kernels.layered_parts import (
    GroupsMet,
    Layers,
    Parts,
    find_next,
    lowest,
    place_in,
    weigh_layers,
    weight_with,
)
from cyclearn._kernels.proposals import Walk, toggle, uniform


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
def _is_of_parts(g: Scored, walk: Walk, parts: Parts) -> bool:
    """Whether all components of a walk's graph are parts."""
    p = walk.first.size
    for v in range(p):
        # Single nodes have all parents that are permitted.
        n = 0
        key = np.uint64(0)
        for u in range(v, p):
            if walk.first[u] == v:
                n += 1
                key ^= column_key(g, u)
        if n > 1 and parts.known[place_in(parts.known, key)] != key:
            return False
    return True


@lean_kernel
def _drawn_layer(state: Keys, parts: Parts, S: int, layers: Layers) -> int:
    """The next layer after S, after the only last one."""
    rest = layers.rest[0]
    last = parts.codes[S] + parts.codes[layers.last[0]]
    u = uniform(state) * parts.following[last]
    found = 0
    L = 0
    while rest != L:
        L = (L - rest) & rest
        after = parts.following[parts.codes[S | L] + parts.codes[L]]
        weight = layers.weights[layers.place_of[L]] * after
        if weight > 0.0:
            found = L
            u -= weight
            if u < 0.0:
                break
    return found


@lean_kernel
def _drawn_set(state: Keys, parts: Parts, S: int, L: int, layers: Layers) -> int:
    """The node set of the part with the lowest node of a layer, or of what is left of it."""
    u = uniform(state) * layers.weights[layers.place_of[L]]
    found = -1
    c = layers.first_sets[lowest(L)]
    while c >= 0:
        weight = weight_with(parts, S, L, c)
        if weight > 0.0:
            weight *= layers.shares[c] * layers.weights[layers.place_of[L & ~parts.sets[c]]]
        if weight > 0.0:
            found = c
            u -= weight
            if u < 0.0:
                break
        c = layers.next_sets[c]
    return found


@lean_kernel
def _drawn_part(state: Keys, parts: Parts, c: int, S: int, layers: Layers) -> int:
    """One of the parts of node set c with outside parents in S, one of them in the last layer."""
    u = uniform(state) * layers.shares[c]
    found = -1
    e = parts.heads[c]
    while e >= 0:
        outside = parts.outside[e]
        if outside & ~S == 0 and (S == 0 or outside & layers.last[0] != 0):
            found = e
            u -= np.exp(parts.logs[e] - parts.totals[c, S])
            if u < 0.0:
                break
        e = parts.follows[e]
    return found


@kernel
def draw_graph(state: Keys, parts: Parts, columns: Ints) -> None:
    """Write the columns of a graph of parts, drawn as it is probable."""
    p = columns.size
    layers = Layers(
        np.zeros(1, np.int64),
        np.zeros(1, np.int64),
        np.empty(p, np.int64),
        np.empty(parts.size[0], np.int64),
        np.ones(parts.size[0]),
        parts.first.copy(),
        np.arange(1 << p),
    )
    find_next(parts, 0, layers)
    # First layers are weighed already; of these places may be any.
    layers.rest[0] = (1 << p) - 1
    S = 0
    while (1 << p) - 1 != S:
        if S != 0:
            weigh_layers(parts, S, 1, layers)
        layer = _drawn_layer(state, parts, S, layers)
        left = layer
        while left != 0:
            c = _drawn_set(state, parts, S, left, layers)
            e = _drawn_part(state, parts, c, S, layers)
            left &= ~parts.sets[c]
            for v in range(p):
                if parts.sets[c] >> v & 1:
                    columns[v] = parts.columns[e, v]
        S |= layer
        layers.last[0] = layer


@kernel
def assemble(g: Scored, walk: Walk, parts: Parts, met: GroupsMet) -> bool:
    """Propose another graph of parts; whether there is one, which is then to be taken.

    What was noted has been left where all components are parts.
    """
    p = g.A.shape[0]
    if parts.sets.size == 0 or not _is_of_parts(g, walk, parts):
        return False
    met.size[1] = met.size[0]
    columns = np.empty(p, np.int64)
    draw_graph(walk.state, parts, columns)
    for v in range(p):
        for i in range(p):
            if columns[v] >> i & 1 != g.A[i, v]:
                toggle(walk, i, v)
    return True
