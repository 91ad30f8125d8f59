"""Nominal columns: each becomes indicator columns, which are exogenous."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cyclearn.data.rows import MOST_LEVELS
from cyclearn.foundation.errors import InputError


def with_indicators(table: Any, categories: Sequence[str]) -> tuple[Any, tuple[str, ...]]:
    """Replace nominal columns by columns of zeros and ones; also return the names of these.

    Every category except the first, in alphabetical order, gets a column.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"a": [1.5, 2.0, 0.5], "land": ["fr", "de", "it"]})
    >>> with_indicators(table, ["land"])
    (     a  land=fr  land=it
    0  1.5      1.0      0.0
    1  2.0      0.0      0.0
    2  0.5      0.0      1.0, ('land=fr', 'land=it'))
    """
    if not hasattr(table, "columns"):
        raise InputError(
            "categories needs one table with named columns; give a DataFrame or a file"
        )
    added: dict[str, Any] = {}
    for name in categories:
        if name not in table.columns:
            raise InputError(
                f"categories names {name!r}, which is not a column; the columns are "
                f"{', '.join(map(str, table.columns[:10]))}"
            )
        column = table[name].map(lambda cell: str(cell).strip(), na_action="ignore")
        levels = sorted(column.dropna().astype(str).unique())
        if not 2 <= len(levels) <= MOST_LEVELS:
            raise InputError(
                f"column {name!r} has {len(levels)} categories; 2 to {MOST_LEVELS} become "
                "indicators: merge rare categories, or use the column to define groups of rows "
                f"(groups={name!r})"
            )
        for level in levels[1:]:
            added[f"{name}={level}"] = (column == level).astype(float).where(column.notna())
    return table.drop(columns=list(categories)).assign(**added), tuple(added)
