"""How many rows a random graph needs: ``python benchmarks/rows_needed.py [--graphs 20]``.

Random graphs and parameters of the paper's generator; the default search. Prints the tables of
``results/rows_needed.md``.
"""

import argparse

import pandas as pd

import cyclearn as cl

ROWS = (100, 300, 1_000, 3_000, 10_000)
COLUMNS = [
    "class_found",
    "adjacency_precision",
    "adjacency_recall",
    "arrowhead_precision",
    "arrowhead_recall",
    "cycle_precision",
    "cycle_recall",
]


def measured(n_nodes: int, n_graphs: int, weights: tuple[float, float]) -> pd.DataFrame:
    """Means over random graphs, one table of the largest size for each."""
    found = []
    for seed in range(n_graphs):
        graph = cl.simulate.random_graph(n_nodes, max_component=5, random_state=seed)
        model = cl.simulate.random_model(graph, weights=weights, random_state=seed)
        found.append(cl.simulate.recovery(model, ROWS, n_repeats=1, random_state=seed))
    return pd.concat(found).groupby(level=0).mean()


def main() -> None:
    """Print one table for each range of weights."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--graphs", type=int, default=20)
    parser.add_argument("--nodes", type=int, nargs="+", default=[5, 10, 20])
    arguments = parser.parse_args()
    for weights in ((0.2, 0.8), (0.5, 0.8)):
        print(f"\n## Weights between {weights[0]} and {weights[1]}\n", flush=True)
        print("| variables | rows | class found | adjacency | arrowhead | cycle |")
        print("|---|---|---|---|---|---|")
        for n_nodes in arguments.nodes:
            table = measured(n_nodes, arguments.graphs, weights)
            for rows, line in table[COLUMNS].iterrows():
                found, *rates = line
                pairs = [f"{a:.2f}, {b:.2f}" for a, b in zip(rates[::2], rates[1::2], strict=True)]
                print(f"| {n_nodes} | {rows:,} | {found:.0%} | {' | '.join(pairs)} |", flush=True)


if __name__ == "__main__":
    main()
