"""Warnings about data before learning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cyclearn.data.data_warnings import DataWarning
from cyclearn.data.grouped_tables import SeveralData
from cyclearn.data.reading import Reading
from cyclearn.foundation import InputError, takes_options
from cyclearn.search.options import ProblemOptions


def check_several_variables(names: Sequence[str]) -> None:
    """Raise if there is only one variable."""
    if len(names) < 2:
        raise InputError(
            f"the table has one column, {names[0]!r}, but a graph needs at least two; give more "
            "columns (or, if the file has more, its separator: sep=…, --sep)"
        )


@takes_options(Reading)
def check_data(data: SeveralData, **reading: Any) -> tuple[DataWarning, ...]:
    """Warnings about data: dependent rows, columns far from Gaussian, collinearity, few rows.

    Parameters
    ----------
    data : DataFrame, array of shape (n, p), path or Moments
        Or several of these. Moments show neither dependence nor the distribution of columns, so
        these are not checked then. With lags, the residuals given the past are checked.
    **reading
        The fields of :class:`cyclearn.Reading`.

    Returns
    -------
    tuple of DataWarning
        The warnings that :func:`cyclearn.learn` gives with these options. An empty tuple does not
        prove that the data are fine: no check here detects all hidden causes and nonlinear
        relations.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> check_data(rng.standard_normal((500, 3)))
    ()
    >>> for warning in check_data(rng.standard_normal((500, 3)).cumsum(axis=0)):
    ...     print(warning.code)
    dependent_rows
    low_power
    too_few_rows
    """
    options = ProblemOptions.of(reading)
    return options.warnings(options.tables(data))
