"""Nodes and arrows on matplotlib axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from cyclearn.drawing.curves import headed
from cyclearn.drawing.label_places import label_places
from cyclearn.drawing.layout import FONT_SIZE, NODE_HEIGHT, Layout
from cyclearn.drawing.palette import GREY, INK, Dashes, plain_text
from cyclearn.foundation import Axes, InputError, short
from cyclearn.graphs.directed_graph import Edge

# Size of one layout unit in a new figure, in inches.
_UNIT = 0.3
# Minimum width of a figure, in inches.
_NARROWEST = 2.6
_LEGEND_ROW = 0.9
_HEAD = 0.34
_GROUP_FILL = "#f1eee6"
_GROUP_EDGE = "#b5ad9a"

Pair = tuple[float, float]


@dataclass(frozen=True)
class Stroke:
    """How an edge is drawn: colour, dashes (as matplotlib's ``linestyle``), width in points."""

    color: str = INK
    dashes: Dashes = "solid"
    width: float = 1.2


@dataclass(frozen=True)
class Line:
    """How an edge is drawn: stroke, label, heads at (source, target), and which are open."""

    edge: Edge
    stroke: Stroke
    label: str = ""
    heads: tuple[bool, bool] = (False, True)
    open_head: bool = False


def draw_lines(
    layout: Layout,
    lines: Sequence[Line],
    ax: Axes | None,
    legend: Mapping[str, Stroke] | None = None,
    note: str = "",
) -> Axes:
    """Draw nodes and edges, with a legend of strokes and a note below.

    Without axes, this creates a figure of suitable size that pyplot does not manage, so that
    nothing is shown or kept in memory unexpectedly.
    """
    n_columns = _legend_columns(legend or {}, max(layout.width, _NARROWEST / _UNIT))
    canvas = _Canvas(layout, ax, ceil(len(legend or {}) / n_columns) + bool(note))
    for line in lines:
        canvas.draw_edge(line)
    canvas.draw_labels([line for line in lines if line.label])
    canvas.draw_nodes()
    if legend:
        canvas.draw_legend(legend, note, n_columns)
    return canvas.ax


def _legend_columns(entries: Mapping[str, Stroke], width: float) -> int:
    """Number of legend entries that fit next to each other, at most three."""
    # A letter is about half as wide as it is high; the sample and the gaps are four letters high.
    widest = 0.8 * FONT_SIZE * (0.5 * max(map(len, entries), default=0) + 4)
    return max(1, min(3, len(entries), int(width / widest)))


class _Canvas:
    """Axes prepared for a layout, the x and y directions of equal scale, y downwards."""

    def __init__(self, layout: Layout, ax: Axes | None, legend_rows: int) -> None:
        height = layout.height + _LEGEND_ROW * legend_rows
        if ax is None:
            from matplotlib.figure import Figure

            figure = Figure(
                figsize=(max(_UNIT * layout.width, _NARROWEST), max(_UNIT * height, 0.9))
            )
            ax = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        if not hasattr(ax, "set_xlim"):
            raise InputError(f"ax is {short(ax)}; give the axes of matplotlib, or None")
        self.ax = ax
        self.layout = layout
        ax.set_xlim(0, max(layout.width, 1.0))
        ax.set_ylim(max(height, 1.0), 0)
        ax.set_aspect("equal")
        ax.set_axis_off()
        # Points of one unit, so that text and lines keep their proportions to the nodes.
        box = ax.get_position()
        inches = np.array(ax.figure.bbox.size) / ax.figure.dpi * (box.width, box.height)
        scale = 72 * min(inches[0] / max(layout.width, 1.0), inches[1] / max(height, 1.0))
        self._points = float(min(scale, 72 * _UNIT))

    def draw_labels(self, lines: Sequence[Line]) -> None:
        """Draw labels in front of the edges, placed when all are known."""
        size = 0.72 * FONT_SIZE
        places = label_places(self.layout, [(line.edge, line.label) for line in lines], size)
        for line, (x, y) in zip(lines, places, strict=True):
            self._text((x, y), line.label, size, 2.5, boxed_in=line.stroke.color)

    def draw_nodes(self) -> None:
        """Draw groups behind everything, and nodes and names in front of the edges."""
        for group in self.layout.groups:
            look = {"facecolor": _GROUP_FILL, "edgecolor": _GROUP_EDGE, "zorder": 0}
            self._box((group.left, group.top), (group.width, group.height), 0.3, 0.7, **look)
        for name, (x, y) in self.layout.positions.items():
            width = self.layout.widths[name]
            look = {"facecolor": "white", "edgecolor": INK, "zorder": 3}
            corner = x - width / 2, y - NODE_HEIGHT / 2
            self._box(corner, (width, NODE_HEIGHT), 0.4, 0.9, **look)
            self._text((x, y), self.layout.labels[name], FONT_SIZE, 4)

    def _box(self, corner: Pair, size: Pair, rounding: float, line: float, **look: Any) -> None:
        from matplotlib.patches import FancyBboxPatch

        # The rounded border is added around a smaller box.
        width, height = (value - 2 * rounding for value in size)
        corner = corner[0] + rounding, corner[1] + rounding
        look |= {"boxstyle": f"round,pad={rounding}", "linewidth": self._line(line)}
        self.ax.add_patch(FancyBboxPatch(corner, width, height, **look))

    def draw_edge(self, edge: Line) -> None:
        """Draw an edge along its route, with its heads."""
        from matplotlib.patches import PathPatch, Polygon
        from matplotlib.path import Path

        line, stroke = self.layout.routes[edge.edge], edge.stroke
        # Reversed before each head, so that the line has its original direction after both.
        for has_head in edge.heads:
            line = line[::-1]
            if not has_head:
                continue
            line, corners = headed(line, _HEAD + 0.06 * stroke.width)
            self.ax.add_patch(
                Polygon(
                    corners,
                    closed=True,
                    facecolor="white" if edge.open_head else stroke.color,
                    edgecolor=stroke.color if edge.open_head else "none",
                    linewidth=self._line(0.8),
                    zorder=2,
                )
            )
        codes = [Path.MOVETO, *[Path.CURVE4] * (len(line) - 1)]
        self.ax.add_patch(
            PathPatch(
                Path(line, codes),
                fill=False,
                edgecolor=stroke.color,
                linestyle=stroke.dashes,
                linewidth=self._line(stroke.width),
                capstyle="butt",
                zorder=1,
            )
        )

    def draw_legend(self, entries: Mapping[str, Stroke], note: str, n_columns: int) -> None:
        """Draw a legend of strokes below the graph, with a note above it."""
        from matplotlib.lines import Line2D

        lines = [
            Line2D(
                [],
                [],
                color=stroke.color,
                linestyle=stroke.dashes,
                linewidth=max(self._line(stroke.width), 0.8),
            )
            for stroke in entries.values()
        ]
        legend = self.ax.legend(
            lines,
            list(entries),
            loc="lower center",
            ncols=n_columns,
            frameon=False,
            fontsize=max(0.8 * FONT_SIZE * self._points, 5),
            handlelength=2.4,
            columnspacing=1.0,
            borderaxespad=0.2,
            title=note or None,
            title_fontsize=max(0.75 * FONT_SIZE * self._points, 5),
        )
        legend.get_title().set_color(GREY)

    def _line(self, width: float) -> float:
        return float(width * max(self._points / (72 * _UNIT), 0.35))

    def _text(self, place: Pair, text: str, size: float, zorder: float, boxed_in: str = "") -> None:
        """A text; with a colour, in a box."""
        around = {"boxstyle": "square,pad=0.08", "facecolor": "white", "edgecolor": "none"}
        self.ax.text(
            *place,
            plain_text(text),
            fontsize=size * self._points,
            color=boxed_in or INK,
            ha="center",
            va="center",
            zorder=zorder,
            bbox={**around, "alpha": 0.85} if boxed_in else None,
        )
