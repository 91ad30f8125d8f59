"""Checks of graphs given as matrices, names, edges or tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cyclearn.foundation import InputError, pd, short
from cyclearn.foundation.arrays import BoolArray

if TYPE_CHECKING:
    from cyclearn.graphs.directed_graph import DirectedGraph

Node = int | str
# A square table of this size has 400 MB; the library is designed for a thousand nodes.
MAX_NODES = 20_000


def as_graph(graph: Any, what: str = "graph") -> DirectedGraph:
    """A graph, also given as text: ``"a -> b, b -> c"``; an error names the remedy for others."""
    from cyclearn.graphs.directed_graph import DirectedGraph

    if isinstance(graph, DirectedGraph):
        return graph
    if isinstance(graph, str) and "->" in graph:
        from cyclearn.graphs.formats import parse_graph

        return parse_graph(re.sub(r"[,;]", "\n", graph))
    kind = type(graph).__name__
    if hasattr(graph, "is_directed"):
        remedy = "DirectedGraph.from_networkx(it)"
    elif isinstance(graph, Mapping):
        remedy = "DirectedGraph.from_dict(it)"
    elif isinstance(graph, str) or hasattr(graph, "__fspath__"):
        remedy = "read_graph(it)"
    elif hasattr(graph, "__array__") or isinstance(graph, (list, tuple)):
        remedy = "DirectedGraph(it), or DirectedGraph.from_edges(it) for pairs"
    else:
        remedy = "a DirectedGraph, such as result.graph or model.graph"
    raise InputError(f"the {what} is of type {kind}, not a DirectedGraph; pass {remedy}")


def check_number_of_nodes(n_nodes: int) -> None:
    """Raise if tables over the nodes would not fit into memory."""
    if n_nodes > MAX_NODES:
        raise InputError(
            f"the graph has {n_nodes:,} nodes; at most {MAX_NODES:,} can be worked with: number "
            "nodes from 0 without gaps, or choose some of them"
        )


def default_names(n_nodes: int) -> tuple[str, ...]:
    """The names X1, X2 and so on."""
    return tuple(f"X{i + 1}" for i in range(n_nodes))


def listed(names: Sequence[str]) -> str:
    """Names for a message, the first ten of them."""
    shown = ", ".join(names[:10])
    return f"{shown}, … ({len(names)} in all)" if len(names) > 10 else shown


def check_same_nodes(first: tuple[str, Sequence[str]], second: tuple[str, Sequence[str]]) -> None:
    """Raise if two graphs, each given by a description and its names, have different nodes."""
    own = [(first[0], set(first[1]) - set(second[1])), (second[0], set(second[1]) - set(first[1]))]
    if any(names for _, names in own):
        raise InputError(
            "different nodes: "
            + "; ".join(f"only in the {it}: {listed(sorted(names))}" for it, names in own if names)
        )


def checked_names(
    names: Iterable[Hashable] | None, n: int | None, of: str = "node"
) -> tuple[str, ...]:
    """Distinct names as strings, one for each node or column; X1, X2, … by default."""
    if names is None:
        return default_names(n or 0)
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise InputError(f"names is {short(names)}; give a list of names")
    labels = tuple(str(name) for name in names)
    if n is not None and len(labels) != n:
        raise InputError(f"{len(labels)} names for {n} {of}s; give one name for each {of}")
    if len(set(labels)) != len(labels):
        twice = Counter(labels).most_common(1)[0][0]
        raise InputError(f"the {of} name {short(twice)} appears twice; rename one of them")
    return labels


def checked_edges(edges: Any) -> list[tuple[Node, Node]]:
    """Edges as pairs of names and indices; the rows of an array are pairs too."""
    if isinstance(edges, str) or not isinstance(edges, Iterable):
        raise InputError(f"edges is {short(edges)}; give a list of pairs (from, to)")
    return [_checked_pair(edge) for edge in edges]


def _checked_pair(edge: Any) -> tuple[Node, Node]:
    pair = edge.tolist() if isinstance(edge, np.ndarray) else edge
    if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
        raise InputError(f"{short(edge)} is not an edge; give a pair (from, to)")
    for end in pair:
        is_index = isinstance(end, (int, np.integer)) and not isinstance(end, bool) and end >= 0
        if not (isinstance(end, str) or is_index):
            raise InputError(f"{short(end)} in edge {short(edge)} is neither a name nor an index")
    return pair[0], pair[1]


def names_of_ends(edges: Iterable[tuple[Node, Node]], n_nodes: int | None) -> list[str]:
    """Names of the nodes if only edges are given, all by name or all by index."""
    ends = [end for edge in edges for end in edge]
    named = [end for end in ends if isinstance(end, str)]
    numbers = [int(end) for end in ends if not isinstance(end, str)]
    if named and numbers:
        raise InputError(
            f"some edges give names ({named[0]!r}) and some indices ({numbers[0]}); "
            "give only one kind, or pass names"
        )
    if named:
        return list(dict.fromkeys(named))
    n_nodes = n_nodes or max(numbers, default=-1) + 1
    check_number_of_nodes(n_nodes)
    return list(default_names(n_nodes))


def checked_label(label: Any) -> str:
    """The label of a node in a record, as text; such records hold labels, never indices."""
    if isinstance(label, bool) or not isinstance(label, (str, int)):
        raise InputError(
            f"{short(label)} is not the name of a node; names are strings or whole numbers"
        )
    return str(label)


def checked_adjacency(adjacency: ArrayLike) -> BoolArray:
    """A square matrix of zeros and ones, as a copy."""
    try:
        matrix = np.asarray(adjacency)
    except ValueError:
        raise InputError("an adjacency matrix is square; these rows are not equally long") from None
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"an adjacency matrix is square; this one has shape {matrix.shape}")
    if matrix.dtype == bool:
        return matrix.copy()
    if not np.issubdtype(matrix.dtype, np.number) and matrix.dtype != object:
        raise InputError(f"an adjacency matrix contains zeros and ones, not {matrix.dtype} values")
    if matrix.dtype == object:
        # One by one, because comparing some objects (a missing value) has no truth value.
        kinds = (int, float, np.number, np.bool_)
        allowed = np.array([isinstance(v, kinds) and v in (0, 1) for v in matrix.flat], dtype=bool)
        wrong = np.argwhere(~allowed.reshape(matrix.shape))
    else:
        wrong = np.argwhere((matrix != 0) & (matrix != 1))
    if wrong.size:
        i, j = wrong[0]
        raise InputError(
            f"adjacency[{i}, {j}] is {matrix[i, j]}; entries are zero or one "
            "(for a weight matrix pass B != 0)"
        )
    return matrix.astype(bool)


def square_table(frame: pd.DataFrame) -> tuple[NDArray[Any], list[str]]:
    """Values and labels of a table whose rows and columns have the same labels."""
    if not (frame.index.is_unique and frame.columns.is_unique):
        raise InputError("the table names a node twice; every node needs its own name")
    labels = list(frame.index)
    position = {label: n for n, label in enumerate(frame.columns)}
    if set(labels) != set(position):
        raise InputError(
            "the rows and the columns of the table name different nodes; give both the same labels"
        )
    # By position, because selecting columns by Boolean labels would filter rows.
    values = frame.iloc[:, [position[label] for label in labels]].to_numpy()
    return values, [str(label) for label in labels]


def labelled_matrix(adjacency: Any) -> tuple[Any, list[str] | None]:
    """Values and names of an adjacency given as a table; None without labels."""
    unnamed = pd.RangeIndex(len(adjacency))
    if adjacency.index.equals(unnamed):
        # A table constructed from an array with names only for its columns, or with none.
        is_unnamed = adjacency.columns.equals(unnamed)
        return adjacency.to_numpy(), None if is_unnamed else [str(c) for c in adjacency.columns]
    return square_table(adjacency)
