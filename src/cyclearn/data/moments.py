"""The mean and covariance of a table, which are all that fits and searches use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from numbers import Real
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from cyclearn.data import input_checks
from cyclearn.data.rows import Rows
from cyclearn.data.table_files import as_rows, read_table, tetrad_matrix
from cyclearn.foundation import InputError, check_path, count_of, listed, pd, short
from cyclearn.foundation.arrays import BoolArray, FloatArray
from cyclearn.graphs.graph_input import checked_names

# The share of each level of ordinal variables, in order.
Levels: TypeAlias = Mapping[str, Mapping[str, float]]
# What functions on data accept: rows (a table, an array, a file) or moments.
Data: TypeAlias = "pd.DataFrame | ArrayLike | str | Path | Moments"

_FIELDS = ("covariance", "n_samples", "mean", "names", "has_default_names", "exogenous", "levels")


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
    ordered : sequence of str, or mapping, optional
        Ordinal variables: their moments are those of the underlying normal variables. A mapping
        has the shares of the levels of each, by name and in order: ``levels``.

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
    levels: Levels

    def __init__(
        self,
        covariance: ArrayLike,
        n_samples: int,
        mean: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        exogenous: Sequence[str] = (),
        ordered: Sequence[str] | Levels = (),
    ) -> None:
        if not isinstance(n_samples, Real) or not n_samples >= 2 or n_samples % 1 != 0:
            raise InputError(
                f"n_samples is {short(n_samples)}; give the number of rows, at least 2"
            )
        index = getattr(covariance, "columns", None)
        if names is None and index is not None:
            names = [str(name) for name in index]
        S = input_checks.checked_matrix(covariance, "covariance", names)
        labels = checked_names(names, S.shape[1], "column")
        S = input_checks.checked_covariance(S, labels)
        input_checks.check_positive_definite(S, labels, int(n_samples))
        centre = None if mean is None else checked_mean(mean, labels)
        given = input_checks.checked_exogenous(exogenous, labels)
        given_shares = ordered if isinstance(ordered, Mapping) else {}
        shares = {
            name: dict(given_shares.get(name, {}))
            for name in input_checks.names_among("ordered", list(ordered), labels)
        }
        self._set(S, int(n_samples), centre, labels, names is None, given, shares)

    def _set(self, *values: Any) -> None:
        # Immutable: attributes are set once here, bypassing the guard in __setattr__.
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
        levels: Levels | None = None,
    ) -> Moments:
        """Moments of a table whose columns may be constant because they were intervened on."""
        moments = object.__new__(cls)
        moments._set(covariance, n_samples, mean, names, has_default_names, exogenous, levels or {})
        return moments

    def _changed(self, **changes: Any) -> Moments:
        return Moments._unchecked(**{name: getattr(self, name) for name in _FIELDS} | changes)

    def given(self, exogenous: Sequence[str]) -> Moments:
        """The same moments, with these variables exogenous as well."""
        return self._changed(
            exogenous=input_checks.checked_exogenous((*self.exogenous, *exogenous), self.names)
        )

    @cached_property
    def is_exogenous(self) -> BoolArray:
        """Which variables are exogenous, shape (p,)."""
        return np.isin(self.names, self.exogenous)

    @property
    def ordered(self) -> tuple[str, ...]:
        """Ordinal variables."""
        return tuple(self.levels)

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

    def among(self, names: Sequence[str]) -> Moments:
        """The moments of some of the variables, in the order of ``names``."""
        if absent := [name for name in names if name not in self.names]:
            raise InputError(f"no variable {absent[0]!r}; the variables are {listed(self.names)}")
        order = [self.names.index(name) for name in names]
        return self._changed(
            covariance=self.covariance[np.ix_(order, order)],
            mean=None if self.mean is None else self.mean[order],
            names=tuple(names),
            has_default_names=False,
            exogenous=tuple(name for name in self.exogenous if name in names),
            levels={name: self.levels[name] for name in self.ordered if name in names},
        )

    def aligned_to(self, names: tuple[str, ...], other: str = "the graph") -> Moments:
        """The same moments with the variables in the order of ``names``, which ``other`` has.

        Variables with generated names are matched by position.
        """
        if names == self.names:
            return self
        if self.has_default_names:
            if len(names) != self.n_variables:
                raise InputError(
                    f"the data have {self.n_variables} columns and {other} {len(names)} variables; "
                    "give one column for each"
                )
            renamed = dict(zip(self.names, names, strict=True))
            exogenous = tuple(renamed[name] for name in self.exogenous)
            levels = {renamed[name]: shares for name, shares in self.levels.items()}
            return self._changed(
                names=names, has_default_names=False, exogenous=exogenous, levels=levels
            )
        missing = [name for name in names if name not in self.names]
        extra = [name for name in self.names if name not in names]
        if missing or extra:
            raise InputError(
                f"the names of the data and of {other} do not match"
                + (f"; not in the data: {', '.join(missing[:10])}" if missing else "")
                + (f"; not in {other}: {', '.join(extra[:10])}" if extra else "")
                + "; rename or select columns so that both have the same names"
            )
        return self.among(names)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Moments are immutable; {name!r} cannot be set")

    def __reduce__(self) -> tuple[Any, ...]:
        names = None if self.has_default_names else self.names
        values = (self.covariance, self.n_samples, self.mean, names)
        return Moments, (*values, self.exogenous, dict(self.levels))

    def __repr__(self) -> str:
        return f"Moments({self.n_samples} samples of {self.n_variables} variables)"


def name_order(names: Sequence[str], are_numbers: bool) -> tuple[int, ...]:
    """Positions of names in alphabetical (code point) order; generated names keep their order.

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
    """Moments of the rows of one table without missing cells."""
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
        # Removing the means of subjects reduces the number of rows.
        covariance = X.T @ X / (n if rows.subjects is None else rows.n_effective)
    variances = covariance.diagonal()
    if not np.isfinite(variances).all():
        # A missing or infinite value shows in the mean, so the table is searched only now.
        input_checks.check_finite(rows.values, "data", labels)
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
    input_checks.check_positive_definite(covariance, labels, n)
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
        As in :func:`read_table`; ``columns`` of a matrix are those of its variables to use.
    """
    check_path(path)
    written = tetrad_matrix(path, options.get("encoding"))
    if written is None and not covariance:
        return as_moments(read_table(path, **options))
    chosen = options.pop("columns", None)
    found = _matrix(path, written, n_samples, options)
    return found if chosen is None else found.among(chosen)


def _matrix(path: str | Path, written: Any, n_samples: int | None, options: Any) -> Moments:
    """The matrix in a file; one in Tetrad's format has been read already."""
    if written is not None:
        return Moments(written[1], written[0] if n_samples is None else n_samples)
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
    """Complete a symmetric matrix of which one half is given; return any other matrix unchanged."""
    if input_checks.half_of_matrix(frame.to_numpy(dtype=float)) is None:
        return frame
    S = np.nan_to_num(frame.to_numpy(dtype=float))
    frame = frame.copy()
    frame[:] = S + S.T - np.diag(S.diagonal())
    return frame


def checked_mean(mean: ArrayLike, names: Sequence[str]) -> FloatArray:
    """The mean of each column, as an array of finite numbers."""
    return checked_vector(mean, names, ("the mean is", "the mean has", "the mean of column"))


def checked_vector(
    values: ArrayLike, names: Sequence[str], words: tuple[str, str, str]
) -> FloatArray:
    """Copy numbers to an array; check that all are finite and that there is one for each name.

    ``words`` begin the messages about wrong values, a wrong shape, and one wrong number.
    """
    try:
        vector = np.array(values, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{words[0]} {short(values)}; give {len(names)} numbers") from None
    if vector.shape != (len(names),):
        raise InputError(f"{words[1]} shape {vector.shape}; give {len(names)} numbers")
    if not np.isfinite(vector).all():
        name = names[int(np.flatnonzero(~np.isfinite(vector))[0])]
        raise InputError(f"{words[2]} {name!r} is not finite")
    return np.asarray(vector)
