"""Rows with missing values, in the order of their patterns, and the observed-data likelihood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cyclearn.foundation.arrays import BoolArray, FloatArray, IntArray
from cyclearn.foundation.errors import InputError

# Largest change of a standardised mean or covariance at which EM has converged.
_TOLERANCE = 1e-9
_MAX_ITERATIONS = 5_000


class Expected(NamedTuple):
    """Expectation given the observed cells: mean, covariance and log-likelihood."""

    mean: FloatArray
    covariance: FloatArray
    log_likelihood: float


@dataclass(frozen=True, eq=False)
class Saturated:
    """Maximum likelihood mean and covariance of the joint normal, and how they were reached."""

    mean: FloatArray
    covariance: FloatArray
    log_likelihood: float
    iterations: int
    change: float

    @property
    def converged(self) -> bool:
        """Whether the last step was within the tolerance."""
        return self.change <= _TOLERANCE


@dataclass(frozen=True, eq=False)
class ObservedRows:
    """Rows with missing cells, standardised by the observed cells and sorted by pattern.

    ``row_ends`` and ``hole_ends`` are the ends of the rows and the missing cells of each pattern.
    """

    rows: FloatArray
    is_hole: BoolArray
    row_ends: IntArray
    holes: IntArray
    hole_ends: IntArray
    centre: FloatArray
    scale: FloatArray
    n_observed: int
    log_scale: float
    order: IntArray

    @classmethod
    def of(cls, X: FloatArray) -> ObservedRows:
        """From a table of shape (n, p) with NaN for missing cells."""
        is_hole = np.isnan(X)
        centre, scale = np.nanmean(X, axis=0), np.nanstd(X, axis=0)
        patterns, pattern_of = np.unique(is_hole, axis=0, return_inverse=True)
        pattern_of = pattern_of.ravel()
        order = np.argsort(pattern_of, kind="stable")
        holes = [np.flatnonzero(pattern) for pattern in patterns]
        return cls(
            rows=np.ascontiguousarray(((X - centre) / scale)[order]),
            is_hole=is_hole[order],
            row_ends=np.cumsum(np.bincount(pattern_of)).astype(np.int64),
            holes=np.concatenate(holes).astype(np.int64),
            hole_ends=np.cumsum([len(each) for each in holes]).astype(np.int64),
            centre=centre,
            scale=scale,
            n_observed=int((~is_hole).sum()),
            log_scale=float((~is_hole).sum(axis=0) @ np.log(scale)),
            order=order,
        )

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.rows)

    def expected(self, mean: FloatArray, K: NDArray[Any]) -> tuple[Expected, FloatArray]:
        """Moments to expect under a mean and a precision (standardised), and the filled rows.

        The log-likelihood is that of the observed cells at this mean and precision, in the units
        of the data.
        """
        from cyclearn._kernels.expected_rows import fill_holes

        n, p = self.rows.shape
        K, extra = np.ascontiguousarray(K, dtype=float), np.zeros((p, p))
        centred = self.rows - mean
        centred[self.is_hole] = 0.0
        log_dets = fill_holes(
            centred, centred @ K, self.row_ends, self.holes, self.hole_ends, K, extra
        )
        sign, log_det = np.linalg.slogdet(K)
        if not np.isfinite(log_dets) or sign <= 0:
            raise InputError(
                "a covariance matrix became singular during the fit: there are too few rows, or "
                "some columns are determined by others"
            )
        squares = centred.T @ centred
        value = 0.5 * (n * log_det - log_dets - float((K * squares).sum()))
        value -= 0.5 * self.n_observed * np.log(2 * np.pi) + self.log_scale
        shift = centred.mean(axis=0)
        covariance = (squares + extra) / n - np.outer(shift, shift)
        symmetric = (covariance + covariance.T) / 2
        return Expected(mean + shift, symmetric, float(value)), centred + mean

    def saturated(self) -> Saturated:
        """Maximum likelihood mean and covariance by EM (Dempster, Laird and Rubin), standardised.

        Starts from the variances of the observed cells, without covariances.
        """
        p = self.rows.shape[1]
        mean, S, change = np.zeros(p), np.eye(p), np.inf
        iterations = 0
        while change > _TOLERANCE and iterations < _MAX_ITERATIONS:
            iterations += 1
            try:
                found, _ = self.expected(mean, np.linalg.inv(S))
            except np.linalg.LinAlgError:
                raise InputError(
                    "the covariance matrix becomes singular: there are too few rows"
                ) from None
            change = max(
                float(np.abs(found.mean - mean).max()), float(np.abs(found.covariance - S).max())
            )
            mean, S = found.mean, found.covariance
        last, _ = self.expected(mean, np.linalg.inv(S))
        return Saturated(mean, S, last.log_likelihood, iterations, change)

    def independent_log_likelihood(self) -> float:
        """Log-likelihood of independent columns."""
        return float(-0.5 * self.n_observed * (1 + np.log(2 * np.pi)) - self.log_scale)
