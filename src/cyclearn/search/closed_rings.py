"""Long cycles that an acyclic graph imitates, detected by partial correlations.

On a cycle without chords, variables depend only on their neighbours, given all others. No acyclic
graph implies that: it needs edges across the cycle, or a node with two parents on it, and every
sequence of single moves from there to the cycle passes through many worse graphs. But such pairs
can be detected: two variables that are adjacent or have a common child in the true graph are
dependent given all others, and these pairs are not.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import breadth_first_order

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
    treks = np.block([[steps.T, steps], [np.zeros_like(steps), steps]])
    seen = set()
    for a, b in np.argwhere(np.triu(across)).tolist():
        along_edges = _ring_through(linked & joined, a, b, treks)
        for ring in (along_edges, _ring_through(linked, a, b)):
            if ring is None or frozenset(ring) in seen:
                continue
            seen.add(frozenset(ring))
            for nodes in (ring, ring[::-1]):
                ringed = graph.copy()
                ringed[np.ix_(nodes, nodes)] = 0
                ringed[nodes, np.roll(nodes, -1)] = 1
                yield ringed, sorted(ring)


def _ring_through(
    linked: BoolArray, a: int, b: int, treks: BoolArray | None = None
) -> list[int] | None:
    """A cycle of links through two nodes, without a link across; if given, by one of the treks."""
    one = _shortest_way(linked, a, b)
    if one is None:
        return None
    inside = one[1:-1]
    apart = np.asarray(~linked[inside].any(axis=0))
    apart[inside] = False
    apart[[a, b]] = True
    if treks is None:
        other = _shortest_way(linked & apart & apart[:, None], a, b)
    else:
        other = _shortest_trek(treks & np.outer(np.tile(apart, 2), np.tile(apart, 2)), a, b)
    return None if other is None else one + other[-2:0:-1]


def _shortest_trek(treks: BoolArray, a: int, b: int) -> list[int] | None:
    p = len(treks) // 2
    _, before = breadth_first_order(treks, a, directed=True)
    ends = [end for end in (b, p + b) if before[end] >= 0]
    ways = [_way_back(before, a, end) for end in ends]
    return [node % p for node in min(ways, key=len)] if ways else None


def _shortest_way(linked: BoolArray, a: int, b: int) -> list[int] | None:
    _, before = breadth_first_order(linked, a, directed=False)
    return None if before[b] < 0 else _way_back(before, a, b)


def _way_back(before: NDArray[np.int32], a: int, b: int) -> list[int]:
    way = [b]
    while way[-1] != a:
        way.append(int(before[way[-1]]))
    return way[::-1]
