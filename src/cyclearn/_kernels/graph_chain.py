"""A Markov chain over graphs with probability proportional to exp(−(value + penalty·|E|)/T).

The level that a proposal must reach is drawn first, so that most proposals that close a cycle are
refused by the saturated likelihood, without a fit; whether a fit is stable is asked last, of the
few proposals that would be accepted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cyclearn._kernels.admissible_components import Admission, is_admissible
from cyclearn._kernels.annealing import apply_toggles, is_allowed, touched
from cyclearn._kernels.balanced_moves import PairWeights, drawn, propose_balanced
from cyclearn._kernels.compilation import kernel
from cyclearn._kernels.component_scores import (
    Bytes,
    Floats,
    Ints,
    Scored,
    column_key,
    component_value,
    place_of,
    region_values,
    remember,
    saturated_value,
)
from cyclearn._kernels.proposals import MAX_TOGGLES, Walk, uniform


class ChainRules(NamedTuple):
    """What a chain may do.

    ``limits`` are the largest component, the most parents and the most edges; ``kinds`` the
    cumulative chances of the kinds of proposals; ``penalty``, per sample, what an edge costs.
    """

    may_add: Bytes
    may_delete: Bytes
    limits: Ints
    weights: PairWeights
    kinds: Floats
    penalty: float


@kernel
def _node_value(g: Scored, node: int) -> float:
    """The value of a node that is its own component, bit for bit as ``region_values`` finds it.

    Chains share remembered values or not, as there are threads; that must not show.
    """
    key = column_key(g, node)
    place = place_of(g, key)
    if place < 0:
        g.counter[0] += 1
        n = 0
        for i in range(g.A.shape[0]):
            n += int(g.A[i, node])
        parents = np.empty(n, np.int64)
        n = 0
        for i in range(g.A.shape[0]):
            if g.A[i, node]:
                parents[n] = i
                n += 1
        nodes = np.empty(1, np.int64)
        nodes[0] = node
        offsets = np.zeros(2, np.int64)
        offsets[1] = n
        place = remember(g, key, component_value(g, nodes, offsets, parents))
    return float(g.table_values[place])


@kernel
def _settle(walk: Walk, region: Ints, label: Ints, values: Floats) -> None:
    """Make the components of a region those of the walk."""
    leader = np.empty(region.size, np.int64)
    for w in range(region.size):
        leader[w] = -1
    for w in region:
        if leader[label[w]] < 0:
            leader[label[w]] = w
            walk.values[w] = values[label[w]]
        walk.first[w] = leader[label[w]]


@kernel
def _are_admissible(g: Scored, admission: Admission, region: Ints, label: Ints) -> bool:
    """Whether all components of a region of two nodes or more are admissible."""
    n_found = 0
    for w in region:
        n_found = max(n_found, label[w] + 1)
    for c in range(n_found):
        size = 0
        for w in region:
            size += label[w] == c
        if size < 2:
            continue
        nodes = np.empty(size, np.int64)
        k = 0
        for w in region:
            if label[w] == c:
                nodes[k] = w
                k += 1
        if not is_admissible(g, admission, nodes):
            return False
    return True


@kernel
def run_chain(
    g: Scored,
    walk: Walk,
    admission: Admission,
    rules: ChainRules,
    temperature: float,
    n_steps: int,
    occupancy: Ints,
    accepted: Ints,
) -> float:
    """Take ``n_steps`` steps at a temperature per sample; return the change of the score.

    ``occupancy``, shape (2, p, p), grows by the number of steps that each edge was there, and, for
    i < j, that both i → j and j → i were; ``accepted`` by the proposals accepted of each kind.
    With ``n_steps`` zero the walk takes over the graph g.A, and the score itself is returned.
    """
    p = g.A.shape[0]
    label = np.empty(p, np.int64)
    values = np.empty(p)
    since = np.zeros((p, p), np.int64)
    max_component, max_parents, max_edges = rules.limits
    n_edges = 0
    for v in range(p):
        for u in range(p):
            n_edges += int(g.A[u, v])
    change = 0.0
    region = np.arange(p)
    for step in range(-1, n_steps):
        limit = p
        level = np.inf
        cost = rules.penalty * n_edges
        before = 0.0
        added = 0
        kind = 0
        if step >= 0:
            kind = drawn(rules.kinds, uniform(walk.state))
            ratio = propose_balanced(g.A, walk, rules.weights, kind)
            # As many toggles lead back, so proposals with too many are refused both ways.
            if walk.size[0] == 0 or walk.size[0] == MAX_TOGGLES:
                continue
            if not is_allowed(g.A, walk, rules.may_add, rules.may_delete, max_parents):
                continue
            for t in range(walk.size[0]):
                added += -1 if g.A[walk.toggles[t, 0], walk.toggles[t, 1]] else 1
            if n_edges + added > max_edges:
                continue
            cost = rules.penalty * added
            level = temperature * (np.log(ratio) - np.log(uniform(walk.state)))
            region = touched(g.A, walk)
            for w in region:
                if walk.first[w] == w:
                    before += walk.values[w]
            apply_toggles(g.A, walk)
            limit = max_component
            is_bounded = region.size > 1 and max_component > 1
            if is_bounded and cost + saturated_value(g, region) - before > level:
                apply_toggles(g.A, walk)
                continue
        elif n_steps > 0:
            continue
        if region.size == 1:
            label[region[0]] = 0
            values[0] = _node_value(g, region[0])
            after = values[0]
        else:
            after = region_values(g, region, label, values, limit)
        if step >= 0 and not (
            cost + after - before <= level and _are_admissible(g, admission, region, label)
        ):
            apply_toggles(g.A, walk)
            continue
        _settle(walk, region, label, values)
        change += cost + after - before
        if step < 0:
            continue
        n_edges += added
        accepted[kind] += 1
        apply_toggles(g.A, walk)
        for t in range(walk.size[0]):
            _count(g.A, occupancy, since, walk.toggles[t, 0], walk.toggles[t, 1], step)
        apply_toggles(g.A, walk)
    for i in range(p):
        for j in range(i):
            _count(g.A, occupancy, since, i, j, n_steps)
    return change


@kernel
def _count(A: Bytes, occupancy: Ints, since: Ints, i: int, j: int, step: int) -> None:
    """Count the steps since the pair was counted last, for the edges that are there."""
    low, high = min(i, j), max(i, j)
    n = step - since[low, high]
    since[low, high] = step
    if n == 0:
        return
    if A[i, j]:
        occupancy[0, i, j] += n
    if A[j, i]:
        occupancy[0, j, i] += n
    if A[i, j] and A[j, i]:
        occupancy[1, low, high] += n
