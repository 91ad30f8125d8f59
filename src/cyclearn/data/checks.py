"""Checks of data before a result is trusted: properties that violate its assumptions.

Learning assumes independent rows of a linear Gaussian system, enough of them, and no variable that
others nearly determine. Nothing here stops a run; each warning says how far the data are from the
assumption and what to do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import expm1, log, sqrt

import numpy as np
from numpy.typing import NDArray

from cyclearn.data import data_warnings as warn
from cyclearn.data.data_warnings import DataWarning
from cyclearn.data.effective_rows import (
    autocorrelations,
    dependent_columns,
    inflations,
    worth_of_rows,
)
from cyclearn.data.margins import Margins
from cyclearn.data.missing_values import Holes, Treated
from cyclearn.data.moments import Moments
from cyclearn.foundation.arrays import FloatArray

# Chance that independent Gaussian rows raise a false alarm, for each of the two tests on rows.
_FALSE_ALARMS = 0.01
# Departures that matter whatever the number of rows: the Gaussian has 0 and 0. Standard errors of
# covariances scale with the kurtosis, so an excess of one makes them wrong by about a fifth.
_SKEWNESS, _EXCESS_KURTOSIS = 0.5, 1.0
# Lags of the test for dependence; memory shows in the first few.
_TEST_LAGS = 10
# With fewer rows no test on them has any power, and chance makes large correlations.
_TESTED_ROWS = 30
# Numbers that stand for missing values in many tables.
_CODES = (-9, -99, -999, -9999, -99999, 99, 999, 9999, 99999)
# Share of missing cells from which they are worth a word.
_HOLES = 0.01
# Share of a variance that other columns explain from which single edges are hard to place.
_EXPLAINED = 0.95
_ROWS_PER_VARIABLE = 10
# Edges whose partial correlation is weaker than this should not be what n leaves out of reach.
_WEAKEST_EDGE = 0.3


def check_treated(found: Treated, margins: Margins = "raw") -> tuple[DataWarning, ...]:
    """Warnings about one table; see :func:`cyclearn.check_data`."""
    moments, X, raw = found.moments, found.filled, found.raw
    n, p, has_past = moments.n_samples, moments.n_variables, bool(moments.past)
    if raw is None:
        return (*_collinear(moments), *low_power(p, n, n))
    measured = raw
    if has_past:
        # What the past leaves of the present has to be independent and Gaussian.
        moments, X = _given_past(found)
        measured = X
    correlations = autocorrelations(X)
    n_effective = found.n_effective
    if not has_past:
        n_effective = worth_of_rows(correlations, len(X)) * n_effective / n
    return (
        *_suspected_codes(moments, raw),
        *_missing(found),
        *_counters(moments, raw),
        *_dependent(moments, correlations, None if has_past else n_effective),
        *(_not_gaussian(moments, measured, correlations) if margins == "raw" else ()),
        *_collinear(moments),
        *low_power(p, n, n_effective),
    )


def _given_past(found: Treated) -> tuple[Moments, FloatArray]:
    """What a regression on the past leaves of the present, and its moments."""
    moments, is_past = found.moments, found.moments.is_past
    X = found.filled - found.filled.mean(axis=0)
    weights = np.linalg.lstsq(X[:, is_past], X[:, ~is_past], rcond=None)[0]
    left = X[:, ~is_past] - X[:, is_past] @ weights
    n = len(left)
    names = tuple(name for name in moments.names if name not in moments.past)
    return Moments._unchecked(left.T @ left / n, n, None, names, False), left


def _missing(found: Treated) -> Iterator[DataWarning]:
    """What is missing, and what was made of the covariances."""
    holes = found.holes
    if holes is not None and holes.share >= _HOLES:
        yield missing_values(holes)
    if holes is not None and not holes.converged:
        yield warn.UnfinishedEM(iterations=holes.iterations)
    if holes is not None and holes.shrinkage:
        yield warn.PairwiseCovariances(shrinkage=holes.shrinkage)
    if found.shrinkage:
        yield warn.ShrunkCorrelations(shrinkage=found.shrinkage)


def missing_values(holes: Holes) -> warn.MissingValues:
    """How much is missing, and what was made of it."""
    return warn.MissingValues(
        columns=(holes.worst,),
        treatment=holes.treatment,
        n_rows=holes.n_rows,
        n_complete=holes.n_complete,
        share=holes.share,
        column_share=holes.worst_share,
    )


def _suspected_codes(moments: Moments, X: FloatArray) -> Iterator[DataWarning]:
    """Numbers that people write for nothing: far outside the rest, and there several times."""
    suspects: dict[str, float] = {}
    for place in np.flatnonzero(np.isin(X, _CODES).any(axis=0)):
        name, column = moments.names[place], X[:, place]
        for code in np.intersect1d(column, _CODES):
            rest = column[(column != code) & np.isfinite(column)]
            times = int((column == code).sum())
            if times < 2 or len(rest) < 3 or times > len(column) / 2:
                continue
            low, high = rest.min(), rest.max()
            if not low - (high - low) < code < high + (high - low):
                suspects[name] = float(code)
    if suspects:
        yield warn.MissingCodes(columns=tuple(suspects), numbers=tuple(suspects.values()))


def _counters(moments: Moments, X: FloatArray) -> Iterator[DataWarning]:
    if len(X) < _TESTED_ROWS:
        return
    columns = np.flatnonzero((np.diff(X, axis=0) == 1).all(axis=0))
    if columns.size:
        yield warn.RowNumbers(columns=_names(moments, columns))


def _dependent(
    moments: Moments, correlations: FloatArray, n_effective: float | None
) -> Iterator[DataWarning]:
    """Rows that resemble earlier rows; without an effective sample size, more than lags explain."""
    n = moments.n_samples
    columns = np.flatnonzero(dependent_columns(correlations, n))
    if not columns.size:
        return
    inflation = inflations(correlations)
    least = int(columns[inflation[columns].argmax()])
    names, column = _names(moments, columns), moments.names[least]
    if n_effective is None:
        yield warn.TooFewLags(columns=names, column=column)
        return
    yield warn.DependentRows(
        columns=names,
        n_rows=n,
        n_effective=float(n_effective),
        column=column,
        column_n_effective=float(n / inflation[least]),
    )


def _not_gaussian(
    moments: Moments, X: FloatArray, correlations: FloatArray
) -> Iterator[DataWarning]:
    if moments.n_samples < _TESTED_ROWS:
        return
    has_holes = bool(np.isnan(X).any())
    mean = np.nanmean if has_holes else np.mean
    centred = X - mean(X, axis=0)
    # In units of its own: the fourth power of a column may be no number in others.
    scaled = centred / np.sqrt(mean(centred**2, axis=0))
    # Products, since other powers than the second take ten times as long.
    squares = scaled**2
    skewness = mean(squares * scaled, axis=0)
    excess = mean(squares**2, axis=0) - 3
    matters = (np.abs(skewness) > _SKEWNESS) | (np.abs(excess) > _EXCESS_KURTOSIS)
    if not matters.any():
        return
    # It takes more than a second to load.
    from scipy.stats import chi2, kurtosistest, skewtest

    # Memory makes skewness and kurtosis of Gaussian columns more variable, by Σ ρ³ and Σ ρ⁴ over
    # all lags (Lobato and Velasco).
    lags = correlations[1 : max(_TEST_LAGS, int(sqrt(moments.n_samples))) + 1]
    third = np.maximum(1 + 2 * (lags**3).sum(axis=0), 1)
    fourth = 1 + 2 * (lags**4).sum(axis=0)
    present = {"nan_policy": "omit"} if has_holes else {}
    z_skew = skewtest(scaled, **present).statistic / np.sqrt(third)
    z_kurtosis = kurtosistest(scaled, **present).statistic / np.sqrt(fourth)
    alarmed = chi2.sf(z_skew**2 + z_kurtosis**2, 2) < _FALSE_ALARMS / moments.n_variables
    columns = np.flatnonzero(alarmed & matters)
    if not columns.size:
        return
    departure = np.maximum(np.abs(skewness) / _SKEWNESS, np.abs(excess) / _EXCESS_KURTOSIS)
    worst = int(columns[departure[columns].argmax()])
    yield warn.NonnormalColumns(
        columns=_names(moments, columns),
        n_checked=moments.n_variables,
        column=moments.names[worst],
        skewness=float(skewness[worst]),
        excess_kurtosis=float(excess[worst]),
    )


def _collinear(moments: Moments) -> Iterator[DataWarning]:
    n, p = moments.n_samples, moments.n_variables
    R = moments.correlation
    if n > p + 1:
        # The inverse has 1 / (1 − R²) on its diagonal; (n − 1) / (n − p) takes away what chance
        # explains.
        unexplained = np.minimum((n - 1) / (n - p) / np.linalg.inv(R).diagonal(), 1)
    elif n >= _TESTED_ROWS:
        unexplained = 1 - (np.abs(R) - np.eye(p)).max(axis=0) ** 2
    else:
        return
    columns = np.flatnonzero(unexplained < 1 - _EXPLAINED)
    if not columns.size:
        return
    worst = int(columns[unexplained[columns].argmin()])
    partner = int(np.argmax(np.abs(R[worst]) - np.eye(p)[worst]))
    yield warn.CollinearColumns(
        columns=_names(moments, columns),
        column=moments.names[worst],
        closest=moments.names[partner],
        explained=1 - float(unexplained[worst]),
    )


def low_power(p: int, n: int, n_effective: float) -> Iterator[DataWarning]:
    """Whether n rows of p variables are few."""
    # An edge pays for the penalty ½ log n where n/2 · log 1/(1 − r²) exceeds it.
    weakest = sqrt(-expm1(-log(max(n_effective, 2)) / n_effective))
    if n_effective >= _ROWS_PER_VARIABLE * p and weakest <= _WEAKEST_EDGE:
        return
    yield warn.LowPower(n_rows=n, n_effective=float(n_effective), n_variables=p, weakest=weakest)


def _names(moments: Moments, columns: Sequence[int] | NDArray[np.intp]) -> tuple[str, ...]:
    return tuple(moments.names[int(j)] for j in columns)
