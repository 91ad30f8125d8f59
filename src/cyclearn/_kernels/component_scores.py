"""Values of components in a search, stored by the columns of the component.

A graph is an array A with ``A[i, j]`` equal to one if i → j. Every possible edge and every node has
a random 64-bit key. The key of a component is the exclusive or of the keys of its nodes and of the
edges into them, so a change of one edge changes it in one operation. Values are stored in a table
of fixed size, in which new entries may replace old ones: a value is the same whenever it is
computed.

Loops are used instead of slices: assignments between slices take longer to compile than all other
code, and a first call must not take that long.
"""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from cyclearn._kernels.compilation import kernel, lean_kernel
from cyclearn._kernels.component_fit import fit_component, node_score
from cyclearn._kernels.shared_weights import (
    Pooled,
    fit_shared_component,
    of_group,
    regressions,
)
from cyclearn._kernels.sphere_steps import cholesky
from cyclearn._kernels.stable_feedback import can_die_out, dies_out_in_all

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]
Keys = NDArray[np.uint64]

# The keys of bounds are the keys of values, changed by this number.
_BOUND = np.uint64(0x9E3779B97F4A7C15)
# Places that a key may take. A search fills little of the table, so few keys collide.
_PROBES = 8
# Fits take 4 to 6 steps (fit_speed.md); this limit ends fits that do not converge.
_MAX_ITERATIONS = cast(int, np.int64(300))


# What is known about a node's weights: nothing new, found by the last fit, or only a start.
OLD, NEW, START = range(3)


class Warm(NamedTuple):
    """Where fits start: at the weights of the current graph of a search.

    ``weights``, of shape (fits, p, p), are those of every group, or those that tables share;
    ``found`` are those of the components fitted last, and ``state`` says for each node what is
    known. Without any weights fits start at zero, and a value does not depend on the current graph
    of the search.
    """

    weights: Floats
    found: Floats
    state: Bytes


class Scored(NamedTuple):
    """A graph and everything that its score depends on.

    Correlations S of every table, shape (tables, p, p), and the ``shares`` of the tables in the
    number of rows. Tables are groups, each with weights of its own, unless ``pooled`` has matrices.
    With matrices the tables of a group share weights, S are covariances on the scale of the group,
    and ``targeted``, shape (tables, p), marks variables that were intervened on. Also the adjacency
    A, the keys Z of edges (off the diagonal) and nodes (on it), the table of stored values,
    ``counter[0]``, the number of values that had to be computed, and the weights from which fits
    start.
    """

    S: Floats
    shares: Floats
    targeted: Bytes
    pooled: Pooled
    A: Bytes
    Z: Keys
    table_keys: Keys
    table_values: Floats
    counter: Ints
    warm: Warm


@lean_kernel
def place_of(g: Scored, key: np.uint64) -> int:
    """The place of a key in the table; −1 if it is not there."""
    mask = g.table_keys.size - 1
    at = np.int64(key & np.uint64(mask))
    for probe in range(_PROBES):
        if g.table_keys[(at + probe) & mask] == key:
            return int((at + probe) & mask)
    return -1


@lean_kernel
def remember(g: Scored, key: np.uint64, value: float) -> int:
    """Store a value, replacing an older one if all its places are taken; return its place."""
    mask = g.table_keys.size - 1
    at = np.int64(key & np.uint64(mask))
    place = at
    for probe in range(_PROBES):
        if g.table_keys[(at + probe) & mask] == 0:
            place = (at + probe) & mask
            break
    g.table_keys[place] = key
    g.table_values[place] = value
    return int(place)


@lean_kernel
def column_of(g: Scored, j: int) -> tuple[np.uint64, int]:
    """Key of one column, node j and the edges into it, and the number of these edges."""
    key = g.Z[j, j]
    n_parents = 0
    for i in range(g.A.shape[0]):
        if g.A[i, j]:
            key ^= g.Z[i, j]
            n_parents += 1
    return np.uint64(key), n_parents


@lean_kernel
def column_key(g: Scored, j: int) -> np.uint64:
    """Key of one column: node j and the edges into it."""
    return column_of(g, j)[0]


@lean_kernel
def count_edges(A: Bytes) -> int:
    """The number of edges of a graph."""
    n_edges = 0
    for i in range(A.shape[0]):
        for j in range(A.shape[0]):
            if A[i, j]:
                n_edges += 1
    return n_edges


@kernel
def marked(mark: Bytes, value: int) -> Ints:
    """The nodes with this mark, in ascending order."""
    n = 0
    for v in range(mark.size):
        if mark[v] == value:
            n += 1
    nodes = np.empty(n, np.int64)
    n = 0
    for v in range(mark.size):
        if mark[v] == value:
            nodes[n] = v
            n += 1
    return nodes


@kernel
def parents_of(g: Scored, nodes: Ints) -> tuple[Ints, Ints]:
    """The parents of all nodes, one node after the other, and where those of each begin and end."""
    p = g.A.shape[0]
    offsets = np.zeros(nodes.size + 1, np.int64)
    for k in range(nodes.size):
        offsets[k + 1] = offsets[k]
        for i in range(p):
            offsets[k + 1] += g.A[i, nodes[k]]
    parents = np.empty(offsets[nodes.size], np.int64)
    e = 0
    for v in nodes:
        for i in range(p):
            if g.A[i, v]:
                parents[e] = i
                e += 1
    return offsets, parents


@kernel
def strong_components(A: Bytes, region: Ints, label: Ints) -> int:
    """Label the strongly connected components among ``region``; return their number.

    Only the labels of nodes of the region are written. Tarjan's algorithm without recursion.
    """
    m = region.size
    index = np.empty(m, np.int64)
    low = np.empty(m, np.int64)
    on_stack = np.zeros(m, np.uint8)
    stack = np.empty(m, np.int64)
    calls = np.empty(m, np.int64)
    position = np.zeros(m, np.int64)
    for v in range(m):
        index[v] = -1
    n_stack = 0
    n_found = 0
    counter = 0
    for root in range(m):
        if index[root] >= 0:
            continue
        n_calls = 1
        calls[0] = root
        while n_calls > 0:
            v = calls[n_calls - 1]
            if index[v] < 0:
                index[v] = low[v] = counter
                counter += 1
                stack[n_stack] = v
                n_stack += 1
                on_stack[v] = 1
            descended = False
            while position[v] < m:
                w = position[v]
                position[v] += 1
                if not A[region[v], region[w]]:
                    continue
                if index[w] < 0:
                    calls[n_calls] = w
                    n_calls += 1
                    descended = True
                    break
                if on_stack[w]:
                    low[v] = min(low[v], index[w])
            if descended:
                continue
            if low[v] == index[v]:
                while True:
                    n_stack -= 1
                    w = stack[n_stack]
                    on_stack[w] = 0
                    label[region[w]] = n_found
                    if w == v:
                        break
                n_found += 1
            n_calls -= 1
            if n_calls > 0:
                above = calls[n_calls - 1]
                low[above] = min(low[above], low[v])
    return n_found


@lean_kernel
def _read_weights(warm: Warm, t: int, nodes: Ints, offsets: Ints, parents: Ints, b: Floats) -> None:
    """Write the known weights of edges into nodes over ``b``, for nodes with known weights."""
    for i in range(nodes.size if t < warm.weights.shape[0] else 0):
        is_known = False
        for e in range(offsets[i], offsets[i + 1]):
            is_known = is_known or warm.weights[t, parents[e], nodes[i]] != 0.0
        if is_known:
            for e in range(offsets[i], offsets[i + 1]):
                b[e] = warm.weights[t, parents[e], nodes[i]]


@lean_kernel
def _note_weights(warm: Warm, t: int, nodes: Ints, offsets: Ints, parents: Ints, b: Floats) -> None:
    """Store the weights of edges into nodes as those of the last fit."""
    for i in range(nodes.size if t < warm.weights.shape[0] else 0):
        warm.state[nodes[i]] = NEW
        for e in range(offsets[i], offsets[i + 1]):
            warm.found[t, parents[e], nodes[i]] = b[e]


@lean_kernel
def keep_weights(g: Scored, region: Ints) -> None:
    """Make the weights of the last fit of the components in ``region`` those of the graph.

    Weights of deleted edges are kept in case the edges return.
    """
    p = g.A.shape[0]
    if g.warm.weights.shape[0] == 0:
        return
    for v in region:
        if g.warm.state[v] == NEW:
            for t in range(g.warm.weights.shape[0]):
                for i in range(p):
                    if g.A[i, v]:
                        g.warm.weights[t, i, v] = g.warm.found[t, i, v]
        g.warm.state[v] = OLD


@kernel
def component_value(g: Scored, nodes: Ints, offsets: Ints, parents: Ints) -> float:
    """Negative log-likelihood per sample of one component, over all tables."""
    is_shared = g.pooled.matrices.shape[0] > 0
    if is_shared:
        for v in nodes:
            if g.pooled.is_special[v]:
                special = 0.0
                for group in range(g.pooled.tables.size - 1):
                    special += _special_value(g, group, nodes, offsets, parents)
                return special
    total = 0.0
    for t in range(1 if is_shared else g.shares.size):
        S = g.pooled.matrices[0] if is_shared else g.S[t]
        share = 1.0 if is_shared else g.shares[t]
        if nodes.size == 1:
            value = node_score(S, nodes[0], parents)
        else:
            # One start: a second one doubled the time of a search and found no more true graphs.
            start = np.zeros(parents.size)
            _read_weights(g.warm, t, nodes, offsets, parents, start)
            fitted = fit_component(S, nodes, offsets, parents, start, 1e-7, _MAX_ITERATIONS)
            _note_weights(g.warm, t, nodes, offsets, parents, fitted[1])
            value = fitted[0]
            unstable = g.pooled.unstable
            if unstable > 0.0 and not can_die_out(nodes, offsets, parents, fitted[1]):
                value += unstable
        total += share * value
    return total


@kernel
def _special_value(g: Scored, group: int, nodes: Ints, offsets: Ints, parents: Ints) -> float:
    """The value, in one group, of a component in which tables differ by more than their rows."""
    pooled = of_group(g.pooled, group)
    shares = g.shares[pooled.tables[group] : pooled.tables[group + 1]]
    targeted = g.targeted[pooled.tables[group] : pooled.tables[group + 1]]
    first = pooled.at[nodes[0]]
    n_terms = pooled.at[nodes[0] + 1] - first
    if nodes.size == 1 and n_terms == 0:
        return 0.0
    if nodes.size == 1 and n_terms == 1:
        S = pooled.matrices[pooled.which[first]]
        return float(pooled.weights[first] * node_score(S, nodes[0], parents))
    regressed = regressions(pooled, nodes, offsets, parents)
    start = 0.5 * regressed
    _read_weights(g.warm, group, nodes, offsets, parents, start)
    value, found = np.inf, start
    # If nothing is known, fit from zero and from whole regressions too. Otherwise 3% of the
    # probability can lie on graphs whose best fit is missed (posterior_interventions.md).
    for s in range(1 if nodes.size == 1 or g.warm.weights.shape[0] > 0 else 3):
        if s > 0:
            start = np.zeros(parents.size) if s == 1 else regressed
        fitted = fit_shared_component(
            pooled, shares, targeted, nodes, offsets, parents, start, 1e-11, _MAX_ITERATIONS
        )
        if fitted[0] < value:
            value, found = fitted[0], fitted[1]
    _note_weights(g.warm, group, nodes, offsets, parents, found)
    if pooled.unstable > 0.0 and not dies_out_in_all(targeted, nodes, offsets, parents, found):
        value += pooled.unstable
    return float(value)


@kernel
def region_values(
    g: Scored, region: Ints, label: Ints, values: Floats, max_component: int
) -> float:
    """Score the components inside ``region``, each given its outside parents.

    Writes the label of every node of the region and the value of every component, its negative
    log-likelihood per sample. Returns the sum of the values; it is infinite if a component is too
    large.
    """
    n_found = strong_components(g.A, region, label)
    ends = np.zeros(n_found + 1, np.int64)
    for v in region:
        ends[label[v] + 1] += 1
    for c in range(n_found):
        if ends[c + 1] > max_component:
            return np.inf
        ends[c + 1] += ends[c]
    by_component = np.empty(region.size, np.int64)
    n_placed = np.zeros(n_found, np.int64)
    for v in region:
        c = label[v]
        by_component[ends[c] + n_placed[c]] = v
        n_placed[c] += 1
    total = 0.0
    for c in range(n_found):
        nodes = by_component[ends[c] : ends[c + 1]]
        key = np.uint64(0)
        for v in nodes:
            key ^= column_key(g, v)
        place = place_of(g, key)
        is_start = False
        if g.warm.weights.shape[0] > 0:
            for v in nodes:
                is_start = nodes.size > 1 and (is_start or g.warm.state[v] == START)
                g.warm.state[v] = OLD
        if place < 0 or is_start:
            g.counter[0] += 1
            offsets, parents = parents_of(g, nodes)
            value = component_value(g, nodes, offsets, parents)
            if place < 0:
                place = remember(g, key, value)
            # The fit found a better maximum than the stored one.
            g.table_values[place] = min(value, g.table_values[place])
        values[c] = g.table_values[place]
        total += values[c]
    return total


@kernel
def saturated_value(g: Scored, region: Ints) -> float:
    """The least value that any edges inside ``region`` could reach, given its outside parents.

    It is ½ log det of the covariance of the region given its outside parents and the variables that
    were intervened on: no graph on the region with these outside parents fits better. This also
    holds if weights are shared: the logarithm of a mean over tables is at least the mean of logs.
    """
    p = g.A.shape[0]
    role = np.zeros(p, np.uint8)
    for v in region:
        role[v] = 2
    order = np.empty(p, np.int64)
    n = 0
    for v in region:
        for i in range(p):
            if g.A[i, v] and role[i] == 0:
                role[i] = 1
                order[n] = i
                n += 1
    n_outside = n
    n += region.size
    L = np.empty((n, n))
    total = 0.0
    for t in range(g.shares.size):
        n_given = n_outside
        for v in region:
            if g.targeted[t, v]:
                order[n_given] = v
                n_given += 1
        m = n_given
        for v in region:
            if not g.targeted[t, v]:
                order[m] = v
                m += 1
        if not cholesky(g.S[t], order, n, L):
            return -np.inf
        half_log_det = 0.0
        for a in range(n_given, n):
            half_log_det += np.log(L[a, a])
        total += g.shares[t] * half_log_det
    return total


@kernel
def stored_bound(g: Scored, region: Ints, key: np.uint64) -> float:
    """The saturated value of a region whose columns have a key, stored beside the values."""
    place = place_of(g, key ^ _BOUND)
    if place < 0:
        place = remember(g, key ^ _BOUND, saturated_value(g, region))
    return float(g.table_values[place])
