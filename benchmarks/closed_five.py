"""Which graphs on few nodes generate the same distributions, with a proof for every answer.

Graphs with the same distributions have the same largest columns and the same vanishing minors of
Θ (the documentation, "Beyond the theorem"); both are read off the columns, without numbers. So only
classes with the same of both are compared, one pair from each orbit of relabellings: either the
rules prove them equal, or a distribution is found that one generates and the other provably does
not, nor anything near it, or one set has more dimensions than the other has parameters. Such proofs
are verified in exact arithmetic.

    python benchmarks/closed_five.py > benchmarks/results/closed_five.md
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from math import comb
from time import process_time

from class_pairs import Classes, as_sets, joined_by_rules, largest_columns
from environment import describe_run

from cyclearn import DirectedGraph
from cyclearn.identifiability.numerics.separation_search import search_separation


def compare_all(p: int, most: int) -> tuple[str, list[str]]:
    """A row of the table, and the pairs that were left without a proof."""
    started = process_time()
    classes = Classes(p)
    joined = joined_by_rules(classes)
    groups: dict[object, list[int]] = defaultdict(list)
    for n, graph in enumerate(classes.graphs):
        groups[largest_columns(graph.columns), classes.zero_minors[n]].append(n)
    orbits: Counter[str] = Counter()
    pairs: Counter[str] = Counter()
    open_pairs = []
    for pair in classes.iter_pair_orbits(list(groups.values())):
        g, h = classes.graphs[pair.first], classes.graphs[pair.second]
        if joined.connected(pair.first, pair.second):
            answer = "equal"
        elif search_separation(
            g, h, n_faces=most, n_wide=most, n_boundary=0, random_state=0
        ) or has_more_dimensions(g, h):
            answer = "different"
        else:
            answer = "open"
            open_pairs.append(f"{as_sets(g)} | {as_sets(h)}")
        orbits[answer] += 1
        pairs[answer] += pair.size
    # No pair is missing: the orbits make up all pairs.
    assert sum(pairs.values()) == sum(comb(len(group), 2) for group in groups.values())
    cells = [f"{p}", f"{len(classes.keys):,}", f"{joined.n_subsets:,}"]
    cells += [
        f"{pairs[answer]:,} ({orbits[answer]:,})" for answer in ("equal", "different", "open")
    ]
    cells.append(f"{process_time() - started:.0f}")
    return "| " + " | ".join(cells) + " |", open_pairs


def has_more_dimensions(g: DirectedGraph, h: DirectedGraph) -> bool:
    """Whether one set provably has a larger dimension than the other.

    The rank of a Jacobian at one point is never above the dimension, and the number of parameters
    never below it.
    """
    return any(some.dimension() > other.n_edges + other.n_nodes for some, other in ((g, h), (h, g)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, nargs="+", default=[3, 4, 5])
    parser.add_argument("--most", type=int, default=1000, help="draws of each kind and graph")
    options = parser.parse_args()
    print("# Every pair of classes is proved equal or different\n")
    print(describe_run("benchmarks/closed_five.py"))
    print(
        "The table counts the pairs of rotation classes with the same largest columns and the "
        "same vanishing minors of Θ, in brackets up to relabelling. Such a pair is equal by "
        "the rules, or it differs because one class generates a distribution that the other "
        "provably does not, or because the dimensions differ. All other pairs differ. Times "
        "are seconds on one core.\n"
    )
    print(
        "| p | classes by rotations | by all rules | equal | different | open | seconds |\n"
        "|---|---|---|---|---|---|---|"
    )
    left: list[str] = []
    for p in options.nodes:
        row, open_pairs = compare_all(p, options.most)
        print(row, flush=True)
        left += open_pairs
    if left:
        print("\nOpen:\n\n| first | second |\n|---|---|\n" + "\n".join(f"| {x} |" for x in left))


if __name__ == "__main__":
    main()
