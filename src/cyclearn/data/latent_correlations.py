"""Latent correlations of ordinal columns: ``ordered=[...]``.

An ordinal column is a standard normal column that was cut at thresholds, which its margin gives.
The correlation of two such latent columns is estimated by maximum likelihood from the counts of
pairs of levels (polychoric), that of a latent and a continuous column from the rows (polyserial),
pair by pair, with the thresholds held (two steps, as lavaan's ``lavCor``; Olsson 1979).

Every estimate has an asymptotic variance v, from its influence function with that of thresholds,
mean and deviation. A plain correlation has (1 − ρ²)²/n; their ratio is the *efficiency* of a pair.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cyclearn.foundation.arrays import BoolArray, FloatArray
from cyclearn.foundation.errors import InputError

# A normal variable is beyond this with a probability below 1e-23: infinity for thresholds.
_BEYOND = 10.0
# Densities further out than this cannot be represented.
_FAR = 37.0
# Correlations are at most this far from zero: beyond it two columns are one.
_LARGEST = 0.9999
# Nodes of Gauss and Legendre; with 64 the integral is right to 1e-9 up to that correlation.
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)
_STEPS = 100
_TOLERANCE = 1e-9
# Step of central differences of a mean score.
_STEP = 1e-5


@dataclass(frozen=True, eq=False)
class Latent:
    """Correlations of the latent columns, and the efficiency that all are counted by.

    That is the geometric mean of the least efficiency of a pair and of the harmonic mean of all:
    with the latter, pairs that say least make superfluous edges, with the former all edges of a
    table are counted as theirs (``benchmarks/results/ordinal_columns.md``).
    """

    correlation: FloatArray
    efficiency: float


def thresholds(codes: FloatArray) -> FloatArray:
    """Where a standard normal variable is cut, with both ends; codes are 0, 1, ….

    Examples
    --------
    >>> thresholds(np.array([0.0, 0.0, 1.0, 1.0])).tolist()
    [-10.0, 0.0, 10.0]
    """
    from scipy.special import ndtri

    shares = np.bincount(codes.astype(int)).cumsum()[:-1] / len(codes)
    return np.concatenate([[-_BEYOND], ndtri(shares), [_BEYOND]])


def latent_correlations(X: FloatArray, is_ordered: BoolArray, names: tuple[str, ...]) -> Latent:
    """Correlations of rows in which ordinal columns are codes; missing cells are NaN, pair by pair.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> Z = rng.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], 5_000)
    >>> found = latent_correlations(
    ...     np.column_stack([Z[:, 0] > 0.3, Z[:, 1]]), np.array([True, False]), ("a", "b")
    ... )
    >>> round(float(found.correlation[0, 1]), 1), found.efficiency < 0.7
    (0.6, True)
    """
    p = X.shape[1]
    R, lost = np.eye(p), [1.0]
    for i in range(p):
        for j in range(i):
            rows = X[~np.isnan(X[:, [i, j]]).any(axis=1)]
            x, y = rows[:, i], rows[:, j]
            pair = (bool(is_ordered[i]), bool(is_ordered[j]))
            try:
                if pair == (True, True):
                    r, efficiency = _polychoric(_codes(x), _codes(y))
                elif pair == (False, False):
                    r, efficiency = float(np.corrcoef(x, y)[0, 1]), 1.0
                else:
                    r, efficiency = _polyserial(*((y, _codes(x)) if pair[0] else (x, _codes(y))))
            except FloatingPointError:
                raise InputError(
                    f"columns {names[i]!r} and {names[j]!r} determine each other exactly; drop one"
                ) from None
            R[i, j] = R[j, i] = r
            lost.append(1 / efficiency)
    return Latent(R, float(np.sqrt(len(lost) / sum(lost) / max(lost))))


def _codes(column: FloatArray) -> FloatArray:
    return np.unique(column, return_inverse=True)[1].astype(float)


def _bivariate(h: FloatArray, k: FloatArray, r: float) -> tuple[FloatArray, FloatArray]:
    """Distribution function and density of two normal variables at all pairs of thresholds.

    The former by Plackett's identity: its derivative by the correlation is the density.
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


def _between(grid: FloatArray) -> FloatArray:
    return np.diff(np.diff(grid, axis=0), axis=1)


def _polychoric(x: FloatArray, y: FloatArray) -> tuple[float, float]:
    """Correlation and efficiency of two ordinal columns, from the table of their counts."""
    h, k = thresholds(x), thresholds(y)
    counts = np.zeros((len(h) - 1, len(k) - 1))
    np.add.at(counts, (x.astype(int), y.astype(int)), 1.0)
    if counts.size == 4 and not counts.all():
        # As lavaan does: an empty cell of four would make them one. Margins are kept.
        change = 0.5 * np.array([[1, -1], [-1, 1]])
        counts += change if counts[0, 0] * counts[1, 1] == 0 else -change

    def at(r: float) -> tuple[FloatArray, FloatArray]:
        together, density = _bivariate(h, k, r)
        return np.maximum(_between(together), 1e-300), _between(density)

    def score(r: float) -> tuple[float, float, float]:
        cells, slopes = at(r)
        information = float((slopes**2 / cells).sum()) * counts.sum()
        return (
            float((counts * np.log(cells)).sum()),
            float((counts * slopes / cells).sum()),
            information,
        )

    r = _maximum(score, float(np.corrcoef(x, y)[0, 1]))
    cells, slopes = at(r)
    own = slopes / cells
    influence = own - _through_thresholds(h, k, r, own)[:, None]
    influence -= _through_thresholds(k, h, r, own.T)[None, :]
    information = float((slopes**2 / cells).sum())
    return r, _efficiency(r, float((cells * influence**2).sum()) / information**2)


def _through_thresholds(h: FloatArray, k: FloatArray, r: float, own: FloatArray) -> FloatArray:
    """What the score gains through the thresholds of the first column, level by level."""
    from scipy.special import ndtr

    density = np.exp(-(h**2) / 2) / np.sqrt(2 * np.pi)
    below = np.diff(ndtr((k[None, :] - r * h[:, None]) / np.sqrt(1 - r**2)), axis=1)
    moved = (density[:, None] * below)[1:-1]
    # A higher threshold moves rows from the level above it to the one below.
    slopes = (moved * (own[:-1] - own[1:])).sum(axis=1)
    levels = np.arange(len(h) - 1)
    is_below = levels[:, None] <= np.arange(len(h) - 2)
    return np.asarray(((is_below - ndtr(h[1:-1])) / density[1:-1]) @ slopes)


def _polyserial(z: FloatArray, y: FloatArray) -> tuple[float, float]:
    """Correlation and efficiency of a continuous and an ordinal column, from their rows."""
    from scipy.special import ndtr

    z, codes, k = (z - z.mean()) / z.std(), y.astype(int), thresholds(y)

    def rows(r: float, k: FloatArray, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        s = np.sqrt(1 - r**2)
        cuts = [k[codes + n] for n in (0, 1)]
        # The outermost thresholds are infinite, however far out a row is.
        ends = [
            np.clip(np.where(np.abs(cut) < _BEYOND, (cut - r * z) / s, cut * _FAR), -_FAR, _FAR)
            for cut in cuts
        ]
        # In the upper tail by the complement, which keeps its digits.
        mirror = np.where(ends[0] > 0, -1.0, 1.0)
        cells = np.maximum(mirror * (ndtr(mirror * ends[1]) - ndtr(mirror * ends[0])), 1e-300)
        slopes = [
            np.where(np.abs(end) < _FAR, np.exp(-(end**2) / 2) * (r * cut - z) / s**3, 0.0)
            for cut, end in zip(cuts, ends, strict=True)
        ]
        return cells, (slopes[1] - slopes[0]) / np.sqrt(2 * np.pi) / cells

    def score(r: float) -> tuple[float, float, float]:
        cells, each = rows(r, k, z)
        return float(np.log(cells).sum()), float(each.sum()), float((each**2).sum())

    r = _maximum(score, float(np.corrcoef(z, y)[0, 1]))

    def slope(changed: Callable[[float], tuple[float, FloatArray, FloatArray]]) -> float:
        ends = [rows(*changed(sign * _STEP))[1].mean() for sign in (1, -1)]
        return float(ends[0] - ends[1]) / (2 * _STEP)

    influence = rows(r, k, z)[1].copy()
    influence += slope(lambda step: (r, k, z - step)) * z
    influence += slope(lambda step: (r, k, z / (1 + step))) * (z**2 - 1) / 2
    for n in range(1, len(k) - 1):
        unit = np.eye(len(k))[n]
        by = slope(lambda step, unit=unit: (r, k + step * unit, z))  # type: ignore[misc]
        density = np.exp(-(k[n] ** 2) / 2) / np.sqrt(2 * np.pi)
        influence += by * ((codes < n) - ndtr(k[n])) / density
    return r, _efficiency(r, float((influence**2).mean()) / slope(lambda s: (r + s, k, z)) ** 2)


def _efficiency(r: float, variance: float) -> float:
    return min((1 - r**2) ** 2 / variance, 1.0)


def _maximum(score: Callable[[float], tuple[float, float, float]], start: float) -> float:
    """Fisher scoring with halved steps, of a value with its slope and its information."""
    r = float(np.clip(start, -0.9, 0.9))
    value, slope, information = score(r)
    for _ in range(_STEPS):
        step = slope / max(information, 1e-12)
        while True:
            new = float(np.clip(r + step, -_LARGEST, _LARGEST))
            found = score(new)
            if found[0] >= value - 1e-12 * abs(value) or abs(step) < _TOLERANCE:
                break
            step /= 2
        moved, r = abs(new - r), new
        value, slope, information = found
        if moved < _TOLERANCE:
            return r
    raise FloatingPointError("the likelihood of a correlation has no maximum")
