"""All metrics of a learned graph against a true one, in one record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import isnan
from typing import Any, TypeVar

from cyclearn.classes import EquivalenceClass, equivalence_class
from cyclearn.data.input_checks import whole_number
from cyclearn.evaluation import structure
from cyclearn.evaluation.multi_domain import Domains, SuccessRate, multi_domain_success
from cyclearn.foundation import Answer, Deadline, LimitError, deadline_after, seconds_left
from cyclearn.foundation.arguments import seconds
from cyclearn.foundation.option_values import checks_names
from cyclearn.foundation.random_state import RandomState
from cyclearn.graphs import DirectedGraph
from cyclearn.models import LinearGaussianModel


@dataclass(frozen=True)
class Evaluation(Answer):
    """Distances of a learned graph from the true graph and its class.

    ``success`` is None if no distributions were drawn; it and ``scores`` are None if the time limit
    was too short for them. ``n_redundant`` counts the edges of the learned and of the true graph
    that rotations or rules show to be redundant.
    """

    equivalent: bool
    shd: int
    class_distance: structure.ClassDistance
    scores: structure.StructureScores | None
    success: SuccessRate | None
    n_edges: tuple[int, int]
    n_redundant: tuple[int, int]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "equivalent": self.equivalent,
            "shd": self.shd,
            "class_distance": int(self.class_distance),
            "class_distance_is_exact": self.class_distance.is_exact,
            "class_distance_lower_bound": self.class_distance.lower_bound,
            "scores": None if self.scores is None else self.scores.to_dict(),
            "multi_domain_success": None if self.success is None else float(self.success),
            "n_domains": 0 if self.success is None else len(self.success.successes),
            "eta": None if self.success is None else self.success.eta,
            "n_edges_learned": self.n_edges[0],
            "n_edges_true": self.n_edges[1],
            "n_redundant_learned": self.n_redundant[0],
            "n_redundant_true": self.n_redundant[1],
        }

    def __str__(self) -> str:
        distance = self.class_distance
        nearest = str(int(distance))
        if not distance.is_exact:
            nearest = f"between {distance.lower_bound} and {nearest}"
        lines = [
            f"equivalent to the true graph   {'yes' if self.equivalent else 'not by rotations'}",
            f"edges, learned and true        {self.n_edges[0]}, {self.n_edges[1]}",
            *(
                [f"redundant among them           {self.n_redundant[0]}, {self.n_redundant[1]}"]
                if any(self.n_redundant)
                else []
            ),
            f"Hamming distance to the graph  {self.shd}",
            f"Hamming distance to the class  {nearest}",
        ]
        lines += _score_lines(self.scores)
        if self.success is None:
            lines.append(
                "multi-domain success           unknown: no random weights were stable in time"
            )
        else:
            successes = self.success.successes
            lines.append(
                f"multi-domain success           {self.success:.3f} ({sum(successes)} of "
                f"{len(successes)} distributions, KL < {self.success.eta:g})"
            )
        return "\n".join(lines)


def _score_lines(scores: structure.StructureScores | None) -> list[str]:
    if scores is None:
        return ["precision, recall              unknown: the time limit was too short"]
    lines = []
    for name, pair in scores.pairs.items():
        numbers = ", ".join(
            "nothing to count" if isnan(x) else f"{x:.3f}" for x in (pair.precision, pair.recall)
        )
        lines.append(f"{name + ' precision, recall':<31}{numbers}")
    if not scores.is_exact:
        lines.append("(cycles: the class is large, and only a part of it was examined)")
    return lines


class Evaluator:
    """Evaluates many learned graphs against one true graph.

    Everything that depends only on the true graph is computed once, and so are repeated graphs.
    """

    def __init__(self, true: DirectedGraph, domains: Sequence[LinearGaussianModel] | None) -> None:
        self.true = true
        self.domains = None if domains is None else Domains(true, domains)
        self._features: structure.Features | None = None
        self._found: dict[DirectedGraph, Evaluation] = {}

    @cached_property
    def members(self) -> EquivalenceClass:
        """The class of the true graph."""
        return equivalence_class(self.true)

    def evaluate(self, learned: DirectedGraph, deadline: Deadline = None) -> Evaluation:
        """All metrics of a learned graph; each takes at most half of the remaining time."""
        learned = structure.aligned(learned, self.true)
        if learned not in self._found:
            self._found[learned] = Evaluation(
                learned in self.members,
                structure.shd(learned, self.true),
                structure.class_distance(
                    learned, self.members, time_limit=seconds_left(deadline) / 2
                ),
                self._scores(learned, deadline_after(seconds_left(deadline) / 2)),
                None
                if self.domains is None
                else _in_time(partial(self.domains.success, learned, deadline)),
                (learned.n_edges, self.true.n_edges),
                (
                    learned.n_edges - learned.reduced().n_edges,
                    self.true.n_edges - self.members.representative.n_edges,
                ),
            )
        return self._found[learned]

    def _scores(
        self, learned: DirectedGraph, deadline: Deadline
    ) -> structure.StructureScores | None:
        if self._features is None:
            self._features = _in_time(partial(structure.Features.of_class, self.members, deadline))
        return None if self._features is None else self._features.scores(learned)


T = TypeVar("T")


def _in_time(work: Callable[[], T]) -> T | None:
    """The result of the computation, or None if a limit stopped it."""
    try:
        return work()
    except LimitError:
        return None


@checks_names
def evaluate(
    learned: DirectedGraph,
    true: DirectedGraph,
    *,
    n_domains: int = 50,
    eta: float | None = None,
    time_limit: float | None = None,
    random_state: RandomState = 0,
) -> Evaluation:
    """Compute all metrics of a learned graph against a true one.

    Parameters
    ----------
    learned, true : DirectedGraph
        Graphs on the same nodes; the order of the nodes may differ.
    n_domains, eta, random_state
        As in :func:`multi_domain_success`.
    time_limit : float, optional
        Seconds in total: half for the distance to the class, half of the rest for the scores, the
        remainder for the distributions. Measures that did not finish are None in the result.

    Examples
    --------
    >>> true = DirectedGraph.from_edges([("a", "b"), ("b", "c"), ("c", "a"), ("d", "a")])
    >>> learned = DirectedGraph.from_edges([("a", "b"), ("b", "c"), ("d", "a")])
    >>> print(evaluate(learned, true))
    equivalent to the true graph   not by rotations
    edges, learned and true        3, 4
    Hamming distance to the graph  1
    Hamming distance to the class  1
    adjacency precision, recall    1.000, 0.667
    arrowhead precision, recall    1.000, nothing to count
    cycle precision, recall        nothing to count, 0.000
    multi-domain success           0.000 (0 of 50 distributions, KL < 0.004)
    """
    learned = structure.aligned(learned, true)
    whole_number("n_domains", n_domains, 1)
    deadline = deadline_after(seconds("time_limit", time_limit))
    found = Evaluator(true, None).evaluate(learned, deadline)
    # Last, because distances and scores do not need distributions.
    success = _in_time(
        partial(
            multi_domain_success,
            learned,
            true,
            n_domains=n_domains,
            eta=eta,
            time_limit=seconds_left(deadline),
            random_state=random_state,
        )
    )
    return replace(found, success=success)
