"""Ordinal columns of a table: booleans, two text values and ordered categories as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cyclearn.data.latent_correlations import efficiency, latent_correlations
from cyclearn.data.missing_values import Treated, made_definite
from cyclearn.data.rows import Rows
from cyclearn.data.table_columns import two_texts
from cyclearn.foundation.errors import InputError
from cyclearn.foundation.json_input import short


def with_numbers(table: Any, ordered: Sequence[str]) -> Any:
    """The table with ordinal columns, and columns of two text values, coded as ordered numbers.

    The columns named in ``ordered`` and ordered categories are ordinal.

    Examples
    --------
    >>> import pandas as pd
    >>> with_numbers(pd.DataFrame({"a": [1.5, 2.0], "smokes": ["yes", "no"]}), ["smokes"])
         a  smokes
    0  1.5     1.0
    1  2.0     0.0
    """
    if not hasattr(table, "columns") or not table.columns.is_unique:
        return table
    ordered = [*ordered, *(name for name in table.columns if _has_order(table[name]))]
    changed = {name: _numbers(table[name], name) for name in ordered if name in table.columns}
    for name in table.columns.difference(list(changed)):
        texts, numbers = two_texts(table[name])
        if texts:
            changed[name] = numbers
    found = table.assign(**changed)
    # The levels that the numbers represent, by column.
    given = {
        name: table[name].cat.categories if _has_order(table[name]) else two_texts(table[name])[0]
        for name in changed
    }
    own = {str(name): tuple(map(str, texts)) for name, texts in given.items() if len(texts)}
    found.attrs["texts"] = table.attrs.get("texts", {}) | own
    return found


def _has_order(column: Any) -> bool:
    import pandas as pd

    return isinstance(column.dtype, pd.CategoricalDtype) and column.cat.ordered


def _numbers(column: Any, name: str) -> Any:
    import pandas as pd

    if _has_order(column):
        return column.cat.codes.where(column.notna()).astype(float)
    if column.dtype.kind in "fiub":
        return column.astype(float)
    present = column.dropna().map(lambda cell: str(cell).strip())
    numbers = pd.to_numeric(present, errors="coerce")
    if not numbers.isna().any():
        return numbers.reindex(column.index)
    texts, found = two_texts(column)
    if not texts:
        levels = sorted(set(present))
        raise InputError(
            f"column {name!r} is declared ordered and contains {len(levels)} texts "
            f"({short(levels[0])}, …), whose order is unknown; define the order: "
            "pd.Categorical(data[name], categories=[…], ordered=True)"
        )
    return found


def _shares(rows: Rows, name: str) -> dict[str, float]:
    """The share of each level of an ordinal column."""
    codes = rows.values[:, rows.names.index(name)]
    # A resample may have no row of the last level.
    texts = rows.texts[name]
    counts = np.bincount(codes[~np.isnan(codes)].astype(int), minlength=len(texts))
    return dict(zip(texts, (counts / counts.sum()).tolist(), strict=True))


def with_latent_correlations(treated: Treated, rows: Rows, is_counted: bool = True) -> Treated:
    """The same data, with the moments of the normal variables behind ordinal columns.

    These variables have mean zero and variance one. The effective sample size is multiplied by the
    efficiency of the latent correlations, if it ``is_counted``, which takes as long as they do.
    """
    is_ordered = np.isin(rows.names, rows.ordered)
    is_empty = np.isnan(rows.values).all(axis=1)
    is_pairwise = treated.holes is not None and treated.holes.treatment == "pairwise"
    X = rows.values[~is_empty] if is_pairwise else treated.filled
    R, shrinkage = made_definite(latent_correlations(X, is_ordered))
    given = treated.moments
    scale = np.where(is_ordered, 1.0, given.scale)
    moments = given._changed(
        covariance=R * np.outer(scale, scale),
        mean=None if given.mean is None else np.where(is_ordered, 0.0, given.mean),
        levels={name: _shares(rows, name) for name in rows.ordered},
    )
    return replace(
        treated,
        moments=moments,
        n_effective=treated.n_effective * (efficiency(X, is_ordered, R) if is_counted else 1.0),
        repaired=shrinkage,
    )
