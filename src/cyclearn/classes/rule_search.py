"""Classes of rotations that the rules reach from a graph, and inclusion of graphs.

**Completeness.** Rotations and rules prove that graphs generate the same distributions, but not
that no other graph does. Two facts prove that for small graphs.

**Few nodes.** All pairs of classes on up to five nodes have been compared: any two that neither
rotations nor the rules link are proved to differ.

**Parts.** Let the graph fall into parts that no edge joins. A graph with the same distributions has
the same largest columns (the documentation, "Beyond the theorem"), so it falls into the same parts.
The distributions of a part are those of the whole graph in which all other variables are
independent. So each part of the one graph generates the distributions of the same part of the
other, and the class of the whole graph is complete if those of its parts are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from itertools import islice, product
from math import prod
from typing import TypeAlias

from cyclearn.classes.chordal_growth import SearchBudget
from cyclearn.classes.column_rules import RuleUse, iter_rule_uses
from cyclearn.classes.filling_counts import chain_below, completions
from cyclearn.classes.territories import Territory, territories, territory_below
from cyclearn.graphs.bitsets import columns_to_support, union

ClassKey: TypeAlias = tuple[Territory, ...]
"""The territories of an irreducible graph: they identify its class of rotations."""

Columns: TypeAlias = tuple[int, ...]

MAX_CLASSES = 256
MAX_EFFORT = 100_000


@dataclass(frozen=True)
class RuleLink:
    """How a class was reached: columns of a graph of the class ``source``, and a rule.

    ``columns[s]`` is in the territory of seat s of the source, or, for a raised mover, in that of
    the seat it was raised to. The rule changes the column of the mover.
    """

    source: ClassKey
    columns: Columns
    use: RuleUse

    @property
    def columns_after(self) -> Columns:
        """The multiset after the rule, in the order of the seats of the source."""
        after = list(self.columns)
        after[self.use.mover] = self.use.after
        return tuple(after)


@dataclass(frozen=True)
class LinkedClasses:
    """Classes of rotations with the same distributions, each with the link to it.

    The first has none. ``cut_by`` names the limit that ended the search; the classes found are
    proved.
    """

    links: dict[ClassKey, RuleLink | None]
    cut_by: str | None

    def path_to(self, key: ClassKey) -> tuple[RuleLink, ...]:
        """The links from the first class to this one."""
        path: list[RuleLink] = []
        while (link := self.links[key]) is not None:
            path.append(link)
            key = link.source
        return tuple(reversed(path))


# The classes of a graph are asked for several times in one answer.
@lru_cache(maxsize=8)
def linked_classes(
    start: ClassKey, *, max_classes: int = MAX_CLASSES, max_effort: int = MAX_EFFORT
) -> LinkedClasses:
    """Breadth-first search of the classes that the rules reach.

    Parameters
    ----------
    start : tuple of Territory
        The territories of a graph.
    max_classes : int
        Maximum number of classes to find.
    max_effort : int
        Maximum number of sets, chordal graphs and placements of columns to examine.

    Examples
    --------
    >>> found = linked_classes(territories((0b0001, 0b0011, 0b1111, 0b1100)))
    >>> len(found.links), found.cut_by
    (2, None)
    """
    budget = SearchBudget(max_effort)
    links: dict[ClassKey, RuleLink | None] = {start: None}
    waiting = [start]
    for key in waiting:
        for link in _iter_links(key, budget):
            found = territories(link.columns_after)
            if found in links:
                continue
            if len(links) == max_classes:
                return LinkedClasses(links, f"max_classes={max_classes}")
            links[found] = link
            waiting.append(found)
        if budget.is_exhausted:
            return LinkedClasses(links, f"max_effort={max_effort}")
    return LinkedClasses(links, None)


def _iter_links(key: ClassKey, budget: SearchBudget) -> Iterator[RuleLink]:
    below = territory_below(key)
    for use in iter_rule_uses(key, budget):
        placed = dict(use.witness) | {use.mover: use.before}
        # Smaller columns moved inside this one, so their places matter when it changes.
        # All others move as before, so their places do not matter.
        inside = chain_below(use.mover, below)[1:]
        if not budget.spend(prod(key[s].count() for s in inside)):
            return
        for chosen in product(*(key[s].iter_sets() for s in inside)):
            columns = placed | dict(zip(inside, chosen, strict=True))
            yield RuleLink(
                key,
                tuple(
                    columns[s] if s in columns else next(territory.iter_sets())
                    for s, territory in enumerate(key)
                ),
                use,
            )


def iter_column_multisets(key: ClassKey, limit: int) -> Iterator[Columns]:
    """At most ``limit`` irreducible multisets of columns of a class."""
    # Only the first ``limit`` sets of a territory can occur among the first products.
    choices = [list(islice(territory.iter_sets(), limit)) for territory in key]
    return islice(product(*choices), limit)


def is_contained(inner: ClassKey, outer: ClassKey, *, max_members: int = 200) -> bool:
    """Whether a member of one class is a subgraph of a member of the other, so Θ ⊆ Θ.

    True is a proof. Every column of the inner graph must be contained in a different column of some
    member of the outer class, which may be reducible. A column of a reducible member is in its own
    territory or in a larger one around it, so this is a matching.

    Examples
    --------
    A 3-cycle and the complete acyclic graph:

    >>> cycle, dag = territories((0b101, 0b011, 0b110)), territories((0b001, 0b011, 0b111))
    >>> is_contained(cycle, dag), is_contained(dag, cycle)
    (True, False)
    """
    if not _is_covered(inner, outer):
        return False
    rooms = [_around(seat, outer) for seat in range(len(outer))]
    for columns in iter_column_multisets(inner, max_members):
        fits = [
            union(1 << seat for seat, room in enumerate(rooms) if _has_room(room, column))
            for column in columns
        ]
        if completions(fits, (1 << len(rooms)) - 1) is not None:
            return True
    return False


def _has_room(room: Iterable[Territory], column: int) -> bool:
    """Whether a column lies in a set of one of the territories."""
    return any(column.bit_count() <= t.size and t.around(column) for t in room)


def _is_covered(inner: ClassKey, outer: ClassKey) -> bool:
    """Whether every column of one class lies in a column of the other, which Θ ⊆ Θ requires.

    The largest columns of a class are anchors, and they never move.
    """
    return all(
        any(anchor & ~other == 0 for territory in outer for other in territory.anchors)
        for territory in inner
        for anchor in territory.anchors
    )


def _around(seat: int, key: ClassKey) -> list[Territory]:
    """The territory and those above it: each is one size larger, with inherited anchors."""
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


# Up to this number of nodes, all pairs of classes are proved different or equal.
_NODES_SETTLED = 5


class Completeness(Enum):
    """Whether a class contains all graphs with its distributions; the value is a sentence."""

    PROVED = "all graphs with these distributions are members, proved"
    CONJECTURED = (
        "all graphs that rotations and rules were found to link are members; that no others "
        "generate these distributions is a conjecture"
    )
    CUT = "a limit stopped the search; further graphs may generate the same distributions"
    ROTATIONS = (
        "all graphs that rotations link are members, as requested; further rules were not used"
    )


def completeness(columns: Sequence[int], linked: LinkedClasses) -> Completeness:
    """The completeness of a class after the search."""
    from scipy.sparse.csgraph import connected_components

    if linked.cut_by is not None:
        return Completeness.CUT
    _, part = connected_components(columns_to_support(columns), directed=False)
    is_settled = max(Counter(part.tolist()).values(), default=0) <= _NODES_SETTLED
    return Completeness.PROVED if is_settled else Completeness.CONJECTURED
