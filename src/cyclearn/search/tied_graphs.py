"""The answer for tables with interventions: the graphs with the best score, one by one.

Interventions distinguish graphs that generate the same observational distributions, so the
observational class only gives candidates: its members are scored, and those with the best score are
kept. Graphs with other edges among three nodes are candidates too, as without interventions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

import numpy as np

from cyclearn.classes import EquivalenceClass
from cyclearn.classes.canonical_member import canonical_order
from cyclearn.graphs import DirectedGraph
from cyclearn.search.local_scores import NEAR
from cyclearn.search.problem import SearchProblem
from cyclearn.search.redrawn_triples import redrawn_pairs, toggled
from cyclearn.search.runs import SAME_SCORE, Adjacency, Solution
from cyclearn.search.search_effort import TieEffort


def tied_graphs(
    problem: SearchProblem, solution: Solution, effort: TieEffort, is_over: Callable[[], bool]
) -> tuple[list[DirectedGraph], bool]:
    """Graphs with the best score, the one to show first; and whether a limit cut the list.

    The list is cut when the ``effort`` is used up or ``is_over`` is true.
    """
    score, walking = problem.score(), problem.score(is_walking=True)
    admit = problem.admission(score)
    best = score.thorough_value(solution.best.best)

    def is_near(A: Adjacency) -> bool:
        # A better graph that the search rejected is usually unstable: one fit shows it.
        value = score.value(A)
        return value <= best + NEAR and (value > best - NEAR or walking.value(A) <= best)

    def is_tied(A: Adjacency) -> bool:
        return bool(
            problem.respects_knowledge(A)
            and problem.limits.allow(A, score.largest_component(A))
            and is_near(A)
            and score.thorough_value(A) <= best + SAME_SCORE
            and admit(A)[0] is A
        )

    found = {run.best.tobytes(): run.best for run in solution.agreeing}
    waiting = list(found.values())
    seen = {score.key(A) for A in waiting}
    is_cut = False
    while waiting and not is_cut:
        A = waiting.pop()
        for other in _around(A, problem.names, effort.max_members):
            key = score.key(other)
            if key in seen:
                continue
            is_cut = is_over()
            if is_cut:
                break
            seen.add(key)
            if is_tied(other):
                found[other.tobytes()] = other
                waiting.append(other)
        is_cut = is_cut or len(found) > effort.max_classes or len(seen) > effort.max_scored
    graphs = [DirectedGraph(A.astype(bool), problem.names) for A in found.values()]
    graphs.sort(key=lambda graph: canonical_order(range(graph.n_nodes), graph.columns))
    return graphs, is_cut


def _around(A: Adjacency, names: tuple[str, ...], max_members: int) -> Iterator[Adjacency]:
    """Members of the observational class of a graph, and graphs with other edges in a triple."""
    members = EquivalenceClass(DirectedGraph(A.astype(bool), names))
    for member in islice(members, max_members):
        yield member.adjacency.astype(np.uint8)
    yield from (toggled(A, pairs) for pairs in redrawn_pairs(A))
