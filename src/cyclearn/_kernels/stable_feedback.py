"""Whether the feedback of fitted components dies out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cyclearn._kernels.compilation import kernel
from cyclearn._kernels.sphere_steps import Floats, Ints
from cyclearn.foundation.stability import STABLE_RADIUS

Bytes = NDArray[np.uint8]

_SQUARINGS = 26
# In place of the logarithm of zero: no product of nonzero entries is this small.
_NEVER = 1e6


@kernel
def dies_out(nodes: Ints, offsets: Ints, parents: Ints, coefficients: Floats) -> bool:
    """Whether the eigenvalues of B inside a component have moduli below ``STABLE_RADIUS``."""
    return _is_contraction(_weights(nodes, offsets, parents, coefficients))


@kernel
def _weights(nodes: Ints, offsets: Ints, parents: Ints, coefficients: Floats) -> Floats:
    """B inside the component."""
    k = nodes.size
    B = np.zeros((k, k))
    for a in range(k):
        for e in range(offsets[a], offsets[a + 1]):
            for b in range(k):
                if nodes[b] == parents[e]:
                    B[b, a] = coefficients[e]
    return B


@kernel
def _is_contraction(power: Floats) -> bool:
    """Whether the spectral radius is below ``STABLE_RADIUS``; the matrix is overwritten.

    By Gelfand's formula, the largest absolute row sum of the m-th power is at least the m-th power
    of the radius, and the trace is at most that power times the number of nodes; m is doubled up to
    2²⁵, with the scale stored separately. Most feedback is far from the limit, so a few doublings
    decide.
    """
    k = power.shape[0]
    squared = np.empty((k, k))
    limit = np.log(STABLE_RADIUS)
    log_radius = 0.0
    exponent = 1.0
    for _ in range(_SQUARINGS):
        norm = trace = 0.0
        for a in range(k):
            total = 0.0
            for b in range(k):
                total += abs(power[a, b])
            norm = max(norm, total)
            trace += power[a, a]
        if norm == 0.0:
            return True
        if trace != 0.0 and log_radius + np.log(abs(trace) / k) / exponent > limit:
            return False
        log_radius += np.log(norm) / exponent
        if log_radius < limit:
            return True
        exponent *= 2.0
        for a in range(k):
            for b in range(k):
                power[a, b] /= norm
                squared[a, b] = 0.0
        for a in range(k):
            for c in range(k):
                factor = power[a, c]
                for b in range(k if factor != 0.0 else 0):
                    squared[a, b] += factor * power[c, b]
        power, squared = squared, power
    return False


@kernel
def dies_out_in_all(
    targeted: Bytes, nodes: Ints, offsets: Ints, parents: Ints, coefficients: Floats
) -> bool:
    """Whether feedback dies out in every table, with targets cut off from their parents.

    ``targeted``, of shape (tables, p), marks the variables that were intervened on.
    """
    if not dies_out(nodes, offsets, parents, coefficients):
        return False
    left = np.empty_like(coefficients)
    for table in range(targeted.shape[0]):
        is_cut = False
        for i in range(nodes.size):
            for e in range(offsets[i], offsets[i + 1]):
                left[e] = 0.0 if targeted[table, nodes[i]] else coefficients[e]
            is_cut = is_cut or targeted[table, nodes[i]] != 0
        if is_cut and not dies_out(nodes, offsets, parents, left):
            return False
    return True


@kernel
def can_die_out(nodes: Ints, offsets: Ints, parents: Ints, coefficients: Floats) -> bool:
    """Whether feedback dies out in the component, or after its columns of I − B are permuted.

    Each permutation of the columns is an equivalent graph. In the one whose diagonal has the
    largest product no cycle has a gain above one: reversing it would make the product larger.
    If no cycles share a node, only this graph is stable; otherwise it usually is if any graph is.
    """
    Q = _weights(nodes, offsets, parents, coefficients)
    if _is_contraction(Q.copy()):
        return True
    k = nodes.size
    cost = np.full((k, k), _NEVER)
    for a in range(k):
        for b in range(k):
            Q[b, a] = 1.0 if a == b else -Q[b, a]
            if Q[b, a] != 0.0:
                cost[a, b] = -np.log(abs(Q[b, a]))
    column_at = least_assignment(cost)
    B = np.zeros((k, k))
    for v in range(k):
        a = column_at[v]
        for b in range(k):
            if b != v:
                B[b, v] = -Q[b, a] / Q[v, a]
    return _is_contraction(B)


@kernel
def least_assignment(cost: Floats) -> Ints:
    """The row assigned to each column of a square matrix, with the least total cost.

    The Hungarian method: rows are added one by one along the cheapest alternating path, with
    potentials that keep reduced costs nonnegative. Positions count from one; zero means no row.
    """
    k = cost.shape[0]
    of_row, of_column = np.zeros(k + 1), np.zeros(k + 1)
    row_at = np.zeros(k + 1, np.int64)
    before = np.zeros(k + 1, np.int64)
    least = np.empty(k + 1)
    is_used = np.empty(k + 1, np.uint8)
    for row in range(1, k + 1):
        row_at[0] = row
        at = 0
        for j in range(k + 1):
            least[j] = np.inf
            is_used[j] = 0
        while row_at[at] != 0:
            is_used[at] = 1
            i = row_at[at]
            step = np.inf
            following = 0
            for j in range(1, k + 1):
                if not is_used[j]:
                    reduced = cost[i - 1, j - 1] - of_row[i] - of_column[j]
                    if reduced < least[j]:
                        least[j] = reduced
                        before[j] = at
                    if least[j] < step:
                        step = least[j]
                        following = j
            for j in range(k + 1):
                if is_used[j]:
                    of_row[row_at[j]] += step
                    of_column[j] -= step
                else:
                    least[j] -= step
            at = following
        while at != 0:
            row_at[at] = row_at[before[at]]
            at = before[at]
    return row_at[1:] - 1
