"""Generic dimension of the distribution set of a graph, exact.

Θ(G) is the image of Q ↦ QQᵀ over the support, so its dimension is the rank of the Jacobian at a
generic point. Ranks are taken modulo a large prime at a pseudo-random point: such a rank is never
above the generic one, and below it with a probability of about (number of entries) / prime. So a
rank that reaches an upper bound is proved; any other is the larger of two ranks modulo two primes,
which is too small with a probability of about (number of entries / 2³¹)².

The density factors over strongly connected components given their outside parents, and so does
the dimension: a component S with parents U contributes the rank for the columns of S alone, in
which only the rows S ∪ U occur. A single node contributes one variance and one weight per parent.

Redundant edges change nothing, so they are dropped first. The columns of S span a symmetric matrix
of rank s = |S| in r = |S ∪ U| rows, so a component contributes at most rs − s(s − 1)/2.

Where these columns are independent, dQ Qᵀ + Q dQᵀ = 0 has only the solutions dQ = QΩ with a skew
matrix Ω. So the rank is the number of entries minus the number of independent Ω for which QΩ is in
the support: s(s − 1)/2 unknowns, and an equation for each entry outside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cyclearn.classes.territories import reduced_columns
from cyclearn.foundation.arrays import IntArray
from cyclearn.graphs.bitsets import bits, union
from cyclearn.graphs.directed_graph import DirectedGraph

# Products of two residues fit into 64 bits.
PRIMES = (2_147_483_647, 2_147_483_629)


def dimension(graph: DirectedGraph) -> int:
    """Generic dimension of Θ(G): at most the number of edges plus the number of nodes.

    Ranks are computed at pseudo-random points, the same in every run; a rank below its upper bound
    is the dimension with a probability of nearly one, not with certainty.

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
    row_of = {node: row for row, node in enumerate(bits(union(columns)))}
    local = [union(1 << row_of[node] for node in bits(column)) for column in columns]
    s, r = len(columns), len(row_of)
    n_rotations = s * (s - 1) // 2
    bound = min(n_parameters, r * s - n_rotations)
    best = 0
    for seed, prime in enumerate(PRIMES):
        generator = np.random.default_rng(seed)
        Q = np.zeros((r, s), dtype=np.int64)
        for j, column in enumerate(local):
            Q[list(bits(column)), j] = generator.integers(1, prime, size=column.bit_count())
        if (r * s - n_parameters) * n_rotations > n_parameters * r * (r + 1) // 2:
            # A large component with few edges has the smaller Jacobian.
            best = max(best, rank_modulo(gram_jacobian(local, Q), prime, bound))
        elif rank_modulo(Q, prime) == s:
            n_kept = n_rotations - rank_modulo(kept_rotations(Q), prime, n_rotations)
            best = max(best, n_parameters - n_kept)
        if best == bound:
            break
    return best


def kept_rotations(Q: NDArray[Any]) -> NDArray[Any]:
    """Equations for the skew matrices Ω with QΩ in the support of Q.

    A row for each entry outside the support, a column for each Ω[a, b] with a < b.
    """
    a, b = np.triu_indices(Q.shape[1], 1)
    i, j = np.nonzero(Q == 0)
    own = j[:, None]
    return np.where(own == b, Q[i][:, a], 0) - np.where(own == a, Q[i][:, b], 0)


def gram_jacobian(columns: Sequence[int], Q: NDArray[Any]) -> NDArray[Any]:
    """Jacobian of Q ↦ QQᵀ: a row for each entry of the support, a column for each i ≤ j."""
    r = len(Q)
    upper = np.triu_indices(r)
    rows = []
    for j, column in enumerate(columns):
        for i in bits(column):
            # The derivative of qqᵀ along entry e is e qᵀ + q eᵀ.
            change = np.zeros((r, r), dtype=Q.dtype)
            change[i] += Q[:, j]
            change[:, i] += Q[:, j]
            rows.append(change[upper])
    return np.array(rows)


def rank_modulo(matrix: IntArray, prime: int, bound: int | None = None) -> int:
    """Rank of an integer matrix over the field with ``prime`` < 2³¹ elements.

    The computation stops at ``bound``, a known upper bound of the rank.

    Examples
    --------
    >>> rank_modulo(np.array([[1, 2], [2, 4]]), 7), rank_modulo(np.array([[1, 2], [2, 5]]), 7)
    (1, 2)
    """
    return len(echelon_modulo(matrix, prime, bound=bound)[1])


def echelon_modulo(
    matrix: IntArray, prime: int, *, bound: int | None = None, reduced: bool = False
) -> tuple[IntArray, list[int]]:
    """Echelon form over the field with ``prime`` < 2³¹ elements, and the columns of the pivots.

    At most ``bound`` pivots are sought; a ``reduced`` form has zeros above them too.
    """
    rows = np.array(matrix, dtype=np.int64) % prime
    pivots: list[int] = []
    most = rows.shape[0] if bound is None else min(bound, rows.shape[0])
    for column in range(rows.shape[1]):
        rank = len(pivots)
        if rank == most:
            break
        below = np.flatnonzero(rows[rank:, column])
        if below.size == 0:
            continue
        pivot = rank + int(below[0])
        rows[[rank, pivot]] = rows[[pivot, rank]]
        rows[rank] = rows[rank] * pow(int(rows[rank, column]), -1, prime) % prime
        touched = np.flatnonzero(rows[:, column])
        touched = touched[touched != rank if reduced else touched > rank]
        # Columns before the pivot are zero in its row.
        later = rows[touched, column:]
        rows[touched, column:] = (later - later[:, :1] * rows[rank, column:]) % prime
        pivots.append(column)
    return rows, pivots
