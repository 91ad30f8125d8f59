"""Brute force for the class under interventions: weights drawn on one graph, sought on the other.

Nothing of the library is used. A table with targets T tells the distribution of the others, U,
given the targets; its natural parameters are the precision of U and the weights that T has in it.
"""

from itertools import product

import numpy as np

_CLOSE = 1e-16


def all_adjacencies(p):
    """All directed graphs on p nodes."""
    pairs = [(i, j) for i in range(p) for j in range(p) if i != j]
    for chosen in product((False, True), repeat=len(pairs)):
        A = np.zeros((p, p), dtype=bool)
        for (i, j), there in zip(pairs, chosen, strict=True):
            A[i, j] = there
        yield A


def told(B, omega, targets):
    """Natural parameters of the untargeted given the targeted, by solving the mutilated system."""
    p = len(B)
    U = [i for i in range(p) if i not in targets]
    T = sorted(targets)
    M = np.linalg.inv(np.eye(len(U)) - B[np.ix_(U, U)])
    covariance = M.T @ np.diag(omega[U]) @ M
    effect = B[np.ix_(T, U)] @ M
    precision = np.linalg.inv(covariance)
    return precision, -effect @ precision


def _told_by_columns(Q, targets):
    """The same for noise of unit variance and columns of I − B scaled to it; Q in a batch."""
    p = Q.shape[-1]
    U = [i for i in range(p) if i not in targets]
    T = sorted(targets)
    inner, outer = Q[:, U][:, :, U], Q[:, T][:, :, U]
    return inner @ inner.transpose(0, 2, 1), outer @ inner.transpose(0, 2, 1)


def quadratic_forms(adjacency, design):
    """What a design tells is quadratic in the entries of Q: a symmetric matrix for each number."""
    p = len(adjacency)
    places = np.nonzero(adjacency | np.eye(p, dtype=bool))
    n = len(places[0])

    def values(x):
        Q = np.zeros((len(x), p, p))
        Q[:, places[0], places[1]] = x
        return _flat([_told_by_columns(Q, targets) for targets in design], len(x))

    unit = np.eye(n)
    single = values(unit)
    pairs = values((unit[:, None] + unit[None, :]).reshape(n * n, n)).reshape(n, n, -1)
    return np.ascontiguousarray(np.moveaxis(pairs - single[:, None] - single[None, :], 2, 0))


def _flat(tables, n):
    return np.concatenate([part.reshape(n, -1) for table in tables for part in table], axis=1)


def is_generated(forms, wanted, rng, *, n_starts=12, n_iterations=60):
    """Whether some weights on a graph tell what is wanted: Levenberg and Marquardt, many starts."""
    n = forms.shape[1]
    wanted = _flat([(a[None], b[None]) for a, b in wanted], 1)[0]
    scale = np.sqrt(np.abs(wanted).mean())
    x = rng.normal(size=(n_starts, n)) * scale * rng.choice([0.5, 1.0, 3.0], size=(n_starts, 1))
    damping = np.ones(n_starts)
    stacked = forms.reshape(-1, n).T

    def at(x):
        J = (x @ stacked).reshape(len(x), -1, n)
        return J, 0.5 * (J @ x[:, :, None])[:, :, 0] - wanted

    J, r = at(x)
    value = (r**2).sum(axis=1)
    goal = _CLOSE * (wanted**2).sum()
    diagonal = np.arange(n)
    for _ in range(n_iterations):
        H = J.transpose(0, 2, 1) @ J
        gradient = J.transpose(0, 2, 1) @ r[:, :, None]
        H[:, diagonal, diagonal] *= 1 + damping[:, None]
        H[:, diagonal, diagonal] += 1e-14 * scale**2
        trial = x - np.linalg.solve(H, gradient)[:, :, 0]
        J_there, r_there = at(trial)
        there = (r_there**2).sum(axis=1)
        better = there < value
        x[better], r[better], value[better] = trial[better], r_there[better], there[better]
        J[better] = J_there[better]
        damping = np.clip(np.where(better, damping / 5, damping * 4), 1e-14, 1e14)
        if (value < goal).any():
            return True
    return False


def dimension(forms, rng):
    """Dimension of the set of what is told: the rank of the derivative at a random point."""
    return np.linalg.matrix_rank(forms @ rng.normal(size=forms.shape[1]), tol=1e-6)


def draw_told(adjacency, design, rng):
    """What the tables of a design tell, for weights drawn on a graph."""
    p = len(adjacency)
    sign = rng.choice([-1.0, 1.0], size=(p, p))
    B = np.where(adjacency, sign * rng.uniform(0.3, 1.5, (p, p)), 0.0)
    omega = rng.uniform(0.5, 2.0, p)
    return [told(B, omega, targets) for targets in design]


def same_under(first, second, design, rng, *, n_draws=6, n_batches=5):
    """Whether every draw from one graph can be made by the other, both ways."""
    forms = [quadratic_forms(graph, design) for graph in (first, second)]
    if dimension(forms[0], rng) != dimension(forms[1], rng):
        return False
    for _ in range(n_draws):
        for graph, other in ((first, 1), (second, 0)):
            wanted = draw_told(graph, design, rng)
            if not any(is_generated(forms[other], wanted, rng) for _ in range(n_batches)):
                return False
    return True
