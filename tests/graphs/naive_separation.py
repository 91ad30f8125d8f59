"""The definition of d-separation by paths, written out; slow and obvious."""

from collections.abc import Iterator
from itertools import chain, combinations, pairwise

from cyclearn.graphs.directed_graph import DirectedGraph

# A statement (a, b, given): the set of nodes d-separates a from b.
Statement = tuple[int, int, frozenset[int]]


def naive_d_separated(graph: DirectedGraph, a: int, b: int, given: frozenset[int]) -> bool:
    """No path from a to b is open: a collider has a descendant in ``given``, no other node is."""
    return not any(_is_open(graph, path, given) for path in _iter_paths(graph, a, b))


def naive_statements(graph: DirectedGraph) -> frozenset[Statement]:
    """Every true statement about two nodes; those about sets follow from them."""
    nodes = range(graph.n_nodes)
    return frozenset(
        (a, b, frozenset(given))
        for a, b in combinations(nodes, 2)
        for given in _iter_subsets([v for v in nodes if v not in (a, b)])
        if naive_d_separated(graph, a, b, frozenset(given))
    )


# A path is a list of steps (node, forward, next node): the edge points along the path or against
# it. Two nodes of a 2-cycle have two edges, and so two steps.
Step = tuple[int, bool, int]


def _iter_paths(graph: DirectedGraph, a: int, b: int) -> Iterator[list[Step]]:
    def extended(path: list[Step], node: int, visited: frozenset[int]) -> Iterator[list[Step]]:
        if node == b:
            yield path
            return
        for following in range(graph.n_nodes):
            if following in visited:
                continue
            for forward in (True, False):
                ends = (node, following) if forward else (following, node)
                if graph.adjacency[ends]:
                    step = (node, forward, following)
                    yield from extended([*path, step], following, visited | {following})

    yield from extended([], a, frozenset([a]))


def _is_open(graph: DirectedGraph, path: list[Step], given: frozenset[int]) -> bool:
    for (_, into, node), (_, out_of, _) in pairwise(path):
        is_collider = into and not out_of
        if is_collider and not _descendants(graph, node) & given:
            return False
        if not is_collider and node in given:
            return False
    return True


def _descendants(graph: DirectedGraph, node: int) -> set[int]:
    found, stack = {node}, [node]
    while stack:
        here = stack.pop()
        for child in range(graph.n_nodes):
            if graph.adjacency[here, child] and child not in found:
                found.add(child)
                stack.append(child)
    return found


def _iter_subsets(nodes: list[int]) -> Iterator[tuple[int, ...]]:
    return chain.from_iterable(combinations(nodes, size) for size in range(len(nodes) + 1))
