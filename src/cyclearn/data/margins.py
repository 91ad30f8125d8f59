"""Transformations of single columns before covariances are computed."""

from __future__ import annotations

from typing import Literal

import numpy as np

from cyclearn.data.rows import Rows
from cyclearn.foundation.arrays import FloatArray
from cyclearn.foundation.errors import InputError

Margins = Literal["raw", "log", "rank"]
# The scale of weights and effects, if it is not that of the data.
SCALES = {"log": "logarithms", "rank": "normal scores of ranks"}


def normal_scores(X: FloatArray) -> FloatArray:
    """Normal scores: the normal quantile at rank / (m + 1) for the m values of a column.

    Monotone transformations of a column change nothing, outliers little. Ties share their average
    rank; missing cells stay missing.

    Examples
    --------
    >>> X = np.array([[1.0, 1.0], [10.0, 2.0], [100.0, np.nan]])
    >>> normal_scores(X).round(2)
    array([[-0.67, -0.43],
           [ 0.  ,  0.43],
           [ 0.67,   nan]])
    """
    from scipy.special import ndtri
    from scipy.stats import rankdata

    is_infinite = np.isinf(X)
    ranks = rankdata(X, axis=0, nan_policy="omit")
    scores = ndtri(ranks / ((~np.isnan(X)).sum(axis=0) + 1))
    # An infinite value is an error, not a large number, and must be reported.
    return np.asarray(np.where(is_infinite, X, scores))


def with_margins(rows: Rows, margins: Margins) -> Rows:
    """Rows with their columns transformed as requested."""
    if margins == "log":
        for name, column in zip(rows.names, rows.values.T, strict=True):
            if (column <= 0).any():
                raise InputError(
                    f"column {name!r} has the value {np.nanmin(column):g}, which has no "
                    "logarithm; add a constant to the column, or use margins='rank'"
                )
        return rows.with_values(np.log(rows.values))
    return rows if margins == "raw" else rows.with_values(normal_scores(rows.values))
