"""The best parts of several starts.

Different starts fail in different parts of the graph. If two graphs differ in separate places, the
better version can be chosen for each place.
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
    """The best graph with the better parts of the others; None if there are none.

    A place is a set of nodes connected by edges that only one of the graphs has.
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
