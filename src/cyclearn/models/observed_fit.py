"""``fit`` for rows with holes: EM whose maximisation is the fit of the graph."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cyclearn.data.moments import Moments
from cyclearn.data.observed_rows import Expected, ObservedRows
from cyclearn.foundation.errors import InputError
from cyclearn.graphs.directed_graph import DirectedGraph
from cyclearn.models.component_columns import ComponentColumns
from cyclearn.models.component_runs import ComponentRuns
from cyclearn.models.component_solutions import ComponentFit, solutions_of
from cyclearn.models.observed_likelihood import ObservedEstimate, ObservedLikelihood

FloatArray = NDArray[np.float64]

# Largest change of a standardised mean or covariance at which EM has arrived.
_TOLERANCE = 1e-9
_MAX_ITERATIONS = 5_000
# Negative log-likelihood per row by which another solution must be better to start again from it.
_BETTER = 1e-8
_MAX_RESTARTS = 10


@dataclass(frozen=True, eq=False)
class ObservedFit:
    """The moments at which EM rests, the fit of the graph to them, and the likelihood."""

    moments: Moments
    components: tuple[ComponentFit, ...]
    likelihood: ObservedLikelihood


def fit_rows_with_holes(
    graph: DirectedGraph,
    X: FloatArray,
    *,
    order: tuple[int, ...],
    tolerance: float,
    max_iterations: int,
    **options: Any,
) -> ObservedFit:
    """Maximise the likelihood of the observed cells on a graph.

    ``options`` are those of the fit from all starts, which is made of the best covariance of all
    at first, and of the final one to see whether another solution has become better.
    """
    from cyclearn.models.maximum_likelihood import fit_components

    # Work on columns by name, as every fit does.
    back = np.argsort(order)
    by_name = ObservedRows.of(X[:, list(order)])
    observed = _reordered(by_name, back)
    start = by_name.saturated()
    expected = Expected(start.mean[back], start.covariance[np.ix_(back, back)], 0.0)
    components: tuple[ComponentFit, ...] = ()
    iterations, change = 0, np.inf
    for _ in range(_MAX_RESTARTS):
        R, scale = _correlation(expected.covariance)
        found = fit_components(
            graph, R, order=order, tolerance=tolerance, max_iterations=max_iterations, **options
        )
        if components and _value(found) > _value(components) - _BETTER:
            components = found
            break
        components, mean, K = found, expected.mean, _precision(found, scale)
        while iterations < _MAX_ITERATIONS:
            iterations += 1
            expected, _ = observed.expected(mean, K)
            R, scale = _correlation(expected.covariance)
            components = tuple(_refitted(R, each, tolerance, max_iterations) for each in components)
            last, K = K, _precision(components, scale)
            change = float(np.abs(expected.mean - mean).max())
            change = max(change, float(np.abs(np.linalg.inv(K) - np.linalg.inv(last)).max()))
            mean = expected.mean
            if change <= _TOLERANCE:
                break
    _, scale = _correlation(expected.covariance)
    B, variances = _parameters(components, scale)
    estimate = ObservedEstimate(observed, B, variances, expected.mean)
    likelihood = estimate.likelihood(graph.adjacency, converged=change <= _TOLERANCE)
    units = observed.scale
    moments = Moments(
        expected.covariance * np.outer(units, units),
        len(X),
        observed.centre + units * expected.mean,
        graph.names,
    )
    return ObservedFit(moments, components, likelihood)


def _reordered(rows: ObservedRows, back: NDArray[np.intp]) -> ObservedRows:
    """The same rows with the columns in another order."""
    return replace(
        rows,
        rows=np.ascontiguousarray(rows.rows[:, back]),
        is_hole=rows.is_hole[:, back],
        holes=np.argsort(back)[rows.holes],
        centre=rows.centre[back],
        scale=rows.scale[back],
    )


def _correlation(S: FloatArray) -> tuple[FloatArray, FloatArray]:
    scale = np.sqrt(S.diagonal())
    R = S / np.outer(scale, scale)
    np.fill_diagonal(R, 1.0)
    return np.ascontiguousarray(R), scale


def _value(components: tuple[ComponentFit, ...]) -> float:
    return sum(component.value for component in components)


def _refitted(
    R: FloatArray, component: ComponentFit, tolerance: float, max_iterations: int
) -> ComponentFit:
    """The fit of a component to other correlations, from where it was."""
    from cyclearn.models.maximum_likelihood import fit_single_nodes

    columns: ComponentColumns = component.columns
    if component.iterations == 0:
        return fit_single_nodes(R, columns)
    start = component.solutions[0].coefficients[None, :]
    return solutions_of(R, ComponentRuns.of(R, columns, start, tolerance, max_iterations))


def _parameters(
    components: tuple[ComponentFit, ...], scale: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Weights and noise variances on the scale of the covariance that was fitted."""
    p = len(scale)
    B, variances = np.zeros((p, p)), np.empty(p)
    for component in components:
        columns, solution = component.columns, component.solutions[0]
        B[columns.parents, columns.children] = solution.coefficients
        variances[columns.nodes] = solution.noise_variances
    return B * scale / scale[:, None], variances * scale**2


def _precision(components: tuple[ComponentFit, ...], scale: FloatArray) -> FloatArray:
    B, variances = _parameters(components, scale)
    C = np.eye(len(scale)) - B
    if not np.isfinite(C).all() or not (variances > 0).all():
        raise InputError(
            "the likelihood of the observed cells has no maximum on this graph; drop edges, or "
            "use missing='rows'"
        )
    return np.asarray(C / variances @ C.T)
