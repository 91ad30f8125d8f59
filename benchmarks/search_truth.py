"""How often searches reach the score of the true graph, and how long they take.

python benchmarks/search_truth.py > benchmarks/results/search_truth.md
"""

from __future__ import annotations

import argparse
import sys
from time import perf_counter

import numpy as np
from environment import describe_run

from cyclearn import DirectedGraph, LimitError, Moments, equivalence_class, fit, learn, simulate

LARGEST_COMPONENT = {5: 5, 20: 5, 50: 10, 100: 10}
METHODS = ("auto", "tabu", "hill-climbing")


def problem(p: int, seed: int, n: int) -> tuple[DirectedGraph, Moments]:
    rng = np.random.default_rng([2020, p, seed])
    graph = simulate.random_graph(p, max_component=LARGEST_COMPONENT[p], random_state=rng)
    rows = simulate.random_model(graph, random_state=rng).sample(n, random_state=rng)
    return graph, Moments(np.cov(rows.T, bias=True), n)


def distance(truth: DirectedGraph, found: DirectedGraph) -> float:
    try:
        return equivalence_class(truth).distance(found)
    except LimitError:
        return np.nan


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", default="5:200,20:100,50:50,100:10", help="p:graphs, ...")
    parser.add_argument("--first", type=int, default=0, help="number of the first graph")
    parser.add_argument("--samples", type=int, default=10_000)
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--exact", action="store_true", help="compare with the exact optimum")
    parser.add_argument("--budget", type=float, default=1e9, help="seconds for a size and method")
    arguments = parser.parse_args()
    print("# Searches against the true graph\n")
    print(describe_run("benchmarks/search_truth.py " + " ".join(sys.argv[1:])))
    print(
        "The graphs come from the paper's generator (degree at most 4; components of at "
        f"most 5, 5, 10, 10), with n = {arguments.samples:,}, on one core, with compiled "
        "code loaded and moments computed beforehand. *Reached* means that the final score "
        "is at most that of the true graph, fitted from many starts, plus 1e-6 n. "
        "*Distance* is the median structural Hamming distance to the true class.\n"
    )
    print("| p | graphs | method | reached | equal to exact | starts agree | median s | slowest s "
          "| distance |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|---|")
    for name in ("auto", "exact", "tabu", "hill-climbing"):
        learn(np.random.default_rng(0).normal(size=(100, 3)), method=name)
    misses = []
    for size in arguments.sizes.split(","):
        p, n_graphs = map(int, size.split(":"))
        for method in arguments.methods.split(","):
            times, reached, agreed, equal, distances = [], 0, 0, 0, []
            begun = perf_counter()
            for seed in range(arguments.first, arguments.first + n_graphs):
                graph, moments = problem(p, seed, arguments.samples)
                started = perf_counter()
                result = learn(moments, method=method, penalty="bic")
                times.append(perf_counter() - started)
                bar = -fit(graph, moments).log_likelihood + result.penalty * graph.n_edges
                gap = result.score - bar
                reached += gap <= 1e-6 * moments.n_samples
                if gap > 1e-6 * moments.n_samples and method == "auto":
                    misses.append(f"p = {p}, graph {seed}: {gap:.3f}")
                agreed += result.n_starts_agreeing[0] == result.n_starts_agreeing[1]
                distances.append(distance(graph, result.graph))
                if arguments.exact and p <= 5:
                    optimum = learn(moments, method="exact", penalty="bic").score
                    equal += result.score <= optimum + 1e-6 * moments.n_samples
                if perf_counter() - begun > arguments.budget:
                    break
            n = len(times)
            exact = f"{equal} of {n}" if arguments.exact and p <= 5 else ""
            starts = f"{agreed} of {n}" if method == "auto" else ""
            print(
                f"| {p} | {n} | {method} | {reached} ({reached / n:.0%}) | {exact} | {starts} "
                f"| {np.median(times):.3f} | {max(times):.2f} | {np.nanmedian(distances):.0f} |",
                flush=True,
            )
    print(
        "\nGraphs that auto did not reach, with the difference in score (the penalty per "
        "edge is ½ log n): " + "; ".join(misses)
    )


if __name__ == "__main__":
    main()
