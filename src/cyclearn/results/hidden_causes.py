"""Whether a hidden common cause of two variables explains the data as well as an edge.

Each pair that an equally good graph joins is tried: a correlation of the two noise terms replaces
the edges of the pair, and edges into the two variables that become superfluous are removed one by
one while the score decreases. An edge and a hidden cause often fit equally well, which is evidence
for neither.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING, Literal

import numpy as np

from cyclearn.data.data_warnings import HiddenCause
from cyclearn.foundation import InputError, edges_in_words, is_stable_radius, pd
from cyclearn.foundation.arguments import whole
from cyclearn.foundation.arrays import BoolArray
from cyclearn.graphs.directed_graph import DirectedGraph, Edge
from cyclearn.models.correlated_noise import CorrelatedNoise
from cyclearn.search.members import list_members

if TYPE_CHECKING:
    from cyclearn.results.result import LearnResult

Finding = Literal["edge fits better", "hidden cause fits better", "cannot be told apart"]

# A difference of scores below this, odds of ten to one, is not conclusive.
DECIDES = log(10)


@dataclass(frozen=True)
class PairExplanation:
    """The best explanation of a pair by a hidden common cause.

    Attributes
    ----------
    a, b : str
    learned : tuple of edges
        The edges of the pair, in the equally good graph that was changed.
    superfluous : tuple of edges
        Edges that the hidden cause makes unnecessary.
    difference : float
        Score with the hidden cause minus that of the learned graph: negative if the hidden cause is
        better. Infinite if no stable fit was found.
    """

    a: str
    b: str
    learned: tuple[Edge, ...]
    superfluous: tuple[Edge, ...]
    difference: float

    @property
    def verdict(self) -> Finding:
        """The verdict: which of the two fits better, if either."""
        if abs(self.difference) < DECIDES:
            return "cannot be told apart"
        return "edge fits better" if self.difference > 0 else "hidden cause fits better"

    @property
    def warning(self) -> HiddenCause | None:
        """A warning not to interpret the edges as effects, if the hidden cause fits better."""
        if self.verdict != "hidden cause fits better":
            return None
        return HiddenCause(
            columns=(self.a, self.b), edges=self.learned, superfluous=self.superfluous
        )


def hidden_causes(result: LearnResult, *, max_members: int = 20) -> tuple[PairExplanation, ...]:
    """For each joined pair the best explanation by a hidden cause, over equally good graphs."""
    if result.groups or result.experiments is not None or result.lags:
        raise InputError(
            "hidden causes can be compared only for one table without groups, interventions or "
            "lags; learn from each table separately"
        )
    moments = result.tables.only.moments
    listed = list_members(
        (result.graph, *result.alternatives),
        moments,
        result.knowledge,
        max_members=whole("max_members", max_members, 1),
    )
    graphs = [result.graph]
    graphs += [m.graph for m in listed.members if m.is_stable and m.graph != result.graph]
    found: dict[tuple[int, int], PairExplanation] = {}
    score = _Score(result, CorrelatedNoise(moments.correlation))
    for graph in graphs:
        A = graph.adjacency
        for i, j in np.argwhere(np.triu(A | A.T)).tolist():
            cause = _best_for(score, graph, (i, j))
            # The graph shown comes first, and only a clearly better one replaces it.
            if (i, j) not in found or cause.difference < found[i, j].difference - 1e-6:
                found[i, j] = cause
    return tuple(found[pair] for pair in sorted(found))


class _Score:
    """Scores of graphs with a hidden cause, relative to the learned graph."""

    def __init__(self, result: LearnResult, fits: CorrelatedNoise) -> None:
        self._result, self._fits = result, fits
        self._learned = fits.value(result.graph.adjacency, frozenset())

    def difference(self, adjacency: BoolArray, pair: tuple[int, int]) -> float:
        """Infinite if the best fit is not stable and only stable fits are admissible."""
        blocks = list(self._fits.blocks(adjacency, frozenset([pair])))
        block = next(each for each in blocks if pair[0] in each.nodes)
        if self._result.options.stable and not is_stable_radius(block.spectral_radius):
            return np.inf
        worse = sum(each.value for each in blocks) - self._learned
        # A hidden cause has the penalty of an edge.
        n_more = int(adjacency.sum()) + 1 - self._result.graph.n_edges
        return self._result.tables.n_effective * worse + self._result.penalty * n_more


def hidden_cause_table(found: tuple[PairExplanation, ...]) -> pd.DataFrame:
    """The findings as a table, the best hidden causes first."""
    words = edges_in_words
    rows = [
        (
            each.a,
            each.b,
            words(each.learned),
            each.verdict,
            each.difference,
            words(each.superfluous),
        )
        for each in sorted(found, key=lambda each: round(each.difference, 6))
    ]
    columns = ["a", "b", "edges", "verdict", "difference", "superfluous"]
    return pd.DataFrame(rows, columns=columns)


def _best_for(score: _Score, graph: DirectedGraph, pair: tuple[int, int]) -> PairExplanation:
    """Remove the edges of the pair, then superfluous edges one by one."""
    i, j = pair
    names = graph.names
    A = graph.adjacency.copy()
    A[i, j] = A[j, i] = False
    best = score.difference(A, pair)
    removable = [(k, v) for v in pair for k in np.flatnonzero(A[:, v]).tolist()]
    superfluous: list[tuple[int, int]] = []
    while removable:
        trials = []
        for edge in removable:
            without = A.copy()
            without[edge] = False
            trials.append((score.difference(without, pair), edge))
        smallest, edge = min(trials, key=lambda trial: (round(trial[0], 6), trial[1]))
        if not smallest < best - 1e-6:
            break
        best = smallest
        A[edge] = False
        removable.remove(edge)
        superfluous.append(edge)
    learned = [(a, b) for a, b in (pair, pair[::-1]) if graph.adjacency[a, b]]
    return PairExplanation(
        names[i],
        names[j],
        tuple((names[a], names[b]) for a, b in learned),
        tuple((names[a], names[b]) for a, b in sorted(superfluous)),
        # Further digits are rounding; adding zero turns -0.0 into 0.
        round(float(best), 6) + 0.0,
    )
