"""The rows of one table: numbers and the names of their columns, taken from it once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cyclearn.data.input_checks import (
    check_names,
    check_rows,
    checked_exogenous,
    names_among,
    numeric_matrix,
)
from cyclearn.foundation.arrays import FloatArray
from cyclearn.foundation.errors import InputError

# A variable with more levels is as good as continuous, and its table of counts is mostly empty.
MOST_LEVELS = 12


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a table, in which missing cells are NaN.

    ``is_unnamed`` says that the columns have no names of their own and are matched by position;
    ``exogenous`` names those that are taken as given, ``ordered`` those that are ordinal.
    """

    values: FloatArray
    names: tuple[str, ...]
    is_unnamed: bool
    exogenous: tuple[str, ...] = ()
    ordered: tuple[str, ...] = ()

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
        values = numeric_matrix(table, "data", names)
        check_rows(values)
        return cls(values, check_names(names, values.shape[1]), names is None)

    def given(self, exogenous: Sequence[str]) -> Rows:
        """The same rows, with these columns taken as given as well."""
        given = checked_exogenous((*self.exogenous, *exogenous), self.names)
        return replace(self, exogenous=given)

    def with_ordered(self, ordered: Sequence[str]) -> Rows:
        """The same rows, with these columns ordinal: 0, 1, … in place of their levels."""
        found = names_among("ordered", ordered, self.names)
        for name in found:
            if name in self.exogenous:
                raise InputError(
                    f"{name!r} is ordered and exogenous; variables that are taken as given may "
                    "have any shape: leave it out of ordered"
                )
        values = self.values.copy()
        for j in map(self.names.index, found):
            is_there = ~np.isnan(values[:, j])
            levels, codes = np.unique(values[is_there, j], return_inverse=True)
            if len(levels) > MOST_LEVELS:
                raise InputError(
                    f"column {self.names[j]!r} is ordered and has {len(levels)} levels; at most "
                    f"{MOST_LEVELS} are taken: leave it out, it is as good as continuous"
                )
            values[is_there, j] = codes
        return replace(self, values=values, ordered=found)

    def with_values(self, values: FloatArray) -> Rows:
        """Other rows of the same columns."""
        return replace(self, values=values)
