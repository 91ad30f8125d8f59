"""Learning from tables with missing values: distance to the true class and weights.

    python benchmarks/missing_values.py --cases 20 > benchmarks/results/missing_values.md

Random sparse graphs with feedback; holes at random, or likelier in rows where another column is
large. Beside complete data: EM, complete rows, pairs, and filling holes with means.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from time import process_time

import numpy as np
import pandas as pd

import cyclearn as cl
from cyclearn.data.missing_values import treat_missing
from cyclearn.data.rows import Rows

SHARES = (0.05, 0.2, 0.4)
N_NODES, N_ROWS = 6, 1_000


def with_holes(frame: pd.DataFrame, share: float, mechanism: str, rng) -> pd.DataFrame:
    chance = np.full(frame.shape, share)
    if mechanism == "depending":
        # The first column is complete; above its median holes are seven times as likely.
        large = frame.iloc[:, 0] > frame.iloc[:, 0].median()
        chance = np.where(large, 1.75 * share, 0.25 * share)[:, None] * np.ones(frame.shape)
        chance[:, 0] = 0.0
    return frame.mask(rng.random(frame.shape) < chance)


def errors(truth: cl.LinearGaussianModel, data: pd.DataFrame, missing: str) -> tuple[float, float]:
    """Distance to the class, and the root mean square error of the weights on the true graph."""
    found = cl.learn(data, missing=missing, n_starts=1)
    distance = cl.metrics.class_distance(found.graph, truth.graph)
    fitted = cl.fit(truth.graph, data, missing=missing)
    models = [fitted.model, *fitted.alternatives]
    edges = truth.graph.adjacency
    gap = min(float(np.sqrt(((m.B - truth.B)[edges] ** 2).mean())) for m in models)
    return float(distance), gap


def print_seconds() -> None:
    """How long the covariance of a large table with holes takes, its kernels compiled before."""
    rng = np.random.default_rng([8, 0])
    graph = cl.simulate.random_graph(50, max_degree=3, random_state=rng)
    data = cl.simulate.random_model(graph, random_state=rng).sample(10_000, random_state=rng)
    holed = with_holes(data, 0.2, "at random", rng)
    treat_missing(Rows.of(holed.iloc[:100, :5]), "em")
    begun = process_time()
    holes = treat_missing(Rows.of(holed), "em").holes
    seconds = process_time() - begun
    print(
        "With 50 variables, 10,000 rows and 20% missing at random, EM estimates the mean "
        f"and covariance in {seconds:.1f} s of CPU and {holes.iterations} iterations "
        f"(converged: {holes.converged})."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=20)
    parser.add_argument("--seconds", action="store_true", help="time one large table instead")
    options = parser.parse_args()
    if options.seconds:
        print_seconds()
        return
    rows: dict[tuple[str, ...], list[tuple[float, float]]] = defaultdict(list)
    for seed in range(options.cases):
        rng = np.random.default_rng([7, seed])
        graph = cl.simulate.random_graph(N_NODES, max_degree=3, random_state=rng)
        truth = cl.simulate.random_model(graph, random_state=rng)
        data = truth.sample(N_ROWS, random_state=rng)
        rows["complete", "-", "-"].append(errors(truth, data, "error"))
        for mechanism in ("at random", "depending"):
            for share in SHARES:
                holed = with_holes(data, share, mechanism, rng)
                key = (mechanism, f"{share:.0%}")
                for missing in ("em", "rows", "pairwise"):
                    try:
                        rows[(missing, *key)].append(errors(truth, holed, missing))
                    except cl.InputError:  # noqa: PERF203 - a few cases
                        # Too few complete rows: nothing is learned.
                        rows[(missing, *key)].append((float(graph.n_edges), np.nan))
                filled = holed.fillna(holed.mean())
                rows[("means", *key)].append(errors(truth, filled, "error"))
    print("# Learning from tables with missing values\n")
    print(
        f"`python benchmarks/missing_values.py --cases {options.cases}`, 2026-11-16, x86_64, 2 "
        f"cores; seeds [7, 0] to [7, {options.cases - 1}], {options.cases} graphs of {N_NODES} "
        f"variables, {N_ROWS} rows, one start.\n"
    )
    print(
        "| method | missing | share of cells | distance to the class | error of weights | cases |"
    )
    print("|---|---|---|---|---|---|")
    for key, found in rows.items():
        values = np.array(found)
        print(
            f"| {' | '.join(key)} | {values[:, 0].mean():.2f} | "
            f"{np.nanmedian(values[:, 1]):.3f} | {len(values)} |"
        )
    print(
        "\nDistances are means. Errors of weights are medians of the root mean square "
        "error on the true graph. If no row was left, the empty graph is used."
    )


if __name__ == "__main__":
    main()
