"""The directed graph, cycles allowed: an immutable value with named nodes.

One convention everywhere: ``adjacency[i, j]`` is true when i → j.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cyclearn.errors import InputError
from cyclearn.graphs.bitsets import bits, columns_to_support, support_to_columns

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd

Node = int | str
Edge = tuple[str, str]


class DirectedGraph:
    """A directed graph on named nodes; cycles are allowed, self-loops are not.

    Parameters
    ----------
    adjacency : array of shape (p, p)
        ``adjacency[i, j]`` is true (or one) when i → j. The diagonal is zero.
    names : sequence of str, optional
        Names of the nodes, in the order of the rows; ``X1, …, Xp`` by default.

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
        support = _checked_adjacency(adjacency)
        labels = _checked_names(names, len(support))
        loops = np.flatnonzero(support.diagonal())
        if loops.size:
            raise InputError(
                f"node {labels[loops[0]]!r} points to itself; a graph has no self-loops: "
                "set the diagonal of the adjacency matrix to zero"
            )
        np.fill_diagonal(support, True)
        self._set(support_to_columns(support), labels)

    def _set(self, columns: tuple[int, ...], names: tuple[str, ...]) -> None:
        # Immutable: attributes are written here once, past the guard in __setattr__.
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "names", names)

    @classmethod
    def from_columns(cls, columns: Sequence[int], names: tuple[str, ...]) -> DirectedGraph:
        """Graph whose support has these columns; for callers that keep the diagonal full.

        ``columns[j]`` is the bit set {j} ∪ parents(j): bit i is one when i → j or i = j.
        Nothing is checked, so that members of a class can be made quickly.
        """
        graph = object.__new__(cls)
        graph._set(tuple(columns), names)
        return graph

    @classmethod
    def from_edges(
        cls,
        edges: Iterable[tuple[Node, Node]],
        names: Sequence[str] | None = None,
        *,
        n_nodes: int | None = None,
    ) -> DirectedGraph:
        """Graph with these edges, each a pair (from, to) of names or of indices.

        Without ``names``, named nodes stand in the order in which they appear; with indices,
        ``n_nodes`` (by default one more than the largest index) nodes are called X1, X2, ….

        Examples
        --------
        >>> DirectedGraph.from_edges([(0, 1)], n_nodes=3).names
        ('X1', 'X2', 'X3')
        """
        pairs = [_checked_pair(edge) for edge in edges]
        if names is None:
            ends = [end for pair in pairs for end in pair]
            if any(isinstance(end, str) for end in ends):
                names = list(dict.fromkeys(str(end) for end in ends))
            else:
                names = _default_names(n_nodes or max((int(e) for e in ends), default=-1) + 1)
        graph = cls.from_columns([], _checked_names(names, n_nodes))
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
        if not graph.is_directed():
            raise InputError("the networkx graph is undirected; pass a networkx.DiGraph")
        names = [str(node) for node in graph.nodes]
        return cls.from_edges(((str(a), str(b)) for a, b in graph.edges), names)

    @classmethod
    def from_pandas(cls, frame: pd.DataFrame) -> DirectedGraph:
        """Graph of a square table: ``frame.loc[a, b]`` is true when a → b."""
        if not (frame.index.is_unique and frame.columns.is_unique):
            raise InputError("the table names a node twice; every node needs a name of its own")
        if set(frame.index) != set(frame.columns):
            raise InputError("the rows and the columns of the table name different nodes")
        square = frame[list(frame.index)]
        return cls(square.to_numpy(), names=[str(name) for name in square.index])

    @property
    def n_nodes(self) -> int:
        """Number of nodes, p."""
        return len(self.names)

    @cached_property
    def n_edges(self) -> int:
        """Number of edges; i ⇄ j counts two."""
        return sum(column.bit_count() for column in self.columns) - self.n_nodes

    @cached_property
    def support(self) -> NDArray[np.bool_]:
        """Adjacency with a full diagonal: the zero pattern of Q = (I − B)Ω^(−1/2)."""
        support = columns_to_support(self.columns)
        support.flags.writeable = False
        return support

    @cached_property
    def adjacency(self) -> NDArray[np.bool_]:
        """``adjacency[i, j]`` is true when i → j (read-only)."""
        adjacency = self.support.copy()
        np.fill_diagonal(adjacency, False)
        adjacency.flags.writeable = False
        return adjacency

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        """Edges as pairs of names (from, to), ordered by the index of the source."""
        return tuple((self.names[i], self.names[j]) for i, j in np.argwhere(self.adjacency))

    @cached_property
    def component_indices(self) -> tuple[tuple[int, ...], ...]:
        """Strongly connected components as indices, causes before effects."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        if not self.names:
            return ()
        _, label = connected_components(csr_array(self.adjacency), connection="strong")
        members: dict[int, list[int]] = {}
        for node, component in enumerate(label.tolist()):
            members.setdefault(component, []).append(node)
        order: TopologicalSorter[int] = TopologicalSorter(dict.fromkeys(members, ()))
        for i, j in np.argwhere(self.adjacency).tolist():
            if label[i] != label[j]:
                order.add(int(label[j]), int(label[i]))
        return tuple(tuple(members[c]) for c in order.static_order())

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
                raise InputError(f"no node {node!r}; the nodes are {_listed(self.names)}") from None
        if isinstance(node, (int, np.integer)) and 0 <= node < self.n_nodes:
            return int(node)
        raise InputError(f"no node {node!r}; give a name or an index from 0 to {self.n_nodes - 1}")

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
        """Stream the simple cycles, each once, from its first node on.

        Examples
        --------
        >>> list(DirectedGraph.from_edges([("a", "b"), ("b", "a")]).simple_cycles())
        [('a', 'b')]
        """
        import networkx as nx

        graph = nx.DiGraph(list(map(tuple, np.argwhere(self.adjacency).tolist())))
        for cycle in nx.simple_cycles(graph, length_bound=max_length):
            first = cycle.index(min(cycle))
            yield tuple(self.names[v] for v in cycle[first:] + cycle[:first])

    def is_subgraph_of(self, other: DirectedGraph) -> bool:
        """Whether every edge is an edge of ``other`` (same nodes)."""
        columns = other.reordered(self.names).columns
        return all(a & ~b == 0 for a, b in zip(self.columns, columns, strict=True))

    def reordered(self, names: Sequence[str]) -> DirectedGraph:
        """The same graph with its nodes in the order of ``names``."""
        if tuple(names) == self.names:
            return self
        missing, extra = set(names) - set(self.names), set(self.names) - set(names)
        if missing or extra or len(names) != self.n_nodes:
            raise InputError(
                "the graphs have different nodes: "
                + "; ".join(
                    f"only in the {where}: {_listed(sorted(nodes))}"
                    for where, nodes in (("first", missing), ("second", extra))
                    if nodes
                )
            )
        order = [self.index(name) for name in names]
        return DirectedGraph(self.adjacency[np.ix_(order, order)], names)

    def is_reducible(self) -> bool:
        """Whether rotations show that some edge is redundant (Proposition 6).

        The absence of a reduction does not prove that every edge is needed: see
        :func:`cyclearn.equivalent` on what rotations can prove.
        """
        from cyclearn.graphs.territories import is_reducible

        return is_reducible(self.columns)

    def reduced(self) -> DirectedGraph:
        """A subgraph with the same distribution set that no rotation reduces further."""
        from cyclearn.graphs.territories import reduced_columns

        return self.from_columns(reduced_columns(self.columns), self.names)

    def dimension(self) -> int:
        """Generic dimension of the distribution set Θ(G), exact."""
        from cyclearn.graphs.dimension import dimension

        return dimension(self)

    def to_networkx(self) -> nx.DiGraph:
        """The graph as a networkx ``DiGraph`` on the names."""
        import networkx as nx

        graph = nx.DiGraph()
        graph.add_nodes_from(self.names)
        graph.add_edges_from(self.edges)
        return graph

    def to_pandas(self) -> pd.DataFrame:
        """The adjacency as a table: ``frame.loc[a, b]`` is one when a → b."""
        import pandas as pd

        return pd.DataFrame(self.adjacency.astype(int), index=self.names, columns=self.names)

    def to_dict(self) -> dict[str, Any]:
        """The graph as ``{"nodes": [...], "edges": [[from, to], ...]}``."""
        return {"nodes": list(self.names), "edges": [list(edge) for edge in self.edges]}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> DirectedGraph:
        """Graph from the form that :meth:`to_dict` gives."""
        if not isinstance(record, Mapping) or not {"nodes", "edges"} <= set(record):
            raise InputError('a graph is {"nodes": [...], "edges": [["a", "b"], ...]}')
        return cls.from_edges(record["edges"], record["nodes"])

    def to_dot(self) -> str:
        """The graph in DOT, the language of graphviz."""
        quoted = ['"' + n.replace("\\", "\\\\").replace('"', '\\"') + '"' for n in self.names]
        lines = [f"  {name};" for name in quoted]
        lines += [f"  {quoted[i]} -> {quoted[j]};" for i, j in np.argwhere(self.adjacency)]
        return "\n".join(["digraph {", *lines, "}"]) + "\n"

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a DirectedGraph is immutable; {name!r} cannot be set")

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


def _default_names(n_nodes: int) -> list[str]:
    return [f"X{i + 1}" for i in range(n_nodes)]


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:10])
    return f"{shown}, … ({len(names)} in all)" if len(names) > 10 else shown


def _checked_pair(edge: tuple[Node, Node]) -> tuple[Node, Node]:
    if isinstance(edge, str) or not isinstance(edge, Sequence) or len(edge) != 2:
        raise InputError(f"{edge!r} is not an edge; give a pair (from, to)")
    for end in edge:
        if not isinstance(end, (str, int, np.integer)) or (not isinstance(end, str) and end < 0):
            raise InputError(f"{end!r} in edge {edge!r} is neither a name nor an index")
    return edge[0], edge[1]


def _checked_adjacency(adjacency: ArrayLike) -> NDArray[np.bool_]:
    matrix = np.asarray(adjacency)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"an adjacency matrix is square; this one has shape {matrix.shape}")
    if matrix.dtype == bool:
        return matrix.copy()
    if not np.issubdtype(matrix.dtype, np.number) and matrix.dtype != object:
        raise InputError(f"an adjacency matrix holds zeros and ones, not {matrix.dtype} values")
    wrong = np.argwhere((matrix != 0) & (matrix != 1))
    if wrong.size:
        i, j = wrong[0]
        raise InputError(
            f"adjacency[{i}, {j}] is {matrix[i, j]}; entries are zero or one "
            "(for a weight matrix pass B != 0)"
        )
    return matrix.astype(bool)


def _checked_names(names: Sequence[Hashable] | None, n_nodes: int | None) -> tuple[str, ...]:
    if names is None:
        return tuple(_default_names(n_nodes or 0))
    if isinstance(names, str):
        raise InputError(f"names is the string {names!r}; give a list of names")
    labels = tuple(str(name) for name in names)
    if n_nodes is not None and len(labels) != n_nodes:
        raise InputError(f"{len(labels)} names for {n_nodes} nodes; give one name for each node")
    if len(set(labels)) != len(labels):
        twice = next(name for name in labels if labels.count(name) > 1)
        raise InputError(f"the name {twice!r} stands twice; every node needs a name of its own")
    return labels
