"""Graph files: JSON, DOT, Tetrad's text form and edge lists.

The form is told from the text itself, so any file name will do.

- JSON: ``{"nodes": ["a", "b"], "edges": [["a", "b"]]}``
- DOT: ``digraph { a -> b; }``
- Tetrad: ``Graph Nodes:``, names on the next line, ``Graph Edges:``, lines ``1. a --> b``
- edge list: ``a -> b``, one a line; a line with one name is a node without edges; ``#`` at the
  start of a line or after a space begins a comment
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from cyclearn.foundation.errors import InputError
from cyclearn.foundation.files import check_path, checked_suffix, read_text, write_text
from cyclearn.foundation.json_input import load_json, short
from cyclearn.graphs.directed_graph import DirectedGraph
from cyclearn.graphs.dot_format import is_dot, parse_dot
from cyclearn.graphs.graph_input import checked_graph
from cyclearn.graphs.interchange import graphml_text, tetrad_text
from cyclearn.graphs.tetrad_format import is_tetrad, parse_tetrad

# From the first dash of an arrow on, so that a long run of dashes is looked at once.
_ARROW = re.compile(r"(?<!-)-+>")


def read_graph(path: str | Path) -> DirectedGraph:
    """Read a graph file: JSON, DOT, Tetrad's text form, or an edge list of lines ``a -> b``.

    The form is told by the text, not by the name of the file.
    """
    text = read_text(path, "graph file")
    try:
        return parse_graph(text)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def write_graph(graph: DirectedGraph, path: str | Path) -> None:
    """Write a graph as JSON, DOT (``.dot``, ``.gv``), edge list (``.txt``), Tetrad or GraphML.

    The suffix decides (``.tetrad``, ``.graphml``); a file without one is JSON. Raises InputError
    for any other suffix, and where the form cannot hold a name so that it reads back as it was.
    What stood there stays until the new file is whole.
    """
    graph = checked_graph(graph)
    check_path(path)
    suffix = checked_suffix(path, _WRITERS, "a graph") if Path(path).suffix else ".json"
    write_text(path, _WRITERS[suffix](graph))


def checked_text(graph: DirectedGraph, write: Callable[[DirectedGraph], str], form: str) -> str:
    """The graph in a form, if it reads back as it was; InputError names what cannot be held."""
    text = write(graph)
    if _reads_back(text, graph):
        return text
    remedy = "write .json" if form == "DOT" else "write .json or .dot"
    if not graph.names:
        raise InputError(f"the {form} form cannot hold a graph without nodes; {remedy}")
    # A name that fails alone is the one to show; some fail only next to others.
    culprit = next((n for n in graph.names if not _survives(n, write)), graph.names[0])
    raise InputError(f"the {form} form cannot hold the name {culprit!r}; {remedy}")


def _reads_back(text: str, graph: DirectedGraph) -> bool:
    try:
        # A reader takes a byte order mark at the start for the mark of the file, not for a name.
        return parse_graph(text.removeprefix("\ufeff")) == graph
    except InputError:
        return False


def _survives(name: str, write: Callable[[DirectedGraph], str]) -> bool:
    pair = DirectedGraph.from_edges([(name, name + "x")])
    return _reads_back(write(pair), pair)


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
    if is_dot(stripped):
        return parse_dot(stripped)
    if is_tetrad(stripped):
        return parse_tetrad(stripped)
    return _parse_edge_list(stripped)


def _parse_json(text: str) -> DirectedGraph:
    record = load_json(text, "the graph")
    if isinstance(record, dict) and "nodes" not in record and "graph" in record:
        # What learn and simulate write: the graph with more beside it.
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
                    f"line {short(line)} is no node and there is no edge; a graph file is "
                    "JSON, DOT, Tetrad's form or one edge a line, as in 'a -> b'"
                )
    for line in lines:
        ends = [end.strip() for end in _ARROW.split(line)]
        if not all(ends) or any(re.search(r"[<>;,{}→]|--|(^|\s)-|-$", end) for end in ends):
            raise InputError(
                f"line {short(line)} is not an edge; write one edge a line, as in 'a -> b', "
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
