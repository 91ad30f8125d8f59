"""Standard errors and confidence intervals from the observed information, or robust ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np

from cyclearn.foundation.arguments import between, flag
from cyclearn.foundation.arrays import BoolArray, FloatArray
from cyclearn.models.components import (
    ComponentColumns,
    ComponentFit,
    ComponentSolution,
    flat_directions,
)
from cyclearn.models.sandwich import information_of, inverse_of

if TYPE_CHECKING:
    import pandas as pd

    from cyclearn.models.fitted_model import FittedModel


# A parameter moves along a flat direction if its entry exceeds this; the largest entry is 1.
_MOVES = 1e-3
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
    if fitted.experiments is not None:
        from cyclearn.models.experiments import shared_errors

        return shared_errors(fitted, fitted.experiments)
    p = fitted.graph.n_nodes
    B = np.full((p, p), np.nan)
    variances = np.full(p, np.nan)
    unnamed: list[str] = []
    scale = fitted.moments.scale
    R = fitted.moments.correlation
    for component in fitted.components:
        for columns, solution in _blocks(component):
            if not component.status.is_converged:
                continue
            deviations, moves = _block_errors(R, columns, solution, fitted.n_effective)
            m = len(columns.parents)
            parents, children = columns.parents, columns.children
            B[parents, children] = deviations[:m] * scale[children] / scale[parents]
            variances[columns.nodes] = deviations[m:] * scale[columns.nodes] ** 2
            edges = zip(parents, children, strict=True)
            unnamed += compress(parameter_labels(fitted.names, edges, columns.nodes), moves)
    if fitted.observed is not None or fitted.sandwich is not None:
        # Parameters not identified from complete Gaussian rows are not identified here.
        covariance, _ = parameter_covariance(fitted)
        # The variance of an ordinal variable without causes is one by definition, not estimated.
        found, m = covariance.diagonal(), fitted.graph.n_edges
        deviations = np.sqrt(np.where(found > _ROUNDING, found, 0.0))
        parents, children = np.nonzero(fitted.graph.adjacency)
        known = ~np.isnan(B[parents, children])
        B[parents[known], children[known]] = deviations[:m][known]
        variances = np.where(np.isnan(variances), np.nan, deviations[m:])
    return ParameterErrors(B, variances, tuple(unnamed))


def parameter_covariance(fitted: FittedModel) -> tuple[FloatArray, FloatArray]:
    """Covariance of all weights, in row-major order, and for one table also of the noise variances.

    Also returns, in columns, the directions in which the likelihood is flat. With missing cells,
    means carry information about weights, so that the information is not block diagonal.
    """
    A, n = fitted.graph.adjacency, fitted.n_effective
    parents, children = np.nonzero(A)
    if fitted.experiments is not None:
        from cyclearn.models.experiments import shared_information

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
        covariance = n * covariance @ fitted.sandwich.meat @ covariance
    units = scale[children] / scale[parents]
    if fitted.experiments is None:
        units = np.concatenate([units, scale**2])
    k = len(units)
    return covariance[:k, :k] * np.outer(units, units), flat[:k]


def _blocks(component: ComponentFit) -> Iterator[tuple[ComponentColumns, ComponentSolution]]:
    """The component; single nodes, which were fitted together, separately."""
    columns, solution = component.columns, component.solutions[0]
    if component.iterations > 0:
        yield columns, solution
        return
    for i in range(len(columns.nodes)):
        own = slice(columns.offsets[i], columns.offsets[i + 1])
        parents = columns.parents[own]
        yield (
            ComponentColumns(
                columns.nodes[i : i + 1],
                np.array([0, len(parents)]),
                parents,
                columns.children[own],
                columns.inside[own],
                columns.ends,
            ),
            ComponentSolution(solution.coefficients[own], solution.noise_variances[i : i + 1], 0.0),
        )


def _block_errors(
    R: FloatArray, columns: ComponentColumns, solution: ComponentSolution, n: float
) -> tuple[FloatArray, BoolArray]:
    """Standard errors on the standardised scale, and which parameters are not identified."""
    from cyclearn._kernels.component_information import information

    b, noise = solution.coefficients, solution.noise_variances
    info = information(R, *columns.layout, b, noise)
    # At a maximum the information is not negative; a vanishing diagonal is due to rounding.
    scale = np.sqrt(np.maximum(info.diagonal(), np.finfo(float).tiny))
    scaled = info / scale / scale[:, None]
    flat = flat_directions(R, columns, solution)
    moves = moving(flat)
    if flat.shape[1]:
        # At special points, such as a zero weight, a parameter may have no first-order effect.
        weights = np.random.default_rng(0).standard_normal(len(columns.parents))
        elsewhere = ComponentSolution(weights, np.ones(len(columns.nodes)), np.nan)
        moves |= moving(flat_directions(R, columns, elsewhere))
    basis = np.eye(len(scaled))
    if flat.shape[1]:
        basis = np.linalg.svd(flat)[0][:, flat.shape[1] :]
    try:
        inverse = np.linalg.inv(basis.T @ scaled @ basis)
    except np.linalg.LinAlgError:
        return np.full(len(scaled), np.nan), np.ones(len(scaled), dtype=bool)
    variances = ((basis @ inverse) * basis).sum(axis=1)
    deviations = np.full(len(scaled), np.nan)
    known = ~moves & (variances > 0)
    deviations[known] = np.sqrt(variances[known] / n) / scale[known]
    return deviations, moves


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
    import pandas as pd

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
