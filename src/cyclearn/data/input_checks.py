"""Checks on tables and covariances; every failure names the column and the remedy."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cyclearn.foundation import CollinearError, InputError, MatrixError, listed, short
from cyclearn.foundation.arrays import FloatArray
from cyclearn.graphs.graph_input import checked_names, default_names

# Share of a standardised column's variance that the preceding columns leave unexplained.
_COLLINEAR = 1e-11
# Asymmetry of a covariance matrix that rounding to a few digits can cause.
_SYMMETRIC = 1e-4
# Columns that a message names after the first, and those of which each is a function.
_NAMED, _OTHERS = 10, 5
# Texts that mean a missing value.
MISSING_TEXT = (".", "..", "?", "-", "--", "na", "NAN", "missing", "Missing", "MISSING")
MISSING_WORDS = {*MISSING_TEXT, "", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "none"}


def is_missing_word(text: Any) -> bool:
    """Whether a text among numbers looks like a code for a missing value, such as ``*``.

    Examples
    --------
    >>> [is_missing_word(text) for text in ("*", "?", "NULL", "n/a", "low", "5 kg")]
    [True, True, True, True, False, False]
    """
    word = str(text).strip()
    return (
        word in MISSING_WORDS
        or word.lower() in {"n/a", "nil"}
        or re.fullmatch(r"\W+", word) is not None
    )


def as_float(value: Any, what: str) -> float:
    """A number as a float; raises an InputError if it is not a number, or too large."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"the {what} is {short(value)}; give a number") from None


def whole_number(name: str, value: Any, least: int) -> int:
    """A whole number of at least ``least``."""
    is_whole = isinstance(value, Real) and not isinstance(value, bool) and value % 1 == 0
    if not is_whole or value < least:
        raise InputError(f"{name} is {short(value)}; give a whole number of at least {least}")
    return int(value)


def checked_range(name: str, value: Any) -> tuple[float, float]:
    """A pair (low, high) of numbers."""
    if not isinstance(value, (Sequence, np.ndarray)) or isinstance(value, str) or len(value) != 2:
        raise InputError(f"{name} is {short(value)}; give a range (low, high)")
    return as_float(value[0], name), as_float(value[1], name)


def checked_exogenous(exogenous: Sequence[str], names: tuple[str, ...]) -> tuple[str, ...]:
    """Names of exogenous variables, without repetition; not all variables may be exogenous."""
    found = names_among("exogenous", exogenous, names)
    if names and set(exogenous) == set(names):
        raise InputError(
            "exogenous lists all variables, so none is left to explain; remove some from the list"
        )
    return found


def names_among(what: str, chosen: Sequence[str], names: tuple[str, ...]) -> tuple[str, ...]:
    """Names of variables, without repetition."""
    for name in chosen:
        if name not in names:
            raise InputError(
                f"{what} names {name!r}, which is not a variable; the variables are {listed(names)}"
            )
    return tuple(dict.fromkeys(chosen))


def numeric_matrix(table: Any, what: str, names: Sequence[str] | None = None) -> FloatArray:
    """Table as a float array of two dimensions; missing values become NaN."""
    if hasattr(table, "columns") and hasattr(table, "to_numpy"):
        if not table.columns.is_unique:
            checked_names([str(c) for c in table.columns], len(table.columns), "column")
        values = table.to_numpy()
        if values.dtype.kind not in "fiub":
            _check_numeric(
                {
                    str(column): table[column].to_numpy()
                    for column, dtype in zip(table.columns, table.dtypes, strict=True)
                    if getattr(dtype, "kind", "O") not in "fiub"
                },
                what,
            )
            values = table.to_numpy(dtype=float, na_value=np.nan)
    else:
        is_hidden = np.ma.getmaskarray(table) if np.ma.isMaskedArray(table) else None
        try:
            values = np.asarray(table)
        except ValueError:
            raise InputError(f"the rows of the {what} differ in length; give a table") from None
        if is_hidden is not None and is_hidden.any():
            values = np.where(is_hidden, np.nan, values)
    if values.ndim != 2 or values.shape[1] == 0:
        raise InputError(
            f"the {what} has shape {values.shape}; give a table with one row per sample and one "
            "column per variable"
        )
    if values.dtype.kind not in "fiub":
        labels = default_names(values.shape[1]) if names is None else names
        _check_numeric(dict(zip(labels, values.T, strict=True)), what)
    return np.asarray(values, dtype=float)


def check_rows(values: FloatArray, remedy: str = "") -> None:
    """Raise if a table is a covariance or correlation matrix, or one half of it."""
    p = values.shape[1]
    if len(values) != p or p < 2:
        return
    half = half_of_matrix(values)
    which = "that mirror each other are a"
    if half is not None:
        which = f"whose {half} half is empty are half of a"
    else:
        gap = np.abs(values - values.T)
        if not (values.diagonal() > 0).all() or not (gap <= _SYMMETRIC * abs(values).max()).all():
            return
    raise MatrixError(
        f"{p} rows and {p} columns {which} covariance or correlation matrix, not rows; use "
        + (remedy or "cl.Moments(matrix, n_samples=…), with the number of rows behind it")
    )


def half_of_matrix(values: FloatArray) -> str | None:
    """The empty half of a square table, apart from its diagonal, if the other half is full."""
    n, p = values.shape
    if n != p or p < 3:
        return None
    is_empty = np.isnan(values)
    for name, other in (("upper", np.tril), ("lower", np.triu)):
        if (is_empty == ~other(np.ones((p, p), dtype=bool))).all():
            return name
    return None


def checked_matrix(table: Any, what: str, names: Sequence[str] | None = None) -> FloatArray:
    """Copy a table to a two-dimensional float array without missing or infinite values."""
    matrix = numeric_matrix(table, what, names).copy()
    check_finite(matrix, what, names)
    return matrix


def check_finite(table: Any, what: str, names: Sequence[str] | None = None) -> None:
    """Raise for the first missing or infinite value, naming its column and row."""
    matrix = numeric_matrix(table, what, names)
    if np.isfinite(matrix).all():
        return
    row, column = np.argwhere(~np.isfinite(matrix))[0]
    missing = np.isnan(matrix[row, column])
    kind, remedy = ("an infinite", "remove or correct it")
    if missing and what != "data":
        kind, remedy = "a missing", "fill it in"
    elif missing:
        cells = int(np.isnan(matrix).sum())
        kind = "a missing"
        remedy = (
            f"{cells} of {matrix.size} cells are missing: use missing='em' (--missing em), which "
            "needs no imputation, or missing='rows'"
        )
    labels = default_names(matrix.shape[1]) if names is None else names
    raise InputError(
        f"column {labels[column]!r} of the {what} has {kind} value in row {row}; {remedy}"
    )


def _check_numeric(columns: Mapping[str, NDArray[Any]], what: str) -> None:
    """Raise if cells are not numbers, and name all columns that have any."""
    found = {name: cell for name, values in columns.items() if (cell := _no_number(values))}
    if not found:
        return
    (name, (row, value)), *others = found.items()
    also = listed([repr(other) for other, _ in others])
    codes = list(dict.fromkeys(v for _, v in found.values() if isinstance(v, str)))
    from cyclearn.data.rows import MOST_LEVELS

    few = [column for column in found if len(set(columns[column].tolist())) <= MOST_LEVELS]
    remedy = (
        f"if that codes a missing value, convert it: data.replace({codes[:_NAMED]!r}, "
        "float('nan')).astype(float), and missing='em'"
        if all(isinstance(v, str) and is_missing_word(v) for _, v in found.values())
        else "drop it or encode it as numbers"
        + f", or use categories={few[:_NAMED]!r}" * bool(few and what == "data")
    )
    raise InputError(
        f"column {name!r} of the {what} is not numeric: row {row} holds {short(value)}"
        + (f" (also not numeric: {also})" if also else "")
        + f"; {remedy}"
    )


def _no_number(values: NDArray[Any]) -> tuple[int, Any] | None:
    """The cell that prevents a column from being numeric, if there is one."""
    wrong = [(row, value) for row, value in enumerate(values) if not _is_number(value)]
    # One word turns all numbers of its column into text; report the word.
    words = (
        cell for cell in wrong if not (isinstance(cell[1], str) and number_of(cell[1]) is not None)
    )
    return next(words, wrong[0]) if wrong else None


def number_of(text: Any) -> float | None:
    """The number that a text represents, or None."""
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


def _is_number(value: Any) -> bool:
    if value is None or str(value) == "<NA>":
        return True
    is_other = isinstance(value, (complex, np.complexfloating, str))
    return not is_other and number_of(value) is not None


def checked_covariance(S: FloatArray, names: tuple[str, ...]) -> FloatArray:
    """Check that a matrix is square and symmetric with a positive diagonal; symmetrise it."""
    if S.shape[0] != S.shape[1]:
        raise InputError(
            f"a covariance matrix must be square, but this one has shape {S.shape}: to use rows, "
            "pass the table itself"
        )
    diagonal = S.diagonal()
    if (diagonal <= 0).any():
        j = int(np.flatnonzero(diagonal <= 0)[0])
        raise InputError(
            f"column {names[j]!r} has variance {diagonal[j]:g}; a constant column has no causes "
            "and no effects: drop it"
        )
    scale = np.sqrt(diagonal)
    gap = np.abs(S - S.T) / scale / scale[:, None]
    if gap.max() > 1e-8:
        i, j = divmod(int(gap.argmax()), len(S))
        raise InputError(
            f"the covariance matrix is not symmetric: entry ({names[i]}, {names[j]}) is "
            f"{S[i, j]:g} and entry ({names[j]}, {names[i]}) is {S[j, i]:g}; correct them"
        )
    return (S + S.T) / 2


def check_positive_definite(S: FloatArray, names: tuple[str, ...], n_samples: int) -> None:
    """Raise if columns are exactly collinear, or the matrix is not a covariance matrix.

    With n ≤ p every sample covariance is singular; then only pairs of columns are compared
    here, and the fit looks at each node with its parents.
    """
    scale = np.sqrt(S.diagonal())
    R = S / scale / scale[:, None]
    p = len(names)
    if n_samples > p:
        try:
            L = np.linalg.cholesky(R)
        except np.linalg.LinAlgError:
            _raise_singular(R, names)
        if L.diagonal().min() ** 2 < _COLLINEAR:
            _raise_singular(R, names)
        return
    twins = np.argwhere(np.triu(np.abs(R), 1) > 1 - _COLLINEAR)
    if twins.size:
        _raise_collinear({names[j]: [names[i]] for i, j in reversed(twins.tolist())})
    try:
        # Takes a quarter of the time that eigenvalues take: 3 of 13 seconds with 3,000 columns.
        np.linalg.cholesky(R + 1e-8 * np.eye(p))
    except np.linalg.LinAlgError:
        if np.linalg.eigvalsh(R)[0] < -1e-8:
            _raise_indefinite(R)


def _raise_indefinite(R: FloatArray) -> None:
    lowest = np.linalg.eigvalsh(R)[0]
    raise InputError(
        "the covariance matrix is not positive definite: the smallest eigenvalue of its "
        f"correlation matrix is {lowest:.3g}; was it computed pairwise from columns with missing "
        "values?"
    )


def _raise_singular(R: FloatArray, names: tuple[str, ...]) -> None:
    if np.linalg.eigvalsh(R)[0] < -1e-9:
        _raise_indefinite(R)
    kept, functions = [0], dict[str, list[str]]()
    for j in range(1, len(names)):
        weights, *_ = np.linalg.lstsq(R[np.ix_(kept, kept)], R[kept, j], rcond=1e-12)
        if 1 - weights @ R[kept, j] < 10 * _COLLINEAR:
            functions[names[j]] = [names[kept[i]] for i in np.flatnonzero(np.abs(weights) > 1e-6)]
        else:
            kept.append(j)
    if functions:
        _raise_collinear(functions)
    _raise_indefinite(R)


def _raise_collinear(functions: Mapping[str, list[str]]) -> None:
    """Name all columns that others determine; no smaller set of columns can be dropped."""
    others = [listed(list(map(repr, each)), _OTHERS) for each in functions.values()]
    drop = list(functions)
    said = [f"{name!r} of {each}" for name, each in zip(drop, others, strict=True)]
    words = (
        f"{len(drop)} columns are exact linear functions of others: {'; '.join(said[:_NAMED])}"
        + f"; {len(said) - _NAMED} more" * (len(said) > _NAMED)
        + f"; drop {', '.join(map(repr, drop))} (all of them)"
    )
    if len(drop) == 1:
        words = (
            f"column {drop[0]!r} is an exact linear function of {others[0]}; "
            "drop one of these columns"
        )
    error = CollinearError(words)
    error.columns = tuple(drop)
    raise error
