"""Median and slowest of many runs: no method should take very long on single graphs.

python benchmarks/slow_tail.py run --variables 20 --graphs 200 --out tail.jsonl
python benchmarks/slow_tail.py table tail.jsonl > benchmarks/results/slow_tail.md
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from time import process_time
from typing import Any

import pandas as pd
from resumed_run import Benchmark

import cyclearn as cl
from cyclearn.data import Moments, as_moments

METHODS = "auto,tabu,hill-climbing"
FIRST = 9_000
N_ROWS = 10_000
# Differences of the score of the whole sample below this are none.
SAME = 1e-4


def drawn(p: int, seed: int) -> tuple[cl.DirectedGraph, Moments]:
    graph = cl.simulate.random_graph(p, max_component=10 if p >= 50 else 5, random_state=seed)
    model = cl.simulate.random_model(graph, random_state=seed)
    return graph, as_moments(model.sample(N_ROWS, random_state=seed))


def measure(arguments: argparse.Namespace, done: set[Any]) -> Iterator[dict[str, Any]]:
    warnings.simplefilter("ignore")
    p, penalty = arguments.variables, arguments.penalty
    cells = [
        (p, method, penalty, seed)
        for seed in range(FIRST, FIRST + arguments.graphs)
        for method in arguments.methods.split(",")
    ]
    for method in METHODS.split(","):
        cl.learn(drawn(4, 0)[1], method=method)  # loads compiled code
    for key in cells:
        if key in done:
            continue
        _, method, _, seed = key
        graph, moments = drawn(p, seed)
        options = {} if penalty == "default" else {"penalty": penalty}
        begun = process_time()
        result = cl.learn(moments, method=method, **options)
        seconds = process_time() - begun
        bar = -cl.fit(graph, moments).log_likelihood + result.penalty * graph.n_edges
        row = {"p": p, "method": method, "penalty": penalty, "seconds": seconds}
        yield {"key": list(key), **row, "above truth": result.score - bar}


def print_rows(rows: pd.DataFrame) -> None:
    print(
        "The graphs come from the paper's generator (degree at most 4; components of at "
        f"most 5, 10 with p = 50), from number {FIRST:,} on, n = {N_ROWS:,}, on one core, "
        "with compiled code loaded and moments computed beforehand. The target is that the "
        "slowest of 200 runs takes at most 20 times the median. *Reached* means that the "
        "score is no worse than that of the true graph. Times are CPU seconds.\n"
    )
    print("| p | method | penalty | runs | median | 95% | slowest | / median | reached |")
    print("|---|---|---|---|---|---|---|---|---|")
    for (p, method, penalty), cell in rows.groupby(["p", "method", "penalty"]):
        seconds = cell.seconds
        median, slowest = seconds.median(), seconds.max()
        print(
            f"| {p} | {method} | {penalty} | {len(cell)} | {median:.3g} "
            f"| {seconds.quantile(0.95):.3g} | {slowest:.3g} | {slowest / median:.1f} "
            f"| {(cell['above truth'] <= SAME).mean():.0%} |"
        )


def main() -> None:
    benchmark = Benchmark("slow_tail.py", "Medians and the slowest of many runs", print_rows)
    parser = benchmark.command("run", measure)
    parser.add_argument("--variables", type=int, default=20)
    parser.add_argument("--graphs", type=int, default=200)
    parser.add_argument("--methods", default=METHODS)
    parser.add_argument("--penalty", default="default", help="default, or a name such as bic")
    benchmark.main()


if __name__ == "__main__":
    main()
