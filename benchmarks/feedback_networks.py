"""The study `feedback` with a learner of acyclic graphs, ges, beside it.

Name the folder that holds ``feedback/`` by ``--data`` or by CYCLEARN_DATA (`cyclearn experiment
feedback --help` says where the data are). A run that is cut continues with the same command.

    python benchmarks/feedback_networks.py --data DIR > benchmarks/results/feedback_networks.md
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from time import perf_counter

from environment import describe_run

from cyclearn import DirectedGraph, read_graph
from cyclearn.experiments import FeedbackStudy, Output, Task, run_study
from cyclearn.experiments.feedback import data_sets, measured_against
from cyclearn.experiments.tables import result_table
from cyclearn.models import read_table


class BesideGes(FeedbackStudy):
    """The study, and one member of the class that ges returns."""

    @property
    def configuration(self) -> dict[str, object]:
        """All that the results depend on."""
        return super().configuration | {"peer": "ges"}

    def run(self, task: Task) -> list[Output]:
        """Learn from one data set by all methods and by ges."""
        import ges

        (network,) = (path for path in self.networks() if path.name == task.setting)
        true = read_graph(network / "truth.graph.txt")
        table = read_table(data_sets(network)[task.instance])[list(true.names)]
        begun = perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cpdag, _ = ges.fit_bic(table.to_numpy())
            dag = ges.utils.pdag_to_dag(cpdag)
        seconds = perf_counter() - begun
        measures = measured_against(DirectedGraph(dag != 0, true.names), true)
        return [*super().run(task), Output(0, "ges", measures, seconds)]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path)
    parser.add_argument("--out", type=Path, default=Path("feedback_networks.sqlite"))
    arguments = parser.parse_args()
    results = run_study(BesideGes(arguments.data), arguments.out)
    print("# Networks with feedback: cyclearn beside a learner of acyclic graphs\n")
    print(describe_run("benchmarks/feedback_networks.py --data DIR"))
    print(
        "Simulated fMRI-like networks (Sanchez-Romero et al. 2019), ten data sets of 500 rows a "
        "network. Distance: structural Hamming distance to the class of the true graph. Against "
        "the class, right is what some equivalent graph has, and to be found is what all have; a "
        "cycle is counted by the pairs of nodes that it joins. `tabu` has length 5, or 10 beyond "
        "five variables, and patience 5; `tabu-2bic` length and patience 10 and twice the penalty. "
        "For ges, one member of the class that it returns.\n"
    )
    print(result_table([results]))


if __name__ == "__main__":
    main()
