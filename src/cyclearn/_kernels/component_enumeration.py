"""The best strongly connected structure on a few nodes, by enumeration of all structures.

A structure is a set of bits: for every node of the component, its possible parents inside it, then
those outside. Sets of one size are enumerated in ascending order, and smaller sets come first, so
that a good structure is known early and the saturated likelihood excludes most of the others.
"""

from __future__ import annotations

import numpy as np

from cyclearn._kernels.compilation import kernel, lean_kernel
from cyclearn._kernels.component_scores import (
    Bytes,
    Ints,
    Keys,
    Scored,
    column_key,
    region_values,
    saturated_value,
)


@lean_kernel
def _place(A: Bytes, component: Ints, sources: Ints, targets: Ints, bits: int) -> None:
    """Write the structure into the columns of the component."""
    for j in component:
        for i in range(A.shape[0]):
            A[i, j] = 0
    for b in range(sources.size):
        A[sources[b], targets[b]] = (bits >> b) & 1


@lean_kernel
def _is_strong(rows: Ints, sources: Ints, targets: Ints, bits: int, n_inside: int, k: int) -> bool:
    """Whether the bits inside connect all k nodes strongly; ``rows`` is a work array."""
    full = (1 << k) - 1
    for backwards in range(2):
        for a in range(k):
            rows[a] = 0
        for b in range(n_inside):
            if (bits >> b) & 1:
                if backwards:
                    rows[targets[b]] |= 1 << sources[b]
                else:
                    rows[sources[b]] |= 1 << targets[b]
        reached = 1
        while True:
            following = reached
            for a in range(k):
                if (reached >> a) & 1:
                    following |= rows[a]
            if following == reached:
                break
            reached = following
        if reached != full:
            return False
    return True


@lean_kernel
def _next_set(bits: int, n_bits: int) -> int:
    """The next larger number with as many bits; after the last, one with over ``n_bits`` bits."""
    if bits == 0:
        return 1 << n_bits
    lowest = bits & -bits
    ripple = bits + lowest
    return ripple | (((bits ^ ripple) // lowest) >> 2)


@lean_kernel
def _has_more_parents(counts: Ints, targets: Ints, bits: int, max_parents: int) -> bool:
    """Whether some node has more parents than permitted; ``counts`` is a work array."""
    for a in range(counts.size):
        counts[a] = 0
    for b in range(targets.size):
        if (bits >> b) & 1:
            counts[targets[b]] += 1
            if counts[targets[b]] > max_parents:
                return True
    return False


@lean_kernel
def _is_banned(g: Scored, component: Ints, banned: Keys) -> bool:
    """Whether the key of the component is among those banned."""
    key = np.uint64(0)
    for v in component:
        key ^= column_key(g, v)
    is_banned = False
    for refused in banned:
        is_banned = is_banned or refused == key
    return is_banned


@kernel
def best_structure(
    g: Scored,
    component: Ints,
    sources: Ints,
    targets: Ints,
    n_inside: int,
    required: int,
    edges: tuple[int, int],
    max_parents: int,
    penalty: float,
    ceiling: float,
    banned: Keys,
) -> tuple[float, int, int, int]:
    """The structure with the least negative log-likelihood + penalty per edge, per sample.

    Bit b means the edge sources[b] → targets[b]; the first ``n_inside`` bits lie inside the
    component. A structure must contain the bits of ``required``, have between ``edges[0]`` and
    ``edges[1]`` edges, and have no ``banned`` key. Structures that cannot score below ``ceiling``
    are skipped. g.A is overwritten. Returns the value, the bits, the number of structures
    enumerated, and the number of these that were scored.
    """
    k = component.size
    n_bits = sources.size
    local = np.zeros(g.A.shape[0], np.int64)
    for a in range(k):
        local[component[a]] = a
    from_node = np.empty(n_bits, np.int64)
    to_node = np.empty(n_bits, np.int64)
    for b in range(n_bits):
        from_node[b] = local[sources[b]]
        to_node[b] = local[targets[b]]
    rows = np.empty(k, np.int64)
    n_parents = np.empty(k, np.int64)
    label = np.empty(g.A.shape[0], np.int64)
    values = np.empty(g.A.shape[0])
    best = ceiling
    best_bits = -1
    n_listed = 0
    n_scored = 0
    for m in range(edges[0], min(edges[1], n_bits) + 1):
        bits = (1 << m) - 1
        while bits < 1 << n_bits:
            current = bits
            bits = _next_set(bits, n_bits)
            n_listed += 1
            if current & required != required:
                continue
            if k > 1 and not _is_strong(rows, from_node, to_node, current, n_inside, k):
                continue
            if _has_more_parents(n_parents, to_node, current, max_parents):
                continue
            _place(g.A, component, sources, targets, current)
            if penalty * m + saturated_value(g, component) >= best:
                continue
            if _is_banned(g, component, banned):
                continue
            n_scored += 1
            value = penalty * m + region_values(g, component, label, values, k)
            if value < best - 1e-12:
                best = value
                best_bits = current
    _place(g.A, component, sources, targets, 0)
    return best, best_bits, n_listed, n_scored
