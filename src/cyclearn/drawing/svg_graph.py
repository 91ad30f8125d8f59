"""A laid-out graph as SVG: groups below, then edges, then nodes and labels.

Colours come from the style sheet of the page. Nothing is told by colour alone: negative weights
are dashed, strong ones wide, and edges that not all members of the class share have open heads.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cyclearn.drawing.curves import part, sampled
from cyclearn.drawing.layout import FONT_SIZE, NODE_HEIGHT, Layout
from cyclearn.drawing.markup import Markup, join, tag
from cyclearn.graphs import DirectedGraph

FloatArray = NDArray[np.float64]

# Pixels for the height of a node: as drawn, and the least that can be read.
_UNIT, _LEAST_UNIT = 38, 21
_ROUNDING = 0.22
_SHORT, _ASIDE, _APART = 1.9, 0.34, 0.65


@dataclass(frozen=True)
class DrawnEdge:
    """How one edge is drawn: its classes in the style sheet, width, head and label."""

    source: str
    target: str
    classes: str = ""
    width: float = 0.06
    open_head: bool = False
    label: str = ""
    title: str = ""
    attributes: dict[str, object] = field(default_factory=dict)


def graph_svg(
    graph: DirectedGraph,
    layout: Layout,
    edges: Iterable[DrawnEdge],
    *,
    identifier: str,
    title: str,
    description: str,
    sized: bool = True,
) -> Markup:
    """The picture; ``identifier`` keeps its title apart from those of other pictures.

    The edges are those to draw, each with a route in the layout; ``graph`` says which nodes there
    are. A picture that is not ``sized`` has no style of its own, for pages that forbid any; its
    view box says how large it is, in heights of a node.
    """
    drawn = list(edges)
    in_group = {name for group in layout.groups for name in group.nodes}
    labels = [edge for edge in drawn if edge.label]
    spots = label_spots(graph, layout, labels)
    size = f"width:{layout.width * _UNIT:.0f}px;min-width:{layout.width * _LEAST_UNIT:.0f}px"
    return tag(
        "svg",
        tag("title", title, id=f"{identifier}-title"),
        tag("desc", description, id=f"{identifier}-desc"),
        *(
            tag(
                "rect",
                class_="group",
                x=_n(group.left),
                y=_n(group.top),
                width=_n(group.width),
                height=_n(group.height),
                rx="0.5",
            )
            for group in layout.groups
        ),
        *(_edge(edge, layout.routes[edge.source, edge.target]) for edge in drawn),
        *(_node(name, layout, name in in_group) for name in graph.names),
        *(_label(edge, spot, layout) for edge, spot in zip(labels, spots, strict=True)),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {_n(layout.width)} {_n(layout.height)}",
        role="img",
        aria_labelledby=f"{identifier}-title {identifier}-desc",
        id=identifier,
        class_="graph",
        style=size if sized else None,
    )


def _node(name: str, layout: Layout, in_group: bool) -> Markup:
    x, y = layout.positions[name]
    width = layout.widths[name]
    return tag(
        "g",
        tag("title", name),
        tag(
            "rect",
            x=_n(x - width / 2),
            y=_n(y - NODE_HEIGHT / 2),
            width=_n(width),
            height=_n(NODE_HEIGHT),
            rx=_n(_ROUNDING),
        ),
        tag("text", layout.labels[name], x=_n(x), y=_n(y + 0.36 * FONT_SIZE)),
        class_="node feedback" if in_group else "node",
    )


def _edge(edge: DrawnEdge, route: FloatArray) -> Markup:
    head = 0.26 + 1.6 * edge.width
    tip = route[-1]
    line = shortened(route, head)
    along = tip - line[-1]
    along = along / max(float(np.hypot(*along)), 1e-9) * head
    aside = np.array([-along[1], along[0]]) * 0.42
    corners = (tip, tip - along + aside, tip - along - aside)
    return tag(
        "g",
        tag("title", edge.title) if edge.title else "",
        tag("path", d=_path(line), stroke_width=_n(edge.width)),
        tag(
            "polygon",
            points=" ".join(f"{_n(x)},{_n(y)}" for x, y in corners),
            class_="open" if edge.open_head else None,
        ),
        class_=f"edge {edge.classes}".rstrip(),
        **edge.attributes,
    )


def _label(edge: DrawnEdge, spot: FloatArray, layout: Layout) -> Markup:
    inside = any({edge.source, edge.target} <= set(group.nodes) for group in layout.groups)
    classes = f"weight {edge.classes}{' inside' if inside else ''}"
    return tag("text", edge.label, x=_n(spot[0]), y=_n(spot[1] + 0.13), class_=classes)


def label_spots(graph: DirectedGraph, layout: Layout, edges: list[DrawnEdge]) -> list[FloatArray]:
    """Where the labels of edges stand: on the line or beside it, clear of what else is drawn.

    Of some points along each edge the one is taken that is farthest from nodes, from labels
    already placed, and, with less weight, from the lines of other edges.
    """
    lines = [sampled(layout.routes[edge.source, edge.target], 16) for edge in edges]
    nodes = np.array([layout.positions[name] for name in graph.names])
    spots: list[FloatArray] = []
    for n, line in enumerate(lines):
        others = [points for m, points in enumerate(lines) if m != n]
        first, last = len(line) // 5, max(len(line) * 3 // 4, len(line) // 5 + 2)
        along = np.gradient(line, axis=0)[first:last]
        aside = np.column_stack([-along[:, 1], along[:, 0]])
        aside /= np.maximum(np.hypot(*aside.T), 1e-9)[:, None]
        is_short = np.hypot(*np.diff(line, axis=0).T).sum() < _SHORT
        # On a short edge a label would hide the line.
        offsets = (_ASIDE, -_ASIDE) if is_short else (0.0, _ASIDE, -_ASIDE)
        candidates = np.concatenate([line[first:last] + aside * offset for offset in offsets])
        clearance = np.minimum(
            _gap(candidates, nodes),
            2 * _gap(candidates, np.concatenate(others)) if others else np.inf,
        )
        middle = np.abs(np.linspace(-1, 1, last - first))
        cost = np.concatenate([0.15 * middle + (0.1 if offset else 0) for offset in offsets])
        if spots:
            # Two labels must not run into each other, whatever else they cover.
            cost += 2 * np.maximum(_APART - _gap(candidates, np.array(spots)), 0)
        spots.append(candidates[int(np.argmax(np.minimum(clearance, 1.0) - cost))])
    return spots


def _gap(points: FloatArray, others: FloatArray) -> FloatArray:
    """Distance to the nearest of the others; labels are wide, so a step sideways clears less."""
    steps = points[:, None] - others
    return np.asarray(np.hypot(0.55 * steps[:, :, 0], steps[:, :, 1]).min(axis=1))


def shortened(route: FloatArray, length: float) -> FloatArray:
    """The chain of curves without its last part of about this length.

    Examples
    --------
    >>> straight = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0]])
    >>> shortened(straight, 1.0)[-1].round(1)
    array([2., 0.])
    """
    n_curves = (len(route) - 1) // 3
    points = sampled(route, 50)
    beyond = np.flatnonzero(np.hypot(*(points - route[-1]).T) >= length)
    if not beyond.size:
        return route
    curve, within = divmod(int(beyond[-1]), 50)
    return part(route, 0.0, min(curve + within / 49, n_curves))


def _path(route: FloatArray) -> str:
    points = [f"{_n(x)} {_n(y)}" for x, y in route]
    curves = (" ".join(points[n : n + 3]) for n in range(1, len(points), 3))
    return f"M{points[0]}" + "".join(f"C{curve}" for curve in curves)


def _n(value: float) -> str:
    """Hundredths of a node's height: finer than a pixel."""
    shown = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if shown == "-0" else shown


def legend(*items: tuple[str, str, bool, float], further: Iterable[Markup] = ()) -> Markup:
    """What lines mean: (classes, words, open head, width) for each; then further items."""
    samples = []
    for classes, words, open_head, width in items:
        route = np.array([[0.1, 0.5], [0.8, 0.5], [1.5, 0.5], [2.2, 0.5]])
        line = _edge(DrawnEdge("", "", classes, width, open_head), route)
        picture = tag("svg", line, viewBox="0 0 2.4 1", class_="graph sample", aria_hidden="true")
        samples.append(tag("li", picture, " ", words))
    return tag("ul", join([*samples, *further]), class_="legend")
