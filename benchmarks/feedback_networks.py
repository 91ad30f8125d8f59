"""The study `feedback` compared with an acyclic method, ges, and with effective sample sizes.

Name the folder that holds ``feedback/`` by ``--data`` or by CYCLEARN_DATA (`cyclearn experiment
feedback --help` says where the data are). A run that is cut continues with the same command.

    python benchmarks/feedback_networks.py --data DIR > benchmarks/results/feedback_networks.md
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import pandas as pd
from environment import describe_run

import cyclearn as cl
from cyclearn import DirectedGraph, read_graph
from cyclearn.data import read_table
from cyclearn.experiments import FeedbackStudy, Output, Task, run_study
from cyclearn.experiments.fmri import data_sets, measured_against
from cyclearn.experiments.result_tables import result_table

METHODS = ("auto", "default")
# Penalty and worth of the rows.
SETTINGS = (("bic", None), ("bic", "auto"), (None, None), (None, "auto"))


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


def honest_rows(networks: list[Path]) -> list[dict[str, Any]]:
    """Both penalties with all rows and with what they are worth, single tables and ten together."""
    found = []
    for network in networks:
        true = read_graph(network / "truth.graph.txt")
        tables = [read_table(path)[list(true.names)] for path in data_sets(network)]
        together = pd.concat([table - table.mean() for table in tables], ignore_index=True)
        for kind, data in (("one", tables), ("ten together", [together])):
            for table in data:
                for penalty, rows in SETTINGS:
                    options = {} if penalty is None else {"penalty": penalty}
                    begun = process_time()
                    result = cl.learn(table, n_effective=rows, **options)
                    seconds = process_time() - begun
                    measures = measured_against(result.graph, true)
                    found.append(
                        {
                            "data": kind,
                            "penalty": penalty or "default",
                            "rows": "effective" if rows else "all",
                            "seconds": seconds,
                            **measures,
                        }
                    )
    return found


def rows_table(found: list[dict[str, Any]]) -> str:
    """Means over networks and tables, for each penalty and count of rows."""
    heads = "| data | penalty | rows | tables | distance | in the true class | edges found, true "
    lines = [heads + "| adjacency | arrowhead, class | seconds |", "|" + "---|" * 10]
    frame = pd.DataFrame(found)
    for (data, penalty, rows), own in frame.groupby(["data", "penalty", "rows"], sort=False):
        pairs = [
            f"{np.nanmean(own[f'{name}_precision'].astype(float)):.2f}, "
            f"{np.nanmean(own[f'{name}_recall'].astype(float)):.2f}"
            for name in ("graph_adjacency", "class_arrowhead")
        ]
        lines.append(
            f"| {data} | {penalty} | {rows} | {len(own)} | {own['class_distance'].mean():.1f} | "
            f"{own['equivalent'].sum()} | {own['n_edges'].mean():.1f}, "
            f"{own['n_true_edges'].mean():.1f} | {' | '.join(pairs)} | "
            f"{own['seconds'].mean():.2f} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path)
    parser.add_argument("--out", type=Path, default=Path("feedback_networks.jsonl"))
    arguments = parser.parse_args()
    study = BesideGes(arguments.data, METHODS)
    results = run_study(study, arguments.out)
    print("# Networks with feedback: cyclearn compared with an acyclic method\n")
    print(describe_run("benchmarks/feedback_networks.py --data DIR"))
    print(
        "The data come from simulated fMRI-like networks (Sanchez-Romero et al. 2019), with ten "
        "data sets of 500 rows per network. *Distance* is the structural Hamming distance to the "
        "class of the true graph. In comparisons with the class, a feature is correct if some "
        "equivalent graph has it, and required if all have it; a cycle is counted by the "
        "pairs of nodes that it joins. `auto` is the default search with BIC, and "
        "`default` is the same search with the default penalty. For ges, one member of the "
        "class that it returns is compared.\n"
    )
    print(result_table([results]))
    print("\n## The effective sample size\n")
    print(
        "The rows of these tables are autocorrelated (lag-one autocorrelation near 0.73). "
        '*Effective* stands for `n_effective="auto"`. The table covers all networks, with '
        "every table separately and with the ten tables of a network together (each "
        "centred, 5,000 rows). Pairs of numbers are precision and recall; times are CPU "
        "seconds on one core.\n"
    )
    print(rows_table(honest_rows(study.networks())))


if __name__ == "__main__":
    main()
