"""What a search did: its moves by name, on the scale of the data, and its computing cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cyclearn.foundation.answers import Answer
from cyclearn.search.problem import SearchProblem
from cyclearn.search.runs import SearchRun


@dataclass(frozen=True)
class SearchCost:
    """What a search cost: moves taken, components fitted, moves refused; seconds of wall time."""

    n_moves: int
    n_evaluations: int
    n_refused: int
    seconds: float = field(compare=False)


@dataclass(frozen=True)
class TracedMove(Answer):
    """One move of the search: the edges it changed and what it did to the score."""

    added: tuple[tuple[str, str], ...]
    removed: tuple[tuple[str, str], ...]
    change: float
    score: float
    is_best: bool
    is_annealed: bool = False

    @property
    def kind(self) -> str:
        """Add, delete, reverse, the virtual-edge operator, or annealing of many edges."""
        if self.is_annealed:
            return "annealing"
        if len(self.added) == 1 and not self.removed:
            return "add"
        if len(self.removed) == 1 and not self.added:
            return "delete"
        if len(self.added) == len(self.removed) == 1 and self.added[0] == self.removed[0][::-1]:
            return "reverse"
        return "virtual edge"

    def describe(self) -> str:
        """The move in words."""
        parts = [f"-{a} -> {b}" for a, b in self.removed] + [f"+{a} -> {b}" for a, b in self.added]
        return ", ".join(parts)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> TracedMove:
        """The move that :meth:`to_dict` gave."""
        edges = {part: tuple((a, b) for a, b in record[part]) for part in ("added", "removed")}
        return cls(**{**record, **edges})


def sample_score(value: float, problem: SearchProblem) -> float:
    """The score of the whole sample, constants included, of a score that a search works with.

    A search has standardised columns and scores them per sample.
    """
    return float(problem.tables.n_effective * (value + problem.constant))


def traced_moves(run: SearchRun, problem: SearchProblem) -> tuple[TracedMove, ...]:
    """The moves of a run; scores are those of the whole sample, constants included."""
    names, n = problem.names, problem.tables.n_effective
    moves = []
    A = run.start.copy()
    for step in run.steps:
        added: list[tuple[str, str]] = []
        removed: list[tuple[str, str]] = []
        for i, j in step.toggles.tolist():
            (removed if A[i, j] else added).append((names[i], names[j]))
            A[i, j] ^= 1
        edges, change = (tuple(added), tuple(removed)), float(n * step.delta)
        score = sample_score(step.score, problem)
        moves.append(TracedMove(*edges, change, score, step.is_new_best, step.is_annealed))
    return tuple(moves)
