"""A laid-out graph as a TikZ picture, to be set in the fonts of a paper."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from cyclearn.drawing.label_places import label_places
from cyclearn.drawing.layout import Layout, lay_out
from cyclearn.graphs import DirectedGraph
from cyclearn.graphs.directed_graph import Edge

# Size of one unit of a layout, in centimetres.
_UNIT = 0.75
# Of labels, in these units.
_LABEL_SIZE = 0.35
_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
}


def latex_text(text: str) -> str:
    r"""A text that LaTeX sets as it is.

    Examples
    --------
    >>> latex_text("p_53 & 5%")
    'p\\_53 \\& 5\\%'
    """
    return "".join(_SPECIAL.get(letter, letter) for letter in " ".join(text.split()))


def tikz_picture(
    graph: DirectedGraph,
    labels: Mapping[Edge, str] | None = None,
    negative: frozenset[Edge] = frozenset(),
) -> str:
    r"""The graph as a ``tikzpicture``; ``negative`` edges are dashed.

    Needs ``\usepackage{tikz}`` and ``\usetikzlibrary{arrows.meta}``.

    Examples
    --------
    >>> text = tikz_picture(DirectedGraph.from_edges([("a", "b")]), {("a", "b"): "0.5"})
    >>> text.count(r"\node") - text.count(r"node[cause]"), text.count(r"\draw")
    (3, 1)
    """
    layout = lay_out(graph)
    lines = [
        r"% \usepackage{tikz} \usetikzlibrary{arrows.meta}",
        rf"\begin{{tikzpicture}}[x={_UNIT}cm, y=-{_UNIT}cm,",
        r"  observed/.style={draw, rounded corners=3pt, fill=white, inner sep=3pt},",
        r"  group/.style={draw=black!30, fill=black!5, rounded corners=6pt},",
        r"  edge/.style={-{Stealth[length=5pt]}, semithick},",
        r"  weight/.style={fill=white, fill opacity=0.85, text opacity=1, inner sep=1pt,",
        r"    font=\scriptsize}]",
    ]
    for group in layout.groups:
        low, high = (group.left, group.top), (group.left + group.width, group.top + group.height)
        lines.append(rf"\draw[group] {_point(low)} rectangle {_point(high)};")
    lines += [_edge(edge, layout, edge in negative) for edge in graph.edges]
    for number, name in enumerate(graph.names):
        size = f"minimum width={layout.widths[name] * _UNIT:.2f}cm, minimum height={_UNIT}cm"
        place = _point(layout.positions[name])
        lines.append(rf"\node[observed, {size}] (v{number}) at {place} {{{latex_text(name)}}};")
    written = list((labels or {}).items())
    places = label_places(layout, written, _LABEL_SIZE)
    for (_, words), middle in zip(written, places, strict=True):
        sign = re.sub("^[-−]", "$-$", words)
        lines.append(rf"\node[weight] at {_point(middle)} {{{sign}}};")
    return "\n".join([*lines, r"\end{tikzpicture}"]) + "\n"


def _edge(edge: Edge, layout: Layout, is_negative: bool) -> str:
    route = layout.routes[edge]
    curves = [
        f" .. controls {_point(route[n])} and {_point(route[n + 1])} .. {_point(route[n + 2])}"
        for n in range(1, len(route), 3)
    ]
    style = "edge, dashed" if is_negative else "edge"
    return rf"\draw[{style}] {_point(route[0])}{''.join(curves)};"


def _point(place: Iterable[float]) -> str:
    x, y = place
    return f"({x:.2f},{y:.2f})"
