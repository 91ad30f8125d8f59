"""Proteins under experiments (Sachs et al. 2005), compared with the consensus graph of the field.

python benchmarks/sachs.py --data DIR > benchmarks/results/sachs.md

DIR/sachs holds sachs.experiments.txt, eleven proteins and a 0/1 column for each reagent, and
truth.graph.txt, the consensus.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
from environment import describe_run
from numpy.typing import NDArray

from cyclearn import DirectedGraph, LearnResult, SamplingWarning, learn, read_graph

# What each reagent acts on. Two more are conditions of all cells and act on none of the eleven.
TARGETS = {
    "aktinhib": "akt",
    "g0076": "pkc",
    "psitect": "pip2",
    "u0126": "mek",
    "ly": "pip3",
    "pma": "pkc",
    "b2camp": "pka",
}
N_PROTEINS = 11


def read(folder: Path) -> tuple[pd.DataFrame, DirectedGraph]:
    """The proteins with a column of targets, and the consensus."""
    cells = pd.read_csv(folder / "sachs.experiments.txt", sep="\t")
    proteins = cells.iloc[:, :N_PROTEINS].copy()
    acted_on = [
        " ".join(target for reagent, target in TARGETS.items() if row[reagent])
        for _, row in cells.iterrows()
    ]
    consensus = read_graph(folder / "truth.graph.txt").reordered(tuple(proteins.columns))
    return proteins.assign(targets=acted_on), consensus


def shares(found: NDArray[np.bool_], known: NDArray[np.bool_]) -> str:
    """Precision and recall."""
    both = (found & known).sum()
    return f"{both} of {found.sum()} | {both} of {known.sum()}"


def joined(graph: DirectedGraph) -> NDArray[np.bool_]:
    return np.triu(graph.adjacency | graph.adjacency.T)


PROBABLE = (
    "| rows and experiments | R̂ | effective sample size | edges with 0.9 or more | of these in the "
    "consensus | consensus edges with 0.5 or more | variables in one feedback loop with 0.9 or "
    "more |\n" + "|---" * 7 + "|"
)


def probable(name: str, result: LearnResult, consensus: DirectedGraph) -> list[str]:
    """What is sure: edges with a probability of 0.9 or more, and feedback."""
    found = result.posterior
    if found is None or not found.is_determined:
        return [] if found is None else [f"| {name} | {found.r_hat:.2f} | not determined |||||"]
    edges = found.edge_probabilities().loc[[*consensus.names], [*consensus.names]].to_numpy()
    known = sorted(np.argwhere(consensus.adjacency).tolist(), key=lambda edge: -edges[tuple(edge)])
    named = [
        f"{consensus.names[i]} → {consensus.names[j]} {edges[i, j]:.2f}"
        for i, j in known
        if edges[i, j] >= 0.5
    ]
    sure = edges >= 0.9
    together = found.feedback_probabilities()
    loops = connected(together.to_numpy() >= 0.9, found.names)
    within = [
        f"{', '.join(nodes)} (any two {together.loc[nodes, nodes].to_numpy().min():.2f} or more)"
        for nodes in loops
    ]
    return [
        f"| {name} | {found.r_hat:.2f} | {found.effective_size:.0f} | {sure.sum()} "
        f"| {(sure & consensus.adjacency).sum()} | {', '.join(named) or 'none'} "
        f"| {'; '.join(within) or 'none'} |"
    ]


def connected(related: NDArray[np.bool_], names: tuple[str, ...]) -> list[list[str]]:
    """Sets of more than one variable that relations of pairs connect."""
    related = related & ~np.eye(len(names), dtype=bool)
    graph = DirectedGraph(related, names)
    return [list(nodes) for nodes in graph.components if len(nodes) > 1]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, default=os.environ.get("CYCLEARN_DATA"))
    parser.add_argument("--seconds", type=float, default=300.0, help="for each search")
    parser.add_argument("--sample", type=float, default=200.0, help="for each posterior, or 0")
    arguments = parser.parse_args()
    proteins, consensus = read(Path(arguments.data) / "sachs")
    alone = proteins.drop(columns="targets")
    is_observed = proteins["targets"] == ""
    column: dict[str, Any] = {"interventions": "targets"}
    runs: dict[str, tuple[pd.DataFrame, dict[str, Any]]] = {
        "cells without a target, ranks": (alone[is_observed], {"margins": "rank"}),
        "all cells as one table, targets ignored": (alone, {}),
        "targets intervened on": (proteins, column | {"intercepts": "table"}),
        "targets intervened on, no cycles": (
            proteins,
            column | {"intercepts": "table", "max_component": 1},
        ),
        "targets with other noise": (
            proteins,
            column | {"intervention_kind": "noise", "intercepts": "table"},
        ),
    }
    print("# Proteins under experiments\n")
    how = f"--seconds {arguments.seconds:g} --sample {arguments.sample:g}"
    print(describe_run(f"benchmarks/sachs.py --data DIR {how}"))
    counts = proteins["targets"].replace("", "none").value_counts()
    print(
        f"The table has {len(proteins):,} cells and {N_PROTEINS} proteins and lipids on a "
        "logarithmic scale. The numbers of rows by the target of the reagent are:\n\n| "
        + " | ".join(counts.index)
        + " |\n"
        + "|---" * len(counts)
        + "|\n| "
        + " | ".join(f"{n:,}" for n in counts)
        + f" |\n\nEach search uses the default penalty and at most {arguments.seconds:g} s. The "
        "results are compared with the consensus of the field, which has no cycles: "
        "*right* counts the found edges that are in the consensus, and *found* the "
        "consensus edges that were found; the same is shown for joined pairs, whatever "
        "the direction.\n"
    )
    print(
        "| rows and experiments | edges | largest component | edges right | edges found | "
        "pairs right | pairs found | search | s of CPU |\n" + "|---" * 9 + "|"
    )
    sure: list[str] = []
    for name, (table, options) in runs.items():
        begun = process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SamplingWarning)
            result: LearnResult = learn(
                table,
                time_limit=arguments.seconds,
                posterior={"time_limit": arguments.sample} if arguments.sample else False,
                **options,
            )
        sure += probable(name, result, consensus)
        print(*sure[-1:], result.status, file=sys.stderr, flush=True)
        seconds = process_time() - begun
        graph = result.graph.reordered(consensus.names)
        largest = max(len(component) for component in graph.components)
        ended = "stopped by the limit" if "time_limit" in result.limits else "finished"
        print(
            f"| {name} | {graph.n_edges} | {largest} "
            f"| {shares(graph.adjacency, consensus.adjacency)} "
            f"| {shares(joined(graph), joined(consensus))} | {ended} | {seconds:.1f} |",
            flush=True,
        )
    if sure:
        print(
            "\nThe next table shows probabilities of edges and loops, averaged over resamples of "
            f"the cells, after at most {arguments.sample:g} s each:\n"
        )
        print("\n".join([PROBABLE, *sure]))
    print(
        "\nThe model has linear equations and Gaussian noise, which thousands of cells "
        "reject. A reagent that inhibits the activity of a protein need not set the level "
        "that is measured, which is why both kinds of intervention are tried. The "
        "consensus has no cycles, so it cannot confirm one."
    )


if __name__ == "__main__":
    main()
