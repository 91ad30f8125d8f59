"""A Markov chain over graphs with probability proportional to exp(−(value + penalty·|E|)/T).

The value is the sum of the values of the components, each including the cost for its size.

The score that a proposal must reach is drawn first. Components visited before have stored values.
If some component is new, the saturated likelihood then rejects most proposals that close a cycle,
without a fit. Whether a fit is stable is checked last, for the few proposals otherwise accepted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cyclearn._kernels.admissible_components import Admission, is_admissible
from cyclearn._kernels.annealing import apply_toggles, is_allowed, touched
from cyclearn._kernels.assembled_graphs import LoopsMet, Parts, assemble, note_loop
from cyclearn._kernels.balanced_moves import N_KINDS, Jumps, PairWeights, propose_balanced
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
    place_of,
    remember,
    stored_bound,
    strong_components,
)
from cyclearn._kernels.proposals import MAX_TOGGLES, Walk, drawn, uniform

# The last kind of proposals: a graph assembled from known components.
ASSEMBLE = N_KINDS


class ChainRules(NamedTuple):
    """The rules of a chain.

    ``limits`` are the largest size of a component, the maximum number of parents and the maximum
    number of edges. ``kinds`` are the cumulative probabilities of the kinds of proposals,
    ``penalty`` is the penalty per edge, per sample, and ``costs`` the cost of a component, by size.
    Components of several nodes are stored in ``met``, while it has space, with log weights: minus
    the value divided by ``unit``. Components of rejected proposals are stored too if the proposed
    graph's score is worse by at most ``noted_loss``, per sample.
    """

    may_add: Bytes
    may_delete: Bytes
    limits: Ints
    weights: PairWeights
    jumps: Jumps
    parts: Parts
    met: LoopsMet
    kinds: Floats
    penalty: float
    costs: Floats
    unit: float
    noted_loss: float


@kernel
def _members(region: Ints, label: Ints, c: int) -> Ints:
    """The nodes of the region that have a label."""
    size = 0
    for v in region:
        size += label[v] == c
    nodes = np.empty(size, np.int64)
    k = 0
    for v in region:
        if label[v] == c:
            nodes[k] = v
            k += 1
    return nodes


@kernel
def _fitted(g: Scored, region: Ints, label: Ints, c: int, key: np.uint64) -> float:
    """The value of a component that was not visited before."""
    g.counter[0] += 1
    nodes = _members(region, label, c)
    offsets, parents = parents_of(g, nodes)
    return float(g.table_values[remember(g, key, component_value(g, nodes, offsets, parents))])


class _Room(NamedTuple):
    """Work arrays for the components of a region, by component and by node.

    ``label`` is the component of each node; ``sizes``, ``keys`` and ``values`` are those of the
    components. ``same`` is the first node of the same component before the proposal, −1 if it was a
    different component. ``before`` are the sizes of the components before, by their first nodes.
    ``is_changed`` marks the columns that a proposal changes; ``n_edges[0]`` and ``surplus[0]`` are
    those of the graph, see ``assemble``.
    """

    label: Ints
    sizes: Ints
    keys: Keys
    values: Floats
    same: Ints
    before: Ints
    is_changed: Bytes
    n_edges: Ints
    surplus: Floats


@lean_kernel
def _find_components(g: Scored, walk: Walk, region: Ints, room: _Room) -> int:
    """Label the components inside ``region`` and find those that existed before."""
    n_found = 1
    if region.size == 1:
        room.label[region[0]] = 0
    else:
        n_found = strong_components(g.A, region, room.label)
    for c in range(n_found):
        room.sizes[c] = 0
        room.same[c] = -2
        room.keys[c] = np.uint64(0)
    for v in region:
        room.before[walk.first[v]] = 0
    for v in region:
        room.before[walk.first[v]] += 1
        c = room.label[v]
        room.sizes[c] += 1
        if room.same[c] == -2:
            room.same[c] = walk.first[v]
        if room.same[c] != walk.first[v] or room.is_changed[v]:
            room.same[c] = -1
    for c in range(n_found):
        if room.same[c] >= 0 and room.before[room.same[c]] != room.sizes[c]:
            room.same[c] = -1
    return n_found


@lean_kernel
def _region_value(
    g: Scored,
    walk: Walk,
    region: Ints,
    room: _Room,
    costs: Floats,
    max_component: int,
    most: float,
) -> float:
    """Score the components inside ``region``, each given its outside parents.

    Returns the sum of their values, or infinity if it exceeds ``most`` or a component is too
    large.
    """
    n_found = _find_components(g, walk, region, room)
    for v in region:
        if room.same[room.label[v]] < 0:
            room.keys[room.label[v]] ^= column_key(g, v)
    total = 0.0
    for c in range(n_found):
        if room.sizes[c] > max_component:
            return np.inf
        if room.same[c] >= 0:
            room.values[c] = walk.values[room.same[c]]
        else:
            place = place_of(g, room.keys[c])
            if place >= 0:
                room.values[c] = g.table_values[place]
                room.keys[c] = np.uint64(0)
            elif room.sizes[c] == 1:
                room.values[c] = _fitted(g, region, room.label, c, room.keys[c])
                room.keys[c] = np.uint64(0)
            else:
                room.values[c] = _bound(g, region, room.label, c, room.keys[c])
            room.values[c] += costs[room.sizes[c]]
        total += room.values[c]
    for c in range(n_found):
        if room.keys[c] != np.uint64(0):
            if total > most:
                return np.inf
            total -= room.values[c]
            value = _fitted(g, region, room.label, c, room.keys[c])
            room.values[c] = value + costs[room.sizes[c]]
            total += room.values[c]
    # Summed again in order: the last bit must not depend on which values were known.
    total = 0.0
    for c in range(n_found):
        total += room.values[c]
    return total if total <= most else np.inf


@kernel
def _bound(g: Scored, region: Ints, label: Ints, c: int, key: np.uint64) -> float:
    """The saturated value of a component."""
    return stored_bound(g, _members(region, label, c), key)


@lean_kernel
def _settle(walk: Walk, region: Ints, room: _Room) -> None:
    """Make the components of a region the current components of the walk."""
    for v in region:
        room.before[room.label[v]] = -1
    for v in region:
        c = room.label[v]
        if room.before[c] < 0:
            room.before[c] = v
            walk.values[v] = room.values[c]
        walk.first[v] = room.before[c]


@lean_kernel
def _next_new_loop(region: Ints, room: _Room, c: int) -> int:
    """The first component from c on that is new and has two or more nodes, or −1."""
    n_found = 0
    for v in region:
        n_found = max(n_found, room.label[v] + 1)
    while c < n_found:
        if room.sizes[c] > 1 and room.same[c] < 0:
            return c
        c += 1
    return -1


@kernel
def _are_admissible(g: Scored, admission: Admission, region: Ints, room: _Room) -> bool:
    """Whether all new components of two or more nodes in a region are admissible."""
    c = _next_new_loop(region, room, 0)
    while c >= 0:
        if not is_admissible(g, admission, _members(region, room.label, c)):
            return False
        c = _next_new_loop(region, room, c + 1)
    return True


@kernel
def _propose(g: Scored, walk: Walk, rules: ChainRules, room: _Room, kind: int) -> float:
    """Draw a proposal; return the probability of its reverse divided by its own.

    The ratio is infinite for a graph assembled from parts, which is accepted as it is.
    """
    if kind == ASSEMBLE:
        walk.size[0] = 0
        assemble(g, walk, rules.parts, room.surplus)
        return np.inf
    return propose_balanced(g.A, walk, rules.weights, rules.jumps, kind)


@kernel
def _note_loops(g: Scored, rules: ChainRules, region: Ints, room: _Room) -> None:
    """Store the new components of two or more nodes in a region."""
    c = _next_new_loop(region, room, 0)
    while c >= 0:
        nodes = _members(region, room.label, c)
        n_edges = 0
        for v in nodes:
            for i in range(g.A.shape[0]):
                n_edges += int(g.A[i, v])
        note_loop(g, rules.met, nodes, -(room.values[c] + rules.penalty * n_edges) / rules.unit)
        c = _next_new_loop(region, room, c + 1)


@lean_kernel
def _n_added(A: Bytes, walk: Walk) -> int:
    """The number of edges that a proposal adds minus the number that it deletes."""
    added = 0
    for t in range(walk.size[0]):
        added += -1 if A[walk.toggles[t, 0], walk.toggles[t, 1]] else 1
    return added


@kernel
def _take_step(
    g: Scored,
    walk: Walk,
    admission: Admission,
    rules: ChainRules,
    temperature: float,
    room: _Room,
    kind: int,
) -> bool:
    """Draw a proposal of a kind; change the graph if it is accepted; return whether it was."""
    max_component, max_parents, max_edges = rules.limits
    ratio = _propose(g, walk, rules, room, kind)
    # The reverse needs as many toggles, so proposals with too many are rejected both ways.
    if walk.size[0] == 0 or walk.size[0] == MAX_TOGGLES:
        return False
    if not is_allowed(g.A, walk, rules.may_add, rules.may_delete, max_parents):
        return False
    added = _n_added(g.A, walk)
    if room.n_edges[0] + added > max_edges:
        return False
    region = touched(g.A, walk)
    most = -rules.penalty * added
    for w in region:
        if walk.first[w] == w:
            most += walk.values[w]
    notes = rules.met.keys.size > 0 and kind != ASSEMBLE
    noted = most + rules.noted_loss if notes else -np.inf
    most += temperature * (np.log(ratio) - np.log(uniform(walk.state)))
    apply_toggles(g.A, walk)
    for t in range(walk.size[0]):
        room.is_changed[walk.toggles[t, 1]] = 1
    limit = max(most, noted)
    value = _region_value(g, walk, region, room, rules.costs, max_component, limit)
    is_admitted = value < np.inf and _are_admissible(g, admission, region, room)
    for t in range(walk.size[0]):
        room.is_changed[walk.toggles[t, 1]] = 0
    if is_admitted and notes:
        _note_loops(g, rules, region, room)
    is_taken = is_admitted and value <= most
    if is_taken:
        _settle(walk, region, room)
        room.n_edges[0] += added
        room.surplus[0] = np.nan
    else:
        apply_toggles(g.A, walk)
    return is_taken


@kernel
def _room_for(g: Scored) -> _Room:
    """Work arrays for the components of a graph."""
    p = g.A.shape[0]
    room = _Room(
        np.empty(p, np.int64),
        np.empty(p, np.int64),
        np.empty(p, np.uint64),
        np.empty(p),
        np.empty(p, np.int64),
        np.empty(p, np.int64),
        np.zeros(p, np.uint8),
        np.zeros(1, np.int64),
        np.full(1, np.nan),
    )
    for v in range(p):
        for u in range(p):
            room.n_edges[0] += int(g.A[u, v])
    return room


@kernel
def enter(g: Scored, walk: Walk, rules: ChainRules) -> None:
    """Start a walk at the graph g.A."""
    room = _room_for(g)
    region = np.arange(g.A.shape[0])
    for v in region:
        room.is_changed[v] = 1
    _region_value(g, walk, region, room, rules.costs, region.size, np.inf)
    _settle(walk, region, room)


@kernel
def _take_steps(
    g: Scored,
    walk: Walk,
    admission: Admission,
    rules: ChainRules,
    temperature: float,
    n_steps: int,
    occupancy: Ints,
    accepted: Ints,
) -> None:
    """Take ``n_steps`` steps at a temperature per sample, counting edges and storing loops."""
    p = g.A.shape[0]
    room = _room_for(g)
    since = np.zeros((p, p), np.int64)
    for step in range(n_steps):
        kind = drawn(rules.kinds, uniform(walk.state))
        if not _take_step(g, walk, admission, rules, temperature, room, kind):
            continue
        accepted[kind] += 1
        # Count the edges of the graph before the step.
        apply_toggles(g.A, walk)
        for t in range(walk.size[0]):
            _count(g.A, occupancy, since, walk.toggles[t, 0], walk.toggles[t, 1], step)
        apply_toggles(g.A, walk)
    for i in range(p):
        for j in range(i):
            _count(g.A, occupancy, since, i, j, n_steps)


@lean_kernel
def run_chain(
    g: Scored,
    walk: Walk,
    admission: Admission,
    rules: ChainRules,
    temperature: float,
    stride: int,
    occupancy: Ints,
    graphs: Bytes,
    accepted: Ints,
) -> None:
    """Run batches of steps at a temperature per sample, and store a graph every ``stride`` steps.

    ``occupancy``, shape (batches, 2, p, p), is increased by the number of steps of each batch in
    which an edge was present and, for i < j, in which both i → j and j → i were. ``graphs``, shape
    (n, p, p), has equally many from each batch. ``accepted`` is increased by the number of accepted
    proposals of each kind.
    """
    n_batches = occupancy.shape[0]
    n_kept = graphs.shape[0] // n_batches
    for b in range(n_batches):
        for k in range(b * n_kept, (b + 1) * n_kept):
            _take_steps(g, walk, admission, rules, temperature, stride, occupancy[b], accepted)
            for i in range(g.A.shape[0]):
                for j in range(g.A.shape[0]):
                    graphs[k, i, j] = g.A[i, j]


@lean_kernel
def _count(A: Bytes, occupancy: Ints, since: Ints, i: int, j: int, step: int) -> None:
    """Add the steps since the pair was last counted to the counts of the edges present."""
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
