"""Reading the text form in which Tetrad saves graphs."""

from __future__ import annotations

import re

from cyclearn.errors import InputError
from cyclearn.graphs.directed_graph import DirectedGraph

_HEADING = re.compile(r"(?im)^graph nodes:")


def is_tetrad(text: str) -> bool:
    """Whether a text has the heading of Tetrad's form, possibly after other lines."""
    return _HEADING.search(text) is not None


def parse_tetrad(text: str) -> DirectedGraph:
    r"""Graph from Tetrad's text form.

    Examples
    --------
    >>> parse_tetrad("Graph Nodes:\nblood flow;b\n\nGraph Edges:\n1. blood flow --> b\n")
    DirectedGraph(2 nodes, 1 edges: blood flow -> b)
    """
    body = _HEADING.split(text, maxsplit=1)[-1]
    head, *tail = re.split(r"(?im)^graph edges:", body, maxsplit=1)
    # A separator other than the space leaves the space to the names.
    separator = r"[;,\n]" if re.search("[;,]", head) else r"\s"
    names = [name for name in map(str.strip, re.split(separator, head)) if name]
    edges: list[tuple[str, str]] = []
    for line in filter(None, map(str.strip, "".join(tail).splitlines())):
        found = re.fullmatch(r"(?:\d+\.\s+)?(\S.*?)\s+(-->|<--)\s+(\S.*)", line)
        if not found:
            if _begins_a_section(line):
                break
            raise InputError(f"line {line!r} is not a directed edge such as '1. a --> b'")
        a, arrow, rest = found.groups()
        b = _leading_name(rest, names)
        edges.append((a, b) if arrow == "-->" else (b, a))
    return DirectedGraph.from_edges(edges, names)


def _begins_a_section(line: str) -> bool:
    """Whether a line is a heading such as ``Ambiguous triples:``, not an edge of another kind."""
    return ":" in line and re.search(r"\s[<o-]-[>o-]\s", line) is None


def _leading_name(text: str, names: list[str]) -> str:
    """The end of an edge, without the attributes (``pd nl``) that may follow it."""
    fitting = [n for n in names if text == n or (text.startswith(n) and text[len(n)].isspace())]
    return max(fitting, key=len, default=text.split(maxsplit=1)[0])
