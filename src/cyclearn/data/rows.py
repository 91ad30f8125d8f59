"""The rows of one table: numbers and the names of their columns, taken from it once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from cyclearn.data.input_checks import check_names, check_rows, checked_exogenous, numeric_matrix
from cyclearn.foundation.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a table, in which missing cells are NaN.

    ``is_unnamed`` says that the columns have no names of their own and are matched by position;
    ``exogenous`` names those that are taken as given.
    """

    values: FloatArray
    names: tuple[str, ...]
    is_unnamed: bool
    exogenous: tuple[str, ...] = ()

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

    def with_values(self, values: FloatArray) -> Rows:
        """Other rows of the same columns."""
        return replace(self, values=values)
