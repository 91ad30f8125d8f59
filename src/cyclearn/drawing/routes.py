"""Routes of edges: smooth curves from border to border that avoid other nodes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import chain

import networkx as nx
import numpy as np

from cyclearn.drawing.curves import SAMPLES, arc, end_of, part, sampled, smooth
from cyclearn.foundation.arrays import BoolArray, FloatArray, IntArray

Pair = tuple[int, int]
# The nodes of a ring and two corners of the rectangle around it.
Frame = tuple[tuple[int, ...], FloatArray, FloatArray]

# Free space around other nodes, and in front of the tip of an arrow.
_CLEARANCE = 0.22
_TIP_GAP = 0.06
# Distance between ends of edges on one side of a node, and from its corners.
_ANCHOR_GAP, _CORNER = 0.42, 0.18
# With more edges than this, alternative routes are tried only for those shown at first; with more
# of these, for none.
_MANY, _MOST_LED = 120, 250
# Sideways bends to try before routing around corners, as shares of the edge length.
_BENDS = (0.0, 0.1, -0.1, 0.2, -0.2, 0.3, -0.3)


class Router:
    """Routes edges around nodes, which are rectangles of height one, and around rings.

    The ``n_first`` first pairs have priority.
    """

    def __init__(
        self,
        centres: FloatArray,
        widths: FloatArray,
        frames: list[Frame],
        pairs: list[Pair],
        bends: dict[Pair, list[tuple[float, float]]],
        n_first: int,
    ) -> None:
        half = np.column_stack([widths / 2, np.full(len(widths), 0.5)])
        # Obstacles: nodes first, then the frames of rings.
        self._centres = np.vstack([centres, *((low + high) / 2 for _, low, high in frames)])
        self._half = np.vstack([half, *((high - low) / 2 for _, low, high in frames)])
        self._frame_of = {
            v: len(centres) + n for n, (nodes, _, _) in enumerate(frames) for v in nodes
        }
        self._pairs = dict.fromkeys(pairs)
        self._bends = bends
        # With many pairs only the first avoid obstacles, with very many none.
        n_led = len(pairs) if len(pairs) <= _MANY else n_first if n_first <= _MOST_LED else 0
        self._led_pairs = frozenset(pairs[:n_led])

    def routes(self) -> dict[Pair, FloatArray]:
        """A chain of cubic Bézier curves, shape (3k + 1, 2), for every pair."""
        found = {pair: self._route(pair) for pair in self._pairs}
        self._spread(found)
        return found

    def _spread(self, routes: dict[Pair, FloatArray]) -> None:
        """Separate ends that meet at one point of a border; no two edges share an anchor."""
        ends: dict[tuple[int, int, int], list[tuple[float, Pair, int]]] = {}
        for pair, route in routes.items():
            for v, end in ((pair[0], 0), (pair[1], -1)):
                away = route[end] - self._centres[v]
                # The side of the node: above and below, or left and right.
                axis = int(abs(away[1]) < self._half[v, 1])
                side = int(away[1 - axis] > 0)
                ends.setdefault((v, axis, side), []).append((float(route[end][axis]), pair, end))
        for (v, axis, _), found in ends.items():
            if len(found) < 2:
                continue
            found.sort(key=lambda each: (round(each[0], 6), self._direction(routes, each, axis)))
            room = self._half[v, axis] - _CORNER
            gap = min(_ANCHOR_GAP, 2 * room / (len(found) - 1))
            wanted = np.array([place for place, _, _ in found])
            middle = self._centres[v, axis]
            moved = np.clip(_apart(wanted, gap), middle - room, middle + room)
            # Ends that were pushed together at the border are separated from the other side.
            moved = _apart(moved[::-1] * -1, gap)[::-1] * -1 if len(found) > 1 else moved
            for (place, pair, end), now in zip(found, moved, strict=True):
                routes[pair] = _with_end(routes[pair], end, axis, float(now) - place)

    @staticmethod
    def _direction(
        routes: dict[Pair, FloatArray], end: tuple[float, Pair, int], axis: int
    ) -> tuple[float, Pair]:
        """The direction an edge comes from, so that edges do not cross when they are moved."""
        _, pair, which = end
        route = routes[pair]
        inner = route[3] if which == 0 else route[-4]
        return round(float(inner[axis]), 6), pair

    def _route(self, pair: Pair) -> FloatArray:
        if pair not in self._led_pairs:
            # With very many edges there are hardly any free routes, and lines cannot be followed
            # anyway.
            return self._clipped(next(self._direct(pair)), pair)
        # All nodes and rings except the ends of the edge and their rings.
        own = [*pair, *(self._frame_of.get(v, v) for v in pair)]
        obstacles = np.setdiff1d(np.arange(len(self._centres)), own)
        best, fewest = None, np.inf
        for curve in chain(self._direct(pair), self._led(pair, obstacles)):
            clipped = self._clipped(curve, pair)
            hits = self._n_hits(clipped, obstacles)
            if hits == 0:
                return clipped
            if hits < fewest:
                best, fewest = clipped, hits
        assert best is not None
        return best

    def _direct(self, pair: Pair) -> Iterator[FloatArray]:
        """Smooth curves, the simplest first."""
        start, end = self._centres[list(pair)]
        bends = self._bends.get(pair)
        if bends:
            yield smooth(np.array([start, *bends, end]))
            return
        # The partner of a 2-cycle bends to its own left, so that the two run apart.
        length = float(np.hypot(*(end - start)))
        shares = list(_BENDS)
        if pair[::-1] in self._pairs:
            usual = max(0.16, 0.5 / length)
            shares = [usual, usual + 0.1, usual + 0.2, 0.6 * usual, 0.3 * usual]
        yield from (arc(start, end, share) for share in shares)

    def _led(self, pair: Pair, obstacles: IntArray) -> Iterator[FloatArray]:
        """Curves along the shortest path around obstacles, through the bends if there are any."""
        start, end = self._centres[list(pair)]
        stops = np.array([start, *self._bends.get(pair, []), end])
        legs = [self._around(stops[n : n + 2], obstacles) for n in range(len(stops) - 1)]
        path = np.vstack([legs[0], *(leg[1:] for leg in legs[1:])])
        yield smooth(path)
        yield smooth(self._around(stops[[0, -1]], obstacles))

    def _clipped(self, curve: FloatArray, pair: Pair) -> FloatArray:
        """The part of a curve between the border of its source and that of its target."""
        first, last = (
            end_of(run, partial(self._are_within, v, gap))
            for run, v, gap in ((curve, pair[0], 0.0), (curve[::-1], pair[1], _TIP_GAP))
        )
        return part(curve, first, (len(curve) - 1) / 3 - last)

    def _are_within(self, v: int, gap: float, points: FloatArray) -> BoolArray:
        away = np.abs(points - self._centres[v])
        return np.asarray((away <= self._half[v] + gap).all(axis=1))

    def _n_hits(self, curve: FloatArray, obstacles: IntArray) -> int:
        """Number of sampled points on obstacles."""
        # Close enough that no node fits between them.
        longest = np.hypot(*np.diff(curve[::3], axis=0).T).max()
        points = sampled(curve, SAMPLES + int(8 * longest))
        # Most obstacles are far away.
        low, high = points.min(axis=0), points.max(axis=0)
        reach = self._half[obstacles] + _CLEARANCE
        centres = self._centres[obstacles]
        near = ((centres + reach > low) & (centres - reach < high)).all(axis=1)
        gaps = np.abs(points[:, None] - centres[near]) - reach[near]
        return int((gaps < 0).all(axis=2).sum())

    def _around(self, ends: FloatArray, obstacles: IntArray) -> FloatArray:
        """The shortest polyline between two points around the corners of obstacles.

        Obstacles are added as the path hits them, until it is free.
        """
        path = ends
        met: set[int] = set()
        while found := {*obstacles[self._hits(path[:-1], path[1:], obstacles).any(axis=0)]} - met:
            met |= found
            boxes = np.array(sorted(met))
            points = np.vstack([ends, self._corners(boxes, obstacles)])
            a, b = np.triu_indices(len(points), 1)
            seen = np.flatnonzero(~self._hits(points[a], points[b], boxes).any(axis=1))
            lengths = np.hypot(*(points[a] - points[b]).T)
            graph = nx.Graph()
            graph.add_nodes_from((0, 1))
            graph.add_weighted_edges_from((int(a[n]), int(b[n]), float(lengths[n])) for n in seen)
            if not nx.has_path(graph, 0, 1):
                break
            path = points[nx.shortest_path(graph, 0, 1, weight="weight")]
        return path

    def _corners(self, boxes: IntArray, obstacles: IntArray) -> FloatArray:
        """Points just outside the corners of boxes, except those inside another obstacle."""
        reach = self._half[boxes] + _CLEARANCE + 0.05
        signs = np.array([(-1, -1), (-1, 1), (1, -1), (1, 1)])
        points = (self._centres[boxes][:, None] + signs * reach[:, None]).reshape(-1, 2)
        gaps = np.abs(points[:, None] - self._centres[obstacles]) - self._half[obstacles]
        return np.asarray(points[~(gaps < _CLEARANCE).all(axis=2).any(axis=1)])

    def _hits(self, start: FloatArray, end: FloatArray, boxes: IntArray) -> BoolArray:
        """Entry (s, b): whether segment s hits box b (the slab method)."""
        step = end - start
        step = np.where(np.abs(step) < 1e-12, 1e-12, step)[:, None]
        reach, away = self._half[boxes] + _CLEARANCE, self._centres[boxes] - start[:, None]
        near, far = (away - reach) / step, (away + reach) / step
        enter = np.minimum(near, far).max(axis=2)
        leave = np.maximum(near, far).min(axis=2)
        return np.asarray((enter < leave) & (leave > 1e-9) & (enter < 1 - 1e-9))


def _apart(places: FloatArray, gap: float) -> FloatArray:
    """Move ascending positions as little as possible so that they have this minimum distance.

    Examples
    --------
    >>> _apart(np.array([0.0, 0.0, 5.0]), 1.0).tolist()
    [-0.5, 0.5, 5.0]
    """
    from scipy.optimize import isotonic_regression

    base = gap * np.arange(len(places))
    return np.asarray(isotonic_regression(places - base).x + base)


def _with_end(route: FloatArray, end: int, axis: int, shift: float) -> FloatArray:
    """The chain with one end, and the control point next to it, moved along a border."""
    moved = route.copy()
    moved[end, axis] += shift
    moved[1 if end == 0 else -2, axis] += 0.6 * shift
    return moved
