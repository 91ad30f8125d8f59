"""Classes of all graphs on few nodes, and one pair of classes from each orbit of relabellings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement, permutations

from scipy.cluster.hierarchy import DisjointSet

from cyclearn.classes.rule_search import linked_classes
from cyclearn.classes.territories import Territory, is_reducible, territories
from cyclearn.graphs import DirectedGraph
from cyclearn.graphs.bitsets import bits
from cyclearn.identifiability.constraints.invariants import (
    Minor,
    matched_column_sets,
    vanishing_minors,
)

Key = tuple[tuple[int, tuple[int, ...]], ...]
Order = tuple[int, ...]


def as_sets(graph: DirectedGraph) -> str:
    """Columns of a graph as sets of nodes, smallest first."""
    columns = sorted(graph.columns, key=lambda c: (c.bit_count(), c))
    return " ".join("".join(graph.names[v] for v in bits(c)) for c in columns)


def largest_columns(columns: Iterable[int]) -> frozenset[int]:
    """The columns that lie in no other one; graphs with the same distributions have the same."""
    found = set(columns)
    return frozenset(c for c in found if not any(c != d and c & ~d == 0 for d in found))


def _plain(territories_of_class: tuple[Territory, ...]) -> Key:
    return tuple((t.size, t.anchors) for t in territories_of_class)


@dataclass(frozen=True)
class PairOrbit:
    """A pair of classes, by number, and how many unordered pairs relabellings make of it."""

    first: int
    second: int
    size: int


class Classes:
    """All classes of rotations on ``p`` nodes; ``graphs`` holds an irreducible graph of each.

    ``origin[n]`` is the first class of the orbit of class ``n`` and a relabelling that leads from
    it to ``n``.
    """

    def __init__(self, p: int) -> None:
        self.p = p
        self.names = tuple(str(v + 1) for v in range(p))
        self.orders = list(permutations(range(p)))
        self._tables = {
            order: [sum(1 << order[v] for v in bits(s)) for s in range(1 << p)]
            for order in self.orders
        }
        found: dict[tuple[Territory, ...], DirectedGraph] = {}
        for columns in combinations_with_replacement(range(1, 1 << p), p):
            if is_reducible(columns) or not matched_column_sets(columns)[-1]:
                continue
            key = territories(columns)
            if key not in found:
                found[key] = self._seated(columns)
        self.keys = list(found)
        self.graphs = list(found.values())
        self._plain = [_plain(key) for key in self.keys]
        self._number = {key: n for n, key in enumerate(self._plain)}
        self.origin: list[tuple[int, Order]] = [(-1, ())] * len(self.keys)
        for n in range(len(self.keys)):
            if self.origin[n][0] < 0:
                for order in self.orders:
                    self.origin[self.image(n, order)] = n, order

    def _seated(self, columns: tuple[int, ...]) -> DirectedGraph:
        order = next(
            order for order in permutations(columns) if all(c >> j & 1 for j, c in enumerate(order))
        )
        return DirectedGraph.from_columns(order, self.names)

    def number(self, key: tuple[Territory, ...]) -> int:
        """Number of the class with these territories."""
        return self._number[_plain(key)]

    def image(self, n: int, order: Order) -> int:
        """The class that a relabelling makes of class ``n``."""
        table = self._tables[order]
        moved = (
            (size, tuple(sorted(table[a] for a in anchors))) for size, anchors in self._plain[n]
        )
        return self._number[tuple(sorted(moved))]

    def moved(self, minor: Minor, order: Order) -> Minor:
        """A minor of Θ after a relabelling."""
        table = self._tables[order]
        return table[minor[0]], table[minor[1]]

    @cached_property
    def representatives(self) -> list[int]:
        """The first class of every orbit."""
        return sorted({first for first, _ in self.origin})

    @cached_property
    def dimensions(self) -> list[int]:
        """Generic dimension of every class."""
        known = {n: self.graphs[n].dimension() for n in self.representatives}
        return [known[first] for first, _ in self.origin]

    @cached_property
    def zero_minors(self) -> list[frozenset[Minor]]:
        """The minors of Θ that vanish on every class."""
        known = {n: vanishing_minors(self.graphs[n]) for n in self.representatives}
        found = []
        for first, order in self.origin:
            moved = (self.moved(minor, order) for minor in known[first])
            found.append(frozenset((min(minor), max(minor)) for minor in moved))
        return found

    @cached_property
    def groups(self) -> list[list[int]]:
        """Classes of one dimension with the same vanishing minors, together."""
        found: dict[object, list[int]] = defaultdict(list)
        for n, zero in enumerate(self.zero_minors):
            found[self.dimensions[n], zero].append(n)
        return list(found.values())

    @cached_property
    def groups_of_dimension(self) -> list[list[int]]:
        """Classes of one dimension, together."""
        found: dict[int, list[int]] = defaultdict(list)
        for n, dimension in enumerate(self.dimensions):
            found[dimension].append(n)
        return list(found.values())

    def iter_pair_orbits(self, groups: list[list[int]]) -> Iterator[PairOrbit]:
        """One pair from each orbit of pairs of different classes that share a group."""
        group_of = {n: group for group in groups for n in group}
        orbit_size: dict[int, int] = defaultdict(int)
        for first, _ in self.origin:
            orbit_size[first] += 1
        for i in self.representatives:
            fixing = [order for order in self.orders if self.image(i, order) == i]
            seen: set[int] = set()
            for j in group_of[i]:
                first, order = self.origin[j]
                if j == i or first < i or j in seen:
                    continue
                moved = {self.image(j, f) for f in fixing}
                size = orbit_size[i] * len(moved)
                if first == i:
                    # The pair turned round, moved so that it begins with class i again.
                    inverse = tuple(sorted(range(self.p), key=order.__getitem__))
                    turned = self.image(i, inverse)
                    if turned in moved:
                        size //= 2
                    moved |= {self.image(turned, f) for f in fixing}
                seen |= moved
                yield PairOrbit(i, j, size)


def joined_by_rules(classes: Classes) -> DisjointSet:
    """Classes of rotations joined by the library; what holds for one holds for its relabellings."""
    joined = DisjointSet(range(len(classes.keys)))
    for n in classes.representatives:
        for key in linked_classes(classes.keys[n]).links:
            m = classes.number(key)
            if m != n:
                for order in classes.orders:
                    joined.merge(classes.image(n, order), classes.image(m, order))
    return joined
