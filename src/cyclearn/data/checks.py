"""Checks of data before a result is trusted: properties that violate its assumptions.

Learning assumes independent rows of a linear Gaussian system, enough of them, and no variable that
others nearly determine. No check stops a run; each warning reports how far the data are from the
assumption and what to do.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from cyclearn.data import data_warnings as warn
from cyclearn.data.data_warnings import DataWarning
from cyclearn.data.effective_rows import TEST_LAGS, TESTED_ROWS, Memory, autocorrelations
from cyclearn.data.margins import Margins
from cyclearn.data.missing_values import Holes, Treated
from cyclearn.data.moments import Moments
from cyclearn.data.rows import Rows
from cyclearn.foundation.arrays import FloatArray
from cyclearn.foundation.late_imports import nx

# Probability of a false alarm for Gaussian columns.
_FALSE_ALARMS = 0.01
# Departures that matter for any number of rows: the Gaussian has 0 and 0. Standard errors of
# covariances scale with the kurtosis, so an excess of one makes them wrong by about a fifth.
_SKEWNESS, _EXCESS_KURTOSIS = 0.5, 1.0
# Numbers that code missing values in many tables.
_CODES = (-9, -99, -999, -9999, -99999, 99, 999, 9999, 99999)
# Rating scales rarely have more than seven levels.
_FEW_LEVELS = 7
# With fewer rows the threshold is too uncertain.
_RAREST_LEVEL = 5
# Share of missing cells from which a warning is given.
_HOLES = 0.01
# Share of explained variance from which single edges are badly determined.
_EXPLAINED = 0.95


def check_treated(
    found: Treated,
    memory: Memory | None,
    margins: Margins = "raw",
    n_counted: float | None = None,
    measured: Collection[str] = (),
    not_with_ordered: tuple[str, ...] = (),
) -> tuple[DataWarning, ...]:
    """Warnings about one table with known autocorrelation; see :func:`cyclearn.check_data`.

    ``n_counted`` is the effective sample size in use, if it was adjusted for autocorrelation;
    ``measured`` names columns known to be measurements, ``not_with_ordered`` options in use that
    cannot be combined with ordinal columns.
    """
    raw = found.raw
    if raw is None or memory is None:
        return tuple(_collinear(found.moments))
    # Only the residuals given the exogenous variables must be independent and Gaussian.
    moments, X = given_exogenous(found)
    # The rows as given have no lagged columns.
    names = found.moments.names[: raw.shape[1]]
    is_own = ~found.moments.is_exogenous[: raw.shape[1]]
    shown = X if found.moments.exogenous else raw
    indicators = tuple(_indicators(moments.names, raw[:, is_own]))
    others = {*moments.ordered, *measured, *(n for each in indicators for n in each.columns)}
    # These are more likely levels than measurements.
    levels = _columns_of_levels(moments.names, raw[:, is_own], others)
    rated = warn.OrdinalColumns(
        columns=levels, shrinkage=found.avoided, ruled_out_by=not_with_ordered
    )
    return (
        *_suspected_codes(names, raw),
        *_missing(found),
        *_counters(moments.names, raw[:, is_own]),
        *indicators,
        *_dependent(found, moments, memory, n_counted),
        *(_not_gaussian(*_continuous(moments, shown, X)) if margins == "raw" else ()),
        *([rated] if levels else ()),
        *_collinear(moments),
    )


def given_exogenous(found: Treated) -> tuple[Moments, FloatArray]:
    """Residuals of a regression on the exogenous variables, and their moments."""
    moments, is_exogenous = found.moments, found.moments.is_exogenous
    if not moments.exogenous:
        return moments, found.filled
    X = found.filled - found.filled.mean(axis=0)
    weights = np.linalg.lstsq(X[:, is_exogenous], X[:, ~is_exogenous], rcond=None)[0]
    left = X[:, ~is_exogenous] - X[:, is_exogenous] @ weights
    n = len(left)
    names = tuple(name for name in moments.names if name not in moments.exogenous)
    S = left.T @ left / n
    return Moments._unchecked(S, n, None, names, False, levels=moments.levels), left


def _missing(found: Treated) -> Iterator[DataWarning]:
    """Warnings about missing values and repaired covariances."""
    holes = found.holes
    if holes is not None and holes.share >= _HOLES:
        yield missing_values(holes)
    if holes is not None and not holes.converged:
        yield warn.UnfinishedEM(iterations=holes.iterations)
    if holes is not None and holes.shrinkage:
        yield warn.PairwiseCovariances(shrinkage=holes.shrinkage)
    if found.shrinkage:
        yield warn.ShrunkCorrelations(shrinkage=found.shrinkage)
    if found.repaired:
        yield warn.RepairedCorrelations(shrinkage=found.repaired)


def missing_values(holes: Holes) -> warn.MissingValues:
    """How much is missing, and how it was treated."""
    return warn.MissingValues(
        columns=(holes.worst,),
        treatment=holes.treatment,
        n_rows=holes.n_rows,
        n_complete=holes.n_complete,
        share=holes.share,
        column_share=holes.worst_share,
    )


def _suspected_codes(names: Sequence[str], X: FloatArray) -> Iterator[DataWarning]:
    """Numbers that may code missing values: far outside the rest, and repeated."""
    suspects: dict[str, float] = {}
    for place in np.flatnonzero(np.isin(X, _CODES).any(axis=0)).tolist():
        name, column = names[place], X[:, place]
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


def _counters(names: Sequence[str], X: FloatArray) -> Iterator[DataWarning]:
    if len(X) < TESTED_ROWS:
        return
    # In any order, as patient numbers may be.
    columns = np.flatnonzero((np.diff(np.sort(X, axis=0), axis=0) == 1).all(axis=0))
    if columns.size:
        yield warn.RowNumbers(columns=tuple(names[int(j)] for j in columns))


def _indicators(names: Sequence[str], X: FloatArray) -> Iterator[DataWarning]:
    """Columns of zeros and ones that are never both one, although by chance they would be."""
    columns = np.flatnonzero(((X == 0) | (X == 1)).all(axis=0))
    ones = X[:, columns]
    expected = np.outer(ones.sum(axis=0), ones.sum(axis=0)) / max(len(X), 1)
    # Rare values exclude each other by chance.
    exclude = (ones.T @ ones == 0) & (expected > 1)
    if not exclude.any():
        return

    n_pairs = len(columns) * (len(columns) - 1) / 2
    for clique in sorted(map(sorted, nx.find_cliques(nx.from_numpy_array(exclude)))):
        together = expected[np.ix_(clique, clique)][np.triu_indices(len(clique), 1)].sum()
        if np.exp(-together) < _FALSE_ALARMS / n_pairs:
            yield warn.IndicatorColumns(columns=tuple(names[columns[j]] for j in clique))


def _dependent(
    found: Treated, moments: Moments, memory: Memory, n_counted: float | None
) -> Iterator[DataWarning]:
    """Rows that resemble earlier rows, beyond what any lags explain."""
    n = memory.n_rows
    columns = np.flatnonzero(memory.is_dependent)
    if not columns.size:
        return
    least = int(columns[memory.inflations[columns].argmax()])
    names, column = _names(moments, columns), moments.names[least]
    if found.raw is not None and found.raw.shape[1] < found.moments.n_variables:
        yield warn.TooFewLags(columns=names, column=column, n_counted=n_counted)
        return
    yield warn.DependentRows(
        columns=names,
        n_rows=n,
        n_effective=memory.n_effective * (1 if moments.ordered else found.n_effective / n),
        column=column,
        column_n_effective=float(n / memory.inflations[least]),
        n_counted=n_counted,
    )


def _continuous(
    moments: Moments, X: FloatArray, filled: FloatArray
) -> tuple[Moments, FloatArray, FloatArray]:
    """The columns that are not ordinal."""
    if not moments.ordered:
        return moments, X, filled
    kept = ~np.isin(moments.names, moments.ordered)
    S = moments.covariance[np.ix_(kept, kept)]
    names = tuple(np.array(moments.names)[kept].tolist())
    own = Moments._unchecked(S, moments.n_samples, None, names, False)
    return own, X[:, kept], filled[:, kept]


def _columns_of_levels(
    names: Sequence[str], X: FloatArray, left_out: Collection[str], rarest: int = 1
) -> tuple[str, ...]:
    """Columns with few whole numbers; none if there are few rows."""
    if len(X) < TESTED_ROWS:
        return ()
    columns = zip(names, X.T, strict=True)
    return tuple(name for name, x in columns if name not in left_out and _has_levels(x, rarest))


def _has_levels(column: FloatArray, rarest: int = 1) -> bool:
    """Whether a column has few whole numbers, each of them repeated often enough."""
    present = column[~np.isnan(column)]
    if not (present == np.rint(present)).all():
        return False  # most columns; sorting takes much longer
    levels, counts = np.unique(present, return_counts=True)
    return 2 <= len(levels) <= _FEW_LEVELS and bool(counts.min() >= rarest)


def ordinal_columns(rows: Rows, left_out: Sequence[str]) -> tuple[str, ...]:
    """Columns of few whole numbers that are neither indicators of one variable nor exogenous."""
    X = rows.values
    indicators = {name for each in _indicators(rows.names, X) for name in each.columns}
    others = {*left_out, *rows.exogenous, *indicators}
    return _columns_of_levels(rows.names, X, others, _RAREST_LEVEL)


def _not_gaussian(moments: Moments, X: FloatArray, filled: FloatArray) -> Iterator[DataWarning]:
    if moments.n_samples < TESTED_ROWS:
        return
    has_holes = bool(np.isnan(X).any())
    mean = np.nanmean if has_holes else np.mean
    scaled = X - mean(X, axis=0)
    # Standardised first: the fourth power of a raw column may overflow.
    scaled /= np.sqrt([mean(x * x) for x in scaled.T])
    # Products, because powers above the second take ten times as long; of single columns, because
    # copies of a long table would take most of the memory.
    skewness = np.array([mean(x * x * x) for x in scaled.T])
    excess = np.array([mean((x * x) ** 2) for x in scaled.T]) - 3
    matters = (np.abs(skewness) > _SKEWNESS) | (np.abs(excess) > _EXCESS_KURTOSIS)
    if not matters.any():
        return
    # Imported here because it takes more than a second to load.
    from scipy.stats import chi2, kurtosistest, skewtest

    # Autocorrelation makes skewness and kurtosis of Gaussian columns more variable, by Σ ρ³ and Σ
    # ρ⁴ over all lags (Lobato and Velasco).
    lags = autocorrelations(filled, max(TEST_LAGS, int(sqrt(moments.n_samples))))[1:]
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
        # The inverse has 1 / (1 − R²) on its diagonal; (n − 1) / (n − p) corrects for what chance
        # explains.
        unexplained = np.minimum((n - 1) / (n - p) / np.linalg.inv(R).diagonal(), 1)
    elif n >= TESTED_ROWS:
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


def _names(moments: Moments, columns: Sequence[int] | NDArray[np.intp]) -> tuple[str, ...]:
    return tuple(moments.names[int(j)] for j in columns)
