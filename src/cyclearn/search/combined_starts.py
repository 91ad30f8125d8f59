"""The best of several starts, place by place.

Starts miss different things in different places. Where two graphs differ in places that have
nothing to do with each other, the better of both can be taken in each.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from cyclearn._kernels.typed_numbers import ROUNDING
from cyclearn.search.problem import SearchProblem
from cyclearn.search.runs import Adjacency, SearchRun


def combined(problem: SearchProblem, runs: Sequence[SearchRun]) -> Adjacency | None:
    """The best graph with what is better in the others, None where nothing is.

    A place is a set of nodes joined by edges that one graph has and the other has not.
    """
    score = problem.score()
    admit = problem.admission(score)
    best, *others = sorted(runs, key=lambda run: run.score)
    graph, value = best.best, score.value(best.best)
    for other in others:
        differs = graph != other.best
        _, place = connected_components(csr_array(differs), directed=False)
        rows, _ = np.nonzero(differs)
        for number in np.unique(place[rows]).tolist():
            nodes = place == number
            changed = graph.copy()
            changed[:, nodes] = other.best[:, nodes]
            its_value = score.value(changed)
            if its_value < value - ROUNDING and admit(changed)[0] is changed:
                graph, value = changed, its_value
    return None if graph is best.best else graph
