"""Rows of a time series next to the preceding rows: what ``lags`` does to a table.

Row t of the extended table holds row t of the table, and then rows t − 1, …, t − k under the names
``gdp[t-1]``, …, ``gdp[t-k]``. The first k rows lack these and serve only as the past of later rows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from cyclearn.data.rows import Rows
from cyclearn.foundation.errors import InputError


def past_name(name: str, lag: int) -> str:
    """The name of a lagged variable.

    Examples
    --------
    >>> past_name("gdp", 2)
    'gdp[t-2]'
    """
    return f"{name}[t-{lag}]"


def past_of(names: Sequence[str], lags: int) -> tuple[str, ...]:
    """Select the names of lagged variables.

    Examples
    --------
    >>> past_of(["gdp", "rate", "gdp[t-1]", "rate[t-1]"], 1)
    ('gdp[t-1]', 'rate[t-1]')
    """
    parts = ((name, re.fullmatch(r"(.*)\[t-([1-9]\d*)\]", name, re.DOTALL)) for name in names)
    return tuple(name for name, part in parts if part and part[1] in names and int(part[2]) <= lags)


def past_names(names: Sequence[str], lags: int) -> tuple[str, ...]:
    """The names of all lagged columns, the smallest lag first."""
    return tuple(past_name(name, lag) for lag in range(1, lags + 1) for name in names)


def with_past(rows: Rows, lags: int) -> Rows:
    """Rows next to the preceding rows, which are exogenous.

    Examples
    --------
    >>> found = with_past(Rows.of(np.array([[1.0], [2.0], [3.0], [4.0], [5.0]])), 2)
    >>> found.names, found.exogenous
    (('X1', 'X1[t-1]', 'X1[t-2]'), ('X1[t-1]', 'X1[t-2]'))
    >>> found.values
    array([[3., 2., 1.],
           [4., 3., 2.],
           [5., 4., 3.]])
    """
    X, n = rows.values, len(rows.values) - lags
    if n < 3:
        raise InputError(
            f"lags is {lags}, and there are {len(X)} rows; at least three rows must have {lags} "
            "rows before them: give a longer table, or use fewer lags"
        )
    past = past_names(rows.names, lags)
    for name in past:
        if name in rows.names:
            raise InputError(
                f"column {name!r} has a name that lags={lags} uses for a lagged column; rename it"
            )
    values = np.hstack([X[lags - lag : lags - lag + n] for lag in range(lags + 1)])
    return Rows(values, (*rows.names, *past), False, (*rows.exogenous, *past))
