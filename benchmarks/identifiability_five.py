"""Verdicts for every pair of classes of equal dimension on five nodes, as far as time allows.

Exact invariants come first, computed once for each class: dimension and vanishing minors of Θ,
vanishing minors of normal directions, the largest columns. What they leave open is
settled pair by pair, one pair from each orbit of relabellings: distributions are drawn from one
graph and projected onto the other, a common one shows quasi equivalence, and for one that was not
generated a separating matrix is sought, which is a proof. Results are kept in a file; a run that
was cut short goes on where it stopped, and ``--page`` writes the results so far.

    python benchmarks/identifiability_five.py --state five.sqlite
    python benchmarks/identifiability_five.py --state five.sqlite --page > results/five.md
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import sys
from collections import Counter
from pathlib import Path
from time import perf_counter

import numpy as np
from class_pairs import Classes, PairOrbit, as_sets, joined_by_rules, largest_columns
from environment import describe_run
from identifiability_five_open import PROOFS, is_proof

from cyclearn.classes.rule_search import is_contained
from cyclearn.graphs import DirectedGraph
from cyclearn.identifiability import Sampler
from cyclearn.identifiability.constraints.conormals import vanishing_conormal_minors
from cyclearn.identifiability.difference.separating_matrix import Separation, separate
from cyclearn.identifiability.interior_points import interior_point
from cyclearn.identifiability.numerics.numerical_overlap import (
    draw_factor,
    has_common_tangent_space,
    nearest_factor,
)
from cyclearn.identifiability.numerics.separation_search import search_separation

TOLERANCE = 1e-9
# Percent.
ANCHORS = (-10, 5, 10, 30)
TABLE = """
create table if not exists pairs (
    first text, second text, n_drawn integer, n_generated integer, n_common integer,
    separation text, primary key (first, second))
"""


class Invariants:
    """What is known of the classes before any distribution is drawn."""

    def __init__(self, classes: Classes) -> None:
        self.classes = classes
        self._conormal = {
            n: vanishing_conormal_minors(classes.graphs[n]) for n in classes.representatives
        }
        self._moved: dict[int, int] = {}
        self.largest = [largest_columns(graph.columns) for graph in classes.graphs]
        self._equal = joined_by_rules(classes)
        full = classes.p * (classes.p + 1) // 2
        self._anchors = {
            n: anchors(classes.graphs[n])
            for n in classes.representatives
            if classes.dimensions[n] == full
        }

    def closures_differ(self, pair: PairOrbit) -> bool:
        """Whether normal directions prove that the closures differ."""
        full = self.classes.p * (self.classes.p + 1) // 2
        if self.classes.dimensions[pair.first] == full:
            return False
        return self.conormal(pair.first) != self.conormal(pair.second)

    def conormal(self, n: int) -> int:
        """The vanishing minors of normal directions, each a bit of an integer."""
        if n not in self._moved:
            first, order = self.classes.origin[n]
            mask = 0
            for what, minor in self._conormal[first]:
                a, b = self.classes.moved(minor, order)
                mask |= 1 << ((len(what) - 1 << self.classes.p | a) << self.classes.p | b)
            self._moved[n] = mask
        return self._moved[n]

    def largest_differ(self, pair: PairOrbit) -> bool:
        """Whether the largest columns prove that the sets differ."""
        return self.largest[pair.first] != self.largest[pair.second]

    def equal_by_rules(self, pair: PairOrbit) -> bool:
        """Whether the rules prove that the sets are equal."""
        return self._equal.connected(pair.first, pair.second)

    def is_shared(self, pair: PairOrbit) -> bool:
        """Whether both sets hold a neighbourhood of one anchor, or one set lies in the other."""
        first, second = (
            self._anchors.get(self.classes.origin[n][0], frozenset())
            for n in (pair.first, pair.second)
        )
        if first & second:
            return True
        one, other = self.classes.keys[pair.first], self.classes.keys[pair.second]
        return is_contained(one, other) or is_contained(other, one)


def anchors(graph: DirectedGraph) -> frozenset[int]:
    """Which of the matrices with one correlation throughout are proved to be inside the set.

    No relabelling changes these matrices, so the answer holds for the whole orbit.
    """
    p = graph.n_nodes
    found = set()
    generator = np.random.default_rng(0)
    for correlation in ANCHORS:
        theta = np.full((p, p), correlation) + (100 - correlation) * np.eye(p, dtype=int)
        covariance = np.linalg.inv(theta)
        scale = np.sqrt(covariance.diagonal())
        _, Q = nearest_factor(
            graph,
            covariance / np.outer(scale, scale),
            n_starts=50,
            tolerance=1e-10,
            generator=generator,
        )
        if interior_point(graph, theta.astype(int).tolist(), Q / scale[:, None]) is not None:
            found.add(correlation)
    return frozenset(found)


def as_json(found: Separation | None) -> str | None:
    """A proof for the file."""
    if found is None:
        return None
    return json.dumps({"Q": found.Q, "Y": found.Y, "c": found.c, "of": as_sets(found.generates)})


def settle(
    g: DirectedGraph,
    h: DirectedGraph,
    dimension: int,
    *,
    is_different: bool,
    is_shared: bool,
    n_draws: int,
    n_starts: int,
) -> tuple[int, int, int, str | None]:
    """Draw until a common distribution and a separating matrix are found, where still wanted.

    Numbers of distributions drawn, generated, and common with one tangent space; the proof.
    """
    generator = np.random.default_rng(0)
    drawn = generated = common = 0
    proof: str | None = None
    for _ in range(n_draws):
        for one, other in ((g, h), (h, g)):
            if (is_different or proof) and (is_shared or common):
                return drawn, generated, common, proof
            Q, R = draw_factor(one, Sampler.GAUSSIAN, generator)
            drawn += 1
            if is_shared or common:
                # Only a proof is wanted; it is cheaper than a projection.
                proof = as_json(separate(one, other, [Q]))
                if proof:
                    continue
            divergence, nearest = nearest_factor(
                other, R, n_starts=n_starts, tolerance=TOLERANCE, generator=generator
            )
            if divergence < TOLERANCE:
                generated += 1
                common += has_common_tangent_space(one, Q, other, nearest, dimension)
            elif not (is_different or proof or is_shared or common):
                proof = as_json(separate(one, other, [Q]))
    return drawn, generated, common, proof


def run(state: sqlite3.Connection, known: Invariants, options: argparse.Namespace) -> None:
    """Settle the pairs that are not in the file yet; with ``--again``, only search for proofs."""
    started = perf_counter()
    graphs = known.classes.graphs
    done = {row[:2]: row for row in state.execute("select * from pairs")}
    work = [
        pair
        for pair in known.classes.iter_pair_orbits(known.classes.groups)
        if not (known.closures_differ(pair) or known.equal_by_rules(pair))
    ]
    # A run that is cut short has then seen a random part of the pairs.
    np.random.default_rng(0).shuffle(work)
    print(f"{len(work):,} pairs to settle, {len(done):,} done", file=sys.stderr, flush=True)
    n_settled = 0
    for n, pair in enumerate(work):
        g, h = graphs[pair.first], graphs[pair.second]
        name = as_sets(g), as_sets(h)
        is_different = known.largest_differ(pair)
        row = done.get(name)
        if perf_counter() - started > options.seconds:
            break
        if row is None and not options.again:
            is_shared = known.is_shared(pair)
            if is_different and is_shared:
                continue
            found = settle(
                g,
                h,
                known.classes.dimensions[pair.first],
                is_different=is_different,
                is_shared=is_shared,
                n_draws=options.draws,
                n_starts=options.starts,
            )
        elif row is not None and options.again and not (is_different or row[5]):
            separation = search_separation(
                g,
                h,
                n_faces=options.again,
                n_wide=options.again,
                n_boundary=options.again,
                random_state=0,
            )
            found = (*row[2:5], as_json(separation))
        else:
            continue
        state.execute("insert or replace into pairs values (?, ?, ?, ?, ?, ?)", (*name, *found))
        n_settled += 1
        if n_settled % 100 == 0:
            state.commit()
        if n_settled % 2000 == 0:
            print(f"{n:,} {perf_counter() - started:.0f} s", file=sys.stderr, flush=True)
    state.commit()


def kind(
    known: Invariants, pair: PairOrbit, row: tuple[object, ...] | None, is_separated: bool
) -> str:
    """The row of the summary that a pair belongs to.

    ``is_separated`` says that a face proves the sets different (identifiability_five_open.py).
    """
    if known.closures_differ(pair):
        return "distinct: closures differ, proved"
    if known.equal_by_rules(pair):
        return "equal beyond rotations, proved by the rules"
    is_shared = known.is_shared(pair)
    if known.largest_differ(pair) and is_shared:
        return "quasi equivalent (proved), not equivalent (proved)"
    if row is None:
        return "not settled yet"
    is_different = known.largest_differ(pair) or row[5] or is_separated
    different = "proved" if is_different else "open"
    if is_shared or row[4]:
        shared = "proved" if is_shared else "by numerics"
        if different == "open":
            if row[2] == row[3]:
                return f"quasi equivalent ({shared}), equal as far as numerics can tell"
            return f"quasi equivalent ({shared}), distinct as far as numerics can tell"
        return f"quasi equivalent ({shared}), not equivalent (proved)"
    if different == "open":
        return "no common distribution found, distinct as far as numerics can tell"
    return "no common distribution found, not equivalent (proved)"


def write_page(state: sqlite3.Connection, known: Invariants, options: argparse.Namespace) -> None:
    classes = known.classes
    rows = {row[:2]: row for row in state.execute("select * from pairs")}
    separated = {
        (proof["first"], proof["second"])
        for proof in json.loads(PROOFS.read_text(encoding="utf-8"))
        if is_proof(proof)
    }
    pairs: Counter[str] = Counter()
    orbits: Counter[str] = Counter()
    listed: list[tuple[str, str, str, str, int]] = []
    for pair in classes.iter_pair_orbits(classes.groups):
        name = as_sets(classes.graphs[pair.first]), as_sets(classes.graphs[pair.second])
        row = rows.get(name)
        what = kind(known, pair, row, name in separated)
        pairs[what] += pair.size
        orbits[what] += 1
        if "rules" in what or "as far as" in what:
            drawn = "" if row is None else f"{row[3]} of {row[2]}"
            listed.append((what, *name, drawn, pair.size))
    total = sum(len(group) * (len(group) - 1) // 2 for group in classes.groups_of_dimension)
    alike = sum(pairs.values())
    print("# All pairs of classes of equal dimension on five nodes\n")
    print(describe_run("benchmarks/identifiability_five.py"))
    settled = sum(orbits.values()) - orbits["not settled yet"]
    print(
        f"There are {len(classes.keys):,} classes ({len(classes.representatives):,} up to "
        f"relabelling) and {total:,} pairs of equal dimension. Of these, {total - alike:,} "
        f"have different vanishing minors, so their closures differ. The other {alike:,} "
        f"pairs are {sum(orbits.values()):,} up to relabelling; {settled:,} of these are "
        f"decided. Distributions are drawn as follows: {Sampler.GAUSSIAN.value}. A "
        f"distribution counts as generated if a divergence KL < {TOLERANCE:g} is reached "
        f"from up to {options.starts} starts.\n"
    )
    print("| relation | pairs | up to relabelling |\n|---|---|---|")
    print(f"| distinct: vanishing minors differ, proved | {total - alike:,} | |")
    for what in sorted(pairs):
        print(f"| {what} | {pairs[what]:,} | {orbits[what]:,} |")
    print("\n## Equal pairs and pairs that lack a proof\n")
    print(
        "Columns are written as sets of nodes. *Generated* counts distributions drawn "
        "from either graph that the other generates.\n"
    )
    print("| first | second | relation | generated | pairs |\n|---|---|---|---|---|")
    for what, first, second, drawn, size in sorted(listed):
        print(f"| {first} | {second} | {what} | {drawn} | {size:,} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--state", type=Path, default=Path("identifiability_five.sqlite"))
    parser.add_argument("--page", action="store_true", help="write the results so far")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--draws", type=int, default=12)
    parser.add_argument("--starts", type=int, default=4)
    parser.add_argument(
        "--again", type=int, default=0, help="search so often where a settled pair lacks a proof"
    )
    options = parser.parse_args()
    state = sqlite3.connect(options.state)
    state.execute(TABLE)
    known = Invariants(Classes(5))
    (write_page if options.page else run)(state, known, options)
    state.close()


if __name__ == "__main__":
    main()
