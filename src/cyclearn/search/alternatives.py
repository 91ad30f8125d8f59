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

from cyclearn.classes.territories import territories
from cyclearn.graphs import DirectedGraph
from cyclearn.search.problem import SearchProblem
from cyclearn.search.score import Adjacency, GraphScore

# Scores per sample that differ by less are a tie.
TIE = 1e-6
MAX_CLASSES = 100


@dataclass(frozen=True)
class Alternative:
    """A graph of another class, and how much its score exceeds that of the result."""

    graph: DirectedGraph
    excess: float


def tied_graphs(
    problem: SearchProblem, graph: DirectedGraph
) -> tuple[list[tuple[float, DirectedGraph]], bool]:
    """One graph of every other class found whose score is within ``TIE`` per sample, best first.

    Also whether ``MAX_CLASSES`` were found and the rest left.
    """
    score = GraphScore(problem.correlation, problem.penalty, problem.limits)
    admit = problem.admission(score)
    limits = problem.limits
    listed = [graph]
    best = score.value(graph.adjacency.astype(np.uint8))
    found: list[tuple[float, DirectedGraph]] = []
    classes, seen = {territories(graph.columns)}, set[int]()
    for origin in listed:
        A = origin.adjacency.astype(np.uint8)
        for redrawn in _redrawn(A, problem.allowed, problem.required):
            key = score.key(redrawn)
            if key in seen:
                continue
            seen.add(key)
            if redrawn.sum(axis=0).max() > limits.max_parents:
                continue
            if np.bincount(score.components(redrawn)).max() > limits.max_component:
                continue
            value = score.value(redrawn)
            if abs(value - best) > TIE:
                continue
            its_class = territories(DirectedGraph(redrawn.astype(bool)).columns)
            admitted = None if its_class in classes else admit(redrawn)[0]
            if admitted is None:
                continue
            if len(found) == MAX_CLASSES:
                return _best_first(found), True
            other = DirectedGraph(admitted.astype(bool), graph.names)
            if not problem.required.any():
                other = other.reduced()
            classes.add(its_class)
            listed.append(other)
            found.append((value - best, other))
    return _best_first(found), False


def _best_first(found: list[tuple[float, DirectedGraph]]) -> list[tuple[float, DirectedGraph]]:
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
