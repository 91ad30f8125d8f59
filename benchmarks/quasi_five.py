"""Pairs on five nodes that share a set of positive measure: proofs by common interior points.

The pairs whose closures may agree are those of ``identifiability_five.py``. For most of them one
graph lies inside the other up to rotations, or both generate everything near a matrix with one
correlation throughout. For the others a distribution is drawn from one graph and factored on the
other one; that both generate everything near it, up to entries and minors of Θ that vanish on both,
is then proved in whole numbers (:mod:`cyclearn.identifiability.interior_points`).

    python benchmarks/quasi_five.py > benchmarks/results/quasi_five.md
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from time import process_time

import numpy as np
from class_pairs import Classes, PairOrbit, as_sets
from environment import describe_run
from identifiability_five import TOLERANCE, Invariants

from cyclearn.graphs import DirectedGraph
from cyclearn.identifiability import Sampler
from cyclearn.identifiability.interior_points import common_interior_point, free_entries
from cyclearn.identifiability.numerics.numerical_overlap import (
    draw_factor,
    has_common_tangent_space,
    nearest_factor,
)

FULL = "no constraint on either graph, a common interior point"
ZEROS = "the same zeros of Θ and no other constraint, a common interior point"
MINORS = "the same zeros and minors of Θ and no other constraint, a common interior point"
BEFORE = "contained up to rotations, or a common matrix with one correlation"
TANGENT = "a common distribution with the same tangent space, numerically"
NONE = "no common distribution found"


def shared(g: DirectedGraph, h: DirectedGraph, n_draws: int, n_starts: int) -> str:
    """How two graphs are known to share a set of distributions."""
    generator = np.random.default_rng(0)
    answer = NONE
    for _ in range(n_draws):
        for one, other in ((g, h), (h, g)):
            Q, R = draw_factor(one, Sampler.GAUSSIAN, generator)
            divergence, nearest = nearest_factor(
                other, R, n_starts=n_starts, tolerance=TOLERANCE, generator=generator
            )
            if divergence >= TOLERANCE:
                continue
            points = common_interior_point(one, other, [(Q, nearest)])
            if points is not None:
                return MINORS if points[0].determined else FULL if free_entries(g).all() else ZEROS
            if has_common_tangent_space(one, Q, other, nearest, g.dimension()):
                answer = TANGENT
    return answer
    return answer


def total(pairs: list[PairOrbit]) -> int:
    """How many pairs relabellings make of these."""
    return sum(pair.size for pair in pairs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=60, help="of each graph, at most")
    parser.add_argument("--starts", type=int, default=4, help="of every factorisation")
    parser.add_argument("--sample", type=int, help="look at so many pairs only, at random")
    options = parser.parse_args()
    started = process_time()
    classes = Classes(5)
    known = Invariants(classes)
    candidates = [
        pair
        for pair in classes.iter_pair_orbits(classes.groups)
        if not (known.closures_differ(pair) or known.equal_by_rules(pair))
    ]
    work = [pair for pair in candidates if not known.is_shared(pair)]
    # A run that is given up has then seen a random part of the pairs.
    np.random.default_rng(0).shuffle(work)
    orbits: Counter[str] = Counter({BEFORE: len(candidates) - len(work)})
    pairs: Counter[str] = Counter({BEFORE: total(candidates) - total(work)})
    left = []
    for n, pair in enumerate(work[: options.sample], 1):
        g, h = classes.graphs[pair.first], classes.graphs[pair.second]
        what = shared(g, h, options.draws, options.starts)
        orbits[what] += 1
        pairs[what] += pair.size
        if what in (TANGENT, NONE):
            left.append(f"| {as_sets(g)} | {as_sets(h)} | {what} | {pair.size} |")
        if n % 500 == 0:
            told = f"{n:,} of {len(work):,}, {process_time() - started:.0f} s, {dict(orbits)}"
            print(told, file=sys.stderr, flush=True)
    looked_at = min(len(work), options.sample or len(work))
    print("# Quasi equivalence on five nodes, proved by common interior points\n")
    print(describe_run("benchmarks/quasi_five.py"))
    print(
        "The table covers the pairs of rotation classes on five nodes that are not "
        f"equivalent and whose closures may agree. Of {len(work):,} without an earlier "
        f"proof, {looked_at:,} were examined, chosen at random, in addition to those in the "
        f"first row. The run took {process_time() - started:.0f} seconds on one core.\n"
    )
    print(
        "| proof of a shared set of positive measure | pairs | up to relabelling |\n|---|---|---|"
    )
    for what in (BEFORE, FULL, ZEROS, MINORS, TANGENT, NONE):
        print(f"| {what} | {pairs[what]:,} | {orbits[what]:,} |")
    if left:
        print("\nWithout a proof:\n\n| first | second | what is known | pairs |\n|---|---|---|---|")
        print("\n".join(left))


if __name__ == "__main__":
    main()
