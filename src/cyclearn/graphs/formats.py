"""Graph files: JSON, DOT, Tetrad's text form, edge lists and, to write only, GraphML.

The format is recognised from the text, so any file name is accepted.

- JSON: ``{"nodes": ["a", "b"], "edges": [["a", "b"]]}``
- DOT: ``digraph { a -> b; }``
- Tetrad: ``Graph Nodes:``, names on the next line, ``Graph Edges:``, lines ``1. a --> b``
- edge list: ``a -> b``, one per line; a line with one name is a node without edges; ``#`` at the
  start of a line or after a space begins a comment
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path

from cyclearn.foundation.errors import InputError
from cyclearn.foundation.files import check_path, checked_suffix, read_text, write_text
from cyclearn.foundation.json_input import load_json, short
from cyclearn.foundation.late_imports import nx
from cyclearn.graphs.directed_graph import DirectedGraph, Edge
from cyclearn.graphs.dot_format import is_dot, parse_dot
from cyclearn.graphs.graph_input import as_graph

_HEADING = re.compile(r"(?im)^graph nodes:")
# One blank on either side: more would be slow on long runs of blanks.
_TETRAD_ARROW = re.compile(r"\s(-->|<--)\s")
_NUMBER = re.compile(r"^\d+\.\s+")


def parse_tetrad(text: str) -> DirectedGraph:
    r"""Graph from Tetrad's text form.

    Examples
    --------
    >>> parse_tetrad("Graph Nodes:\nblood flow;b\n\nGraph Edges:\n1. blood flow --> b\n")
    DirectedGraph(2 nodes, 1 edges: blood flow -> b)
    """
    body = _HEADING.split(text, maxsplit=1)[-1]
    head, *tail = re.split(r"(?im)^graph edges:", body, maxsplit=1)
    # With another separator, names may contain spaces.
    separator = r"[;,\n]" if re.search("[;,]", head) else r"\s"
    names = [name for name in map(str.strip, re.split(separator, head)) if name]
    ends = _Names(names)
    edges: list[tuple[str, str]] = []
    for line in filter(None, map(str.strip, "".join(tail).splitlines())):
        arrow = _TETRAD_ARROW.search(line)
        if not arrow:
            # A heading such as "Ambiguous triples:", not an edge.
            if ":" in line and re.search(r"\s[<o-]-[>o-]\s", line) is None:
                break
            raise InputError(f"line {short(line)} is not a directed edge such as '1. a --> b'")
        a = _NUMBER.sub("", line[: arrow.start()].rstrip())
        b = ends.leading(line[arrow.end() :].lstrip())
        edges.append((a, b) if arrow[1] == "-->" else (b, a))
    return DirectedGraph.from_edges(edges, names)


class _Names:
    """The names of the nodes, and their lengths in descending order."""

    def __init__(self, names: list[str]) -> None:
        self._names = set(names)
        self._lengths = sorted({len(name) for name in names}, reverse=True)

    def leading(self, text: str) -> str:
        """The end of an edge, without attributes (``pd nl``) that may follow."""
        for n in self._lengths:
            is_whole = n == len(text) or (n < len(text) and text[n].isspace())
            if is_whole and text[:n] in self._names:
                return text[:n]
        return text.split(maxsplit=1)[0]


def networkx_graph(
    graph: DirectedGraph, attributes: Mapping[Edge, Mapping[str, object]] | None = None
) -> nx.DiGraph:
    """The graph as a networkx ``DiGraph``, with attributes of its edges.

    Examples
    --------
    >>> g = DirectedGraph.from_edges([("a", "b")])
    >>> networkx_graph(g, {("a", "b"): {"weight": 0.5}}).edges["a", "b"]
    {'weight': 0.5}
    """
    drawn = graph.to_networkx()
    for edge, values in (attributes or {}).items():
        drawn.edges[edge].update(values)
    return drawn


def graphml_text(
    graph: DirectedGraph, attributes: Mapping[Edge, Mapping[str, object]] | None = None
) -> str:
    """The graph in GraphML, for Gephi, yEd, Cytoscape, igraph and networkx."""
    for name in graph.names:
        if any(ord(letter) < 32 and letter not in "\t\n\r" for letter in name):
            raise InputError(f"GraphML cannot represent the name {name!r}; write .json or .dot")
    named = networkx_graph(graph, attributes)
    # igraph and Cytoscape read names from here; igraph changes ampersands in identifiers.
    nx.set_node_attributes(named, {name: name for name in graph.names}, "name")
    return "\n".join(nx.generate_graphml(named)) + "\n"


def tetrad_text(graph: DirectedGraph) -> str:
    """The graph in the text form that Tetrad, py-tetrad and causal-learn read.

    Raises InputError for names that these would misread: names with a blank, which ends a name, or
    in brackets, which mark hidden and selected variables.

    Examples
    --------
    >>> print(tetrad_text(DirectedGraph.from_edges([("a", "b"), ("b", "a")])))
    Graph Nodes:
    a;b
    <BLANKLINE>
    Graph Edges:
    1. a --> b
    2. b --> a
    <BLANKLINE>
    """
    for name in graph.names:
        if re.search(r"\s", name) or re.fullmatch(r"\(.*\)|\[.*\]", name):
            raise InputError(
                f"the Tetrad format cannot represent the name {name!r}: Tetrad ends a name at a "
                "blank and takes brackets for hidden variables; rename it, or write .json or .dot"
            )
    edges = [f"{n}. {a} --> {b}\n" for n, (a, b) in enumerate(graph.edges, 1)]
    return f"Graph Nodes:\n{';'.join(graph.names)}\n\nGraph Edges:\n{''.join(edges)}"


# Match from the first dash of an arrow, so that long runs of dashes are examined once.
_ARROW = re.compile(r"(?<!-)-+>")


def read_graph(path: str | Path) -> DirectedGraph:
    """Read a graph file: JSON, DOT, Tetrad's text form, or an edge list of lines ``a -> b``.

    The format is recognised from the text, not from the file name.
    """
    text = read_text(path, "graph file")
    try:
        return parse_graph(text)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def write_graph(graph: DirectedGraph, path: str | Path) -> None:
    """Write a graph as JSON, DOT (``.dot``, ``.gv``), edge list (``.txt``), Tetrad or GraphML.

    The suffix determines the format (``.tetrad``, ``.graphml``); without a suffix it is JSON.
    Raises InputError for any other suffix, and for a name that the format cannot represent. An
    existing file is kept until the new one is complete.
    """
    graph = as_graph(graph)
    check_path(path)
    suffix = checked_suffix(path, _WRITERS, "a graph") if Path(path).suffix else ".json"
    write_text(path, _WRITERS[suffix](graph))


def checked_text(graph: DirectedGraph, write: Callable[[DirectedGraph], str], form: str) -> str:
    """The graph in a format, if it can be read back unchanged; otherwise an InputError."""
    text = write(graph)
    if _reads_back(text, graph):
        return text
    remedy = "write .json" if form == "DOT" else "write .json or .dot"
    if not graph.names:
        raise InputError(f"the {form} format cannot represent a graph without nodes; {remedy}")
    # Report a name that fails alone; some fail only next to others.
    culprit = next((n for n in graph.names if not _survives(n, write)), graph.names[0])
    raise InputError(f"the {form} format cannot represent the name {culprit!r}; {remedy}")


def _reads_back(text: str, graph: DirectedGraph) -> bool:
    try:
        # A reader would treat a byte order mark at the start as that of the file, not as a name.
        return parse_graph(text.removeprefix("\ufeff")) == graph
    except InputError:
        return False


def _survives(name: str, write: Callable[[DirectedGraph], str]) -> bool:
    pair = DirectedGraph.from_edges([(name, name + "x")])
    return _reads_back(write(pair), pair)


def edge_list(graph: DirectedGraph) -> str:
    """The graph as lines ``a -> b``; nodes come first, one per line, to keep their order."""
    lines = [*graph.names, *(f"{a} -> {b}" for a, b in graph.edges)]
    return "".join(line + "\n" for line in lines)


def parse_graph(text: str) -> DirectedGraph:
    r"""Graph from a text in any of the four formats.

    Examples
    --------
    >>> parse_graph("a -> b\nb -> a\nc\n")
    DirectedGraph(3 nodes, 2 edges: a -> b, b -> a)
    """
    stripped = text.strip()
    if not stripped:
        raise InputError("the graph is empty")
    if stripped[0] in "{[":
        return _parse_json(stripped)
    if is_dot(stripped):
        return parse_dot(stripped)
    if _HEADING.search(stripped):
        return parse_tetrad(stripped)
    return _parse_edge_list(stripped)


def _parse_json(text: str) -> DirectedGraph:
    record = load_json(text, "the graph")
    if isinstance(record, dict) and "nodes" not in record and "graph" in record:
        # Output of learn and simulate: the graph with additional fields.
        record = record["graph"]
    return DirectedGraph.from_dict(record)


def _parse_edge_list(text: str) -> DirectedGraph:
    names: dict[str, None] = {}
    edges: list[tuple[str, str]] = []
    lines = [re.sub(r"(^|\s)#.*", "", line).strip() for line in text.splitlines()]
    lines = [line for line in lines if line]
    if not any("->" in line for line in lines):
        for line in lines:
            if re.search(r"[\s,()\[\]{}<>]", line):
                raise InputError(
                    f"line {short(line)} is not a node or an edge; a graph file is "
                    "JSON, DOT, Tetrad's format or one edge per line, as in 'a -> b'"
                )
    for line in lines:
        ends = [end.strip() for end in _ARROW.split(line)]
        if not all(ends) or any(re.search(r"[<>;,{}→]|--|(^|\s)-|-$", end) for end in ends):
            raise InputError(
                f"line {short(line)} is not an edge; write one edge per line, as in 'a -> b', "
                "with names free of ; , { } < > and arrows"
            )
        for end in ends:
            names.setdefault(end)
        edges += pairwise(ends)
    return DirectedGraph.from_edges(edges, list(names))


_WRITERS: dict[str, Callable[[DirectedGraph], str]] = {
    ".json": lambda graph: json.dumps(graph.to_dict(), ensure_ascii=False) + "\n",
    ".dot": lambda graph: checked_text(graph, DirectedGraph.to_dot, "DOT"),
    ".gv": lambda graph: checked_text(graph, DirectedGraph.to_dot, "DOT"),
    ".txt": lambda graph: checked_text(graph, edge_list, "edge-list"),
    ".tetrad": lambda graph: checked_text(graph, tetrad_text, "Tetrad"),
    ".graphml": graphml_text,
}
