"""A feedback loop as a ring: the order of its nodes around an ellipse."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
import numpy as np

from cyclearn.foundation.arrays import BoolArray, FloatArray, IntArray

# Free space for arrows between neighbours on the ring, in heights of a node.
_GAP = 1.7
# Maximum number of swaps to try; larger rings get a good order, not the best.
_MAX_TRIALS = 900
# Maximum number of pairs of edges to compare in all trials.
_MAX_WORK = 30_000_000


def ring(adjacency: BoolArray, widths: FloatArray, inflow: IntArray) -> FloatArray:
    """Positions of the nodes around their common centre, shape (k, 2).

    ``inflow`` is the number of edges that enter a node minus those that leave it; the ring is
    rotated so that causes are above and effects below.
    """
    k = len(adjacency)
    order = _ordered(adjacency)
    if k == 2:
        half = (widths.sum() / 2 + 1.5 * _GAP) / 2
        return np.array([[-half, 0.0], [half, 0.0]])
    best, lowest = np.empty((k, 2)), np.inf
    for turn in range(k):
        turned = order[turn:] + order[:turn]
        places = np.empty((k, 2))
        places[turned] = _ellipse(widths[turned])
        value = float((places[:, 1] * inflow).sum())
        if value < lowest - 1e-9:
            best, lowest = places, value
    return best


def _ellipse(widths: FloatArray) -> FloatArray:
    """Positions on an ellipse, clockwise from the top, as narrow as the labels allow."""
    k = len(widths)
    # A flat side at the bottom of a triangle, a corner at the top of everything else.
    angles = 2 * np.pi * np.arange(k) / k - np.pi / 2
    unit = np.column_stack([np.cos(angles), np.sin(angles)])
    a, b = np.triu_indices(k, 1)
    dx, dy = np.abs(unit[a] - unit[b]).T
    width = (widths[a] + widths[b]) / 2
    needed_x = np.divide(width + _GAP, dx, out=np.full(len(a), np.inf), where=dx > 1e-9)
    needed_y = np.divide(1.0 + _GAP, dy, out=np.full(len(a), np.inf), where=dy > 1e-9)
    # Two rectangles are disjoint if they are apart in one direction; choose the smaller shift.
    is_tall = needed_y <= needed_x
    horizontal = float(needed_x[~is_tall].max(initial=1.0))
    vertical = float(np.minimum(needed_y[is_tall], 1.0 + 0.55 * k).max(initial=1.0))
    near = horizontal * dx < width + 0.3 * _GAP
    for _ in range(k):
        close = near & (vertical * dy < 1.0 + 0.3 * _GAP - 1e-9)
        if not close.any():
            break
        vertical *= float(((1.0 + 0.3 * _GAP) / np.maximum(vertical * dy[close], 0.3)).max())
    return unit * (max(horizontal, 0.8 * vertical), vertical)


def _ordered(adjacency: BoolArray) -> list[int]:
    """Order with few crossings and short edges, by swaps from a walk along edges."""
    order = list(nx.dfs_preorder_nodes(nx.DiGraph(adjacency), 0))
    joined = np.argwhere(np.triu(adjacency | adjacency.T))
    best, trials = _cost(order, joined), 0
    most = min(_MAX_TRIALS, _MAX_WORK // max(len(joined), 1) ** 2)
    improved = True
    while improved and trials < most:
        improved = False
        for a, b in combinations(range(1, len(order)), 2):
            order[a], order[b] = order[b], order[a]
            value, trials = _cost(order, joined), trials + 1
            if value < best - 1e-9:
                best, improved = value, True
            else:
                order[a], order[b] = order[b], order[a]
            if trials >= most:
                break
    # The order or its mirror image, so that most arrows between neighbours run clockwise.
    following = np.roll(order, -1)
    if adjacency[order, following].sum() < adjacency[following, order].sum():
        return [order[0], *order[:0:-1]]
    return order


def _cost(order: list[int], joined: IntArray) -> float:
    """Crossings of chords, and with a smaller weight their lengths around the ring."""
    k = len(order)
    place = np.empty(k, dtype=np.int64)
    place[order] = np.arange(k)
    ends = np.sort(place[joined], axis=1)
    low, high = ends[:, 0], ends[:, 1]
    span = high - low
    length = np.minimum(span, k - span).sum()
    crossing = (low[:, None] < low) & (low < high[:, None]) & (high[:, None] < high)
    return 2.0 * float(crossing.sum()) + float(length)
