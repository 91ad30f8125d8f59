"""How edges run: smooth curves from border to border that keep clear of other nodes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Pair = tuple[int, int]

# Clear space around a node that is not an end of the edge, and before the tip of an arrow.
_CLEARANCE = 0.22
_TIP_GAP = 0.06
_SAMPLES = 12
# Sideways bends that are tried before an edge is led around corners, as shares of its length.
_BENDS = (0.0, 0.1, -0.1, 0.2, -0.2, 0.3, -0.3)


class Router:
    """Routes edges between nodes that are rectangles of height one."""

    def __init__(
        self,
        centres: FloatArray,
        widths: FloatArray,
        pairs: list[Pair],
        bends: dict[Pair, list[tuple[float, float]]],
    ) -> None:
        self._centres = centres
        self._half = np.column_stack([widths / 2, np.full(len(widths), 0.5)])
        self._pairs = pairs
        self._bends = bends

    def routes(self) -> dict[Pair, FloatArray]:
        """A chain of cubic Bézier curves, shape (3k + 1, 2), for every pair."""
        return {pair: self._route(pair) for pair in self._pairs}

    def _route(self, pair: Pair) -> FloatArray:
        i, j = pair
        start, end = self._centres[i], self._centres[j]
        length = float(np.hypot(*(end - start)))
        best, fewest = None, np.inf
        for curve in self._candidates(pair, start, end, length):
            clipped = self._clipped(curve, pair)
            hits = self._n_hits(clipped, pair)
            if hits == 0:
                return clipped
            if hits < fewest:
                best, fewest = clipped, hits
        led = self._clipped(self._around(pair), pair)
        if best is None or self._n_hits(led, pair) < fewest:
            return led
        return best

    def _candidates(
        self, pair: Pair, start: FloatArray, end: FloatArray, length: float
    ) -> list[FloatArray]:
        bends = self._bends.get(pair)
        if bends:
            return [smooth(np.array([start, *bends, end]))]
        # The partner of a 2-cycle bends to its own left, so that the two run apart.
        least = max(0.16, 0.5 / length) if pair[::-1] in self._pairs else 0.0
        shares = [least + abs(b) for b in _BENDS[::2]] if least else list(_BENDS)
        return [arc(start, end, share) for share in shares]

    def _clipped(self, curve: FloatArray, pair: Pair) -> FloatArray:
        """The part of a curve between the border of its source and that of its target."""
        i, j = pair
        first = _leaving(curve, self._centres[i], self._half[i])
        last = _leaving(curve[::-1], self._centres[j], self._half[j] + _TIP_GAP)
        return _part(curve, first, (len(curve) - 1) / 3 - last)

    def _n_hits(self, curve: FloatArray, pair: Pair) -> int:
        """How many sampled points lie on nodes that are not ends of the edge."""
        # Close enough together that no node fits in between.
        longest = np.hypot(*np.diff(curve[::3], axis=0).T).max()
        points = sampled(curve, _SAMPLES + int(8 * longest))
        others = np.delete(np.arange(len(self._centres)), pair)
        gaps = np.abs(points[:, None] - self._centres[others]) - self._half[others] - _CLEARANCE
        return int((gaps < 0).all(axis=2).sum())

    def _around(self, pair: Pair) -> FloatArray:
        """The shortest way around the corners of the nodes that stand in the way.

        Only nodes that the way would hit are looked at, more of them until it is free.
        """
        import networkx as nx

        ends = self._centres[list(pair)]
        path = ends
        obstacles: set[int] = set()
        while found := self._obstacles(path, pair) - obstacles:
            obstacles |= found
            nodes = np.array(sorted(obstacles))
            points = np.vstack([ends, self._corners(nodes)])
            a, b = np.triu_indices(len(points), 1)
            seen = self._in_sight(points[a], points[b], nodes)
            lengths = np.hypot(*(points[a] - points[b]).T)
            graph = nx.Graph()
            graph.add_nodes_from((0, 1))
            for n in np.flatnonzero(seen):
                graph.add_edge(int(a[n]), int(b[n]), weight=float(lengths[n]))
            if not nx.has_path(graph, 0, 1):
                break
            path = points[nx.shortest_path(graph, 0, 1, weight="weight")]
        return rounded(path)

    def _obstacles(self, path: FloatArray, pair: Pair) -> set[int]:
        """The nodes, other than the ends, that a polyline hits."""
        return {
            node
            for node in range(len(self._centres))
            if node not in pair and not self._in_sight(path[:-1], path[1:], [node]).all()
        }

    def _corners(self, nodes: NDArray[np.int64]) -> FloatArray:
        """Points just outside the corners of nodes, those within another node left out."""
        reach = self._half[nodes] + _CLEARANCE + 0.05
        signs = np.array([(-1, -1), (-1, 1), (1, -1), (1, 1)])
        points = (self._centres[nodes][:, None] + signs * reach[:, None]).reshape(-1, 2)
        gaps = np.abs(points[:, None] - self._centres) - self._half - _CLEARANCE
        return np.asarray(points[~(gaps < 0).all(axis=2).any(axis=1)])

    def _in_sight(
        self, start: FloatArray, end: FloatArray, nodes: Iterable[int]
    ) -> NDArray[np.bool_]:
        """For each segment, whether it misses all these nodes (the slab method)."""
        clear = np.ones(len(start), dtype=bool)
        step = end - start
        step = np.where(np.abs(step) < 1e-12, 1e-12, step)
        for node in nodes:
            reach = self._half[node] + _CLEARANCE
            near = (self._centres[node] - reach - start) / step
            far = (self._centres[node] + reach - start) / step
            enter = np.minimum(near, far).max(axis=1)
            leave = np.maximum(near, far).min(axis=1)
            clear &= ~((enter < leave) & (leave > 1e-9) & (enter < 1 - 1e-9))
        return clear


def arc(start: FloatArray, end: FloatArray, bend: float) -> FloatArray:
    """One curve that bends to its left by a share of its length; straight for zero."""
    along = end - start
    # y grows downwards, so that this is the left of somebody who walks along the edge.
    aside = np.array([along[1], -along[0]]) * bend * 4 / 3
    return np.array([start, start + along / 4 + aside, end - along / 4 + aside, end])


def smooth(points: FloatArray) -> FloatArray:
    """Curves through points (a Catmull–Rom spline, its tangents bounded by the shorter side)."""
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
        radius = min(0.25, 0.5 * sizes[0], 0.5 * sizes[1])
        first = corner + before / max(sizes[0], 1e-9) * radius
        last = corner + after / max(sizes[1], 1e-9) * radius
        curve += [previous + (first - previous) / 3, first - (first - previous) / 3, first]
        curve += [first + (corner - first) * 2 / 3, last + (corner - last) * 2 / 3, last]
        previous = last
    end = points[-1]
    curve += [previous + (end - previous) / 3, end - (end - previous) / 3, end]
    return np.array(curve)


def point_on(curve: FloatArray, t: float) -> tuple[FloatArray, FloatArray]:
    """Point and direction at t, from zero to the number of curves in the chain.

    Examples
    --------
    >>> point_on(arc(np.array([0.0, 0.0]), np.array([2.0, 0.0]), 0.0), 0.5)[0]
    array([1., 0.])
    """
    n = min(int(t), (len(curve) - 1) // 3 - 1)
    u = t - n
    a, b, c, d = piece = curve[3 * n : 3 * n + 4]
    slope = 3 * ((1 - u) ** 2 * (b - a) + 2 * (1 - u) * u * (c - b) + u**2 * (d - c))
    return _bezier(piece, u), slope


def sampled(curve: FloatArray, per_curve: int = _SAMPLES) -> FloatArray:
    """Points along a chain of curves, ends included."""
    u = np.linspace(0, 1, per_curve)[:, None, None]
    pieces = np.array([curve[:-1:3], curve[1::3], curve[2::3], curve[3::3]])
    return _bezier(pieces, u).transpose(1, 0, 2).reshape(-1, 2)


def _bezier(piece: FloatArray, u: Any) -> FloatArray:
    a, b, c, d = piece
    v = 1 - u
    return np.asarray(v**3 * a + 3 * v**2 * u * b + 3 * v * u**2 * c + u**3 * d)


def _leaving(curve: FloatArray, centre: FloatArray, half: FloatArray) -> float:
    """Where a chain that starts in a rectangle leaves it for good."""
    n_curves = (len(curve) - 1) // 3
    inside = (np.abs(sampled(curve) - centre) <= half).all(axis=1)
    last = int(np.flatnonzero(inside)[-1]) if inside.any() else 0
    number, within = divmod(last, _SAMPLES)
    if within == _SAMPLES - 1 and number + 1 < n_curves:
        number, within = number + 1, 0
    low = within / (_SAMPLES - 1)
    u = np.linspace(low, min(low + 1 / (_SAMPLES - 1), 1), 60)
    points = _bezier(curve[3 * number : 3 * number + 4], u[:, None])
    outside = ~(np.abs(points - centre) <= half).all(axis=1)
    return number + float(u[outside.argmax()] if outside.any() else 1.0)


def _part(curve: FloatArray, first: float, last: float) -> FloatArray:
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
