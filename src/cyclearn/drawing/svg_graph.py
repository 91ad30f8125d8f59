"""A graph with a layout as SVG: groups at the bottom, then edges, then nodes and labels.

Colours come from the style sheet of the page. Colour is never the only cue: negative weights are
dashed, strong ones wide, and edges that not all members of the class share have open heads.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from cyclearn.drawing.curves import headed
from cyclearn.drawing.label_places import label_places
from cyclearn.drawing.layout import FONT_SIZE, NODE_HEIGHT, Layout
from cyclearn.drawing.markup import Markup, join, tag
from cyclearn.foundation.arrays import FloatArray
from cyclearn.graphs import DirectedGraph

# Height of a node in pixels: default, and the smallest readable.
_UNIT, _LEAST_UNIT = 38, 21
_ROUNDING = 0.22
# Font size of labels, as in the style sheet.
_LABEL_SIZE = 0.35


@dataclass(frozen=True)
class DrawnEdge:
    """The appearance of one edge: its style classes, width, head and label."""

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
    """The picture; ``identifier`` distinguishes its title from those of other pictures.

    ``edges`` are drawn along their routes in the layout; ``graph`` gives the nodes. A picture that
    is not ``sized`` has no inline style, for pages that forbid it; its view box gives the size in
    heights of a node.
    """
    drawn = list(edges)
    loops = [nodes for nodes in graph.components if len(nodes) > 1]
    in_group = {name for nodes in loops for name in nodes}
    labels = [edge for edge in drawn if edge.label]
    named = [((edge.source, edge.target), edge.label) for edge in labels]
    # A page for which the picture has no size of its own places the labels itself.
    middles = [layout.routes[edge][len(layout.routes[edge]) // 2] for edge, _ in named]
    spots = label_places(layout, named, _LABEL_SIZE) if sized else middles
    size = f"width:{layout.width * _UNIT:.0f}px;min-width:{layout.width * _LEAST_UNIT:.0f}px"
    return tag(
        "svg",
        tag("title", title, id=f"{identifier}-title"),
        tag("desc", description, id=f"{identifier}-desc"),
        *(
            _box(
                (each.left, each.top, each.width, each.height, 0.5),
                class_="group",
                data_nodes=json.dumps(each.nodes, ensure_ascii=False),
            )
            for each in layout.groups
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
        _box((x - width / 2, y - NODE_HEIGHT / 2, width, NODE_HEIGHT, _ROUNDING)),
        tag("text", layout.labels[name], x=_n(x), y=_n(y + 0.36 * FONT_SIZE)),
        class_="node feedback" if in_group else "node",
        data_node=name,
    )


def _box(place: Sequence[float], **attributes: object) -> Markup:
    """A rectangle: left, top, width, height, and the radius of its corners."""
    shape = zip(("x", "y", "width", "height", "rx"), map(_n, place), strict=True)
    return tag("rect", **attributes, **dict(shape))


def _edge(edge: DrawnEdge, route: FloatArray) -> Markup:
    line, corners = headed(route, 0.26 + 1.6 * edge.width)
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
    return tag(
        "text",
        edge.label,
        x=_n(spot[0]),
        y=_n(spot[1] + 0.13),
        class_=classes,
        data_label=edge.attributes.get("data_edge"),
    )


def _path(route: FloatArray) -> str:
    points = [f"{_n(x)} {_n(y)}" for x, y in route]
    curves = (" ".join(points[n : n + 3]) for n in range(1, len(points), 3))
    return f"M{points[0]}" + "".join(f"C{curve}" for curve in curves)


def _n(value: float) -> str:
    """Hundredths of a node's height: finer than a pixel."""
    shown = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if shown == "-0" else shown


def legend(*items: tuple[str, str, bool, float], further: Iterable[Markup] = ()) -> Markup:
    """Legend of lines: (classes, words, open head, width) for each; then further items."""
    samples = []
    for classes, words, open_head, width in items:
        route = np.array([[0.1, 0.5], [0.8, 0.5], [1.5, 0.5], [2.2, 0.5]])
        line = _edge(DrawnEdge("", "", classes, width, open_head), route)
        picture = tag("svg", line, viewBox="0 0 2.4 1", class_="graph sample", aria_hidden="true")
        samples.append(tag("li", picture, " ", words))
    return tag("ul", join([*samples, *further]), class_="legend")
