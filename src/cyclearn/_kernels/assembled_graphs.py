"""Proposals of a whole graph, drawn from all that can be put together from parts.

Drawn layer by layer, a graph comes up in proportion to its probability. The proposal is then a draw
from the distribution itself, as far as it is on graphs of parts, and is taken whatever it is worth;
from a graph with a component that is no part there is none.

Outside of parts are many graphs with little probability each, among them some that small steps lead
out of only after tens of thousands. A chain that has been outside for long is *lost*: it goes on
from a graph that is drawn. The groups that it met become parts when the round ends, and count from
then on with what they weigh and not with how long a chain was there, which is chance.
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
    component_value,
    parents_of,
)
from cyclearn._kernels.layered_parts import (
    GroupsMet,
    Layers,
    Parts,
    find_next,
    group_key,
    insist,
    lowest,
    place_in,
    weigh_layers,
    weight_with,
)
from cyclearn._kernels.proposals import Walk, toggle, uniform


class Draws(NamedTuple):
    """Columns of graphs drawn from parts for a chain, of which ``n_used[0]`` are used.

    ``n_outside[0]`` are the steps since it was at a graph of parts, zero where it is.
    """

    columns: Ints
    n_used: Ints
    n_outside: Ints


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
def _component_from(walk: Walk, v: int) -> int:
    """The component of which v is the first node, or none."""
    members = 0
    for u in range(v, walk.first.size):
        if walk.first[u] == v:
            members |= 1 << u
    return members


@lean_kernel
def _is_of_parts(g: Scored, walk: Walk, parts: Parts) -> bool:
    """Whether all components of a walk's graph are parts."""
    for v in range(walk.first.size):
        # Single nodes have all parents that are permitted.
        members = _component_from(walk, v)
        if members & (members - 1):
            key = group_key(g, members)
            if parts.known[place_in(parts.known, key)] != key:
                return False
    return True


@lean_kernel
def note_place(g: Scored, walk: Walk, parts: Parts, draws: Draws) -> None:
    """Note whether a chain is at a graph of parts or outside."""
    if _is_of_parts(g, walk, parts):
        draws.n_outside[0] = 0
    elif draws.n_outside[0] == 0:
        draws.n_outside[0] = 1


@lean_kernel
def note_lost(g: Scored, walk: Walk, met: GroupsMet) -> None:
    """Let the groups become parts in which a chain got lost.

    What they promise is an estimate, and may be far too little for two that go together.
    """
    for v in range(walk.first.size):
        members = _component_from(walk, v)
        if members & (members - 1):
            insist(g, met, members)


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
def draw_graphs(state: Keys, parts: Parts, columns: Ints) -> None:
    """Write the columns of graphs of parts, drawn as they are probable.

    Those that have the same nodes so far, with the same last layer, go on together: what may come
    next is weighed once for all of them.
    """
    n, p = columns.shape
    full = (1 << p) - 1
    layers = Layers(
        np.zeros(1, np.int64),
        np.zeros(1, np.int64),
        np.empty(p, np.int64),
        np.empty(parts.size[0], np.int64),
        np.ones(parts.size[0]),
        parts.first.copy(),
        np.arange(full + 1),
    )
    find_next(parts, 0, layers)
    # First layers are weighed already; of these places may be any.
    layers.rest[0] = full
    nodes = np.zeros(n, np.int64)
    last = np.zeros(n, np.int64)
    before = 0
    is_any_left = True
    while is_any_left:
        is_any_left = False
        for k in np.argsort(parts.codes[nodes] + parts.codes[last]):
            S = nodes[k]
            if full == S:
                continue
            if S != 0 and (before != S or last[k] != layers.last[0]):
                layers.last[0] = last[k]
                weigh_layers(parts, S, 1, layers)
            before = S
            layer = _drawn_layer(state, parts, S, layers)
            left = layer
            while left != 0:
                c = _drawn_set(state, parts, S, left, layers)
                e = _drawn_part(state, parts, c, S, layers)
                left &= ~parts.sets[c]
                for v in range(p):
                    if parts.sets[c] >> v & 1:
                        columns[k, v] = parts.columns[e, v]
            nodes[k] = S | layer
            last[k] = layer
            is_any_left = is_any_left or full != nodes[k]


@lean_kernel
def assemble(g: Scored, walk: Walk, parts: Parts, draws: Draws) -> None:
    """Propose another graph of parts, which is to be taken."""
    p = g.A.shape[0]
    if draws.n_used[0] == draws.columns.shape[0]:
        draw_graphs(walk.state, parts, draws.columns)
        draws.n_used[0] = 0
    k = draws.n_used[0]
    draws.n_used[0] += 1
    for v in range(p):
        for i in range(p):
            if draws.columns[k, v] >> i & 1 != g.A[i, v]:
                toggle(walk, i, v)
