"""The graph steps of Theorem 2: parent reduction, parent exchange, cycle reversion.

Each step is a value that identifies nodes by index. ``apply`` checks its precondition and returns a
new graph with the same distribution set; ``inverse`` undoes it if possible. P_v below is the set
{v} ∪ parents(v), a column of the support.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from cyclearn.foundation.errors import InputError
from cyclearn.graphs.directed_graph import DirectedGraph, Node


@dataclass(frozen=True)
class ParentReduction:
    """Drop the edge ``parent`` → ``child``, redundant because P_child = P_twin.

    P_v is the set of v and its parents.
    """

    child: int
    twin: int
    parent: int

    def apply(self, graph: DirectedGraph) -> DirectedGraph:
        """The graph without the redundant edge."""
        columns = _columns_of(graph, self.child, self.twin, self.parent)
        if self.child == self.twin or columns[self.child] != columns[self.twin]:
            raise InputError(
                f"{graph.names[self.child]} and {graph.names[self.twin]} are not parent "
                "reducible: each must be a parent of the other, all other parents in common"
            )
        _check_edge(graph, self.parent, self.child)
        columns[self.child] ^= 1 << self.parent
        return DirectedGraph.from_columns(columns, graph.names)

    def inverse(self) -> GraphStep:
        """Raise an error, because no step of Theorem 2 only adds an edge."""
        raise InputError("a parent reduction has no inverse: no graph step only adds an edge")

    def describe(self, names: Sequence[str]) -> str:
        """The step in words."""
        child, twin, parent = (names[v] for v in (self.child, self.twin, self.parent))
        return f"reduce parents of {child} and {twin}: drop {parent} -> {child}"


@dataclass(frozen=True)
class ParentAddition:
    """Add the redundant edge ``parent`` → ``child`` that makes P_child = P_twin.

    The opposite of a parent reduction. It is not a step of Theorem 2, which only drops edges, but
    it preserves the distributions too.
    """

    child: int
    twin: int
    parent: int

    def apply(self, graph: DirectedGraph) -> DirectedGraph:
        """The graph with the redundant edge."""
        columns = _columns_of(graph, self.child, self.twin, self.parent)
        larger = columns[self.child] | 1 << self.parent
        if columns[self.child] == larger or columns[self.twin] != larger:
            raise InputError(
                f"{graph.names[self.parent]} is not the only parent that {graph.names[self.twin]} "
                f"has beyond {graph.names[self.child]} and its parents"
            )
        columns[self.child] = larger
        return DirectedGraph.from_columns(columns, graph.names)

    def inverse(self) -> ParentReduction:
        """The reduction that drops the edge again."""
        return ParentReduction(self.child, self.twin, self.parent)

    def describe(self, names: Sequence[str]) -> str:
        """The step in words."""
        child, twin, parent = (names[v] for v in (self.child, self.twin, self.parent))
        return f"make parents of {child} and {twin} equal: add {parent} -> {child}"


@dataclass(frozen=True)
class ParentExchange:
    """Drop ``dropped`` → ``loser`` and add ``added`` → ``gainer``, one of the pair.

    ``loser`` and ``partner`` are parent exchangeable: P_loser and P_partner differ in ``added``
    alone (P_v is the set of v and its parents), and ``gainer`` is the one that lacks it. As a
    rotation it is A(dropped, loser, partner): reversible acute, or a column swap where
    ``dropped`` = ``added``.

    Examples
    --------
    >>> g = DirectedGraph.from_edges([("a", "b"), ("b", "c")])
    >>> step = ParentExchange.of(g, "b", "a", drop="a")
    >>> print(step.describe(g.names))
    exchange parents of b and a: drop a -> b, add b -> a
    >>> step.apply(g).edges
    (('b', 'a'), ('b', 'c'))
    """

    loser: int
    partner: int
    dropped: int
    added: int
    gainer: int

    @classmethod
    def of(cls, graph: DirectedGraph, loser: Node, partner: Node, *, drop: Node) -> ParentExchange:
        """The exchange of ``loser`` and ``partner`` that drops ``drop`` → ``loser``."""
        j, k, i = graph.index(loser), graph.index(partner), graph.index(drop)
        difference = graph.columns[j] ^ graph.columns[k]
        if difference.bit_count() != 1:
            raise InputError(
                f"{graph.names[j]} and {graph.names[k]} are not parent exchangeable: "
                f"each with its parents, they differ in {difference.bit_count()} nodes, not in one"
            )
        added = difference.bit_length() - 1
        return cls(j, k, i, added, k if graph.columns[j] >> added & 1 else j)

    def apply(self, graph: DirectedGraph) -> DirectedGraph:
        """The graph after the exchange."""
        columns = _columns_of(graph, self.loser, self.partner, self.dropped, self.added)
        if self != self.of(graph, self.loser, self.partner, drop=self.dropped):
            raise InputError(f"the graph does not allow this step: {self.describe(graph.names)}")
        _check_edge(graph, self.dropped, self.loser)
        union = columns[self.loser] | columns[self.partner]
        columns[self.loser] = union ^ (1 << self.dropped)
        columns[self.partner] = union
        return DirectedGraph.from_columns(columns, graph.names)

    def inverse(self) -> ParentExchange:
        """The exchange that undoes this one."""
        other = self.partner if self.gainer == self.loser else self.loser
        return ParentExchange(self.gainer, other, self.added, self.dropped, self.loser)

    def describe(self, names: Sequence[str]) -> str:
        """The step in words."""
        loser, gainer = names[self.loser], names[self.gainer]
        return (
            f"exchange parents of {loser} and {names[self.partner]}: "
            f"drop {names[self.dropped]} -> {loser}, add {names[self.added]} -> {gainer}"
        )


@dataclass(frozen=True)
class CycleReversion:
    """Reverse the directed cycle ``nodes[0]`` → ``nodes[1]`` → … → ``nodes[0]``.

    Every node of the cycle gives its set P to its predecessor, so an edge from elsewhere into a
    node of the cycle then points to that predecessor (Proposition 4).

    Examples
    --------
    >>> g = DirectedGraph.from_edges([("d", "a"), ("a", "b"), ("b", "c"), ("c", "a")])
    >>> CycleReversion.of(g, "a", "b", "c").apply(g).edges
    (('d', 'c'), ('a', 'c'), ('b', 'a'), ('c', 'b'))
    """

    nodes: tuple[int, ...]

    @classmethod
    def of(cls, graph: DirectedGraph, *nodes: Node) -> CycleReversion:
        """The reversion of the cycle through ``nodes``, in the order of its edges."""
        return cls(tuple(graph.index(node) for node in nodes))

    def apply(self, graph: DirectedGraph) -> DirectedGraph:
        """The graph with the cycle reversed."""
        columns = _columns_of(graph, *self.nodes)
        if len(set(self.nodes)) < max(2, len(self.nodes)):
            raise InputError("a cycle passes through two or more nodes, each once")
        for before, node in self._steps():
            _check_edge(graph, before, node)
        for before, node in self._steps():
            columns[before] = graph.columns[node]
        return DirectedGraph.from_columns(columns, graph.names)

    def inverse(self) -> CycleReversion:
        """The reversion of the reversed cycle."""
        return CycleReversion(self.nodes[:1] + self.nodes[:0:-1])

    def describe(self, names: Sequence[str]) -> str:
        """The step in words."""
        return "reverse cycle " + " -> ".join(names[v] for v in (*self.nodes, self.nodes[0]))

    def _steps(self) -> list[tuple[int, int]]:
        return list(zip(self.nodes, self.nodes[1:] + self.nodes[:1], strict=True))


GraphStep: TypeAlias = ParentReduction | ParentAddition | ParentExchange | CycleReversion


def replay(graph: DirectedGraph, steps: Iterable[GraphStep]) -> DirectedGraph:
    """Apply these steps one after the other."""
    for step in steps:
        graph = step.apply(graph)
    return graph


def _columns_of(graph: DirectedGraph, *nodes: int) -> list[int]:
    for node in nodes:
        graph.index(node)
    return list(graph.columns)


def _check_edge(graph: DirectedGraph, source: int, target: int) -> None:
    if not graph.has_edge(source, target):
        raise InputError(
            f"{graph.names[source]} -> {graph.names[target]} is not an edge of the graph"
        )
