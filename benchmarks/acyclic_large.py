"""The search over orders beside FLOP (pip install flopsearch) on the same rows.

python benchmarks/acyclic_large.py > benchmarks/results/acyclic_large.md
"""

from __future__ import annotations

import argparse
import resource
import sys
from time import process_time

import flopsearch
import networkx as nx
import numpy as np
from environment import describe_run
from numpy.typing import NDArray

from cyclearn import simulate
from cyclearn.search.orders import best_acyclic
from cyclearn.search.penalty import edge_penalty
from cyclearn.search.score import GraphScore, SearchLimits

FIRST_SEED = 1000
# Differences of the score of the whole sample below this are none.
SAME = 1e-4


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, nargs="+", default=[20, 50, 100, 200, 500])
    parser.add_argument("--graphs", type=int, nargs="+", default=[20, 20, 10, 5, 3])
    parser.add_argument("--truths", nargs="+", default=["acyclic", "cyclic"])
    parser.add_argument("--penalties", nargs="+", default=["bic", "2 bic"])
    parser.add_argument("--samples", type=int, default=10_000)
    parser.add_argument("--restarts", type=int, default=20)
    parser.add_argument("--effort", type=int, default=10)
    parser.add_argument("--annealing", action="store_true", help="the annealing of auto as well")
    arguments = parser.parse_args()
    _compile()
    print("# Acyclic graphs of many variables\n")
    print(describe_run("benchmarks/acyclic_large.py " + " ".join(sys.argv[1:])))
    print(
        f"Graphs of the generator (degree at most 4; cyclic: components of at most 10 nodes), "
        f"seeds from {FIRST_SEED}, n = {arguments.samples:,}. FLOP has {arguments.restarts} "
        "restarts and the rows, the search over orders the rows' correlations, which are part of "
        "its time. Times are seconds of CPU, median and slowest. The first local optimum is the "
        "search with effort 0. Scores are by one code for all, gaps above FLOP's in units of the "
        "log-likelihood of the sample; worse and better: by more than 1e-4.\n"
    )
    print(
        "| truth | penalty | p | graphs | worse | equal | better | gap median (worst) "
        "| orders s | first optimum s | its gap | FLOP s | time ratio |"
        + (" annealing gap | its s |" if arguments.annealing else "")
    )
    print("|---" * (15 if arguments.annealing else 13) + "|")
    for truth in arguments.truths:
        for penalty in arguments.penalties:
            for p, n_graphs in zip(arguments.nodes, arguments.graphs, strict=True):
                runs = [
                    _compare(truth == "cyclic", penalty, p, FIRST_SEED + seed, arguments)
                    for seed in range(n_graphs)
                ]
                print(f"| {truth} | {penalty} | {p} | {n_graphs} | " + _row(np.array(runs)))
                sys.stdout.flush()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\nLargest memory of the process, rows and all methods included: {peak:.0f} MiB.")


def _row(runs: NDArray[np.float64]) -> str:
    gap, seconds, first_gap, first_seconds, flop_seconds, *annealing = runs.T
    cells = [
        f"{(gap > SAME).sum()}",
        f"{(abs(gap) <= SAME).sum()}",
        f"{(gap < -SAME).sum()}",
        f"{np.median(gap):.2f} ({gap.max():.2f})",
        _times(seconds),
        _times(first_seconds),
        f"{np.median(first_gap):.2f}",
        _times(flop_seconds),
        f"{np.median(seconds / flop_seconds):.2f}",
    ]
    if annealing:
        cells += [f"{np.median(annealing[0]):.2f}", _times(annealing[1])]
    return " | ".join(cells) + " |"


def _times(seconds: NDArray[np.float64]) -> str:
    return f"{np.median(seconds):.2f} ({seconds.max():.2f})"


def _compare(
    is_cyclic: bool, name: str, p: int, seed: int, arguments: argparse.Namespace
) -> list[float]:
    """Scores above FLOP's and seconds: the search, its first optimum; FLOP's seconds."""
    n = arguments.samples
    rng = np.random.default_rng([1959, seed])
    truth = simulate.random_graph(p, max_component=10 if is_cyclic else 1, random_state=rng)
    rows = simulate.random_model(truth, random_state=rng).sample(n, random_state=rng).to_numpy()
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    penalty = edge_penalty(name, n, p)
    started = process_time()
    # Its parameter is the multiple of ½ log n, checked with two variables: an edge is drawn when
    # it gains λ·½ log n.
    pattern = flopsearch.flop(rows, 2 * penalty / np.log(n), restarts=arguments.restarts)
    flop_seconds = process_time() - started
    allowed, required = ~np.eye(p, dtype=bool), np.zeros((p, p), dtype=bool)
    found = []
    for effort in (arguments.effort, 0):
        started = process_time()
        S = rows.T @ rows / n
        run = best_acyclic(S, penalty / n, allowed, required, p, p * p, seed=seed, effort=effort)
        found += [run.adjacency, process_time() - started]
    score = GraphScore(S, penalty / n, SearchLimits(1, p, p * p, 0))
    if arguments.annealing:
        found += _annealed(score, n, seed)
    reference = score.value(_member(pattern))
    gaps = [n * (score.value(A) - reference) for A in found[::2]]
    result = [gaps[0], found[1], gaps[1], found[3], flop_seconds]
    return result + ([gaps[2], found[5]] if arguments.annealing else [])


def _annealed(score: GraphScore, n: int, seed: int) -> list[NDArray[np.uint8] | float]:
    """The annealing of acyclic graphs, with the proposals of a start of the default search."""
    p = score.n_variables
    started = process_time()
    annealed = score.anneal(
        np.zeros((p, p), dtype=np.uint8),
        np.arange(p),
        np.ones((p, p), dtype=np.uint8),
        np.ones((p, p), dtype=np.uint8),
        max_component=1,
        max_evaluations=2**62,
        temperatures=(100 / n, 0.5 / n),
        n_proposals=5000 * p * min(p, 20) ** 2 // 400,
        seed=seed,
    )
    return [annealed.best, process_time() - started]


def _member(pattern: NDArray[np.integer]) -> NDArray[np.uint8]:
    """A graph of the class: 1 is an edge i → j, 2 at (i, j) and (j, i) one without direction.

    Undirected parts are chordal; maximum cardinality search directs them without new colliders.
    """
    A = (np.asarray(pattern) == 1).astype(np.uint8)
    undirected = nx.from_numpy_array(np.asarray(pattern) == 2)
    for part in nx.connected_components(undirected):
        weight = dict.fromkeys(sorted(part), 0)
        while weight:
            v = max(weight, key=weight.__getitem__)
            del weight[v]
            for u in undirected[v]:
                if u in weight:
                    weight[u] += 1
                    A[v, u] = 1
    return A


def _compile() -> None:
    S = np.array([[1.0, 0.5], [0.5, 1.0]])
    none = np.zeros((2, 2), dtype=bool)
    best_acyclic(S, 0.01, ~np.eye(2, dtype=bool), none, 2, 4, seed=0)
    _annealed(GraphScore(S, 0.01, SearchLimits(1, 2, 4, 0)), 100, 0)


if __name__ == "__main__":
    main()
