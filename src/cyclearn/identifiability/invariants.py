"""Exact invariants of the closure of a distribution set: which minors of Θ vanish, and a matroid.

**Vanishing minors.** Let Q be generic on the support and Θ = QQᵀ. By Cauchy and Binet

    det Θ[A, B] = Σ_S det Q[A, S] · det Q[B, S]   over all sets S of |A| columns.

The term of S has degree two in every column of S and degree zero in every other, so terms of
different S share no monomial and cannot cancel. Hence det Θ[A, B] is identically zero exactly if
no set of columns can be matched, within the support, both to A and to B. That is decided by
matchings alone: no prime, no random point. By Jacobi's identity det Σ[A, B] is, up to a factor
that never vanishes, det Θ[complement of B, complement of A], so the minors of Θ of all sizes hold
the ranks of all submatrices of Θ and of Σ, conditional independences included.

**Matroid.** Which sets of entries of Θ are algebraically independent on the distribution set is an
invariant of its closure. It is read off the Jacobian of Q ↦ QQᵀ at a pseudo-random point modulo a
prime: an independent set is proved independent, a dependent one misjudged with probability below
10⁻⁷ at one point, and two points are used.

Two irreducible closed sets of one dimension that differ meet in a set of smaller dimension. So
where an invariant differs, the graphs are neither equivalent nor quasi equivalent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations, combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cyclearn.graphs.bitsets import bits
from cyclearn.graphs.dimension import rank_modulo
from cyclearn.graphs.directed_graph import DirectedGraph

# The number of minors is about 4ᵖ / √p.
MOST_NODES = 11
_PRIMES = (2_147_483_647, 2_147_483_629)

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
    """All square submatrices of a symmetric matrix, smallest first, principal ones left out."""
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
    """The smallest minor of Θ or Σ that vanishes on one graph only; true if it is on the first.

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


def gram_jacobian(columns: Sequence[int], Q: NDArray[Any]) -> NDArray[Any]:
    """Jacobian of Q ↦ QQᵀ: a row for each entry of the support, a column for each i ≤ j."""
    p = len(columns)
    upper = np.triu_indices(p)
    rows = []
    for j, column in enumerate(columns):
        for i in bits(column):
            change = np.zeros((p, p), dtype=Q.dtype)
            change[i] += Q[:, j]
            change[:, i] += Q[:, j]
            rows.append(change[upper])
    return np.array(rows)


def _random_jacobian(columns: tuple[int, ...], prime: int, seed: int) -> NDArray[np.int64]:
    p = len(columns)
    generator = np.random.default_rng(seed)
    Q = np.zeros((p, p), dtype=np.int64)
    for j, column in enumerate(columns):
        index = list(bits(column))
        Q[index, j] = generator.integers(1, prime, size=len(index))
    return np.asarray(gram_jacobian(columns, Q), dtype=np.int64) % prime


@lru_cache(maxsize=256)
def _cached_jacobian(columns: tuple[int, ...], place: int) -> NDArray[np.int64]:
    return _random_jacobian(columns, _PRIMES[place], place)


def _first_basis(matrix: NDArray[np.int64], prime: int) -> list[int]:
    """The columns that are independent of the columns before them, modulo the prime."""
    rows = matrix.copy()
    basis: list[int] = []
    for column in range(rows.shape[1]):
        rank = len(basis)
        below = np.flatnonzero(rows[rank:, column])
        if below.size == 0:
            continue
        pivot = rank + int(below[0])
        rows[[rank, pivot]] = rows[[pivot, rank]]
        rows[rank] = rows[rank] * pow(int(rows[rank, column]), -1, prime) % prime
        touched = rank + 1 + np.flatnonzero(rows[rank + 1 :, column])
        rows[touched] = (rows[touched] - rows[touched, column, None] * rows[rank]) % prime
        basis.append(column)
        if len(basis) == rows.shape[0]:
            break
    return basis


def entry_rank(graph: DirectedGraph, entries: Sequence[tuple[int, int]]) -> int:
    """Number of algebraically independent ones among these entries (i, j), i ≤ j, of Θ."""
    place_of = {
        pair: n for n, pair in enumerate(combinations_with_replacement(range(graph.n_nodes), 2))
    }
    chosen = [place_of[pair] for pair in entries]
    return max(
        rank_modulo(_cached_jacobian(graph.columns, place)[:, chosen], prime)
        for place, prime in enumerate(_PRIMES)
    )


def differing_entries(
    g: DirectedGraph, h: DirectedGraph, *, n_orders: int = 40
) -> tuple[tuple[tuple[int, int], ...], int, int] | None:
    """Entries of Θ with a different number of independent ones on the two graphs, and the numbers.

    Entries are taken in ``n_orders`` pseudo-random orders; one elimination compares the ranks of
    all beginnings of an order.
    """
    p = g.n_nodes
    pairs = list(combinations_with_replacement(range(p), 2))
    generator = np.random.default_rng(0)
    jacobians = [_cached_jacobian(graph.columns, 0) for graph in (g, h)]
    for _ in range(n_orders):
        order = generator.permutation(len(pairs))
        bases = [_first_basis(jacobian[:, order], _PRIMES[0]) for jacobian in jacobians]
        if bases[0] == bases[1]:
            continue
        end = min(set(bases[0]) ^ set(bases[1])) + 1
        entries = tuple(sorted(pairs[e] for e in order[:end]))
        ranks = entry_rank(g, entries), entry_rank(h, entries)
        if ranks[0] != ranks[1]:
            return entries, *ranks
    return None
