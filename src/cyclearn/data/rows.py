"""The rows of one table: numbers and the names of their columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cyclearn.data import input_checks
from cyclearn.foundation.arrays import BoolArray, FloatArray, IntArray
from cyclearn.foundation.errors import InputError
from cyclearn.graphs.graph_input import checked_names

# With more levels a variable is nearly continuous, and its table of counts mostly empty.
MOST_LEVELS = 12


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a table, in which missing cells are NaN.

    ``is_unnamed`` says that the columns have generated names and are matched by position;
    ``exogenous`` and ``ordered`` name exogenous and ordinal columns; ``texts`` gives the meaning of
    0, 1, … in a column. Rows may have ``weights``, of mean one, and ``subjects``, by number.
    """

    values: FloatArray
    names: tuple[str, ...]
    is_unnamed: bool
    exogenous: tuple[str, ...] = ()
    ordered: tuple[str, ...] = ()
    texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    weights: FloatArray | None = None
    subjects: IntArray | None = None

    @classmethod
    def of(cls, table: Any, names: Sequence[str] | None = None) -> Rows:
        """The rows of a DataFrame or of an array; ``names`` are for columns without any.

        Examples
        --------
        >>> Rows.of([[1, 2], [3, None]]).names
        ('X1', 'X2')
        """
        columns = getattr(table, "columns", None)
        if columns is not None and names is None:
            names = [str(name) for name in columns.tolist()]
        values = input_checks.numeric_matrix(table, "data", names)
        input_checks.check_rows(values)
        texts = getattr(table, "attrs", {}).get("texts", {})
        return cls(
            values, checked_names(names, values.shape[1], "column"), names is None, texts=texts
        )

    def given(self, exogenous: Sequence[str]) -> Rows:
        """The same rows, with these columns exogenous as well."""
        given = input_checks.checked_exogenous((*self.exogenous, *exogenous), self.names)
        return replace(self, exogenous=given)

    def with_ordered(self, ordered: Sequence[str]) -> Rows:
        """The same rows, with these columns ordinal: 0, 1, … in place of their levels."""
        found = input_checks.names_among("ordered", ordered, self.names)
        for name in found:
            if name in self.exogenous:
                raise InputError(
                    f"{name!r} is both ordered and exogenous; exogenous variables may have any "
                    "distribution: remove it from ordered"
                )
        values, texts = self.values.copy() if found else self.values, dict(self.texts)
        for name in found:
            j = self.names.index(name)
            is_there = ~np.isnan(values[:, j])
            levels, codes = np.unique(values[is_there, j], return_inverse=True)
            if len(levels) > MOST_LEVELS:
                raise InputError(
                    f"column {name!r} is ordered and has {len(levels)} levels, more than "
                    f"the maximum of {MOST_LEVELS}: remove it from ordered"
                )
            values[is_there, j] = codes
            own = texts.get(name)
            texts[name] = tuple(f"{v:g}" if own is None else own[int(v)] for v in levels)
        return replace(self, values=values, ordered=found, texts=texts)

    def with_values(self, values: FloatArray) -> Rows:
        """The same rows and columns with other values."""
        return replace(self, values=values)

    def taken(self, chosen: IntArray | BoolArray) -> Rows:
        """Some of the rows."""
        own: dict[str, Any] = {"weights": self.weights, "subjects": self.subjects}
        kept = {name: each[chosen] for name, each in own.items() if each is not None}
        return replace(self, values=self.values[chosen], **kept)

    @property
    def n_effective(self) -> float:
        """Effective sample size of weighted rows (Kish), less one for each subject except one."""
        if self.weights is not None:
            return float(self.weights.sum() ** 2 / (self.weights**2).sum())
        lost = 0 if self.subjects is None else len(np.unique(self.subjects)) - 1
        return float(len(self.values) - lost)

    def within_subjects(self) -> Rows:
        """The same rows with each subject's mean removed."""
        if self.subjects is None:
            return self
        numbers = np.unique(self.subjects, return_inverse=True)[1]
        counts = np.bincount(numbers)
        if len(counts) > len(numbers) - 2:
            raise InputError(
                f"{len(numbers)} rows of {len(counts)} subjects leave no variation once each "
                "subject's mean is removed; name a column that several rows share"
            )
        means = [np.bincount(numbers, column) / counts for column in self.values.T]
        left = self.values - np.column_stack(means)[numbers]
        is_still = np.abs(left).max(axis=0) <= 1e-13 * np.abs(self.values).max(axis=0)
        if is_still.any():
            still = ", ".join(np.array(self.names)[is_still][:10])
            raise InputError(
                f"these columns do not vary within any subject: {still}; removing each subject's "
                "mean removes them entirely: drop them"
            )
        return self.with_values(left + self.values.mean(axis=0))


def row_column(frame: Any, name: str, option: str) -> tuple[Any, Any]:
    """Split off the column of weights or subjects from the table."""
    if not hasattr(frame, "columns") or name not in frame.columns:
        raise InputError(f"{option} is {name!r}, which is not a column of the table")
    column = frame[name]
    if column.isna().any():
        row = int(np.flatnonzero(column.isna().to_numpy())[0])
        raise InputError(f"column {name!r} is {option} and has no value in row {row}; drop the row")
    return frame.drop(columns=name), column
