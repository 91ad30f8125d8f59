"""``fit`` for rows with missing cells: EM with the fit of the graph as its M-step; information.

The observed-data likelihood of the graph's own model is maximised by EM: given the current
distribution, the expected mean and covariance of complete rows; given these, the ordinary fit of
the graph, started at the current estimate. (Full information maximum likelihood, ``missing =
"fiml"`` in lavaan.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cyclearn.data.moments import Moments
from cyclearn.data.observed_rows import Expected, ObservedRows
from cyclearn.foundation.arrays import BoolArray, FloatArray
from cyclearn.foundation.errors import InputError
from cyclearn.graphs.directed_graph import DirectedGraph
from cyclearn.models import components
from cyclearn.models.linear_gaussian import LinearGaussianModel
from cyclearn.models.sandwich import Sandwich, inverse_of, row_scores

# Step of the central differences, on standardised parameters: truncation and rounding errors are
# about equal.
_STEP = 1e-5


_ARRAYS = ("saturated_covariance", "information", "scale")


@dataclass(frozen=True, eq=False)
class ObservedLikelihood:
    """What inference needs from the likelihood of rows with missing cells.

    Attributes
    ----------
    log_likelihood, saturated_log_likelihood, independent_log_likelihood : float
        Of the observed cells: at the estimate, at the saturated mean and covariance, and without
        edges.
    saturated_covariance : array of shape (p, p)
        The saturated covariance, in the units of the data.
    information : array
        Observed information of all rows: weights of the edges in row-major order, noise variances,
        means; on the standardised scale.
    scale : array of shape (p,)
        Standard deviations of the observed cells, the unit of that scale.
    converged : bool
    weight : float
        The weight of a row, less than one if rows depend on each other.
    sandwich : Sandwich or None
        If rows are not assumed Gaussian.
    """

    log_likelihood: float
    saturated_log_likelihood: float
    independent_log_likelihood: float
    saturated_covariance: FloatArray
    information: FloatArray
    scale: FloatArray
    converged: bool
    weight: float = 1.0
    sandwich: Sandwich | None = None

    def weighted(self, weight: float) -> ObservedLikelihood:
        """The same, with a weight for every row."""
        return replace(
            self,
            log_likelihood=weight * self.log_likelihood,
            saturated_log_likelihood=weight * self.saturated_log_likelihood,
            independent_log_likelihood=weight * self.independent_log_likelihood,
            information=weight * self.information,
            weight=weight * self.weight,
        )

    def given(
        self, graph: DirectedGraph, joined: DirectedGraph, moments: Moments
    ) -> ObservedLikelihood:
        """The likelihood of the other variables given exogenous ones, which have no missing cells.

        The present one belongs to the graph in which all edges of some order join the exogenous
        variables: their saturated likelihood times that of the others given them.
        """
        e, n = moments.is_exogenous, moments.n_samples
        constant = 0.5 * int(e.sum()) * (1 + np.log(2 * np.pi))
        alone = -n * (constant + np.log(moments.scale[e]).sum())
        together = alone - 0.5 * n * np.linalg.slogdet(moments.correlation[np.ix_(e, e)])[1]
        # The edges that join them are estimated too: remove their part of the information.
        own = graph.adjacency[joined.adjacency]
        kept = np.concatenate([own, np.ones(2 * graph.n_nodes, dtype=bool)])
        info, across = self.information, self.information[np.ix_(kept, ~kept)]
        left = np.linalg.solve(info[np.ix_(~kept, ~kept)], across.T)
        sandwich = self.sandwich
        if sandwich is not None:
            scores = np.eye(len(kept))[kept]
            scores[:, ~kept] = -left.T
            sandwich = Sandwich(scores @ sandwich.meat @ scores.T, np.nan, np.nan)
        return replace(
            self,
            log_likelihood=self.log_likelihood - together,
            saturated_log_likelihood=self.saturated_log_likelihood - together,
            independent_log_likelihood=self.independent_log_likelihood - alone,
            information=info[np.ix_(kept, kept)] - across @ left,
            sandwich=sandwich,
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        arrays = {name: getattr(self, name).tolist() for name in _ARRAYS}
        return {name: v for name, v in vars(self).items() if name != "sandwich"} | arrays

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> ObservedLikelihood:
        """Restore from :meth:`to_dict`."""
        return cls(**{**record, **{name: np.array(record[name], dtype=float) for name in _ARRAYS}})


def _likelihood(
    data: ObservedRows, A: BoolArray, model: LinearGaussianModel, *, converged: bool
) -> ObservedLikelihood:
    """What inference needs from an estimate on the standardised scale; A is the adjacency."""
    at_estimate, _ = data.expected(model.mean, model.precision)
    best = data.saturated()
    return ObservedLikelihood(
        at_estimate.log_likelihood,
        best.log_likelihood,
        data.independent_log_likelihood(),
        best.covariance * np.outer(data.scale, data.scale),
        _information(data, A, model),
        data.scale,
        converged,
    )


def _information(data: ObservedRows, A: BoolArray, model: LinearGaussianModel) -> FloatArray:
    """Observed information: weights of the edges, noise variances, means.

    The negative Hessian, by central differences of the exact gradient.
    """
    m, p = np.count_nonzero(A), len(A)

    def gradient(parameters: FloatArray) -> FloatArray:
        """Gradient of the observed log-likelihood: the expected one of complete rows (Fisher)."""
        C = np.eye(p)
        C[A] -= parameters[:m]
        omega, mean = parameters[m : m + p], parameters[m + p :]
        K = C / omega @ C.T
        expected, _ = data.expected(mean, K)
        shift = expected.mean - mean
        SC = (expected.covariance + np.outer(shift, shift)) @ C
        by_weight = SC / omega - np.linalg.inv(C).T
        by_variance = 0.5 * ((C * SC).sum(axis=0) / omega - 1) / omega
        return data.n_rows * np.concatenate([by_weight[A], by_variance, K @ shift])

    parameters = np.concatenate([model.B[A], model.noise_variances, model.mean])
    steps = np.full(len(parameters), _STEP)
    steps[m : m + p] *= model.noise_variances
    rows = [gradient(parameters - step) - gradient(parameters + step) for step in np.diag(steps)]
    hessian = np.array(rows) / (2 * steps[:, None])
    return np.asarray((hessian + hessian.T) / 2)


def _sandwich(data: ObservedRows, A: BoolArray, model: LinearGaussianModel) -> Sandwich:
    """The scores of rows with missing cells; tr(UΓ) by Yuan and Bentler, as lavaan's ``"MLR"``."""
    p = len(A)
    own, meat = _scatter(data, A, model)
    if p > _MOST_TESTED:
        return Sandwich(meat, np.nan, np.nan)
    best = data.saturated()
    # A full acyclic graph generates every covariance.
    L = np.linalg.cholesky(best.covariance)
    B = np.eye(p) - np.linalg.inv(L / L.diagonal()).T
    full = LinearGaussianModel(np.triu(B, 1), L.diagonal() ** 2, mean=best.mean)
    everything, _ = _scatter(data, np.triu(np.ones((p, p), dtype=bool), 1), full)
    # Without edges, columns are independent.
    alone = LinearGaussianModel(np.zeros((p, p)), np.ones(p))
    nothing, _ = _scatter(data, np.zeros((p, p), dtype=bool), alone)
    return Sandwich(meat, everything - own, everything - nothing)


def _scatter(
    data: ObservedRows, A: BoolArray, model: LinearGaussianModel
) -> tuple[float, FloatArray]:
    """tr(I⁻¹ J) and J, the covariance of the scores of a row, of a model on a graph."""
    p, omega, K = len(A), model.noise_variances, model.precision
    Z = data.expected(model.mean, K)[1] - model.mean
    scores = np.hstack([row_scores(Z, A, model.B, omega), Z @ K])
    m = int(A.sum())
    C = np.eye(p) - model.B
    ends = zip(data.row_ends, data.hole_ends, strict=True)
    first = hole = 0
    for last, end in ends:
        # The uncertainty of missing cells contributes too.
        holes = data.holes[hole:end]
        V = np.zeros((p, p))
        V[np.ix_(holes, holes)] = np.linalg.inv(K[np.ix_(holes, holes)])
        scores[first:last, :m] += (V @ C / omega)[A]
        scores[first:last, m : m + p] += 0.5 * (C * (V @ C)).sum(axis=0) / omega**2
        first, hole = last, end
    scores -= scores.mean(axis=0)
    meat = scores.T @ scores / len(scores)
    inverse, _ = inverse_of(_information(data, A, model) / len(scores))
    return float((inverse * meat).sum()), meat


# The test of fit of rows with missing cells takes the information of all covariances, by
# differences: with more columns than this it takes minutes, and is not made robust.
_MOST_TESTED = 15
# Largest change of a standardised mean or covariance at which EM has converged.
_TOLERANCE = 1e-9
_MAX_ITERATIONS = 5_000
# Negative log-likelihood per row by which another solution must be better to restart from it.
_BETTER = 1e-8
_MAX_RESTARTS = 10


def fit_rows_with_holes(
    graph: DirectedGraph,
    X: FloatArray,
    options: components.FitOptions,
    *,
    order: tuple[int, ...],
    is_robust: bool = False,
) -> tuple[Moments, ObservedLikelihood]:
    """Maximise the likelihood of the observed cells on a graph.

    Returns the moments at which EM converged, and the likelihood.

    ``options`` are those of the fit from all starts. It is run on the saturated covariance first,
    and on the final one to see whether another solution has become better.
    """
    # Process columns in the order of their names, as every fit does.
    back = np.argsort(order)
    by_name = ObservedRows.of(X[:, list(order)])
    observed = _reordered(by_name, back)
    start = by_name.saturated()
    expected = Expected(start.mean[back], start.covariance[np.ix_(back, back)], 0.0)
    fits: tuple[components.ComponentFit, ...] = ()
    iterations, change = 0, np.inf
    for _ in range(_MAX_RESTARTS):
        R, scale = _correlation(expected.covariance)
        found = components.fit_components(graph, R, options, order)
        if fits and _value(found) > _value(fits) - _BETTER:
            fits = found
            break
        fits, mean, K = found, expected.mean, _precision(graph, found, scale)
        while iterations < _MAX_ITERATIONS:
            iterations += 1
            expected, _ = observed.expected(mean, K)
            R, scale = _correlation(expected.covariance)
            fits = tuple(_refitted(R, each, options) for each in fits)
            last, K = K, _precision(graph, fits, scale)
            change = float(np.abs(expected.mean - mean).max())
            change = max(change, float(np.abs(np.linalg.inv(K) - np.linalg.inv(last)).max()))
            mean = expected.mean
            if change <= _TOLERANCE:
                break
    _, scale = _correlation(expected.covariance)
    model = components.models_of(graph, fits, scale, expected.mean)[0]
    A = graph.adjacency
    likelihood = _likelihood(observed, A, model, converged=change <= _TOLERANCE)
    if is_robust and likelihood.converged:
        likelihood = replace(likelihood, sandwich=_sandwich(observed, A, model))
    units = observed.scale
    moments = Moments(
        expected.covariance * np.outer(units, units),
        len(X),
        observed.centre + units * expected.mean,
        graph.names,
    )
    return moments, likelihood


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


def _value(fits: tuple[components.ComponentFit, ...]) -> float:
    return sum(component.value for component in fits)


def _refitted(
    R: FloatArray, component: components.ComponentFit, options: components.FitOptions
) -> components.ComponentFit:
    """Refit a component to other correlations, starting from its estimate."""
    columns = component.columns
    if component.iterations == 0:
        return components.fit_single_nodes(R, columns)
    start = component.solutions[0].coefficients[None, :]
    runs = components.ComponentRuns.of(R, columns, start, options.tolerance, options.max_iterations)
    return components.solutions_of(R, runs)


def _precision(
    graph: DirectedGraph, fits: tuple[components.ComponentFit, ...], scale: FloatArray
) -> FloatArray:
    model = components.models_of(graph, fits, scale)[0]
    if not np.isfinite(model.B).all() or not (model.noise_variances > 0).all():
        raise InputError(
            "on this graph the likelihood of the observed cells has no maximum; drop edges, or "
            "use missing='rows'"
        )
    return model.precision
