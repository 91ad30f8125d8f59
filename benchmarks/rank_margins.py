"""Transformed columns and outliers: raw columns, normal scores of ranks, and the undistorted data.

    python benchmarks/rank_margins.py --cases 40 > benchmarks/results/rank_margins.md

Bent: every column by itself, by one of three increasing functions. Outliers: 2% of the cells, ten
standard deviations away. Random sparse graphs with feedback.
"""

from __future__ import annotations

import argparse
from collections import defaultdict

import numpy as np
import pandas as pd

import cyclearn as cl

N_NODES, N_ROWS = 6, 1_000
SHARE, FAR = 0.02, 10.0
BENDS = (np.exp, np.sinh, lambda z: np.sign(z) * np.abs(z) ** 0.4)


def bent(frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    standard = (frame - frame.mean()) / frame.std()
    return pd.DataFrame({name: BENDS[rng.integers(3)](z) for name, z in standard.items()})


def with_outliers(frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    away = FAR * frame.std().to_numpy() * rng.choice([-1, 1], frame.shape)
    return frame + np.where(rng.random(frame.shape) < SHARE, away, 0.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=40)
    options = parser.parse_args()
    distances: dict[tuple[str, str], list[float]] = defaultdict(list)
    edges: dict[tuple[str, str], list[int]] = defaultdict(list)
    for seed in range(options.cases):
        rng = np.random.default_rng([13, seed])
        graph = cl.simulate.random_graph(N_NODES, max_degree=3, random_state=rng)
        data = cl.simulate.random_model(graph, random_state=rng).sample(N_ROWS, random_state=rng)
        tables = {
            "undistorted": data,
            "bent": bent(data, rng),
            "outliers": with_outliers(data, rng),
            "bent, outliers": with_outliers(bent(data, rng), rng),
        }
        for what, table in tables.items():
            for margins in ("raw", "rank"):
                found = cl.learn(table, margins=margins, n_starts=1).graph
                distances[what, margins].append(float(cl.metrics.class_distance(found, graph)))
                edges[what, margins].append(found.n_edges - graph.n_edges)
    print("# Transformed columns and outliers\n")
    print(
        f"`python benchmarks/rank_margins.py --cases {options.cases}`, 2026-11-16, x86_64, "
        f"2 cores; seeds [13, 0] to [13, {options.cases - 1}], {options.cases} graphs of "
        f"{N_NODES} variables, {N_ROWS} rows, one start.\n\nTransformed columns are exp, "
        "sinh or a signed power of 0.4 of the standardised column. Outliers replace "
        f"{SHARE:.0%} of the cells, at {FAR:g} standard deviations.\n"
    )
    print("| data | margins | distance to the class | in the class | edges too many | cases |")
    print("|---|---|---|---|---|---|")
    for (what, margins), values in distances.items():
        many = np.mean(edges[what, margins])
        print(
            f"| {what} | {margins} | {np.mean(values):.2f} | {values.count(0.0)} | {many:+.2f} "
            f"| {len(values)} |"
        )


if __name__ == "__main__":
    main()
