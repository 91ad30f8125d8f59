"""The directed graph, cycles allowed: an immutable value with named nodes.

One convention everywhere: ``adjacency[i, j]`` is true when i → j.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from graphlib import TopologicalSorter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cyclearn.foundation import Answer, Axes, InputError, nx, pd, short
from cyclearn.foundation.arguments import at_least
from cyclearn.foundation.arrays import BoolArray
from cyclearn.graphs import graph_input
from cyclearn.graphs.bitsets import bits, columns_to_support, strong_components, support_to_columns
from cyclearn.graphs.graph_input import Node as Node

Edge = tuple[str, str]


class DirectedGraph(Answer):
    """A directed graph on named nodes; cycles are allowed, self-loops are not.

    Parameters
    ----------
    adjacency : array or table of shape (p, p)
        ``adjacency[i, j]`` is true (or one) when i → j. The diagonal is zero.
    names : sequence of str, optional
        Names of the nodes, in the order of the rows; by default the labels of a pandas table,
        and ``X1, …, Xp`` if there are none.

    Examples
    --------
    >>> g = DirectedGraph.from_edges([("a", "b"), ("b", "c"), ("c", "b")])
    >>> g.parents("b")
    ('a', 'c')
    >>> g.components
    (('a',), ('b', 'c'))
    """

    columns: tuple[int, ...]
    names: tuple[str, ...]

    def __init__(self, adjacency: ArrayLike, names: Sequence[str] | None = None) -> None:
        # Recognised by its attributes, so that pandas is not imported for an array.
        if names is None and hasattr(adjacency, "iloc") and hasattr(adjacency, "columns"):
            adjacency, names = graph_input.labelled_matrix(adjacency)
        support = graph_input.checked_adjacency(adjacency)
        labels = graph_input.checked_names(names, len(support))
        loops = np.flatnonzero(support.diagonal())
        if loops.size:
            raise InputError(
                f"node {labels[loops[0]]!r} points to itself; a graph has no self-loops: "
                "set the diagonal of the adjacency matrix to zero"
            )
        np.fill_diagonal(support, True)
        self._set(support_to_columns(support), labels)

    def _set(self, columns: tuple[int, ...], names: tuple[str, ...]) -> None:
        # Immutable: attributes are set once here, bypassing the guard in __setattr__.
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "names", names)

    @classmethod
    def from_columns(cls, columns: Sequence[int], names: tuple[str, ...]) -> DirectedGraph:
        """Graph whose support has these columns, whose diagonal must be full.

        ``columns[j]`` is the bit set {j} ∪ parents(j): bit i is one when i → j or i = j.
        Nothing is checked, so that members of a class can be constructed quickly.
        """
        graph = object.__new__(cls)
        graph._set(tuple(columns), names)
        return graph

    @classmethod
    def from_edges(
        cls,
        edges: Iterable[tuple[Node, Node]],
        names: Iterable[Node] | None = None,
        *,
        n_nodes: int | None = None,
    ) -> DirectedGraph:
        """Graph with these edges, each a pair (from, to) of names or of indices.

        Without ``names``, named nodes are in the order in which they appear; with indices,
        ``n_nodes`` (by default one more than the largest index) nodes are called X1, X2, ….
        If some of the ``names`` are numbers, numbers in edges are names too, not indices.

        Examples
        --------
        >>> DirectedGraph.from_edges([(0, 1)], n_nodes=3).names
        ('X1', 'X2', 'X3')
        """
        at_least("n_nodes", n_nodes, 0)
        pairs = graph_input.checked_edges(edges)
        if names is None:
            names = graph_input.names_of_ends(pairs, n_nodes)
        elif isinstance(names, Iterable) and not isinstance(names, str):
            names = list(names)
            if not all(isinstance(name, str) for name in names):
                pairs = [(str(a), str(b)) for a, b in pairs]
        graph = cls.from_columns([], graph_input.checked_names(names, n_nodes))
        graph_input.check_number_of_nodes(graph.n_nodes)
        columns = [1 << j for j in range(graph.n_nodes)]
        for source, target in pairs:
            i, j = graph.index(source), graph.index(target)
            if i == j:
                raise InputError(
                    f"edge {graph.names[i]} -> {graph.names[j]}: a graph has no self-loops; "
                    "remove it"
                )
            columns[j] |= 1 << i
        return cls.from_columns(columns, graph.names)

    @classmethod
    def from_networkx(cls, graph: nx.DiGraph) -> DirectedGraph:
        """Graph with the nodes (in their order) and edges of a networkx ``DiGraph``."""
        if not hasattr(graph, "is_directed"):
            raise InputError(f"{short(graph)} is not a networkx graph; pass a networkx.DiGraph")
        if not graph.is_directed():
            raise InputError("the networkx graph is undirected; pass a networkx.DiGraph")
        if graph.is_multigraph():
            raise InputError(
                "the networkx graph is a multigraph; pass networkx.DiGraph(graph), "
                "which joins parallel edges"
            )
        names = [str(node) for node in graph.nodes]
        return cls.from_edges(((str(a), str(b)) for a, b in graph.edges), names)

    @classmethod
    def from_pandas(cls, frame: pd.DataFrame) -> DirectedGraph:
        """Graph of a square table: ``frame.loc[a, b]`` is true when a → b."""
        if not (hasattr(frame, "iloc") and hasattr(frame, "columns")):
            raise InputError(f"{type(frame).__name__} is not a table; pass a pandas.DataFrame")
        return cls(*graph_input.square_table(frame))

    @property
    def n_nodes(self) -> int:
        """Number of nodes, p."""
        return len(self.names)

    @cached_property
    def n_edges(self) -> int:
        """Number of edges; i ⇄ j counts two."""
        return sum(column.bit_count() for column in self.columns) - self.n_nodes

    @cached_property
    def support(self) -> BoolArray:
        """Adjacency with a full diagonal: the zero pattern of Q = (I − B)Ω^(−1/2)."""
        return _read_only(columns_to_support(self.columns))

    @cached_property
    def adjacency(self) -> BoolArray:
        """``adjacency[i, j]`` is true when i → j (read-only)."""
        adjacency = self.support.copy()
        np.fill_diagonal(adjacency, False)
        return _read_only(adjacency)

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        """Edges as pairs of names (from, to), ordered by the index of the source."""
        return tuple((self.names[i], self.names[j]) for i, j in np.argwhere(self.adjacency))

    @cached_property
    def component_indices(self) -> tuple[tuple[int, ...], ...]:
        """Strongly connected components as indices, causes before effects."""
        component = strong_components(self.columns)
        order: TopologicalSorter[int] = TopologicalSorter(dict.fromkeys(component, ()))
        for i, j in np.argwhere(self.adjacency).tolist():
            if component[i] != component[j]:
                order.add(component[j], component[i])
        return tuple(tuple(bits(members)) for members in order.static_order())

    @property
    def in_one_component(self) -> BoolArray:
        """Whether two nodes are in one strongly connected component, shape (p, p)."""
        return columns_to_support(strong_components(self.columns))

    @property
    def components(self) -> tuple[tuple[str, ...], ...]:
        """Strongly connected components, causes before effects."""
        return tuple(tuple(self.names[v] for v in nodes) for nodes in self.component_indices)

    @property
    def is_acyclic(self) -> bool:
        """Whether the graph has no directed cycle."""
        return len(self.component_indices) == self.n_nodes

    def index(self, node: Node) -> int:
        """Index of a node given by name or by index."""
        if isinstance(node, str):
            try:
                return self._index_of[node]
            except KeyError:
                raise InputError(
                    f"no node {short(node)}; the nodes are {graph_input.listed(self.names)}"
                ) from None
        if isinstance(node, (int, np.integer)) and 0 <= node < self.n_nodes:
            return int(node)
        raise InputError(
            f"no node {short(node)}; give a name or an index from 0 to {self.n_nodes - 1}"
        )

    @cached_property
    def _index_of(self) -> Mapping[str, int]:
        return {name: i for i, name in enumerate(self.names)}

    def has_edge(self, source: Node, target: Node) -> bool:
        """Whether source → target."""
        i, j = self.index(source), self.index(target)
        return i != j and bool(self.columns[j] >> i & 1)

    def parents(self, node: Node) -> tuple[str, ...]:
        """Nodes that point to ``node``."""
        j = self.index(node)
        return tuple(self.names[i] for i in bits(self.columns[j]) if i != j)

    def children(self, node: Node) -> tuple[str, ...]:
        """Nodes that ``node`` points to."""
        i = self.index(node)
        return tuple(
            self.names[j] for j, column in enumerate(self.columns) if j != i and column >> i & 1
        )

    def simple_cycles(self, max_length: int | None = None) -> Iterator[tuple[str, ...]]:
        """Iterate over the simple cycles, each once, starting at its first node.

        Examples
        --------
        >>> list(DirectedGraph.from_edges([("a", "b"), ("b", "a")]).simple_cycles())
        [('a', 'b')]
        """
        at_least("max_length", max_length, 0)
        return self._iter_cycles(max_length)

    def _iter_cycles(self, max_length: int | None) -> Iterator[tuple[str, ...]]:

        graph = nx.DiGraph(list(map(tuple, np.argwhere(self.adjacency).tolist())))
        for cycle in nx.simple_cycles(graph, length_bound=max_length):
            first = cycle.index(min(cycle))
            yield tuple(self.names[v] for v in cycle[first:] + cycle[:first])

    def is_subgraph_of(self, other: DirectedGraph) -> bool:
        """Whether every edge is an edge of ``other`` (same nodes)."""
        columns = graph_input.as_graph(other, "other graph").reordered(self.names).columns
        return all(a & ~b == 0 for a, b in zip(self.columns, columns, strict=True))

    def reordered(self, names: Sequence[str]) -> DirectedGraph:
        """The same graph with its nodes in the order of ``names``."""
        names = graph_input.checked_names(names, None)
        if names == self.names:
            return self
        graph_input.check_same_nodes(("given names", names), ("graph", self.names))
        order = [self.index(name) for name in names]
        return DirectedGraph(self.adjacency[np.ix_(order, order)], names)

    def is_reducible(self) -> bool:
        """Whether rotations or the rules beyond them show that some edge is redundant.

        This means that a proper subgraph is proved to generate the same distributions (Definition
        7). If none is found, this does not prove that every edge is needed.
        """
        from cyclearn.classes.rotation_class import has_redundant_edge

        return has_redundant_edge(self.columns)

    def reduced(self) -> DirectedGraph:
        """A subgraph with the same distribution set and without edges known to be redundant."""
        from cyclearn.classes.rotation_class import irreducible_columns

        return self.from_columns(irreducible_columns(self.columns), self.names)

    def dimension(self) -> int:
        """Generic dimension of the distribution set Θ(G), exact."""
        from cyclearn.classes.dimension import dimension

        return dimension(self)

    def to_networkx(self) -> nx.DiGraph:
        """The graph as a networkx ``DiGraph`` on the names."""
        graph = nx.DiGraph()
        graph.add_nodes_from(self.names)
        graph.add_edges_from(self.edges)
        return graph

    def to_pandas(self) -> pd.DataFrame:
        """The adjacency as a table: ``frame.loc[a, b]`` is one when a → b."""
        return pd.DataFrame(self.adjacency.astype(int), index=self.names, columns=self.names)

    def to_dict(self) -> dict[str, Any]:
        """The graph as ``{"nodes": [...], "edges": [[from, to], ...]}``."""
        return {"nodes": list(self.names), "edges": [list(edge) for edge in self.edges]}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> DirectedGraph:
        """Graph from the values of :meth:`to_dict`."""
        if not isinstance(record, Mapping) or not {"nodes", "edges"} <= set(record):
            raise InputError('a graph is {"nodes": [...], "edges": [["a", "b"], ...]}')
        nodes, edges = record["nodes"], record["edges"]
        for key, value in (("nodes", nodes), ("edges", edges)):
            if not isinstance(value, (list, tuple)):
                raise InputError(f'"{key}" is {short(value)}; give a list')
        for edge in edges:
            if not isinstance(edge, (list, tuple)) or len(edge) != 2:
                raise InputError(f"{short(edge)} is not an edge; give a pair [from, to]")
        return cls.from_edges(
            [(graph_input.checked_label(a), graph_input.checked_label(b)) for a, b in edges],
            [graph_input.checked_label(node) for node in nodes],
        )

    def to_dot(self, attributes: Mapping[Edge, Mapping[str, object]] | None = None) -> str:
        """The graph in DOT, the language of graphviz, with optional ``attributes`` of edges.

        Examples
        --------
        >>> g = DirectedGraph.from_edges([("a", "b")])
        >>> print(g.to_dot({("a", "b"): {"label": 0.5}}))
        digraph {
          "a";
          "b";
          "a" -> "b" [label="0.5"];
        }
        <BLANKLINE>
        """
        lines = [f"  {_quoted(name)};" for name in self.names]
        for edge in self.edges:
            looks = (attributes or {}).get(edge, {})
            written = ", ".join(f"{key}={_quoted(str(value))}" for key, value in looks.items())
            arrow = " -> ".join(map(_quoted, edge))
            lines.append(f"  {arrow} [{written}];" if looks else f"  {arrow};")
        return "\n".join(["digraph {", *lines, "}"]) + "\n"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the graph with matplotlib; see :func:`cyclearn.drawing.plots.plot_graph`."""
        from cyclearn.drawing.plots import plot_graph

        return plot_graph(self, ax)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a DirectedGraph is immutable; {name!r} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a DirectedGraph is immutable; {name!r} cannot be deleted")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DirectedGraph):
            return NotImplemented
        return self.columns == other.columns and self.names == other.names

    def __hash__(self) -> int:
        return hash((self.columns, self.names))

    def __reduce__(self) -> tuple[Any, ...]:
        return DirectedGraph.from_columns, (self.columns, self.names)

    def __repr__(self) -> str:
        shown = ", ".join(f"{a} -> {b}" for a, b in self.edges[:12])
        more = f", … {self.n_edges - 12} more" if self.n_edges > 12 else ""
        return f"DirectedGraph({self.n_nodes} nodes, {self.n_edges} edges: {shown}{more})"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _read_only(matrix: BoolArray) -> BoolArray:
    # Backed by bytes, because the write flag of an array that owns its memory can be reset.
    return np.frombuffer(matrix.tobytes(), dtype=bool).reshape(matrix.shape)


def structural_hamming_distance(g: DirectedGraph, h: DirectedGraph) -> int:
    """Number of edges to add, remove or reverse to make the graphs equal.

    Per unordered pair of nodes: 0 if equal, 1 if one edge must be added, removed or reversed, 2 if
    i ⇄ j is compared with no edge.

    Examples
    --------
    >>> g = DirectedGraph.from_edges([("a", "b"), ("b", "c")])
    >>> h = DirectedGraph.from_edges([("b", "a")], names=["a", "b", "c"])
    >>> structural_hamming_distance(g, h)
    2
    """
    differs = g.adjacency != h.reordered(g.names).adjacency
    n_turned = np.count_nonzero(np.triu(differs & differs.T & (g.adjacency != g.adjacency.T)))
    return int(np.count_nonzero(differs) - n_turned)
