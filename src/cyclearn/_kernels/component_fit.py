"""Maximum likelihood of one strongly connected component, from the covariance alone.

With the noise variances maximised out, the negative log-likelihood per sample is

    f(B) = Σᵢ ½ log sᵢ(bᵢ) − log|det(I − B)|.

Write Q for I − B with column i divided by √sᵢ. Then f = −log|det Q|, and the columns of Q
are free on their supports up to one condition each, qᵢᵀ S qᵢ = 1. Parents outside the
component enter only that condition, so they are projected out. With a Cholesky factor,
S = LLᵀ on a column, qᵢ = L⁻ᵀxᵢ for a unit vector xᵢ: the problem is to maximise |det Q|,
linear in every xᵢ, over a product of spheres.

- The exact block step of Drton, Fox and Wang is xᵢ ← yᵢ/|yᵢ|, yᵢ = L⁻¹(Q⁻¹)ᵢ: it has no
  singular case, and the sign of the determinant plays no part.
- Coefficients at infinity are the ordinary points of the sphere where Q has a zero on its
  diagonal; the Newton steps run on the sphere, so they converge there as anywhere else.

Everything here can be called from other compiled code.
"""

from __future__ import annotations

import numpy as np
from numba import njit

CONVERGED = 0
SINGULAR = 1
AT_INFINITY = 2
ITERATION_LIMIT = 3
COLLINEAR = 4

# Pivots of a unit-diagonal covariance below this are exact collinearity up to rounding.
_PIVOT_FLOOR = 1e-13
# The Hessian on the spheres is the identity plus coupling terms of order one, so a pivot is
# small only where two solutions meet or where the likelihood is flat.
_FLAT_PIVOT = 1e-5
# |cos| of the angle to a coefficient vector of infinite length.
_INFINITE_COSINE = 1e-5
_SWEEPS_BEFORE_NEWTON = 2
_NEWTON_GRADIENT = 0.2


@njit(cache=True, nogil=True, error_model="numpy")
def _cholesky(S, index, L):
    """Write the Cholesky factor of S[index, index] into L; false when it is singular."""
    for a in range(index.size):
        for b in range(a + 1):
            total = S[index[a], index[b]]
            for c in range(b):
                total -= L[a, c] * L[b, c]
            if a > b:
                L[a, b] = total / L[b, b]
            else:
                if not total > _PIVOT_FLOOR:
                    return False
                L[a, a] = np.sqrt(total)
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def node_score(S, node, parents):
    """½ log of the least squares residual variance of a node on its parents.

    ``S`` has a unit diagonal. Infinite when the node and its parents are collinear.
    """
    q = parents.size
    if q == 0:
        return 0.5 * np.log(S[node, node])
    index = np.empty(q + 1, np.int64)
    index[:q] = parents
    index[q] = node
    L = np.empty((q + 1, q + 1))
    if not _cholesky(S, index, L):
        return np.inf
    return np.log(L[q, q])


@njit(cache=True, nogil=True, error_model="numpy")
def node_coefficients(S, node, parents, coefficients):
    """Write the least squares coefficients of a node; return ½ log residual variance."""
    q = parents.size
    index = np.empty(q + 1, np.int64)
    index[:q] = parents
    index[q] = node
    L = np.empty((q + 1, q + 1))
    if not _cholesky(S, index, L):
        coefficients[:] = 0.0
        return np.inf
    for a in range(q - 1, -1, -1):
        total = L[q, a]
        for b in range(a + 1, q):
            total -= L[b, a] * coefficients[b]
        coefficients[a] = total / L[a, a]
    return np.log(L[q, q])


@njit(cache=True, nogil=True, error_model="numpy")
def _inverse(C, M):
    """Write C⁻¹ into M by Gauss–Jordan with pivoting; destroys C, returns log|det C|."""
    k = C.shape[0]
    for i in range(k):
        for j in range(k):
            M[i, j] = 0.0
        M[i, i] = 1.0
    det = 1.0
    log_det = 0.0
    for c in range(k):
        best = c
        for i in range(c + 1, k):
            if abs(C[i, c]) > abs(C[best, c]):
                best = i
        pivot = C[best, c]
        if pivot == 0.0:
            return -np.inf
        if best != c:
            for j in range(k):
                C[best, j], C[c, j] = C[c, j], C[best, j]
                M[best, j], M[c, j] = M[c, j], M[best, j]
        det *= abs(pivot)
        if det < 1e-200 or det > 1e200:
            log_det += np.log(det)
            det = 1.0
        scale = 1.0 / pivot
        for j in range(c, k):
            C[c, j] *= scale
        for j in range(k):
            M[c, j] *= scale
        for i in range(k):
            if i != c:
                factor = C[i, c]
                if factor != 0.0:
                    for j in range(c, k):
                        C[i, j] -= factor * C[c, j]
                    for j in range(k):
                        M[i, j] -= factor * M[c, j]
    return log_det + np.log(det)


@njit(cache=True, nogil=True, error_model="numpy")
def _assemble(columns, x, C):
    """Write Q into C: column i is Xᵢᵀxᵢ on its support."""
    at, square_at, rows, X = columns
    k = C.shape[0]
    C[:, :] = 0.0
    for i in range(k):
        first = at[i]
        size = at[i + 1] - first
        square = square_at[i]
        for b in range(size):
            total = 0.0
            for a in range(b, size):
                total += X[square + a * size + b] * x[first + a]
            C[rows[first + b], i] = total


@njit(cache=True, nogil=True, error_model="numpy")
def _pull_back(columns, M, i, m, y):
    """Write Xᵢ M[m, rowsᵢ] into y: the derivative of (Q⁻¹)ₘ qᵢ with respect to xᵢ."""
    at, square_at, rows, X = columns
    first = at[i]
    size = at[i + 1] - first
    square = square_at[i]
    for a in range(size):
        total = 0.0
        for b in range(a + 1):
            total += X[square + a * size + b] * M[m, rows[first + b]]
        y[a] = total


@njit(cache=True, nogil=True, error_model="numpy")
def _sweep(columns, x, M, y, column):
    """One exact step for every column in turn, M = Q⁻¹ following by rank-one updates."""
    at, square_at, rows, X = columns
    k = M.shape[0]
    for i in range(k):
        first = at[i]
        size = at[i + 1] - first
        square = square_at[i]
        _pull_back(columns, M, i, i, y)
        norm = 0.0
        for a in range(size):
            norm += y[a] * y[a]
        norm = np.sqrt(norm)
        for a in range(size):
            x[first + a] = y[a] / norm
        for b in range(size):
            total = 0.0
            for a in range(b, size):
                total += X[square + a * size + b] * x[first + a]
            column[b] = total
        for j in range(k):
            M[i, j] /= norm
        for j in range(k):
            if j != i:
                factor = 0.0
                for b in range(size):
                    factor += M[j, rows[first + b]] * column[b]
                if factor != 0.0:
                    for l in range(k):
                        M[j, l] -= factor * M[i, l]


@njit(cache=True, nogil=True, error_model="numpy")
def _gradient_norm(columns, x, M, y):
    """Largest entry of the gradients yᵢ − xᵢ, tangent to the spheres."""
    at = columns[0]
    largest = 0.0
    for i in range(M.shape[0]):
        _pull_back(columns, M, i, i, y)
        for a in range(at[i + 1] - at[i]):
            gap = abs(y[a] - x[at[i] + a])
            if not gap <= largest:
                largest = gap
    return largest


@njit(cache=True, nogil=True, error_model="numpy")
def _to_tangent(x, first, size, y, out):
    """Coordinates of y in the tangent space at x, by the reflection that sends x to ±e_last."""
    last = first + size - 1
    sign = 1.0 if x[last] >= 0.0 else -1.0
    dot = sign * y[size - 1]
    for a in range(size):
        dot += x[first + a] * y[a]
    dot /= 1.0 + sign * x[last]
    for a in range(size - 1):
        out[a] = y[a] - dot * x[first + a]


@njit(cache=True, nogil=True, error_model="numpy")
def _derivatives(columns, x, M, y, T, g, H):
    """Gradient and Hessian of f in orthonormal tangent coordinates of the spheres.

    With z(i, m) the tangent part of Xᵢ M[m, rowsᵢ], block (i, m) of the Hessian is
    z(i, m) z(m, i)ᵀ, plus the identity on the diagonal; the gradient is −z(i, i).
    """
    at = columns[0]
    k = M.shape[0]
    for i in range(k):
        size = at[i + 1] - at[i]
        base = at[i] - i
        for m in range(k):
            _pull_back(columns, M, i, m, y)
            _to_tangent(x, at[i], size, y, T[m, base:])
        for a in range(size - 1):
            g[base + a] = -T[i, base + a]
    for i in range(k):
        for a in range(at[i] - i, at[i + 1] - i - 1):
            for m in range(i + 1):
                for b in range(at[m] - m, at[m + 1] - m - 1):
                    H[a, b] = T[m, a] * T[i, b]
            H[a, a] += 1.0


@njit(cache=True, nogil=True, error_model="numpy")
def _damped_step(H, g, damping, L, step):
    """Solve (H + damping·I) step = −g; return the smallest pivot, negative on failure."""
    N = g.size
    smallest = np.inf
    for a in range(N):
        for b in range(a + 1):
            total = H[a, b]
            if a == b:
                total += damping
            for c in range(b):
                total -= L[a, c] * L[b, c]
            if a > b:
                L[a, b] = total / L[b, b]
            else:
                if not total > 1e-11:
                    return -1.0
                smallest = min(smallest, total)
                L[a, a] = np.sqrt(total)
    for a in range(N):
        total = -g[a]
        for b in range(a):
            total -= L[a, b] * step[b]
        step[a] = total / L[a, a]
    for a in range(N - 1, -1, -1):
        total = step[a]
        for b in range(a + 1, N):
            total -= L[b, a] * step[b]
        step[a] = total / L[a, a]
    return smallest


@njit(cache=True, nogil=True, error_model="numpy")
def _move(columns, x, step, moved):
    """Write into ``moved`` the points of the spheres reached from x along a tangent step."""
    at = columns[0]
    for i in range(at.size - 1):
        first = at[i]
        size = at[i + 1] - first
        last = first + size - 1
        base = first - i
        sign = 1.0 if x[last] >= 0.0 else -1.0
        dot = 0.0
        length = 1.0
        for a in range(size - 1):
            dot += x[first + a] * step[base + a]
            length += step[base + a] * step[base + a]
        dot /= 1.0 + sign * x[last]
        scale = 1.0 / np.sqrt(length)
        for a in range(size - 1):
            tangent = step[base + a] - dot * x[first + a]
            moved[first + a] = scale * (x[first + a] + tangent)
        moved[last] = scale * (x[last] - dot * (sign + x[last]))


@njit(cache=True, nogil=True, error_model="numpy")
def _newton(columns, x, M, C, value, gradient_norm, tolerance, max_steps):
    """Damped Newton steps on the spheres; stops where a step fails to decrease f.

    Moves x and M (kept equal to Q⁻¹). Returns the value, the gradient norm, the number of
    steps and the smallest pivot of the last Hessian (negative when it was not positive).
    """
    k = M.shape[0]
    N = x.size - k
    y = np.empty(x.size)
    T = np.empty((k, N))
    g = np.empty(N)
    H = np.empty((N, N))
    L = np.empty((N, N))
    step = np.empty(N)
    moved = np.empty(x.size)
    M_moved = np.empty((k, k))
    damping = 0.0
    pivot = np.inf
    steps = 0
    while steps < max_steps and gradient_norm > tolerance:
        steps += 1
        _derivatives(columns, x, M, y, T, g, H)
        accepted = False
        usable = _damped_step(H, g, damping, L, step)
        pivot = usable - damping
        for _ in range(12):
            if usable > 0.0:
                _move(columns, x, step, moved)
                _assemble(columns, moved, C)
                moved_value = -_inverse(C, M_moved)
                slack = 1e-14 * (1.0 + abs(value))
                if moved_value <= value + slack:
                    moved_norm = _gradient_norm(columns, moved, M_moved, y)
                    if moved_value < value - slack or moved_norm < gradient_norm:
                        accepted = True
                        break
            damping = max(4.0 * damping, 1e-2)
            usable = _damped_step(H, g, damping, L, step)
        if not accepted:
            break
        x[:] = moved
        M[:, :] = M_moved
        value = moved_value
        gradient_norm = moved_norm
        damping = 0.1 * damping if damping > 1e-3 else 0.0
    return value, gradient_norm, steps, pivot


@njit(cache=True, nogil=True, error_model="numpy")
def _layout(nodes, offsets, parents):
    """Where each column keeps its numbers: inside parents first, the node itself last."""
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
        # The inside parents were written backwards into order; turn their rows to match.
        for a in range(inside // 2):
            b = at[i] + inside - 1 - a
            rows[at[i] + a], rows[b] = rows[b], rows[at[i] + a]
        rows[at[i] + inside] = i
        at[i + 1] = at[i] + inside + 1
        square_at[i + 1] = square_at[i] + (inside + 1) ** 2
        largest = max(largest, inside + outside + 1)
    return at, square_at, rows, order, largest


@njit(cache=True, nogil=True, error_model="numpy")
def _prepare(S, nodes, offsets, parents, order, start, columns, x, L):
    """Factor every column, with outside parents projected out, and place the start.

    Writes Xᵢ = Lᵢ⁻¹ and the unit vectors x of the starting coefficients; false when a node
    and its parents are collinear.
    """
    at, square_at, rows, X = columns
    index = np.empty(L.shape[0], np.int64)
    for i in range(nodes.size):
        first = at[i]
        size = at[i + 1] - first
        n_parents = offsets[i + 1] - offsets[i]
        outside = n_parents + 1 - size
        for a in range(n_parents):
            index[a] = parents[order[offsets[i] + a]]
        index[n_parents] = nodes[i]
        if not _cholesky(S, index[: n_parents + 1], L):
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


@njit(cache=True, nogil=True, error_model="numpy")
def _coefficients(S, nodes, offsets, parents, order, columns, x, L):
    """Coefficients of every edge from the unit vectors, outside parents by least squares."""
    at, square_at, rows, X = columns
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
        _cholesky(S, index[:outside], L)
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


@njit(cache=True, nogil=True, error_model="numpy")
def fit_component(S, nodes, offsets, parents, start, tolerance, max_iterations):
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
        Starting coefficients; those of outside parents are ignored. Not written to.
    tolerance : float
        Largest entry of the gradient, in coordinates where curvature is of order one.
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
    _assemble(columns, x, C)
    value = -_inverse(C, M)
    if not value < 30.0 * k:
        # det(I − B) = 0 at the start: no information on the start is lost by leaving it for
        # zero coefficients, where Q is diagonal.
        _prepare(S, nodes, offsets, parents, order, np.zeros(parents.size), columns, x, L)
        _assemble(columns, x, C)
        value = -_inverse(C, M)
    gradient_norm = np.inf
    pivot = np.inf
    iterations = 0
    while iterations < max_iterations:
        _sweep(columns, x, M, y, column)
        iterations += 1
        _assemble(columns, x, C)
        value = -_inverse(C, M)
        gradient_norm = _gradient_norm(columns, x, M, y)
        if gradient_norm <= tolerance:
            break
        if iterations >= _SWEEPS_BEFORE_NEWTON or gradient_norm < _NEWTON_GRADIENT:
            value, gradient_norm, steps, pivot = _newton(
                columns, x, M, C, value, gradient_norm, tolerance, max_iterations - iterations
            )
            iterations += steps
            if gradient_norm <= tolerance:
                break
    status = CONVERGED
    if not gradient_norm <= tolerance:
        status = ITERATION_LIMIT
    elif pivot < _FLAT_PIVOT:
        status = SINGULAR
    for i in range(k):
        if abs(x[at[i + 1] - 1]) < _INFINITE_COSINE:
            status = AT_INFINITY
    coefficients = _coefficients(S, nodes, offsets, parents, order, columns, x, L)
    return value, coefficients, gradient_norm, iterations, status
