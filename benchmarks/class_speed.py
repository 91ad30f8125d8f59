"""Time to compare graphs and to list and count classes.

python benchmarks/class_speed.py > benchmarks/results/class_speed.md
"""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from time import perf_counter

import numpy as np
from environment import describe_run

from cyclearn import DirectedGraph, equivalence_class, equivalent
from cyclearn.classes import replay
from cyclearn.classes.steps import iter_reversions
from cyclearn.graphs import random_graph

sys.path.append(str(Path(__file__).parent.parent / "tests"))
from strategies import iter_exchanges, iter_reductions


def walked(graph: DirectedGraph, n_steps: int, rng: np.random.Generator) -> DirectedGraph:
    """The graph after random steps of Theorem 2."""
    for _ in range(n_steps):
        steps = [*iter_reductions(graph), *iter_exchanges(graph)]
        steps += islice(iter_reversions(graph), 50)
        if not steps:
            break
        graph = steps[rng.integers(len(steps))].apply(graph)
    return graph


def lookalike(graph: DirectedGraph, rng: np.random.Generator) -> DirectedGraph:
    """A graph that is not equivalent although each node has as many parents as before."""
    while True:
        adjacency = graph.adjacency.copy()
        j = rng.integers(graph.n_nodes)
        parents = np.flatnonzero(adjacency[:, j])
        others = np.setdiff1d(np.arange(graph.n_nodes), [*parents, j])
        if parents.size:
            adjacency[rng.choice(parents), j] = False
            adjacency[rng.choice(others), j] = True
            changed = DirectedGraph(adjacency, graph.names)
            if not equivalent(graph, changed):
                return changed


def median_ms(
    call: Callable[[DirectedGraph, DirectedGraph], object],
    pairs: list[tuple[DirectedGraph, DirectedGraph]],
) -> tuple[float, float]:
    times = []
    for g, h in pairs:
        started = perf_counter()
        call(g, h)
        times.append(1e3 * (perf_counter() - started))
    return float(np.median(times)), float(np.max(times))


def main() -> None:
    rng = np.random.default_rng(0)
    pairs = []
    for _ in range(100):
        graph = random_graph(50, max_component=10, random_state=rng)
        pairs.append((graph, walked(graph, 30, rng)))
    unequal = [(g, lookalike(h, rng)) for g, h in pairs]
    assert all(equivalent(g, h) for g, h in pairs)
    assert not any(equivalent(g, h) for g, h in unequal)
    assert all(replay(g, equivalent(g, h).forward).is_subgraph_of(h) for g, h in pairs)

    print("# Speed of comparing graphs, and of listing and counting classes\n")
    print(describe_run("benchmarks/class_speed.py"))
    print("## Comparing: 100 pairs with 50 nodes, degree at most 4, components of at most 10\n")
    print("| call | median ms | slowest ms |\n|---|---|---|")
    for title, call, given in (
        ("`equivalent`, 30 random steps apart", lambda answer: bool(answer), pairs),
        ("`equivalent`, alike but not equivalent", lambda answer: bool(answer), unequal),
        (
            "`equivalent` with both sequences of steps",
            lambda answer: (answer.forward, answer.backward),
            pairs,
        ),
    ):
        median, slowest = median_ms(lambda g, h, call=call: call(equivalent(g, h)), given)
        print(f"| {title} | {median:.2f} | {slowest:.2f} |")

    print("\n## Listing: members per second, up to 300,000 of each class\n")
    print("| graph | size of the class | members per second | peak MB at 100,000 / 300,000 |")
    print("|---|---|---|---|")
    for title, graph in listed_graphs(rng):
        members = equivalence_class(graph)
        started = perf_counter()
        n_listed = sum(1 for _ in islice(members, 300_000))
        rate = n_listed / (perf_counter() - started)
        peaks = []
        for n_members in (100_000, 300_000):
            tracemalloc.start()
            for _ in islice(equivalence_class(graph), n_members):
                pass
            peaks.append(tracemalloc.get_traced_memory()[1] / 1e6)
            tracemalloc.stop()
        print(f"| {title} | {members.size:.3g} | {rate:,.0f} | {peaks[0]:.1f} / {peaks[1]:.1f} |")

    print("\n## Counting without listing\n")
    print("| graph | size of the class | ms |\n|---|---|---|")
    for title, graph in counted_graphs(rng):
        started = perf_counter()
        size = equivalence_class(graph).size
        print(f"| {title} | {size:.3g} | {1e3 * (perf_counter() - started):.1f} |")


def listed_graphs(rng: np.random.Generator) -> list[tuple[str, DirectedGraph]]:
    complete = DirectedGraph(np.triu(np.ones((8, 8)), 1))
    triples = DirectedGraph(np.kron(np.eye(7), np.triu(np.ones((3, 3)), 1)))
    return [
        ("complete acyclic graph on 8 nodes (one block)", complete),
        ("7 disjoint complete triples, 21 nodes", triples),
        ("random, 50 nodes", largest_class(50, 10, 50, rng)),
        ("random, 100 nodes", largest_class(100, 10, 10, rng)),
    ]


def largest_class(
    p: int, max_component: int, n_graphs: int, rng: np.random.Generator
) -> DirectedGraph:
    graphs = [random_graph(p, 4, max_component, random_state=rng) for _ in range(n_graphs)]
    return max(graphs, key=lambda graph: equivalence_class(graph).size)


def counted_graphs(rng: np.random.Generator) -> list[tuple[str, DirectedGraph]]:
    chain = DirectedGraph(np.eye(200, k=1))
    complete = DirectedGraph(np.triu(np.ones((30, 30)), 1))
    larger = [random_graph(200, max_component=20, random_state=rng) for _ in range(5)]
    return [
        ("chain of 200 nodes", chain),
        ("complete acyclic graph on 30 nodes", complete),
        ("largest of 50 random graphs with 50 nodes", largest_class(50, 10, 50, rng)),
        *((f"random, 200 nodes, number {n}", g) for n, g in enumerate(larger, start=1)),
    ]


if __name__ == "__main__":
    main()
