"""``hippocampus``: the paper's fMRI question, asked of subjects of another study.

The paper learned from six regions of the hippocampus and found that two of the eight structures
equivalent to the anatomical graph were local optima of its score. For each subject: the learned
graph and its class, and for each of the eight structures whether a move improves its score, and
how far the score is from the best found.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from cyclearn.classes import equivalence_class
from cyclearn.data import Moments
from cyclearn.evaluation import class_distance
from cyclearn.experiments.data_folder import data_folder, fingerprint, located, read_columns
from cyclearn.experiments.study import Output, Task, configured
from cyclearn.foundation.errors import InputError
from cyclearn.graphs import DirectedGraph
from cyclearn.learning import learn
from cyclearn.models import fit
from cyclearn.results import LearnResult
from cyclearn.search.penalty import edge_penalty

ANATOMICAL = DirectedGraph.from_edges(
    [
        ("PRC", "ERC"),
        ("PHC", "ERC"),
        ("ERC", "CA3"),
        ("ERC", "CA1"),
        ("CA3", "CA1"),
        ("CA1", "Sub"),
        ("Sub", "ERC"),
    ]
)
_STARTS = 40
# Equivalent structures have one score, and a fit that misses the maximum would show another.
_FIT_STARTS = 100
_SAME_SCORE = 1e-4


@dataclass(frozen=True)
class HippocampusStudy:
    """Which structures equivalent to the anatomical graph are local optima."""

    data: Path | None = None
    penalty: str = "bic"
    seed: int = 0
    name: str = "hippocampus"

    def __post_init__(self) -> None:
        object.__setattr__(self, "data", located(self.data))
        edge_penalty(self.penalty, 2, 2)

    def _files(self) -> list[Path]:
        files = sorted(data_folder("hippocampus", self.data).glob("subject*.csv"))
        if not files:
            raise InputError("the folder hippocampus holds no files subject*.csv")
        return files

    @property
    def configuration(self) -> dict[str, Any]:
        """All that the results depend on, the data included."""
        return configured(self, penalty=self.penalty, data=fingerprint(self._files()))

    def tasks(self, n_instances: int | None) -> list[Task]:
        """One task for each subject."""
        names = [path.stem for path in self._files()][:n_instances]
        return [Task(name, 0) for name in names]

    def run(self, task: Task) -> list[Output]:
        """Learn from one subject, and look around each anatomical structure."""
        (path,) = (path for path in self._files() if path.stem == task.setting)
        moments = read_columns(path, ANATOMICAL.names)
        begun = perf_counter()
        learned = learn(moments, penalty=self.penalty, n_starts=_STARTS, random_state=self.seed)
        seconds = perf_counter() - begun
        members = list(equivalence_class(ANATOMICAL))
        climbs = [self._climb(moments, member) for member in members]
        best = min([learned.score, *(climb.score for climb in climbs)])
        agreeing, n_starts = learned.n_starts_agreeing
        first = {
            "n_samples": moments.n_samples,
            "edges": _edges(learned.graph),
            "n_edges": learned.graph.n_edges,
            "score": learned.score,
            "gap": learned.score - best,
            "class_size": learned.equivalence_class.size,
            "class_distance": int(class_distance(learned.graph, ANATOMICAL)),
            "is_acyclic": learned.graph.is_acyclic,
            "starts_agreeing": f"{agreeing} of {n_starts}",
        }
        outputs = [Output(0, "learned", first, seconds)]
        for number, (member, climb) in enumerate(zip(members, climbs, strict=True), start=1):
            begun = perf_counter()
            measures = self._looked_at(moments, member, climb, best)
            outputs.append(Output(number, "anatomical", measures, perf_counter() - begun))
        return outputs

    def _climb(
        self,
        moments: Moments,
        start: DirectedGraph,
        *,
        stable: bool = False,
        virtual_edges: bool = True,
    ) -> LearnResult:
        """Hill climbing from a graph; no move means a local optimum."""
        return learn(
            moments,
            method="hill-climbing",
            penalty=self.penalty,
            start=start,
            stable=stable,
            virtual_edges=virtual_edges,
        )

    def _looked_at(
        self, moments: Moments, member: DirectedGraph, climb: LearnResult, best: float
    ) -> dict[str, Any]:
        fitted = fit(member, moments, n_starts=_FIT_STARTS)
        score = -fitted.log_likelihood + climb.penalty * member.n_edges
        single = self._climb(moments, member, virtual_edges=False)
        measures: dict[str, Any] = {
            "edges": _edges(member),
            "n_edges": member.n_edges,
            "score": score,
            "gap": score - best,
            "is_stable": fitted.is_stable,
            "is_optimum": _gain(climb, score) == 0,
            "is_optimum_of_single_edges": _gain(single, score) == 0,
            # Where the structure itself is not stable, a search for stable ones never stays.
            "is_stable_optimum": bool(
                fitted.is_stable and _gain(self._climb(moments, member, stable=True), score) == 0
            ),
            "first_gain": _gain(climb, score),
        }
        if measures["first_gain"]:
            move = climb.moves[0]
            measures["first_move"] = ", ".join(
                [f"add {a} → {b}" for a, b in move.added]
                + [f"remove {a} → {b}" for a, b in move.removed]
            )
        return measures


def _gain(climb: LearnResult, score: float) -> float:
    """What the best move gains over the score of the start, zero at a local optimum.

    The search fits from fewer starts than the score given, so a move may only make up for that.
    """
    if not climb.moves or climb.moves[0].score > score - _SAME_SCORE:
        return 0.0
    return score - climb.moves[0].score


def _edges(graph: DirectedGraph) -> str:
    return ", ".join(f"{a} → {b}" for a, b in graph.edges)
