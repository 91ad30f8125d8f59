"""The best neighbour of a graph in a local search, found exactly, scoring only what a move changes.

Neighbours differ by one edge added, deleted or reversed, or by one move of the virtual-edge
operator. A move is a list of toggled entries of A. It changes only the values of the components on
cycles through the toggled edges and of those that gain or lose a parent, so only these are scored.
Additions that close a cycle are the expensive moves: each is first bounded by the saturated
likelihood of the component that it forms, and fitted only if it could still be the best.
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
    column_of,
    count_edges,
    keep_weights,
    marked,
    place_of,
    region_values,
    remember,
    stored_bound,
)
from cyclearn._kernels.parent_sets import (
    COLLINEAR,
    Factor,
    append_parent,
    empty_factor,
    new_factor,
)
from cyclearn._kernels.typed_numbers import ONE, ROUNDING
from cyclearn._kernels.virtual_edges import virtual_edge_moves

# Bits that say which limits excluded a move.
LIMIT_COMPONENT, LIMIT_PARENTS, LIMIT_EDGES = 1, 2, 4

_ADD, _DELETE, _REVERSE = 0, 1, 2


class MoveRules(NamedTuple):
    """Which moves are permitted, and the penalty per edge, per sample.

    Graphs whose keys are ``banned`` are not visited. ``hit[0]`` collects the limits that excluded
    a move, as bits.
    """

    may_add: Bytes
    may_delete: Bytes
    banned: Keys
    penalty: float
    max_component: int
    max_parents: int
    max_edges: int
    hit: Ints


class State(NamedTuple):
    """What is known of the graph from which moves start: paths, components, values, keys.

    ``R[u, v]`` and ``above[v, u]`` are one if a path leads from u to v. ``added[i]`` is the value
    that the node considered last would have with i as an additional parent, infinite if that is not
    known.
    """

    R: Bytes
    above: Bytes
    label: Ints
    values: Floats
    sizes: Ints
    component_keys: Keys
    graph_key: np.uint64
    n_edges: int
    n_parents: Ints
    factor: Factor
    added: Floats


class Moves(NamedTuple):
    """Moves under consideration: toggled entries, penalties for edges, bounds on the change.

    ``is_exact`` marks bounds that equal the change.
    """

    toggles: Ints
    sizes: Ints
    costs: Floats
    bounds: Floats
    is_exact: Bytes


@kernel
def reachability(A: Bytes) -> Bytes:
    """``R[u, v]`` is one if a directed path, possibly without edges, leads from u to v."""
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


@kernel
def state_of(g: Scored, label: Ints, values: Floats) -> State:
    """Paths and keys of the graph, given its components and their values."""
    p = g.A.shape[0]
    sizes = np.zeros(p, np.int64)
    component_keys = np.zeros(p, np.uint64)
    graph_key = np.uint64(0)
    n_parents = np.empty(p, np.int64)
    n_edges = 0
    most = 1
    for j in range(p):
        key, n_parents[j] = column_of(g, j)
        component_keys[label[j]] ^= key
        sizes[label[j]] += 1
        graph_key ^= key ^ g.Z[j, j]
        n_edges += n_parents[j]
        most = max(most, n_parents[j])
    R = reachability(g.A)
    return State(
        R,
        R.T.copy(),
        label,
        values,
        sizes,
        component_keys,
        graph_key,
        n_edges,
        n_parents,
        new_factor(p, most),
        np.empty(p),
    )


@lean_kernel
def _value_additions(g: Scored, state: State, j: int) -> None:
    """The value of node j, a component of its own, with each additional parent: all at once.

    If tables share their weights, or if parents are nearly collinear, nothing is known.
    """
    p = g.A.shape[0]
    f = state.factor
    is_known = g.pooled.matrices.shape[0] == 0
    for i in range(p):
        state.added[i] = 0.0 if is_known and not g.A[i, j] else np.inf
    for t in range(g.shares.size if is_known else 0):
        empty_factor(g.S[t], f, j)
        for i in range(p):
            if g.A[i, j] and is_known:
                is_known = f.left[i] > COLLINEAR
                if is_known:
                    append_parent(g.S[t], f, j, i)
        for i in range(p):
            residual = 0.0
            if is_known and f.left[i] > COLLINEAR:
                residual = f.left[j] - f.joint[i] * f.joint[i] / f.left[i]
            if residual > COLLINEAR:
                state.added[i] += g.shares[t] * 0.5 * np.log(residual)
            else:
                state.added[i] = np.inf
    g.counter[0] += 1


@kernel
def _between(state: State, toggles: Ints, n_toggles: int) -> Ints:
    """Nodes on paths between ends of the toggled edges: all nodes that the move can affect."""
    p = state.label.size
    below = np.zeros(p, np.uint8)
    above = np.zeros(p, np.uint8)
    for t in range(n_toggles):
        for end in toggles[t]:
            for v in range(p):
                below[v] |= state.R[end, v]
                above[v] |= state.above[end, v]
    for v in range(p):
        above[v] &= below[v]
    return marked(above, ONE)


@lean_kernel
def _n_joined(state: State, i: int, j: int) -> int:
    """The number of nodes of the component that i → j closes: those below j and above i."""
    n = 0
    for v in range(state.label.size):
        n += state.R[j, v] & state.above[i, v]
    return n


@kernel
def _value_before(state: State, region: Ints) -> float:
    """Value of the components that make up ``region``, which contains whole components only."""
    total = 0.0
    seen = np.zeros(state.values.size, np.uint8)
    for v in region:
        if not seen[state.label[v]]:
            seen[state.label[v]] = 1
            total += state.values[state.label[v]]
    return total


@lean_kernel
def _is_permitted(g: Scored, state: State, rules: MoveRules, toggles: Ints, n_toggles: int) -> bool:
    """Whether prior knowledge and limits allow the move, and the resulting graph is not banned."""
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
        n_parents = state.n_parents[j]
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


@kernel
def _bound(
    g: Scored, state: State, region: Ints, toggles: Ints, n_toggles: int, is_joined: bool
) -> tuple[float, bool]:
    """The least change of the likelihood that a move inside ``region`` could cause.

    It is exact if the region ``is_joined`` to one component whose value is stored.
    """
    key = np.uint64(0)
    before = 0.0
    seen = np.zeros(state.values.size, np.uint8)
    for v in region:
        c = state.label[v]
        if not seen[c]:
            seen[c] = 1
            key ^= state.component_keys[c]
            before += state.values[c]
    for t in range(n_toggles):
        key ^= g.Z[toggles[t, 0], toggles[t, 1]]
        g.A[toggles[t, 0], toggles[t, 1]] ^= 1
    place = place_of(g, key) if is_joined else -1
    least = g.table_values[place] if place >= 0 else stored_bound(g, region, key)
    for t in range(n_toggles):
        g.A[toggles[t, 0], toggles[t, 1]] ^= 1
    return least - before, place >= 0


@kernel
def _alone(node: int) -> Ints:
    nodes = np.empty(1, np.int64)
    nodes[0] = node
    return nodes


@kernel
def _parent_bound(g: Scored, state: State, toggles: Ints, cost: float) -> tuple[float, bool]:
    """The least change as one component gains or loses a parent, and whether it is exact.

    No cycle opens or closes.
    """
    c = state.label[toggles[0, 1]]
    key = state.component_keys[c] ^ g.Z[toggles[0, 0], toggles[0, 1]]
    place = place_of(g, key)
    is_shared = g.pooled.matrices.shape[0] > 0
    if place < 0 and state.sizes[c] == 1 and not is_shared:
        # If nothing is shared, the bound of a node is its value.
        least, _ = _bound(g, state, _alone(toggles[0, 1]), toggles, ONE, False)
        value = state.values[c] + least
        g.counter[0] += 1
        # A node that its parents determine has no likelihood: the bound −∞ becomes the value ∞.
        place = remember(g, key, np.inf if value == -np.inf else value)
    if place < 0:
        region = _between(state, toggles, ONE)
        return cost + _bound(g, state, region, toggles, ONE, False)[0], False
    return cost + g.table_values[place] - state.values[c], True


@kernel
def _list_edges(g: Scored, state: State, rules: MoveRules, moves: Moves) -> int:
    """List every permitted edge added, deleted or reversed; return their number.

    Additions whose change is known at once are listed only if no earlier one is better; most
    moves are of this kind.
    """
    p = g.A.shape[0]
    n = 0
    least = np.inf
    for operator in (_ADD, _DELETE, _REVERSE):
        if operator == _ADD and state.n_edges >= rules.max_edges:
            rules.hit[0] |= LIMIT_EDGES
            continue
        for j in range(p):
            is_alone = operator == _ADD and state.sizes[state.label[j]] == 1
            if is_alone:
                _value_additions(g, state, j)
            for i in range(p):
                if i == j or (g.A[i, j] == 1) == (operator == _ADD):
                    continue
                is_known = is_alone and state.added[i] != np.inf and not state.R[j, i]
                change = np.inf
                if is_known:
                    if not rules.may_add[i, j]:
                        continue
                    if state.n_parents[j] == rules.max_parents:
                        rules.hit[0] |= LIMIT_PARENTS
                        continue
                    change = rules.penalty + state.added[i] - state.values[state.label[j]]
                    if change > least + ROUNDING:
                        continue
                toggles = moves.toggles[n]
                toggles[0, 0], toggles[0, 1] = i, j
                moves.sizes[n] = 1
                if operator == _REVERSE:
                    if g.A[j, i]:
                        continue
                    toggles[1, 0], toggles[1, 1] = j, i
                    moves.sizes[n] = 2
                if not _is_permitted(g, state, rules, toggles, moves.sizes[n]):
                    continue
                cost = rules.penalty if operator == _ADD else 0.0
                if operator == _DELETE:
                    cost = -rules.penalty
                moves.costs[n] = cost
                moves.is_exact[n] = 0
                closes = operator == _ADD and state.R[j, i] == 1
                if closes and _n_joined(state, i, j) > rules.max_component:
                    rules.hit[0] |= LIMIT_COMPONENT
                    continue
                if operator == _REVERSE or closes or (operator == _DELETE and state.R[j, i] == 1):
                    region = _between(state, toggles, moves.sizes[n])
                    n_toggles = moves.sizes[n]
                    least_change, is_exact = _bound(g, state, region, toggles, n_toggles, closes)
                    moves.bounds[n], moves.is_exact[n] = cost + least_change, is_exact
                elif is_known:
                    least = min(least, change)
                    moves.bounds[n] = change
                    moves.is_exact[n] = 1
                else:
                    moves.bounds[n], moves.is_exact[n] = _parent_bound(g, state, toggles, cost)
                n += 1
    return n


@kernel
def _list_virtual_edges(
    g: Scored, state: State, rules: MoveRules, found: Ints, sizes: Ints, moves: Moves, n: int
) -> int:
    """List the permitted moves of the virtual-edge operator after the first n; return the number.

    Both ends of every toggled edge are in the region of a move, so its outside parents stay the
    same.
    """
    for m in range(sizes.size):
        cost = 0.0
        for t in range(sizes[m]):
            i, j = found[m, t, 0], found[m, t, 1]
            cost += -rules.penalty if g.A[i, j] else rules.penalty
            moves.toggles[n, t, 0], moves.toggles[n, t, 1] = i, j
        toggles = moves.toggles[n]
        if _is_permitted(g, state, rules, toggles, sizes[m]):
            region = _between(state, toggles, sizes[m])
            moves.sizes[n] = sizes[m]
            moves.costs[n] = cost
            moves.bounds[n] = cost + _bound(g, state, region, toggles, sizes[m], False)[0]
            moves.is_exact[n] = 0
            n += 1
    return n


@lean_kernel
def _next_move(moves: Moves, n: int, first: bool) -> int:
    """The move with the smallest bound, or the first that may improve; −1 if there is none.

    If the smallest bound is exact, it is the first move that could change the score as much.
    """
    chosen = -1
    for m in range(n):
        if moves.bounds[m] == np.inf:
            continue
        if first and moves.bounds[m] < -ROUNDING:
            return m
        if chosen < 0 or moves.bounds[m] < moves.bounds[chosen]:
            chosen = m
    if chosen >= 0 and moves.is_exact[chosen]:
        for m in range(chosen):
            # Rounding must not decide between moves.
            if moves.bounds[m] <= moves.bounds[chosen] + ROUNDING:
                return m
    return chosen


@kernel
def best_neighbour(
    g: Scored, rules: MoveRules, max_virtual_cycle: int, first_improvement: bool
) -> tuple[float, Ints]:
    """The permitted move with the smallest change of score per sample.

    ``max_virtual_cycle`` is the largest cycle that a virtual-edge move may form; with zero there
    are no such moves. With ``first_improvement`` the first move that lowers the score is
    returned. Returns the change, infinite without a move, and the toggled entries, shape (n, 2).
    """
    p = g.A.shape[0]
    label = np.empty(p, np.int64)
    values = np.empty(p)
    region: Ints = np.arange(p)
    # The graph itself comes first, then moves while one could still be better than the best known,
    # all in one place: every function that calls the fit takes seconds to compile.
    virtual, virtual_sizes = virtual_edge_moves(g.A, max_virtual_cycle)
    capacity = p * p + count_edges(g.A) + virtual_sizes.size + 1
    moves = Moves(
        np.empty((capacity, virtual.shape[1], 2), np.int64),
        np.empty(capacity, np.int64),
        np.empty(capacity),
        np.empty(capacity),
        np.empty(capacity, np.uint8),
    )
    new_label = np.empty(p, np.int64)
    new_values = np.empty(p)
    n = 0
    m = -1
    while True:
        n_toggles = 0 if m < 0 else moves.sizes[m]
        for t in range(n_toggles):
            g.A[moves.toggles[m, t, 0], moves.toggles[m, t, 1]] ^= 1
        limit = p if m < 0 else rules.max_component
        after = region_values(g, region, new_label, new_values, limit)
        for t in range(n_toggles):
            g.A[moves.toggles[m, t, 0], moves.toggles[m, t, 1]] ^= 1
        if m < 0:
            for v in range(p):
                label[v] = new_label[v]
                values[v] = new_values[v]
            keep_weights(g, region)
            state = state_of(g, label, values)
            n = _list_edges(g, state, rules, moves)
            if max_virtual_cycle > 0:
                n = _list_virtual_edges(g, state, rules, virtual, virtual_sizes, moves, n)
        else:
            moves.bounds[m] = moves.costs[m] + after - _value_before(state, region)
            moves.is_exact[m] = 1
        m = _next_move(moves, n, first_improvement)
        if m < 0:
            return np.inf, np.empty((0, 2), np.int64)
        if moves.is_exact[m]:
            break
        region = _between(state, moves.toggles[m], moves.sizes[m])
    toggles = np.empty((moves.sizes[m], 2), np.int64)
    for t in range(moves.sizes[m]):
        toggles[t, 0], toggles[t, 1] = moves.toggles[m, t, 0], moves.toggles[m, t, 1]
    return moves.bounds[m], toggles
