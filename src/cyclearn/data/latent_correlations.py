"""Latent correlations of ordinal columns: ``ordered=[...]``.

An ordinal column is treated as a standard normal variable that was cut at thresholds, which the
frequencies of its levels determine. The correlation of two such latent variables is estimated by
maximum likelihood from the counts of pairs of levels (polychoric), the correlation of a latent and
a continuous variable from the rows (polyserial). Each pair is estimated separately, with the
thresholds fixed (two steps, as in lavaan's ``lavCor``; Olsson 1979).

Every row has an influence on each estimate, including the influence through thresholds, mean and
standard deviation. The covariance of the influences is that of all estimates (Muthén 1984).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from math import comb
from typing import TypeAlias

import numpy as np

from cyclearn.foundation.arrays import BoolArray, FloatArray

# How far each row changes the correlation of two columns, whose values are given.
Influence: TypeAlias = Callable[[FloatArray, FloatArray], FloatArray]

# A normal variable exceeds this with a probability below 1e-23: it replaces infinite thresholds.
_BEYOND = 10.0
# Normal densities beyond this are too small for floating-point numbers.
_FAR = 37.0
# Correlations are at most this far from zero: beyond it the two columns are practically equal.
_LARGEST = 0.9999
# Nodes of Gauss–Legendre quadrature; 64 make the integral accurate to 1e-9 up to that correlation.
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)
_TOLERANCE = 1e-12
# Step of central differences of a mean score.
_STEP = 1e-5
# Maximum number of influences in memory.
_PRODUCTS = 1 << 22


def thresholds(codes: FloatArray) -> FloatArray:
    """The cuts of a standard normal variable, including both ends; codes are 0, 1, ….

    Examples
    --------
    >>> thresholds(np.array([0.0, 0.0, 1.0, 1.0])).tolist()
    [-10.0, 0.0, 10.0]
    """
    from scipy.special import ndtri

    shares = np.bincount(codes.astype(int)).cumsum()[:-1] / len(codes)
    return np.concatenate([[-_BEYOND], ndtri(shares), [_BEYOND]])


def latent_correlations(X: FloatArray, is_ordered: BoolArray) -> FloatArray:
    """Correlations of rows with ordinal columns as codes; missing cells are NaN, omitted pairwise.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> Z = rng.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], 5_000)
    >>> X, is_ordered = np.column_stack([Z[:, 0] > 0.3, Z[:, 1]]), np.array([True, False])
    >>> R = latent_correlations(X, is_ordered)
    >>> round(float(R[0, 1]), 1), efficiency(X, is_ordered, R) < 0.7
    (0.6, True)
    """
    R = np.eye(X.shape[1])
    for i, j in combinations(range(len(R)), 2):
        R[i, j] = R[j, i] = _correlation(*_columns(X, is_ordered, i, j))
    return R


def efficiency(X: FloatArray, is_ordered: BoolArray, R: FloatArray) -> float:
    """The weight of a row in a search, relative to a row without ordinal columns.

    The log-likelihood of estimated correlations exceeds that of the true ones by half a degree of
    freedom for each correlation, on average, and by more if these are latent. The weight makes both
    equal: it is the reciprocal of the mean scaling of Satorra and Bentler, for the hypothesis that
    fixes every correlation. What continuous columns contribute on their own is that of normal ones.
    """
    if len(R) == 1:
        return 1.0
    is_plain = ~is_ordered
    n_pairs, n_plain = (comb(int(count), 2) for count in (len(R), is_plain.sum()))
    influence = influences(X, is_ordered, R)
    surplus = 0.0
    for rows in row_parts(X):
        moved = influence(rows)
        surplus += _gain(R, moved)
        surplus -= _gain(R[np.ix_(is_plain, is_plain)], moved[:, is_plain][:, :, is_plain])
    return float(min(n_pairs / (n_plain + surplus / len(X)), 1.0))


def _gain(R: FloatArray, moved: FloatArray) -> float:
    """Twice the gain in log-likelihood from influences on the correlations R, summed over rows.

    With K = R⁻¹, a small change M of the covariance gains tr(KMKM)/2; the part that only changes
    variances does not count: it is removed by projection.
    """
    K = np.linalg.inv(R)
    change = K @ moved
    own = np.einsum("nii->ni", change)
    scales = own @ np.linalg.inv(np.eye(len(R)) + R * K)
    return float(0.5 * np.einsum("nij,nji->", change, change) - (scales * own).sum())


def row_parts(X: FloatArray) -> list[FloatArray]:
    """The rows in parts small enough to have their influences in memory together."""
    return np.array_split(X, 1 + X.size * X.shape[1] // _PRODUCTS)


def influences(
    X: FloatArray, is_ordered: BoolArray, R: FloatArray
) -> Callable[[FloatArray], FloatArray]:
    """A function of rows: how far each changes the covariance R of standardised columns.

    The covariance of all estimates is the covariance of these matrices over the rows X, divided by
    the number of rows. A row counts for the pairs of columns that it has; ordinal columns have
    variance one.
    """
    share = 1 - np.isnan(X).mean(axis=0)
    centre, scale = np.nanmean(X, axis=0), np.nanstd(X, axis=0)
    pairs = {}
    for i, j in combinations(range(len(R)), 2):
        x, y, kinds = _columns(X, is_ordered, i, j)
        pairs[i, j] = _influence(x, y, kinds, float(R[i, j])), len(X) / len(x)

    def of_rows(rows: FloatArray) -> FloatArray:
        squares = np.where(is_ordered, 0.0, ((rows - centre) / scale) ** 2 - 1) / share
        squares = np.nan_to_num(squares)
        moved = 0.5 * R * (squares[:, :, None] + squares[:, None, :])
        for (i, j), (influence, weight) in pairs.items():
            own = ~np.isnan(rows[:, [i, j]]).any(axis=1)
            moved[own, i, j] += weight * influence(rows[own, i], rows[own, j])
            moved[:, j, i] = moved[:, i, j]
        return np.asarray(moved)

    return of_rows


def _columns(
    X: FloatArray, is_ordered: BoolArray, i: int, j: int
) -> tuple[FloatArray, FloatArray, tuple[bool, bool]]:
    """Two columns, in the rows that have both, and whether each is ordinal."""
    x, y = X[~np.isnan(X[:, [i, j]]).any(axis=1)][:, [i, j]].T
    return x, y, (bool(is_ordered[i]), bool(is_ordered[j]))


def _correlation(x: FloatArray, y: FloatArray, kinds: tuple[bool, bool]) -> float:
    """The correlation of two columns, or of the normal variables behind them."""
    if kinds == (True, False):
        return _correlation(y, x, (False, True))
    if kinds == (False, False):
        return float(np.corrcoef(x, y)[0, 1])
    return _polychoric(_codes(x), _codes(y)) if kinds[0] else _polyserial(x, _codes(y))


def _influence(x: FloatArray, y: FloatArray, kinds: tuple[bool, bool], r: float) -> Influence:
    """The influence of rows on that correlation, given its estimate r from the rows of x and y."""
    if kinds == (True, False):
        swapped = _influence(y, x, (False, True), r)
        return lambda x, y: swapped(y, x)
    if kinds == (False, False):
        centre, scale = np.array([x.mean(), y.mean()]), np.array([x.std(), y.std()])

        def plain(x: FloatArray, y: FloatArray) -> FloatArray:
            z = (np.column_stack([x, y]) - centre) / scale
            return np.asarray(z.prod(axis=1) - r * (z**2).mean(axis=1))

        return plain
    # Levels that occur only in the rows of other pairs may be absent here.
    x_levels, y_levels = np.unique(x), np.unique(y)
    if not kinds[0]:
        serial = _polyserial_influence(x, _codes(y), r)
        return lambda x, y: serial(x, np.searchsorted(y_levels, y).astype(float))
    table = _polychoric_influence(thresholds(_codes(x)), thresholds(_codes(y)), r)
    return lambda x, y: table[np.searchsorted(x_levels, x), np.searchsorted(y_levels, y)]


def _codes(column: FloatArray) -> FloatArray:
    return np.unique(column, return_inverse=True)[1].astype(float)


def _bivariate(h: FloatArray, k: FloatArray, r: float) -> tuple[FloatArray, FloatArray]:
    """Distribution function and density of two normal variables at all pairs of thresholds.

    The distribution function follows from Plackett's identity: its derivative with respect to the
    correlation is the density.
    """
    from scipy.special import ndtr

    h, k = h[:, None], k[None, :]
    end = np.arcsin(r)
    angles = 0.5 * end * (_NODES + 1)
    sine, cosine = np.sin(angles), np.cos(angles)
    squares = h**2 + k**2
    exponents = (squares[..., None] - 2 * (h * k)[..., None] * sine) / (2 * cosine**2)
    integral = 0.5 * end * (np.exp(-exponents) @ _WEIGHTS) / (2 * np.pi)
    rest = 1 - r**2
    density = np.exp(-(squares - 2 * r * h * k) / (2 * rest)) / (2 * np.pi * np.sqrt(rest))
    return ndtr(h) * ndtr(k) + integral, density


def _cells(h: FloatArray, k: FloatArray, r: float) -> tuple[FloatArray, FloatArray]:
    """Probabilities of all pairs of levels, and their derivatives by the correlation."""
    together, density = (np.diff(np.diff(grid, axis=0), axis=1) for grid in _bivariate(h, k, r))
    return np.maximum(together, 1e-300), density


def _polychoric(x: FloatArray, y: FloatArray) -> float:
    """Correlation of two ordinal columns, from the table of their counts."""
    h, k = thresholds(x), thresholds(y)
    counts = np.zeros((len(h) - 1, len(k) - 1))
    np.add.at(counts, (x.astype(int), y.astype(int)), 1.0)
    if counts.size == 4 and not counts.all():
        # As in lavaan: one empty cell of four would give a correlation of ±1. Margins stay equal.
        change = 0.5 * np.array([[1, -1], [-1, 1]])
        counts += change if counts[0, 0] * counts[1, 1] == 0 else -change

    def slope(r: float) -> float:
        cells, slopes = _cells(h, k, r)
        return float((counts * slopes / cells).sum())

    return _maximum(slope, float(np.corrcoef(x, y)[0, 1]))


def _polychoric_influence(h: FloatArray, k: FloatArray, r: float) -> FloatArray:
    """Influence of rows with each pair of levels, given the thresholds of both columns."""
    cells, slopes = _cells(h, k, r)
    own = slopes / cells
    influence = own - _through_thresholds(h, k, r, own)[:, None]
    influence -= _through_thresholds(k, h, r, own.T)[None, :]
    return np.asarray(influence / (slopes**2 / cells).sum())


def _through_thresholds(h: FloatArray, k: FloatArray, r: float, own: FloatArray) -> FloatArray:
    """The part of the score due to the thresholds of the first column, level by level."""
    from scipy.special import ndtr

    density = np.exp(-(h**2) / 2) / np.sqrt(2 * np.pi)
    below = np.diff(ndtr((k[None, :] - r * h[:, None]) / np.sqrt(1 - r**2)), axis=1)
    moved = (density[:, None] * below)[1:-1]
    # A higher threshold moves rows from the level above it to the one below.
    slopes = (moved * (own[:-1] - own[1:])).sum(axis=1)
    levels = np.arange(len(h) - 1)
    is_below = levels[:, None] <= np.arange(len(h) - 2)
    return np.asarray(((is_below - ndtr(h[1:-1])) / density[1:-1]) @ slopes)


def _serial_slopes(z: FloatArray, codes: FloatArray, k: FloatArray, r: float) -> FloatArray:
    """Derivative by r of the log-probability of each row's level, given z."""
    from scipy.special import ndtr

    s = np.sqrt(1 - r**2)
    cuts = [k[codes.astype(int) + n] for n in (0, 1)]
    # The outermost thresholds are infinite, however extreme a row is.
    ends = [
        np.clip(np.where(np.abs(cut) < _BEYOND, (cut - r * z) / s, cut * _FAR), -_FAR, _FAR)
        for cut in cuts
    ]
    # In the upper tail, use the complement, which has more accurate digits.
    mirror = np.where(ends[0] > 0, -1.0, 1.0)
    cells = np.maximum(mirror * (ndtr(mirror * ends[1]) - ndtr(mirror * ends[0])), 1e-300)
    slopes = [
        np.where(np.abs(end) < _FAR, np.exp(-(end**2) / 2) * (r * cut - z) / s**3, 0.0)
        for cut, end in zip(cuts, ends, strict=True)
    ]
    return np.asarray((slopes[1] - slopes[0]) / np.sqrt(2 * np.pi) / cells)


def _polyserial(z: FloatArray, codes: FloatArray) -> float:
    """Correlation of a continuous and an ordinal column, from their rows."""
    z, k = (z - z.mean()) / z.std(), thresholds(codes)

    def slope(r: float) -> float:
        return float(_serial_slopes(z, codes, k, r).sum())

    return _maximum(slope, float(np.corrcoef(z, codes)[0, 1]))


def _polyserial_influence(z: FloatArray, codes: FloatArray, r: float) -> Influence:
    """Influence of rows, including that through the mean and scale of z and the thresholds."""
    from scipy.special import ndtr

    centre, scale, k = z.mean(), z.std(), thresholds(codes)
    z = (z - centre) / scale

    def slope(changed: Callable[[float], tuple[FloatArray, FloatArray, float]]) -> float:
        above, below = (
            _serial_slopes(moved, codes, cuts, at).mean()
            for moved, cuts, at in (changed(_STEP), changed(-_STEP))
        )
        return float(above - below) / (2 * _STEP)

    by_mean = slope(lambda step: (z - step, k, r))
    by_scale = slope(lambda step: (z / (1 + step), k, r))
    units = np.eye(len(k))[1:-1]
    by_cut = [slope(lambda step, unit=unit: (z, k + step * unit, r)) for unit in units]  # type: ignore[misc]
    information = -slope(lambda step: (z, k, r + step))
    densities = np.exp(-(k[1:-1] ** 2) / 2) / np.sqrt(2 * np.pi)

    def influence(z: FloatArray, codes: FloatArray) -> FloatArray:
        z = (z - centre) / scale
        found = _serial_slopes(z, codes, k, r) + by_mean * z + by_scale * (z**2 - 1) / 2
        below = codes[:, None] <= np.arange(len(units))
        found += (below - ndtr(k[1:-1])) @ (by_cut / densities)
        return np.asarray(found / information)

    return influence


def _maximum(slope: Callable[[float], float], start: float) -> float:
    """The correlation of maximum likelihood: the zero of the slope, if there is one."""
    from scipy.optimize import brentq

    def at(angle: float) -> float:
        return slope(float(np.tanh(angle)))

    angle = float(np.arctanh(np.clip(start, -0.9, 0.9)))
    stride = float(np.copysign(0.25, at(angle)))
    while abs(angle) < np.arctanh(_LARGEST):
        if at(angle + stride) * stride <= 0:
            return float(np.tanh(brentq(at, angle, angle + stride, xtol=_TOLERANCE)))
        angle += stride
    return float(np.copysign(_LARGEST, stride))
