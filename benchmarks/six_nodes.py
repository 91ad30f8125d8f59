"""Test whether the rules find all graphs of six nodes with the same distributions.

Here pairs of graphs on six nodes that have the same
largest columns and the same vanishing minors of Θ, both needed for equality and decided without
numbers, are put to the test: either the rules link them, or a distribution is sought that one
generates and the other provably does not. Four kinds of pairs, of which one column differs:

- *lifted counterexamples*: two classes on five nodes that a rule links, with a sixth node that has
  any parents and joins any of the columns;
- *chains of blocks*: three pairs {1, 2}, {3, 4}, {5, 6} that two columns link in every way, and one
  more column {v} or {w};
- *substitutions*: the columns of a random chordal graph on six nodes, changed by the opposite of
  up to eleven substitutions, and one more column {v} or {w}. The substitution rule proves these
  equal; the library looks for it between two pairs and few links only, so it might miss some;
- *random pairs*: a random graph, and another one in which a column that is not among the largest
  has been replaced.

    python benchmarks/six_nodes.py > benchmarks/results/six_nodes.md
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import combinations, combinations_with_replacement, permutations, product
from time import process_time

import numpy as np
from class_pairs import as_sets, largest_columns
from environment import describe_run

from cyclearn.classes.rule_search import linked_classes
from cyclearn.classes.territories import territories
from cyclearn.graphs import DirectedGraph
from cyclearn.graphs.bitsets import bits
from cyclearn.identifiability import Sampler, compare
from cyclearn.identifiability.constraints.invariants import differing_minor, matched_column_sets
from cyclearn.identifiability.numerics.numerical_overlap import overlap
from cyclearn.identifiability.numerics.separation_search import search_separation

P = 6
NAMES = tuple("123456")
# Uses of rules on five nodes to choose from.
N_USES = 200
Columns = tuple[int, ...]
Pair = tuple[Columns, Columns]

SAME = "one class of rotations"
EQUAL = "equal by the rules"
EXACT = "largest columns or vanishing minors differ"
APART = "proved different by a distribution"
OPEN = "open"


def seated(columns: Columns) -> DirectedGraph | None:
    """A graph with these columns, None where they have no full diagonal."""
    if not matched_column_sets(columns)[-1]:
        return None
    order = next(o for o in permutations(columns) if all(c >> j & 1 for j, c in enumerate(o)))
    return DirectedGraph.from_columns(order, NAMES)


def answer(g: DirectedGraph, h: DirectedGraph) -> str:
    """What is known about two graphs."""
    first, second = territories(g.columns), territories(h.columns)
    if first == second:
        return SAME
    if largest_columns(g.columns) != largest_columns(h.columns) or differing_minor(g, h):
        return EXACT
    found = linked_classes(first)
    if second in found.links:
        return EQUAL
    if search_separation(g, h, n_faces=400, n_wide=100, n_boundary=0, random_state=0):
        return APART
    return OPEN


def lifted_counterexamples(generator: np.random.Generator, n_pairs: int) -> Iterator[Pair]:
    """Columns before and after one use of a rule on five nodes, with a sixth node."""
    uses: list[Pair] = []
    while len(uses) < N_USES:
        mask = generator.random((P - 1, P - 1)) < generator.uniform(0.2, 0.8)
        columns = DirectedGraph(mask & ~np.eye(P - 1, dtype=bool)).columns
        links = linked_classes(territories(columns)).links.values()
        uses += [(link.columns, link.columns_after) for link in links if link is not None]
    for _ in range(n_pairs):
        before, after = uses[generator.integers(len(uses))]
        joins = generator.integers(2, size=P - 1) << P - 1
        own = int(generator.integers(1 << P - 1)) | 1 << P - 1
        yield tuple(
            (*(int(c | j) for c, j in zip(columns, joins, strict=True)), own)
            for columns in (before, after)
        )


def chains_of_blocks() -> Iterator[Pair]:
    """Three pairs, two columns that link them, and {v} or {w}; each up to relabelling."""
    blocks = (0b000011, 0b001100, 0b110000)
    links = [c for c in range(1 << P) if c.bit_count() > 2]
    moves = [
        tuple(
            2 * block + (side ^ turned)
            for block, turned in zip(order, turns, strict=True)
            for side in (0, 1)
        )
        for order in permutations(range(3))
        for turns in product((0, 1), repeat=3)
    ]
    tables = [relabelling(order) for order in moves]
    seen: set[tuple[object, ...]] = set()
    for one, two in combinations_with_replacement(links, 2):
        for v, w in combinations(range(P), 2):
            pair = min((*sorted((t[one], t[two])), *sorted((t[1 << v], t[1 << w]))) for t in tables)
            if pair not in seen:
                seen.add(pair)
                yield (*blocks, one, two, 1 << v), (*blocks, one, two, 1 << w)


def relabelling(order: Iterable[int]) -> list[int]:
    """What a relabelling makes of every set of nodes."""
    places = tuple(order)
    return [sum(1 << places[v] for v in bits(s)) for s in range(1 << P)]


def substitutions(generator: np.random.Generator, n_witnesses: int) -> Iterator[Pair]:
    """Columns of a random chordal graph with substitutions undone, and {v} or {w}: proved equal."""
    for _ in range(n_witnesses):
        order = generator.permutation(P).tolist()
        cliques = [1 << order[0]]
        for node in order[1:]:
            whole = cliques[generator.integers(len(cliques))]
            part = sum(1 << v for v in bits(whole) if generator.random() < 0.4)
            cliques.append((part or whole & -whole) | 1 << node)
        columns, used = cliques[1:], 0
        for _ in range(generator.integers(2, 12)):
            undone = list(undone_substitutions(columns))
            if not undone:
                break
            z, columns = undone[generator.integers(len(undone))]
            used |= 1 << z
        free = [1 << v for v in range(P) if not used >> v & 1]
        for v, w in combinations(free, 2):
            yield (*columns, v), (*columns, w)


def undone_substitutions(columns: list[int]) -> Iterator[tuple[int, list[int]]]:
    """A node z, and the columns with a node added to one with z that all others with z have."""
    for n, z, i in product(range(len(columns)), range(P), range(P)):
        others = [c for m, c in enumerate(columns) if m != n and c >> z & 1]
        if columns[n] >> z & 1 and not columns[n] >> i & 1 and all(c >> i & 1 for c in others):
            yield z, [c | 1 << i if m == n else c for m, c in enumerate(columns)]


def random_pairs(generator: np.random.Generator) -> Iterator[Pair]:
    """A graph, and the same with another column in place of one that is not among the largest."""
    while True:
        mask = generator.random((P, P)) < generator.uniform(0.2, 0.7)
        columns = DirectedGraph(mask & ~np.eye(P, dtype=bool)).reduced().columns
        largest = largest_columns(columns)
        smaller = [n for n, c in enumerate(columns) if c not in largest]
        if not smaller:
            continue
        n = smaller[generator.integers(len(smaller))]
        around = [c for c in largest if columns[n] & c]
        inside = around[generator.integers(len(around))] & int(generator.integers(1, 1 << P))
        if inside:
            yield columns, (*columns[:n], inside, *columns[n + 1 :])


def numbers_agree(g: DirectedGraph, h: DirectedGraph) -> bool:
    """Whether each graph generates 24 distributions drawn from the other."""
    return all(
        overlap(
            one,
            other,
            n_draws=24,
            n_starts=30,
            tolerance=1e-9,
            sampler=Sampler.GAUSSIAN,
            random_state=0,
        ).share
        == 1
        for one, other in ((g, h), (h, g))
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lifted", type=int, default=400, help="ways to attach a node")
    parser.add_argument("--witnesses", type=int, default=1000, help="columns with substitutions")
    parser.add_argument("--random", type=int, default=30, help="pairs that no invariant settles")
    parser.add_argument("--projected", type=int, default=10, help="equal pairs checked by numbers")
    parser.add_argument("--seed", type=int, default=6)
    parser.add_argument("--only", help="the kind of pairs that has this word in its name")
    options = parser.parse_args()
    generator = np.random.default_rng(options.seed)
    kinds: list[tuple[str, Iterable[Pair], int | None]] = [
        ("lifted counterexamples", lifted_counterexamples(generator, options.lifted), None),
        ("chains of blocks", chains_of_blocks(), None),
        ("substitutions", substitutions(generator, options.witnesses), None),
        ("random pairs", random_pairs(generator), options.random),
    ]
    print("# Six nodes: pairs linked by the rules, and pairs distinguished by a distribution\n")
    print(describe_run(f"benchmarks/six_nodes.py --seed {options.seed}"))
    print(
        "The kinds of pairs are described at the head of the script. Times are seconds "
        "on one core.\n"
    )
    print(
        f"| pairs | {SAME} | {EXACT} | {EQUAL} | {APART} | {OPEN} | seconds |\n" + "|---" * 7 + "|"
    )
    left: list[str] = []
    checked: Counter[bool] = Counter()
    for title, pairs, wanted in kinds:
        if options.only and options.only not in title:
            continue
        started = process_time()
        answers: Counter[str] = Counter()
        agreed: Counter[bool] = Counter()
        for before, after in pairs:
            g, h = seated(before), seated(after)
            if g is None or h is None:
                continue
            what = answer(g, h)
            answers[what] += 1
            if what == OPEN:
                found = compare(g, h)
                left.append(f"| {title} | {as_sets(g)} | {as_sets(h)} | {found.verdict.value} |")
            if what == EQUAL and agreed.total() < options.projected:
                agreed[numbers_agree(g, h)] += 1
            if wanted is not None and answers[EQUAL] + answers[APART] + answers[OPEN] >= wanted:
                break
        checked += agreed
        cells = [f"{answers[what]:,}" for what in (SAME, EXACT, EQUAL, APART, OPEN)]
        print(
            f"| {title} | " + " | ".join(cells) + f" | {process_time() - started:.0f} |", flush=True
        )
    print(
        f"\nUp to {options.projected} pairs of each kind that the rules link were also "
        f"compared by projection, with 24 distributions each way: {checked[True]} of "
        f"{checked.total()} agree."
    )
    if left:
        print("\nOpen pairs, with the verdict of `compare`:\n\n| kind | first | second | verdict |")
        print("|---|---|---|---|\n" + "\n".join(left))


if __name__ == "__main__":
    main()
