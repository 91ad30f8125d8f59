"""Positions of edge labels: near the middle of their line, clear of other elements.

A label is a rectangle. It may lie on its own line, but never on an arrow head, and rather next to
the line than on a node, on another label or on the line of another edge.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cyclearn.drawing.curves import sampled
from cyclearn.drawing.layout import NODE_HEIGHT, Layout
from cyclearn.foundation.arrays import FloatArray
from cyclearn.graphs.directed_graph import Edge

# Width of a character and half the height of a label, as shares of the size of its font.
_CHARACTER, _HALF_HEIGHT = 0.64, 0.62
# Length of an arrow head, with some space around it.
_HEAD = 0.5
# Number of points along each line at which a label is tried, excluding its ends.
_PLACES = np.linspace(0.18, 0.78, 17)
# Additional distances from the line at which a label is tried.
_ASIDE = (0.0, 0.3, 0.6)
# Costs of covering other elements; heads, nodes and other labels are never covered.
_ON_HEAD, _ON_NODE, _ON_LABEL, _ON_LINE = 8.0, 6.0, 6.0, 0.35
_SAMPLES = 16


def label_places(
    layout: Layout, labels: Sequence[tuple[Edge, str]], font_size: float
) -> list[FloatArray]:
    """Centres of the labels, in the order given; no two of them overlap if there is space.

    Parameters
    ----------
    layout : Layout
    labels : pairs of edge and text
        Every edge has a route in the layout.
    font_size : float
        In units of the layout.
    """
    if not labels:
        return []
    routes = {edge: sampled(layout.routes[edge], 48) for edge, _ in labels}
    heads = np.array([_head(route) for route in routes.values()])
    nodes = np.array(list(layout.positions.values()))
    node_halves = np.column_stack(
        [np.array(list(layout.widths.values())) / 2, np.full(len(nodes), NODE_HEIGHT / 2)]
    )
    lines = [route[:: 48 // _SAMPLES] for route in routes.values()]
    points = np.concatenate(lines)
    owners = np.repeat(np.arange(len(lines)), [len(line) for line in lines])
    numbers = {edge: number for number, edge in enumerate(routes)}
    placed: list[FloatArray] = []
    halves: list[FloatArray] = []
    for edge, text in labels:
        half = font_size * np.array([_CHARACTER * len(text) / 2 + 0.1, _HALF_HEIGHT])
        spots, costs = _candidates(routes[edge], half)
        costs = costs + _ON_HEAD * _covering(spots, half, heads, np.full_like(heads, _HEAD / 2))
        costs += _ON_NODE * _covering(spots, half, nodes, node_halves)
        if placed:
            costs += _ON_LABEL * _covering(spots, half, np.array(placed), np.array(halves))
        others = points[owners != numbers[edge]]
        costs += _ON_LINE * _covering(spots, half, others, np.zeros_like(others))
        outside = np.maximum(half - spots, 0) + np.maximum(
            spots + half - (layout.width, layout.height), 0
        )
        costs += 20 * outside.sum(axis=1)
        # Rounded, so that ties are resolved by order and not by rounding errors.
        best = spots[int(np.argmin(costs.round(6)))]
        placed.append(best)
        halves.append(half)
    return placed


def _head(route: FloatArray) -> FloatArray:
    """The middle of the arrow head at the end of a line."""
    away = np.hypot(*(route - route[-1]).T)
    base = route[np.flatnonzero(away >= min(_HEAD, away[0]))[-1]]
    return np.asarray((route[-1] + base) / 2)


def _candidates(route: FloatArray, half: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Positions on the line and on either side of it, with their costs."""
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(route, axis=0).T))])
    length = max(float(along[-1]), 1e-9)
    points = np.column_stack([np.interp(_PLACES * length, along, xy) for xy in route.T])
    ahead = np.column_stack([np.interp(_PLACES * length + 0.05, along, xy) for xy in route.T])
    direction = ahead - points
    direction /= np.maximum(np.hypot(*direction.T), 1e-9)[:, None]
    aside = np.column_stack([-direction[:, 1], direction[:, 0]])
    # Far enough that the rectangle clears the line.
    clear = np.abs(aside) @ half + 0.08
    # The share of the line that a label on it hides, approximately.
    hidden = (2 * half / np.maximum(np.abs(direction), 1e-9)).min(axis=1) / length
    off_middle = 0.6 * np.abs(_PLACES - 0.46)
    sides = [(sign, extra) for extra in _ASIDE for sign in (1, -1)]
    beyond = [points + sign * (clear[:, None] + extra) * aside for sign, extra in sides]
    on_line = off_middle + 2.5 * np.maximum(hidden - 0.25, 0)
    beside = [off_middle + 0.25 + extra for _, extra in sides]
    return np.concatenate([points, *beyond]), np.concatenate([on_line, *beside])


def _covering(
    spots: FloatArray, half: FloatArray, centres: FloatArray, halves: FloatArray
) -> FloatArray:
    """Number of these rectangles that a label at each position covers, in part if slightly."""
    # Most of them are far from all positions.
    low, high = spots.min(axis=0) - half, spots.max(axis=0) + half
    near = ((centres + halves > low) & (centres - halves < high)).all(axis=1)
    overlap = half + halves[near] - np.abs(spots[:, None] - centres[near])
    return np.asarray(np.clip(overlap.min(axis=2) / 0.2, 0, 1).sum(axis=1))
