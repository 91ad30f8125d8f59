"""Simulated fMRI-like networks with feedback (Sanchez-Romero et al. 2019), cyclearn beside ges.

The data are public (doi 10.1162/netn_a_00061); name the folder that holds ``feedback/`` by
``--data`` or by the variable CYCLEARN_DATA.

    python benchmarks/feedback_networks.py --data DIR > benchmarks/results/feedback_networks.md
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from pathlib import Path

import numpy as np
from environment import describe_run

from cyclearn import DirectedGraph, EquivalenceClass, equivalence_class, learn, read_graph
from cyclearn.metrics import class_distance, structure_scores
from cyclearn.models import read_table


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, default=os.environ.get("CYCLEARN_DATA"))
    arguments = parser.parse_args()
    if arguments.data is None or not (Path(arguments.data) / "feedback").is_dir():
        sys.exit("name the folder that holds feedback/ by --data or CYCLEARN_DATA")
    networks = sorted((Path(arguments.data) / "feedback").iterdir())
    print("# Networks with feedback: cyclearn beside a learner of acyclic graphs\n")
    print(describe_run("benchmarks/feedback_networks.py --data DIR"))
    print(
        "Ten data sets of 500 rows a network. Distance: structural Hamming distance to the class "
        "of the true graph. Adjacency: pairs that are joined, against the true graph. Orientation: "
        "directed edges, against the true graph; for ges, one member of its class as it returns a "
        "class. All are means over the data sets.\n"
    )
    print(
        "| network | nodes | edges | method | distance | adjacency precision | recall "
        "| orientation precision | recall | edges found |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    totals: dict[str, list[list[float]]] = {}
    for network in networks:
        truth = read_graph(network / "truth.graph.txt")
        members = equivalence_class(truth)
        rows: dict[str, list[list[float]]] = {}
        for path in sorted(network.glob("sim-*.txt")):
            table = read_table(path)[list(truth.names)]
            for method, graph in learned(table, truth.names).items():
                rows.setdefault(method, []).append(measures(graph, truth, members))
        for method, values in rows.items():
            totals.setdefault(method, []).extend(values)
            print_row(f"{network.name} | {truth.n_nodes} | {truth.n_edges}", method, values)
    for method, values in totals.items():
        print_row("all | |", method, values)


def learned(table, names) -> dict[str, DirectedGraph]:
    import ges

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cpdag, _ = ges.fit_bic(table.to_numpy())
        dag = ges.utils.pdag_to_dag(cpdag)
    return {
        "cyclearn, tabu": learn(table, method="tabu").graph,
        "cyclearn, tabu, penalty 2 bic": learn(table, method="tabu", penalty="2 bic").graph,
        "cyclearn, auto": learn(table, random_state=0).graph,
        "ges": DirectedGraph(dag != 0, names),
    }


def measures(graph: DirectedGraph, truth: DirectedGraph, members: EquivalenceClass) -> list[float]:
    scores = structure_scores(graph, truth, to_class=False)
    return [
        class_distance(graph, members),
        scores.adjacency.precision,
        scores.adjacency.recall,
        scores.arrowhead.precision,
        scores.arrowhead.recall,
        graph.n_edges,
    ]


def print_row(head: str, method: str, values: list[list[float]]) -> None:
    distance, *shares, n_edges = np.nanmean(np.array(values, dtype=float), axis=0)
    cells = " | ".join(f"{value:.2f}" for value in shares)
    print(f"| {head} | {method} | {distance:.1f} | {cells} | {n_edges:.1f} |")


if __name__ == "__main__":
    main()
