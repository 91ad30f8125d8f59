"""d-separation in directed graphs, cycles included, and pairs that no set separates.

Internal functions work on the columns of a graph: ``columns[j]`` is the bit set {j} ∪ parents(j).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from cyclearn.foundation.errors import InputError
from cyclearn.graphs.bitsets import ancestor_sets, bits, reached
from cyclearn.graphs.directed_graph import DirectedGraph, Edge, Node
from cyclearn.graphs.graph_input import as_graph

Nodes = Node | Iterable[Node]


def d_separated(graph: DirectedGraph, x: Nodes, y: Nodes, given: Nodes = ()) -> bool:
    """Whether ``given`` d-separates ``x`` from ``y``; the graph may have cycles.

    Decided by separation in the moral graph of the ancestors of x ∪ y ∪ given, which agrees with
    the definition by paths in every directed graph.

    Parameters
    ----------
    graph : DirectedGraph
    x, y : node or collection of nodes
        Nodes by name or by index; neither collection is empty.
    given : node or collection of nodes, optional
        The separating set; empty by default. The three collections are disjoint.

    Returns
    -------
    bool

    Raises
    ------
    InputError
        If a node is unknown, ``x`` or ``y`` is empty, or two of the collections overlap.

    References
    ----------
    P. Spirtes (1995), "Directed cyclic graphical representations of feedback models".

    Examples
    --------
    >>> g = DirectedGraph.from_edges([("a", "b"), ("b", "c"), ("c", "b"), ("d", "c")])
    >>> d_separated(g, "a", "d")
    True
    >>> d_separated(g, "a", "d", given="b"), d_separated(g, "a", "d", given=["b", "c"])
    (False, True)
    """
    graph = as_graph(graph)
    sets = {"x": _node_set(graph, x), "y": _node_set(graph, y), "given": _node_set(graph, given)}
    for role in ("x", "y"):
        if not sets[role]:
            raise InputError(f"{role} is empty; name at least one node on each side")
    for first, second in (("x", "y"), ("x", "given"), ("y", "given")):
        if common := sets[first] & sets[second]:
            names = ", ".join(graph.names[v] for v in bits(common))
            raise InputError(
                f"{first} and {second} share {names}; the three sets must be disjoint: remove "
                "the shared nodes from one of them"
            )
    return columns_d_separated(graph.columns, sets["x"], sets["y"], sets["given"])


def virtual_edges(graph: DirectedGraph) -> tuple[Edge, ...]:
    """Pairs of non-adjacent nodes that no set d-separates.

    These are the pairs with a common child that is an ancestor of one of them. An acyclic graph
    has none.

    Parameters
    ----------
    graph : DirectedGraph

    Returns
    -------
    tuple of pairs of str
        Each pair once, both the pairs and the two names in the order of the nodes.

    References
    ----------
    T. Richardson (1997), "A characterization of Markov equivalence for directed cyclic graphs".

    Examples
    --------
    >>> g = DirectedGraph.from_edges([("a", "b"), ("b", "c"), ("c", "b")])
    >>> virtual_edges(g)
    (('a', 'c'),)
    """
    graph = as_graph(graph)
    columns, names = graph.columns, graph.names
    partners = p_adjacencies(columns, ancestor_sets(columns))
    return tuple(
        (names[a], names[b])
        for a, nodes in enumerate(partners)
        for b in bits(nodes >> a << a)
        if not (columns[a] >> b | columns[b] >> a) & 1
    )


def columns_d_separated(columns: Sequence[int], x: int, y: int, given: int) -> bool:
    """Whether the set ``given`` d-separates the sets ``x`` and ``y``, all as bit sets."""
    # The moral graph of the ancestors is the union of the cliques columns[c], c an ancestor, so
    # so growing along whole columns searches it without building it.
    waiting = [columns[c] for c in bits(reached(columns, x | y | given))]
    joined, grew = x, True
    while grew:
        grew = False
        later = []
        for clique in waiting:
            if clique & joined:
                joined |= clique & ~given
                grew = True
            else:
                later.append(clique)
        if joined & y:
            return False
        waiting = later
    return True


def p_adjacencies(columns: Sequence[int], ancestors: Sequence[int]) -> tuple[int, ...]:
    """For each node, the set of nodes that no set d-separates from it (Richardson 1997).

    Two nodes are p-adjacent if they are adjacent or have a common child that is an ancestor of
    one of them.
    """
    partners = [0] * len(columns)
    for child, column in enumerate(columns):
        # Nodes of the column that are descendants of the child. The child is one of them, so
        # that edges and common children are one case.
        below = sum(1 << a for a in bits(column) if ancestors[a] >> child & 1)
        for a in bits(column):
            partners[a] |= column if below >> a & 1 else below
    return tuple(nodes & ~(1 << a) for a, nodes in enumerate(partners))


def _node_set(graph: DirectedGraph, nodes: Nodes) -> int:
    if isinstance(nodes, (str, int, np.integer)):
        return 1 << graph.index(nodes)
    if not isinstance(nodes, Iterable):
        raise InputError(f"{nodes!r} is neither a node nor a collection of nodes")
    members = 0
    for node in nodes:
        members |= 1 << graph.index(node)
    return members
