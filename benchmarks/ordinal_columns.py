"""Ordinal columns: learned from before they were cut, as numbers, and as ordinal columns.

python benchmarks/ordinal_columns.py [--graphs 50] > benchmarks/results/ordinal_columns.md
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from typing import Any

import numpy as np
import pandas as pd
from environment import describe_run

import cyclearn as cl

N_NODES, N_ROWS, SHARES, LEVELS = 10, 1_000, (0.1, 0.5, 1.0), (2, 3, 5)
# No level is rarer than this.
RAREST = 0.05


def cut(
    rows: pd.DataFrame, share: float, n_levels: int, seed: int
) -> tuple[pd.DataFrame, list[str]]:
    """The rows with a share of the columns cut at random, and the names of these."""
    rng = np.random.default_rng(seed)
    chosen = sorted(rng.permutation(rows.columns)[: round(share * rows.shape[1])])
    found = rows.copy()
    for name in chosen:
        shares = RAREST + (1 - n_levels * RAREST) * rng.dirichlet(np.ones(n_levels))
        cuts = np.quantile(rows[name], shares.cumsum()[:-1])
        found[name] = np.digitize(rows[name], cuts).astype(float)
    return found, chosen


def measured(truth: cl.DirectedGraph, result: cl.LearnResult) -> tuple[float, float]:
    """Distance to the true class, and pairs joined in every learned graph and in no true one."""
    table = result.equivalence_class.edge_table()
    claimed = table[table["verdict"] == "in every equally good graph"]
    pairs = {frozenset(edge) for graph in cl.equivalence_class(truth) for edge in graph.edges}
    named = zip(claimed["a"], claimed["b"], strict=True)
    false = sum(frozenset(pair) not in pairs for pair in named)
    return float(cl.metrics.class_distance(truth, result.graph)), float(false)


def with_error(values: list[tuple[float, float]], place: int) -> str:
    """The mean of one of the measures, and its standard error."""
    each = np.array(values)[:, place]
    return f"{each.mean():.2f} ± {each.std(ddof=1) / np.sqrt(len(each)):.2f}"


def main() -> None:
    """Print a table in Markdown."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--graphs", type=int, default=50)
    n_graphs = parser.parse_args().graphs
    found: dict[Any, list[tuple[float, float]]] = defaultdict(list)
    for seed in range(n_graphs):
        truth = cl.simulate.random_graph(N_NODES, max_degree=4, max_component=4, random_state=seed)
        rows = cl.simulate.random_model(truth, random_state=seed).sample(N_ROWS, random_state=seed)
        found["uncut"].append(measured(truth, cl.learn(rows, n_effective="all")))
        for share in SHARES:
            for n_levels in LEVELS:
                table, own = cut(rows, share, n_levels, seed)
                for kind, options in (
                    ("numbers", {"continuous": own}),
                    ("ordinal", {"ordered": own}),
                ):
                    result = cl.learn(table, n_effective="all", **options)
                    found[share, n_levels, kind].append(measured(truth, result))
    print("# Ordinal columns\n")
    print(describe_run("benchmarks/ordinal_columns.py"))
    print(
        f"{n_graphs} random graphs with {N_NODES} variables and loops of at most four, {N_ROWS:,} "
        "rows. Distance to the true class, and pairs that every equally good graph joins and no "
        "true one (false), with standard errors.\n"
    )
    uncut = found["uncut"]
    print(
        f"Before columns were cut: distance {with_error(uncut, 0)}, false {with_error(uncut, 1)}.\n"
    )
    heads = ["distance, numbers", "distance, ordinal", "false, numbers", "false, ordinal"]
    print(f"| columns cut | levels | {' | '.join(heads)} |")
    print("|---:|---:|---:|---:|---:|---:|")
    for share in SHARES:
        for n_levels in LEVELS:
            both = [found[share, n_levels, kind] for kind in ("numbers", "ordinal")]
            cells = [with_error(each, place) for place in (0, 1) for each in both]
            print(f"| {share:.0%} | {n_levels} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
