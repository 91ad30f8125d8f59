"""A graph with a layout as a TikZ picture, in the fonts of the paper."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from cyclearn.drawing.label_places import label_places
from cyclearn.drawing.layout import Layout, lay_out
from cyclearn.graphs import DirectedGraph
from cyclearn.graphs.directed_graph import Edge

# Size of one unit of a layout, in centimetres.
_UNIT = 0.75
# Font size of labels, in these units.
_LABEL_SIZE = 0.35
_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    # The usual fonts of LaTeX have other characters at these positions.
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    # After a line break these two characters would start an option.
    "[": "{[}",
    "*": "{*}",
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
}
# Characters that form ligatures, such as -- for a dash. Braces are not enough for LuaTeX.
_LIGATURES = re.compile("(?<=([-'`,]))(?=\\1)")
# pdfLaTeX can typeset the characters up to here, except for some that names do not need.
_LAST_LATIN = 0x17F


def latex_text(text: str) -> str:
    r"""Escape text for LaTeX.

    Examples
    --------
    >>> latex_text("p_53 & 5%")
    'p\\_53 \\& 5\\%'
    """
    printable = filter(str.isprintable, " ".join(text.split()))
    escaped = "".join(_SPECIAL.get(letter, letter) for letter in printable)
    return _LIGATURES.sub(lambda _: r"\mbox{}", escaped)


# Weights on more edges would overlap, and take long to place.
_MOST_LABELS = 150


def needed_packages(packages: str, names: Iterable[str]) -> str:
    """A comment with the LaTeX packages that a picture or a table needs."""
    if any(ord(letter) > _LAST_LATIN for name in names for letter in name):
        packages += "; LuaLaTeX or XeLaTeX, and a font with the letters of the names"
    return f"% {packages}"


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
    >>> text.count(r"\node[measured node"), text.count(r"\draw[causal edge")
    (2, 1)
    """
    layout = lay_out(graph)
    lines = [
        needed_packages(r"\usepackage{tikz} \usetikzlibrary{arrows.meta}", graph.names),
        rf"\begin{{tikzpicture}}[x={_UNIT}cm, y=-{_UNIT}cm,",
        # Plain words such as "variable" are keys of TikZ.
        r"  measured node/.style={draw, rounded corners=3pt, fill=white, inner sep=3pt},",
        r"  feedback box/.style={draw=black!30, fill=black!5, rounded corners=6pt},",
        r"  causal edge/.style={-{Stealth[length=5pt]}, semithick},",
        r"  edge weight/.style={fill=white, fill opacity=0.85, text opacity=1, inner sep=1pt,",
        r"    font=\scriptsize}]",
    ]
    for group in layout.groups:
        low, high = (group.left, group.top), (group.left + group.width, group.top + group.height)
        lines.append(rf"\draw[feedback box] {_point(low)} rectangle {_point(high)};")
    lines += [_edge(edge, layout, edge in negative) for edge in graph.edges]
    for number, name in enumerate(graph.names):
        size = f"minimum width={layout.widths[name] * _UNIT:.2f}cm, minimum height={_UNIT}cm"
        place = _point(layout.positions[name])
        node = rf"\node[measured node, {size}] (v{number})"
        lines.append(rf"{node} at {place} {{{latex_text(name)}}};")
    written = list((labels or {}).items())
    if len(written) > _MOST_LABELS:
        lines.insert(1, f"% weights are left out: they would cover {len(written)} edges")
        written = []
    places = label_places(layout, written, _LABEL_SIZE)
    for (_, words), middle in zip(written, places, strict=True):
        sign = re.sub("^[-−]", "$-$", words)
        lines.append(rf"\node[edge weight] at {_point(middle)} {{{sign}}};")
    return "\n".join([*lines, r"\end{tikzpicture}"]) + "\n"


def _edge(edge: Edge, layout: Layout, is_negative: bool) -> str:
    route = layout.routes[edge]
    curves = [
        f" .. controls {_point(route[n])} and {_point(route[n + 1])} .. {_point(route[n + 2])}"
        for n in range(1, len(route), 3)
    ]
    style = "causal edge, dashed" if is_negative else "causal edge"
    return rf"\draw[{style}] {_point(route[0])}{''.join(curves)};"


def _point(place: Iterable[float]) -> str:
    x, y = place
    return f"({x:.2f},{y:.2f})"
