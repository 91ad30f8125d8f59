"""Tables with few rows for many variables: noise, and sparse truths compared with ges and GRaSP.

    python benchmarks/few_rows.py noise --out few_rows.jsonl
    python benchmarks/few_rows.py truths --out few_rows.jsonl
    python benchmarks/few_rows.py table few_rows.jsonl > benchmarks/results/few_rows.md

Noise: independent columns, fewer rows than columns. Truths: acyclic, 40 variables and 60 rows;
every method gets the same rows. The peers minimise the score with the price of an edge that the BIC
has, with the price that an edge has here, and GRaSP also with that of its own default.
"""

from __future__ import annotations

import argparse
import random
import signal
import warnings
from collections.abc import Callable, Iterator
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
from peers import Rows, Search, greedy_equivalence, permutations
from resumed_run import Benchmark

import cyclearn as cl
from cyclearn.search.penalty import edge_penalty

N_NODES, N_ROWS = 40, 60
NOISE = ((20, 40), (30, 40))
WEIGHTS = (0.5, 0.9)
# Seconds of CPU that a method may take for one table.
LIMIT = 300.0


def ours(covariance: str) -> Callable[[Rows], cl.DirectedGraph]:
    return lambda rows: cl.learn(rows, covariance=covariance).graph


def by_bic(search: Search) -> Callable[[Rows], cl.DirectedGraph]:
    return lambda rows: search(rows, edge_penalty("bic", *rows.shape))


def at_our_penalty(search: Search) -> Callable[[Rows], cl.DirectedGraph]:
    options = cl.SearchOptions()
    return lambda rows: search(rows, options.edge_penalty(options.tables(rows)))


def by_default(rows: Rows) -> cl.DirectedGraph:
    # The default of GRaSP in causal-learn, four times the BIC.
    return permutations("GRaSP")(rows, 4 * edge_penalty("bic", *rows.shape))


METHODS: dict[str, Callable[[Rows], cl.DirectedGraph]] = {
    "cyclearn": ours("sample"),
    "cyclearn, shrunk covariance": ours("shrunk"),
    "GRaSP, BIC": by_bic(permutations("GRaSP")),
    "GRaSP, cyclearn's penalty": at_our_penalty(permutations("GRaSP")),
    "GRaSP, its default": by_default,
    "ges, cyclearn's penalty": at_our_penalty(greedy_equivalence),
    "ges, BIC": by_bic(greedy_equivalence),
}


def noise(arguments: argparse.Namespace, done: set[Any]) -> Iterator[dict[str, Any]]:
    for n, p in NOISE:
        for seed in range(arguments.draws):
            key = ("noise", n, p, seed)
            if key not in done:
                rng = np.random.default_rng([11, n, p, seed])
                found = cl.learn(rng.standard_normal((n, p)), n_starts=1).graph
                yield {"key": key, "what": "noise", "rows": n, "columns": p, "edges": found.n_edges}


def limited(method: Callable[[Rows], cl.DirectedGraph], rows: Rows) -> cl.DirectedGraph | None:
    """The graph, or None where it took too long."""

    def too_long(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGVTALRM, too_long)
    signal.setitimer(signal.ITIMER_VIRTUAL, LIMIT)
    try:
        return method(rows)
    except TimeoutError:
        return None
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def truths(arguments: argparse.Namespace, done: set[Any]) -> Iterator[dict[str, Any]]:
    warnings.simplefilter("ignore")
    # What is compiled or loaded at first use is no part of a time.
    for name in ("cyclearn", "GRaSP, BIC", "ges, BIC"):
        METHODS[name](np.random.default_rng(0).normal(size=(100, 3)))
    for name in arguments.method or METHODS:
        for seed in range(arguments.cases):
            key = ("truth", name, seed)
            if key not in done:
                yield {"key": key, "what": "truth", "method": name, **measured(name, seed)}


def measured(name: str, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng([12, seed])
    graph = cl.simulate.random_graph(N_NODES, max_degree=2, max_component=1, random_state=rng)
    model = cl.simulate.random_model(graph, weights=WEIGHTS, random_state=rng)
    rows = model.sample(N_ROWS, random_state=rng).to_numpy()
    rows = rows - rows.mean(axis=0)
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 - the peers draw from it
    begun = process_time()
    learned = limited(METHODS[name], rows)
    seconds = process_time() - begun
    about = {"case": seed, "true_edges": graph.n_edges, "seconds": seconds}
    if learned is None:
        return about
    A, B = (np.triu(g.adjacency | g.adjacency.T) for g in (learned, graph))
    right = float((A & B).sum())
    return about | {
        "distance": float(cl.metrics.class_distance(learned, graph)),
        "edges": learned.n_edges,
        "precision": right / max(int(A.sum()), 1),
        "recall": right / int(B.sum()),
    }


def print_rows(rows: pd.DataFrame) -> None:
    print_noise(rows[rows["what"] == "noise"])
    print_truths(rows[rows["what"] == "truth"])


def print_noise(rows: pd.DataFrame) -> None:
    print("The seeds are [11, n, p, draw] for noise and [12, case] for truths.\n\n## Noise\n")
    print("| rows | columns | draws | mean edges | most edges | draws without edges |")
    print("|---|---|---|---|---|---|")
    for (n, p), part in rows.groupby(["rows", "columns"]):
        edges = part["edges"]
        shown = (f"{edges.mean():.2f}", f"{edges.max():.0f}", int((edges == 0).sum()))
        print(f"| {' | '.join(map(str, (int(n), int(p), len(part), *shown)))} |")


def print_truths(rows: pd.DataFrame) -> None:
    ours_, cases = rows[rows["method"] == "cyclearn"].set_index("case"), rows["case"].nunique()
    print(
        f"\n## Sparse truths\n\nThe truths are {cases} acyclic graphs of {N_NODES} "
        f"variables with at most 2 edges per variable ({ours_['true_edges'].mean():.1f} "
        f"edges on average), weights ±[{WEIGHTS[0]}, {WEIGHTS[1]}] and {N_ROWS} rows. The "
        f"table shows means over the graphs that a method finished within {LIMIT:.0f} s of "
        "CPU each, with cyclearn's distance on the same graphs; precision and recall are "
        "those of joined pairs.\n"
    )
    print(
        "| method | finished | distance to the class | distance of cyclearn | edges | "
        "precision | recall | CPU s |\n|---|---|---|---|---|---|---|---|"
    )
    for name in METHODS:
        asked = rows[rows["method"] == name]
        ended = asked.dropna(subset="distance")
        mean = ended[["distance", "edges", "precision", "recall", "seconds"]].mean()
        shown = (
            f"{len(ended)} of {len(asked)}",
            f"{mean['distance']:.1f}",
            f"{ours_.loc[ended['case'], 'distance'].mean():.1f}",
            f"{mean['edges']:.1f}",
            f"{mean['precision']:.2f}",
            f"{mean['recall']:.2f}",
            f"{mean['seconds']:.2f}",
        )
        print(f"| {name} | {' | '.join(shown)} |")


def main() -> None:
    bench = Benchmark("few_rows.py", "More variables than rows can bear", print_rows)
    bench.command("noise", noise).add_argument("--draws", type=int, default=50)
    parser = bench.command("truths", truths)
    parser.add_argument("--cases", type=int, default=8)
    parser.add_argument("--method", action="append", choices=METHODS)
    bench.main()


if __name__ == "__main__":
    main()
