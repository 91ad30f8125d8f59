"""What to mind before trusting a result: properties of the data that shake its assumptions.

Learning assumes independent rows of a linear Gaussian system, enough of them, and no variable that
others nearly determine. Nothing here stops a run; each warning says how far the data are from the
assumption and what to do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import expm1, log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cyclearn.data.effective_rows import (
    autocorrelations,
    dependent_columns,
    inflations,
    worth_of_rows,
)
from cyclearn.data.margins import Margins
from cyclearn.data.missing_values import Holes, Treated
from cyclearn.data.moments import Moments
from cyclearn.foundation.readable import count_of

FloatArray = NDArray[np.float64]

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


@dataclass(frozen=True)
class DataWarning:
    """One thing to mind: what is the matter, the number behind it, what to do.

    ``kind`` is one of ``"dependent rows"``, ``"not Gaussian"``, ``"nearly collinear"``,
    ``"few rows"``, ``"too few rows"``, ``"missing"``, ``"missing codes"``, ``"counter"``,
    ``"shrunk"``, ``"unstable"`` and ``"fit"``; ``columns`` names the variables concerned, none
    where it is all of them.
    """

    kind: str
    message: str
    remedy: str
    value: float
    columns: tuple[str, ...] = ()

    def in_group(self, name: str) -> DataWarning:
        """The same about one group; as it is where there are none."""
        return replace(self, message=f"Group {name}: {self.message}") if name else self

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}"


def warnings_of(records: Iterable[Mapping[str, Any]]) -> tuple[DataWarning, ...]:
    """Warnings out of their plain values."""
    return tuple(DataWarning(**{**each, "columns": tuple(each["columns"])}) for each in records)


def check_treated(found: Treated, margins: Margins = "raw") -> tuple[DataWarning, ...]:
    """Warnings about one table; see :func:`cyclearn.check_data`."""
    moments, X, raw = found.moments, found.filled, found.raw
    if raw is None:
        return (
            *_collinear(moments),
            *few_rows_warnings(moments.n_variables, moments.n_samples, moments.n_samples),
        )
    if moments.past:
        return _check_given_past(found, raw, margins)
    correlations = autocorrelations(X)
    n_effective = worth_of_rows(correlations, len(X)) * found.n_effective / moments.n_samples
    return (
        *_suspected_codes(moments, raw),
        *_missing(found.holes),
        *_shrunk(found),
        *_counters(moments, raw),
        *_dependent(moments, correlations, n_effective),
        *(_not_gaussian(moments, raw, correlations) if margins == "raw" else ()),
        *_collinear(moments),
        *few_rows_warnings(moments.n_variables, moments.n_samples, n_effective),
    )


def _check_given_past(found: Treated, raw: FloatArray, margins: Margins) -> tuple[DataWarning, ...]:
    """The same about what a regression on the past leaves of the present."""
    moments, is_past = found.moments, found.moments.is_past
    X = found.filled - found.filled.mean(axis=0)
    weights = np.linalg.lstsq(X[:, is_past], X[:, ~is_past], rcond=None)[0]
    left = X[:, ~is_past] - X[:, is_past] @ weights
    n = len(left)
    names = tuple(name for name in moments.names if name not in moments.past)
    innovations = Moments._unchecked(left.T @ left / n, n, None, names, False)
    correlations = autocorrelations(left)
    return (
        *_suspected_codes(innovations, raw),
        *_missing(found.holes),
        *_shrunk(found),
        *_counters(innovations, raw),
        *_remembering(innovations, correlations),
        *(_not_gaussian(innovations, left, correlations) if margins == "raw" else ()),
        *_collinear(innovations),
        *few_rows_warnings(moments.n_variables, moments.n_samples, found.n_effective),
    )


def _remembering(innovations: Moments, correlations: FloatArray) -> Iterator[DataWarning]:
    columns = np.flatnonzero(dependent_columns(correlations, innovations.n_samples))
    if columns.size:
        inflation = inflations(correlations)
        worst = int(columns[inflation[columns].argmax()])
        yield DataWarning(
            "dependent rows",
            "Rows resemble the rows before them more than the past that was given explains, most "
            f"so {innovations.names[worst]}.",
            "Standard errors and p-values are too small and too many edges may be kept: give more "
            "lags, or take trends and seasons out first.",
            float(inflation[worst]),
            _names(innovations, columns),
        )


def _missing(holes: Holes | None) -> Iterator[DataWarning]:
    if holes is None or (holes.share < _HOLES and holes.converged and holes.shrinkage == 0):
        return
    message, remedy = holes.in_words, "Cells that are missing because of their own value bias it."
    if holes.treatment == "rows":
        remedy = (
            "missing='em' uses all rows, and is right also where holes depend on other columns."
        )
    if not holes.converged:
        message += f" EM had not arrived after {holes.iterations} steps."
        remedy = "Drop the columns with the most holes, or use missing='rows'."
    if holes.shrinkage:
        message += (
            " The covariances of pairs are no covariance matrix together: all correlations were "
            f"made smaller by {100 * holes.shrinkage:.2g}%, which makes them one."
        )
        remedy = "Use missing='em', whose matrix is always one."
    yield DataWarning("missing", message, remedy, holes.share, (holes.worst,))


def _shrunk(found: Treated) -> Iterator[DataWarning]:
    if found.shrinkage:
        yield DataWarning(
            "shrunk",
            f"Correlations were made smaller by {found.shrinkage:.0%} (Ledoit and Wolf).",
            "Weights are too small by design, and standard errors and tests do not know of it; the "
            "price of an edge, if given by name, shrinks with the evidence.",
            found.shrinkage,
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
        name, code = next(iter(suspects.items()))
        listed = sorted({f"{value:g}" for value in suspects.values()})
        yield DataWarning(
            "missing codes",
            f"{name} holds {code:g} several times, far from all its other values"
            + (f" ({len(suspects)} columns are like this)." if len(suspects) > 1 else "."),
            "If that stands for a missing value, say so: missing_codes in read_table, or "
            f"--missing-codes {','.join(listed)}.",
            code,
            tuple(suspects),
        )


def _counters(moments: Moments, X: FloatArray) -> Iterator[DataWarning]:
    if len(X) < _TESTED_ROWS:
        return
    columns = np.flatnonzero((np.diff(X, axis=0) == 1).all(axis=0))
    if columns.size:
        yield DataWarning(
            "counter",
            f"{moments.names[columns[0]]} goes up by one from row to row.",
            "A number of the row is no measurement: drop the column.",
            float(len(columns)),
            _names(moments, columns),
        )


def _dependent(
    moments: Moments, correlations: FloatArray, n_effective: float
) -> Iterator[DataWarning]:
    n = moments.n_samples
    columns = np.flatnonzero(dependent_columns(correlations, n))
    if not columns.size:
        return
    inflation = inflations(correlations)
    least = int(columns[inflation[columns].argmax()])
    yield DataWarning(
        "dependent rows",
        f"Rows resemble the rows before them, as in a time series or in blocks measured under "
        f"different conditions: {n} rows carry about as much information as "
        f"{_rounded(n_effective)} independent ones ({_rounded(n / inflation[least])} for "
        f"{moments.names[least]}).",
        "Standard errors and p-values are too small and too many edges may be kept: use "
        "n_effective='auto', which counts the rows for what they are worth, keep every k-th row, "
        "or give lags=1 for rows in order of time; learn from each block by itself. Independent "
        "rows that were only sorted do no harm.",
        n_effective,
        _names(moments, columns),
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
    number, most = f"{moments.names[worst]} is", ""
    if len(columns) > 1:
        number = f"{len(columns)} of {moments.n_variables} columns are"
        most = f", most so in {moments.names[worst]}"
    yield DataWarning(
        "not Gaussian",
        f"{number} clearly not Gaussian{most}: skewness {skewness[worst]:.1f} and excess kurtosis "
        f"{excess[worst]:.1f}, where 0 and 0 are expected.",
        "The graph uses only covariances and often survives this; standard errors, p-values and "
        "the test of fit do not. Use margins='rank' (normal scores of ranks), look for "
        "outliers, and trust bootstrap frequencies more than p-values.",
        float(excess[worst]),
        _names(moments, columns),
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
    explained = 100 * (1 - float(unexplained[worst]))
    yield DataWarning(
        "nearly collinear",
        f"{moments.names[worst]} is nearly a linear function of other columns: they explain "
        f"{explained:.1f}% of its variance (closest to it: {moments.names[partner]}"
        + (f"; {len(columns)} columns are like this)." if len(columns) > 1 else ")."),
        "Which of these columns an edge belongs to is badly determined: drop one, average them, or "
        "read their edges as edges of the group.",
        explained / 100,
        _names(moments, columns),
    )


def few_rows_warnings(p: int, n: int, n_effective: float) -> Iterator[DataWarning]:
    """Whether n rows of p variables are few."""
    # An edge pays for the penalty ½ log n where n/2 · log 1/(1 − r²) exceeds it.
    weakest = sqrt(-expm1(-log(max(n_effective, 2)) / n_effective))
    if n_effective >= _ROWS_PER_VARIABLE * p and weakest <= _WEAKEST_EDGE:
        return
    rows = f"{n} rows"
    if round(n_effective) < n:
        rows += f", worth about {_rounded(n_effective)} independent ones,"
    yield DataWarning(
        "few rows",
        f"{rows} are few for {count_of(p, 'variable')}: an edge must have a partial correlation "
        f"of about {weakest:.2f} to be noticed at all.",
        "Absent edges say little. Use knowledge to forbid what cannot be, and look at bootstrap "
        "frequencies.",
        n_effective,
    )


def _names(moments: Moments, columns: Sequence[int] | NDArray[np.intp]) -> tuple[str, ...]:
    return tuple(moments.names[int(j)] for j in columns)


def _rounded(number: float) -> int:
    """Two leading digits: an estimate has no more."""
    return int(float(f"{number:.2g}"))
