"""Steps on a product of spheres that maximise |det Q|, one unit vector for each column of Q.

Column i of Q is Xᵢᵀxᵢ on its support, with Xᵢ lower triangular and |xᵢ| = 1;
:mod:`cyclearn._kernels.component_fit` derives this form. ``M`` is always Q⁻¹.

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

# A smaller pivot of a unit-diagonal covariance means exact collinearity up to rounding.
PIVOT_FLOOR = 1e-13


@lean_kernel
def cholesky(S: Floats, index: Ints, size: int, L: Floats) -> bool:
    """Write the Cholesky factor of S on index[:size] into L; false if it is singular."""
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
            M[i, j] = C[i, j]
    det = 1.0
    log_det = 0.0
    for c in range(k):
        best = c
        for i in range(c + 1, k):
            if abs(M[i, c]) > abs(M[best, c]):
                best = i
        pivot = M[best, c]
        if pivot == 0.0:
            return -np.inf
        C[0, c] = best
        if best != c:
            for j in range(k):
                M[best, j], M[c, j] = M[c, j], M[best, j]
        det *= abs(pivot)
        if det < 1e-200 or det > 1e200:
            log_det += np.log(det)
            det = 1.0
        # Column c is finished: store in it the column of the inverse that replaces it.
        M[c, c] = 1.0
        scale = 1.0 / pivot
        for j in range(k):
            M[c, j] *= scale
        for i in range(k):
            factor = M[i, c]
            if i != c and factor != 0.0:
                M[i, c] = 0.0
                for j in range(k):
                    M[i, j] -= factor * M[c, j]
    for c in range(k - 1, -1, -1):
        other = int(C[0, c])
        if other != c:
            for i in range(k):
                M[i, other], M[i, c] = M[i, c], M[i, other]
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
    """Take one exact step for every column in turn; rank-one updates keep M = Q⁻¹."""
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
    """Largest entry of the gradients yᵢ − xᵢ, which are tangent to the spheres."""
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
def _pull_all_back(columns: Columns, x: Floats, R: Floats, i: int, T: Floats) -> None:
    """Write the tangent parts of Xᵢ M[m, rowsᵢ] for all m at once, with R the transpose of M.

    Their coordinates are those of the reflection that maps xᵢ to ± the last unit vector.
    """
    at, square_at, rows, X = columns
    first, last = at[i], at[i + 1] - 1
    k = R.shape[0]
    place = square_at[i]
    for a in range(first, last + 1):
        for m in range(k):
            T[a, m] = 0.0
        for b in range(first, a + 1):
            weight, row = X[place + b - first], rows[b]
            for m in range(k):
                T[a, m] += weight * R[row, m]
        place += last + 1 - first
    # The last row is not a tangent coordinate: it becomes the part along x.
    sign = 1.0 if x[last] >= 0.0 else -1.0
    scale = 1.0 / (1.0 + sign * x[last])
    for m in range(k):
        T[last, m] *= sign + x[last]
    for a in range(first, last):
        for m in range(k):
            T[last, m] += x[a] * T[a, m]
    for a in range(first, last):
        factor = scale * x[a]
        for m in range(k):
            T[a, m] -= factor * T[last, m]


@lean_kernel
def _write_gradient(
    columns: Columns, x: Floats, M: Floats, R: Floats, T: Floats, g: Floats
) -> None:
    """Gradient of f in orthonormal tangent coordinates of the spheres, and what H is computed from.

    With z(i, m) the tangent part of Xᵢ M[m, rowsᵢ], written into T, the gradient is −z(i, i).
    """
    at = columns[0]
    k = M.shape[0]
    for m in range(k):
        for j in range(k):
            R[j, m] = M[m, j]
    for i in range(k):
        _pull_all_back(columns, x, R, i, T)
        for a in range(at[i], at[i + 1] - 1):
            g[a - i] = -T[a, i]


@lean_kernel
def _write_hessian(columns: Columns, T: Floats, H: Floats) -> None:
    """Block (i, m) is z(i, m) z(m, i)ᵀ, plus the identity on the diagonal; the lower triangle."""
    at = columns[0]
    for i in range(at.size - 1):
        for a in range(at[i], at[i + 1] - 1):
            for m in range(i + 1):
                factor = T[a, m]
                for b in range(at[m], at[m + 1] - 1):
                    H[a - i, b - m] = factor * T[b, i]
            H[a - i, a - i] += 1.0


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
def factor_damped(H: Floats, D: Floats, damping: float, floor: float, L: Floats) -> float:
    """Write the Cholesky factor of H + damping · D into the lower triangle of L.

    Returns the smallest pivot relative to the diagonal of D, or −1 if one is below ``floor``.
    """
    d = H.shape[0]
    smallest = np.inf
    for b in range(d):
        pivot = H[b, b] + damping * D[b, b]
        for c in range(b):
            pivot -= L[b, c] * L[b, c]
        if not pivot > floor * D[b, b]:
            return -1.0
        smallest = min(smallest, pivot / D[b, b])
        root = L[b, b] = np.sqrt(pivot)
        # Four rows at once: their sums do not depend on each other.
        a = b + 1
        while a + 3 < d:
            s = H[a, b] + damping * D[a, b]
            t = H[a + 1, b] + damping * D[a + 1, b]
            u = H[a + 2, b] + damping * D[a + 2, b]
            v = H[a + 3, b] + damping * D[a + 3, b]
            for c in range(b):
                factor = L[b, c]
                s -= L[a, c] * factor
                t -= L[a + 1, c] * factor
                u -= L[a + 2, c] * factor
                v -= L[a + 3, c] * factor
            L[a, b], L[a + 1, b], L[a + 2, b], L[a + 3, b] = s / root, t / root, u / root, v / root
            a += 4
        while a < d:
            s = H[a, b] + damping * D[a, b]
            for c in range(b):
                s -= L[a, c] * L[b, c]
            L[a, b] = s / root
            a += 1
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
    """Damped Newton steps on the spheres; stop when a step fails to decrease f.

    Changes x and M (kept equal to Q⁻¹). Returns the value, the gradient norm, the number of steps
    and the smallest pivot of the last Hessian (negative if it was not positive definite).
    """
    k = M.shape[0]
    N = x.size - k
    y, moved = np.empty(x.size), np.empty(x.size)
    T, R, M_moved = np.empty((x.size, k)), np.empty((k, k)), np.empty((k, k))
    g, step = np.empty(N), np.empty(N)
    H, L, unit = np.empty((N, N)), np.empty((N, N)), np.eye(N)
    damping = 0.0
    pivot = usable = np.inf
    steps = 0
    is_kept = False
    while steps < max_steps and gradient_norm > tolerance:
        steps += 1
        _write_gradient(columns, x, M, R, T, g)
        if not is_kept:
            _write_hessian(columns, T, H)
            usable = factor_damped(H, unit, damping, 1e-11, L)
            pivot = usable - damping
        accepted = False
        for _ in range(14):
            if usable > 0.0:
                solve_factored(L, g, step)
                _move(columns, x, step, moved)
                assemble(columns, moved, C)
                moved_value = -inverse(C, M_moved)
                slack = 1e-14 * (1.0 + abs(value))
                if moved_value <= value + slack:
                    moved_norm = gradient_norm_of(columns, moved, M_moved, y)
                    if moved_value < value - slack or moved_norm < gradient_norm:
                        accepted = True
                        break
            if is_kept:
                break
            damping = max(8.0 * damping, 1e-6)
            usable = factor_damped(H, unit, damping, 1e-11, L)
        if not accepted and is_kept:
            is_kept = False
            continue
        if not accepted:
            break
        for a in range(x.size):
            x[a] = moved[a]
        for i in range(k):
            for j in range(k):
                M[i, j] = M_moved[i, j]
        # If one more step like this one reaches the tolerance, it needs no new Hessian.
        rate = moved_norm / gradient_norm
        is_kept = damping == 0.0 and moved_norm * rate <= tolerance
        value = moved_value
        gradient_norm = moved_norm
        damping = 0.1 * damping if damping > 1e-6 else 0.0
    return value, gradient_norm, steps, pivot
