"""Slow, obvious twins of the search: scores by whole fits, moves by their definitions."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np

from cyclearn import DirectedGraph


def reachable(adjacency: np.ndarray) -> np.ndarray:
    closure = adjacency | np.eye(len(adjacency), dtype=bool)
    for _ in range(len(adjacency)):
        closure = closure | (closure.astype(int) @ closure.astype(int) > 0)
    return closure


def single_edge_moves(adjacency: np.ndarray) -> set[bytes]:
    """Graphs one edge added, deleted or reversed away."""
    found = set()
    for i, j in permutations(range(len(adjacency)), 2):
        changed = adjacency.copy()
        changed[i, j] = not changed[i, j]
        found.add(changed.tobytes())
        if adjacency[i, j] and not adjacency[j, i]:
            changed[j, i] = True
            found.add(changed.tobytes())
    return found


def _turned(adjacency, a, b, exclusive=False):
    """The edge between a and b made to point from a to b."""
    changed = adjacency.copy()
    if not changed[a, b]:
        changed[b, a] = False
    changed[a, b] = True
    if exclusive:
        changed[b, a] = False
    return changed


def _without(adjacency, a, b):
    changed = adjacency.copy()
    changed[a, b] = changed[b, a] = False
    return changed


def virtual_moves(adjacency: np.ndarray, max_cycle: int) -> set[bytes]:
    """Results of the operator; triangles may lack the edge j – k, sequences are permutations."""
    p = len(adjacency)
    joined = adjacency | adjacency.T
    found = set()
    for i, j, k in permutations(range(p), 3):
        if not (joined[i, j] and joined[i, k]):
            continue
        others = [v for v in range(p) if v not in (i, j, k)]
        for length in range(1, max_cycle - 1):
            for middle in permutations(others, length):
                path = (k, *middle, j)
                if not all(joined[a, b] for a, b in pairwise(path)):
                    continue
                changed = _turned(adjacency, j, k)
                for a, b in pairwise(path):
                    changed = _turned(changed, a, b)
                changed = _turned(_without(changed, i, j), i, k, exclusive=True)
                found.add(changed.tobytes())
        if adjacency[j, k] and adjacency[k, j]:
            continue
        closed = adjacency.copy()
        closed[j, k] = closed[k, j] = True
        one = _turned(_without(closed, i, j), i, k, exclusive=True)
        if joined[j, k]:
            found.add(one.tobytes())
        for other in others:
            if joined[other, j] and joined[other, k]:
                two = _turned(_without(one, other, k), other, j, exclusive=True)
                found.add(two.tobytes())
    return found


def as_graph(code: bytes, p: int) -> DirectedGraph:
    return DirectedGraph(np.frombuffer(code, dtype=bool).reshape(p, p))
