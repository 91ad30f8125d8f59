"""More variables than rows can bear: noise, and sparse truths beside ges and GRaSP.

    python benchmarks/few_rows.py --draws 50 --cases 10 \
        > benchmarks/results/few_rows.md

Noise: independent columns, fewer rows than columns. Truths: acyclic, 40 variables and 60 rows;
every method gets the same rows. The peers optimise the BIC, a score with the price that an edge has
here, and GRaSP its default.
"""

from __future__ import annotations

import argparse
import random
import signal
import warnings
from collections.abc import Callable
from time import process_time

import ges
import ges.scores
import ges.utils
import numpy as np
from acyclic_peers import Rows, _member, ges_graph, grasp_graph
from causallearn.search.PermutationBased.GRaSP import grasp

import cyclearn as cl

N_NODES, N_ROWS = 40, 60
NOISE = ((20, 40), (30, 40))
WEIGHTS = (0.5, 0.9)
# Seconds of CPU that a method may take for one table.
LIMIT = 90.0


def plain(rows: Rows) -> cl.DirectedGraph:
    return cl.learn(rows).graph


def shrunk(rows: Rows) -> cl.DirectedGraph:
    return cl.learn(rows, covariance="shrunk").graph


def ges_at_our_price(rows: Rows) -> cl.DirectedGraph:
    score = ges.scores.GaussObsL0Pen(rows, lmbda=_price(rows))
    pattern, _ = ges.fit(score)
    return cl.DirectedGraph(ges.utils.pdag_to_dag(pattern) == 1)


def grasp_at_our_price(rows: Rows) -> cl.DirectedGraph:
    share = {"lambda_value": _price(rows) / float(np.log(len(rows)))}
    return _member(grasp(rows, parameters=share, verbose=False))


def _price(rows: Rows) -> float:
    options = cl.SearchOptions()
    return options.edge_penalty(options.tables(rows))


def default_grasp(rows: Rows) -> cl.DirectedGraph:
    return _member(grasp(rows, verbose=False))


METHODS: dict[str, Callable[[Rows], cl.DirectedGraph]] = {
    "cyclearn": plain,
    "cyclearn, shrunk covariance": shrunk,
    "ges, BIC": ges_graph,
    "ges, our price": ges_at_our_price,
    "GRaSP, BIC": grasp_graph,
    "GRaSP, our price": grasp_at_our_price,
    "GRaSP, its default": default_grasp,
}


def noise(n_draws: int) -> None:
    print("## Noise\n")
    print("| rows | columns | draws | mean edges | most edges | draws without any |")
    print("|---|---|---|---|---|---|")
    for n, p in NOISE:
        edges = []
        for seed in range(n_draws):
            rng = np.random.default_rng([11, n, p, seed])
            edges.append(cl.learn(rng.standard_normal((n, p)), n_starts=1).graph.n_edges)
        empty = edges.count(0)
        print(f"| {n} | {p} | {n_draws} | {np.mean(edges):.2f} | {max(edges)} | {empty} |")


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


def truths(n_cases: int, n_slow: int) -> None:
    found: dict[str, list[tuple[float, ...]]] = {name: [] for name in METHODS}
    n_edges = []
    for seed in range(n_cases):
        rng = np.random.default_rng([12, seed])
        graph = cl.simulate.random_graph(N_NODES, max_degree=2, max_component=1, random_state=rng)
        model = cl.simulate.random_model(graph, weights=WEIGHTS, random_state=rng)
        rows = model.sample(N_ROWS, random_state=rng).to_numpy()
        rows = rows - rows.mean(axis=0)
        n_edges.append(graph.n_edges)
        for name, method in METHODS.items():
            if name.startswith("ges") and seed >= n_slow:
                continue
            random.seed(seed)
            np.random.seed(seed)  # noqa: NPY002 - the peers draw from it
            begun = process_time()
            learned = limited(method, rows)
            seconds = process_time() - begun
            if learned is None:
                continue
            distance = float(cl.metrics.class_distance(learned, graph))
            A, B = (np.triu(g.adjacency | g.adjacency.T) for g in (learned, graph))
            right = float((A & B).sum())
            found[name].append(
                (
                    distance,
                    learned.n_edges,
                    right / max(int(A.sum()), 1),
                    right / int(B.sum()),
                    seconds,
                )
            )

    def _asked(name: str) -> int:
        return min(n_slow, n_cases) if name.startswith("ges") else n_cases

    print("\n## Sparse truths\n")
    print(
        f"{n_cases} acyclic graphs of {N_NODES} variables, at most 2 edges a variable "
        f"({np.mean(n_edges):.1f} edges on average), weights ±[{WEIGHTS[0]}, {WEIGHTS[1]}], "
        f"{N_ROWS} rows. Means over the graphs that a method finished, within {LIMIT:.0f} s of CPU "
        "each; joined pairs against those of the truth.\n"
    )
    print("| method | finished | distance to the class | edges | precision | recall | CPU s |")
    print("|---|---|---|---|---|---|---|")
    for name, values in found.items():
        if not values:
            print(f"| {name} | 0 of {_asked(name)} | – | – | – | – | – |")
            continue
        distance, edges, precision, recall, seconds = np.mean(values, axis=0)
        print(
            f"| {name} | {len(values)} of {_asked(name)} | {distance:.1f} | {edges:.1f} "
            f"| {precision:.2f} | {recall:.2f} | {seconds:.2f} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=50)
    parser.add_argument("--cases", type=int, default=10)
    parser.add_argument("--ges-cases", type=int, default=2, help="ges takes a minute for each")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("# More variables than rows can bear\n")
    print(
        f"`python benchmarks/few_rows.py --draws {options.draws} --cases {options.cases} "
        f"--ges-cases {options.ges_cases}`, 2026-11-16, x86_64, 2 cores; seeds [11, n, p, draw] "
        "and [12, case].\n"
    )
    noise(options.draws)
    truths(options.cases, options.ges_cases)


if __name__ == "__main__":
    main()
