"""Series with feedback within a row: how often the true class is found, by rows and lags.

    python benchmarks/time_series.py --cases 20 > benchmarks/results/time_series.md

Within a row: a graph of the paper's generator. Over time: every variable remembers itself, and as
many edges again as there are variables, all drawn anew until the whole series is stable. Beside
``lags=1``: the same rows taken as independent.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd

import cyclearn as cl
from cyclearn.data.lagged_rows import past_names
from cyclearn.search.over_time import within_graph

SIZES = ((4, 500), (4, 2_000), (6, 2_000))
# Rows that the series has to forget where it began.
SETTLING = 200


def series(
    p: int, n: int, rng: np.random.Generator
) -> tuple[cl.DirectedGraph, cl.DirectedGraph, pd.DataFrame]:
    """The graph with its past, that within a row, and rows."""
    names = [f"v{j}" for j in range(p)]
    while True:
        drawn = cl.simulate.random_graph(p, max_degree=3, random_state=rng)
        within = cl.DirectedGraph(drawn.adjacency, names)
        B = cl.simulate.random_model(within, random_state=rng).B
        A = np.diag(rng.uniform(0.3, 0.7, p))
        for i, j in rng.integers(p, size=(p, 2)):
            if i != j:
                A[i, j] = rng.choice([-1, 1]) * rng.uniform(0.2, 0.5)
        settle = np.linalg.inv(np.eye(p) - B)
        if np.abs(np.linalg.eigvals(A @ settle)).max() < 0.9:
            break
    X = np.zeros((n + SETTLING, p))
    noise = rng.standard_normal(X.shape)
    for t in range(1, len(X)):
        X[t] = (X[t - 1] @ A + noise[t]) @ settle
    past = past_names(names, 1)
    over_time = [(past[i], names[j]) for i, j in np.argwhere(A != 0).tolist()]
    whole = cl.DirectedGraph.from_edges([*within.edges, *over_time], [*names, *past])
    return whole, within, pd.DataFrame(X[SETTLING:], columns=names)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=20)
    options = parser.parse_args()
    print("# Series with feedback within a row\n")
    print(
        f"`python benchmarks/time_series.py --cases {options.cases}`, 2026-11-16, x86_64, 2 cores; "
        f"seeds [14, p, n, case], {options.cases} series per line, one start.\n"
    )
    print(
        "| variables | rows | in the true class | extra edges | missed edges | within a "
        "row, distance | rows treated as independent, distance | test of the true graph, "
        "mean χ² / df |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for p, n in SIZES:
        rows = []
        for case in range(options.cases):
            rng = np.random.default_rng([14, p, n, case])
            whole, within, data = series(p, n, rng)
            found = cl.learn(data, lags=1, n_starts=1)
            careless = cl.learn(data, n_starts=1)
            nearest = min(
                found.equivalence_class,
                key=lambda graph: int((graph.adjacency != whole.adjacency).sum()),
            )
            fit = cl.fit(whole, data, lags=1).fit_indices
            rows.append(
                (
                    whole in found.equivalence_class,
                    (nearest.adjacency & ~whole.adjacency).sum(),
                    (whole.adjacency & ~nearest.adjacency).sum(),
                    cl.metrics.shd(within_graph(nearest, found.past), within),
                    cl.metrics.shd(careless.graph, within),
                    fit.chi_square / max(fit.degrees_of_freedom, 1),
                )
            )
        mean = np.mean(rows, axis=0)
        print(
            f"| {p} | {n:,} | {int(sum(row[0] for row in rows))} of {len(rows)} | "
            + " | ".join(f"{value:.2f}" for value in mean[1:])
            + " |"
        )
    print(
        "\nExtra and missed edges are those of the member of the learned class that is nearest to "
        "the truth; distances are structural Hamming distances to the true graph within a row."
    )


if __name__ == "__main__":
    main()
