"""Tables of several groups: recognised in the input, checked against each other, named.

All groups share one graph, and each has its own weights and noise. Groups are given as a list of
tables, as a mapping from names to tables, or as a column of one table that names the group of each
row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from cyclearn.data.moments import Data, Moments
from cyclearn.data.table_files import as_rows, read_table
from cyclearn.foundation import InputError, pd, short

# Functions that accept one table accept several: a list, or a mapping from names to tables.
SeveralData: TypeAlias = "Data | Sequence[Data] | Mapping[str, Data]"


def named_tables(
    data: Any, groups: str | None = None, *, in_order: bool = False
) -> dict[str, Any] | None:
    """Tables by the name of their group, in the order given; None for a single table.

    Tables in a list are named by their files where these have different names, or 1, 2, ….
    ``in_order`` requires that the rows of each group are contiguous, for lags.

    Examples
    --------
    >>> list(named_tables([np.zeros((5, 2)), np.ones((4, 2))]))
    ['1', '2']
    >>> named_tables([[0.0, 1.0], [2.0, 0.5]]) is None
    True
    """
    if groups is not None:
        return _split(data, groups, in_order=in_order)
    if isinstance(data, Mapping):
        return _checked_names(data)
    if not isinstance(data, (list, tuple)) or not data or not _is_table(data[0]):
        return None
    for position, table in enumerate(data, 1):
        if not _is_table(table):
            raise InputError(
                f"the first of {len(data)} tables is one, and number {position} is "
                f"{type(table).__name__}; give a list of tables"
            )
    stems = [Path(table).stem for table in data if isinstance(table, (str, Path))]
    if len(set(stems)) == len(data):
        return dict(zip(stems, data, strict=True))
    return {str(position): table for position, table in enumerate(data, 1)}


def _checked_names(data: Mapping[Any, Any]) -> dict[str, Any]:
    if not data:
        raise InputError("there are no tables; give at least one")
    for name, table in data.items():
        if not _is_table(table):
            raise InputError(
                f"{name!r} of the mapping given as data is {type(table).__name__}, not a table; "
                "map group names to tables, or build a DataFrame from the columns"
            )
    named = {str(name): table for name, table in data.items()}
    if len(named) < len(data):
        raise InputError("two groups have the same name once converted to text; rename one")
    return named


def _is_table(value: Any) -> bool:
    """Whether a value is a single table: rows in two dimensions, moments, or a file."""
    if isinstance(value, (str, Path, Moments)) or hasattr(value, "columns"):
        return True
    if hasattr(value, "to_pandas"):
        return True
    try:
        return np.ndim(value) == 2
    except ValueError:
        return False


def _split(data: Any, groups: str, *, in_order: bool) -> dict[str, Any]:
    """The rows of one table by what a column says."""
    if not isinstance(groups, str):
        raise InputError(f"groups is {short(groups)}; give the name of a column")
    frame = labelled_rows(data, [groups], "groups")
    labels = frame[groups]
    if labels.isna().any():
        row = int(np.flatnonzero(labels.isna().to_numpy())[0])
        raise InputError(
            f"column {groups!r} does not name a group in row {row}; fill it in, or drop the row"
        )
    if in_order:
        _check_stretches(labels, groups)
    rows = frame.drop(columns=groups)
    parts = {str(_plain(label)): part for label, part in rows.groupby(labels, observed=True)}
    if len(parts) > len(frame) / 2:
        raise InputError(
            f"column {groups!r} names {len(parts)} groups for {len(frame)} rows; name a column "
            "that several rows share"
        )
    return parts


def _check_stretches(labels: pd.Series, groups: str) -> None:
    """Refuse groups whose rows are not contiguous: the preceding row is then unknown."""
    begins = labels[(labels != labels.shift()).to_numpy()]
    again = begins[begins.duplicated()]
    if len(again):
        raise InputError(
            f"the rows of group {str(_plain(again.iloc[0]))!r} of column {groups!r} are not "
            "contiguous, and lags need the row before each row: sort the rows by group and time, "
            "or give each contiguous stretch its own name"
        )


def labelled_rows(data: Any, labels: Sequence[str], option: str) -> pd.DataFrame:
    """A table as a DataFrame, with columns of labels next to those of numbers."""
    frame = read_table(data, labels=labels) if isinstance(data, (str, Path)) else as_rows(data)
    if not isinstance(frame, pd.DataFrame):
        raise InputError(
            f"{option} names a column, but the data are of type {type(data).__name__}, which has "
            "no column names; give a DataFrame or a file"
        )
    for label in labels:
        if label not in frame.columns:
            names = ", ".join(map(str, frame.columns[:10]))
            raise InputError(
                f"{option} is {short(label)}, but there is no such column; the columns are {names}"
            )
    return frame


def _plain(label: Any) -> Any:
    # Group numbers are read as floats if the file has missing cells.
    return int(label) if isinstance(label, float) and label.is_integer() else label


@contextmanager
def naming_group(name: str) -> Iterator[None]:
    """Errors raised inside name the group."""
    try:
        yield
    except InputError as error:
        raise InputError(f"group {name!r}: {error}" if name else str(error)) from None


def aligned_moments(moments: Moments, first: Moments) -> Moments:
    """Moments of another table, with the variables ordered as in the first one."""
    if moments.has_default_names != first.has_default_names:
        raise InputError("some tables have column names and others do not; name all or none")
    return moments.aligned_to(first.names, "the first table")
