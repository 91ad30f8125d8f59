"""How long the exact method takes, and whether the default search finds the same optimum.

python benchmarks/exact_speed.py > benchmarks/results/exact_speed.md
"""

from __future__ import annotations

import argparse
import sys
from time import perf_counter

import numpy as np
from environment import describe_run

from cyclearn import DirectedGraph, Moments, learn, simulate

# Variables, largest component searched, most edges of a truth, graphs.
CASES = ((5, None, None, 20), (6, None, 9, 10), (8, 3, None, 5))


def problem(
    p: int, largest: int, most_edges: int | None, seed: int
) -> tuple[DirectedGraph, Moments]:
    """A true graph with at most so many edges, and moments of 10,000 samples from it."""
    rng = np.random.default_rng([1935, p, seed])
    while True:
        graph = simulate.random_graph(p, max_component=largest, random_state=rng)
        if most_edges is None or graph.n_edges <= most_edges:
            break
    rows = simulate.random_model(graph, random_state=rng).sample(10_000, random_state=rng)
    return graph, Moments(np.cov(rows.T, bias=True), 10_000)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--budget", type=float, default=1e9, help="seconds for a row")
    arguments = parser.parse_args()
    for method in ("exact", "auto"):
        learn(np.random.default_rng(0).normal(size=(100, 3)), method=method)
    print("# Speed of the exact method\n")
    print(describe_run("benchmarks/exact_speed.py " + " ".join(sys.argv[1:])))
    print(
        "The graphs come from the paper's generator (degree at most 4, components of at "
        "most 5 nodes, or of 3 where the search is limited to that), with n = 10,000, on "
        "one core and with compiled code loaded. *Listed* and *fitted* are median numbers "
        "of component structures.\n"
    )
    print("| p | components | edges of the truth | graphs | median s | slowest s | listed "
          "| fitted | `auto` equally good |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|---|")
    for p, limit, most_edges, n_graphs in CASES:
        times, edges, listed, fitted, equal = [], [], [], [], 0
        begun = perf_counter()
        for seed in range(n_graphs):
            graph, moments = problem(p, min(limit or 5, 5), most_edges, seed)
            started = perf_counter()
            result = learn(moments, method="exact", penalty="bic", max_component=limit)
            times.append(perf_counter() - started)
            assert result.certificate is not None
            edges.append(graph.n_edges)
            listed.append(result.certificate.n_listed)
            fitted.append(result.certificate.n_scored)
            found = learn(moments, penalty="bic", max_component=limit)
            equal += found.score <= result.score + 1e-6 * moments.n_samples
            if perf_counter() - begun > arguments.budget:
                break
        components = "any" if limit is None else f"at most {limit}"
        print(
            f"| {p} | {components} | {min(edges)} to {max(edges)} | {len(times)} "
            f"| {np.median(times):.2f} | {max(times):.1f} | {np.median(listed):,.0f} "
            f"| {np.median(fitted):,.0f} | {equal} of {len(times)} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
