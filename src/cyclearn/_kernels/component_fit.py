"""Maximum likelihood of one strongly connected component, from the covariance alone.

With the noise variances profiled out, the negative log-likelihood per sample is

    f(B) = Σᵢ ½ log sᵢ(bᵢ) − log|det(I − B)|.

Write Q for I − B with column i divided by √sᵢ. Then f = −log|det Q|, and the columns of Q are free
on their supports up to one condition each, qᵢᵀ S qᵢ = 1. Parents outside the component appear only
in this condition, so they are projected out. With a Cholesky factor S = LLᵀ on the support of a
column, qᵢ = L⁻ᵀxᵢ for a unit vector xᵢ. The problem is then to maximise |det Q|, which is linear in
every xᵢ, over a product of spheres.

- The exact block step of Drton, Fox and Wang is xᵢ ← yᵢ/|yᵢ|, yᵢ = L⁻¹(Q⁻¹)ᵢ. It has no
  singular case, and the sign of the determinant is irrelevant.
- Infinite coefficients are ordinary points of the sphere, at which Q has a zero on its diagonal.
  The Newton steps run on the sphere, so they converge there as they do elsewhere.

All functions here can be called from other compiled code. Arrays are copied in loops, entry by
entry: with assignments between slices, numba would also compile their error messages, which takes
longer than compiling everything else.
"""

from __future__ import annotations

import numpy as np

from cyclearn._kernels.compilation import kernel
from cyclearn._kernels.sphere_steps import (
    Columns,
    Floats,
    Ints,
    assemble,
    cholesky,
    gradient_norm_of,
    inverse,
    newton,
    sweep,
)

CONVERGED, SINGULAR, AT_INFINITY, ITERATION_LIMIT, COLLINEAR = range(5)

# The Hessian on the spheres is the identity plus coupling terms of order one, so a pivot is
# small only if two solutions nearly coincide or if the likelihood is flat.
FLAT_PIVOT = 1e-5
# |cos| of the angle to a coefficient vector of infinite length.
INFINITE_COSINE = 1e-5
# Newton steps take over when they would converge in a few steps: usually after two sweeps, or when
# the gradient is small (fit_speed.md: 4 to 6 iterations in all).
_SWEEPS_BEFORE_NEWTON = 2
_NEWTON_GRADIENT = 0.2


@kernel
def node_score(S: Floats, node: int, parents: Ints) -> float:
    """½ log of the least squares residual variance of a node on its parents.

    ``S`` has a unit diagonal. Infinite when the node and its parents are collinear.
    """
    q = parents.size
    if q == 0:
        return float(0.5 * np.log(S[node, node]))
    index = np.empty(q + 1, np.int64)
    for a in range(q):
        index[a] = parents[a]
    index[q] = node
    L = np.empty((q + 1, q + 1))
    if not cholesky(S, index, q + 1, L):
        return np.inf
    return float(np.log(L[q, q]))


@kernel
def node_coefficients(S: Floats, node: int, parents: Ints, coefficients: Floats) -> float:
    """Write the least squares coefficients of a node; return ½ log residual variance."""
    q = parents.size
    index = np.empty(q + 1, np.int64)
    for a in range(q):
        index[a] = parents[a]
    index[q] = node
    L = np.empty((q + 1, q + 1))
    if not cholesky(S, index, q + 1, L):
        for a in range(q):
            coefficients[a] = 0.0
        return np.inf
    for a in range(q - 1, -1, -1):
        total = L[q, a]
        for b in range(a + 1, q):
            total -= L[b, a] * coefficients[b]
        coefficients[a] = total / L[a, a]
    return float(np.log(L[q, q]))


@kernel
def _layout(nodes: Ints, offsets: Ints, parents: Ints) -> tuple[Ints, Ints, Ints, Ints, int]:
    """The place of each column's numbers: inside parents first, the node itself last."""
    k = nodes.size
    at = np.zeros(k + 1, np.int64)
    square_at = np.zeros(k + 1, np.int64)
    rows = np.empty(parents.size + k, np.int64)
    # order lists, column by column, the positions in ``parents``: outside first, then inside.
    order = np.empty(parents.size, np.int64)
    largest = 0
    for i in range(k):
        inside = 0
        outside = 0
        for e in range(offsets[i], offsets[i + 1]):
            local = -1
            for j in range(k):
                if nodes[j] == parents[e]:
                    local = j
                    break
            if local < 0:
                order[offsets[i] + outside] = e
                outside += 1
            else:
                order[offsets[i + 1] - 1 - inside] = e
                rows[at[i] + inside] = local
                inside += 1
        # The inside parents were written backwards into order; reverse their rows to match.
        for a in range(inside // 2):
            b = at[i] + inside - 1 - a
            rows[at[i] + a], rows[b] = rows[b], rows[at[i] + a]
        rows[at[i] + inside] = i
        at[i + 1] = at[i] + inside + 1
        square_at[i + 1] = square_at[i] + (inside + 1) ** 2
        largest = max(largest, inside + outside + 1)
    return at, square_at, rows, order, largest


@kernel
def _prepare(
    S: Floats,
    nodes: Ints,
    offsets: Ints,
    parents: Ints,
    order: Ints,
    start: Floats,
    columns: Columns,
    x: Floats,
    L: Floats,
) -> bool:
    """Factor every column, with outside parents projected out, and compute the starting point.

    Writes Xᵢ = Lᵢ⁻¹ and the unit vectors x of the starting coefficients. Returns false if a node
    and its parents are collinear.
    """
    at, square_at, _, X = columns
    index = np.empty(L.shape[0], np.int64)
    for i in range(nodes.size):
        first = at[i]
        size = at[i + 1] - first
        n_parents = offsets[i + 1] - offsets[i]
        outside = n_parents + 1 - size
        for a in range(n_parents):
            index[a] = parents[order[offsets[i] + a]]
        index[n_parents] = nodes[i]
        if not cholesky(S, index, n_parents + 1, L):
            return False
        norm = 0.0
        for b in range(size):
            total = L[outside + size - 1, outside + b]
            for a in range(b, size - 1):
                weight = start[order[offsets[i] + outside + a]]
                total -= L[outside + a, outside + b] * weight
            x[first + b] = total
            norm += total * total
        norm = 1.0 / np.sqrt(norm)
        for b in range(size):
            x[first + b] *= norm
        square = square_at[i]
        for b in range(size):
            for a in range(size):
                if a < b:
                    X[square + a * size + b] = 0.0
                    continue
                total = 1.0 if a == b else 0.0
                for c in range(b, a):
                    total -= L[outside + a, outside + c] * X[square + c * size + b]
                X[square + a * size + b] = total / L[outside + a, outside + a]
    return True


@kernel
def _coefficients(
    S: Floats,
    nodes: Ints,
    offsets: Ints,
    parents: Ints,
    order: Ints,
    columns: Columns,
    x: Floats,
    L: Floats,
) -> Floats:
    """Coefficients of all edges from the unit vectors; for outside parents by least squares."""
    at, square_at, _, X = columns
    coefficients = np.empty(parents.size)
    index = np.empty(L.shape[0], np.int64)
    for i in range(nodes.size):
        first = at[i]
        size = at[i + 1] - first
        square = square_at[i]
        outside = offsets[i + 1] - offsets[i] + 1 - size
        own = X[square + size * size - 1] * x[first + size - 1]
        if own == 0.0:
            own = 1e-15
        for b in range(size - 1):
            total = 0.0
            for a in range(b, size):
                total += X[square + a * size + b] * x[first + a]
            coefficients[order[offsets[i] + outside + b]] = -total / own
        if outside == 0:
            continue
        for a in range(outside):
            index[a] = parents[order[offsets[i] + a]]
        cholesky(S, index, outside, L)
        for a in range(outside):
            total = S[index[a], nodes[i]]
            for b in range(size - 1):
                e = order[offsets[i] + outside + b]
                total -= S[index[a], parents[e]] * coefficients[e]
            for b in range(a):
                total -= L[a, b] * coefficients[order[offsets[i] + b]]
            coefficients[order[offsets[i] + a]] = total / L[a, a]
        for a in range(outside - 1, -1, -1):
            total = coefficients[order[offsets[i] + a]]
            for b in range(a + 1, outside):
                total -= L[b, a] * coefficients[order[offsets[i] + b]]
            coefficients[order[offsets[i] + a]] = total / L[a, a]
    return coefficients


@kernel
def fit_component(
    S: Floats,
    nodes: Ints,
    offsets: Ints,
    parents: Ints,
    start: Floats,
    tolerance: float,
    max_iterations: int,
) -> tuple[float, Floats, float, int, int]:
    """Maximum likelihood of one component given its outside parents.

    Parameters
    ----------
    S : float64 array of shape (p, p)
        Covariance with a unit diagonal (a correlation matrix).
    nodes : int64 array of shape (k,)
        The nodes of the component, as indices into S.
    offsets : int64 array of shape (k + 1,)
        The parents of ``nodes[i]`` are ``parents[offsets[i]:offsets[i + 1]]``.
    parents : int64 array of shape (m,)
        Parents, inside and outside the component, as indices into S.
    start : float64 array of shape (m,)
        Starting coefficients; those of outside parents are ignored. Not modified.
    tolerance : float
        Largest entry of the gradient, in coordinates in which the curvature is of order one.
    max_iterations : int
        Limit on sweeps and Newton steps together.

    Returns
    -------
    value : float
        Σᵢ ½ log sᵢ − log|det(I − B)| over the component.
    coefficients : float64 array of shape (m,)
    gradient_norm : float
    iterations : int
    status : int
        CONVERGED, SINGULAR (converged where the Hessian is singular), AT_INFINITY
        (converged to coefficients of unbounded length), ITERATION_LIMIT or COLLINEAR.
    """
    k = nodes.size
    at, square_at, rows, order, largest = _layout(nodes, offsets, parents)
    x = np.empty(at[k])
    columns = (at, square_at, rows, np.empty(square_at[k]))
    L = np.empty((largest, largest))
    if not _prepare(S, nodes, offsets, parents, order, start, columns, x, L):
        return np.inf, np.zeros(parents.size), np.inf, 0, COLLINEAR
    C = np.empty((k, k))
    M = np.empty((k, k))
    y = np.empty(largest)
    column = np.empty(largest)
    assemble(columns, x, C)
    value = -inverse(C, M)
    if not value < 30.0 * k:
        # det(I − B) = 0 at the start: nothing is lost by starting from zero coefficients instead,
        # where Q is diagonal.
        _prepare(S, nodes, offsets, parents, order, np.zeros(parents.size), columns, x, L)
        assemble(columns, x, C)
        value = -inverse(C, M)
    gradient_norm = np.inf
    pivot = np.inf
    iterations = 0
    while iterations < max_iterations:
        sweep(columns, x, M, y, column)
        iterations += 1
        assemble(columns, x, C)
        value = -inverse(C, M)
        gradient_norm = gradient_norm_of(columns, x, M, y)
        if gradient_norm <= tolerance:
            break
        if iterations >= _SWEEPS_BEFORE_NEWTON or gradient_norm < _NEWTON_GRADIENT:
            value, gradient_norm, steps, pivot = newton(
                columns, x, M, C, value, gradient_norm, tolerance, max_iterations - iterations
            )
            iterations += steps
            if gradient_norm <= tolerance:
                break
    status = CONVERGED
    if not gradient_norm <= tolerance:
        status = ITERATION_LIMIT
    elif pivot < FLAT_PIVOT:
        status = SINGULAR
    for i in range(k):
        if abs(x[at[i + 1] - 1]) < INFINITE_COSINE:
            status = AT_INFINITY
    coefficients = _coefficients(S, nodes, offsets, parents, order, columns, x, L)
    return value, coefficients, gradient_norm, iterations, status


@kernel
def fit_nodes(S: Floats, nodes: Ints, offsets: Ints, parents: Ints) -> tuple[Floats, Floats]:
    """Least squares of each node on its parents: the fit of an acyclic graph.

    The arrays are those of :func:`fit_component`. Returns the values ½ log sᵢ, shape (k,), and the
    coefficients, shape (m,). A value is infinite if a node and its parents are collinear.
    """
    values = np.empty(nodes.size)
    coefficients = np.empty(parents.size)
    for i in range(nodes.size):
        own = parents[offsets[i] : offsets[i + 1]]
        weights = coefficients[offsets[i] : offsets[i + 1]]
        values[i] = node_coefficients(S, nodes[i], own, weights)
    return values, coefficients
