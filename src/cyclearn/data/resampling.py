"""Draws of the data: rows with replacement, blocks or half of the rows, or a covariance.

Draw r depends only on the seed and r, so that any process can make it at any time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import sha256
from math import ceil
from typing import Literal

import numpy as np

from cyclearn.data.intervened_tables import check_columns, moments_like
from cyclearn.data.lagged_rows import past_of, with_past
from cyclearn.data.margins import with_margins
from cyclearn.data.moments import Moments
from cyclearn.data.parametric_draws import draw_moments
from cyclearn.data.reading import Reading
from cyclearn.data.rows import Rows
from cyclearn.data.tables import Table, Tables
from cyclearn.foundation.arrays import FloatArray, IntArray
from cyclearn.foundation.errors import InputError

# How resamples are drawn.
Resampling = Literal["rows", "blocks", "half", "parametric", "groups"]

# A draw with a constant or collinear column is discarded and repeated, at most this often.
_MAX_REDRAWS = 50
# Neighbours in a block, in units of the rows that make one effective row: several times as long
# as the autocorrelation.
_BLOCK_LENGTH = 3


@dataclass(frozen=True, eq=False)
class Resampler:
    """Source of resamples of tables that were read, with their rows."""

    tables: Tables
    reading: Reading
    resampling: Resampling
    seed: int
    weighs: bool = False

    @classmethod
    def of(
        cls,
        tables: Tables,
        reading: Reading,
        resampling: Resampling | None,
        seed: int,
        weighs: bool = False,
    ) -> Resampler:
        """A resampler: by default of rows if there are rows, in blocks if they are dependent.

        If it ``weighs``, single rows get random weights, where these are possible, instead of being
        drawn with replacement, and a resample has the effective sample size of the data.

        Raises
        ------
        InputError
            If the tables cannot be resampled in the requested way.
        """
        return cls(tables, reading, _checked(tables, resampling), seed, weighs)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables."""
        return self.tables.names

    def draw(self, number: int) -> tuple[Tables, int, int]:
        """One resample, a seed for its search, and the number of discarded draws."""
        generator = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(number,)))
        search_seed = int(generator.integers(2**31))
        if self.resampling == "groups":
            return self._drawn_groups(generator), search_seed, 0
        for redraws in range(_MAX_REDRAWS + 1):
            try:
                return self._drawn(generator), search_seed, redraws
            except InputError as error:  # noqa: PERF203 - a refused draw is rare
                refused = error
        raise InputError(
            f"{_MAX_REDRAWS} resamples in a row could not be used ({refused}); the data have too "
            "few distinct rows for a bootstrap of rows: pass Moments for a parametric bootstrap"
        )

    def _drawn_groups(self, generator: np.random.Generator) -> Tables:
        tables, names = self.tables.without_rows(), self.tables.groups
        chosen = generator.integers(len(names), size=len(names)).tolist()
        drawn = [
            replace(table, group=f"{n}. {names[k]}")
            for n, k in enumerate(chosen, 1)
            for table in tables
            if table.group == names[k]
        ]
        return replace(tables, tables=tuple(drawn), warnings=())

    def _drawn(self, generator: np.random.Generator) -> Tables:
        if self.tables.design is not None:
            return self._drawn_within_targets(generator)
        drawn = []
        for table in self.tables:
            moments = self._moments(table, generator)
            size = float(moments.n_samples)
            if table.n_effective < table.moments.n_samples or self.weighs:
                share = 0.5 if self.resampling == "half" else 1.0
                size = max(share * table.n_effective, 2.0)
            drawn.append(replace(table, moments=moments, n_effective=size, holes=None, rows=None))
        return Tables(tuple(drawn))

    def _drawn_within_targets(self, generator: np.random.Generator) -> Tables:
        """Resample rows within each table; a single row is kept and reweighted instead.

        No experiment is lost, and what depends on one row alone shows.
        """
        drawn = []
        for table in self.tables:
            assert table.rows is not None
            if len(table.rows) == 1:
                size = table.n_effective * _row_weights(1, generator)[0]
                drawn.append(replace(table, n_effective=size, rows=None))
                continue
            chosen = self._chosen(len(table.rows), table.row_weight, generator)
            moments = moments_like(table.moments, table.rows[chosen])
            drawn.append(replace(table, moments=moments, rows=None))
        tables = replace(self.tables, tables=tuple(drawn), warnings=())
        for own in tables.by_group.values():
            check_columns(own)
        return tables

    def _moments(self, table: Table, generator: np.random.Generator) -> Moments:
        given = table.moments
        if self.resampling == "parametric" or table.rows is None:
            return draw_moments(given, table.n_effective, generator)
        lags = self.reading.lags
        past = past_of(given.names, lags)
        names = tuple(name for name in given.names if name not in past)
        rows = Rows(table.rows, names, given.has_default_names)
        rows = rows.given([name for name in given.exogenous if name not in past])
        rows = replace(rows.with_ordered(given.ordered), weights=table.weights)
        if lags:
            # Each row is drawn together with its past.
            rows = with_past(rows, lags)
        # Rows without information are not drawn.
        of_row = np.any if self.reading.missing == "rows" else np.all
        rows = rows.taken(~of_row(np.isnan(rows.values), axis=1))
        if self.weighs and not rows.ordered and not np.isnan(rows.values).any():
            weights = _row_weights(len(rows.values), generator)
            own = 1.0 if rows.weights is None else rows.weights
            rows = replace(rows, weights=weights * own)
        else:
            rows = rows.taken(self._chosen(len(rows.values), table.row_weight, generator))
        # Ranks were taken before the past was set beside the rows, and logarithms of all rows;
        # incomplete rows are omitted.
        margins = self.reading.margins
        if lags or margins == "log":
            margins = "raw"
        missing = "error" if self.reading.missing == "rows" else self.reading.missing
        reading = Reading(missing=missing, covariance=self.reading.covariance)
        # A resample has the effective sample size of the data.
        moments = reading.treated(with_margins(rows, margins), is_counted=False).moments
        return moments.aligned_to(given.names) if lags else moments

    def _chosen(self, n: int, row_weight: float, generator: np.random.Generator) -> IntArray:
        if self.resampling == "half":
            return generator.permutation(n)[: n // 2]
        if self.resampling == "blocks":
            length = min(ceil(_BLOCK_LENGTH / row_weight), n)
            starts = generator.integers(n - length + 1, size=-(-n // length))
            return np.asarray((starts[:, None] + np.arange(length)).ravel()[:n])
        return generator.integers(n, size=n)

    def digest(self) -> str:
        """A fingerprint of the data that are resampled."""
        state = sha256(repr(self.names).encode())
        for table in self.tables:
            source = table.moments.covariance if table.rows is None else table.rows
            state.update(repr((table.group, table.targets, source.shape)).encode())
            state.update(np.ascontiguousarray(source).tobytes())
        return state.hexdigest()


def _row_weights(n: int, generator: np.random.Generator) -> FloatArray:
    """Exponential weights of mean one (Rubin's Bayesian bootstrap): every row contributes.

    With few rows, draws with replacement would omit so many that columns become collinear.
    """
    return np.asarray(generator.exponential(size=n))


def _checked(tables: Tables, resampling: Resampling | None) -> Resampling:
    """The kind of resampling: as requested, or the default."""
    has_rows = {table.rows is not None for table in tables}
    if resampling == "groups":
        if not tables.is_grouped:
            raise InputError(
                "resampling='groups' needs several tables; give a list of tables, or groups=…"
            )
        return resampling
    if len(has_rows) > 1 and resampling != "parametric":
        raise InputError(
            "some groups have rows and others are Moments, which cannot be resampled alike; use "
            "resampling='parametric'"
        )
    if tables.design is not None and (
        resampling not in (None, "rows", "blocks") or has_rows != {True}
    ):
        raise InputError(
            "with interventions, rows are resampled within each table: give rows, and use "
            "resampling='rows' or 'blocks'"
        )
    if has_rows == {False}:
        if resampling not in (None, "parametric"):
            raise InputError(
                f"resampling is {resampling!r} and the data are Moments, which have no rows; pass "
                "the table, or resampling='parametric'"
            )
        return "parametric"
    if resampling == "half" and tables.n_fewest < 6:
        raise InputError(
            f"there are {tables.n_fewest} rows, and half of them are too few: use resampling='rows'"
        )
    if resampling is not None:
        return resampling
    return "blocks" if any(table.row_weight < 1 for table in tables) else "rows"
