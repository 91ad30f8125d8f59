"""What several tables determine, compared with pooled rows and averaged acyclic scores.

python benchmarks/several_tables.py groups --first 5000 --graphs 100 --out groups.jsonl
python benchmarks/several_tables.py networks --data DIR --out networks.jsonl
python benchmarks/several_tables.py table groups.jsonl networks.jsonl

``groups`` and ``networks`` append a line for each graph or network, and go on where they were
stopped. An average of the groups' BIC scores, as IMaGES takes it, orders graphs as their sum does;
what IMaGES differs in is that it searches acyclic graphs, so "acyclic" stands for it here.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
from resumed_run import Benchmark

import cyclearn as cl
from cyclearn.experiments.fmri import data_folder, data_sets, located, measured_against
from cyclearn.identifiability.numerics.numerical_overlap import wilson_interval

N_VARIABLES, N_ROWS = 5, 2_000
GROUPS = (1, 2, 5, 10)
WAYS = ("groups", "pooled", "acyclic")


def drawn(seed: int) -> tuple[cl.DirectedGraph, list[pd.DataFrame]]:
    """A graph of the paper's generator, and tables with weights of their own."""
    rng = np.random.default_rng([15, seed])
    graph = cl.simulate.random_graph(N_VARIABLES, max_component=5, random_state=rng)
    models = [cl.simulate.random_model(graph, random_state=rng) for _ in range(max(GROUPS))]
    return graph, [model.sample(N_ROWS, random_state=rng) for model in models]


def learn_by(way: str, tables: list[pd.DataFrame]) -> cl.LearnResult:
    if way == "pooled":
        return cl.learn(pd.concat(tables, ignore_index=True), penalty="bic")
    return cl.learn(tables, penalty="bic", max_component=1 if way == "acyclic" else None)


def outcome(result: cl.LearnResult, graph: cl.DirectedGraph) -> str:
    """Whether the true class is alone best, exactly tied with others, or missed."""
    truth = cl.equivalence_class(graph)
    found = [result.graph in truth, *(tied in truth for tied in result.alternatives)]
    if not any(found):
        return "missed"
    return "tied" if result.alternatives else "alone"


def measure_groups(arguments: argparse.Namespace, done: set[Any]) -> Iterator[dict[str, Any]]:
    for seed in range(arguments.first, arguments.first + arguments.graphs):
        graph, tables = drawn(seed)
        for n_groups in GROUPS:
            for way in WAYS:
                if (seed, n_groups, way) in done or (n_groups == 1 and way == "pooled"):
                    continue
                begun = process_time()
                result = learn_by(way, tables[:n_groups])
                seconds = process_time() - begun
                yield {
                    "key": [seed, n_groups, way],
                    "study": "groups",
                    "groups": n_groups,
                    "way": way,
                    "outcome": outcome(result, graph),
                    "distance": int(cl.equivalence_class(graph).distance(result.graph)),
                    "seconds": seconds,
                }


def measure_networks(arguments: argparse.Namespace, done: set[Any]) -> Iterator[dict[str, Any]]:
    folder = data_folder("feedback", located(arguments.data))
    for truth_file in sorted(folder.glob("*/truth.graph.txt")):
        network = truth_file.parent
        true = cl.read_graph(truth_file)
        tables = [cl.read_table(path)[list(true.names)] for path in data_sets(network)]
        batches = {f"{n + 1}": [table] for n, table in enumerate(tables[: arguments.singles])}
        for first in range(0, min(len(tables), 10 * arguments.batches), 10):
            batches[f"{first + 1}–{first + 10}"] = tables[first : first + 10]
        for name, batch in batches.items():
            if (network.name, name) in done:
                continue
            begun = process_time()
            result = cl.learn(batch, n_effective="auto", penalty=arguments.penalty)
            seconds = process_time() - begun
            yield {
                "key": [network.name, name],
                "study": "networks",
                "network": network.name,
                "groups": len(batch),
                "seconds": seconds,
                **measured_against(result.graph, true),
            }


def print_rows(rows: pd.DataFrame) -> None:
    studies = dict(iter(rows.groupby("study")))
    if "groups" in studies:
        _print_groups(studies["groups"])
    if "networks" in studies:
        _print_networks(studies["networks"])


def _print_groups(rows: pd.DataFrame) -> None:
    print(
        f"The graphs come from the paper's generator, with p = {N_VARIABLES} and {N_ROWS:,} "
        "rows per group, and the penalty is BIC. The table shows the share of answers in "
        "which the true class is the only best class, is tied exactly with others, or is missed "
        "(95% Wilson interval), and the mean distance to it. *Pooled* treats the rows of all "
        "groups as one table. *Acyclic* maximises the sum of the groups' scores over acyclic "
        "graphs, which has the same order as the averaged scores of IMaGES.\n"
    )
    print("| groups | method | graphs | alone | tied | missed | distance | median CPU s |")
    print("|---|---|---|---|---|---|---|---|")
    for (n_groups, way), part in rows.groupby(["groups", "way"]):
        counts = part["outcome"].value_counts()
        low, high = wilson_interval(int(counts.get("missed", 0)), len(part))
        shares = [counts.get(name, 0) / len(part) for name in ("alone", "tied", "missed")]
        print(
            f"| {int(n_groups)} | {way} | {len(part)} | {shares[0]:.0%} | {shares[1]:.0%} "
            f"| {shares[2]:.0%} ({low:.0%}–{high:.0%}) | {part['distance'].mean():.2f} "
            f"| {part['seconds'].median():.2f} |"
        )
    print()


def _print_networks(rows: pd.DataFrame) -> None:
    print(
        "The next data are simulated fMRI networks with feedback, as single tables and ten at a "
        "time, with "
        '`n_effective="auto"`. The table shows means, with the precision and recall of '
        "arrowheads compared with the true class.\n"
    )
    print("| network | groups | answers | distance | precision | recall | median CPU s |")
    print("|---|---|---|---|---|---|---|")
    for (network, n_groups), part in rows.groupby(["network", "groups"]):
        print(
            f"| {network} | {int(n_groups)} | {len(part)} | {part['class_distance'].mean():.1f} "
            f"| {part['class_arrowhead_precision'].mean():.2f} "
            f"| {part['class_arrowhead_recall'].mean():.2f} | {part['seconds'].median():.1f} |"
        )


def main() -> None:
    benchmark = Benchmark("several_tables.py", "Several tables", print_rows)
    groups = benchmark.command("groups", measure_groups)
    groups.add_argument("--graphs", type=int, default=100)
    groups.add_argument("--first", type=int, default=5000, help="number of the first graph")
    networks = benchmark.command("networks", measure_networks)
    networks.add_argument("--data", help="folder with the data, or the variable CYCLEARN_DATA")
    networks.add_argument("--singles", type=int, default=10, help="single tables a network")
    networks.add_argument("--batches", type=int, default=1, help="batches of ten a network")
    networks.add_argument("--penalty", default="bic")
    benchmark.main()


if __name__ == "__main__":
    main()
