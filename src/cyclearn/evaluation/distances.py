"""Structural Hamming distance to a graph and to its class."""

from __future__ import annotations

from cyclearn.classes import EquivalenceClass, equivalence_class
from cyclearn.foundation.arguments import seconds
from cyclearn.graphs import DirectedGraph
from cyclearn.graphs.graph_input import check_same_nodes, checked_graph
from cyclearn.graphs.hamming import structural_hamming_distance


def aligned(learned: DirectedGraph, true: DirectedGraph | EquivalenceClass) -> DirectedGraph:
    """The learned graph with its nodes in the order of the true one."""
    checked_graph(learned, "learned graph")
    if not isinstance(true, EquivalenceClass):
        checked_graph(true, "true graph")
    check_same_nodes(("learned graph", learned.names), ("true graph", true.names))
    return learned.reordered(true.names)


def as_member(learned: DirectedGraph, members: EquivalenceClass) -> DirectedGraph:
    """The learned graph, without its redundant edges if it is equivalent to the members."""
    if learned not in members:
        return learned
    return EquivalenceClass(learned, rules=members.rules).representative


def shd(learned: DirectedGraph, true: DirectedGraph) -> int:
    """Structural Hamming distance: edges to add, remove or turn to make the graphs equal.

    Per unordered pair of nodes: 0 if equal, 1 if one edge must be added, removed or turned, 2 if
    i ⇄ j stands against nothing.

    Examples
    --------
    >>> chain = DirectedGraph.from_edges([("a", "b"), ("b", "c")])
    >>> shd(chain, DirectedGraph.from_edges([("b", "a"), ("b", "c")], ["a", "b", "c"]))
    1
    """
    return structural_hamming_distance(aligned(learned, true), true)


class ClassDistance(int):
    """A distance to a class: a whole number that knows whether it is exact.

    The number is the distance to the nearest member found, an upper bound; ``lower_bound`` is the
    best lower bound known, and ``nearest`` that member.
    """

    lower_bound: int
    nearest: DirectedGraph

    def __new__(cls, distance: int, lower_bound: int, nearest: DirectedGraph) -> ClassDistance:
        """Keep the bound and the member beside the number."""
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

    The members are not listed: two assignment problems bound the distance, and an integer
    programme settles what they leave open. Members are irreducible, so a graph with redundant
    edges is at least as far away as it has of them, unless it is equivalent to the true one: then
    the distance is zero.

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
    found = members.nearest(as_member(aligned(learned, members), members), time_limit=time_limit)
    return ClassDistance(found.distance, found.lower_bound, found.member)
