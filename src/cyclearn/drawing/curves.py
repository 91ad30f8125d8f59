"""Chains of cubic Bézier curves as arrays: an end point, then three points for each curve."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

SAMPLES = 12
# How far a rounded corner stays inside the sharp one.
_CUT = 0.15


def arc(start: FloatArray, end: FloatArray, bend: float) -> FloatArray:
    """One curve that bends to its left by a share of its length; straight for zero."""
    along = end - start
    # y grows downwards, so that this is the left of somebody who walks along the edge.
    aside = np.array([along[1], -along[0]]) * bend * 4 / 3
    return np.array([start, start + along / 4 + aside, end - along / 4 + aside, end])


def smooth(points: FloatArray) -> FloatArray:
    """Curves through points, at each of them along the mean of the two directions."""
    steps = np.diff(points, axis=0)
    lengths = np.hypot(steps[:, 0], steps[:, 1])
    directions = steps / np.maximum(lengths, 1e-9)[:, None]
    tangents = np.zeros_like(points)
    tangents[0], tangents[-1] = directions[0], directions[-1]
    middle = directions[:-1] + directions[1:]
    tangents[1:-1] = middle / np.maximum(np.hypot(middle[:, 0], middle[:, 1]), 1e-9)[:, None]
    curve = [points[0]]
    for n, length in enumerate(lengths):
        reach = length / 3
        curve += [
            points[n] + tangents[n] * reach,
            points[n + 1] - tangents[n + 1] * reach,
            points[n + 1],
        ]
    return np.array(curve)


def rounded(points: FloatArray) -> FloatArray:
    """Straight lines through points, with corners rounded off on their inner side."""
    curve = [points[0]]
    previous = points[0]
    for n in range(1, len(points) - 1):
        corner = points[n]
        before, after = previous - corner, points[n + 1] - corner
        sizes = np.hypot(*before), np.hypot(*after)
        # The curve may cut the corner by this much; gentle turns may be wide.
        turn = np.dot(before, after) / max(sizes[0] * sizes[1], 1e-9)
        radius = min(2 * _CUT / max(sqrt(max(1 + turn, 0) / 2), 0.05), 0.5 * min(sizes))
        first = corner + before / max(sizes[0], 1e-9) * radius
        last = corner + after / max(sizes[1], 1e-9) * radius
        curve += [previous + (first - previous) / 3, first - (first - previous) / 3, first]
        curve += [first + (corner - first) * 2 / 3, last + (corner - last) * 2 / 3, last]
        previous = last
    end = points[-1]
    curve += [previous + (end - previous) / 3, end - (end - previous) / 3, end]
    return np.array(curve)


def point_on(curve: FloatArray, t: float) -> FloatArray:
    """Point at t, from zero to the number of curves in the chain.

    Examples
    --------
    >>> point_on(arc(np.array([0.0, 0.0]), np.array([2.0, 0.0]), 0.0), 0.5)
    array([1., 0.])
    """
    n = min(int(t), (len(curve) - 1) // 3 - 1)
    return _bezier(curve[3 * n : 3 * n + 4], t - n)


def sampled(curve: FloatArray, per_curve: int = SAMPLES) -> FloatArray:
    """Points along a chain of curves, ends included."""
    u = np.linspace(0, 1, per_curve)[:, None, None]
    pieces = np.array([curve[:-1:3], curve[1::3], curve[2::3], curve[3::3]])
    return _bezier(pieces, u).transpose(1, 0, 2).reshape(-1, 2)


def _bezier(piece: FloatArray, u: Any) -> FloatArray:
    a, b, c, d = piece
    v = 1 - u
    return np.asarray(v**3 * a + 3 * v**2 * u * b + 3 * v * u**2 * c + u**3 * d)


def leaving(curve: FloatArray, centre: FloatArray, half: FloatArray) -> float:
    """Where a chain that starts in a rectangle leaves it for good."""
    n_curves = (len(curve) - 1) // 3
    inside = (np.abs(sampled(curve) - centre) <= half).all(axis=1)
    last = int(np.flatnonzero(inside)[-1]) if inside.any() else 0
    number, within = divmod(last, SAMPLES)
    if within == SAMPLES - 1 and number + 1 < n_curves:
        number, within = number + 1, 0
    low = within / (SAMPLES - 1)
    u = np.linspace(low, min(low + 1 / (SAMPLES - 1), 1), 60)
    points = _bezier(curve[3 * number : 3 * number + 4], u[:, None])
    outside = ~(np.abs(points - centre) <= half).all(axis=1)
    return number + float(u[outside.argmax()] if outside.any() else 1.0)


def part(curve: FloatArray, first: float, last: float) -> FloatArray:
    """The chain between two positions."""
    n_curves = (len(curve) - 1) // 3
    last = max(last, first + 1e-6)
    begin, end = min(int(first), n_curves - 1), min(int(np.ceil(last)) - 1, n_curves - 1)
    pieces = [curve[3 * begin]]
    for n in range(begin, end + 1):
        piece = curve[3 * n : 3 * n + 4]
        low = first - n if n == begin else 0.0
        high = last - n if n == end else 1.0
        piece = _split(piece, low, high)
        if n == begin:
            pieces = [piece[0]]
        pieces += list(piece[1:])
    return np.array(pieces)


def _split(piece: FloatArray, low: float, high: float) -> FloatArray:
    """The part of one cubic curve between two parameters (blossoming)."""

    def blossom(r: float, s: float, t: float) -> FloatArray:
        points = piece
        for value in (r, s, t):
            points = points[:-1] * (1 - value) + points[1:] * value
        return np.asarray(points[0])

    return np.array(
        [
            blossom(low, low, low),
            blossom(low, low, high),
            blossom(low, high, high),
            blossom(high, high, high),
        ]
    )
