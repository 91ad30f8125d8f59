"""Coordinate steps on a block of nodes with correlated noise (``models/correlated_noise.py``)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cyclearn._kernels.compilation import kernel
from cyclearn._kernels.sphere_steps import Floats, Ints, cholesky, inverse, solve_factored


class Block(NamedTuple):
    """Nodes; their parents, and their partners by position in the block, one node after the other.

    Those of node t are ``parents[parents_at[t] : parents_at[t + 1]]``; partners likewise.
    """

    nodes: Ints
    parents_at: Ints
    parents: Ints
    partners_at: Ints
    partners: Ints
    has_cycle: bool


@kernel
def fit_block(
    S: Floats, block: Block, K: Floats, omega: Floats, n_rounds: int, tolerance: float
) -> float:
    """Repeat steps from K = I − B and Ω, which they change, until f no longer decreases.

    Returns f, infinite if parents explain a node completely.
    """
    value = _value(S, block, K, omega)
    for _ in range(n_rounds):
        for t in range(block.nodes.size):
            if not _step(S, block, t, K, omega):
                return np.inf
        before, value = value, _value(S, block, K, omega)
        if not value < before - tolerance:
            break
    return value


@kernel
def _step(S: Floats, block: Block, t: int, K: Floats, omega: Floats) -> bool:
    """Minimise over all parameters of node t; false if no variance is left for its noise."""
    node = block.nodes[t]
    parents = block.parents[block.parents_at[t] : block.parents_at[t + 1]]
    partners = block.partners[block.partners_at[t] : block.partners_at[t + 1]]
    precision = _precision_of_others(omega, t)
    Z = _pseudo_variables(K, precision, partners, t)
    m, size = parents.size, parents.size + partners.size
    G, g = _regressors(S, parents, Z, node)
    L, theta, slope = np.empty((size, size)), np.empty(size), np.zeros(size)
    if not cholesky(G, np.arange(size), size, L):
        return False
    solve_factored(L, -g, theta)
    rest = S[node, node] - np.sum(g * theta)
    if block.has_cycle:
        whole = _determinant(block, parents, t, K, slope) + np.sum(slope * theta)
        if np.any(slope != 0.0) and whole != 0.0:
            direction = np.empty(size)
            solve_factored(L, -slope, direction)
            along = rest / whole
            theta += along * direction
            rest += along**2 * np.sum(slope * direction)
    if not rest > np.finfo(np.float64).eps:
        return False
    K[:, t] = 0.0
    K[node, t] = 1.0
    for a in range(m):
        K[parents[a], t] -= theta[a]
    omega[t, t] = rest
    for a in range(partners.size):
        omega[t, partners[a]] = omega[partners[a], t] = theta[m + a]
        for b in range(partners.size):
            omega[t, t] += theta[m + a] * theta[m + b] * precision[partners[a], partners[b]]
    return True


@kernel
def _precision_of_others(omega: Floats, t: int) -> Floats:
    """The inverse of Ω without node t, whose row and column are those of the identity."""
    without = omega.copy()
    without[t], without[:, t] = 0.0, 0.0
    without[t, t] = 1.0
    precision = np.empty_like(omega)
    inverse(without, precision)
    return precision


@kernel
def _pseudo_variables(K: Floats, precision: Floats, partners: Ints, t: int) -> Floats:
    """How the Z of the partners depend on the variables, shape (p, partners)."""
    Z = np.zeros((K.shape[0], partners.size))
    for a in range(partners.size):
        for s in range(K.shape[1]):
            if s != t:
                Z[:, a] += K[:, s] * precision[s, partners[a]]
    return Z


@kernel
def _regressors(S: Floats, parents: Ints, Z: Floats, node: int) -> tuple[Floats, Floats]:
    """Covariance of parents and pseudo-variables, and their covariances with the node."""
    m, size = parents.size, parents.size + Z.shape[1]
    columns = np.zeros((S.shape[0], size))
    for a in range(m):
        columns[parents[a], a] = 1.0
    columns[:, m:] = Z
    G, g = np.zeros((size, size)), np.zeros(size)
    for a in range(size):
        image = np.zeros(S.shape[0])
        for r in range(S.shape[0]):
            if columns[r, a] != 0.0:
                image += columns[r, a] * S[r]
        g[a] = image[node]
        for b in range(size):
            G[b, a] = np.sum(columns[:, b] * image)
    return G, g


@kernel
def _determinant(block: Block, parents: Ints, t: int, K: Floats, slope: Floats) -> float:
    """c₀, and c into ``slope``, of det(I − B) = c₀ + c·θ, both divided by its present value."""
    k = block.nodes.size
    C, M = np.empty((k, k)), np.empty((k, k))
    for s in range(k):
        C[s] = K[block.nodes[s]]
    inverse(C, M)
    for a in range(parents.size):
        for s in range(k):
            if block.nodes[s] == parents[a]:
                slope[a] = -M[t, s]
    return float(M[t, t])


@kernel
def _value(S: Floats, block: Block, K: Floats, omega: Floats) -> float:
    """The contribution of the block to f."""
    k = block.nodes.size
    rest, precision = omega.copy(), np.empty((k, k))
    value = 0.5 * inverse(rest, precision) - 0.5 * k
    for s in range(k):
        image = np.zeros(S.shape[0])
        for r in range(S.shape[0]):
            if K[r, s] != 0.0:
                image += K[r, s] * S[r]
        for t in range(k):
            value += 0.5 * precision[s, t] * np.sum(K[:, t] * image)
    if block.has_cycle:
        for s in range(k):
            rest[s] = K[block.nodes[s]]
        value -= inverse(rest, precision)
    return value
