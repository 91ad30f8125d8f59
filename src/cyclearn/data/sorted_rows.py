"""Detect the columns that rows were sorted by, and remove what they explain of the others.

Sorted rows resemble their neighbours although they are independent: given the columns that they
were sorted by, their order says nothing about the others. So what sorted columns explain is removed
before the autocorrelation of rows is measured. A column is sorted if it is monotone, or if equal
values are contiguous, far beyond chance; or if that holds within the stretches of columns already
found, as in a table sorted by several columns or a designed experiment.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np

from cyclearn.foundation.arrays import BoolArray, FloatArray, IntArray

# A column is sorted if the p-value of its order, for exchangeable rows, is below this.
_CHANCE = 1e-6
# Steps of a clock are at least half as long as its usual ones; some may be missing.
_EVEN = 0.5
# With more rows per value on average, the mean of each value is removed; otherwise parabolas are.
_ROWS_PER_VALUE = 4
# A parabola takes three degrees of freedom. It has at least this many rows, and this many times the
# root of the rows of a cell, as benchmarks/effective_rows.py chose: it follows curvature over
# sorted columns, and preserves autocorrelation over fewer rows.
_ROWS_PER_PARABOLA, _ROOTS_PER_PARABOLA = 7, 1.2
# This many rows usually show that a column is not sorted: any part of a sorted column is sorted.
_FIRST_ROWS = 1_000


@dataclass(frozen=True, eq=False)
class Order:
    """The columns that rows were sorted by.

    ``cells`` says where stretches with the same values of sorted columns begin, as long as these
    have few values; ``within`` is a further column, with many, that is sorted within cells.
    """

    is_sorted: BoolArray
    cells: BoolArray
    within: FloatArray | None = None

    @classmethod
    def of(cls, X: FloatArray) -> Order:
        """Find the columns that rows were sorted by, the one with the fewest values first.

        Examples
        --------
        >>> X = np.random.default_rng(0).integers(5, size=(100, 3)).astype(float)
        >>> by_two = X[np.lexsort((X[:, 2], X[:, 0]))]
        >>> Order.of(X).is_sorted, Order.of(by_two).is_sorted
        (array([False, False, False]), array([ True, False,  True]))
        """
        n, p = X.shape
        begins, cells, within = np.arange(n) == 0, None, None
        is_sorted, is_left = np.zeros(p, dtype=bool), np.ones(p, dtype=bool)
        while not begins.all():
            for j in np.flatnonzero(~is_sorted):
                is_sorted[j] = _is_sorted(X[:, j], begins)
            finer = {j: begins | _changes(X[:, j]) for j in np.flatnonzero(is_sorted & is_left)}
            if not finer:
                break
            column = min(finer, key=lambda j: (finer[j].sum(), -_evenness(X[:, j])))
            is_left[column] = False
            if cells is None and n <= _ROWS_PER_VALUE * finer[column].sum():
                cells, within = begins, X[:, column]
            begins = finer[column]
        if cells is None or within is None:
            return cls(is_sorted, begins)
        # Equal steps indicate a clock, not a measured column: a trend over time is autocorrelation.
        is_strict = abs(np.sign(np.diff(within)).sum()) == n - 1
        is_clock = is_strict and _evenness(within) >= _EVEN
        return cls(is_sorted, cells, None if is_clock else within)

    @property
    def explains(self) -> bool:
        """Whether there is anything to remove but the mean."""
        return self.within is not None or self.cells.sum() > 1

    def residuals(self, X: FloatArray) -> FloatArray:
        """Deviations from means of cells, or from parabolas in the column sorted within them."""
        ones = np.ones((len(X), 1))
        if self.within is None:
            return _without(X, ones, self.cells)
        # The parabolas of a cell have equal shares of its rows.
        cell, sizes = np.cumsum(self.cells) - 1, _lengths(self.cells)
        rows = np.maximum(_ROWS_PER_PARABOLA, _ROOTS_PER_PARABOLA * np.sqrt(sizes))
        n_parabolas = np.maximum(sizes // rows, 1).astype(int)
        place = np.arange(len(X)) - np.flatnonzero(self.cells)[cell]
        begins = self.cells | _changes(place * n_parabolas[cell] // sizes[cell])
        x = _without(self.within[:, None], ones, begins)
        both = np.hstack([x**2, X])
        for basis in (ones, x):
            both = _without(both, basis, begins)
        return _without(both[:, 1:], both[:, :1], begins)


def _is_sorted(x: FloatArray, begins: BoolArray) -> bool:
    """Whether a column is sorted within runs, which a random order makes improbable.

    Of n! / (n₁! … nₖ!) arrangements of a run with k values, k! have each value in one stretch, and
    two are monotone.
    """
    # It takes a while to load.
    from scipy.special import gammaln

    run = np.cumsum(begins) - 1
    starts = np.flatnonzero(begins)
    rises, falls = (
        np.add.reduceat(np.append(False, changed) & ~begins, starts, dtype=np.int64)
        for changed in (x[1:] > x[:-1], x[1:] < x[:-1])
    )
    is_monotone = (rises == 0) | (falls == 0)
    n_stretches = rises + falls + 1
    lengths = _lengths(begins | _changes(x))
    arrangements = gammaln(_lengths(begins) + 1).sum() - gammaln(lengths[lengths > 1] + 1).sum()
    sorting = np.where(is_monotone, np.log(np.minimum(n_stretches, 2)), gammaln(n_stretches + 1))
    if arrangements - sorting.sum() <= -log(_CHANCE):
        return False
    return bool(is_monotone.all()) or _has_whole_stretches(x, run)


def _has_whole_stretches(x: FloatArray, run: IntArray) -> bool:
    """Whether equal values of a run are contiguous."""
    for rows in (slice(_FIRST_ROWS), slice(None)):
        values, runs = x[rows], run[rows]
        order = np.lexsort((values, runs))
        n_stretches, n_values = (
            np.count_nonzero((np.diff(v) != 0) | (np.diff(r) != 0))
            for v, r in ((values, runs), (values[order], runs[order]))
        )
        if n_stretches > n_values:
            return False
    return True


def _changes(x: FloatArray | IntArray) -> BoolArray:
    """Rows whose value differs from that of the preceding row."""
    return np.append(False, x[1:] != x[:-1])


def _lengths(begins: BoolArray) -> IntArray:
    return np.diff(np.append(np.flatnonzero(begins), len(begins)))


def _evenness(x: FloatArray) -> float:
    """The smallest difference of neighbours that differ, over the median one."""
    steps = np.abs(np.diff(x))
    steps = steps[steps > 0]
    return float(steps.min() / np.median(steps))


def _without(X: FloatArray, basis: FloatArray, begins: BoolArray) -> FloatArray:
    """Residuals of other columns after a regression on one column, separately in each stretch."""
    starts = np.flatnonzero(begins)
    squares = np.add.reduceat(basis**2, starts)
    # If the column is constant, only rounding remains.
    slopes = np.add.reduceat(basis * X, starts) / np.where(squares > 1e-20, squares, np.inf)
    return np.asarray(X - basis * slopes[np.cumsum(begins) - 1])
