"""The studies on fMRI data, which are not shipped: a message says where to get them.

``feedback``: simulated fMRI networks with feedback loops, of known structure.

``hippocampus``: the paper's fMRI question, with subjects of another study. The paper learned
from six regions of the hippocampus and found that two of the eight structures equivalent to the
anatomical graph were local optima of its score. For each subject: the learned graph and its class,
and for each of the eight structures whether a move improves its score, and the distance of the
score from the best found.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import Any

from cyclearn.classes import equivalence_class
from cyclearn.data import Moments, as_moments, read_table
from cyclearn.evaluation import class_distance, structure_scores
from cyclearn.experiments.study import Output, Study, Task, check_methods, learn_by
from cyclearn.foundation.errors import InputError
from cyclearn.graphs import DirectedGraph, read_graph
from cyclearn.graphs.graph_input import as_graph
from cyclearn.learning import learn
from cyclearn.models import fit
from cyclearn.results import LearnResult
from cyclearn.search.penalty import edge_penalty

VARIABLE = "CYCLEARN_DATA"

SOURCES = {
    "feedback": (
        "Simulated fMRI networks with feedback (Sanchez-Romero et al. 2019, "
        "doi 10.1162/netn_a_00061; CC0): https://github.com/cmu-phil/example-causal-datasets, "
        "folder simulated/feedbacks. Make DIR/feedback/NETWORK/ with the files sim-*.txt of a "
        "network and its true graph as truth.graph.txt."
    ),
    "hippocampus": (
        "Resting-state 7T fMRI of the medial temporal lobe (Shah et al. 2018; GPL-3): "
        "https://github.com/shahpreya/MTLnet, folder data/functional, res_tcourse_L.txt of a "
        "subject. Make DIR/hippocampus/subjectN_left.csv with the columns PRC (mean of BA35 and "
        "BA36), PHC, ERC, Sub, CA1, CA3 (mean of CA3 and DG)."
    ),
}


def located(data: Path | str | None) -> Path | None:
    """The given data folder, or CYCLEARN_DATA, as an absolute path."""
    given = data or os.environ.get(VARIABLE)
    return Path(given).absolute() if given else None


def data_folder(name: str, given: Path | None) -> Path:
    """The folder ``name`` inside the data folder."""
    if given is None:
        raise InputError(
            f"this study needs data that are not shipped; give the folder that contains {name}/ "
            f"with --data DIR or {VARIABLE}. {SOURCES[name]}"
        )
    folder = given / name
    if not folder.is_dir():
        raise InputError(f"there is no folder {name} in {given}. {SOURCES[name]}")
    return folder


def read_columns(path: Path, names: Sequence[str]) -> Moments:
    """Moments of some columns of a table in a file."""
    table = read_table(path)
    missing = [name for name in names if name not in table.columns]
    if missing:
        raise InputError(
            f"{path} has no column {', '.join(map(repr, missing))}; its columns must be "
            + ", ".join(names)
        )
    return as_moments(table[list(names)])


def fingerprint(paths: Iterable[Path]) -> str:
    """A short digest of some files, so that a run is not continued with other data."""
    digest = sha256()
    for path in sorted(paths):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


METHODS = ("auto", "default", "tabu", "tabu-2bic")
_TRUTH = "truth.graph.txt"


@dataclass(frozen=True)
class FeedbackStudy(Study):
    """Methods compared on networks with feedback, against the true graph and its class."""

    data: Path | None = None
    methods: tuple[str, ...] = METHODS
    seed: int = 0
    name: str = "feedback"

    def __post_init__(self) -> None:
        object.__setattr__(self, "data", located(self.data))
        check_methods(self.methods)

    def networks(self) -> list[Path]:
        """The folders that contain a true graph."""
        folder = data_folder("feedback", self.data)
        found = sorted(path.parent for path in folder.glob(f"*/{_TRUTH}"))
        if not found:
            raise InputError(f"{folder} contains no folder with a {_TRUTH}")
        for network in found:
            if not data_sets(network):
                raise InputError(f"{network} contains no data sets sim-*.txt")
        return found

    @property
    def configuration(self) -> dict[str, Any]:
        """Everything that the results depend on, including the data."""
        networks = self.networks()
        return super().configuration | {
            "networks": [network.name for network in networks],
            "data": fingerprint(path for network in networks for path in network.glob("*.txt")),
        }

    def tasks(self, n_instances: int | None) -> list[Task]:
        """One task for each data set of each network."""
        return [
            Task(network.name, instance)
            for network in self.networks()
            for instance in range(len(data_sets(network)[:n_instances]))
        ]

    def run(self, task: Task) -> list[Output]:
        """Learn from one data set by all methods."""
        network = data_folder("feedback", self.data) / task.setting
        true = read_graph(network / _TRUTH)
        moments = read_columns(data_sets(network)[task.instance], true.names)
        outputs = []
        for method in self.methods:
            learned = learn_by(method, moments)
            outputs.append(
                Output(0, method, measured_against(learned.graph, true), learned.seconds)
            )
        return outputs


def data_sets(network: Path) -> list[Path]:
    """The tables of one network."""
    return sorted(network.glob("sim-*.txt"))


def measured_against(graph: DirectedGraph, true: DirectedGraph) -> dict[str, Any]:
    """Distance to the class; precision and recall against the graph and against the class."""
    members = equivalence_class(true)
    return {
        "class_distance": int(class_distance(graph, members)),
        "equivalent": graph in members,
        "n_edges": graph.n_edges,
        "n_nodes": true.n_nodes,
        "n_true_edges": true.n_edges,
        **structure_scores(graph, true, to_class=False).by_name("graph_"),
        **structure_scores(graph, members).by_name("class_"),
    }


ANATOMICAL = as_graph(
    "PRC -> ERC, PHC -> ERC, ERC -> CA3, ERC -> CA1, CA3 -> CA1, CA1 -> Sub, Sub -> ERC"
)
_STARTS = 40
# Equivalent structures have one score, and a fit that misses the maximum would show another.
_FIT_STARTS = 100
_SAME_SCORE = 1e-4


@dataclass(frozen=True)
class HippocampusStudy(Study):
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
            raise InputError("the folder hippocampus contains no files subject*.csv")
        return files

    @property
    def configuration(self) -> dict[str, Any]:
        """Everything that the results depend on, including the data."""
        return super().configuration | {"data": fingerprint(self._files())}

    def tasks(self, n_instances: int | None) -> list[Task]:
        """One task for each subject."""
        names = [path.stem for path in self._files()][:n_instances]
        return [Task(name, 0) for name in names]

    def run(self, task: Task) -> list[Output]:
        """Learn from one subject, and test each anatomical structure."""
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

    def _climb(self, moments: Moments, start: DirectedGraph, **options: bool) -> LearnResult:
        """Hill climbing from a graph; no move means a local optimum."""
        asked: dict[str, Any] = {"stable": False, **options}
        return learn(moments, method="hill-climbing", penalty=self.penalty, start=start, **asked)

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
            # If the structure itself is not stable, a search for stable ones always leaves it.
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
    """Gain of the best move over the score of the start; zero at a local optimum.

    The search fits from fewer starts than the given score, so a gain may only reflect that.
    """
    if not climb.moves or climb.moves[0].score > score - _SAME_SCORE:
        return 0.0
    return score - climb.moves[0].score


def _edges(graph: DirectedGraph) -> str:
    return ", ".join(f"{a} → {b}" for a, b in graph.edges)
