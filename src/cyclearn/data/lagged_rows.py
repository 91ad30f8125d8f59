"""Rows of a time series beside the rows before them: what ``lags`` makes of a table.

Row t of the extended table holds row t of the table, and then rows t − 1, …, t − k under the names
``gdp[t-1]``, …, ``gdp[t-k]``. The first k rows have no such past and serve as past alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cyclearn.data.missing_values import labelled
from cyclearn.foundation.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


def past_name(name: str, lag: int) -> str:
    """The name of a variable so many rows before.

    Examples
    --------
    >>> past_name("gdp", 2)
    'gdp[t-2]'
    """
    return f"{name}[t-{lag}]"


def past_names(names: Sequence[str], lags: int) -> tuple[str, ...]:
    """The names of all columns of the past, the last row first."""
    return tuple(past_name(name, lag) for lag in range(1, lags + 1) for name in names)


def with_past(data: Any, lags: int) -> pd.DataFrame:
    """A table whose rows stand beside the rows before them.

    Examples
    --------
    >>> with_past(np.array([[1.0], [2.0], [3.0], [4.0], [5.0]]), 2)
        X1  X1[t-1]  X1[t-2]
    0  3.0      2.0      1.0
    1  4.0      3.0      2.0
    2  5.0      4.0      3.0
    """
    import pandas as pd

    X, names, _ = labelled(data)
    n = len(X) - lags
    if n < 3:
        raise InputError(
            f"lags is {lags}, and there are {len(X)} rows; a row with a whole past needs {lags} "
            "rows before it, and at least three such rows are needed: give a longer table, or "
            "fewer lags"
        )
    past = past_names(names, lags)
    for name in past:
        if name in names:
            raise InputError(
                f"column {name!r} has the name that lags={lags} gives to the past; rename it"
            )
    rows = np.hstack([X[lags - lag : lags - lag + n] for lag in range(lags + 1)])
    return pd.DataFrame(rows, columns=[*names, *past])
