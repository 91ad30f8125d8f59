"""From the best graphs that a search met to the answer: the member shown, and the classes that tie.

Which member of a class is shown, and which of several classes with the same score, is decided by
structure (:mod:`cyclearn.classes.canonical_member`), not by where the search happened to stand.

Different classes can share a set of distributions of positive measure (quasi equivalence,
Definition 9): a 3-cycle and a complete acyclic graph on three nodes, for example. No score tells
them apart there. They are looked for by drawing the edges among three nodes anew, as many as
there were, in the member that stands for every class already known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import combinations, permutations

import numpy as np

from cyclearn.classes.canonical_member import canonical_member, canonical_order
from cyclearn.classes.seating import Seating
from cyclearn.classes.territories import Territory, territories
from cyclearn.errors import InputError
from cyclearn.graphs import DirectedGraph
from cyclearn.search.problem import SearchProblem
from cyclearn.search.runs import SAME_SCORE, Adjacency, Solution
from cyclearn.search.score import GraphScore

MAX_CLASSES = 100


@dataclass(frozen=True)
class Answer:
    """The graph that is shown, and one graph for each other class whose score ties with it.

    ``is_cut`` says that there may be more than ``MAX_CLASSES`` of these. Names are sorted.
    """

    graph: DirectedGraph
    ties: tuple[DirectedGraph, ...]
    is_cut: bool


def answer(problem: SearchProblem, solution: Solution) -> Answer:
    """The answer that the runs of a method lead to."""
    best = solution.best
    if not np.isfinite(best.score):
        raise InputError(
            "no stable structure was found from the start given; allow unstable ones with "
            "stable=False, or start elsewhere"
        )
    score = problem.score()
    members: dict[tuple[Territory, ...], DirectedGraph | None] = {}
    found: list[DirectedGraph] = []

    def take(graph: DirectedGraph) -> None:
        its_class = territories(graph.columns)
        if its_class not in members:
            members[its_class] = shown_member(problem, score, graph)
            if (member := members[its_class]) is not None:
                found.append(member)

    for run in solution.agreeing:
        take(DirectedGraph(run.best.astype(bool), problem.names))
    if not found:
        # Equivalent graphs that keep to knowledge and limits are too many to be searched.
        return Answer(DirectedGraph(best.best.astype(bool), problem.names), (), True)
    for member in found:
        if len(found) > MAX_CLASSES:
            break
        for redrawn in _tied_neighbours(problem, score, member, best.score):
            take(redrawn)
    is_cut = len(found) > MAX_CLASSES
    found = sorted(found, key=lambda graph: canonical_order(range(graph.n_nodes), graph.columns))
    return Answer(found[0], tuple(found[1 : MAX_CLASSES + 1]), is_cut)


def shown_member(
    problem: SearchProblem, score: GraphScore, graph: DirectedGraph
) -> DirectedGraph | None:
    """The member that stands for the class of a graph, if one keeps to knowledge and limits.

    Where required edges leave no irreducible member, or none of them has a stable fit, it is a
    reducible one with the fewest edges.
    """
    its_class = territories(graph.columns)
    admits = partial(problem.admits_component, score)
    for reducible in (False, True):
        seating = Seating.respecting(
            its_class, problem.allowed, problem.required, reducible=reducible
        )
        columns = canonical_member(seating, admits)
        if columns is not None:
            return DirectedGraph.from_columns(columns, problem.names)
    return None


def _tied_neighbours(
    problem: SearchProblem, score: GraphScore, graph: DirectedGraph, best: float
) -> Iterator[DirectedGraph]:
    """Graphs with other edges among three nodes whose score is the best too."""
    for redrawn in _redrawn(graph.adjacency.astype(np.uint8)):
        if (
            problem.respects_knowledge(redrawn)
            and redrawn.sum(axis=0).max() <= problem.limits.max_parents
            and np.bincount(score.components(redrawn)).max() <= problem.limits.max_component
            and abs(score.value(redrawn) - best) <= SAME_SCORE
        ):
            yield DirectedGraph(redrawn.astype(bool), graph.names)


def _redrawn(A: Adjacency) -> Iterator[Adjacency]:
    """Graphs with other edges among three nodes, as many as before and three at least."""
    neighbours = [np.flatnonzero(row).tolist() for row in A | A.T]
    joined = {
        tuple(sorted((centre, a, b)))
        for centre, around in enumerate(neighbours)
        for a, b in combinations(around, 2)
    }
    for triple in sorted(joined):
        pairs = list(permutations(triple, 2))
        present = {pair for pair in pairs if A[pair]}
        if len(present) < 3:
            continue
        for chosen in combinations(pairs, len(present)):
            if set(chosen) != present:
                changed = A.copy()
                for pair in pairs:
                    changed[pair] = pair in chosen
                yield changed
