"""Other classes that score as well as the best graph found.

Different classes can share a set of distributions of positive measure (quasi equivalence,
Definition 9): a 3-cycle and a complete acyclic graph on three nodes, for example. No score tells
them apart there. They are looked for by drawing the edges among three nodes anew, as many as
there were, from every class already listed.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np
from numpy.typing import NDArray

from cyclearn.graphs import DirectedGraph, equivalent
from cyclearn.learning.score import Adjacency, GraphScore

# Scores per sample that differ by less are a tie.
TIE = 1e-6
_MAX_CLASSES = 20


@dataclass(frozen=True)
class Alternative:
    """A graph of another class, and how much its score exceeds that of the result."""

    graph: DirectedGraph
    excess: float


def tied_graphs(
    score: GraphScore,
    graph: DirectedGraph,
    allowed: NDArray[np.bool_],
    required: NDArray[np.bool_],
    *,
    stable: bool,
) -> list[tuple[float, DirectedGraph]]:
    """One graph of every other class found whose score is within ``TIE`` per sample, best first."""
    listed = [graph]
    best = score.value(graph.adjacency.astype(np.uint8))
    found: list[tuple[float, DirectedGraph]] = []
    limits = score.limits
    for origin in listed:
        for A in _redrawn(origin.adjacency.astype(np.uint8), allowed, required):
            if len(listed) > _MAX_CLASSES:
                break
            if A.sum(axis=0).max() > limits.max_parents:
                continue
            if np.bincount(score.components(A)).max() > limits.max_component:
                continue
            value = score.value(A)
            if abs(value - best) > TIE or (stable and not score.is_stable(A)):
                continue
            other = DirectedGraph(A.astype(bool), graph.names)
            if not required.any():
                other = other.reduced()
            if not any(equivalent(other, known) for known in listed):
                listed.append(other)
                found.append((value - best, other))
    return sorted(found, key=lambda each: each[0])


def _redrawn(
    A: Adjacency, allowed: NDArray[np.bool_], required: NDArray[np.bool_]
) -> list[Adjacency]:
    """Graphs with other edges among three joined nodes, as many as before and three at least."""
    joined = (A | A.T).astype(bool)
    graphs = []
    for triple in combinations(range(len(A)), 3):
        pairs = list(permutations(triple, 2))
        if sum(joined[i, j] for i, j in combinations(triple, 2)) < 2:
            continue
        present = [pair for pair in pairs if A[pair]]
        if len(present) < 3:
            continue
        for chosen in combinations(pairs, len(present)):
            if set(chosen) == set(present) or not all(allowed[pair] for pair in chosen):
                continue
            changed = A.copy()
            for pair in pairs:
                changed[pair] = pair in chosen
            if not (required & (changed == 0)).any():
                graphs.append(changed)
    return graphs
