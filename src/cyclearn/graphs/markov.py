"""Markov equivalence of directed graphs, cycles included, in polynomial time.

The Cyclic Equivalence Theorem states which features of a graph its d-separations determine. Write
A — B for p-adjacent nodes (no set separates them; see :mod:`cyclearn.graphs.separation`), and call
a triple A — B — C *unshielded* if A and C are not p-adjacent. The triple is a *conductor* if B is
an ancestor of A or of C. Otherwise it is a *nonconductor*: *perfect* if B descends from (or is) a
common child of A and C, else *imperfect*. An *uncovered itinerary* is a path of p-adjacencies
whose other pairs are not p-adjacent.

Two graphs are Markov equivalent if and only if they have the same

1. p-adjacencies;
2. unshielded conductors and unshielded perfect nonconductors;
3. mutually exclusive conductors: (A, B, Y, Z) such that an uncovered itinerary A, B, …, Y, Z
   exists with B ≠ Y, all nodes but A and Z in one strong component, and A and Z ancestors of this
   component outside of it;
4. ancestral relations between M and N, for unshielded imperfect nonconductors A — M — C and
   A — N — C;
5. ancestral relations of B to M, for (A, B, Y, Z) as in 3 and an unshielded imperfect
   nonconductor A — M — Z.

Here 3 keeps only the ends of the itinerary, whereas the theorem names three nodes at each end.
Together with 1 and 2 the ends suffice: if they agree in two graphs but the inside of an itinerary
lies in one component only in the first, then a part of it is a feature 3 of only the second.

References
----------
T. Richardson (1997), "A characterization of Markov equivalence for directed cyclic graphs".
T. Claassen and J. M. Mooij (2023), "Establishing Markov equivalence in cyclic directed graphs".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from cyclearn.graphs.bitsets import ancestor_sets, bits, nodes_alike, reached, union
from cyclearn.graphs.directed_graph import DirectedGraph
from cyclearn.graphs.graph_input import as_graph
from cyclearn.graphs.separation import p_adjacencies


class MarkovSignature(NamedTuple):
    """The features that determine, and are determined by, the d-separations of a graph.

    Nodes are indices and sets of nodes are integers (bit i is one when node i belongs to it).
    """

    p_adjacencies: tuple[int, ...]
    """For each A, the set of B with A — B."""
    conductors: frozenset[tuple[int, int, int]]
    """Triples (A, B, set of C): the unshielded conductors A — B — C."""
    perfect_nonconductors: frozenset[tuple[int, int, int]]
    """Triples (A, B, set of C): the unshielded perfect nonconductors A — B — C."""
    exclusive_conductors: frozenset[tuple[int, int, int, int]]
    """Quadruples (A, B, set of Y, Z), A < Z: the mutually exclusive conductors."""
    ancestors: tuple[int, ...]
    """For each M, the set of its ancestors that conditions 4 and 5 name."""


def markov_equivalent(g: DirectedGraph | str, h: DirectedGraph | str) -> bool:
    """Whether two directed graphs, cycles allowed, have the same d-separations.

    Parameters
    ----------
    g, h : DirectedGraph
        Graphs with the same node names, in any order.

    Returns
    -------
    bool

    Raises
    ------
    InputError
        If the graphs have different nodes.

    See Also
    --------
    markov_signature : groups many graphs by equivalence.

    References
    ----------
    T. Richardson (1997), "A characterization of Markov equivalence for directed cyclic graphs".

    Examples
    --------
    Reversing a cycle, with each parent set passed to the predecessor, preserves the d-separations:

    >>> g = DirectedGraph.from_edges([("a", "b"), ("b", "c"), ("c", "d"), ("d", "b")])
    >>> h = DirectedGraph.from_edges([("a", "d"), ("b", "d"), ("d", "c"), ("c", "b")])
    >>> markov_equivalent(g, h)
    True
    >>> markov_equivalent(g, DirectedGraph.from_edges([("a", "b"), ("b", "c"), ("c", "d")]))
    False
    """
    g, h = as_graph(g, "first graph"), as_graph(h, "second graph")
    return markov_signature(g) == markov_signature(h.reordered(g.names))


def markov_signature(graph: DirectedGraph) -> MarkovSignature:
    """A hashable value that is equal for two graphs if and only if they are Markov equivalent.

    Names are ignored: the graphs to compare must have the same nodes in the same order (see
    :meth:`DirectedGraph.reordered`).

    Parameters
    ----------
    graph : DirectedGraph

    Returns
    -------
    MarkovSignature

    References
    ----------
    T. Richardson (1997), "A characterization of Markov equivalence for directed cyclic graphs".

    Examples
    --------
    >>> chain = DirectedGraph.from_edges([(0, 1), (1, 2)])
    >>> fork = DirectedGraph.from_edges([(1, 0), (1, 2)])
    >>> collider = DirectedGraph.from_edges([(0, 1), (2, 1)])
    >>> len({markov_signature(g) for g in (chain, fork, collider)})
    2
    """
    columns = graph.columns
    ancestors = ancestor_sets(columns)
    partners = p_adjacencies(columns, ancestors)
    conductors, perfect = [], []
    imperfect: dict[tuple[int, int], int] = {}
    for triple in _iter_unshielded(columns, ancestors, partners):
        a, b = triple.end, triple.middle
        if triple.conductors:
            conductors.append((a, b, triple.conductors))
        if triple.perfect:
            perfect.append((a, b, triple.perfect))
        for c in bits(triple.imperfect):
            imperfect[a, c] = imperfect.get((a, c), 0) | 1 << b
    exclusive = list(_iter_exclusive_conductors(ancestors, partners))
    named = [0] * len(columns)
    for middles in imperfect.values():
        for m in bits(middles):
            named[m] |= ancestors[m] & middles
    for a, b, ys, z in exclusive:
        for m in bits(imperfect.get((a, z), 0)):
            named[m] |= ancestors[m] & (1 << b | ys)
    return MarkovSignature(
        partners, frozenset(conductors), frozenset(perfect), frozenset(exclusive), tuple(named)
    )


class _Unshielded(NamedTuple):
    """The unshielded triples end — middle — C, as sets of C."""

    end: int
    middle: int
    conductors: int
    perfect: int
    imperfect: int


def _iter_unshielded(
    columns: Sequence[int], ancestors: Sequence[int], partners: Sequence[int]
) -> Iterator[_Unshielded]:
    for b, near in enumerate(partners):
        below = sum(1 << a for a in bits(near) if ancestors[a] >> b & 1)
        # Columns of the ancestors of B: two nodes of one of them that are not p-adjacent are
        # parents of a common child from which B descends.
        families = [columns[child] for child in bits(ancestors[b])]
        for a in bits(near):
            ends = near & ~partners[a] & ~(1 << a)
            if not ends:
                continue
            if below >> a & 1:
                yield _Unshielded(a, b, ends, 0, 0)
                continue
            mates = union(family for family in families if family >> a & 1)
            above = ends & ~below
            yield _Unshielded(a, b, ends & below, above & mates, above & ~mates)


def _iter_exclusive_conductors(
    ancestors: Sequence[int], partners: Sequence[int]
) -> Iterator[tuple[int, int, int, int]]:
    # Quadruples (A, B, set of Y, Z) with A < Z.
    for component in dict.fromkeys(nodes_alike(ancestors)):
        if component.bit_count() == 1:
            continue
        anyone = component.bit_length() - 1
        outside = [a for a in bits(ancestors[anyone] & ~component) if partners[a] & component]
        for a, z in combinations(outside, 2):
            if partners[a] >> z & 1:
                continue
            from_a, from_z = partners[a] & component, partners[z] & component
            # An uncovered itinerary meets the neighbours of A and of Z in B and Y only; and any
            # path of p-adjacencies B, …, Y with this property, if shortest, is uncovered.
            free = component & ~(from_a | from_z)
            for b in bits(from_a & ~from_z):
                ys = _flood(partners, b, free) & from_z & ~from_a
                if ys:
                    yield a, b, ys, z


def _flood(partners: Sequence[int], start: int, allowed: int) -> int:
    # Nodes adjacent to the start or to a node that it reaches through allowed nodes.
    inside = reached([near & allowed for near in partners], partners[start] & allowed)
    return partners[start] | union(partners[node] for node in bits(inside))
