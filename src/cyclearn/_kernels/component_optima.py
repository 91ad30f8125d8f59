"""The optima of one component: several starts, and the distinct points with the best value."""

from __future__ import annotations

import numpy as np
from numba import njit

from cyclearn._kernels.component_fit import CONVERGED, SINGULAR, fit_component
from cyclearn._kernels.component_information import expected_information, is_regular, residuals
from cyclearn._kernels.sphere_steps import Floats, Ints


@njit(cache=True, nogil=True, error_model="numpy")
def fit_component_from_starts(
    S: Floats,
    nodes: Ints,
    offsets: Ints,
    parents: Ints,
    starts: Floats,
    tolerance: float,
    max_iterations: int,
) -> tuple[Floats, Floats, Floats, Ints, Ints]:
    """Run :func:`fit_component` from every row of ``starts``, shape (n_starts, m), and once more.

    The last run starts at the best coefficients so far divided by the squared geometric mean of
    their moduli inside the component. On a chordless cycle that inverts the gain, which is
    where its second solution lies.

    Returns arrays with n_starts + 1 rows: values, coefficients, gradient norms, iterations and
    statuses.
    """
    n = starts.shape[0]
    values = np.empty(n + 1)
    coefficients = np.empty((n + 1, parents.size))
    gradient_norms = np.empty(n + 1)
    iterations = np.empty(n + 1, np.int64)
    statuses = np.empty(n + 1, np.int64)
    best = 0
    for s in range(n + 1):
        if s < n:
            start = starts[s]
        else:
            start = coefficients[best] / _geometric_mean(nodes, parents, coefficients[best]) ** 2
        fitted = fit_component(S, nodes, offsets, parents, start, tolerance, max_iterations)
        values[s], _, gradient_norms[s], iterations[s], statuses[s] = fitted
        coefficients[s] = fitted[1]
        if values[s] < values[best]:
            best = s
    return values, coefficients, gradient_norms, iterations, statuses


@njit(cache=True, nogil=True, error_model="numpy")
def _geometric_mean(nodes: Ints, parents: Ints, coefficients: Floats) -> float:
    """Geometric mean of the moduli of the coefficients inside the component."""
    total = 0.0
    count = 0
    for e in range(parents.size):
        for j in range(nodes.size):
            if nodes[j] == parents[e]:
                total += np.log(max(abs(coefficients[e]), 1e-3))
                count += 1
                break
    return float(np.exp(total / count))


@njit(cache=True, nogil=True, error_model="numpy")
def component_optima(
    S: Floats,
    nodes: Ints,
    offsets: Ints,
    parents: Ints,
    starts: Floats,
    tolerance: float,
    max_iterations: int,
    same_value: float,
    flat: float,
) -> tuple[Floats, Floats, float, float, int, int, bool]:
    """Distinct maxima of the likelihood of one component that reach its best value.

    Arguments as in :func:`fit_component_from_starts`; values within ``same_value`` of the best
    are the best. Finite maxima are preferred to values reached at infinity.

    Returns
    -------
    coefficients : float64 array of shape (s, m)
    noise_variances : float64 array of shape (s, k)
    value, gradient_norm, iterations, status
        Of the best run.
    regular : bool
        Whether the Fisher information at the first point, scaled to a unit diagonal, has all
        eigenvalues above ``flat``.
    """
    values, runs, norms, iterations, statuses = fit_component_from_starts(
        S, nodes, offsets, parents, starts, tolerance, max_iterations
    )
    best = 0
    for s in range(1, values.size):
        if values[s] < values[best]:
            best = s
    limit = values[best] + same_value
    # Where some starts run to infinity and others settle at the same value, the maximum exists.
    chosen = -1
    for s in range(values.size):
        finite = statuses[s] == CONVERGED or statuses[s] == SINGULAR
        if finite and values[s] <= limit and (chosen < 0 or values[s] < values[chosen]):
            chosen = s
    settled = chosen >= 0
    if settled:
        best = chosen
    kept = np.empty(values.size, np.int64)
    kept[0] = best
    n_kept = 1
    for s in range(values.size):
        finite = statuses[s] == CONVERGED or statuses[s] == SINGULAR
        if settled and not (finite and values[s] <= limit):
            continue
        if not settled and not (statuses[s] == statuses[best] and values[s] <= limit):
            continue
        is_new = True
        for other in kept[:n_kept]:
            gap = 0.0
            size = 1.0
            for e in range(parents.size):
                gap = max(gap, abs(runs[s, e] - runs[other, e]))
                size = max(size, abs(runs[other, e]))
            if gap <= 1e-4 * size:
                is_new = False
                break
        if is_new:
            kept[n_kept] = s
            n_kept += 1
    coefficients = np.empty((n_kept, parents.size))
    noise_variances = np.empty((n_kept, nodes.size))
    for s in range(n_kept):
        coefficients[s] = runs[kept[s]]
        noise_variances[s] = residuals(S, nodes, offsets, parents, runs[kept[s]])[1]
    regular = is_regular(
        expected_information(S, nodes, offsets, parents, coefficients[0], noise_variances[0]), flat
    )
    return (
        coefficients,
        noise_variances,
        values[best],
        norms[best],
        iterations[best],
        statuses[best],
        regular,
    )
