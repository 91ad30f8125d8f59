"""Reading the text form in which Tetrad saves graphs."""

from __future__ import annotations

import re

from cyclearn.foundation.errors import InputError
from cyclearn.foundation.json_input import short
from cyclearn.graphs.directed_graph import DirectedGraph

_HEADING = re.compile(r"(?im)^graph nodes:")
# One blank on either side: more would be tried at every blank of a long run of them.
_ARROW = re.compile(r"\s(-->|<--)\s")
_NUMBER = re.compile(r"^\d+\.\s+")


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
    ends = _Names(names)
    edges: list[tuple[str, str]] = []
    for line in filter(None, map(str.strip, "".join(tail).splitlines())):
        arrow = _ARROW.search(line)
        if not arrow:
            if _begins_a_section(line):
                break
            raise InputError(f"line {short(line)} is not a directed edge such as '1. a --> b'")
        a = _NUMBER.sub("", line[: arrow.start()].rstrip())
        b = ends.leading(line[arrow.end() :].lstrip())
        edges.append((a, b) if arrow[1] == "-->" else (b, a))
    return DirectedGraph.from_edges(edges, names)


def _begins_a_section(line: str) -> bool:
    """Whether a line is a heading such as ``Ambiguous triples:``, not an edge of another kind."""
    return ":" in line and re.search(r"\s[<o-]-[>o-]\s", line) is None


class _Names:
    """The names of the nodes, and their lengths from the longest on."""

    def __init__(self, names: list[str]) -> None:
        self._names = set(names)
        self._lengths = sorted({len(name) for name in names}, reverse=True)

    def leading(self, text: str) -> str:
        """The end of an edge, without the attributes (``pd nl``) that may follow it."""
        for n in self._lengths:
            is_whole = n == len(text) or (n < len(text) and text[n].isspace())
            if is_whole and text[:n] in self._names:
                return text[:n]
        return text.split(maxsplit=1)[0]
