"""Positions of nodes and routes of edges, for any drawing backend.

The unit is the height of a node; x grows to the right and y downwards, as in SVG. Feedback loops
are drawn as rings, causes above effects. Nothing is random, so a graph always looks the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import networkx as nx
import numpy as np

from cyclearn.drawing.layers import Bends, PlacedGroup, place_blocks
from cyclearn.drawing.rings import ring
from cyclearn.drawing.routes import Frame, Router
from cyclearn.foundation.arrays import FloatArray
from cyclearn.foundation.errors import InputError
from cyclearn.graphs.directed_graph import DirectedGraph, Edge

NODE_HEIGHT = 1.0
# A label has a font size of half the height of a node, with characters of about this width.
FONT_SIZE = 0.5
_CHARACTER = 0.31
_MIN_WIDTH = 1.3
_MAX_LABEL = 18
_MARGIN = 0.6
_GROUP_PADDING = 0.45
# Maximum number of edges in a readable picture.
_LEGIBLE = 60
# Maximum number of layers that all edges together may pass through.
_MOST_PASSED = 3_000


@dataclass(frozen=True)
class Group:
    """A strongly connected component of more than one node and the rectangle around it."""

    nodes: tuple[str, ...]
    left: float
    top: float
    width: float
    height: float


@dataclass(frozen=True, eq=False)
class Layout:
    """A drawing of a graph in numbers.

    Attributes
    ----------
    positions : mapping from node to (x, y)
        Centres of the nodes.
    widths : mapping from node to float
        Nodes are rectangles of height one, rounded off, wide enough for their labels.
    labels : mapping from node to str
        Names, the long ones shortened with an ellipsis.
    routes : mapping from edge to array of shape (3k + 1, 2)
        A chain of k cubic Bézier curves, from the border of the source to that of the target: an
        end point, then two control points and an end point for each curve. The two edges of a
        2-cycle run apart.
    groups : tuple of Group
        Strongly connected components of more than one node.
    width, height : float
        The size of the drawing, which starts at zero.
    """

    positions: Mapping[str, tuple[float, float]]
    widths: Mapping[str, float]
    labels: Mapping[str, str]
    routes: Mapping[Edge, FloatArray]
    groups: tuple[Group, ...]
    width: float
    height: float


def lay_out(graph: DirectedGraph, also: Iterable[Edge] = ()) -> Layout:
    """Positions of the nodes and routes of the edges.

    Every strongly connected component is a ring. These, and single nodes, form layers, each
    below its causes; the order within the layers minimises crossings. Edges bend around other
    nodes. If there are too many edges to follow (:func:`is_thicket`), the nodes are on a circle,
    causes before effects clockwise from the top.

    Parameters
    ----------
    graph : DirectedGraph
    also : pairs of str
        Further pairs of nodes to route, without influence on positions; for drawing several graphs
        on the same nodes.

    Returns
    -------
    Layout

    Examples
    --------
    >>> g = DirectedGraph.from_edges([("a", "b"), ("b", "c"), ("c", "b")])
    >>> layout = lay_out(g)
    >>> layout.positions["a"][1] < layout.positions["b"][1]
    True
    >>> [group.nodes for group in layout.groups]
    [('b', 'c')]
    """
    labels = {name: _shortened(name) for name in graph.names}
    widths = np.array([max(_MIN_WIDTH, _CHARACTER * len(label) + 0.7) for label in labels.values()])
    edges = np.argwhere(graph.adjacency).tolist()
    is_circle = is_thicket(graph)
    bends: Bends = {}
    if is_circle:
        centres = _circle(graph, widths)
    else:
        blocks = [_block(graph, nodes, widths) for nodes in graph.component_indices]
        centres, bends = place_blocks(blocks, edges)
    pairs = dict.fromkeys((i, j) for i, j in edges)
    for a, b in also:
        i, j = graph.index(a), graph.index(b)
        if i == j:
            raise InputError(f"the pair ({a!r}, {b!r}) has no route: an edge joins two nodes")
        pairs[i, j] = None
    frames = [
        (nodes, *_frame(centres[list(nodes)], widths[list(nodes)]))
        for nodes in graph.component_indices
        if len(nodes) > 1 and not is_circle
    ]
    curves = Router(centres, widths, frames, list(pairs), bends, len(edges)).routes()
    low, high = _extent(centres, widths, list(curves.values()), frames)
    shift, size = _MARGIN - low, high - low + 2 * _MARGIN
    names = graph.names
    return Layout(
        positions={
            name: (float(x), float(y)) for name, (x, y) in zip(names, centres + shift, strict=True)
        },
        widths=dict(zip(names, widths.tolist(), strict=True)),
        labels=labels,
        routes={(names[i], names[j]): curve + shift for (i, j), curve in curves.items()},
        groups=tuple(
            Group(
                tuple(names[v] for v in nodes),
                *(float(value) for value in (*(low + shift), *(high - low))),
            )
            for nodes, low, high in frames
        ),
        width=float(size[0]),
        height=float(size[1]),
    )


def backbone(graph: DirectedGraph, strength: FloatArray) -> DirectedGraph:
    """The graph with only its strongest edges, as many as a picture can show.

    Examples
    --------
    >>> g = DirectedGraph.from_edges([("a", "b"), ("b", "c")])
    >>> backbone(g, np.ones((3, 3))) == g
    True
    """
    if graph.n_edges <= _LEGIBLE:
        return graph
    size = {
        edge: abs(float(strength[graph.index(edge[0]), graph.index(edge[1])]))
        for edge in graph.edges
    }
    # The sort is stable, and edges are in the order of the columns.
    strongest = sorted(graph.edges, key=lambda edge: -round(size[edge], 6))
    return DirectedGraph.from_edges(strongest[:_LEGIBLE], graph.names)


def is_thicket(graph: DirectedGraph) -> bool:
    """Whether edges pass through too many layers for a readable layered picture.

    Examples
    --------
    >>> is_thicket(DirectedGraph.from_edges([("a", "b"), ("b", "c"), ("a", "c")]))
    False
    """
    block = {v: n for n, nodes in enumerate(graph.component_indices) for v in nodes}
    links = [(block[i], block[j]) for i, j in np.argwhere(graph.adjacency).tolist()]
    between = nx.DiGraph((a, b) for a, b in links if a != b)
    rank = {b: n for n, blocks in enumerate(nx.topological_generations(between)) for b in blocks}
    return sum(rank[b] - rank[a] - 1 for a, b in links if a != b) > _MOST_PASSED


def _circle(graph: DirectedGraph, widths: FloatArray) -> FloatArray:
    """Centres on an ellipse large enough that nodes do not touch."""
    order = [v for nodes in graph.component_indices for v in nodes]
    n = len(order)
    turn = 2 * np.pi * np.arange(n) / n
    across = n * (float(widths.max()) + NODE_HEIGHT) / (2 * np.pi)
    centres = np.empty((n, 2))
    centres[order] = np.column_stack([across * np.sin(turn), -0.75 * across * np.cos(turn)])
    return centres


def _shortened(name: str) -> str:
    line = " ".join(name.split())
    return line if len(line) <= _MAX_LABEL else line[: _MAX_LABEL - 1] + "…"


def _block(graph: DirectedGraph, nodes: tuple[int, ...], widths: FloatArray) -> PlacedGroup:
    if len(nodes) == 1:
        return PlacedGroup(nodes, np.zeros((1, 2)), float(widths[nodes[0]]), NODE_HEIGHT)
    members = np.array(nodes)
    A = graph.adjacency
    within = A[np.ix_(members, members)]
    causes = A[:, members].sum(axis=0) - within.sum(axis=0)
    effects = A[members].sum(axis=1) - within.sum(axis=1)
    offsets = ring(within, widths[members], causes - effects)
    low, high = _frame(offsets, widths[list(nodes)])
    offsets = offsets - (low + high) / 2
    return PlacedGroup(nodes, offsets, float(high[0] - low[0]), float(high[1] - low[1]))


def _frame(
    centres: FloatArray, widths: FloatArray, padding: float = _GROUP_PADDING
) -> tuple[FloatArray, FloatArray]:
    """Corners of the rectangle around nodes, padding included."""
    half = np.column_stack([widths / 2, np.full(len(widths), NODE_HEIGHT / 2)])
    return (centres - half).min(axis=0) - padding, (centres + half).max(axis=0) + padding


def _extent(
    centres: FloatArray, widths: FloatArray, curves: list[FloatArray], frames: list[Frame]
) -> tuple[FloatArray, FloatArray]:
    if not len(centres):
        return np.zeros(2), np.zeros(2)
    corners = [_frame(centres, widths, 0.0), *((low, high) for _, low, high in frames)]
    points = np.concatenate([*corners, *curves])
    return points.min(axis=0), points.max(axis=0)
