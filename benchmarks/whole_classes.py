"""What the rules beyond rotations change: numbers and sizes of classes, and certain statements.

All classes on four and five nodes, counted by two programs that share nothing: the search of the
library over territories, and the closure of few equalities (tests/classes/naive_closure.py).
Then random graphs with 6 to 20 nodes, and graphs of the paper's generator.

    python benchmarks/whole_classes.py > benchmarks/results/whole_classes.md
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from itertools import combinations_with_replacement, permutations
from pathlib import Path
from time import process_time

import numpy as np
from class_pairs import Classes, joined_by_rules
from environment import describe_run
from scipy.cluster.hierarchy import DisjointSet

from cyclearn import DirectedGraph, equivalence_class
from cyclearn.classes import Completeness, EquivalenceClass, class_statements
from cyclearn.classes.class_statements import feedback_pairs
from cyclearn.classes.rule_search import linked_classes
from cyclearn.classes.territories import territories
from cyclearn.graphs import random_graph

sys.path.append(str(Path(__file__).parent.parent / "tests" / "classes"))
import naive_rules
from naive_closure import Closure

MAX_FILLINGS = 20_000
# Runs of one call, of which the fastest counts.
N_REPEATS = 5


def finds_the_same_from_everywhere(classes: Classes, joined: DisjointSet) -> bool:
    """Whether the search finds a whole class from each of its classes of rotations, uncut.

    They are joined by searches from one class of each kind; here each starts one itself.
    """
    for n, key in enumerate(classes.keys):
        found = linked_classes(key)
        if found.cut_by or {classes.number(k) for k in found.links} != joined.subset(n):
            return False
    return True


def graph_columns(p: int) -> list[tuple[int, ...]]:
    """The multisets of columns that graphs on p nodes have."""
    return [
        columns
        for columns in combinations_with_replacement(range(1, 1 << p), p)
        if has_full_diagonal(columns)
    ]


def count_by_single_rotations(p: int) -> int:
    """Number of classes by rotations, from single steps on multisets."""
    moved = [
        [sum(1 << order[v] for v in range(p) if s >> v & 1) for s in range(1 << p)]
        for order in permutations(range(p))
    ]
    multisets = graph_columns(p)
    number = {columns: n for n, columns in enumerate(multisets)}
    joined = DisjointSet(range(len(number)))
    seen: set[int] = set()
    for n, columns in enumerate(multisets):
        if n in seen:
            continue
        steps = set(naive_rules.rotations(columns))
        for table in moved:
            image = number[tuple(sorted(table[c] for c in columns))]
            if image not in seen:
                seen.add(image)
                for other in steps:
                    joined.merge(image, number[tuple(sorted(table[c] for c in other))])
    return int(joined.n_subsets)


def count_by_closure(classes: Classes, joined: DisjointSet) -> tuple[int, bool]:
    """Number of classes by all rules, from the closure, and whether they are those of the search.

    Context, lift and substitution are applied to all multisets at once.
    """
    closure = Closure(classes.p)
    roots: dict[int, set[int]] = {}
    for columns in graph_columns(classes.p):
        n = classes.number(territories(columns))
        roots.setdefault(closure.label(columns), set()).add(joined[n])
    agree = all(len(found) == 1 for found in roots.values()) and len(roots) == joined.n_subsets
    return len(roots), agree


def has_full_diagonal(columns: tuple[int, ...]) -> bool:
    """Whether the columns have different representatives (Hall's condition)."""
    reached = {0}
    for v in range(len(columns)):
        reached = {
            taken | 1 << n
            for taken in reached
            for n, c in enumerate(columns)
            if c >> v & 1 and not taken >> n & 1
        }
    return bool(reached)


def loses_a_loop(part: EquivalenceClass, whole: EquivalenceClass) -> bool:
    """Whether two nodes are on a common cycle in every graph of the part, and not of the whole."""
    every = part.feedback_pairs().every
    if not every.any():
        return False
    # The first class without one of these cycles is enough.
    return any(
        (every & ~feedback_pairs(seating, MAX_FILLINGS).every).any() for seating in whole.seatings
    )


class Change:
    """What the rules change over many graphs."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.n_classes: Counter[int] = Counter()
        self.largest = 1.0

    def add(self, graph: DirectedGraph, weight: int = 1) -> None:
        """Compare the class by rotations with the whole class."""
        whole = equivalence_class(graph)
        self.counts["graphs"] += weight
        self.n_classes[len(whole.rotation_classes)] += weight
        self.counts["cut by a limit"] += weight * (whole.completeness is Completeness.CUT)
        if len(whole.rotation_classes) == 1:
            return
        part = equivalence_class(graph, rules="rotations")
        self.counts["grow"] += weight
        self.largest = max(self.largest, whole.size / part.size)
        said, before = class_statements(whole), class_statements(part)
        for name, lost in (
            ("lose a certain edge", before.compelled & ~said.compelled),
            ("lose a certain adjacency", before.always_adjacent & ~said.always_adjacent),
            ("gain a possible edge", said.possible & ~before.possible),
        ):
            self.counts[name] += weight * bool(lost.any())
        self.counts["lose a certain loop"] += weight * loses_a_loop(part, whole)
        self.counts["have an edge that only a rule drops"] += weight * (
            EquivalenceClass(graph).rotation_classes[0].n_edges < part.n_edges[0]
        )

    def row(self) -> str:
        """One row of the table."""
        names = (
            "graphs",
            "grow",
            "lose a certain edge",
            "lose a certain adjacency",
            "lose a certain loop",
            "gain a possible edge",
            "have an edge that only a rule drops",
            "cut by a limit",
        )
        shown = [f"{self.counts[name]:,}" for name in names]
        return " | ".join([*shown, f"{max(self.n_classes)}", f"{self.largest:.1f}"])


HEADER = (
    "| graphs | number | grow | lose a certain edge | lose a certain adjacency | lose a certain "
    "loop | gain a possible edge | a smaller graph has the same distributions | cut by a limit | "
    "most classes of rotations in one | largest growth of the size |\n" + "|---" * 11 + "|"
)


def small_classes(p: int) -> tuple[str, str]:
    """Rows for all classes on few nodes: numbers of classes, and what changes."""
    classes = Classes(p)
    joined = joined_by_rules(classes)
    orbit = Counter(first for first, _ in classes.origin)
    change = Change()
    for n in classes.representatives:
        change.add(classes.graphs[n], orbit[n])
    n_closed, agree = count_by_closure(classes, joined)
    number = (
        f"| {p} | {len(classes.keys):,} | {count_by_single_rotations(p):,} | "
        f"{joined.n_subsets:,} | {n_closed:,} | {'yes' if agree else 'no'} | "
        f"{'yes' if finds_the_same_from_everywhere(classes, joined) else 'no'} |"
    )
    return number, f"| all classes of rotations, p = {p} | {change.row()} |"


def random_graphs(n_graphs: int) -> list[tuple[str, list[DirectedGraph]]]:
    rng = np.random.default_rng(0)
    found = []
    for kind, density in (("two edges a node", 2.0), ("four edges a node", 4.0)):
        graphs = []
        for n in range(n_graphs // 2):
            p = 6 + n % 15
            mask = rng.random((p, p)) < min(0.5, density / (p - 1))
            graphs.append(DirectedGraph(mask & ~np.eye(p, dtype=bool)))
        found.append((f"random, p = 6 to 20, {kind}", graphs))
    return found


def sparse_graphs(n_graphs: int) -> list[tuple[str, list[DirectedGraph]]]:
    """Graphs of the paper's generator and random ones with two edges a node, up to 50 nodes."""
    found = []
    for p, most in ((10, 5), (20, 5), (30, 10), (50, 10)):
        rng = np.random.default_rng(2000 + p)
        found.append(
            (
                f"the paper's generator, p = {p}",
                [random_graph(p, 4, most, random_state=rng) for _ in range(n_graphs)],
            )
        )
        masks = rng.random((n_graphs, p, p)) < 2 / (p - 1)
        found.append(
            (
                f"two edges a node, p = {p}",
                [DirectedGraph(mask & ~np.eye(p, dtype=bool)) for mask in masks],
            )
        )
    return found


def milliseconds(graph: DirectedGraph) -> list[float]:
    """What it takes to find a class and what all its members share: by rotations, by all rules."""
    best = [float("inf")] * 2
    for _ in range(N_REPEATS):
        # By turns, since a machine that does other work as well is not equally fast all the time.
        for which, rules in enumerate(("rotations", "all")):
            # Nothing is remembered between runs but small tables of binomials.
            fresh = DirectedGraph.from_columns(graph.columns, graph.names)
            started = process_time()
            class_statements(equivalence_class(fresh, rules=rules))
            best[which] = min(best[which], 1000 * (process_time() - started))
    return best


def cost_row(title: str, graphs: list[DirectedGraph]) -> str:
    """Medians and slowest of the two, and of their ratio for each graph."""
    costs = np.array([milliseconds(graph) for graph in graphs])
    ratio = costs[:, 1] / costs[:, 0]
    cells = [
        f"{len(graphs)}",
        *(f"{np.median(c):.2f}, {c.max():.2f}" for c in costs.T),
        f"{np.median(ratio):.2f}",
        f"{np.quantile(ratio, 0.95):.2f}",
        f"{ratio.max():.2f}",
        f"{np.count_nonzero(ratio > 2)}",
        f"{costs[:, 1].sum() / costs[:, 0].sum():.2f}",
    ]
    return f"| {title} | " + " | ".join(cells) + " |"


def print_numbers() -> None:
    """All classes on four and five nodes."""
    numbers, rows = zip(*(small_classes(p) for p in (4, 5)), strict=True)
    print("## Numbers of classes, by two programs\n")
    print(
        "Classes by rotations are computed by territories and by single steps on "
        "multisets. Classes by all rules are computed by the search of the library from "
        "one graph of each kind, and as the closure of a few equalities under context, "
        "lift and substitution on all multisets at once. The last column says whether a "
        "search from any of the classes of rotations finds the same complete class without "
        "reaching a limit.\n\n| p | by rotations | single steps | by all rules | closure | "
        "the same classes | from everywhere |\n" + "|---" * 7 + "|"
    )
    print("\n".join(numbers))
    print("\n## What changes, all classes\n")
    print("The table covers all rotation classes on four and five nodes, with one graph of each.\n")
    print(HEADER)
    print("\n".join(rows), flush=True)


def print_changes(n_random: int, n_paper: int) -> None:
    """Random graphs, and those of the paper's generator."""
    print("\n## What changes, random graphs\n")
    print(HEADER, flush=True)
    sets = random_graphs(n_random)
    for p, most in ((20, 5), (50, 10)):
        rng = np.random.default_rng(p)
        graphs = [random_graph(p, 4, most, random_state=rng) for _ in range(n_paper)]
        sets.append((f"the paper's generator, p = {p}", graphs))
    for title, graphs in sets:
        change = Change()
        for graph in graphs:
            change.add(graph)
        print(f"| {title} | {change.row()} |", flush=True)


def print_costs(n_graphs: int) -> None:
    """All rules against rotations alone, on sparse graphs."""
    print("\n## Cost\n")
    print(
        "The table shows the time in milliseconds for the class and what all its members "
        "share (`class_statements`), for the median and the slowest graph. It also shows "
        "the ratio of the times with all rules and with rotations alone: its median, 95% "
        "quantile and largest value over the graphs, how many ratios are above 2, and the "
        f"ratio of the sums. Each time is the fastest of {N_REPEATS} runs.\n"
    )
    print(
        "| graphs | number | rotations | all rules | median ratio | 95% | largest | above 2 | "
        "of the sums |\n" + "|---" * 9 + "|"
    )
    for title, graphs in sparse_graphs(n_graphs):
        print(cost_row(title, graphs), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=1000, help="random graphs, 6 to 20 nodes")
    parser.add_argument("--paper", type=int, default=200, help="graphs of the paper's generator")
    parser.add_argument("--timed", type=int, default=100, help="sparse graphs of each size")
    parser.add_argument("--part", choices=["numbers", "changes", "costs"], help="one part only")
    options = parser.parse_args()
    started = process_time()
    if options.part in (None, "numbers"):
        print("# Classes by rotations and by all rules\n")
        print(describe_run("benchmarks/whole_classes.py"))
        print_numbers()
    if options.part in (None, "changes"):
        print_changes(options.graphs, options.paper)
    if options.part in (None, "costs"):
        print_costs(options.timed)
    print(f"\nThe run took {process_time() - started:.0f} seconds on one core.")


if __name__ == "__main__":
    main()
