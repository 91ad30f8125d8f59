"""Steps on a product of spheres that maximise |det Q|, one unit vector for each column of Q.

Column i of Q is Xᵢᵀxᵢ on its support, with Xᵢ lower triangular and |xᵢ| = 1; see
:mod:`cyclearn._kernels.component_fit` for where this comes from. ``M`` is always Q⁻¹.

The ``columns`` are flat arrays ``(at, square_at, rows, X)``: column i has the rows
``rows[at[i]:at[i + 1]]``, its own node last, and Xᵢ starts at ``X[square_at[i]]``, row by row.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cyclearn._kernels.compilation import kernel, lean_kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Columns = tuple[Ints, Ints, Ints, Floats]

# Pivots of a unit-diagonal covariance below this are exact collinearity up to rounding.
PIVOT_FLOOR = 1e-13


@lean_kernel
def cholesky(S: Floats, index: Ints, size: int, L: Floats) -> bool:
    """Write the Cholesky factor of S on index[:size] into L; false when it is singular."""
    for a in range(size):
        for b in range(a + 1):
            total = S[index[a], index[b]]
            for c in range(b):
                total -= L[a, c] * L[b, c]
            if a > b:
                L[a, b] = total / L[b, b]
            else:
                if not total > PIVOT_FLOOR:
                    return False
                L[a, a] = np.sqrt(total)
    return True


@lean_kernel
def inverse(C: Floats, M: Floats) -> float:
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
    return float(log_det + np.log(det))


@lean_kernel
def assemble(columns: Columns, x: Floats, C: Floats) -> None:
    """Write Q into C: column i is Xᵢᵀxᵢ on its support."""
    at, square_at, rows, X = columns
    k = C.shape[0]
    for i in range(k):
        for j in range(k):
            C[i, j] = 0.0
    for i in range(k):
        first = at[i]
        size = at[i + 1] - first
        square = square_at[i]
        for b in range(size):
            total = 0.0
            for a in range(b, size):
                total += X[square + a * size + b] * x[first + a]
            C[rows[first + b], i] = total


@lean_kernel
def _pull_back(columns: Columns, M: Floats, i: int, m: int, y: Floats) -> None:
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


@lean_kernel
def sweep(columns: Columns, x: Floats, M: Floats, y: Floats, column: Floats) -> None:
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
                    for h in range(k):
                        M[j, h] -= factor * M[i, h]


@lean_kernel
def gradient_norm_of(columns: Columns, x: Floats, M: Floats, y: Floats) -> float:
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


@lean_kernel
def _to_tangent(
    x: Floats, first: int, size: int, y: Floats, out: Floats, row: int, base: int
) -> None:
    """Coordinates of y in the tangent space at x, by the reflection that sends x to ±e_last."""
    last = first + size - 1
    sign = 1.0 if x[last] >= 0.0 else -1.0
    dot = sign * y[size - 1]
    for a in range(size):
        dot += x[first + a] * y[a]
    dot /= 1.0 + sign * x[last]
    for a in range(size - 1):
        out[row, base + a] = y[a] - dot * x[first + a]


@lean_kernel
def _derivatives(
    columns: Columns, x: Floats, M: Floats, y: Floats, T: Floats, g: Floats, H: Floats
) -> None:
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
            _to_tangent(x, at[i], size, y, T, m, base)
        for a in range(size - 1):
            g[base + a] = -T[i, base + a]
    for i in range(k):
        for a in range(at[i] - i, at[i + 1] - i - 1):
            for m in range(i + 1):
                for b in range(at[m] - m, at[m + 1] - m - 1):
                    H[a, b] = T[m, a] * T[i, b]
            H[a, a] += 1.0


@lean_kernel
def solve_factored(L: Floats, gradient: Floats, step: Floats) -> None:
    """Write −(LLᵀ)⁻¹ gradient."""
    for a in range(step.size):
        total = -gradient[a]
        for b in range(a):
            total -= L[a, b] * step[b]
        step[a] = total / L[a, a]
    for a in range(step.size - 1, -1, -1):
        total = step[a]
        for b in range(a + 1, step.size):
            total -= L[b, a] * step[b]
        step[a] = total / L[a, a]


@lean_kernel
def _damped_step(H: Floats, g: Floats, damping: float, L: Floats, step: Floats) -> float:
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
    solve_factored(L, g, step)
    return smallest


@lean_kernel
def _move(columns: Columns, x: Floats, step: Floats, moved: Floats) -> None:
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


@kernel
def newton(
    columns: Columns,
    x: Floats,
    M: Floats,
    C: Floats,
    value: float,
    gradient_norm: float,
    tolerance: float,
    max_steps: int,
) -> tuple[float, float, int, float]:
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
        for _ in range(14):
            if usable > 0.0:
                _move(columns, x, step, moved)
                assemble(columns, moved, C)
                moved_value = -inverse(C, M_moved)
                slack = 1e-14 * (1.0 + abs(value))
                if moved_value <= value + slack:
                    moved_norm = gradient_norm_of(columns, moved, M_moved, y)
                    if moved_value < value - slack or moved_norm < gradient_norm:
                        accepted = True
                        break
            damping = max(8.0 * damping, 1e-6)
            usable = _damped_step(H, g, damping, L, step)
        if not accepted:
            break
        for a in range(x.size):
            x[a] = moved[a]
        for i in range(k):
            for j in range(k):
                M[i, j] = M_moved[i, j]
        value = moved_value
        gradient_norm = moved_norm
        damping = 0.1 * damping if damping > 1e-6 else 0.0
    return value, gradient_norm, steps, pivot
