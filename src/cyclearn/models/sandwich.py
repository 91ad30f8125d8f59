"""Inference without the assumption of Gaussian rows: sandwich errors and a rescaled chi-square.

With I the observed information of a row and J the covariance of its scores, estimates have the
covariance I⁻¹ J I⁻¹ / n (Huber and White; lavaan's ``estimator = "MLR"``). The chi-square is
divided by tr(UΓ) / df (Satorra and Bentler 1994; ``"MLM"``), where Γ is the covariance of the
products of a row. tr(UΓ) is the scatter of the products in the saturated model minus the part that
the graph absorbs: ½ E tr(K(zzᵀ − S))² − tr(I⁻¹ J), K the implied precision and I the expected
information.

With ordinal columns zzᵀ − S is the influence of a row on their latent correlations.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from math import isqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from cyclearn.data.latent_correlations import influences, row_parts
from cyclearn.data.moments import Moments
from cyclearn.foundation.arrays import BoolArray, FloatArray

if TYPE_CHECKING:
    from cyclearn.models.fitted_model import FittedModel

# Eigenvalues of the information, scaled to a unit diagonal, that count as zero.
_FLAT = 1e-8
# Smaller entries of a scaled information are zero but for rounding.
_ROUNDING = 1e-14


@dataclass(frozen=True, eq=False)
class Sandwich:
    """What robust inference needs from the rows.

    Attributes
    ----------
    meat : array
        Covariance of the scores of a row: weights in row-major order, noise variances and, with
        missing cells, means; of standardised columns.
    trace, baseline_trace : float
        tr(UΓ) of the graph, and of independence; NaN with missing cells.
    """

    meat: FloatArray
    trace: float
    baseline_trace: float

    def scaled(self, share: float) -> Sandwich:
        """The same, if only the likelihood gives rows this weight."""
        return Sandwich(self.meat * share, self.trace * share, self.baseline_trace * share)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        # As numbers, the entries of a large graph would be 20 MB of text that takes a second.
        meat = self.meat.astype("<f8").tobytes()
        return vars(self) | {"meat": b64encode(meat).decode("ascii")}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Sandwich:
        """Restore from :meth:`to_dict`."""
        meat = record["meat"]
        if isinstance(meat, str):
            entries = np.frombuffer(b64decode(meat, validate=True), dtype="<f8").astype(float)
            meat = entries.reshape(isqrt(len(entries)), -1)
        # Older files have lists.
        checked = np.asarray_chkfinite(meat, dtype=float)
        return cls(**{**record, "meat": checked})


def information_of(S: FloatArray, A: BoolArray, B: FloatArray, omega: FloatArray) -> FloatArray:
    """Information of a row about all weights, in row-major order, and all noise variances.

    The observed one with the covariance of the data as S, the expected one with that of the model.
    """
    i, j = np.nonzero(A)
    m, p = len(i), len(A)
    C = np.eye(p) - B
    M = np.linalg.inv(C)
    found = np.zeros((m + p, m + p))
    # Rows first: entry by entry, a thousand edges take three times as long.
    across = M[j][:, i]
    np.multiply(across, across.T, out=found[:m, :m])
    for child in range(p):
        own = np.flatnonzero(j == child)
        found[np.ix_(own, own)] += S[np.ix_(i[own], i[own])] / omega[child]
    found[np.arange(m), m + j] = found[m + j, np.arange(m)] = (S @ C)[i, j] / omega[j] ** 2
    found[m:, m:] = np.diag(0.5 / omega**2)
    return found


def inverse_of(information: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The pseudo-inverse without flat directions, and these in columns.

    There are flat directions only where parameters are not identified. Parameters that tell nothing
    about each other are inverted apart, which saves time in large graphs.
    """
    from scipy.sparse.csgraph import connected_components

    unit = np.sqrt(np.maximum(information.diagonal(), np.finfo(float).tiny))
    scaled = information / unit / unit[:, None]
    n_parts, part = connected_components(np.abs(scaled) > _ROUNDING, directed=False)
    inverse, flat = np.zeros_like(scaled), [np.empty((len(unit), 0))]
    for own in (np.flatnonzero(part == number) for number in range(n_parts)):
        inverse[np.ix_(own, own)], directions = _block_inverse(scaled[np.ix_(own, own)])
        if directions.size:
            flat.append(np.zeros((len(unit), directions.shape[1])))
            flat[-1][own] = directions
    return inverse / unit / unit[:, None], np.hstack(flat)


def _block_inverse(block: FloatArray) -> tuple[FloatArray, FloatArray]:
    try:
        # A third of the time of the eigenvectors. If it is positive definite and its inverse is not
        # large, no direction is flat.
        np.linalg.cholesky(block)
        inverse = np.linalg.inv(block)
        if np.linalg.norm(inverse) * _FLAT < 1:
            return 0.5 * (inverse + inverse.T), np.empty((len(block), 0))
    except np.linalg.LinAlgError:
        pass
    values, vectors = np.linalg.eigh(block)
    kept = values > _FLAT
    return vectors[:, kept] / values[kept] @ vectors[:, kept].T, vectors[:, ~kept]


def row_scores(Z: FloatArray, A: BoolArray, B: FloatArray, omega: FloatArray) -> FloatArray:
    """Scores of rows of mean zero, up to a constant: weights and noise variances."""
    i, j = np.nonzero(A)
    E = Z - Z @ B
    return np.hstack([Z[:, i] * E[:, j] / omega[j], 0.5 * (E / omega) ** 2])


def sandwich_of(fitted: FittedModel, rows: FloatArray, weights: FloatArray | None) -> Sandwich:
    """The sandwich covariance of an estimate from rows."""
    moments = fitted.moments
    scale, e = moments.scale, moments.is_exogenous
    S, A = moments.correlation, fitted.graph.adjacency
    B, omega = fitted.B * scale[:, None] / scale, fitted.noise_variances / scale**2
    sigma, given = fitted.covariance / np.outer(scale, scale), np.zeros(S.shape)
    given[np.ix_(e, e)] = np.linalg.inv(S[np.ix_(e, e)])
    # Exogenous variables contribute equally in every model.
    precisions = np.array([np.linalg.inv(sigma), given + np.diag(~e), given])
    if moments.ordered:
        meat, scattered, squares = _of_latent_rows(rows, moments, (A, B, omega), precisions)
    else:
        meat, scattered, squares = _of_rows(rows, moments, (A, B, omega), precisions, weights)
    kept = np.concatenate([np.ones(int(A.sum()), dtype=bool), ~e])
    expected = information_of(sigma, A, B, omega)[np.ix_(kept, kept)]
    taken_up = float((inverse_of(expected)[0] * meat[np.ix_(kept, kept)]).sum())
    whole, alone, aside = (float(each) for each in scattered)
    return Sandwich(meat, whole - aside - taken_up, alone - aside - 0.5 * float(squares[~e].sum()))


def _of_rows(
    rows: FloatArray,
    moments: Moments,
    parameters: tuple[BoolArray, FloatArray, FloatArray],
    precisions: FloatArray,
    weights: FloatArray | None,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Covariance of scores, ½ E tr(K(zzᵀ − S))² for each K, and E(z² − 1)² of each column."""
    assert moments.mean is not None
    Z, S = (rows - moments.mean) / moments.scale, moments.correlation
    # A row of weight w has w times the score: squares count in its covariance.
    shares = np.full(len(Z), 1 / len(Z)) if weights is None else weights**2 / (weights**2).sum()
    scores = row_scores(Z, *parameters)
    # At a maximum their mean is known without rounding: it is that of the data.
    first = shares if weights is None else weights / weights.sum()
    scores -= first @ scores
    scattered = []
    for K in precisions:
        KS = K @ S
        squares = (Z @ K * Z).sum(axis=1)
        across = (Z @ (KS @ K) * Z).sum(axis=1)
        scattered.append(0.5 * (shares @ (squares**2 - 2 * across) + (KS * KS.T).sum()))
    return (scores * shares[:, None]).T @ scores, np.array(scattered), shares @ (Z**2 - 1) ** 2


def _of_latent_rows(
    rows: FloatArray,
    moments: Moments,
    parameters: tuple[BoolArray, FloatArray, FloatArray],
    precisions: FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The same, from the influence of rows on latent correlations."""
    A, B, omega = parameters
    i, j = np.nonzero(A)
    C = np.eye(len(A)) - B
    influence = influences(rows, np.isin(moments.names, moments.ordered), moments.correlation)
    meat, scattered, squares = np.zeros(1), np.zeros(1), np.zeros(1)
    for part in row_parts(rows):
        moved = influence(part)
        E = moved @ C
        noise = 0.5 * np.einsum("ij,nij->nj", C, E) / omega**2
        scores = np.hstack([E[:, i, j] / omega[j], noise])
        meat = meat + scores.T @ scores / len(rows)
        traces = [np.einsum("nij,nji->", K @ moved, K @ moved) for K in precisions]
        scattered = scattered + 0.5 * np.array(traces) / len(rows)
        squares = squares + (np.einsum("nii->ni", moved) ** 2).sum(axis=0) / len(rows)
    return meat, scattered, squares
