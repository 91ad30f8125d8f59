"""On acyclic truths: the default search beside ges, and BOSS and GRaSP of causal-learn.

python benchmarks/acyclic_peers.py > benchmarks/results/acyclic_peers.md
"""

from __future__ import annotations

import argparse
import random
import sys
import warnings
from collections.abc import Callable
from time import perf_counter

import ges
import ges.utils
import numpy as np
from causallearn.graph.GeneralGraph import GeneralGraph
from causallearn.search.PermutationBased.BOSS import boss
from causallearn.search.PermutationBased.GRaSP import grasp
from causallearn.utils.PDAG2DAG import pdag2dag
from environment import describe_run
from numpy.typing import NDArray

from cyclearn import DirectedGraph, fit, learn, simulate

Rows = NDArray[np.float64]
# The search of both optimises log-likelihood − λ log n · parameters; one half is the BIC.
BIC = {"lambda_value": 0.5}


def auto(rows: Rows) -> DirectedGraph:
    return learn(rows, penalty="bic").graph


def auto_one_start(rows: Rows) -> DirectedGraph:
    return learn(rows, penalty="bic", n_starts=1).graph


def ges_graph(rows: Rows) -> DirectedGraph:
    pattern, _ = ges.fit_bic(rows)
    return DirectedGraph(ges.utils.pdag_to_dag(pattern) == 1)


def boss_graph(rows: Rows) -> DirectedGraph:
    return _member(boss(rows, parameters=BIC, verbose=False))


def grasp_graph(rows: Rows) -> DirectedGraph:
    return _member(grasp(rows, parameters=BIC, verbose=False))


def _member(pattern: GeneralGraph) -> DirectedGraph:
    """A graph of the pattern; causal-learn writes i → j as −1 at (i, j) and 1 at (j, i)."""
    marks = pdag2dag(pattern).graph
    return DirectedGraph((marks == -1) & (marks.T == 1))


METHODS: dict[str, Callable[[Rows], DirectedGraph]] = {
    "cyclearn, auto": auto,
    "cyclearn, auto, one start": auto_one_start,
    "ges": ges_graph,
    "causal-learn, BOSS": boss_graph,
    "causal-learn, GRaSP": grasp_graph,
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--graphs", type=int, default=50)
    parser.add_argument("--nodes", type=int, default=20)
    parser.add_argument("--samples", type=int, default=10_000)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    learn(np.random.default_rng(0).normal(size=(100, 3)))
    times: dict[str, list[float]] = {name: [] for name in METHODS}
    scores: dict[str, list[float]] = {name: [] for name in METHODS}
    truths = []
    for seed in range(arguments.graphs):
        rng = np.random.default_rng([1959, seed])
        truth = simulate.random_graph(arguments.nodes, max_component=1, random_state=rng)
        rows = simulate.random_model(truth, random_state=rng).sample(
            arguments.samples, random_state=rng
        )
        rows = rows.to_numpy() - rows.to_numpy().mean(axis=0)
        truths.append(_bic(truth, rows))
        for name, method in METHODS.items():
            random.seed(seed)
            np.random.seed(seed)  # noqa: NPY002 - the peers draw from it
            started = perf_counter()
            found = method(rows)
            times[name].append(perf_counter() - started)
            scores[name].append(_bic(found, rows))
    ours = np.array(scores["cyclearn, auto"])
    print("# Acyclic truths\n")
    print(describe_run("benchmarks/acyclic_peers.py " + " ".join(sys.argv[1:])))
    print(
        f"{arguments.graphs} acyclic graphs of the generator, p = {arguments.nodes}, "
        f"n = {arguments.samples:,}; every method gets the rows and one core, and optimises the "
        "BIC. Scores are negative log-likelihood + ½ log n a edge, by one code for all; `auto` "
        "may find graphs with cycles, which the truth does not have. Worse, equal, better: than "
        "`auto`, by more than 1e-4.\n"
    )
    print("| method | reached the truth | worse | equal | better | median s | total s |")
    print("|---|---|---|---|---|---|---|")
    for name in METHODS:
        gap = np.array(scores[name]) - ours
        reached = int((np.array(scores[name]) <= np.array(truths) + 1e-6 * arguments.samples).sum())
        print(
            f"| {name} | {reached} of {len(gap)} | {(gap > 1e-4).sum()} "
            f"| {(abs(gap) <= 1e-4).sum()} | {(gap < -1e-4).sum()} "
            f"| {np.median(times[name]):.2f} | {sum(times[name]):.1f} |"
        )


def _bic(graph: DirectedGraph, rows: Rows) -> float:
    return -fit(graph, rows).log_likelihood + 0.5 * np.log(len(rows)) * graph.n_edges


if __name__ == "__main__":
    main()
