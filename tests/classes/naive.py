"""Slow, obvious twins: what the fast code of the graphs room must agree with."""

from __future__ import annotations

from functools import cache
from itertools import permutations, product

import networkx as nx
import numpy as np

from cyclearn import DirectedGraph


def all_graphs(p: int) -> list[DirectedGraph]:
    """Every directed graph on p nodes."""
    pairs = [(i, j) for i in range(p) for j in range(p) if i != j]
    return [
        DirectedGraph.from_edges([e for n, e in enumerate(pairs) if code >> n & 1], n_nodes=p)
        for code in range(1 << len(pairs))
    ]


def steps_once(support: np.ndarray) -> set[bytes]:
    """Supports with a full diagonal that one step of Theorem 2 makes, by its definition."""
    p = len(support)
    found = set()
    support = np.ascontiguousarray(support)

    def keep(changed: np.ndarray) -> None:
        if changed.diagonal().all():
            found.add(changed.tobytes())

    for j in range(p):
        for k in range(p):
            if j != k and np.sum(support[:, j] != support[:, k]) <= 1:
                for i in np.flatnonzero(support[:, j]):
                    changed = support.copy()
                    changed[:, j] = changed[:, k] = support[:, j] | support[:, k]
                    changed[i, j] = False
                    keep(changed)
    for order in permutations(range(p)):
        keep(np.ascontiguousarray(support[:, order]))
    return found


def support_of(code: bytes, p: int) -> np.ndarray:
    return np.frombuffer(code, dtype=bool).reshape(p, p).copy()


@cache
def reachable(graph: DirectedGraph) -> frozenset[bytes]:
    """All supports that sequences of steps lead to from a graph, itself among them."""
    start = np.array(graph.support)
    found = {start.tobytes()}
    frontier = [start]
    while frontier:
        for code in steps_once(frontier.pop()) - found:
            found.add(code)
            frontier.append(support_of(code, graph.n_nodes))
    return frozenset(found)


@cache
def classes(p: int) -> list[frozenset[DirectedGraph]]:
    """All graphs on p nodes, partitioned by single steps in either direction."""
    linked = nx.Graph()
    for graph in all_graphs(p):
        linked.add_node(graph.support.tobytes())
        linked.add_edges_from((graph.support.tobytes(), code) for code in steps_once(graph.support))
    return [
        frozenset(as_graph(support_of(code, p)) for code in group)
        for group in nx.connected_components(linked)
    ]


def class_of(graph: DirectedGraph) -> set[bytes]:
    """Supports of all members of a class, by steps and by reductions undone."""
    p = graph.n_nodes
    start = np.array(graph.support)
    found = {start.tobytes()}
    frontier = [start]
    while frontier:
        support = frontier.pop()
        linked = steps_once(support)
        for j, k in permutations(range(p), 2):
            missing = support[:, k] & ~support[:, j]
            if missing.sum() == 1 and not np.any(support[:, j] & ~support[:, k]):
                larger = support.copy()
                larger[:, j] = support[:, k]
                linked.add(larger.tobytes())
        for code in linked - found:
            found.add(code)
            frontier.append(support_of(code, p))
    return found


def fillings(rows: list[dict[int, int]], below: list[int | None]) -> int:
    """Weighted number of entries that fill every seat, entry by entry."""
    total = 0
    for entries in product(*(list(row) for row in rows)):
        filled = set()
        for entry in entries:
            seat: int | None = entry
            while seat is not None and seat in filled:
                seat = below[seat]
            filled.add(seat)
        if filled == set(range(len(below))):
            ways = 1
            for row, entry in zip(rows, entries, strict=True):
                ways *= row[entry]
            total += ways
    return total


def as_graph(support: np.ndarray) -> DirectedGraph:
    adjacency = support.copy()
    np.fill_diagonal(adjacency, False)
    return DirectedGraph(adjacency)


def maps_into(g: DirectedGraph, h: DirectedGraph) -> bool:
    """Theorem 1, one direction: steps carry g to a subgraph of h."""
    return any(not np.any(support_of(code, g.n_nodes) & ~h.support) for code in reachable(g))


def is_reducible(graph: DirectedGraph) -> bool:
    """Whether steps lead to a graph with fewer edges."""
    return any(
        np.sum(support_of(code, graph.n_nodes)) < np.sum(graph.support) for code in reachable(graph)
    )


def hamming(g: DirectedGraph, h: DirectedGraph) -> int:
    """Structural Hamming distance, pair by pair."""
    total = 0
    for i in range(g.n_nodes):
        for j in range(i):
            a = (g.adjacency[i, j], g.adjacency[j, i])
            b = (h.adjacency[i, j], h.adjacency[j, i])
            turned = sum(a) == sum(b) == 1 and a != b
            total += 1 if turned else int(a[0] != b[0]) + int(a[1] != b[1])
    return total


def permanent(matrix: list[list[int]]) -> int:
    total = 0
    for order in permutations(range(len(matrix))):
        product = 1
        for row, column in enumerate(order):
            product *= matrix[row][column]
        total += product
    return total


def jacobian_rank(graph: DirectedGraph, rng: np.random.Generator) -> int:
    """Rank of the Jacobian of Q ↦ QQᵀ by floating point, at a random point."""
    p = graph.n_nodes
    Q = rng.normal(size=(p, p)) * graph.support
    columns = []
    for i, j in np.argwhere(graph.support):
        change = np.zeros((p, p))
        change[i, j] = 1.0
        columns.append((change @ Q.T + Q @ change.T).ravel())
    return int(np.linalg.matrix_rank(np.array(columns), tol=1e-9))
