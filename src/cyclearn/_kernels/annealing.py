"""Simulated annealing of the edges among a few nodes of a graph.

The score that a proposal must reach is drawn first. The saturated likelihood then rejects most
proposals that close a cycle, without a fit.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from cyclearn._kernels.compilation import kernel, lean_kernel
from cyclearn._kernels.component_scores import (
    OLD,
    Bytes,
    Floats,
    Ints,
    Scored,
    column_key,
    count_edges,
    keep_weights,
    marked,
    place_of,
    region_values,
    remember,
    saturated_value,
)
from cyclearn._kernels.neighbourhood import MoveRules
from cyclearn._kernels.proposals import Walk, new_walk, propose, uniform
from cyclearn._kernels.typed_numbers import FALSE, NONE, ONE, ROUNDING, TRUE, TWO, ZERO

# Reachable from an end of a toggled edge, and leading to one; typed as variables are.
_BOTH = cast(int, np.int64(3))


@lean_kernel
def _mark_reached(A: Bytes, walk: Walk, n: int, backwards: bool, bit: int) -> None:
    """Mark all nodes reachable from the first n nodes of the stack, including these."""
    p = A.shape[0]
    while n > 0:
        n -= 1
        v = walk.stack[n]
        for w in range(p):
            joined = A[w, v] if backwards else A[v, w]
            if joined and not walk.mark[w] & bit:
                walk.mark[w] |= bit
                walk.stack[n] = w
                n += 1


@kernel
def touched(A: Bytes, walk: Walk) -> Ints:
    """The nodes whose components or parents the proposal can change, in ascending order."""
    p = A.shape[0]
    for v in range(p):
        walk.mark[v] = 0
    if walk.size[0] == 1:
        i, j = walk.toggles[0, 0], walk.toggles[0, 1]
        walk.stack[0] = j
        walk.mark[j] = 1
        if walk.first[i] != walk.first[j] and not A[i, j]:
            _mark_reached(A, walk, ONE, FALSE, ONE)
        if walk.mark[i] == 1:
            walk.stack[0] = i
            walk.mark[i] |= 2
            _mark_reached(A, walk, ONE, TRUE, TWO)
        else:
            # No cycle outside the component of j opens or closes.
            for v in range(p):
                walk.mark[v] = 3 if walk.first[v] == walk.first[j] else 0
    else:
        for backwards in (FALSE, TRUE):
            n = ZERO
            bit = TWO if backwards else ONE
            for t in range(walk.size[0]):
                for end in range(2):
                    v = walk.toggles[t, end]
                    if not walk.mark[v] & bit:
                        walk.mark[v] |= bit
                        walk.stack[n] = v
                        n += 1
            _mark_reached(A, walk, n, backwards, bit)
    return marked(walk.mark, _BOTH)


@lean_kernel
def is_allowed(A: Bytes, walk: Walk, may_add: Bytes, may_delete: Bytes, max_parents: int) -> bool:
    for t in range(walk.size[0]):
        i, j = walk.toggles[t, 0], walk.toggles[t, 1]
        if A[i, j]:
            if not may_delete[i, j]:
                return False
        elif not may_add[i, j]:
            return False
    for t in range(walk.size[0]):
        j = walk.toggles[t, 1]
        n_parents = 0
        for i in range(A.shape[0]):
            if A[i, j]:
                n_parents += 1
        for u in range(walk.size[0]):
            if walk.toggles[u, 1] == j:
                n_parents += -1 if A[walk.toggles[u, 0], j] else 1
        if n_parents > max_parents:
            return False
    return True


@lean_kernel
def apply_toggles(A: Bytes, walk: Walk) -> None:
    for t in range(walk.size[0]):
        A[walk.toggles[t, 0], walk.toggles[t, 1]] ^= 1


@lean_kernel
def _node_value(g: Scored, region: Ints, label: Ints, values: Floats) -> float:
    """``region_values`` for a single node, which is its own component before and after."""
    key = column_key(g, region[0])
    place = place_of(g, key)
    if place < 0:
        g.counter[0] += 1
        value = saturated_value(g, region)
        place = remember(g, key, np.inf if value == -np.inf else value)
    if g.warm.weights.shape[0] > 0:
        g.warm.state[region[0]] = OLD
    label[region[0]] = 0
    values[0] = g.table_values[place]
    return float(values[0])


@lean_kernel
def _propose_permitted(
    A: Bytes, walk: Walk, nodes: Ints, rules: MoveRules, n_edges: int
) -> tuple[bool, int]:
    """Whether the rules permit a newly drawn proposal, and how many edges it adds."""
    propose(A, walk, nodes)
    added = 0
    for t in range(walk.size[0]):
        added += -1 if A[walk.toggles[t, 0], walk.toggles[t, 1]] else 1
    is_permitted = (
        walk.size[0] > 0
        and n_edges + added <= rules.max_edges
        and is_allowed(A, walk, rules.may_add, rules.may_delete, rules.max_parents)
    )
    return is_permitted, added


@lean_kernel
def _value_before(walk: Walk, region: Ints) -> float:
    """Sum of the values of the components that make up ``region``."""
    total = 0.0
    for v in region:
        if walk.first[v] == v:
            total += walk.values[v]
    return total


@lean_kernel
def _enter(walk: Walk, region: Ints, label: Ints, values: Floats) -> None:
    """Store the components of a region, by their first nodes, and their values."""
    leader = walk.stack
    for v in region:
        leader[label[v]] = -1
    for v in region:
        if leader[label[v]] < 0:
            leader[label[v]] = v
            walk.values[v] = values[label[v]]
        walk.first[v] = leader[label[v]]


@lean_kernel
def _copy(A: Bytes, to: Bytes) -> None:
    for u in range(A.shape[0]):
        for v in range(A.shape[0]):
            to[u, v] = A[u, v]


@kernel
def _is_turned(g: Scored, walk: Walk) -> bool:
    """Whether the proposal gives the same columns to other nodes; weights then follow them.

    If all nodes are treated alike, such a graph has the same components and the same likelihood, so
    nothing needs to be fitted.
    """
    if walk.size[0] < 2 or g.pooled.matrices.shape[0] > 0:
        return False
    p = g.A.shape[0]
    before = np.zeros(p, np.uint64)
    after = np.zeros(p, np.uint64)
    source = np.full(p, NONE)
    changed = walk.mark
    for v in range(p):
        changed[v] = 0
    for t in range(walk.size[0]):
        changed[walk.toggles[t, 1]] = 1
    for v in range(p):
        if changed[v]:
            for i in range(p):
                if g.A[i, v] or i == v:
                    before[v] ^= g.Z[i, i]
            after[v] = before[v]
    for t in range(walk.size[0]):
        i, j = walk.toggles[t, 0], walk.toggles[t, 1]
        after[j] ^= g.Z[i, i]
    for v in range(p):
        if changed[v]:
            for u in range(p):
                if changed[u] == 1 and before[u] == after[v]:
                    source[v] = u
                    changed[u] = 2
                    break
            if source[v] < 0:
                return False
    warm = g.warm
    for t in range(warm.weights.shape[0]):
        for v in range(p):
            for i in range(p if source[v] >= 0 else 0):
                own = warm.weights[t, v, source[v]]
                entry = -1.0 if i == source[v] else warm.weights[t, i, source[v]]
                warm.found[t, i, v] = -entry / own if own != 0.0 and i != v else 0.0
        for v in range(p):
            for i in range(p if source[v] >= 0 else 0):
                warm.weights[t, i, v] = warm.found[t, i, v]
    return True


@kernel
def anneal(
    g: Scored,
    nodes: Ints,
    rules: MoveRules,
    temperatures: tuple[float, float],
    n_proposals: int,
    max_evaluations: int,
    seed: int,
) -> tuple[float, float, Bytes]:
    """Anneal the edges among ``nodes``.

    ``temperatures``, per sample, are the first and the last of a geometric sequence. At most
    ``max_evaluations`` values are computed. ``g.A`` is left at the last graph. Returns the change
    of score there, the best change, and the graph that has it.
    """
    p = g.A.shape[0]
    walk = new_walk(p, seed)
    label = np.empty(p, np.int64)
    values = np.empty(p)
    n_edges = count_edges(g.A)
    best = g.A.copy()
    best_change = change = 0.0
    cooling = (temperatures[1] / temperatures[0]) ** (1.0 / max(1, n_proposals))
    temperature = temperatures[0]
    # The graph itself comes first: every place that calls the fit takes seconds to compile.
    region = np.arange(p)
    for step in range(-1, n_proposals):
        limit, added = p, 0
        level, cost, before = np.inf, 0.0, 0.0
        if step >= 0:
            if g.counter[0] >= max_evaluations:
                break
            temperature *= cooling
            is_permitted, added = _propose_permitted(g.A, walk, nodes, rules, n_edges)
            if not is_permitted:
                continue
            cost = rules.penalty * added
            level = -temperature * np.log(uniform(walk.state))
            if _is_turned(g, walk):
                apply_toggles(g.A, walk)
                continue
            region = touched(g.A, walk)
            before = _value_before(walk, region)
            apply_toggles(g.A, walk)
            limit = rules.max_component
            # Without cycles, computing the value is cheaper than computing its bound.
            is_bounded = region.size > 1 and limit > 1
            if is_bounded and cost + saturated_value(g, region) - before > level:
                apply_toggles(g.A, walk)
                continue
        if region.size == 1 and g.pooled.matrices.shape[0] == 0:
            after = _node_value(g, region, label, values)
        else:
            after = region_values(g, region, label, values, limit)
        if not cost + after - before <= level:
            apply_toggles(g.A, walk)
            continue
        _enter(walk, region, label, values)
        keep_weights(g, region)
        n_edges += added
        if step >= 0:
            change += cost + after - before
            if change < best_change - ROUNDING:
                best_change = change
                _copy(g.A, best)
    return change, best_change, best
