"""Searches of other packages and ours on the same rows: score, distance, time and memory.

python benchmarks/peers.py run --out peers.jsonl
python benchmarks/peers.py table peers.jsonl > benchmarks/results/peers.md
python benchmarks/peers.py picture peers.jsonl --to benchmarks/results/figures/peers.png
"""

from __future__ import annotations

import argparse
import random
import resource
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from time import process_time
from typing import Any

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from resumed_run import Benchmark

from cyclearn import DirectedGraph, LimitError, equivalence_class, fit, learn, simulate
from cyclearn.search.penalty import DEFAULT_PENALTY, edge_penalty

Rows = NDArray[np.float64]
# Every method minimises negative log-likelihood + λ·edges with the λ of our default.
Search = Callable[[Rows, float], DirectedGraph]
# Differences of the score of the whole sample below this are none.
SAME = 1e-4
# Distances of graphs outside the true class are computed up to so many variables.
LARGEST_DISTANCE = 100
OURS, OURS_ACYCLIC = "cyclearn", "cyclearn, acyclic"
# Average number of neighbours in dense truths.
DEGREE = 8


def ours(rows: Rows, penalty: float) -> DirectedGraph:
    return learn(rows, penalty=penalty).graph


def ours_acyclic(rows: Rows, penalty: float) -> DirectedGraph:
    return learn(rows, penalty=penalty, max_component=1, n_jobs=1).graph


def flop(restarts: int) -> Search:
    def search(rows: Rows, penalty: float) -> DirectedGraph:
        import flopsearch

        scaled = (rows - rows.mean(axis=0)) / rows.std(axis=0)
        # Its parameter is the multiple of ½ log n.
        pattern = np.asarray(
            flopsearch.flop(scaled, 2 * penalty / np.log(len(rows)), restarts=restarts)
        )
        return _member(pattern == 1, pattern == 2)

    return search


def greedy_equivalence(rows: Rows, penalty: float) -> DirectedGraph:
    import ges
    import ges.utils
    from ges.scores import GaussObsL0Pen

    pattern, _ = ges.fit(GaussObsL0Pen(rows, lmbda=penalty))
    return DirectedGraph(ges.utils.pdag_to_dag(pattern) == 1)


def permutations(name: str) -> Search:
    def search(rows: Rows, penalty: float) -> DirectedGraph:
        from causallearn.search.PermutationBased.BOSS import boss
        from causallearn.search.PermutationBased.GRaSP import grasp
        from causallearn.utils.PDAG2DAG import pdag2dag

        method = {"BOSS": boss, "GRaSP": grasp}[name]
        # Both optimise log-likelihood − λ log n · parameters.
        parameters = {"lambda_value": penalty / np.log(len(rows))}
        found = method(rows, parameters=parameters, verbose=False)
        # causal-learn writes i → j as −1 at (i, j) and 1 at (j, i).
        marks = pdag2dag(found).graph
        return DirectedGraph((marks == -1) & (marks.T == 1))

    return search


def continuous(rows: Rows, penalty: float) -> DirectedGraph:  # noqa: ARG001 - has its own
    from dagma.linear import DagmaLinear

    # Of thresholds between 0.05 and 0.3 the one with the smallest distances, on graphs 1 to 3.
    weights = DagmaLinear(loss_type="l2").fit(rows, lambda1=0.02, w_threshold=0.2)
    return DirectedGraph(weights != 0)


# With the largest p that each is tried on: beyond, it takes many minutes a graph.
METHODS: dict[str, tuple[Search, int]] = {
    OURS: (ours, 1000),
    OURS_ACYCLIC: (ours_acyclic, 1000),
    "FLOP, 20 restarts": (flop(20), 500),
    "FLOP, 50 restarts": (flop(50), 500),
    "FLOP, no restarts": (flop(0), 1000),
    "ges": (greedy_equivalence, 20),
    "BOSS": (permutations("BOSS"), 50),
    "GRaSP": (permutations("GRaSP"), 50),
    "DAGMA": (continuous, 50),
}


def _member(directed: NDArray[np.bool_], undirected: NDArray[np.bool_]) -> DirectedGraph:
    """A graph of a pattern, whose undirected parts are chordal."""
    A = directed.copy()
    undirected_graph = nx.from_numpy_array(undirected)
    for part in nx.connected_components(undirected_graph):
        # Maximum cardinality search directs without new colliders.
        weight = dict.fromkeys(sorted(part), 0)
        while weight:
            node = max(weight, key=lambda v: weight[v])
            del weight[node]
            for neighbour in undirected_graph[node]:
                if neighbour in weight:
                    weight[neighbour] += 1
                    A[node, neighbour] = True
    return DirectedGraph(A)


def drawn(truth: str, p: int, seed: int, n: int) -> tuple[DirectedGraph, Rows]:
    rng = np.random.default_rng([1959, p, seed])
    if truth == "dense":
        A = np.zeros((p, p), dtype=bool)
        ends = np.array(np.triu_indices(p, 1)).T
        A[tuple(rng.permutation(ends)[: p * DEGREE // 2].T)] = True
        order = rng.permutation(p)
        graph = DirectedGraph(A[np.ix_(order, order)])
    else:
        graph = simulate.random_graph(
            p, max_component=1 if truth == "acyclic" else min(10, p // 4), random_state=rng
        )
    rows = simulate.random_model(graph, random_state=rng).sample(n, random_state=rng).to_numpy()
    return graph, rows - rows.mean(axis=0)


def measured(name: str, truth: str, p: int, seed: int, n: int) -> dict[str, Any]:
    """One method on one graph, in a process of its own."""
    warnings.simplefilter("ignore")
    if name in (OURS, OURS_ACYCLIC):
        learn(np.random.default_rng(0).normal(size=(100, 3)))
    graph, rows = drawn(truth, p, seed, n)
    penalty = edge_penalty(DEFAULT_PENALTY, n, p)
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 - some draw from it
    started = process_time()
    found = METHODS[name][0](rows, penalty)
    seconds = process_time() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    values = [-fit(each, rows).log_likelihood + penalty * each.n_edges for each in (found, graph)]
    true_class = equivalence_class(graph)
    is_true, distance = found in true_class, 0.0
    if not is_true:
        try:
            distance = float(true_class.distance(found)) if p <= LARGEST_DISTANCE else np.nan
        except LimitError:
            distance = np.nan
    return {
        "score": values[0],
        "above truth": values[0] - values[1],
        "in true class": is_true,
        "distance": distance,
        "seconds": seconds,
        "MiB": peak,
    }


def measure(arguments: argparse.Namespace, done: set[Any]) -> Iterator[dict[str, Any]]:
    sizes = [tuple(map(int, size.split(":"))) for size in arguments.sizes.split(",")]
    cells = [
        (truth, p, seed, name)
        for p, n_graphs in sizes
        for truth in arguments.truths.split(",")
        for seed in range(arguments.first, arguments.first + n_graphs)
        for name, (_, largest) in METHODS.items()
        if p <= largest and (arguments.methods is None or name in arguments.methods.split(";"))
    ]
    for truth, p, seed, name in cells:
        if (truth, p, seed, name) not in done:
            # A process for each, so that its memory is its own.
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                row = pool.submit(measured, name, truth, p, seed, arguments.samples).result()
            key = [truth, p, seed, name]
            yield {"key": key, "truth": truth, "p": p, "seed": seed, "method": name, **row}


def print_rows(rows: pd.DataFrame) -> None:
    print(
        "The graphs come from the paper's generator (degree at most 4; cyclic: components of at "
        "most a quarter of the nodes and at most 10), with n = 10,000, and were not used for "
        "choosing options. Every method gets the same rows and cyclearn's default penalty "
        f'(`"{DEFAULT_PENALTY}"`), and runs on one core in a process of its own. FLOP, ges, '
        "BOSS, GRaSP and DAGMA search acyclic graphs only; DAGMA has its own objective (least "
        "squares, λ₁ = 0.02, weights from 0.2). Methods were run up to the size that takes "
        "minutes per graph. The columns are:\n\n"
        "- *reached*: graphs whose score is at most that of the true graph;\n"
        "- *in true class*: graphs that are equivalent to the true one;\n"
        "- *distance*: the mean distance to the true class;\n"
        "- *worse* and *better*: scores that differ from cyclearn's by more than 1e-4;\n"
        "- *seconds*: the median (slowest) CPU seconds, after compilation and without reading;\n"
        "- *ratio*: the median ratio to cyclearn's time on the same rows;\n"
        "- *MiB*: the largest memory, with Python and libraries.\n"
    )
    print(
        "| truth | p | graphs | method | reached | in true class | distance | worse | better "
        "| seconds | ratio | MiB |\n" + "|---" * 12 + "|"
    )
    reference = OURS if (rows.method == OURS).any() else OURS_ACYCLIC
    ours_on = rows[rows.method == reference].set_index(["truth", "p", "seed"])
    for (truth, p), cell in rows.groupby(["truth", "p"], sort=True):
        for name in METHODS:
            own = cell[cell.method == name].set_index(["truth", "p", "seed"])
            if own.empty:
                continue
            beside = ours_on.loc[own.index]
            gap = own.score - beside.score
            print(
                f"| {truth} | {p} | {len(own)} | {name} "
                f"| {(own['above truth'] <= SAME).sum()} | {own['in true class'].sum()} "
                f"| {_mean(own.distance, p)} | {(gap > SAME).sum()} | {(gap < -SAME).sum()} "
                f"| {own.seconds.median():.2f} ({own.seconds.max():.2f}) "
                f"| {(own.seconds / beside.seconds).median():.2f} | {own.MiB.max():.0f} |"
            )
    print(
        "\nThe next table shows the growth of the median time, as the exponent of p over all "
        "sizes that were tried:\n\n| method | acyclic truths | cyclic truths |\n|---|---|---|"
    )
    for name, cell in rows.groupby("method", sort=False):
        medians = [
            cell[cell.truth == truth].groupby("p").seconds.median()
            for truth in ("acyclic", "cyclic")
        ]
        if any(len(each) > 1 for each in medians):
            cells = [f"{_growth(each):.1f}" if len(each) > 1 else "" for each in medians]
            print(f"| {name} | {' | '.join(cells)} |")


def _growth(medians: pd.Series[float]) -> float:
    """The exponent of p in the time."""
    return float(np.polyfit(np.log(medians.index), np.log(medians), 1)[0])


def draw(rows: pd.DataFrame, arguments: argparse.Namespace) -> None:
    """Time against the number of variables, with the exponents of growth."""
    figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained", sharey=True)
    for ax, (truth, cell) in zip(axes, rows.groupby("truth"), strict=True):
        for name in METHODS:
            times = cell[cell.method == name].groupby("p").seconds
            medians = times.median()
            if medians.empty:
                continue
            spread = [medians - times.min(), times.max() - medians]
            label = name
            if len(medians) > 1:
                label += rf" ($p^{{{_growth(medians):.1f}}}$)"
            ax.errorbar(medians.index, medians, yerr=spread, marker="o", capsize=2, label=label)
        ax.set(xscale="log", yscale="log", xlabel="variables", title=f"{truth} truths")
        sizes = sorted(rows.p.unique())
        ax.set_xticks(sizes, labels=map(str, sizes))
        ax.minorticks_off()
        ax.legend(fontsize=7)
    axes[0].set_ylabel("seconds of CPU: median, fastest, slowest")
    figure.savefig(arguments.to, dpi=130)


def _mean(distances: pd.Series[float], p: int) -> str:
    return f"{distances.mean():.1f}" if p <= LARGEST_DISTANCE else ""


def main() -> None:
    benchmark = Benchmark("peers.py", "Comparison with other packages", print_rows)
    parser = benchmark.command("run", measure)
    parser.add_argument("--sizes", default="20:5,50:3,100:2", help="p:graphs, ...")
    parser.add_argument("--first", type=int, default=7000, help="number of the first graph")
    parser.add_argument("--samples", type=int, default=10_000)
    parser.add_argument("--truths", default="acyclic,cyclic")
    parser.add_argument("--methods", help="names with ; between them; all without it")
    benchmark.reading("picture", draw).add_argument("--to", required=True)
    benchmark.main()


if __name__ == "__main__":
    main()
