"""A graph in the forms of other programs: Tetrad's text form, GraphML, networkx with attributes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from cyclearn.foundation.errors import InputError
from cyclearn.graphs.directed_graph import DirectedGraph, Edge

if TYPE_CHECKING:
    import networkx as nx


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
    import networkx as nx

    for name in graph.names:
        if any(ord(letter) < 32 and letter not in "\t\n\r" for letter in name):
            raise InputError(f"GraphML cannot hold the name {name!r}; write .json or .dot")
    named = networkx_graph(graph, attributes)
    # Where igraph and Cytoscape look for names; igraph changes an ampersand in an identifier.
    nx.set_node_attributes(named, {name: name for name in graph.names}, "name")
    return "\n".join(nx.generate_graphml(named)) + "\n"


def tetrad_text(graph: DirectedGraph) -> str:
    """The graph in the text form that Tetrad, py-tetrad and causal-learn read.

    Raises InputError for names that these would take for something else: with a blank, which ends
    a name, or in brackets, which mark hidden and selected variables.

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
                f"the Tetrad form cannot hold the name {name!r}: Tetrad ends a name at a blank and "
                "takes brackets for a mark of hidden variables; rename it, or write .json or .dot"
            )
    edges = [f"{n}. {a} --> {b}\n" for n, (a, b) in enumerate(graph.edges, 1)]
    return f"Graph Nodes:\n{';'.join(graph.names)}\n\nGraph Edges:\n{''.join(edges)}"
