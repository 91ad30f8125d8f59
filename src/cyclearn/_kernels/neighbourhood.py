"""The best neighbour of a graph in a local search, exactly, at the cost of what each move touches.

Neighbours differ by one edge added, deleted or reversed, or by one move of the virtual-edge
operator. A move is a list of toggled entries of A. Its cost is the change of the values of the
components on cycles through the toggled edges, and of those that gain or lose a parent; nothing
else changes. Additions that close a cycle are the expensive ones: each is first bounded by the
saturated likelihood of the component it makes, and fitted only if it could still be the best.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from cyclearn._kernels.component_scores import (
    Bytes,
    Floats,
    Ints,
    Keys,
    Scored,
    column_key,
    component_value,
    lookup,
    members_of,
    region_value,
    saturated_value,
    strong_components,
)
from cyclearn._kernels.virtual_edges import virtual_edge_moves

# Bits that say which limits kept a move away.
LIMIT_COMPONENT = 1
LIMIT_PARENTS = 2
LIMIT_EDGES = 4

_ADD, _DELETE, _REVERSE = 0, 1, 2
_IMPROVEMENT = -1e-10


class Rules(NamedTuple):
    """Which moves are permitted, and what an edge costs per sample.

    A move that toggles an entry marked in ``tabu`` counts only if its change is below
    ``aspiration``; graphs whose keys are ``banned`` are not entered. ``hit[0]`` collects the limits
    that kept a move away, as bits.
    """

    may_add: Bytes
    may_delete: Bytes
    tabu: Bytes
    aspiration: float
    banned: Keys
    penalty: float
    max_component: int
    max_parents: int
    max_edges: int
    hit: Ints


class State(NamedTuple):
    """What is known of the graph that moves start from: paths, components, values, keys."""

    R: Bytes
    label: Ints
    values: Floats
    component_keys: Keys
    graph_key: np.uint64
    n_edges: int


class Best(NamedTuple):
    """The best move so far: its change in ``delta[0]``, ``size[0]`` toggled entries."""

    delta: Floats
    size: Ints
    toggles: Ints


@njit(cache=True, nogil=True, error_model="numpy")
def reachability(A: Bytes) -> Bytes:
    """``R[u, v]`` is one when a directed path, possibly of no edge, leads from u to v."""
    p = A.shape[0]
    R = np.zeros((p, p), np.uint8)
    stack = np.empty(p, np.int64)
    children = np.empty((p, p), np.int64)
    n_children = np.zeros(p, np.int64)
    for i in range(p):
        for j in range(p):
            if A[i, j]:
                children[i, n_children[i]] = j
                n_children[i] += 1
    for u in range(p):
        R[u, u] = 1
        stack[0] = u
        n = 1
        while n > 0:
            n -= 1
            v = stack[n]
            for c in range(n_children[v]):
                w = children[v, c]
                if not R[u, w]:
                    R[u, w] = 1
                    stack[n] = w
                    n += 1
    return R


@njit(cache=True, nogil=True, error_model="numpy")
def state_of(g: Scored) -> State:
    """Score all components of the graph."""
    p = g.A.shape[0]
    everything = np.arange(p)
    label = np.empty(p, np.int64)
    n_found = strong_components(g.A, everything, label)
    values = np.empty(n_found)
    component_keys = np.zeros(n_found, np.uint64)
    graph_key = np.uint64(0)
    n_edges = 0
    for c in range(n_found):
        values[c] = component_value(g, members_of(label, everything, c))
    for j in range(p):
        key = column_key(g, j)
        component_keys[label[j]] ^= key
        graph_key ^= key ^ g.Z[j, j]
        for i in range(p):
            n_edges += g.A[i, j]
    return State(reachability(g.A), label, values, component_keys, graph_key, n_edges)


@njit(cache=True, nogil=True, error_model="numpy")
def _between(R: Bytes, toggles: Ints, n_toggles: int) -> Ints:
    """Nodes on paths between ends of the toggled edges: all that the move can touch."""
    p = R.shape[0]
    kept = np.zeros(p, np.uint8)
    n = 0
    for v in range(p):
        below = False
        above = False
        for t in range(n_toggles):
            for end in range(2):
                below = below or R[toggles[t, end], v] == 1
                above = above or R[v, toggles[t, end]] == 1
        if below and above:
            kept[v] = 1
            n += 1
    region = np.empty(n, np.int64)
    n = 0
    for v in range(p):
        if kept[v]:
            region[n] = v
            n += 1
    return region


@njit(cache=True, nogil=True, error_model="numpy")
def _value_before(state: State, region: Ints) -> float:
    """Value of the components that ``region`` consists of; it holds whole components."""
    total = 0.0
    seen = np.zeros(state.values.size, np.uint8)
    for v in region:
        if not seen[state.label[v]]:
            seen[state.label[v]] = 1
            total += state.values[state.label[v]]
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def move_delta(g: Scored, state: State, toggles: Ints, n_toggles: int, max_component: int) -> float:
    """Change of the negative log-likelihood per sample by a move; A is left as it was."""
    region = _between(state.R, toggles, n_toggles)
    before = _value_before(state, region)
    for t in range(n_toggles):
        g.A[toggles[t, 0], toggles[t, 1]] ^= 1
    after = region_value(g, region, max_component)
    for t in range(n_toggles):
        g.A[toggles[t, 0], toggles[t, 1]] ^= 1
    return after - before


@njit(cache=True, nogil=True, error_model="numpy")
def _parent_delta(g: Scored, state: State, i: int, j: int) -> float:
    """Change when i → j comes or goes without a cycle opening or closing: one component's."""
    c = state.label[j]
    value = lookup(g, state.component_keys[c] ^ g.Z[i, j])
    if np.isnan(value):
        nodes = members_of(state.label, np.arange(g.A.shape[0]), c)
        g.A[i, j] ^= 1
        value = component_value(g, nodes)
        g.A[i, j] ^= 1
    return value - state.values[c]


@njit(cache=True, nogil=True, error_model="numpy")
def _is_permitted(g: Scored, state: State, rules: Rules, toggles: Ints, n_toggles: int) -> bool:
    """Whether knowledge and limits allow the move, and its result was not refused before."""
    key = state.graph_key
    for t in range(n_toggles):
        i, j = toggles[t, 0], toggles[t, 1]
        key ^= g.Z[i, j]
        if g.A[i, j]:
            if not rules.may_delete[i, j]:
                return False
        elif not rules.may_add[i, j]:
            return False
    for t in range(n_toggles):
        j = toggles[t, 1]
        n_parents = 0
        for i in range(g.A.shape[0]):
            n_parents += g.A[i, j]
        for u in range(n_toggles):
            if toggles[u, 1] == j:
                n_parents += -1 if g.A[toggles[u, 0], j] else 1
        if n_parents > rules.max_parents:
            rules.hit[0] |= LIMIT_PARENTS
            return False
    is_banned = False
    for refused in rules.banned:
        is_banned = is_banned or refused == key
    return not is_banned


@njit(cache=True, nogil=True, error_model="numpy")
def _offer(best: Best, rules: Rules, toggles: Ints, n_toggles: int, delta: float) -> None:
    """Keep a move if it is the best so far and not tabu."""
    if not delta < best.delta[0]:
        return
    if not delta < rules.aspiration:
        for t in range(n_toggles):
            if rules.tabu[toggles[t, 0], toggles[t, 1]]:
                return
    best.delta[0] = delta
    best.size[0] = n_toggles
    for t in range(n_toggles):
        best.toggles[t, 0] = toggles[t, 0]
        best.toggles[t, 1] = toggles[t, 1]


@njit(cache=True, nogil=True, error_model="numpy")
def _try_edges(g: Scored, state: State, rules: Rules, best: Best, first: bool) -> None:
    """Offer every single edge added, deleted or reversed."""
    p = g.A.shape[0]
    toggles = np.empty((2, 2), np.int64)
    # Additions that close a cycle wait here with a bound on what they can gain.
    waiting = np.empty((p * p, 2), np.int64)
    bounds = np.empty(p * p)
    n_waiting = 0
    for kind in (_ADD, _DELETE, _REVERSE):
        if kind == _ADD and state.n_edges >= rules.max_edges:
            rules.hit[0] |= LIMIT_EDGES
            continue
        for j in range(p):
            for i in range(p):
                if i == j or (g.A[i, j] == 1) == (kind == _ADD):
                    continue
                toggles[0, 0], toggles[0, 1] = i, j
                n_toggles = 1
                if kind == _REVERSE:
                    if g.A[j, i]:
                        continue
                    toggles[1, 0], toggles[1, 1] = j, i
                    n_toggles = 2
                if not _is_permitted(g, state, rules, toggles, n_toggles):
                    continue
                if kind == _ADD and state.R[j, i]:
                    region = _between(state.R, toggles, 1)
                    if region.size > rules.max_component:
                        rules.hit[0] |= LIMIT_COMPONENT
                        continue
                    gain = _value_before(state, region) - saturated_value(g, region)
                    waiting[n_waiting, 0], waiting[n_waiting, 1] = i, j
                    bounds[n_waiting] = rules.penalty - gain
                    n_waiting += 1
                    continue
                if kind == _ADD:
                    delta = rules.penalty + _parent_delta(g, state, i, j)
                elif kind == _DELETE and state.label[i] != state.label[j]:
                    delta = _parent_delta(g, state, i, j) - rules.penalty
                else:
                    delta = move_delta(g, state, toggles, n_toggles, rules.max_component)
                    delta -= rules.penalty if kind == _DELETE else 0.0
                _offer(best, rules, toggles, n_toggles, delta)
                if first and best.delta[0] < _IMPROVEMENT:
                    return
    for _ in range(n_waiting):
        # The most promising one next; a bound above the best move ends it.
        w = 0
        for other in range(1, n_waiting):
            if bounds[other] < bounds[w]:
                w = other
        if not bounds[w] < best.delta[0]:
            return
        bounds[w] = np.inf
        toggles[0, 0], toggles[0, 1] = waiting[w, 0], waiting[w, 1]
        delta = rules.penalty + move_delta(g, state, toggles, 1, rules.max_component)
        _offer(best, rules, toggles, 1, delta)
        if first and best.delta[0] < _IMPROVEMENT:
            return


@njit(cache=True, nogil=True, error_model="numpy")
def _try_virtual_edges(
    g: Scored, state: State, rules: Rules, best: Best, max_cycle: int, first: bool
) -> None:
    """Offer every move of the virtual-edge operator."""
    moves, sizes = virtual_edge_moves(g.A, max_cycle)
    for m in range(sizes.size):
        toggles = moves[m]
        n_toggles = sizes[m]
        if not _is_permitted(g, state, rules, toggles, n_toggles):
            continue
        cost = 0.0
        for t in range(n_toggles):
            cost += -rules.penalty if g.A[toggles[t, 0], toggles[t, 1]] else rules.penalty
        # Both ends of every toggled edge are in the region, so its outside parents stay.
        region = _between(state.R, toggles, n_toggles)
        gain = _value_before(state, region) - saturated_value(g, region)
        if cost - gain < best.delta[0]:
            delta = cost + move_delta(g, state, toggles, n_toggles, rules.max_component)
            _offer(best, rules, toggles, n_toggles, delta)
            if first and best.delta[0] < _IMPROVEMENT:
                return


@njit(cache=True, nogil=True, error_model="numpy")
def best_neighbour(
    g: Scored, rules: Rules, max_virtual_cycle: int, first_improvement: bool
) -> tuple[float, Ints]:
    """The permitted move with the smallest change of score per sample.

    ``max_virtual_cycle`` is the largest cycle that a virtual-edge move may form, zero for none of
    these moves. With ``first_improvement`` the first move that lowers the score is returned.
    Returns the change, infinite without a move, and the toggled entries, shape (n, 2).
    """
    state = state_of(g)
    delta = np.full(1, np.inf)
    size = np.zeros(1, np.int64)
    best = Best(delta, size, np.empty((2 * max_virtual_cycle + 8, 2), np.int64))
    _try_edges(g, state, rules, best, first_improvement)
    if max_virtual_cycle > 0 and not (first_improvement and delta[0] < _IMPROVEMENT):
        _try_virtual_edges(g, state, rules, best, max_virtual_cycle, first_improvement)
    toggles = np.empty((size[0], 2), np.int64)
    for t in range(size[0]):
        toggles[t, 0], toggles[t, 1] = best.toggles[t, 0], best.toggles[t, 1]
    return delta[0], toggles
