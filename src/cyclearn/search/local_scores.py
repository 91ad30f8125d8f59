"""Scores of graphs that differ from a given one in the edges among three nodes.

Only what these edges can affect is scored again, so that the search for ties takes as long in large
graphs as in small ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

import numpy as np

from cyclearn.search.problem import SearchProblem
from cyclearn.search.redrawn_triples import Pair, toggled
from cyclearn.search.runs import SAME_SCORE, Adjacency
from cyclearn.search.score import GraphScore
from cyclearn.search.surroundings import Surroundings

# Scores per sample that are examined more closely: one start per component may end slightly above
# the best, never below.
NEAR = 1e-4


@dataclass(frozen=True)
class _Inside:
    """A part of a graph, the score on it, and the value and largest component of the rest."""

    around: Surroundings
    score: GraphScore
    outside: float
    largest_outside: int


class LocalScores:
    """Scores of the neighbours of a graph."""

    def __init__(self, problem: SearchProblem, score: GraphScore, A: Adjacency) -> None:
        self._problem = problem
        self._score = score
        self._A = A
        label = score.components(A)
        self._component_sizes = np.bincount(label)[label]
        self._value = score.thorough_value(A)
        self._part_around = lru_cache(self._surroundings)

    def are_tied(self, pairs: list[Pair], value: float) -> bool:
        """Whether the graph with the pairs toggled has this score per sample."""
        part = self._part(pairs)
        inside = part.around.part(toggled(self._A, pairs))
        quick = part.outside + part.score.value(inside) - value
        return bool(
            -SAME_SCORE <= quick <= NEAR
            and abs(part.outside + part.score.thorough_value(inside) - value) <= SAME_SCORE
        )

    def largest_component(self, pairs: list[Pair]) -> int:
        """How many nodes the largest component has with the pairs toggled."""
        part = self._part(pairs)
        inside = part.around.part(toggled(self._A, pairs))
        return max(part.largest_outside, part.score.largest_component(inside))

    def is_permitted(self, pairs: list[Pair]) -> bool:
        """Whether the graph with the pairs toggled keeps to limits and knowledge."""
        redrawn = toggled(self._A, pairs)
        largest = self.largest_component(pairs)
        return self._problem.limits.allow(redrawn, largest) and self._problem.respects_knowledge(
            redrawn
        )

    def _part(self, pairs: list[Pair]) -> _Inside:
        # Without a separate part, it is the same for all.
        ends = () if self._score.takes_all(self._A) else sorted(set(chain.from_iterable(pairs)))
        return self._part_around(tuple(ends))

    def _surroundings(self, nodes: tuple[int, ...]) -> _Inside:
        around, score = self._score.around(self._A, np.array(nodes, dtype=np.int64))
        sizes = self._component_sizes.copy()
        sizes[around.index[around.is_inner]] = 0
        return _Inside(
            around,
            score,
            self._value - score.thorough_value(around.part(self._A)),
            int(sizes.max()),
        )
