"""The mean and covariance of a table: all that fits and searches use."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike

from cyclearn.data.input_checks import (
    check_finite,
    check_names,
    check_positive_definite,
    checked_covariance,
    checked_exogenous,
    checked_matrix,
    default_names,
    half_of_matrix,
    names_among,
)
from cyclearn.data.rows import Rows
from cyclearn.data.table_files import as_rows, read_table, tetrad_matrix
from cyclearn.foundation.arrays import BoolArray, FloatArray
from cyclearn.foundation.errors import InputError
from cyclearn.foundation.files import check_path
from cyclearn.foundation.json_input import short
from cyclearn.foundation.readable import count_of, listed

if TYPE_CHECKING:
    import pandas as pd

# What functions on data accept: rows (a table, an array, a file) or moments already taken.
Data: TypeAlias = "pd.DataFrame | ArrayLike | str | Path | Moments"

_FIELDS = ("covariance", "n_samples", "mean", "names", "has_default_names", "exogenous", "ordered")


class Moments:
    """Mean and covariance of n samples of p variables.

    Parameters
    ----------
    covariance : array of shape (p, p)
        Sample covariance with the divisor n (not n − 1); symmetric and positive definite.
        With n ≤ p it may be singular, as every such sample covariance is.
    n_samples : int
        Number of samples, at least two.
    mean : array of shape (p,), optional
        Sample mean; unknown by default.
    names : sequence of str, optional
        Names of the variables; ``X1, …, Xp`` by default, and then matched by position.
    exogenous : sequence of str, optional
        Exogenous variables: nothing causes them, their covariance is unrestricted, and the
        likelihood is that of the others given these.
    ordered : sequence of str, optional
        Ordinal variables: their moments are those of the underlying normal variables.

    Examples
    --------
    >>> m = Moments([[4.0, 1.0], [1.0, 2.0]], n_samples=50, names=["a", "b"])
    >>> m.scale
    array([2.        , 1.41421356])
    """

    covariance: FloatArray
    n_samples: int
    mean: FloatArray | None
    names: tuple[str, ...]
    has_default_names: bool
    exogenous: tuple[str, ...]
    ordered: tuple[str, ...]

    def __init__(
        self,
        covariance: ArrayLike,
        n_samples: int,
        mean: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        exogenous: Sequence[str] = (),
        ordered: Sequence[str] = (),
    ) -> None:
        if not isinstance(n_samples, Real) or not n_samples >= 2 or n_samples % 1 != 0:
            raise InputError(
                f"n_samples is {short(n_samples)}; give the number of rows, at least 2"
            )
        index = getattr(covariance, "columns", None)
        if names is None and index is not None:
            names = [str(name) for name in index]
        S = checked_matrix(covariance, "covariance", names)
        labels = check_names(names, S.shape[1])
        S = checked_covariance(S, labels)
        check_positive_definite(S, labels, int(n_samples))
        centre = None if mean is None else checked_mean(mean, labels)
        given = checked_exogenous(exogenous, labels)
        ordinal = names_among("ordered", ordered, labels)
        self._set(S, int(n_samples), centre, labels, names is None, given, ordinal)

    def _set(self, *values: Any) -> None:
        # Immutable: attributes are written here once, past the guard in __setattr__.
        for key, value in zip(_FIELDS, values, strict=True):
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            object.__setattr__(self, key, value)

    @classmethod
    def _unchecked(
        cls,
        covariance: FloatArray,
        n_samples: int,
        mean: FloatArray | None,
        names: tuple[str, ...],
        has_default_names: bool,
        exogenous: tuple[str, ...] = (),
        ordered: tuple[str, ...] = (),
    ) -> Moments:
        """Moments of a table in which columns may be constant, since they were intervened on."""
        moments = object.__new__(cls)
        moments._set(covariance, n_samples, mean, names, has_default_names, exogenous, ordered)
        return moments

    def _changed(self, **changes: Any) -> Moments:
        return Moments._unchecked(**{name: getattr(self, name) for name in _FIELDS} | changes)

    def given(self, exogenous: Sequence[str]) -> Moments:
        """The same moments, with these variables exogenous as well."""
        return self._changed(exogenous=checked_exogenous((*self.exogenous, *exogenous), self.names))

    @cached_property
    def is_exogenous(self) -> BoolArray:
        """Which variables are exogenous, shape (p,)."""
        return np.isin(self.names, self.exogenous)

    @property
    def n_variables(self) -> int:
        """Number of variables, p."""
        return len(self.names)

    @cached_property
    def scale(self) -> FloatArray:
        """Standard deviations, shape (p,)."""
        return np.sqrt(self.covariance.diagonal())

    @cached_property
    def correlation(self) -> FloatArray:
        """Covariance of the standardised variables, shape (p, p), unit diagonal."""
        R = self.covariance / np.outer(self.scale, self.scale)
        np.fill_diagonal(R, 1.0)
        return np.ascontiguousarray(R)

    def aligned_to(self, names: tuple[str, ...]) -> Moments:
        """The same moments with the variables in the order of ``names``.

        Variables without names of their own are matched by position.
        """
        if names == self.names:
            return self
        if self.has_default_names:
            if len(names) != self.n_variables:
                raise InputError(
                    f"the data have {self.n_variables} columns and the graph {len(names)} nodes; "
                    "give one column for each node"
                )
            renamed = dict(zip(self.names, names, strict=True))
            exogenous, ordered = (
                tuple(renamed[name] for name in each) for each in (self.exogenous, self.ordered)
            )
            return self._changed(
                names=names, has_default_names=False, exogenous=exogenous, ordered=ordered
            )
        missing = [name for name in names if name not in self.names]
        extra = [name for name in self.names if name not in names]
        if missing or extra:
            raise InputError(
                "the names of the data and of the graph do not match"
                + (f"; not in the data: {', '.join(missing[:10])}" if missing else "")
                + (f"; not in the graph: {', '.join(extra[:10])}" if extra else "")
                + "; rename or select columns so that both have the same names"
            )
        order = [self.names.index(name) for name in names]
        return self._changed(
            covariance=self.covariance[np.ix_(order, order)],
            mean=None if self.mean is None else self.mean[order],
            names=names,
            has_default_names=False,
        )

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Moments are immutable; {name!r} cannot be set")

    def __reduce__(self) -> tuple[Any, ...]:
        names = None if self.has_default_names else self.names
        values = (self.covariance, self.n_samples, self.mean, names, self.exogenous, self.ordered)
        return Moments, values

    def __repr__(self) -> str:
        return f"Moments({self.n_samples} samples of {self.n_variables} variables)"


def name_order(names: Sequence[str], are_numbers: bool) -> tuple[int, ...]:
    """Positions of names in the order of their code points, or as they are if they only count.

    Examples
    --------
    >>> name_order(["b", "a", "C"], False), name_order(["X1", "X2", "X10"], True)
    ((2, 1, 0), (0, 1, 2))
    """
    positions = range(len(names))
    return tuple(positions if are_numbers else sorted(positions, key=names.__getitem__))


def as_moments(data: Data, names: Sequence[str] | None = None) -> Moments:
    """Moments of a table: DataFrame, array, file name, or moments already taken.

    Parameters
    ----------
    data : DataFrame, array of shape (n, p), path or Moments
        Rows are samples. A path is read by :func:`read_table`; Arrow and polars tables are accepted
        too.
    names : sequence of str, optional
        Names of the columns of an array.

    Raises
    ------
    InputError
        Naming the column and the remedy: a missing, infinite or non-numeric value, a constant
        column, exactly collinear columns, a name that appears twice, too few rows.

    Examples
    --------
    >>> as_moments([[0.0, 1.0], [2.0, 0.0], [1.0, 2.0]]).mean
    array([1., 1.])
    """
    if isinstance(data, (str, Path)) and tetrad_matrix(data) is not None:
        return read_moments(data)
    return data if isinstance(data, Moments) else moments_of(Rows.of(as_rows(data), names))


def moments_of(rows: Rows) -> Moments:
    """Moments of the rows of one table, none of whose cells is missing."""
    X, labels = rows.values, rows.names
    n = X.shape[0]
    if n < 2 or (n == 2 and X.shape[1] > 1):
        raise InputError(f"the data have {count_of(n, 'row')}; a covariance needs at least 3")
    with np.errstate(invalid="ignore", over="ignore"):
        weights = rows.weights
        mean = X.mean(axis=0) if weights is None else weights @ X / weights.sum()
        X = X - mean
        if weights is not None:
            X = X * np.sqrt(n * weights / weights.sum())[:, None]
        # Subjects whose means were taken out leave so many rows less.
        covariance = X.T @ X / (n if rows.subjects is None else rows.n_effective)
    variances = covariance.diagonal()
    if not np.isfinite(variances).all():
        # A missing or infinite value reaches its mean, so the table itself is searched only now.
        check_finite(rows.values, "data", labels)
        raise InputError("the values are so large that their variances overflow; rescale them")
    constant = np.flatnonzero(variances <= (1e-13 * mean) ** 2)
    if constant.size:
        j = constant[0]
        if X[:, j].any() and not mean[j] ** 2 > np.finfo(float).tiny:
            raise InputError(
                f"column {labels[j]!r} has values so small that its variance underflows; rescale it"
            )
        others = [repr(labels[i]) for i in constant[1:]]
        also = f" (also constant: {listed(others)})" if others else ""
        raise InputError(
            f"column {labels[j]!r} is constant{also}; a constant column has no causes and no "
            "effects: drop it"
        )
    check_positive_definite(covariance, labels, n)
    return Moments._unchecked(covariance, n, mean, labels, rows.is_unnamed, rows.exogenous)


def read_moments(
    path: str | Path, *, covariance: bool = False, n_samples: int | None = None, **options: Any
) -> Moments:
    """Moments of a table in a file, or of a covariance matrix in one.

    Parameters
    ----------
    path : str or Path
        As in :func:`read_table`. Tetrad's format for covariance matrices is recognised.
    covariance : bool
        Whether the file contains a covariance or correlation matrix instead of rows, with the
        divisor n, computed from ``n_samples`` rows; one triangle may be empty.
    **options
        As in :func:`read_table`.
    """
    check_path(path)
    written = tetrad_matrix(path, options.get("encoding"))
    if written is not None:
        return Moments(written[1], written[0] if n_samples is None else n_samples)
    if not covariance:
        return as_moments(read_table(path, **options))
    if n_samples is None:
        raise InputError(
            f"{path}: the number of rows behind a covariance matrix is needed; give n_samples (--n)"
        )
    frame = read_table(path, covariance=True, **options)
    if frame.shape[0] != frame.shape[1]:
        raise InputError(
            f"{path}: {frame.shape[0]} rows and {frame.shape[1]} columns are not a covariance "
            "matrix, which must be square"
        )
    return Moments(_mirrored(frame), n_samples)


def _mirrored(frame: pd.DataFrame) -> pd.DataFrame:
    """The symmetric matrix of which one half is given; any other matrix unchanged."""
    if half_of_matrix(frame.to_numpy(dtype=float)) is None:
        return frame
    S = np.nan_to_num(frame.to_numpy(dtype=float))
    frame = frame.copy()
    frame[:] = S + S.T - np.diag(S.diagonal())
    return frame


def checked_mean(mean: ArrayLike, names: tuple[str, ...]) -> FloatArray:
    """The mean of each column, as an array of finite numbers."""
    try:
        centre = np.array(mean, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"the mean is {short(mean)}; give {len(names)} numbers") from None
    if centre.shape != (len(names),):
        raise InputError(f"the mean has shape {centre.shape}; give {len(names)} numbers")
    if not np.isfinite(centre).all():
        name = names[int(np.flatnonzero(~np.isfinite(centre))[0])]
        raise InputError(f"the mean of column {name!r} is not finite")
    return cast(FloatArray, centre)


__all__ = ["Moments", "as_moments", "default_names", "read_moments"]
