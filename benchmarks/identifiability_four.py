"""Every pair of classes of equal dimension on four nodes gets a verdict.

The 4096 graphs fall into 327 classes by rotations. Pairs of classes that a relabelling of the nodes
maps onto each other have the same verdict, so one pair of each orbit is compared and counted as
often as its orbit is large.

    python benchmarks/identifiability_four.py > benchmarks/results/identifiability_four.md
"""

from __future__ import annotations

import argparse
from collections import Counter
from time import perf_counter

from class_pairs import Classes, as_sets
from environment import describe_run

from cyclearn.identifiability import Comparison, Conclusion, Sampler, compare


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
    options = parser.parse_args()
    started = perf_counter()
    classes = Classes(4)
    graphs = classes.graphs
    orbits = list(classes.iter_pair_orbits(classes.groups_of_dimension))
    kinds: Counter[str] = Counter()
    kinds_up_to: Counter[str] = Counter()
    verdicts: Counter[Conclusion] = Counter()
    equal: list[tuple[Comparison, int]] = []
    shared: list[tuple[Comparison, int]] = []
    for pair in orbits:
        found = compare(
            graphs[pair.first],
            graphs[pair.second],
            n_draws=options.draws,
            n_starts=options.starts,
        )
        kinds[kind(found)] += pair.size
        kinds_up_to[kind(found)] += 1
        verdicts[found.verdict] += pair.size
        if found.verdict.is_equal:
            equal.append((found, pair.size))
        elif found.forward is not None:
            shared.append((found, pair.size))
    seconds = perf_counter() - started
    print("# All pairs of classes of equal dimension on four nodes\n")
    print(describe_run("benchmarks/identifiability_four.py"))
    print(
        f"There are {len(graphs)} classes and {sum(pair.size for pair in orbits):,} pairs "
        f"of equal dimension ({len(orbits):,} up to relabelling). If proofs leave a pair "
        f"undecided, {options.draws} distributions are drawn from each graph "
        f"({Sampler.GAUSSIAN.value}) and projected onto the other from up to "
        f"{options.starts} starts, or ten times as many for rare failures. A distribution "
        f"counts as generated if KL < 1e-9. The run took {seconds:.0f} seconds.\n"
    )
    print("| relation | pairs | up to relabelling |\n|---|---|---|")
    for name in sorted(kinds):
        print(f"| {name} | {kinds[name]:,} | {kinds_up_to[name]:,} |")
    print("\n| verdict | pairs |\n|---|---|")
    for verdict in Conclusion:
        if verdicts[verdict]:
            print(f"| {verdict.value} | {verdicts[verdict]:,} |")
    print("\n## Pairs that are equal beyond rotations\n")
    print("Columns are written as sets of nodes.\n")
    print("| first | second | verdict | pairs |\n|---|---|---|---|")
    for found, size in equal:
        first, second = as_sets(found.first), as_sets(found.second)
        print(f"| {first} | {second} | {found.verdict.value} | {size} |")
    print("\n## Pairs that differ although their closures agree\n")
    print(
        "The first column *generated* shows how many of the distributions drawn from the "
        "first graph the second generates, and the second column the reverse. *Contained* "
        "is proved by subgraphs.\n"
    )
    print("| first | second | generated | generated | contained | difference | pairs |")
    print("|---|---|---|---|---|---|---|")
    for found, size in shared:
        inside = "first in second" * found.first_in_second + "second in first" * (
            found.second_in_first
        )
        proved = "proved" if found.verdict.is_proved else "by numerics"
        print(
            f"| {as_sets(found.first)} | {as_sets(found.second)} | {found.forward} | "
            f"{found.backward} | {inside} | {proved} | {size} |"
        )


if __name__ == "__main__":
    main()
