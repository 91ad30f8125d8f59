"""Exact invariants of the closure of a distribution set: which minors of Θ vanish.

**Vanishing minors.** Let Q be generic on the support and Θ = QQᵀ. By Cauchy and Binet

    det Θ[A, B] = Σ_S det Q[A, S] · det Q[B, S]   over all sets S of |A| columns.

The term of S has degree two in every column of S and degree zero in every other, so terms of
different S share no monomial and cannot cancel. Hence det Θ[A, B] is identically zero if and only
if no set of columns can be matched, within the support, both to A and to B. Matchings decide this
without primes or random points. By Jacobi's identity det Σ[A, B] is, up to a factor that never
vanishes, det Θ[complement of B, complement of A], so the minors of Θ of all sizes determine the
ranks of all submatrices of Θ and of Σ, conditional independences included. Two different
irreducible closed sets of the same dimension intersect in a set of smaller dimension. So if a minor
vanishes on only one graph, the graphs are neither equivalent nor quasi equivalent.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations

from cyclearn.graphs.directed_graph import DirectedGraph

# The number of minors is about 4ᵖ / √p.
MOST_NODES = 11

Minor = tuple[int, int]
"""Rows A and columns B of a square submatrix of Θ, each a set of nodes as an integer."""


@lru_cache(maxsize=4096)
def matched_column_sets(columns: tuple[int, ...]) -> tuple[int, ...]:
    """For every set A of rows, the sets S of columns that can be matched to A.

    Both are sets as integers; the family of the S is one integer, with bit S set for each of them.

    Examples
    --------
    Columns {0} and {0, 1}: row 1 can only take column 1, row 0 either.

    >>> matched_column_sets((0b01, 0b11)) == (1, 1 << 0b01 | 1 << 0b10, 1 << 0b10, 1 << 0b11)
    True
    """
    p = len(columns)
    without = [sum(1 << s for s in range(1 << p) if not s >> c & 1) for c in range(p)]
    families = [1]
    for rows in range(1, 1 << p):
        row = rows.bit_length() - 1
        rest = families[rows ^ (1 << row)]
        family = 0
        for c, column in enumerate(columns):
            if column >> row & 1:
                # Adding column c to S moves bit S to bit S + 2ᶜ.
                family |= (rest & without[c]) << (1 << c)
        families.append(family)
    return tuple(families)


def iter_minors(n_nodes: int) -> Iterator[Minor]:
    """All square submatrices of a symmetric matrix except principal ones, smallest first."""
    for size in range(1, n_nodes):
        sets = [sum(1 << v for v in chosen) for chosen in combinations(range(n_nodes), size)]
        yield from combinations(sets, 2)


def vanishing_minors(graph: DirectedGraph) -> frozenset[Minor]:
    """The minors of Θ that are zero for every distribution of the graph.

    Examples
    --------
    On a → c ← b the marginal covariance of a and b is zero: rows {a, c}, columns {b, c} of Θ.

    >>> collider = DirectedGraph.from_edges([("a", "c"), ("b", "c")], ["a", "b", "c"])
    >>> vanishing_minors(collider) == {(0b101, 0b110)}
    True
    """
    families = matched_column_sets(graph.columns)
    return frozenset((a, b) for a, b in iter_minors(graph.n_nodes) if not families[a] & families[b])


def differing_minor(g: DirectedGraph, h: DirectedGraph) -> tuple[Minor, bool] | None:
    """The smallest minor of Θ or Σ that vanishes on only one graph; true if that is the first.

    A minor of Θ of more than half the nodes is smaller as a minor of Σ.
    """
    p = g.n_nodes
    first, second = matched_column_sets(g.columns), matched_column_sets(h.columns)
    best: tuple[int, Minor, bool] | None = None
    for a, b in iter_minors(p):
        zero = not first[a] & first[b]
        if zero != (not second[a] & second[b]):
            size = min(a.bit_count(), p - a.bit_count())
            if best is None or size < best[0]:
                best = size, (a, b), zero
    return None if best is None else best[1:]


def readable(minor: Minor, n_nodes: int) -> tuple[str, int, int]:
    """A minor of Θ, or the same statement about Σ where that is smaller: matrix, rows, columns."""
    a, b = minor
    if 2 * a.bit_count() <= n_nodes:
        return "Θ", a, b
    everything = (1 << n_nodes) - 1
    return "Σ", everything & ~a, everything & ~b
