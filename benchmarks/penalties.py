"""Which penalty leads to the true class: families of penalties over sizes and samples.

python benchmarks/penalties.py run --first 5000 --out penalties.jsonl
python benchmarks/penalties.py table penalties.jsonl > benchmarks/results/penalties.md

``run`` appends a line for each graph, penalty and sample, and goes on where it was stopped.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
from resumed_run import Benchmark

from cyclearn import DirectedGraph, Moments, equivalence_class, learn, simulate
from cyclearn.identifiability.numerics.numerical_overlap import wilson_interval

FAMILIES = ("bic", "2 bic", "ebic", "ebic 0.75", "ebic 1", "0.1 false edges")
SAMPLES = (200, 1_000, 10_000, 100_000)
LARGEST_COMPONENT = {5: 5, 10: 5, 20: 5, 50: 10}


def draw(kind: str, p: int, seed: int, n: int) -> tuple[DirectedGraph, Moments]:
    """From the paper's generator, acyclic, or with a component of at least three nodes."""
    rng = np.random.default_rng([14, p, seed])
    largest = 1 if kind == "acyclic" else LARGEST_COMPONENT[p]
    graph = simulate.random_graph(p, max_component=largest, random_state=rng)
    while kind == "feedback" and max(map(len, graph.components)) < 3:
        graph = simulate.random_graph(p, max_component=largest, random_state=rng)
    rows = simulate.random_model(graph, random_state=rng).sample(n, random_state=rng)
    return graph, Moments(np.cov(rows.T, bias=True), n)


def measure(
    graph: DirectedGraph, moments: Moments, penalty: str, limit: float | None
) -> dict[str, object]:
    begun = process_time()
    result = learn(moments, penalty=penalty, time_limit=limit)
    seconds = process_time() - begun
    truth = equivalence_class(graph)
    near = truth.nearest(result.graph, time_limit=60)
    shared = len(set(near.member.edges) & set(result.graph.edges))
    return {
        "in_class": result.graph in truth,
        "tied": any(tied in truth for tied in (result.graph, *result.alternatives)),
        "distance": near.distance,
        "edges": result.graph.n_edges,
        "true_edges": near.member.n_edges,
        "shared": shared,
        "seconds": seconds,
        "is_cut": "time_limit" in result.limits,
    }


def cases(arguments: argparse.Namespace, done: set[Any]) -> Iterator[dict[str, object]]:
    sizes = [tuple(map(int, size.split(":"))) for size in arguments.sizes.split(",")]
    for p, n_graphs in sizes:
        for seed in range(arguments.first, arguments.first + n_graphs):
            for n in map(int, arguments.samples.split(",")):
                for kind in arguments.kinds.split(","):
                    graph, moments = draw(kind, p, seed, n)
                    for penalty in arguments.penalties.split(","):
                        key = {"kind": kind, "p": p, "n": n, "seed": seed, "penalty": penalty}
                        if tuple(key.values()) not in done:
                            row = measure(graph, moments, penalty, arguments.limit)
                            yield {"key": list(key.values()), **key, **row}


def print_rows(rows: pd.DataFrame) -> None:
    print(
        "The table shows the share of answers in the true class (95% Wilson interval), the "
        "share in it or exactly tied with it, the mean distance to the class, and the "
        "precision and recall of edges compared with the nearest member of the class, "
        "summed over graphs.\n"
    )
    print("| truths | p | n | graphs | penalty | in the class | or tied | distance | precision "
          "| recall | median CPU s |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    order = {name: place for place, name in enumerate(FAMILIES)}
    rows["place"] = rows["penalty"].map(lambda name: order.get(name, len(order)))
    for (kind, p, n, _, penalty), group in rows.groupby(["kind", "p", "n", "place", "penalty"]):
        shared = group["shared"].sum()
        n_cut = int(group["is_cut"].sum()) if "is_cut" in group else 0
        cut = f" ({n_cut} ended by the limit)" if n_cut else ""
        low, high = wilson_interval(int(group["in_class"].sum()), len(group))
        print(
            f"| {kind} | {p} | {n:,} | {len(group)} | {penalty}{cut} "
            f"| {group['in_class'].mean():.0%} ({low:.0%}–{high:.0%}) | {group['tied'].mean():.0%} "
            f"| {group['distance'].mean():.2f} | {shared / group['edges'].sum():.3f} "
            f"| {shared / group['true_edges'].sum():.3f} | {group['seconds'].median():.2f} |"
        )


def main() -> None:
    benchmark = Benchmark("penalties.py", "Penalties", print_rows)
    run = benchmark.command("run", cases)
    run.add_argument("--sizes", default="5:50,10:50,20:50,50:20", help="p:graphs, ...")
    run.add_argument("--samples", default=",".join(map(str, SAMPLES)))
    run.add_argument("--penalties", default=",".join(FAMILIES))
    run.add_argument("--kinds", default="paper,acyclic,feedback")
    run.add_argument("--first", type=int, default=0, help="number of the first graph")
    run.add_argument("--limit", type=float, help="most seconds of a search, by default any")
    benchmark.main()


if __name__ == "__main__":
    main()
