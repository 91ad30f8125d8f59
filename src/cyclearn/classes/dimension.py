"""Generic dimension of the distribution set of a graph, exact.

Θ(G) is the image of Q ↦ QQᵀ over the support, so its dimension is the rank of the Jacobian at a
generic point. Ranks are taken modulo a large prime at a pseudo-random point: such a rank is never
above the generic one, and below it with probability of about (number of entries) / prime. So a rank
that reaches an upper bound is proved; any other is the larger of two, taken modulo two primes,
and too small with a probability of about (number of entries / 2³¹)².

The density factors over strongly connected components given their outside parents, and so does
the dimension: a component S with parents U contributes the rank for the columns of S alone, in
which only the rows S ∪ U occur. A single node contributes one variance and one weight a parent.

Redundant edges change nothing, so they are dropped first. The columns of S span a symmetric matrix
of rank s = |S| in r = |S ∪ U| rows, so a component contributes at most rs − s(s − 1)/2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cyclearn.classes.territories import reduced_columns
from cyclearn.graphs.bitsets import bits

if TYPE_CHECKING:
    from cyclearn.graphs.directed_graph import DirectedGraph

# Products of two residues fit into 64 bits.
_PRIMES = (2_147_483_647, 2_147_483_629)


def dimension(graph: DirectedGraph) -> int:
    """Generic dimension of Θ(G): at most the number of edges plus the number of nodes.

    Ranks are found at pseudo-random points, the same in every run; where a rank stays below its
    upper bound it is the dimension with a probability of nearly one, not with certainty.

    Examples
    --------
    >>> from cyclearn import DirectedGraph
    >>> both = DirectedGraph.from_edges([("a", "b"), ("b", "a")])
    >>> both.n_edges + both.n_nodes, dimension(both)
    (4, 3)
    """
    total = 0
    graph = graph.from_columns(reduced_columns(graph.columns), graph.names)
    for component in graph.component_indices:
        columns = [graph.columns[j] for j in component]
        if len(columns) == 1:
            total += columns[0].bit_count()
        else:
            total += _component_dimension(columns)
    return total


def _component_dimension(columns: list[int]) -> int:
    n_parameters = sum(column.bit_count() for column in columns)
    union = 0
    for column in columns:
        union |= column
    s, r = len(columns), union.bit_count()
    bound = min(n_parameters, r * s - s * (s - 1) // 2)
    best = 0
    for seed, prime in enumerate(_PRIMES):
        best = max(best, rank_modulo(_gram_jacobian(columns, prime, seed), prime, bound))
        if best == bound:
            break
    return best


def _gram_jacobian(columns: list[int], prime: int, seed: int) -> NDArray[np.int64]:
    """Jacobian of Q ↦ QQᵀ at a pseudo-random Q: one row for each entry of the support."""
    union = 0
    for column in columns:
        union |= column
    row_of = {node: row for row, node in enumerate(bits(union))}
    generator = np.random.default_rng(seed)
    jacobian = []
    for column in columns:
        entries = [row_of[node] for node in bits(column)]
        q = np.zeros(len(row_of), dtype=np.int64)
        q[entries] = generator.integers(1, prime, size=len(entries))
        for entry in entries:
            # The derivative of qqᵀ along entry e is e qᵀ + q eᵀ.
            change = np.zeros((len(row_of), len(row_of)), dtype=np.int64)
            change[entry] += q
            change[:, entry] += q
            jacobian.append(change[np.triu_indices(len(row_of))])
    return np.array(jacobian, dtype=np.int64) % prime


def rank_modulo(matrix: NDArray[np.int64], prime: int, bound: int | None = None) -> int:
    """Rank of an integer matrix over the field with ``prime`` < 2³¹ elements.

    A rank known to be at most ``bound`` is not sought beyond it.

    Examples
    --------
    >>> rank_modulo(np.array([[1, 2], [2, 4]]), 7), rank_modulo(np.array([[1, 2], [2, 5]]), 7)
    (1, 2)
    """
    rows = np.array(matrix, dtype=np.int64) % prime
    rank = 0
    most = rows.shape[0] if bound is None else min(bound, rows.shape[0])
    for column in range(rows.shape[1] if most else 0):
        below = np.flatnonzero(rows[rank:, column])
        if below.size == 0:
            continue
        pivot = rank + int(below[0])
        rows[[rank, pivot]] = rows[[pivot, rank]]
        rows[rank] = rows[rank] * pow(int(rows[rank, column]), -1, prime) % prime
        touched = rank + 1 + np.flatnonzero(rows[rank + 1 :, column])
        rows[touched] = (rows[touched] - rows[touched, column, None] * rows[rank]) % prime
        rank += 1
        if rank == most:
            break
    return rank
