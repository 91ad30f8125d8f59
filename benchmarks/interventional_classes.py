"""Equivalence under interventions compared with brute force, for pairs of graphs.

Weights are drawn on one graph and sought on the other, both ways, with what every table of the
design tells (tests/classes/naive_designs.py, which shares nothing with the library). Graphs
on three nodes: every pair, every design of observed data with one or two targets, and designs
without observed data. On four nodes pairs are drawn, half of them inside a class of observed data,
where the design decides.

    python benchmarks/interventional_classes.py > benchmarks/results/interventional_classes.md
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from itertools import combinations
from pathlib import Path
from time import process_time

import numpy as np
from environment import describe_run

from cyclearn import DirectedGraph, compare, equivalence_class

sys.path.append(str(Path(__file__).parent.parent / "tests" / "classes"))
import naive_designs

Design = list[list[int]]


def observed_and(p: int, size: int) -> list[Design]:
    """Observed data and one table with so many targets."""
    return [[[], list(targets)] for targets in combinations(range(p), size)]


def judged(
    first: DirectedGraph, second: DirectedGraph, design: Design, rng: np.random.Generator
) -> bool:
    """The verdict of brute force; where weights were not found, they are sought harder."""
    pair = first.adjacency, second.adjacency
    quick = naive_designs.same_under(*pair, design, rng, n_draws=25, n_batches=2)
    if quick or second not in equivalence_class(first, interventions=design):
        return quick
    return naive_designs.same_under(*pair, design, rng, n_draws=4, n_batches=60)


def compared(
    pairs: list[tuple[DirectedGraph, DirectedGraph]], designs: list[Design], seed: int
) -> Counter[str]:
    """How often the library and brute force agree, over all pairs and designs."""
    rng = np.random.default_rng(seed)
    found: Counter[str] = Counter()
    for first, second in pairs:
        for design in designs:
            says = second in equivalence_class(first, interventions=design)
            brute = judged(first, second, design, rng)
            found["comparisons"] += 1
            found["same"] += brute
            found["disagree"] += says != brute
            if says != brute:
                print("disagree", says, first.edges, second.edges, design, file=sys.stderr)
    return found


def drawn_pairs(p: int, n: int, seed: int) -> list[tuple[DirectedGraph, DirectedGraph]]:
    """Pairs of different graphs, half of them from one class of observed data."""
    rng = np.random.default_rng(seed)
    pairs = []
    while len(pairs) < n:
        A, B = rng.random((2, p, p)) < rng.uniform(0.2, 0.7)
        first, second = (DirectedGraph(M & ~np.eye(p, dtype=bool)) for M in (A, B))
        if len(pairs) % 2 == 0:
            members = equivalence_class(first, reducible=True)
            second = members.sample(1, random_state=int(rng.integers(2**31)))[0]
        if first != second:
            pairs.append((first, second))
    return pairs


def necessary_and_not_sufficient() -> tuple[int, int]:
    """Irreducible graphs on three nodes with {∅, do(t)}: ordered pairs that pass table by table.

    Also how many of them the design tells apart.
    """
    graphs = [DirectedGraph(A) for A in naive_designs.all_adjacencies(3)]
    graphs = [graph for graph in graphs if not graph.is_reducible()]
    passed = apart = 0
    for t in range(3):
        for g, h in combinations(graphs, 2):
            held = []
            for graph in (g, h):
                A = graph.adjacency.copy()
                A[:, t] = False
                held.append(DirectedGraph(A))
            if h in equivalence_class(g) and bool(compare(*held)):
                passed += 2
                apart += 2 * (h not in equivalence_class(g, interventions=[[], [t]]))
    return passed, apart


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=2000, help="pairs on four nodes")
    parser.add_argument("--share", type=float, default=1.0, help="share of pairs on three nodes")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    started = process_time()
    command = " ".join(["benchmarks/interventional_classes.py", *sys.argv[1:]])
    print("# The class under interventions against brute force\n")
    print(describe_run(command))
    print(
        f"The seed is {options.seed}. Weights are uniform on ±[0.3, 1.5], variances uniform "
        "on [0.5, 2].\n"
    )
    three = [DirectedGraph(A) for A in naive_designs.all_adjacencies(3)]
    every = list(combinations(three, 2))
    rng = np.random.default_rng(options.seed)
    every = [pair for pair in every if rng.random() < options.share]
    drawn = drawn_pairs(4, options.pairs, options.seed)
    rows = [
        ("p = 3, observed and one target", every, observed_and(3, 1)),
        ("p = 3, observed and two targets", every, observed_and(3, 2)),
        ("p = 3, without observed data", every, [[[0], [1]], [[0, 1], [1, 2]], [[0]]]),
        ("p = 4, observed and one target", drawn, observed_and(4, 1)),
        ("p = 4, observed and two targets", drawn, observed_and(4, 2)),
    ]
    print("| designs | pairs of graphs | comparisons | equal | disagreements |")
    print("|---|---|---|---|---|")
    for name, pairs, designs in rows:
        found = compared(pairs, designs, options.seed)
        counts = f"{found['comparisons']} | {found['same']} | {found['disagree']}"
        print(f"| {name} | {len(pairs)} | {counts} |", flush=True)
    passed, apart = necessary_and_not_sufficient()
    print(
        "\nAmong irreducible graphs on three nodes, with observed data and one target, "
        f"{passed} ordered pairs have the same distributions in each table separately. Both "
        f"tables together distinguish {apart} of them, because the tables share the weights."
    )
    print(f"\nThe run took {process_time() - started:.0f} s of CPU.")


if __name__ == "__main__":
    main()
