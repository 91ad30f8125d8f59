"""Standard errors of a fit to tables with interventions: the observed information of all tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cyclearn.models.experiments import Experiments
from cyclearn.models.inference import ParameterErrors

if TYPE_CHECKING:
    from cyclearn.models.fitted_model import FittedModel

FloatArray = NDArray[np.float64]

# Eigenvalues of the information, scaled to a unit diagonal, that count as zero.
_FLAT = 1e-8
# A parameter moves along a flat direction when its entry exceeds this.
_MOVES = 1e-3


def shared_information(
    experiments: Experiments, B: FloatArray, edges: NDArray[np.int64]
) -> tuple[FloatArray, FloatArray]:
    """Second derivatives of the negative log-likelihood of all rows, on the standardised scale.

    Parameters are the weights of ``edges``, shape (m, 2), and then the noise variances term by
    term; returned are the matrix and these variances.
    """
    m, n_terms = len(edges), len(experiments.which)
    n = experiments.tables.n_samples
    info = np.zeros((m + n_terms, m + n_terms))
    variances = np.empty(n_terms)
    p = len(B)
    Q = np.eye(p) - B
    for i in range(p):
        into = np.flatnonzero(edges[:, 1] == i)
        parents = edges[into, 0]
        for t in range(experiments.at[i], experiments.at[i + 1]):
            S, rows = experiments.matrices[experiments.which[t]], n * experiments.weights[t]
            variance = variances[t] = Q[:, i] @ S @ Q[:, i]
            info[np.ix_(into, into)] += rows * S[np.ix_(parents, parents)] / variance
            cross = rows * (S[parents] @ Q[:, i]) / variance**2
            info[into, m + t] = info[m + t, into] = cross
            info[m + t, m + t] = rows / (2 * variance**2)
    source, target = edges[:, 0], edges[:, 1]
    for table, targets in zip(experiments.tables, experiments.targeted, strict=True):
        cut = np.where(targets.astype(bool), np.eye(p), Q)
        M = np.linalg.inv(cut)
        free = ~targets.astype(bool)[target]
        second = M[np.ix_(target, source)]
        info[:m, :m] += table.moments.n_samples * second * second.T * np.outer(free, free)
    return info, variances


def shared_errors(fitted: FittedModel, experiments: Experiments) -> ParameterErrors:
    """Standard errors of weights and ordinary noise variances, on the scale of the data."""
    names, scale = fitted.names, experiments.scale
    p = len(names)
    edges = np.argwhere(fitted.graph.adjacency)
    errors = np.full((p, p), np.nan)
    variances = np.full(p, np.nan)
    if not fitted.converged:
        return ParameterErrors(errors, variances, ())
    info, _ = shared_information(experiments, fitted.B * scale[:, None] / scale, edges)
    unit = np.sqrt(np.maximum(info.diagonal(), np.finfo(float).tiny))
    values, vectors = np.linalg.eigh(info / unit / unit[:, None])
    kept = values > _FLAT
    moves = (np.abs(vectors[:, ~kept]) > _MOVES).any(axis=1)
    deviations = np.sqrt((vectors[:, kept] ** 2 / values[kept]).sum(axis=1)) / unit
    deviations[moves] = np.nan
    source, target = edges[:, 0], edges[:, 1]
    m = len(edges)
    errors[source, target] = deviations[:m] * scale[target] / scale[source]
    has_term = ~experiments.is_set_everywhere
    first = experiments.at[:-1][has_term]
    variances[has_term] = deviations[m + first] * scale[has_term] ** 2
    labels = [f"{names[i]} -> {names[j]}" for i, j in edges]
    unknown = [label for label, moved in zip(labels, moves[:m], strict=True) if moved]
    unknown += [
        f"var({names[j]})"
        for j, moved in zip(np.flatnonzero(has_term), moves[m + first], strict=True)
        if moved
    ]
    return ParameterErrors(errors, variances, tuple(unknown))
