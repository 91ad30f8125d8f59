"""The moves of a search by name, on the scale of the data, and its computing cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cyclearn.foundation.answers import Answer
from cyclearn.search.problem import SearchProblem
from cyclearn.search.runs import SearchRun


@dataclass(frozen=True)
class SearchCost:
    """The cost of a search: moves taken, components fitted, moves rejected; seconds elapsed."""

    n_moves: int
    n_evaluations: int
    n_refused: int
    seconds: float = field(compare=False)


@dataclass(frozen=True)
class TracedMove(Answer):
    """One move of the search: the edges it changed and its change of the score."""

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
        """Restore a move from :meth:`to_dict`."""
        edges = {part: tuple((a, b) for a, b in record[part]) for part in ("added", "removed")}
        return cls(**{**record, **edges})


def sample_score(value: float, problem: SearchProblem) -> float:
    """Convert a score of the search to the score of the whole sample, constants included.

    A search uses standardised columns and scores per sample.
    """
    return float(problem.tables.n_effective * (value + problem.constant))


def traced_moves(run: SearchRun, problem: SearchProblem) -> tuple[TracedMove, ...]:
    """The moves of a run; scores are those of the whole sample, constants included."""
    names, n = problem.names, problem.tables.n_effective
    moves = []
    A = run.start.copy()
    for step in run.steps:
        toggled = [((names[i], names[j]), bool(A[i, j])) for i, j in step.toggles.tolist()]
        A[tuple(step.toggles.T)] ^= 1
        moves.append(
            TracedMove(
                tuple(edge for edge, was_there in toggled if not was_there),
                tuple(edge for edge, was_there in toggled if was_there),
                float(n * step.delta),
                sample_score(step.score, problem),
                step.is_new_best,
                step.is_annealed,
            )
        )
    return tuple(moves)
