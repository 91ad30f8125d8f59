"""How close the structure of a graph is to a graph and to a class: distance, precision, recall.

Data can determine only what all members of the true class share. A feature of the learned graph
counts as correct if *some* member has it, and as required if *every* member has it: precision is
the share of the learned graph's features that some member has, recall the share of the required
features that the learned graph has. So each member of the true class has precision and recall one.
Members have no redundant edges; those of a learned graph count against it, unless it is equivalent
to the members. Against a single graph these are the ordinary precision and recall.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

import numpy as np

from cyclearn.classes import EquivalenceClass, equivalence_class
from cyclearn.classes.class_statements import class_statements
from cyclearn.foundation import Answer, Deadline
from cyclearn.foundation.arguments import seconds
from cyclearn.foundation.arrays import BoolArray
from cyclearn.graphs import DirectedGraph
from cyclearn.graphs.directed_graph import structural_hamming_distance
from cyclearn.graphs.graph_input import as_graph, check_same_nodes


def aligned(learned: DirectedGraph, true: DirectedGraph | EquivalenceClass) -> DirectedGraph:
    """The learned graph with its nodes in the order of the true one."""
    learned = as_graph(learned, "learned graph")
    if not isinstance(true, EquivalenceClass):
        true = as_graph(true, "true graph")
    check_same_nodes(("learned graph", learned.names), ("true graph", true.names))
    return learned.reordered(true.names)


def as_member(learned: DirectedGraph, members: EquivalenceClass) -> DirectedGraph:
    """The learned graph, without its redundant edges if it is equivalent to the members."""
    if learned not in members:
        return learned
    return EquivalenceClass(learned, rules=members.rules).representative


def shd(learned: DirectedGraph, true: DirectedGraph) -> int:
    """Structural Hamming distance: edges to add, remove or reverse to make the graphs equal.

    Per unordered pair of nodes: 0 if equal, 1 if one edge must be added, removed or reversed, 2 if
    i ⇄ j is compared with no edge.

    Examples
    --------
    >>> chain = DirectedGraph.from_edges([("a", "b"), ("b", "c")])
    >>> shd(chain, DirectedGraph.from_edges([("b", "a"), ("b", "c")], ["a", "b", "c"]))
    1
    """
    return structural_hamming_distance(aligned(learned, true), true)


class ClassDistance(int):
    """A distance to a class: an integer that records whether it is exact.

    The number is the distance to the nearest member found, an upper bound; ``lower_bound`` is the
    best lower bound known, and ``nearest`` that member.
    """

    lower_bound: int
    nearest: DirectedGraph

    def __new__(cls, distance: int, lower_bound: int, nearest: DirectedGraph) -> ClassDistance:
        """Attach the bound and the member to the number."""
        self = super().__new__(cls, distance)
        self.lower_bound = lower_bound
        self.nearest = nearest
        return self

    def __getnewargs__(self) -> tuple[int, int, DirectedGraph]:  # type: ignore[override]
        return int(self), self.lower_bound, self.nearest

    @property
    def is_exact(self) -> bool:
        """Whether no member of the class is nearer."""
        return int(self) == self.lower_bound


def class_distance(
    learned: DirectedGraph,
    true: DirectedGraph | EquivalenceClass,
    *,
    time_limit: float | None = None,
) -> ClassDistance:
    """Smallest structural Hamming distance from a graph to a member of the true class.

    If a part of the class has too many members to list, an integer programme finds the nearest.
    Members are irreducible, so the distance of a graph with redundant edges is at least the number
    of these, unless it is equivalent to the true graph: then the distance is zero.

    Parameters
    ----------
    learned : DirectedGraph
    true : DirectedGraph or EquivalenceClass
    time_limit : float, optional
        Seconds for the integer programme; then ``is_exact`` says whether they sufficed.

    Examples
    --------
    >>> chain = DirectedGraph.from_edges([("a", "b"), ("b", "c")])
    >>> fork = DirectedGraph.from_edges([("b", "a"), ("b", "c")], ["a", "b", "c"])
    >>> distance = class_distance(fork, chain)
    >>> int(distance), distance.is_exact
    (0, True)
    """
    time_limit = seconds("time_limit", time_limit)
    aligned(learned, true)
    members = true if isinstance(true, EquivalenceClass) else equivalence_class(true)
    learned = aligned(learned, members)
    if learned in members:
        return ClassDistance(0, 0, as_member(learned, members))
    found = members.nearest(learned, time_limit=time_limit)
    return ClassDistance(found.distance, found.lower_bound, found.member)


@dataclass(frozen=True)
class PrecisionRecall(Answer):
    """Precision and recall; NaN if there is nothing to count."""

    precision: float
    recall: float


@dataclass(frozen=True)
class StructureScores(Answer):
    """Precision and recall of adjacencies, arrowheads and cycles.

    An adjacency is an unordered pair of nodes joined by an edge or two; an arrowhead an edge
    i → j, so that i ⇄ j has two; a cycle is counted by the pairs of nodes that it joins: pairs
    with directed paths both ways. ``is_exact`` is false if the class was too large to examine all
    possible cycles.
    """

    adjacency: PrecisionRecall
    arrowhead: PrecisionRecall
    cycle: PrecisionRecall
    is_exact: bool = True

    @property
    def pairs(self) -> dict[str, PrecisionRecall]:
        """Precision and recall by feature."""
        return {"adjacency": self.adjacency, "arrowhead": self.arrowhead, "cycle": self.cycle}

    def by_name(self, prefix: str = "") -> dict[str, float | None]:
        """The six numbers, by names such as ``adjacency_precision``."""
        return {
            f"{prefix}{name}_{kind}": value
            for name in self.pairs
            for kind, value in self.to_dict()[name].items()
        }


@dataclass(frozen=True, eq=False)
class Features:
    """The features of some members and of every member of a class, as tables over the nodes.

    Tables of adjacencies and cycles are symmetric; in tables of arrowheads (i, j) is i → j.
    """

    some: dict[str, BoolArray]
    every: dict[str, BoolArray]
    is_exact: bool
    members: EquivalenceClass | None = None

    @classmethod
    def of_class(cls, members: EquivalenceClass, deadline: Deadline = None) -> Features:
        """The features of a class: edges of its members, and pairs on cycles."""
        said = class_statements(members, deadline=deadline)
        cycles = members.feedback_pairs(deadline=deadline)
        adjacent = said.possible | said.possible.T
        return cls(
            {"adjacency": adjacent, "arrowhead": said.possible, "cycle": cycles.some},
            {"adjacency": said.always_adjacent, "arrowhead": said.compelled, "cycle": cycles.every},
            is_exact=cycles.is_exact,
            members=members,
        )

    def scores(self, learned: DirectedGraph) -> StructureScores:
        """Precision and recall of a graph, on the same nodes in the same order."""
        if self.members is not None:
            learned = as_member(learned, self.members)
        found = _features(learned)

        pairs = {
            kind: PrecisionRecall(
                _share(has & self.some[kind], has), _share(has & self.every[kind], self.every[kind])
            )
            for kind, has in found.items()
        }
        return StructureScores(**pairs, is_exact=self.is_exact)


def structure_scores(
    learned: DirectedGraph, true: DirectedGraph | EquivalenceClass, *, to_class: bool = True
) -> StructureScores:
    """Precision and recall of adjacencies, arrowheads and cycles.

    Parameters
    ----------
    learned : DirectedGraph
    true : DirectedGraph or EquivalenceClass
    to_class : bool
        Score against the class: features of some member are correct, those of every member are
        required. Otherwise against the graph ``true`` itself.

    Examples
    --------
    A chain and a fork are equivalent, so both are equally correct:

    >>> chain = DirectedGraph.from_edges([("a", "b"), ("b", "c")])
    >>> fork = DirectedGraph.from_edges([("b", "a"), ("b", "c")], ["a", "b", "c"])
    >>> structure_scores(fork, chain).arrowhead.precision
    1.0
    >>> structure_scores(fork, chain, to_class=False).arrowhead.precision
    0.5
    """
    learned = aligned(learned, true)
    if isinstance(true, EquivalenceClass):
        return Features.of_class(true).scores(learned)
    if not to_class:
        own = _features(true)
        return Features(own, own, is_exact=True).scores(learned)
    return Features.of_class(equivalence_class(true)).scores(learned)


def _features(graph: DirectedGraph) -> dict[str, BoolArray]:
    A = graph.adjacency
    cycle = graph.in_one_component & ~np.eye(len(A), dtype=bool)
    return {"adjacency": A | A.T, "arrowhead": A, "cycle": cycle}


def _share(part: BoolArray, whole: BoolArray) -> float:
    n = int(whole.sum())
    return int(part.sum()) / n if n else nan
