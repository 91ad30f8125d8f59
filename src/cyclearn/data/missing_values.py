"""Tables with missing values: mean, covariance and effective sample size.

``"em"`` is maximum likelihood for the joint normal distribution, which is valid if cells are
missing at random (MAR). ``"rows"`` keeps the complete rows, which is valid if cells are missing
completely at random (MCAR). ``"pairwise"`` takes each covariance from the rows that have both
columns.

The effective sample size: for independent columns, the correlation of a pair is as variable as in
the rows in which both were observed, for ``"em"`` as for ``"pairwise"``; for dependent columns
maximum likelihood learns more. The harmonic mean of these numbers over the pairs makes the
likelihood ratios of superfluous edges right on average, and never too large by design.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from cyclearn.data.moments import Moments, moments_of, name_order
from cyclearn.data.observed_rows import ObservedRows, Saturated
from cyclearn.data.rows import Rows
from cyclearn.foundation.arrays import BoolArray, FloatArray
from cyclearn.foundation.errors import InputError

Missing = Literal["error", "em", "rows", "pairwise"]
TREATMENTS: tuple[Missing, ...] = ("error", "em", "rows", "pairwise")

# Smallest eigenvalue of a pairwise correlation matrix; below it correlations are shrunk.
_LEAST_EIGENVALUE = 1e-3


@dataclass(frozen=True)
class Holes:
    """How much was missing, and how it was treated.

    ``share`` is the share of missing cells; ``n_complete`` counts rows without any; ``iterations``
    and ``converged`` belong to EM, ``shrinkage`` to pairwise covariances: the share of all
    correlations by which they were shrunk to make the matrix positive definite.
    """

    treatment: str
    n_rows: int
    n_complete: int
    share: float
    worst: str
    worst_share: float
    iterations: int = 0
    converged: bool = True
    shrinkage: float = 0.0


@dataclass(frozen=True, eq=False)
class Treated:
    """Moments of a table, the effective sample size, and the rows as filled and as given.

    ``shrinkage`` is the share by which a shrunk covariance reduces all correlations. With ordinal
    columns, ``repaired`` is the share by which all correlations were shrunk to make the matrix
    positive definite; ``avoided`` is that share where columns stayed numbers for this reason.
    """

    moments: Moments
    n_effective: float
    filled: FloatArray
    holes: Holes | None
    raw: FloatArray | None = None
    shrinkage: float = 0.0
    repaired: float = 0.0
    avoided: float = 0.0


def treat_missing(rows: Rows, missing: Missing) -> Treated:
    """Moments of a table, with missing values treated as requested.

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((100, 2))
    >>> X[::4, 0] = np.nan
    >>> for missing in ("em", "rows", "pairwise"):
    ...     treated = treat_missing(Rows.of(X), missing)
    ...     print(treated.moments.n_samples, treated.n_effective)
    100 75.0
    75 75.0
    100 75.0
    """
    X, names = rows.values, rows.names
    is_hole = np.isnan(X)
    if missing == "error" or not is_hole.any():
        rows = rows.within_subjects()
        return Treated(moments_of(rows), rows.n_effective, rows.values, None)
    _check_columns(X, is_hole, names)
    holes = _holes(is_hole, names, missing)
    own = None if rows.is_unnamed else names
    if missing == "rows":
        complete = X[~is_hole.any(axis=1)]
        if len(complete) < 2:
            raise InputError(
                f"{len(complete)} of {len(X)} rows have no missing value; use missing='em', which "
                "uses all rows, or drop the column with the most missing values"
            )
        kept = rows.taken(np.asarray(~is_hole.any(axis=1))).within_subjects()
        return Treated(moments_of(kept), kept.n_effective, kept.values, holes)
    X = X[~is_hole.all(axis=1)]
    together = _rows_together(X, names)
    worth = _harmonic_mean_of_pairs(together)
    if missing == "pairwise":
        S, mean, shrinkage = _pairwise(X, together)
        moments = Moments(S, len(X), mean, own, rows.exogenous)
        return Treated(
            moments, worth, np.where(np.isnan(X), mean, X), replace(holes, shrinkage=shrinkage)
        )
    _check_exogenous(rows, is_hole)
    if len(X) <= X.shape[1]:
        raise InputError(
            f"{len(X)} rows of {X.shape[1]} columns are too few for missing='em'; use fewer "
            "columns, or missing='pairwise'"
        )
    # In the order of the names, so that the order of the columns changes no bit.
    order = np.array(name_order(names, rows.is_unnamed))
    back = np.argsort(order)
    observed = ObservedRows.of(X[:, order])
    found = _saturated(observed, rows.with_values(X[~np.isnan(X).any(axis=1)]))
    S = found.covariance * np.outer(observed.scale, observed.scale)
    mean = observed.centre + observed.scale * found.mean
    _, standard = observed.expected(found.mean, np.linalg.inv(found.covariance))
    filled = np.empty_like(X)
    filled[observed.order] = observed.centre + observed.scale * standard
    moments = Moments(S[np.ix_(back, back)], len(X), mean[back], own, rows.exogenous)
    holes = replace(holes, iterations=found.iterations, converged=found.converged)
    return Treated(moments, worth, filled[:, back], holes)


def _check_exogenous(rows: Rows, is_hole: BoolArray) -> None:
    for name in rows.exogenous:
        if is_hole[:, rows.names.index(name)].any():
            raise InputError(
                f"column {name!r} is exogenous and has missing values, which missing='em' cannot "
                "estimate because no model explains the column; use missing='rows' or 'pairwise'"
            )


def _saturated(observed: ObservedRows, complete: Rows) -> Saturated:
    """The saturated mean and covariance; an error names columns that others determine."""
    try:
        return observed.saturated()
    except InputError:
        if len(complete.values) > len(complete.names):
            moments_of(complete)
        raise


def find_holes(data: Any) -> Holes | None:
    """Which cells of a table are missing; None if none are."""
    rows = Rows.of(data)
    is_hole = np.isnan(rows.values)
    return _holes(is_hole, rows.names, "error") if is_hole.any() else None


def _holes(is_hole: BoolArray, names: tuple[str, ...], treatment: str) -> Holes:
    by_column = is_hole.mean(axis=0)
    worst = int(by_column.argmax())
    return Holes(
        treatment,
        len(is_hole),
        int((~is_hole.any(axis=1)).sum()),
        float(is_hole.mean()),
        names[worst],
        float(by_column[worst]),
    )


def _check_columns(X: FloatArray, is_hole: BoolArray, names: tuple[str, ...]) -> None:
    for j, name in enumerate(names):
        seen = X[~is_hole[:, j], j]
        if not np.isfinite(seen).all():
            row = int(np.flatnonzero(np.isinf(X[:, j]))[0])
            raise InputError(
                f"column {name!r} of the data has an infinite value in row {row}; remove or "
                "correct it"
            )
        if len(seen) < 2 or np.ptp(seen) <= 1e-13 * np.abs(seen).max():
            what = f"has {len(seen)} values" if len(seen) < 2 else "is constant"
            raise InputError(
                f"column {name!r} {what} apart from missing ones; it has no causes and no "
                "effects: drop it"
            )


def _rows_together(X: FloatArray, names: tuple[str, ...]) -> FloatArray:
    """Number of rows in which each pair of columns was observed, shape (p, p)."""
    seen = (~np.isnan(X)).astype(float)
    together: FloatArray = seen.T @ seen
    few = np.argwhere(np.triu(together < 3, 1))
    if few.size:
        i, j = few[0]
        raise InputError(
            f"columns {names[i]!r} and {names[j]!r} are observed together in "
            f"{int(together[i, j])} rows, too few to estimate their covariance; drop one"
        )
    return together


def _harmonic_mean_of_pairs(together: FloatArray) -> float:
    p = len(together)
    if p == 1:
        return float(together[0, 0])
    pairs = together[np.triu_indices(p, 1)]
    return float(len(pairs) / (1 / pairs).sum())


def _pairwise(X: FloatArray, together: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """Pairwise covariances, means, and the share by which correlations were shrunk.

    The rule: all correlations are multiplied by the largest factor of at most one that leaves no
    eigenvalue below 0.001.
    """
    mean, scale = np.nanmean(X, axis=0), np.nanstd(X, axis=0)
    Z = np.nan_to_num((X - mean) / scale)
    R = Z.T @ Z / together
    np.fill_diagonal(R, 1.0)
    R, shrinkage = made_definite(R)
    return R * np.outer(scale, scale), mean, shrinkage


def made_definite(R: FloatArray) -> tuple[FloatArray, float]:
    """A correlation matrix of pairs, shrunk until positive definite, and the share of shrinkage."""
    least = float(np.linalg.eigvalsh(R)[0])
    if least >= _LEAST_EIGENVALUE:
        return R, 0.0
    # Eigenvalues of f R + (1 − f) I are 1 − f (1 − eigenvalue).
    factor = (1 - _LEAST_EIGENVALUE) / (1 - least)
    R = factor * R
    np.fill_diagonal(R, 1.0)
    return R, 1 - factor
