"""Chains of cubic Bézier curves as arrays: an end point, then three points for each curve."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from cyclearn.foundation.arrays import BoolArray, FloatArray

SAMPLES = 12
# Number of points per curve at which a condition is checked.
_PLACES = 600
# For an arrow head of length one: half its width, and the distance of the line from its tip.
_HALF_WIDTH, _NOTCH = 0.4, 0.8


def arc(start: FloatArray, end: FloatArray, bend: float) -> FloatArray:
    """One curve that bends to its left by a share of its length; straight for zero."""
    along = end - start
    # y grows downwards, so this is the left side in the direction of the edge.
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


def sampled(curve: FloatArray, per_curve: int = SAMPLES) -> FloatArray:
    """Points along a chain of curves, ends included."""
    pieces = np.stack([curve[:-1:3], curve[1::3], curve[2::3], curve[3::3]], axis=1)
    return np.asarray(_shares(per_curve) @ pieces).reshape(-1, 2)


@lru_cache(maxsize=64)
def _shares(n_points: int) -> FloatArray:
    """The shares of the four points of a curve in points along it, shape (n_points, 4)."""
    u = np.linspace(0, 1, n_points)
    v = 1 - u
    return np.column_stack([v**3, 3 * v**2 * u, 3 * v * u**2, u**3])


def end_of(curve: FloatArray, is_met: Callable[[FloatArray], BoolArray]) -> float:
    """The position, from zero to the number of curves, after which points never meet a condition.

    Examples
    --------
    >>> line = arc(np.array([0.0, 0.0]), np.array([2.0, 0.0]), 0.0)
    >>> round(end_of(line, lambda points: points[:, 0] < 1), 2)
    0.5
    """
    met = np.flatnonzero(is_met(sampled(curve, _PLACES)))
    number, within = divmod(int(met[-1]) + 1 if met.size else 0, _PLACES)
    return number + within / (_PLACES - 1)


def part(curve: FloatArray, first: float, last: float) -> FloatArray:
    """The chain between two positions."""
    last = max(last, first + 1e-6)
    limits = [(n, *np.clip((first - n, last - n), 0, 1)) for n in range((len(curve) - 1) // 3)]
    pieces = [_split(curve[3 * n : 3 * n + 4], low, high) for n, low, high in limits if low < high]
    return np.vstack([pieces[0], *(piece[1:] for piece in pieces[1:])])


def headed(route: FloatArray, size: float) -> tuple[FloatArray, FloatArray]:
    """The chain up to the arrow head at its end, and the corners of that head.

    Examples
    --------
    >>> line, corners = headed(arc(np.array([0.0, 0.0]), np.array([4.0, 0.0]), 0.0), 1.0)
    >>> line[-1].round(1), corners[0]
    (array([3.2, 0. ]), array([4., 0.]))
    """
    tip = route[-1]
    cut = end_of(route, lambda points: np.hypot(*(points - tip).T) >= _NOTCH * size)
    # If an edge is shorter than its head, the line keeps half of its length.
    line = part(route, 0.0, cut or len(route) / 6)
    along = tip - line[-1]
    along = size * along / max(float(np.hypot(*along)), 1e-9)
    across = _HALF_WIDTH * np.array([-along[1], along[0]])
    back = tip - along
    return line, np.array([tip, back + across, tip - _NOTCH * along, back - across])


def _split(piece: FloatArray, low: float, high: float) -> FloatArray:
    """The part of one cubic curve between two parameters (blossoming)."""
    controls = []
    for n_high in range(4):
        points = piece
        for value in (low,) * (3 - n_high) + (high,) * n_high:
            points = points[:-1] * (1 - value) + points[1:] * value
        controls.append(points[0])
    return np.array(controls)
