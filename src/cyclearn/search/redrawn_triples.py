"""Graphs in which the edges among three nearby nodes are replaced by as many others."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations, permutations

import numpy as np

from cyclearn.search.runs import Adjacency

Pair = tuple[int, int]


def redrawn_pairs(A: Adjacency, near: int = -1) -> Iterator[list[Pair]]:
    """The entries to toggle, triple by triple, for triples with at least three edges.

    ``near`` are nodes, as a set of bits, of which a triple must have one.
    """
    is_edge = A.tolist()
    neighbours = [np.flatnonzero(row).tolist() for row in A | A.T]
    joined = {
        tuple(sorted((centre, a, b)))
        for centre, around in enumerate(neighbours)
        for a, b in combinations(around, 2)
    }
    for triple in sorted(joined):
        if not any(near >> v & 1 for v in triple):
            continue
        pairs = list(permutations(triple, 2))
        present = tuple(n for n, (i, j) in enumerate(pairs) if is_edge[i][j])
        if len(present) >= 3:
            for changed in _changes(present):
                yield [pairs[n] for n in changed]


@cache
def _changes(present: tuple[int, ...]) -> list[tuple[int, ...]]:
    """For every choice of as many of six places as there are edges, the places that change."""
    chosen = combinations(range(6), len(present))
    return [tuple(sorted({*each} ^ {*present})) for each in chosen]


def toggled(A: Adjacency, pairs: list[Pair]) -> Adjacency:
    """The graph with some entries changed."""
    redrawn = A.copy()
    for pair in pairs:
        redrawn[pair] ^= 1
    return redrawn
