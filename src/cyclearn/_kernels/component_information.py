"""Derivatives of the negative log-likelihood of one component, variances not profiled out.

Per sample and up to a constant, with parents outside the component held at their data,

    ℓ(B, ω) = Σᵢ [½ log ωᵢ + sᵢ(bᵢ) / (2ωᵢ)] − log|det(I − B)|.

Parameters stand in one order: the coefficients, as in ``parents``, then the variances, as in
``nodes``. The information of a whole graph is block diagonal over its components.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from cyclearn._kernels.sphere_steps import Floats, Ints, inverse


@njit(cache=True, nogil=True, error_model="numpy")
def _inverse_and_positions(
    nodes: Ints, offsets: Ints, parents: Ints, coefficients: Floats
) -> tuple[Floats, Ints]:
    """(I − B)⁻¹ over the component, and the place of each parent in it (−1 outside)."""
    k = nodes.size
    C = np.eye(k)
    position = np.full(parents.size, -1, np.int64)
    for i in range(k):
        for e in range(offsets[i], offsets[i + 1]):
            for j in range(k):
                if nodes[j] == parents[e]:
                    position[e] = j
                    C[j, i] = -coefficients[e]
                    break
    M = np.empty((k, k))
    inverse(C, M)
    return M, position


@njit(cache=True, nogil=True, error_model="numpy")
def residuals(
    S: Floats, nodes: Ints, offsets: Ints, parents: Ints, coefficients: Floats
) -> tuple[Floats, Floats]:
    """½ ∂sᵢ/∂b for every edge, shape (m,), and sᵢ for every node, shape (k,)."""
    slopes = np.empty(parents.size)
    variances = np.empty(nodes.size)
    for i in range(nodes.size):
        variances[i] = S[nodes[i], nodes[i]]
        for e in range(offsets[i], offsets[i + 1]):
            slope = -S[parents[e], nodes[i]]
            for h in range(offsets[i], offsets[i + 1]):
                slope += S[parents[e], parents[h]] * coefficients[h]
            slopes[e] = slope
            variances[i] += coefficients[e] * (slope - S[parents[e], nodes[i]])
    return slopes, variances


@njit(cache=True, nogil=True, error_model="numpy")
def gradient(
    S: Floats,
    nodes: Ints,
    offsets: Ints,
    parents: Ints,
    coefficients: Floats,
    noise_variances: Floats,
) -> Floats:
    """Gradient of ℓ, shape (m + k,).

    ∂ℓ/∂B[j, i] = (S_{j,pa} bᵢ − S_{ji})/ωᵢ + M[i, j], with M = (I − B)⁻¹ and M[i, j] = 0 for
    j outside the component; ∂ℓ/∂ωᵢ = 1/(2ωᵢ) − sᵢ/(2ωᵢ²).
    """
    m = parents.size
    M, position = _inverse_and_positions(nodes, offsets, parents, coefficients)
    slopes, variances = residuals(S, nodes, offsets, parents, coefficients)
    result = np.empty(m + nodes.size)
    for i in range(nodes.size):
        omega = noise_variances[i]
        for e in range(offsets[i], offsets[i + 1]):
            result[e] = slopes[e] / omega
            if position[e] >= 0:
                result[e] += M[i, position[e]]
        result[m + i] = 0.5 / omega - 0.5 * variances[i] / omega**2
    return result


@njit(cache=True, nogil=True, error_model="numpy")
def information(
    S: Floats,
    nodes: Ints,
    offsets: Ints,
    parents: Ints,
    coefficients: Floats,
    noise_variances: Floats,
) -> Floats:
    """Observed information of one sample: the Hessian of ℓ, shape (m + k, m + k).

    The determinant couples columns: ∂²(−log|det|)/∂B[j, i]∂B[l, h] = M[i, l] M[h, j].
    """
    m = parents.size
    M, position = _inverse_and_positions(nodes, offsets, parents, coefficients)
    slopes, variances = residuals(S, nodes, offsets, parents, coefficients)
    result = np.zeros((m + nodes.size, m + nodes.size))
    for i in range(nodes.size):
        omega = noise_variances[i]
        result[m + i, m + i] = variances[i] / omega**3 - 0.5 / omega**2
        for e in range(offsets[i], offsets[i + 1]):
            result[e, m + i] = result[m + i, e] = -slopes[e] / omega**2
            for h in range(offsets[i], offsets[i + 1]):
                result[e, h] = S[parents[e], parents[h]] / omega
            if position[e] < 0:
                continue
            for j in range(nodes.size):
                for h in range(offsets[j], offsets[j + 1]):
                    if position[h] >= 0:
                        result[e, h] += M[i, position[h]] * M[j, position[e]]
    return result


@njit(cache=True, nogil=True, error_model="numpy")
def is_regular(
    S: Floats,
    nodes: Ints,
    offsets: Ints,
    parents: Ints,
    coefficients: Floats,
    noise_variances: Floats,
    limit: float,
) -> bool:
    """Whether the information scaled to a unit diagonal has all eigenvalues above ``limit``."""
    info = information(S, nodes, offsets, parents, coefficients, noise_variances)
    N = info.shape[0]
    scale = np.empty(N)
    for a in range(N):
        scale[a] = np.sqrt(abs(info[a, a]))
    for a in range(N):
        for b in range(a + 1):
            total = info[a, b] / (scale[a] * scale[b])
            if a == b:
                total -= limit
            # The factor overwrites the lower triangle, which is not read again.
            for c in range(b):
                total -= info[a, c] * info[b, c]
            if a > b:
                info[a, b] = total / info[b, b]
            elif not total > 0.0:
                return False
            else:
                info[a, a] = np.sqrt(total)
    return True
