"""``feedback``: simulated fMRI networks with feedback loops, of known structure."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cyclearn.classes import equivalence_class
from cyclearn.evaluation import class_distance, structure_scores
from cyclearn.experiments.compared_methods import checked_methods, learn_by
from cyclearn.experiments.data_folder import data_folder, fingerprint, located, read_columns
from cyclearn.experiments.study import Output, Task, configured, flat
from cyclearn.foundation.errors import InputError
from cyclearn.graphs import DirectedGraph, read_graph

METHODS = ("auto", "default", "tabu", "tabu-2bic")
_TRUTH = "truth.graph.txt"


@dataclass(frozen=True)
class FeedbackStudy:
    """Methods compared on networks with feedback, against the true graph and its class."""

    data: Path | None = None
    methods: tuple[str, ...] = METHODS
    seed: int = 0
    name: str = "feedback"

    def __post_init__(self) -> None:
        object.__setattr__(self, "data", located(self.data))
        checked_methods(self.methods)

    def networks(self) -> list[Path]:
        """The folders that hold a true graph."""
        folder = data_folder("feedback", self.data)
        found = sorted(path.parent for path in folder.glob(f"*/{_TRUTH}"))
        if not found:
            raise InputError(f"{folder} holds no folder with a {_TRUTH}")
        for network in found:
            if not data_sets(network):
                raise InputError(f"{network} holds no data sets sim-*.txt")
        return found

    @property
    def configuration(self) -> dict[str, Any]:
        """All that the results depend on, the data included."""
        networks = self.networks()
        return configured(
            self,
            methods=list(self.methods),
            networks=[network.name for network in networks],
            data=fingerprint(path for network in networks for path in network.glob("*.txt")),
        )

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
        **flat(structure_scores(graph, true, to_class=False), "graph_"),
        **flat(structure_scores(graph, members), "class_"),
    }
