"""Blocks in layers: causes above effects, few crossings, short and straight edges.

The method of Sugiyama, Tagawa and Toda: layers first, then an order in every layer by
barycentres, coordinates last. A block is a single node or a ring of nodes. Edges that pass through
a layer have their own place there.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from math import sqrt

import networkx as nx
import numpy as np

from cyclearn.drawing.ranks import layers
from cyclearn.foundation.arrays import FloatArray

Pair = tuple[int, int]

_COLUMN_GAP = 0.9
_LAYER_GAP = 1.5
_PASSAGE = 0.55
_ORDER_SWEEPS = 12
_COORDINATE_SWEEPS = 10
_PART_GAP = 1.6
# The weight with which a block without neighbours keeps its place.
_FREE = 0.05


@dataclass(frozen=True, eq=False)
class PlacedGroup:
    """Nodes that are placed together: offsets from the centre, and the size of the whole."""

    nodes: tuple[int, ...]
    offsets: FloatArray
    width: float
    height: float


# Bends of long edges.
Bends = dict[Pair, list[tuple[float, float]]]


def place_blocks(blocks: list[PlacedGroup], edges: list[list[int]]) -> tuple[FloatArray, Bends]:
    """Centres of all nodes, and bends, for blocks in causal order, part by part.

    Edges are pairs of nodes.
    """
    block_of = {v: b for b, block in enumerate(blocks) for v in block.nodes}
    between = [(i, j) for i, j in edges if block_of[i] != block_of[j]]
    whole = nx.Graph()
    whole.add_nodes_from(range(len(blocks)))
    whole.add_edges_from((block_of[i], block_of[j]) for i, j in between)
    parts = []
    for members in nx.connected_components(whole):
        chosen = sorted(members)
        inside = [(i, j) for i, j in between if block_of[i] in members]
        parts.append(_Part(chosen, blocks, inside, block_of))
    centres = np.zeros((len(block_of), 2))
    bends: Bends = {}
    for part, corner in _packed(parts):
        for b, (x, y) in part.centres.items():
            centres[list(blocks[b].nodes)] = part.offsets(b) + np.array([x, y]) + corner
        for edge, points in part.bends.items():
            bends[edge] = [(float(x + corner[0]), float(y + corner[1])) for x, y in points]
    return centres, bends


def _packed(parts: list[_Part]) -> list[tuple[_Part, FloatArray]]:
    """Arrange parts in rows, the tallest first, like a page; return their corners."""
    ordered = sorted(parts, key=lambda part: (-part.height, -part.width, part.blocks[0]))
    area = sum((p.width + _PART_GAP) * (p.height + _PART_GAP) for p in parts)
    limit = max([sqrt(1.7 * area), *(part.width for part in parts)])
    placed = []
    x = y = row = 0.0
    for part in ordered:
        if x and x + part.width > limit:
            x, y, row = 0.0, y + row + _PART_GAP, 0.0
        placed.append((part, np.array([x, y])))
        x += part.width + _PART_GAP
        row = max(row, part.height)
    return placed


class _Part:
    """A connected part: items are its blocks and the passages of edges through layers."""

    def __init__(
        self,
        chosen: list[int],
        blocks: list[PlacedGroup],
        edges: list[Pair],
        block_of: dict[int, int],
    ) -> None:
        self.blocks = chosen
        self._all = blocks
        self._edges = edges
        self._block_of = block_of
        self.mirrored: set[int] = set()
        links = [(block_of[i], block_of[j]) for i, j in edges]
        widths = {b: blocks[b].width + _COLUMN_GAP for b in chosen}
        layer_of = layers(links, widths, {b: blocks[b].height + _LAYER_GAP for b in chosen})
        # A second pass, with rings mirrored if that brings them closer to their neighbours.
        for _ in range(2):
            self._build_items(layer_of)
            self._order()
            self._coordinates()
            changed = self._to_mirror()
            if not changed:
                break
            self.mirrored ^= changed

    def offsets(self, b: int) -> FloatArray:
        """Positions of the nodes of a block around its centre."""
        flip = np.array([-1.0, 1.0]) if b in self.mirrored else np.ones(2)
        return self._all[b].offsets * flip

    def _to_mirror(self) -> set[int]:
        """The rings that would be closer to their neighbours if mirrored."""
        centre = {v: self.centres[b][0] for b in self.blocks for v in self._all[b].nodes}
        change: dict[int, float] = defaultdict(float)
        for edge in self._edges:
            for v, w in (edge, edge[::-1]):
                offset, away = self._offset[v], centre[v] - centre[w] - self._offset[w]
                change[self._block_of[v]] += abs(away - offset) - abs(away + offset)
        return {b for b, value in change.items() if value < -1e-6}

    def _build_items(self, layer_of: dict[int, int]) -> None:
        """Items by number: blocks first, passages after them; links between adjacent layers."""
        self._item = {b: n for n, b in enumerate(self.blocks)}
        self._offset = {
            v: float(self.offsets(b)[n, 0])
            for b in self.blocks
            for n, v in enumerate(self._all[b].nodes)
        }
        layer_at = [layer_of[b] for b in self.blocks]
        width = [self._all[b].width + _COLUMN_GAP for b in self.blocks]
        links: list[tuple[int, int, float, float, float]] = []
        self._passages: dict[Pair, list[int]] = {}
        for i, j in self._edges:
            a, b = self._block_of[i], self._block_of[j]
            previous, port = self._item[a], self._offset[i]
            passages = []
            for layer in range(layer_of[a] + 1, layer_of[b]):
                passages.append(len(layer_at))
                layer_at.append(layer)
                width.append(_PASSAGE)
                # Links between passages weigh most, so that long edges run straight.
                weight = 2.0 if previous < len(self.blocks) else 8.0
                links.append((previous, passages[-1], port, 0.0, weight))
                previous, port = passages[-1], 0.0
            weight = 2.0 if passages else 1.0
            links.append((previous, self._item[b], port, self._offset[j], weight))
            self._passages[i, j] = passages
        columns = np.array(links).reshape(-1, 5).T
        self._ends, self._ports, self._weights = columns[:2].astype(int), columns[2:4], columns[4]
        self._layer_of, self._width = np.array(layer_at), np.array(width)
        self._rows: list[list[int]] = [
            np.flatnonzero(self._layer_of == layer).tolist() for layer in range(max(layer_at) + 1)
        ]

    def _pull(
        self, x: FloatArray, link_weights: FloatArray, *, upwards: bool
    ) -> tuple[FloatArray, FloatArray]:
        """For every item, the position its neighbours above or below prefer, and the weight."""
        own = int(not upwards)
        items, others = self._ends[[own, 1 - own]]
        wanted = x[others] + self._ports[1 - own] - self._ports[own]
        pulled = np.bincount(items, link_weights * wanted, len(x)).astype(float)
        return pulled, np.bincount(items, link_weights, len(x)).astype(float)

    def _order(self) -> None:
        """Barycentre sweeps down and up; the order with the fewest crossings is kept."""
        rows = [list(row) for row in self._rows]
        best, fewest = [list(row) for row in rows], self._crossings(rows)
        equal = np.ones(len(self._weights))
        for sweep in range(_ORDER_SWEEPS):
            upwards = sweep % 2 == 1
            for row in rows[-2::-1] if upwards else rows[1:]:
                places = self._middles(rows)
                pulled, weights = self._pull(places, equal, upwards=upwards)
                # Items without neighbours there keep their place.
                row.sort(key=np.where(weights > 0, pulled / np.maximum(weights, 1), places).item)
            crossings = self._crossings(rows)
            if crossings < fewest:
                best, fewest = [list(row) for row in rows], crossings
            if fewest == 0:
                break
        self._rows = best

    def _middles(self, rows: list[list[int]]) -> FloatArray:
        """The positions of items if every row is packed and centred."""
        places = np.zeros(len(self._width))
        for row in rows:
            right = np.cumsum(self._width[row])
            places[row] = right - self._width[row] / 2 - right[-1] / 2
        return places

    def _crossings(self, rows: list[list[int]]) -> int:
        a, b = self._middles(rows)[self._ends] + self._ports
        layer = self._layer_of[self._ends[0]]
        return int(((a[:, None] < a) & (b[:, None] > b) & (layer[:, None] == layer)).sum())

    def _coordinates(self) -> None:
        """Horizontal places by repeated least squares in row order, vertical ones by height."""
        x = self._middles(self._rows)
        for sweep in range(_COORDINATE_SWEEPS):
            upwards = sweep % 2 == 1
            last = sweep >= _COORDINATE_SWEEPS - 2
            for row in self._rows[::-1] if upwards else self._rows:
                self._align(row, x, {True, False} if last else {upwards})
        heights = np.array(
            [
                max([self._all[b].height for b in self.blocks if self._item[b] in row] or [0.4])
                for row in map(set, self._rows)
            ]
        )
        gaps = self._gaps(x)
        below = np.cumsum(heights + gaps)
        self.height = float(below[-1] - gaps[-1])
        y = (below - gaps - heights / 2)[self._layer_of]
        half = (self._width - _COLUMN_GAP) / 2
        left = (x - half).min()
        self.width = float((x + half).max() - left)
        self.centres = {b: (x[i] - left, y[i]) for i, b in enumerate(self.blocks)}
        tall = heights[self._layer_of]
        self.bends = {
            edge: [
                (x[i] - left, y[i] + side * max(tall[i] - 1, 0))
                for i in passages
                # Edges pass a tall layer in a straight line, along its tallest ring.
                for side in ((-0.5, 0.5) if tall[i] > 2 else (0.0,))
            ]
            for edge, passages in self._passages.items()
        }

    def _gaps(self, x: FloatArray) -> FloatArray:
        """Space below every row: more if edges run far to the side."""
        upper, lower = x[self._ends] + self._ports
        wanted = np.minimum(_LAYER_GAP + 0.12 * np.abs(upper - lower), 2.2 * _LAYER_GAP)
        gaps = np.full(len(self._rows), _LAYER_GAP)
        np.maximum.at(gaps, self._layer_of[self._ends[0]], wanted)
        return gaps

    def _align(self, row: list[int], x: FloatArray, directions: set[bool]) -> None:
        """Move a row towards its neighbours as far as order and widths allow."""
        from scipy.optimize import isotonic_regression

        found = [self._pull(x, self._weights, upwards=upwards) for upwards in directions]
        pulled, weights = (np.sum(each, axis=0)[row] for each in zip(*found, strict=True))
        wanted = np.where(weights > 0, pulled / np.maximum(weights, 1), x[row])
        width = self._width[row]
        # In these coordinates "to the right of its neighbour" becomes "not smaller than".
        base = np.concatenate([[0.0], np.cumsum((width[:-1] + width[1:]) / 2)])
        weights = np.where(weights > 0, weights, _FREE)
        x[row] = isotonic_regression(wanted - base, weights=weights).x + base
