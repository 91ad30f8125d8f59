"""Rows with missing entries under a normal distribution: their expectation given the others.

With precision K, the missing entries M of a row have, given the observed entries O, the covariance
K_MM⁻¹ and the mean μ_M − K_MM⁻¹ K_MO (x_O − μ_O). The work is done on the missing entries, because
they are fewer in any useful table, and once for each pattern of missingness. Two identities give
the likelihood of the observed entries as well: |Σ_OO| = |Σ| · |K_MM|, and with the missing entries
replaced by their means, (x − μ)ᵀ K (x − μ) is the quadratic form of the observed entries alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cyclearn._kernels.compilation import kernel, lean_kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@lean_kernel
def _invert(K: Floats, holes: Ints, L: Floats, inverse: Floats) -> float:
    """Write K_MM⁻¹ into L; return log|K_MM|, infinite if K_MM has no inverse."""
    q = holes.size
    log_det = 0.0
    for a in range(q):
        for b in range(a + 1):
            entry = K[holes[a], holes[b]]
            for c in range(b):
                entry -= L[a, c] * L[b, c]
            if a == b:
                if not entry > 0.0:
                    return np.inf
                L[a, a] = np.sqrt(entry)
                log_det += np.log(entry)
            else:
                L[a, b] = entry / L[b, b]
    # First the columns of L⁻¹, then K_MM⁻¹ = L⁻ᵀ L⁻¹.
    for b in range(q):
        inverse[b, b] = 1.0 / L[b, b]
        for a in range(b + 1, q):
            entry = 0.0
            for c in range(b, a):
                entry -= L[a, c] * inverse[c, b]
            inverse[a, b] = entry / L[a, a]
    for a in range(q):
        for b in range(a + 1):
            entry = 0.0
            for c in range(a, q):
                entry += inverse[c, a] * inverse[c, b]
            L[a, b] = entry
            L[b, a] = entry
    return log_det


@kernel
def fill_holes(
    rows: Floats,
    slopes: Floats,
    row_ends: Ints,
    holes: Ints,
    hole_ends: Ints,
    K: Floats,
    extra: Floats,
) -> float:
    """Replace the missing entries of all rows by their conditional means, in place.

    ``rows`` are centred, with zeros in the missing entries, and ``slopes`` is ``rows @ K``. Rows
    with the same pattern are adjacent: those of pattern k end before ``row_ends[k]``, and its
    missing entries are ``holes[hole_ends[k − 1]:hole_ends[k]]``. Conditional covariances are added
    to ``extra``, shape (p, p), once for each row. Returns Σ log|K_MM| over the rows, infinite if K
    is not positive definite.
    """
    p = K.shape[0]
    L = np.empty((p, p))
    inverse = np.empty((p, p))
    total = 0.0
    first_row = 0
    first_hole = 0
    for k in range(row_ends.size):
        own = holes[first_hole : hole_ends[k]]
        n = row_ends[k] - first_row
        log_det = _invert(K, own, L, inverse)
        if log_det == np.inf:
            return np.inf
        for a in range(own.size):
            for b in range(own.size):
                extra[own[a], own[b]] += n * L[a, b]
        for r in range(first_row, row_ends[k]):
            for a in range(own.size):
                entry = 0.0
                for b in range(own.size):
                    entry += L[a, b] * slopes[r, own[b]]
                rows[r, own[a]] = -entry
        total += n * log_det
        first_row = row_ends[k]
        first_hole = hole_ends[k]
    return total
