"""Columns cut into levels: learned from as they were, as numbers, and as ordinal columns.

    python benchmarks/ordinal_columns.py [--graphs 50] > benchmarks/results/ordinal_columns.md
"""

from __future__ import annotations

import argparse
from collections import defaultdict

import numpy as np
import pandas as pd
from environment import describe_run

import cyclearn as cl
from cyclearn.data.latent_correlations import latent_correlations

N_NODES, SIZES, SHARES, LEVELS = 10, (1_000,), (0.5,), (2, 3, 5)
# No level is rarer than this.
RAREST = 0.05


def cut(rows: pd.DataFrame, share: float, n_levels: int, rng: np.random.Generator) -> pd.DataFrame:
    """The rows with a share of the columns cut at random, by name; those that were in ``attrs``."""
    chosen = rng.permutation(rows.columns)[: round(share * rows.shape[1])]
    found = rows.copy()
    for name in chosen:
        shares = RAREST + (1 - n_levels * RAREST) * rng.dirichlet(np.ones(n_levels))
        cuts = np.quantile(rows[name], shares.cumsum()[:-1])
        found[name] = np.digitize(rows[name], cuts).astype(float)
    found.attrs["cut"] = sorted(chosen)
    return found


def measured(truth: cl.DirectedGraph, result: cl.LearnResult) -> tuple[float, float]:
    """Distance to the true class, and edges that every equally good graph has but no true one."""
    known = cl.equivalence_class(truth)
    table = result.equivalence_class.edge_table()
    claimed = table[table["verdict"] == "in every equally good graph"]
    pairs = {frozenset(edge) for graph in known for edge in graph.edges}
    false = sum(frozenset(pair) not in pairs for pair in zip(claimed["a"], claimed["b"], strict=True))
    return float(cl.metrics.class_distance(truth, result.graph)), float(false)


def main() -> None:
    """Print a table in Markdown."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--graphs", type=int, default=50)
    n_graphs = parser.parse_args().graphs
    found = defaultdict(list)
    for seed in range(n_graphs):
        truth = cl.simulate.random_graph(N_NODES, max_degree=4, max_component=4, random_state=seed)
        model = cl.simulate.random_model(truth, random_state=seed)
        for n in SIZES:
            rows = model.sample(n, random_state=seed)
            found[n, "", "", "uncut"].append(measured(truth, cl.learn(rows, n_effective="all")))
            for share in SHARES:
                for n_levels in LEVELS:
                    table = cut(rows, share, n_levels, np.random.default_rng(seed))
                    own = list(table.attrs["cut"])
                    key = n, share, n_levels
                    plain = cl.learn(table, n_effective="all", continuous=own)
                    found[*key, "numbers"].append(measured(truth, plain))
                    latent = latent_correlations(
                        table.to_numpy(), np.isin(table.columns, own), tuple(table.columns)
                    )
                    for kind, share_ in (("least", latent.least), ("mean", latent.efficiency)):
                        found[*key, kind].append(
                            measured(truth, cl.learn(table, ordered=own, n_effective=n * share_))
                        )
        import sys
        if seed % 5 == 4:
            print(seed, file=sys.stderr)
            for key, values in found.items():
                print(key, np.mean(values, axis=0).round(2), (np.std(values, axis=0)/np.sqrt(len(values))).round(2), file=sys.stderr)
    print("# Columns cut into levels\n")
    print(describe_run("benchmarks/ordinal_columns.py"))
    for key, values in found.items():
        print(key, np.mean(values, axis=0), np.std(values, axis=0) / np.sqrt(len(values)))


if __name__ == "__main__":
    main()
