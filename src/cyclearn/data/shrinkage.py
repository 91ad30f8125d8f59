"""Shrinkage of correlations, stronger with fewer rows: ``covariance="shrunk"``.

Ledoit and Wolf's estimate, R* = (1 − s) R + s I, on standardised columns, so that units change
nothing: variances stay, correlations shrink by the share s that makes the expected squared error
least. It is regular with any number of rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from cyclearn.data.missing_values import Treated
from cyclearn.data.moments import name_order

Covariance = Literal["sample", "shrunk"]


def shrunk(treated: Treated) -> Treated:
    """The same data with shrunk correlations.

    Examples
    --------
    >>> from cyclearn.data.missing_values import treat_missing
    >>> from cyclearn.data.rows import Rows
    >>> X = np.random.default_rng(0).standard_normal((10, 20))
    >>> found = shrunk(treat_missing(Rows.of(X), "error"))
    >>> found.shrinkage > 0.8, bool(np.linalg.eigvalsh(found.moments.covariance)[0] > 0.1)
    (True, True)
    """
    # Imported here because it takes a second to load and few tables need it.
    from sklearn.covariance import ledoit_wolf_shrinkage

    given = treated.moments
    # In the order of the names, so that the order of the columns changes no bit.
    order = np.array(name_order(given.names, given.has_default_names))
    rows = treated.filled[:, order] - treated.filled[:, order].mean(axis=0)
    share = float(ledoit_wolf_shrinkage(rows / rows.std(axis=0), assume_centered=True))
    S = (1 - share) * given.covariance + share * np.diag(given.covariance.diagonal())
    return replace(treated, moments=given._changed(covariance=S), shrinkage=share)
