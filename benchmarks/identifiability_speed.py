"""Time of ``compare`` on strongly connected graphs of six and ten nodes.

Pairs of equal dimension: members of one class, and graphs of different classes that come from a
member of the class by moving one edge, several edges, or by drawing anew until the dimensions
agree. Dense graphs have full dimension, so that no invariant of the closure can end the work.

    python benchmarks/identifiability_speed.py > benchmarks/results/identifiability_speed.md
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Callable
from time import perf_counter, process_time

import numpy as np
from environment import describe_run

from cyclearn.classes import equivalence_class, equivalent
from cyclearn.graphs import DirectedGraph
from cyclearn.identifiability import compare

Generator = np.random.Generator
TRIES = 3000


def strongly_connected(p: int, n_edges: int, generator: Generator) -> DirectedGraph:
    """A cycle through all nodes in random order, and random further edges."""
    order = generator.permutation(p)
    adjacency = np.zeros((p, p), dtype=bool)
    adjacency[order, np.roll(order, -1)] = True
    free = np.flatnonzero(~adjacency & ~np.eye(p, dtype=bool))
    adjacency.flat[generator.choice(free, n_edges - p, replace=False)] = True
    return DirectedGraph(adjacency)


def random_member(graph: DirectedGraph, generator: Generator) -> DirectedGraph:
    """One of the first members of the class, at random."""
    members = list(equivalence_class(graph).members(max_members=20))
    return members[generator.integers(len(members))]


def with_moved_edges(graph: DirectedGraph, n_moved: int, generator: Generator) -> DirectedGraph:
    """The graph with some edges taken away and as many put elsewhere."""
    adjacency = graph.adjacency.copy()
    held = np.flatnonzero(adjacency)
    free = np.flatnonzero(~adjacency & ~np.eye(graph.n_nodes, dtype=bool))
    n_moved = min(n_moved, len(free))
    adjacency.flat[generator.choice(held, n_moved, replace=False)] = False
    adjacency.flat[generator.choice(free, n_moved, replace=False)] = True
    return DirectedGraph(adjacency, graph.names)


def partner(graph: DirectedGraph, kind: str, generator: Generator) -> DirectedGraph | None:
    """A graph of the same dimension to compare with, or None where none was met."""
    if kind == "one class":
        return random_member(graph, generator)
    change: dict[str, Callable[[], DirectedGraph]] = {
        "one edge moved": lambda: with_moved_edges(random_member(graph, generator), 1, generator),
        "three edges moved": lambda: with_moved_edges(
            random_member(graph, generator), 3, generator
        ),
        "redrawn": lambda: strongly_connected(graph.n_nodes, graph.n_edges, generator),
    }
    for _ in range(TRIES):
        other = change[kind]()
        if other.dimension() == graph.dimension() and not equivalent(graph, other):
            return other
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=25, help="pairs of each kind and size")
    parser.add_argument("--seconds", type=float, default=600.0, help="for each number of nodes")
    options = parser.parse_args()
    print("# Time for a verdict on two graphs\n")
    print(describe_run("benchmarks/identifiability_speed.py"))
    print(
        "`compare` was run with its defaults on pairs of strongly connected random graphs "
        "of equal dimension. Times are CPU seconds on one core, without the first call, "
        "which loads compiled code.\n"
    )
    print("| nodes | edges | pair | pairs | median s | slowest s | verdicts |")
    print("|---|---|---|---|---|---|---|")
    warm = strongly_connected(4, 7, np.random.default_rng(0))
    compare(warm, DirectedGraph(warm.adjacency.T, warm.names))
    for p, sizes in ((6, (8, 12, 15, 20, 26)), (10, (12, 20, 30, 38, 45))):
        started = perf_counter()
        for n_edges in sizes:
            generator = np.random.default_rng(n_edges)
            times: dict[str, list[float]] = defaultdict(list)
            verdicts: dict[str, Counter[str]] = defaultdict(Counter)
            for kind in ("one class", "one edge moved", "three edges moved", "redrawn"):
                for _ in range(options.pairs):
                    graph = strongly_connected(p, n_edges, generator)
                    other = partner(graph, kind, generator)
                    if other is None or perf_counter() - started > options.seconds:
                        break
                    before = process_time()
                    found = compare(graph, other)
                    times[kind].append(process_time() - before)
                    verdicts[kind][found.verdict.name.lower()] += 1
            for kind, taken in times.items():
                told = ", ".join(f"{name} {n}" for name, n in verdicts[kind].most_common())
                print(
                    f"| {p} | {n_edges} | {kind} | {len(taken)} | {np.median(taken):.3f} | "
                    f"{max(taken):.3f} | {told} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
