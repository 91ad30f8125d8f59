"""Standard errors and confidence intervals from the observed information, or robust ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np

from cyclearn.foundation.arguments import between, flag
from cyclearn.foundation.arrays import BoolArray, FloatArray
from cyclearn.foundation.late_imports import pd
from cyclearn.models import components
from cyclearn.models.experiments import shared_information
from cyclearn.models.sandwich import information_of, inverse_of

if TYPE_CHECKING:
    from cyclearn.models.fitted_model import FittedModel


# A parameter moves along a flat direction if its entry exceeds this; the largest entry is 1.
_MOVES = 1e-3
# With a smaller share of nonzero entries, products of sparse matrices are faster.
_SPARSE = 0.1
# Variances below this are zero up to rounding.
_ROUNDING = 1e-24


@dataclass(frozen=True, eq=False)
class ParameterErrors:
    """Standard errors: ``B`` of shape (p, p), ``noise_variances`` of shape (p,).

    NaN if there is no edge, or if a parameter is not identified or the information is singular;
    ``not_identified`` names these parameters.
    """

    B: FloatArray
    noise_variances: FloatArray
    not_identified: tuple[str, ...]


def parameter_errors(fitted: FittedModel) -> ParameterErrors:
    """Standard errors of every parameter: the inverse of n times the observed information.

    The information is block diagonal over components. Where the Fisher information is
    singular, a parameter is identified exactly when it does not move along the flat directions;
    such parameters keep standard errors, from the inverse on the remaining directions. The
    number of flat directions is compared with the generic dimension when the fit is classified
    (a graph with more parameters than dimensions, or a boundary optimum). lavaan gives the same
    errors with ``information = "observed"``; its default is the expected information. If rows are
    not assumed Gaussian, standard errors are those of the sandwich.
    """
    graph, experiments = fitted.graph, fitted.experiments
    p, m = graph.n_nodes, graph.n_edges
    B, variances = np.full((p, p), np.nan), np.full(p, np.nan)
    nodes = np.arange(p) if experiments is None else np.flatnonzero(~experiments.is_set_everywhere)
    covariance, flat = parameter_covariance(fitted)
    if experiments is None:
        is_known, moves = _known_parameters(fitted)
    else:
        moves = moving(flat) & fitted.converged
        is_known = ~moves & fitted.converged
    deviations = np.where(is_known, np.sqrt(covariance.diagonal()), np.nan)
    edges = np.argwhere(graph.adjacency)
    B[edges[:, 0], edges[:, 1]], variances[nodes] = deviations[:m], deviations[m:]
    labels = parameter_labels(fitted.names, edges, nodes)
    return ParameterErrors(B, variances, tuple(compress(labels, moves)))


def _known_parameters(fitted: FittedModel) -> tuple[BoolArray, BoolArray]:
    """Which parameters have standard errors, and which are not identified, of one table."""
    A, R = fitted.graph.adjacency, fitted.moments.correlation
    place, m = np.cumsum(A).reshape(A.shape) - 1, int(A.sum())
    is_known, moves = np.ones(m + len(A), dtype=bool), np.zeros(m + len(A), dtype=bool)
    for component in fitted.components:
        columns = component.columns
        own = np.concatenate([place[columns.parents, columns.children], m + columns.nodes])
        is_known[own] = component.status.is_converged
        if component.iterations == 0 or not component.status.is_converged:
            continue
        flat = components.flat_directions(R, columns, component.solutions[0])
        moves[own] = moving(flat)
        if flat.shape[1]:
            # At special points, such as a zero weight, a parameter may have no first-order effect.
            weights = np.random.default_rng(0).standard_normal(len(columns.parents))
            elsewhere = components.ComponentSolution(weights, np.ones(len(columns.nodes)), np.nan)
            moves[own] |= moving(components.flat_directions(R, columns, elsewhere))
    return is_known & ~moves, moves


def parameter_covariance(fitted: FittedModel) -> tuple[FloatArray, FloatArray]:
    """Covariance of all weights, in row-major order, and of the ordinary noise variances.

    Also returns, in columns, the directions in which the likelihood is flat. With missing cells,
    means carry information about weights, so that the information is not block diagonal.
    """
    A, n = fitted.graph.adjacency, fitted.n_effective
    parents, children = np.nonzero(A)
    if fitted.experiments is not None:
        scale = fitted.experiments.scale
        B = fitted.B * scale[:, None] / scale
        information, _ = shared_information(fitted.experiments, B, np.argwhere(A))
    elif fitted.observed is not None:
        scale, information = fitted.observed.scale, fitted.observed.information
    else:
        scale = fitted.moments.scale
        B, omega = fitted.B * scale[:, None] / scale, fitted.noise_variances / scale**2
        information = n * information_of(fitted.moments.correlation, A, B, omega)
    covariance, flat = inverse_of(information)
    if fitted.sandwich is not None:
        covariance = n * _around(covariance, fitted.sandwich.meat)
    # The variance of an ordinal variable without causes is one, which nothing estimates.
    covariance[np.abs(covariance) < _ROUNDING] = 0.0
    units = scale[children] / scale[parents]
    kept, own = np.arange(len(units) + len(A)), np.arange(len(A))
    if fitted.experiments is not None:
        own = np.flatnonzero(~fitted.experiments.is_set_everywhere)
        kept = np.concatenate([kept[: len(units)], len(units) + fitted.experiments.at[own]])
    units = np.concatenate([units, scale[own] ** 2])
    return covariance[np.ix_(kept, kept)] * np.outer(units, units), flat[kept]


def _around(bread: FloatArray, meat: FloatArray) -> FloatArray:
    """The product bread · meat · bread; the bread of a graph with small loops is mostly zero."""
    from scipy.sparse import csr_array

    is_sparse = np.count_nonzero(bread) < _SPARSE * bread.size
    outer = csr_array(bread) if is_sparse else bread
    return np.asarray(outer @ (outer @ meat).T)


def moving(flat: FloatArray) -> BoolArray:
    """Which parameters move along flat directions, which are in columns."""
    return np.asarray((np.abs(flat) > _MOVES).any(axis=1))


def parameter_labels(
    names: tuple[str, ...], edges: Iterable[Sequence[int]], nodes: Iterable[int]
) -> list[str]:
    """Names of weights and of noise variances: ``a -> b`` and ``var(a)``."""
    weights = [f"{names[i]} -> {names[j]}" for i, j in edges]
    return weights + [f"var({names[v]})" for v in nodes]


def confidence_intervals(fitted: FittedModel, level: float = 0.95) -> pd.DataFrame:
    """Wald intervals, estimate ± z · standard error: columns ``lower`` and ``upper``.

    NaN if there is no standard error.
    """
    return summary(fitted, level)[["lower", "upper"]]


def summary(
    fitted: FittedModel, level: float = 0.95, *, standardised: bool = False
) -> pd.DataFrame:
    """Table of the parameters: estimate, standard error, z, p-value, interval.

    Rows are ``a -> b`` by source, then ``var(a)``. z and the two-sided p-value test an edge weight
    against zero; variances have neither. ``standardised``: weights in standard deviations of the
    effect per standard deviation of the cause, variances as shares of the variance, standard errors
    and intervals on the same scales, which are treated as known.
    """
    flag("standardised", standardised)
    edges = np.argwhere(fitted.graph.adjacency)
    i, j = edges[:, 0], edges[:, 1]
    estimates = np.concatenate([fitted.B[i, j], fitted.noise_variances])
    errors = np.concatenate([fitted.errors.B[i, j], fitted.errors.noise_variances])
    if standardised:
        scale = np.sqrt(fitted.covariance.diagonal())
        units = np.concatenate([scale[i] / scale[j], scale**-2.0])
        estimates, errors = estimates * units, errors * units
    labels = parameter_labels(fitted.names, edges, range(len(fitted.names)))
    table = pd.DataFrame(tested(estimates, errors, level), index=pd.Index(labels, name="parameter"))
    table.iloc[len(edges) :, 2:4] = np.nan
    # Exogenous variables have no variance to be estimated.
    return table.drop(index=[f"var({name})" for name in fitted.exogenous])


def tested(estimates: FloatArray, errors: FloatArray, level: float) -> dict[str, FloatArray]:
    """Estimates with errors, z and p-value against zero, and Wald intervals, as columns."""
    from scipy.special import ndtr, ndtri

    between("level", level, 0, 1, 0.95)
    # The weight of an absent edge is zero without error.
    z = np.divide(estimates, errors, out=np.full_like(errors, np.nan), where=errors > 0)
    half = ndtri(0.5 + level / 2) * errors
    return {
        "estimate": estimates,
        "std_error": errors,
        "z": z,
        "p_value": 2 * ndtr(-np.abs(z)),
        "lower": estimates - half,
        "upper": estimates + half,
    }
