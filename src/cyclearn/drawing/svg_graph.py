"""A laid-out graph as SVG: groups below, then edges, then nodes and labels.

Colours come from the style sheet of the page. Nothing is shown by colour alone: negative weights
are dashed, strong ones wide, and edges that not all members of the class share have open heads.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from cyclearn.drawing.curves import headed
from cyclearn.drawing.label_places import label_places
from cyclearn.drawing.layout import FONT_SIZE, NODE_HEIGHT, Layout
from cyclearn.drawing.markup import Markup, join, tag
from cyclearn.foundation.arrays import FloatArray
from cyclearn.graphs import DirectedGraph

# Pixels for the height of a node: as drawn, and the least that can be read.
_UNIT, _LEAST_UNIT = 38, 21
_ROUNDING = 0.22
# Size of the font of labels, as the style sheet has it.
_LABEL_SIZE = 0.35


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
            tag(
                "rect",
                class_="group",
                x=_n(group.left),
                y=_n(group.top),
                width=_n(group.width),
                height=_n(group.height),
                rx="0.5",
                data_nodes=json.dumps(group.nodes, ensure_ascii=False),
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
        data_node=name,
    )


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
    """What lines mean: (classes, words, open head, width) for each; then further items."""
    samples = []
    for classes, words, open_head, width in items:
        route = np.array([[0.1, 0.5], [0.8, 0.5], [1.5, 0.5], [2.2, 0.5]])
        line = _edge(DrawnEdge("", "", classes, width, open_head), route)
        picture = tag("svg", line, viewBox="0 0 2.4 1", class_="graph sample", aria_hidden="true")
        samples.append(tag("li", picture, " ", words))
    return tag("ul", join([*samples, *further]), class_="legend")
