"""Graph files: JSON, DOT, Tetrad's text form and edge lists.

The form is told from the text itself, so any file name will do.

- JSON: ``{"nodes": ["a", "b"], "edges": [["a", "b"]]}``
- DOT: ``digraph { a -> b; }``
- Tetrad: ``Graph Nodes:``, names on the next line, ``Graph Edges:``, lines ``1. a --> b``
- edge list: ``a -> b``, one a line; a line with one name is a node without edges
"""

from __future__ import annotations

import json
import re
import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

from cyclearn.errors import InputError
from cyclearn.graphs.directed_graph import DirectedGraph


def read_graph(path: str | Path) -> DirectedGraph:
    """Read a graph file in any of the four forms."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the graph file {path}: {_why(error)}") from None
    try:
        return parse_graph(text)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _why(error: OSError | UnicodeDecodeError) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else "it is not UTF-8 text"


def write_graph(graph: DirectedGraph, path: str | Path) -> None:
    """Write a graph as JSON, DOT (``.dot``, ``.gv``) or an edge list (``.txt``)."""
    suffix = Path(path).suffix.lower()
    if suffix in {".dot", ".gv"}:
        text = graph.to_dot()
    elif suffix == ".txt":
        text = edge_list(graph)
    else:
        text = json.dumps(graph.to_dict(), ensure_ascii=False) + "\n"
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write the graph file {path}: {error.strerror}") from None


def edge_list(graph: DirectedGraph) -> str:
    """The graph as lines ``a -> b``; nodes stand alone first, so that their order is kept."""
    lines = [*graph.names, *(f"{a} -> {b}" for a, b in graph.edges)]
    return "".join(line + "\n" for line in lines)


def parse_graph(text: str) -> DirectedGraph:
    r"""Graph from a text in any of the four forms.

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
    if re.match(r"(//|/\*|strict\b|digraph\b|graph\s*(\w+\s*|\"[^\"]*\"\s*)?\{)", stripped):
        return _parse_dot(stripped)
    if stripped.startswith("Graph Nodes:"):
        return _parse_tetrad(stripped)
    return _parse_edge_list(stripped)


def _parse_json(text: str) -> DirectedGraph:
    try:
        return DirectedGraph.from_dict(json.loads(text))
    except json.JSONDecodeError as error:
        raise InputError(f"not valid JSON: {error}") from None


def _parse_dot(text: str) -> DirectedGraph:
    import pydot
    from pyparsing.exceptions import ParseBaseException

    try:
        with warnings.catch_warnings():
            # Deprecations between the parser's own libraries are not the reader's concern.
            warnings.simplefilter("ignore", DeprecationWarning)
            graphs = pydot.graph_from_dot_data(text)
    except ParseBaseException as error:
        raise InputError(f"not valid DOT: {error}") from None
    if not graphs:
        raise InputError("not valid DOT")
    if graphs[0].get_type() != "digraph":
        raise InputError("the DOT graph is undirected; write digraph and ->")
    names: dict[str, None] = {}
    edges: list[tuple[str, str]] = []

    def unquoted(name: Any) -> str:
        raw = str(name)
        if raw.startswith('"') and raw.endswith('"'):
            return re.sub(r"\\(.)", r"\1", raw[1:-1])
        # A port, as in a:n, is part of the drawing, not of the name.
        return raw.split(":", 1)[0]

    def ends_of(end: Any) -> list[str]:
        if isinstance(end, (str, int, float)):
            return [unquoted(end)]
        group = pydot.Subgraph(obj_dict=end) if isinstance(end, dict) else end
        return [unquoted(node.get_name()) for node in group.get_nodes()]

    def collect(graph: pydot.Graph) -> None:
        # Nodes, edges and subgraphs are kept apart; their sequence is the order of the text.
        items: list[Any] = [*graph.get_nodes(), *graph.get_edges(), *graph.get_subgraphs()]
        for item in sorted(items, key=lambda item: item.get_sequence() or 0):
            if isinstance(item, pydot.Subgraph):
                collect(item)
            elif isinstance(item, pydot.Edge):
                for source in ends_of(item.get_source()):
                    for target in ends_of(item.get_destination()):
                        names.update({source: None, target: None})
                        edges.append((source, target))
            elif item.get_name() not in {"node", "edge", "graph", '"\\n"', '"\\r\\n"'}:
                names.setdefault(unquoted(item.get_name()))

    collect(graphs[0])
    return DirectedGraph.from_edges(edges, list(names))


def _parse_tetrad(text: str) -> DirectedGraph:
    head, _, tail = text.partition("Graph Edges:")
    names = [n for n in re.split(r"[;,\s]+", head.removeprefix("Graph Nodes:").strip()) if n]
    edges = []
    for line in filter(None, map(str.strip, tail.splitlines())):
        if line.startswith("Graph "):
            break
        found = re.fullmatch(r"(?:\d+\.\s*)?(\S+)\s+(-->|<--)\s+(\S+)(?:\s.*)?", line)
        if not found:
            raise InputError(f"line {line!r} is not a directed edge such as '1. a --> b'")
        a, arrow, b = found.groups()
        edges.append((a, b) if arrow == "-->" else (b, a))
    return DirectedGraph.from_edges(edges, names)


def _parse_edge_list(text: str) -> DirectedGraph:
    names: dict[str, None] = {}
    edges = []
    for line in filter(None, (line.split("#", 1)[0].strip() for line in text.splitlines())):
        ends = [end.strip() for end in re.split(r"\s*-+>\s*", line)]
        if not all(ends) or any(re.search(r"[<>]|--|(^|\s)-|-$", end) for end in ends):
            raise InputError(f"line {line!r} is not an edge; write one edge a line, as in 'a -> b'")
        for end in ends:
            names.setdefault(end)
        edges += list(pairwise(ends))
    return DirectedGraph.from_edges(edges, list(names))
