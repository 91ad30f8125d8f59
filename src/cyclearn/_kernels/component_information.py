"""Derivatives of the negative log-likelihood of one component, without profiling variances out.

Per sample and up to a constant, with parents outside the component fixed at their observed values,

    ℓ(B, ω) = Σᵢ [½ log ωᵢ + sᵢ(bᵢ) / (2ωᵢ)] − log|det(I − B)|.

The parameters are ordered as follows: the coefficients, as in ``parents``, then the variances, as
in ``nodes``. The information of a whole graph is block diagonal over its components.
"""

from __future__ import annotations

import numpy as np

from cyclearn._kernels.compilation import kernel
from cyclearn._kernels.sphere_steps import Floats, Ints, inverse


@kernel
def _inverse_and_positions(
    nodes: Ints, offsets: Ints, parents: Ints, coefficients: Floats
) -> tuple[Floats, Ints]:
    """(I − B)⁻¹ over the component, and the position of each parent in it (−1 outside)."""
    k = nodes.size
    C = np.zeros((k, k))
    position = np.empty(parents.size, np.int64)
    for i in range(k):
        C[i, i] = 1.0
        for e in range(offsets[i], offsets[i + 1]):
            position[e] = -1
            for j in range(k):
                if nodes[j] == parents[e]:
                    position[e] = j
                    C[j, i] = -coefficients[e]
                    break
    M = np.empty((k, k))
    inverse(C, M)
    return M, position


@kernel
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


@kernel
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


@kernel
def expected_information(
    S: Floats,
    nodes: Ints,
    offsets: Ints,
    parents: Ints,
    coefficients: Floats,
    noise_variances: Floats,
) -> Floats:
    """Fisher information of one sample given the outside parents, shape (m + k, m + k).

    It is the observed information at the covariance that the parameters imply. Its rank is
    that of the map from parameters to distributions, however well the model fits the data.
    """
    k = nodes.size
    M, position = _inverse_and_positions(nodes, offsets, parents, coefficients)
    outside = np.empty(parents.size, np.int64)
    local = np.empty(parents.size, np.int64)
    n_outside = 0
    for e in range(parents.size):
        local[e] = position[e]
        if position[e] < 0:
            place = 0
            while place < n_outside and outside[place] != parents[e]:
                place += 1
            if place == n_outside:
                outside[place] = parents[e]
                n_outside += 1
            local[e] = k + place
    # X_C = Mᵀ(BᵀX_O + N): the component comes first, its outside parents after it.
    implied = np.zeros((k + n_outside, k + n_outside))
    effects = np.zeros((n_outside, k))
    for i in range(k):
        for e in range(offsets[i], offsets[i + 1]):
            if local[e] >= k:
                for j in range(k):
                    effects[local[e] - k, j] += coefficients[e] * M[i, j]
    for a in range(n_outside):
        for b in range(n_outside):
            covariance = S[outside[a], outside[b]]
            implied[k + a, k + b] = covariance
            for j in range(k):
                implied[k + a, j] += covariance * effects[b, j]
    for a in range(n_outside):
        for j in range(k):
            implied[j, k + a] = implied[k + a, j]
            for i in range(k):
                implied[i, j] += effects[a, i] * implied[k + a, j]
    for i in range(k):
        for j in range(k):
            for h in range(k):
                implied[i, j] += M[h, i] * noise_variances[h] * M[h, j]
    own = np.empty(k, np.int64)
    for i in range(k):
        own[i] = i
    return information(implied, own, offsets, local, coefficients, noise_variances)
