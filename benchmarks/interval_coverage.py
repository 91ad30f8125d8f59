"""Coverage of 95% confidence intervals on three cyclic graphs.

python benchmarks/interval_coverage.py > benchmarks/results/coverage.md
"""

from __future__ import annotations

import argparse

import numpy as np
from environment import describe_run

from cyclearn.graphs import DirectedGraph
from cyclearn.models import LinearGaussianModel, fit, random_model

GRAPHS = {
    "4-cycle with an outside parent and a child": [
        ("e", "a"),
        ("a", "b"),
        ("b", "c"),
        ("c", "d"),
        ("d", "a"),
        ("d", "f"),
    ],
    "chordless 3-cycle, no outside parent (of two solutions, the stable one is used)": [
        ("a", "b"),
        ("b", "c"),
        ("c", "a"),
    ],
    "two cycles sharing a node, each with an external parent": [
        ("x", "a"),
        ("a", "b"),
        ("b", "c"),
        ("c", "a"),
        ("c", "d"),
        ("d", "e"),
        ("e", "c"),
        ("y", "d"),
    ],
}


def coverage(
    graph: DirectedGraph,
    truth: LinearGaussianModel,
    n_samples: int,
    n_sets: int,
    rng: np.random.Generator,
) -> tuple[dict[str, float], int]:
    """Share of data sets whose 95% interval holds the truth, one row for each parameter."""
    i, j = np.nonzero(graph.adjacency)
    values = np.concatenate([truth.B[i, j], truth.noise_variances])
    hits = np.zeros(len(values))
    problems = 0
    for _ in range(n_sets):
        fitted = fit(graph, truth.sample(n_samples, random_state=rng))
        problems += fitted.status.name != "CONVERGED"
        table = fitted.confidence_intervals(0.95)
        hits += (table["lower"].to_numpy() <= values) & (values <= table["upper"].to_numpy())
    names = list(table.index)
    return dict(zip(names, hits / n_sets, strict=True)), problems


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=1000)
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    command = f"interval_coverage.py --sets {options.sets} --samples {options.samples}"
    print("# Coverage of 95% confidence intervals\n")
    print(describe_run(f"benchmarks/{command} --seed {options.seed}"))
    print(
        f"For each graph, {options.sets} data sets of {options.samples} samples were drawn from "
        "one stable model (weights in ±[0.2, 0.8], variances in [1, 3]). Wald intervals use "
        "the observed information, and a missing interval counts as a failure. The columns "
        "show the coverage over all parameters.\n"
    )
    print("| graph | parameters | average | lowest | highest | fits not converged |")
    print("|---|---|---|---|---|---|")
    for title, edges in GRAPHS.items():
        graph = DirectedGraph.from_edges(edges)
        truth = random_model(graph, random_state=rng)
        shares, problems = coverage(graph, truth, options.samples, options.sets, rng)
        values = np.array(list(shares.values()))
        worst = min(shares, key=lambda name: shares[name])
        print(
            f"| {title} | {len(values)} | {values.mean():.1%} | {values.min():.1%} ({worst}) | "
            f"{values.max():.1%} | {problems} |"
        )


if __name__ == "__main__":
    main()
