"""Every pair of classes of equal dimension on four nodes gets a verdict.

The 4096 graphs fall into 327 classes by rotations. Pairs of classes that a relabelling of the nodes
maps onto each other have the same verdict, so one pair of each orbit is compared and counted as
often as its orbit is large.

    python benchmarks/identifiability_four.py > benchmarks/results/identifiability_four.md
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from itertools import combinations, permutations, product
from time import perf_counter

from environment import describe_run

from cyclearn.graphs import DirectedGraph
from cyclearn.graphs.bitsets import bits
from cyclearn.graphs.territories import territories
from cyclearn.identifiability import Closures, Comparison, Sampler, Verdict, compare


def class_representatives(p: int) -> dict[object, tuple[int, ...]]:
    """Territories of each class and the columns of a member with the fewest edges."""
    found: dict[object, tuple[int, ...]] = {}
    for off in product(range(1 << (p - 1)), repeat=p):
        columns = tuple(o & ((1 << j) - 1) | 1 << j | o >> j << (j + 1) for j, o in enumerate(off))
        key = territories(columns)
        edges = sum(c.bit_count() for c in columns)
        if key not in found or edges < sum(c.bit_count() for c in found[key]):
            found[key] = columns
    return found


def relabelled(columns: tuple[int, ...], order: tuple[int, ...]) -> list[int]:
    return [sum(1 << order[v] for v in bits(column)) for column in columns]


def pair_orbits(classes: dict[object, tuple[int, ...]], p: int) -> Counter[tuple[int, int]]:
    """One pair of classes of equal dimension from each orbit of relabellings, with its size."""
    names = tuple(str(v + 1) for v in range(p))
    number = {key: n for n, key in enumerate(classes)}
    dimension = [DirectedGraph.from_columns(c, names).dimension() for c in classes.values()]
    images = [
        [number[territories(relabelled(c, order))] for c in classes.values()]
        for order in permutations(range(p))
    ]
    orbits: Counter[tuple[int, int]] = Counter()
    for i, j in combinations(range(len(classes)), 2):
        if dimension[i] == dimension[j]:
            moved = ((image[i], image[j]) for image in images)
            orbits[min((min(pair), max(pair)) for pair in moved)] += 1
    return orbits


def as_sets(graph: DirectedGraph) -> str:
    columns = sorted(graph.columns, key=lambda c: (c.bit_count(), c))
    return " ".join("".join(graph.names[v] for v in bits(c)) for c in columns)


def kind(found: Comparison) -> str:
    """The row of the summary that a comparison belongs to."""
    if found.verdict.is_equal:
        return "equal beyond rotations, " + (
            "proved by the rules" if found.verdict.is_proved else "by numerics only"
        )
    proved = "proved" if found.verdict.is_proved else "by numerics"
    if found.sharing.is_positive:
        shared = "proved" if found.sharing.name == "PROVED" else "by numerics"
        return f"quasi equivalent ({shared}), not equivalent ({proved})"
    if found.sharing.name == "REFUTED":
        return "distinct: closures differ, proved"
    return f"no common distribution found, not equivalent ({proved})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--starts", type=int, default=30)
    parser.add_argument("--orders", type=int, default=20_000)
    options = parser.parse_args()
    started = perf_counter()
    p = 4
    names = tuple(str(v + 1) for v in range(p))
    classes = class_representatives(p)
    graphs = [DirectedGraph.from_columns(columns, names) for columns in classes.values()]
    orbits = pair_orbits(classes, p)
    kinds: Counter[str] = Counter()
    kinds_up_to: Counter[str] = Counter()
    verdicts: Counter[Verdict] = Counter()
    equal: list[tuple[Comparison, int]] = []
    open_pairs: list[tuple[Comparison, int]] = []
    for (i, j), size in sorted(orbits.items()):
        found = compare(graphs[i], graphs[j], n_draws=options.draws, n_starts=options.starts)
        if found.closures is Closures.UNDECIDED:
            found = compare(graphs[i], graphs[j], n_orders=options.orders)
        kinds[kind(found)] += size
        kinds_up_to[kind(found)] += 1
        verdicts[found.verdict] += size
        if found.verdict.is_equal:
            equal.append((found, size))
        elif found.forward is not None and not found.verdict.is_proved:
            open_pairs.append((found, size))
    seconds = perf_counter() - started
    print("# All pairs of classes of equal dimension on four nodes\n")
    print(describe_run("benchmarks/identifiability_four.py"))
    print(
        f"{len(classes)} classes; {sum(orbits.values()):,} pairs of equal dimension, "
        f"{len(orbits):,} up to relabelling. Where proofs leave a pair open, {options.draws} "
        f"distributions are drawn from each graph ({Sampler.GAUSSIAN.value}) and projected onto "
        f"the other from up to {options.starts} starts, ten times as many for rare failures; "
        f"generated means KL < 1e-9. {seconds:.0f} seconds.\n"
    )
    print("| relation | pairs | up to relabelling |\n|---|---|---|")
    for name in sorted(kinds):
        print(f"| {name} | {kinds[name]:,} | {kinds_up_to[name]:,} |")
    print("\n| verdict | pairs |\n|---|---|")
    for verdict in Verdict:
        if verdicts[verdict]:
            print(f"| {verdict.value} | {verdicts[verdict]:,} |")
    print("\n## Pairs that are equal beyond rotations\n")
    print("Columns as sets of nodes.\n")
    print("| first | second | verdict | pairs |\n|---|---|---|---|")
    for found, size in equal:
        first, second = as_sets(found.first), as_sets(found.second)
        print(f"| {first} | {second} | {found.verdict.value} | {size} |")
    print("\n## Pairs that differ by numerics only\n")
    print(
        "Generated: of the distributions drawn from the first, how many the second generates, and "
        "the other way. Contained: proved by subgraphs.\n"
    )
    print(
        "| first | second | generated | generated | contained | pairs |\n|---|---|---|---|---|---|"
    )
    for found, size in open_pairs:
        inside = "first in second" * found.first_in_second + "second in first" * (
            found.second_in_first
        )
        print(
            f"| {as_sets(found.first)} | {as_sets(found.second)} | {found.forward} | "
            f"{found.backward} | {inside} | {size} |"
        )
    sys.exit(0)


if __name__ == "__main__":
    main()
