"""The optima of one component: several starts, and the distinct points with the best value."""

from __future__ import annotations

import numpy as np

from cyclearn._kernels.compilation import kernel, lean_kernel
from cyclearn._kernels.component_fit import CONVERGED, SINGULAR, fit_component
from cyclearn._kernels.sphere_steps import Floats, Ints


@kernel
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
    their moduli inside the component. On a chordless cycle this inverts the gain, and the second
    solution of the cycle is at the inverted gain.

    Returns arrays with n_starts + 1 rows: values, coefficients, gradient norms, iterations and
    statuses.
    """
    n = starts.shape[0]
    values = np.empty(n + 1)
    coefficients = np.empty((n + 1, parents.size))
    gradient_norms = np.empty(n + 1)
    iterations = np.empty(n + 1, np.int64)
    statuses = np.empty(n + 1, np.int64)
    start = np.empty(parents.size)
    best = 0
    for s in range(n + 1):
        if s < n:
            for e in range(parents.size):
                start[e] = starts[s, e]
        else:
            start = inverted_gain(nodes, parents, coefficients[best])
        fitted = fit_component(S, nodes, offsets, parents, start, tolerance, max_iterations)
        values[s] = fitted[0]
        gradient_norms[s] = fitted[2]
        iterations[s] = fitted[3]
        statuses[s] = fitted[4]
        for e in range(parents.size):
            coefficients[s, e] = fitted[1][e]
        if values[s] < values[best]:
            best = s
    return values, coefficients, gradient_norms, iterations, statuses


@kernel
def inverted_gain(nodes: Ints, parents: Ints, coefficients: Floats) -> Floats:
    """The start that inverts a cycle's gain: coefficients over their squared geometric mean."""
    scale = _geometric_mean(nodes, parents, coefficients) ** -2
    start = np.empty(parents.size)
    for e in range(parents.size):
        start[e] = scale * coefficients[e]
    return start


@lean_kernel
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


@kernel
def select_optima(
    values: Floats, runs: Floats, statuses: Ints, same_value: float
) -> tuple[int, Ints]:
    """The best of several runs, and one run for each distinct point that reaches its value.

    ``values``, ``runs`` and ``statuses`` are those of :func:`fit_component_from_starts`. Values
    within ``same_value`` of the best count as equal to it. Finite maxima are preferred to values
    reached at infinity.
    """
    best = 0
    for s in range(1, values.size):
        if values[s] < values[best]:
            best = s
    limit = values[best] + same_value
    # If some starts run to infinity and others converge at the same value, the maximum exists.
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
            for e in range(runs.shape[1]):
                gap = max(gap, abs(runs[s, e] - runs[other, e]))
                size = max(size, abs(runs[other, e]))
            if gap <= 1e-4 * size:
                is_new = False
                break
        if is_new:
            kept[n_kept] = s
            n_kept += 1
    return best, kept[:n_kept]
