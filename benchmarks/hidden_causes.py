"""How often ``result.hidden_causes`` flags a pair, with and without a hidden cause.

    python benchmarks/hidden_causes.py --graphs 40 --seed 1000 > benchmarks/results/hidden_causes.md

Graphs and parameters are those of the paper's generator. *With*: two variables that no edge joins
get a common cause with weights from ±[0.6, 1], which is then left out of the table. A pair is
flagged where the hidden cause fits better by odds of ten to one.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd

import cyclearn as cl
from cyclearn.results.hidden_causes import hidden_causes


def table(p: int, n: int, seed: int, with_hidden: bool) -> tuple[pd.DataFrame, frozenset[str]]:
    """Rows of a random model, and the pair that has a hidden common cause."""
    rng = np.random.default_rng([seed, p])
    graph = cl.simulate.random_graph(p, 4, 5, random_state=rng)
    model = cl.simulate.random_model(graph, random_state=rng)
    A = graph.adjacency | graph.adjacency.T | np.eye(p, dtype=bool)
    free = np.argwhere(~A)
    if not with_hidden or not len(free):
        return model.sample(n, random_state=rng), frozenset()
    i, j = free[rng.integers(len(free))]
    B = np.zeros((p + 1, p + 1))
    B[:p, :p] = model.B
    signs = rng.choice([-1, 1], 2)
    B[p, [i, j]] = signs * rng.uniform(0.6, 1, 2) * np.sqrt(model.noise_variances[[i, j]])
    whole = cl.LinearGaussianModel(B, [*model.noise_variances, 1.0], [*model.names, "hidden"])
    rows = whole.sample(n, random_state=rng).drop(columns="hidden")
    return rows, frozenset((model.names[i], model.names[j]))


def main() -> None:
    """Print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1000)
    parser.add_argument("--sizes", type=int, nargs="+", default=[5, 10])
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000, 10_000])
    given = parser.parse_args()
    print(
        "| p | n | hidden cause | tables | joined pairs | flagged | tables with a flag "
        "| pair joined | pair flagged |\n|--|--|--|--|--|--|--|--|--|"
    )
    for p in given.sizes:
        for n in given.rows:
            for with_hidden in (False, True):
                pairs = flags = any_flag = joined = right = tables = 0
                for seed in range(given.seed, given.seed + given.graphs):
                    rows, pair = table(p, n, seed, with_hidden)
                    if with_hidden and not pair:
                        continue
                    tables += 1
                    found = hidden_causes(cl.learn(rows))
                    flagged = {
                        frozenset((each.a, each.b))
                        for each in found
                        if each.verdict == "hidden cause fits better"
                    }
                    pairs += len(found)
                    flags += len(flagged)
                    any_flag += bool(flagged)
                    joined += any({each.a, each.b} == pair for each in found)
                    right += pair in flagged
                word = "one" if with_hidden else "none"
                own = f"{joined} | {right}" if with_hidden else "– | –"
                print(
                    f"| {p} | {n:,} | {word} | {tables} | {pairs} | {flags} | {any_flag} | {own} |"
                )


if __name__ == "__main__":
    main()
