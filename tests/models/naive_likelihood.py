"""Slow, obvious twins of the compiled code, written from the definitions alone."""

import numpy as np


def negative_log_likelihood(B, noise_variances, S):
    """½ [log|Σ| + tr(Σ⁻¹S)] for Σ = (I − B)⁻ᵀ Ω (I − B)⁻¹, per sample, without constants."""
    p = len(B)
    M = np.linalg.inv(np.eye(p) - B)
    sigma = M.T @ np.diag(noise_variances) @ M
    sign, log_det = np.linalg.slogdet(sigma)
    assert sign > 0
    return 0.5 * (log_det + np.trace(np.linalg.solve(sigma, S)))


def profiled(adjacency, weights, S):
    """Σᵢ ½ log sᵢ − log|det(I − B)| with the weights laid on the edges of the adjacency."""
    B = np.zeros(S.shape)
    B[np.nonzero(adjacency)] = weights
    C = np.eye(len(S)) - B
    with np.errstate(divide="ignore"):
        return 0.5 * np.log(np.diag(C.T @ S @ C)).sum() - np.linalg.slogdet(C)[1]


def component_arrays(adjacency, nodes):
    """Nodes, offsets and parents in the form that the kernels take."""
    columns = [np.flatnonzero(adjacency[:, j]) for j in nodes]
    offsets = np.concatenate([[0], np.cumsum([len(column) for column in columns])])
    parents = np.concatenate(columns) if columns else np.empty(0)
    return np.array(nodes), offsets.astype(np.int64), parents.astype(np.int64)


def weight_matrix(p, nodes, offsets, parents, coefficients):
    B = np.zeros((p, p))
    for i, node in enumerate(nodes):
        for e in range(offsets[i], offsets[i + 1]):
            B[parents[e], node] = coefficients[e]
    return B


def numerical_gradient(function, x, step=1e-6):
    gradient = np.empty(len(x))
    for a in range(len(x)):
        e = np.zeros(len(x))
        e[a] = step
        gradient[a] = (function(x + e) - function(x - e)) / (2 * step)
    return gradient


def numerical_jacobian(function, x, step=1e-6):
    rows = []
    for a in range(len(x)):
        e = np.zeros(len(x))
        e[a] = step
        rows.append((function(x + e) - function(x - e)) / (2 * step))
    return np.array(rows)


def random_cyclic_adjacency(rng, n_inside, n_outside=0, density=0.25):
    """A cycle through the first nodes with random chords, and outside parents of it."""
    p = n_inside + n_outside
    adjacency = np.zeros((p, p), dtype=bool)
    for i in range(n_inside):
        adjacency[i, (i + 1) % n_inside] = True
    adjacency[:, :n_inside] |= rng.random((p, n_inside)) < density
    np.fill_diagonal(adjacency, False)
    return adjacency


def sample_correlation(adjacency, rng, n=500, size=0.8):
    p = len(adjacency)
    while True:
        B = np.where(adjacency, rng.uniform(-size, size, (p, p)), 0)
        if abs(np.linalg.det(np.eye(p) - B)) > 0.05:
            break
    X = rng.standard_normal((n, p)) * np.sqrt(rng.uniform(1, 3, p)) @ np.linalg.inv(np.eye(p) - B)
    return np.corrcoef(X.T)
