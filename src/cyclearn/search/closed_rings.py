"""Long cycles that an acyclic graph imitates, detected by partial correlations.

On a cycle without chords, variables depend only on their neighbours, given all others. No acyclic
graph implies that: it needs edges across the cycle, or a node with two parents on it, and every
sequence of single moves from there to the cycle passes through many worse graphs. But such pairs
can be detected: two variables that are adjacent or have a common child in the true graph are
dependent given all others, and these pairs are not.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

import numpy as np

from cyclearn.foundation.arrays import BoolArray, FloatArray
from cyclearn.search.runs import Adjacency


def linked_pairs(covariances: FloatArray, shares: FloatArray, price: float) -> BoolArray:
    """Pairs whose partial correlation given all others exceeds that penalty.

    ``covariances`` are those of all groups, ``shares`` their weights. None if there are too few
    rows.
    """
    worth = np.zeros(covariances.shape[1:])
    for covariance, share in zip(covariances, shares, strict=True):
        try:
            precision = np.asarray(np.linalg.inv(_in_units_of_its_own(covariance)), np.float64)
            partial = _in_units_of_its_own(precision)
        except np.linalg.LinAlgError:
            return np.zeros(worth.shape, dtype=bool)
        np.fill_diagonal(partial, 0.0)
        worth -= share * np.log1p(-np.clip(partial**2, 0, 1 - 1e-15)) / 2
    return worth > price


def _in_units_of_its_own(matrix: FloatArray) -> FloatArray:
    """With a unit diagonal."""
    diagonal = np.diagonal(matrix)
    if not (diagonal > 0).all():  # because the matrix is singular up to rounding
        raise np.linalg.LinAlgError
    scale = np.sqrt(diagonal)
    return np.asarray(matrix / scale / scale[:, None])


def iter_ringed(graph: Adjacency, linked: BoolArray) -> Iterator[tuple[Adjacency, list[int]]]:
    """The graph with an imitated cycle in place of the edges among its nodes, in either direction.

    Also yields the nodes of that cycle. There is one for every two variables with an edge or a
    common child that are not linked, if two paths of links without a link across join them.
    Variables with a common child are linked too, which leads away from the cycle: so there is also
    one along edges that are links, whose second path goes up to parents first and then down.
    """
    A = graph.astype(bool)
    joined = A | A.T
    across = (joined | (A.astype(np.float32) @ A.T > 0)) & ~linked
    np.fill_diagonal(across, False)
    # Paths that go up to parents first and then only down to children: node v is v on the way up,
    # and p + v on the way down.
    steps = A & linked
    treks = _followers(np.block([[steps.T, steps], [np.zeros_like(steps), steps]]))
    links, edges = _followers(linked), _followers(linked & joined)
    seen = set()
    for a, b in np.argwhere(np.triu(across)).tolist():
        for ring in (_ring_through(edges, a, b, treks), _ring_through(links, a, b)):
            if ring is None or frozenset(ring) in seen:
                continue
            seen.add(frozenset(ring))
            for nodes in (ring, ring[::-1]):
                ringed = graph.copy()
                ringed[np.ix_(nodes, nodes)] = 0
                ringed[nodes, np.roll(nodes, -1)] = 1
                yield ringed, sorted(ring)


def _followers(steps: BoolArray) -> list[list[int]]:
    return [np.flatnonzero(row).tolist() for row in steps]


def _ring_through(
    links: Sequence[Sequence[int]], a: int, b: int, treks: Sequence[Sequence[int]] | None = None
) -> list[int] | None:
    """A cycle of links through two nodes, without a link across; if given, by one of the treks."""
    one = _shortest_way(links, a, b)
    if one is None:
        return None
    inside = one[1:-1]
    apart = set(range(len(links))).difference(inside, *(links[v] for v in inside)) | {a, b}
    if treks is None:
        ways = [_shortest_way(links, a, b, apart)]
    else:
        p = len(links)
        apart |= {p + v for v in apart}
        ways = [_shortest_way(treks, a, end, apart) for end in (b, p + b)]
    other = min(filter(None, ways), key=len, default=None)
    return None if other is None else one + [v % len(links) for v in other[-2:0:-1]]


def _shortest_way(
    following: Sequence[Sequence[int]], start: int, end: int, within: Container[int] | None = None
) -> list[int] | None:
    """A shortest path, by breadth-first search; the one in scipy takes ten times as long.

    For each path, that one would convert a matrix.
    """
    before = {start: start}
    waiting = [start]
    for node in waiting:
        if node == end:
            way = [end]
            while way[-1] != start:
                way.append(before[way[-1]])
            return way[::-1]
        for v in following[node]:
            if v not in before and (within is None or v in within):
                before[v] = node
                waiting.append(v)
    return None
