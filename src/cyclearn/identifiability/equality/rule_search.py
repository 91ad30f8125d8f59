"""Classes that the rules reach from a graph, and graphs inside others up to rotations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, product

import numpy as np

from cyclearn.classes.territories import Territory, territories
from cyclearn.graphs.directed_graph import DirectedGraph
from cyclearn.identifiability.equality.column_rules import Columns, RuleStep, iter_rule_steps

ClassKey = tuple[Territory, ...]


@dataclass(frozen=True)
class Reached:
    """Classes (of Theorem 1) that the rules reach from a graph, with the steps to each.

    ``complete`` is false where a limit cut the search short; what was found stays proved.
    """

    steps: dict[ClassKey, tuple[RuleStep, ...]]
    complete: bool


def reachable_classes(
    graph: DirectedGraph, *, max_classes: int = 50, max_multisets: int = 400
) -> Reached:
    """Classes with the same distribution set as the graph's, by rules and rotations.

    At most ``max_multisets`` multisets of columns are examined, over all classes.
    """
    start = territories(graph.columns)
    steps: dict[ClassKey, tuple[RuleStep, ...]] = {start: ()}
    waiting = [start]
    n_left = max_multisets
    while waiting:
        key = waiting.pop(0)
        for columns in iter_column_multisets(key, n_left + 1):
            if n_left == 0:
                return Reached(steps, False)
            n_left -= 1
            for step in iter_rule_steps(columns):
                after = list(columns)
                after[columns.index(step.before)] = step.after
                found = territories(after)
                if found in steps:
                    continue
                if len(steps) == max_classes:
                    return Reached(steps, False)
                steps[found] = (*steps[key], step)
                waiting.append(found)
    return Reached(steps, True)


def iter_column_multisets(key: ClassKey, limit: int) -> Iterator[Columns]:
    """The multisets of columns of a class, irreducible ones, at most ``limit`` of them."""
    # Only the first ``limit`` sets of a territory can occur among the first products.
    choices = [list(islice(territory.iter_sets(), limit)) for territory in key]
    return islice(product(*choices), limit)


def is_contained(inner: ClassKey, outer: ClassKey, *, max_members: int = 200) -> bool:
    """Whether a member of one class is a subgraph of a member of the other, so Θ ⊆ Θ.

    True is a proof. Every column of the inner graph needs a column of its own in some member of the
    outer class, reducible members included, that contains it. A column of a reducible member sits
    in its own territory or in a larger one around it, so this is a matching.

    Examples
    --------
    A 3-cycle and the complete acyclic graph:

    >>> cycle, dag = territories((0b101, 0b011, 0b110)), territories((0b001, 0b011, 0b111))
    >>> is_contained(cycle, dag), is_contained(dag, cycle)
    (True, False)
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    if not _is_covered(inner, outer):
        return False
    p = len(outer)
    rooms = [_around(seat, outer) for seat in range(p)]
    for columns in iter_column_multisets(inner, max_members):
        fits = np.array(
            [
                [
                    any(
                        column.bit_count() <= t.size and any(column & ~a == 0 for a in t.anchors)
                        for t in room
                    )
                    for room in rooms
                ]
                for column in columns
            ],
            dtype=np.int8,
        )
        if fits.any(axis=0).all() and fits.any(axis=1).all():
            matched = maximum_bipartite_matching(csr_array(fits), perm_type="column")
            if (matched >= 0).all():
                return True
    return False


def _is_covered(inner: ClassKey, outer: ClassKey) -> bool:
    """Whether every column of one class lies in a column of the other: needed for Θ ⊆ Θ.

    The largest columns of a class are anchors, and they never move.
    """
    return all(
        any(anchor & ~other == 0 for territory in outer for other in territory.anchors)
        for territory in inner
        for anchor in territory.anchors
    )


def _around(seat: int, key: ClassKey) -> list[Territory]:
    """The territory and those above it: one size larger, with anchors that this one took over."""
    found = [key[seat]]
    for territory in found:
        found += [
            other
            for other in key
            if other.size == territory.size + 1
            and set(other.anchors) <= set(territory.anchors)
            and other not in found
        ]
    return found
