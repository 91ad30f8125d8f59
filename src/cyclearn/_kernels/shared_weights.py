"""Maximum likelihood of one component whose weights are shared by several tables.

Tables differ in the variables that were intervened on. With U the other nodes of a table, the
negative log-likelihood per sample, with noise variances and intercepts profiled out, is

    f = Σᵢ ½ Σₜ wₜ log qᵢᵀ S⁽ᵗ⁾ qᵢ − Σₑ wₑ log|det Q_UU|,    Q = I − B.

The terms t of node i are the sets of rows in which its noise has one variance; with perfect
interventions there is one such set, all rows in which i was not intervened on. f does not change
when a column of Q is scaled. So the columns are free on their supports, including the node's own
entry, and are scaled to length one after every step. Infinite coefficients are ordinary points, at
which the own entry is zero.

A column enters several determinants, so there is no exact step for it. All columns move together,
by Newton steps with the second derivatives, damped until they are downhill and short enough.
Parents outside the component enter only the quadratic forms.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cyclearn._kernels.compilation import kernel, lean_kernel
from cyclearn._kernels.component_fit import (
    AT_INFINITY,
    COLLINEAR,
    CONVERGED,
    FLAT_PIVOT,
    INFINITE_COSINE,
    ITERATION_LIMIT,
    SINGULAR,
    node_coefficients,
)
from cyclearn._kernels.sphere_steps import (
    PIVOT_FLOOR,
    Floats,
    Ints,
    factor_damped,
    inverse,
    solve_factored,
)

Bytes = NDArray[np.uint8]

# A step halved this often is negligible beside coefficients of order one.
_HALVINGS = 30
# A smaller change of the value is rounding: the value is a sum of few terms of order one.
_ROUNDING = 1e-13


class Pooled(NamedTuple):
    """The data that the equations of nodes are fitted to.

    ``matrices``, shape (sets of rows, p, p), are covariances on one scale, the first that of all
    rows. The terms of node i are ``at[i]`` to ``at[i + 1]``; ``which`` is the matrix of a term, and
    its weight is its share of all rows. ``is_special`` marks nodes whose terms are not just the
    first matrix with weight one. Tables ``tables[t]`` to ``tables[t + 1]`` are those of group t,
    with weights of its own: its terms follow those of the groups before it, and with several groups
    all nodes are special. Without matrices, each table is a group, and nothing is shared. A search
    adds ``unstable`` per sample for components whose fit is not stable.
    """

    matrices: Floats
    at: Ints
    which: Ints
    weights: Floats
    is_special: Bytes
    tables: Ints
    unstable: float = 0.0


@kernel
def of_group(pooled: Pooled, group: int) -> Pooled:
    """The terms of one group."""
    p = pooled.matrices.shape[1]
    return Pooled(
        pooled.matrices,
        pooled.at[group * p : (group + 1) * p + 1],
        pooled.which,
        pooled.weights,
        pooled.is_special,
        pooled.tables,
        pooled.unstable,
    )


class _Component(NamedTuple):
    """The columns: entries ``at[i]`` to ``at[i + 1]``, the parents and then the node itself.

    ``variables`` are their indices, ``rows`` their positions in the component, −1 outside,
    ``owners`` the positions of their columns. ``sets`` are the distinct sets of targets, ``shares``
    their shares of the rows.
    """

    nodes: Ints
    at: Ints
    variables: Ints
    rows: Ints
    owners: Ints
    sets: Bytes
    shares: Floats


@kernel
def _component(
    shares: Floats, targeted: Bytes, nodes: Ints, offsets: Ints, parents: Ints
) -> _Component:
    k = nodes.size
    d = parents.size + k
    at = np.zeros(k + 1, np.int64)
    variables = np.empty(d, np.int64)
    rows = np.empty(d, np.int64)
    owners = np.empty(d, np.int64)
    n = 0
    for i in range(k):
        for e in range(offsets[i], offsets[i + 1] + 1):
            variables[n] = nodes[i] if e == offsets[i + 1] else parents[e]
            owners[n] = i
            rows[n] = -1
            for j in range(k):
                if nodes[j] == variables[n]:
                    rows[n] = j
            n += 1
        at[i + 1] = n
    sets = np.zeros((shares.size, k), np.uint8)
    weights = np.zeros(shares.size)
    n = 0
    for e in range(shares.size):
        found = n
        for a in range(n):
            is_same = True
            for j in range(k):
                if sets[a, j] != targeted[e, nodes[j]]:
                    is_same = False
                    break
            if is_same:
                found = a
                break
        if found == n:
            for j in range(k):
                sets[n, j] = targeted[e, nodes[j]]
            n += 1
        weights[found] += shares[e]
    return _Component(nodes, at, variables, rows, owners, sets[:n], weights[:n])


@lean_kernel
def _inverse(c: _Component, q: Floats, number: int, C: Floats, M: Floats) -> float:
    """Write the inverse of Q for one set of targets, whose columns are cut off; return log|det|."""
    k = c.nodes.size
    for i in range(k):
        for j in range(k):
            C[i, j] = 0.0
        if c.sets[number, i]:
            C[i, i] = 1.0
    for a in range(q.size):
        if c.rows[a] >= 0 and not c.sets[number, c.owners[a]]:
            C[c.rows[a], c.owners[a]] = q[a]
    return inverse(C, M)


@lean_kernel
def _value(pooled: Pooled, c: _Component, q: Floats, C: Floats, M: Floats) -> float:
    total = 0.0
    for i in range(c.nodes.size):
        for t in range(pooled.at[c.nodes[i]], pooled.at[c.nodes[i] + 1]):
            S = pooled.matrices[pooled.which[t]]
            square = 0.0
            for a in range(c.at[i], c.at[i + 1]):
                row = 0.0
                for b in range(c.at[i], c.at[i + 1]):
                    row += S[c.variables[a], c.variables[b]] * q[b]
                square += row * q[a]
            if not square > 0.0:
                return np.inf
            total += 0.5 * pooled.weights[t] * np.log(square)
    for number in range(c.shares.size):
        total -= c.shares[number] * _inverse(c, q, number, C, M)
    return total


@kernel
def _derivatives(
    pooled: Pooled,
    c: _Component,
    q: Floats,
    C: Floats,
    M: Floats,
    gradient: Floats,
    H: Floats,
) -> None:
    """Write the first and second derivatives with respect to all entries of the columns.

    Of the second derivatives only the lower triangle is written: a Newton step needs no more. f is
    flat along a column itself; there H is given curvature, so that steps do not change lengths.
    """
    d = q.size
    row = np.empty(d)
    for a in range(d):
        gradient[a] = 0.0
        for b in range(d):
            H[a, b] = 0.0
    for i in range(c.nodes.size):
        first, last = c.at[i], c.at[i + 1]
        total = 0.0
        for t in range(pooled.at[c.nodes[i]], pooled.at[c.nodes[i] + 1]):
            S = pooled.matrices[pooled.which[t]]
            square = 0.0
            for a in range(first, last):
                row[a] = 0.0
                for b in range(first, last):
                    row[a] += S[c.variables[a], c.variables[b]] * q[b]
                square += row[a] * q[a]
            weight = pooled.weights[t] / square
            total += pooled.weights[t]
            for a in range(first, last):
                gradient[a] += weight * row[a]
                for b in range(first, a + 1):
                    H[a, b] += weight * (
                        S[c.variables[a], c.variables[b]] - 2.0 * row[a] * row[b] / square
                    )
        # The gradient so far is that of the logarithms; its part along the column is their weight.
        for a in range(first, last):
            for b in range(first, a + 1):
                H[a, b] += gradient[a] * gradient[b] / total
    for number in range(c.shares.size):
        share = c.shares[number]
        _inverse(c, q, number, C, M)
        for a in range(d):
            i, r = c.owners[a], c.rows[a]
            if r < 0 or c.sets[number, i]:
                continue
            gradient[a] -= share * M[i, r]
            for j in range(i + 1):
                factor = 0.0 if c.sets[number, j] else share * M[j, r]
                for b in range(c.at[j], min(c.at[j + 1], a + 1)):
                    if c.rows[b] >= 0:
                        H[a, b] += factor * M[i, c.rows[b]]


@lean_kernel
def _metric(pooled: Pooled, c: _Component, D: Floats) -> None:
    """Write the quadratic forms of the columns, block by block."""
    d = c.variables.size
    for a in range(d):
        for b in range(d):
            D[a, b] = 0.0
            if c.owners[a] == c.owners[b]:
                node = c.nodes[c.owners[a]]
                for t in range(pooled.at[node], pooled.at[node + 1]):
                    S = pooled.matrices[pooled.which[t]]
                    D[a, b] += pooled.weights[t] * S[c.variables[a], c.variables[b]]


@lean_kernel
def _scale(c: _Component, D: Floats, q: Floats) -> None:
    """Scale every column to length one in the metric."""
    for i in range(c.nodes.size):
        square = 0.0
        for a in range(c.at[i], c.at[i + 1]):
            for b in range(c.at[i], c.at[i + 1]):
                square += q[a] * D[a, b] * q[b]
        factor = 1.0 / np.sqrt(square)
        for a in range(c.at[i], c.at[i + 1]):
            q[a] *= factor


@kernel
def regressions(pooled: Pooled, nodes: Ints, offsets: Ints, parents: Ints) -> Floats:
    """The coefficients of each node's regression on its parents.

    From half of them a fit needs fewest steps. It misses the best value of one component in twelve,
    and from zero and the whole coefficients too, one in sixteen; among components whose fit is
    stable, these three starts miss next to none (posterior_interventions.md).
    """
    start = np.zeros(parents.size)
    for i in range(nodes.size):
        if pooled.at[nodes[i] + 1] > pooled.at[nodes[i]]:
            S = pooled.matrices[pooled.which[pooled.at[nodes[i]]]]
            own = parents[offsets[i] : offsets[i + 1]]
            node_coefficients(S, nodes[i], own, start[offsets[i] : offsets[i + 1]])
    return start


@lean_kernel
def _place_start(c: _Component, D: Floats, start: Floats, q: Floats) -> None:
    """Write the columns for the starting coefficients."""
    e = 0
    for i in range(c.nodes.size):
        for a in range(c.at[i], c.at[i + 1] - 1):
            q[a] = -start[e]
            e += 1
        q[c.at[i + 1] - 1] = 1.0
    _scale(c, D, q)


@kernel
def _is_collinear(c: _Component, D: Floats, L: Floats) -> bool:
    """Whether a node is a combination of its parents, up to rounding."""
    for i in range(c.nodes.size):
        own = slice(c.at[i], c.at[i + 1])
        if not factor_damped(D[own, own], D[own, own], 0.0, PIVOT_FLOOR, L[own, own]) > 1e-12:
            return True
    return False


@lean_kernel
def _newton_step(
    H: Floats, D: Floats, gradient: Floats, damping: float, L: Floats, step: Floats
) -> tuple[float, float, float]:
    """Write a step that leads downhill.

    Returns the damping used, the smallest pivot, and twice the gain that the step promises.
    """
    pivot = factor_damped(H, D, damping, PIVOT_FLOOR, L)
    while pivot < 0.0 and damping < 1e12:
        damping = max(4.0 * damping, 1e-3)
        pivot = factor_damped(H, D, damping, PIVOT_FLOOR, L)
    solve_factored(L, gradient, step)
    promised = 0.0
    for a in range(step.size):
        promised -= gradient[a] * step[a]
    return damping, pivot, promised


@lean_kernel
def _go_downhill(
    pooled: Pooled,
    c: _Component,
    q: Floats,
    step: Floats,
    promised: float,
    value: float,
    n_tries: int,
    trial: Floats,
    C: Floats,
    M: Floats,
) -> tuple[float, float]:
    """Halve a step until f has decreased enough; write the point reached into ``trial``.

    Returns the fraction of the step, zero if f decreases nowhere, and the value.
    """
    length = 1.0
    for _ in range(n_tries):
        for a in range(q.size):
            trial[a] = q[a] + length * step[a]
        after = _value(pooled, c, trial, C, M)
        if after <= value - 1e-4 * length * promised + _ROUNDING:
            return length, min(after, value)
        length *= 0.5
    return 0.0, value


@lean_kernel
def _write_coefficients(c: _Component, q: Floats, coefficients: Floats) -> None:
    """Write the coefficients of the edges that the columns imply."""
    e = 0
    for i in range(c.nodes.size):
        last = c.at[i + 1] - 1
        own = q[last] if q[last] != 0.0 else 1e-15
        for a in range(c.at[i], last):
            coefficients[e] = -q[a] / own
            e += 1


@lean_kernel
def _is_at_infinity(c: _Component, D: Floats, q: Floats) -> bool:
    """Whether some own entry is practically zero."""
    for i in range(c.nodes.size):
        last = c.at[i + 1] - 1
        if abs(q[last]) * np.sqrt(D[last, last]) < INFINITE_COSINE:
            return True
    return False


@kernel
def fit_shared_component(
    pooled: Pooled,
    shares: Floats,
    targeted: Bytes,
    nodes: Ints,
    offsets: Ints,
    parents: Ints,
    start: Floats,
    tolerance: float,
    max_iterations: int,
) -> tuple[float, Floats, float, int, int]:
    """Maximum likelihood of one component, or of a single node, over all tables.

    Parameters
    ----------
    pooled : Pooled
    shares : float64 array of shape (tables,)
        The share of each table in all rows.
    targeted : uint8 array of shape (tables, p)
        Whether a variable was intervened on, and so is cut off from its parents.
    nodes, offsets, parents, start
        As in :func:`cyclearn._kernels.component_fit.fit_component`.
    tolerance : float
        Limit on the gain that is left after the last step.
    max_iterations : int

    Returns
    -------
    value, coefficients, gain, iterations, status
        As in ``fit_component``, with the gain in place of the norm of the gradient.
    """
    c = _component(shares, targeted, nodes, offsets, parents)
    k, d = nodes.size, parents.size + nodes.size
    C, M = np.empty((k, k)), np.empty((k, k))
    H, D, L = np.empty((d, d)), np.empty((d, d)), np.empty((d, d))
    q, trial = np.empty(d), np.empty(d)
    gradient, step = np.empty(d), np.empty(d)
    coefficients = np.zeros(parents.size)
    _metric(pooled, c, D)
    if _is_collinear(c, D, L):
        return np.inf, coefficients, np.inf, 0, COLLINEAR
    _place_start(c, D, start, q)
    value = _value(pooled, c, q, C, M)
    if not value < 30.0 * k:
        # det = 0 at the start: use columns without coefficients instead.
        _place_start(c, D, coefficients, q)
        value = _value(pooled, c, q, C, M)
    damping = 0.0
    left = np.inf
    status = ITERATION_LIMIT
    iterations = 0
    while iterations < max_iterations:
        iterations += 1
        _derivatives(pooled, c, q, C, M, gradient, H)
        damping, pivot, promised = _newton_step(H, D, gradient, damping, L, step)
        # Steps without damping converge quadratically.
        left = promised if damping > 0.0 else min(promised, 100.0 * promised * promised)
        is_last = left <= tolerance
        n_tries = 1 if is_last else _HALVINGS
        length, value = _go_downhill(pooled, c, q, step, promised, value, n_tries, trial, C, M)
        if length > 0.0:
            for a in range(d):
                q[a] = trial[a]
            _scale(c, D, q)
        if is_last:
            status = CONVERGED if pivot - damping > FLAT_PIVOT else SINGULAR
            break
        if length == 1.0:
            damping = 0.25 * damping if damping > 1e-6 else 0.0
        if length == 0.0:
            damping = max(16.0 * damping, 1e-3)
    if _is_at_infinity(c, D, q):
        status = AT_INFINITY
    _write_coefficients(c, q, coefficients)
    return value, coefficients, left, iterations, status
