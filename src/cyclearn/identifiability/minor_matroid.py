"""The matroid of the minors of Θ: which of them are algebraically independent, modulo a prime.

Restricted to the closure of a distribution set, the minors of Θ that do not vanish there are
functions, and which sets of them are algebraically independent is an invariant of the closure. It
is finer than the list of vanishing minors: the equation of a hypersurface shows in it. A set is
independent exactly if the differentials are linearly independent at a generic point, so the matroid
is that of the columns of a Jacobian, taken at a pseudo-random point Q modulo a large prime. A set
found independent is independent; a set is found dependent by mistake with a probability of about
(degree of the determinant) / prime. A difference counts only if it shows at two points with two
primes, so a wrong one has a probability below 10⁻¹⁰.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cyclearn.graphs.bitsets import bits
from cyclearn.graphs.dimension import rank_modulo
from cyclearn.graphs.directed_graph import DirectedGraph
from cyclearn.identifiability.invariants import Minor, matched_column_sets

_PRIMES = (2_147_483_647, 2_147_483_629)


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


def _listed_minors(graph: DirectedGraph) -> list[Minor]:
    """Minors that do not vanish on the graph: all up to five nodes, then the small and large ones.

    Sizes 1 and p − 1, the entries of Θ and Σ, are always taken, size 2 up to six nodes.
    """
    p = graph.n_nodes
    families = matched_column_sets(graph.columns)
    sizes = range(1, p) if p <= 5 else (1, 2, p - 1) if p == 6 else (1, p - 1)
    return [
        (a, b)
        for size in sizes
        for a, b in combinations_with_replacement(
            [s for s in range(1 << p) if s.bit_count() == size], 2
        )
        if families[a] & families[b]
    ]


@lru_cache(maxsize=1024)
def _differentials(graph: DirectedGraph, place: int) -> NDArray[np.int64]:
    """Logarithmic differentials of the listed minors, a column each, modulo a prime."""
    prime = _PRIMES[place]
    p = graph.n_nodes
    generator = np.random.default_rng(place)
    # Python's integers: sums of products of residues do not fit into 64 bits.
    Q = np.zeros((p, p), dtype=object)
    for j, column in enumerate(graph.columns):
        for i in bits(column):
            Q[i, j] = int(generator.integers(1, prime))
    theta = Q.dot(Q.T) % prime
    jacobian = gram_jacobian(graph.columns, Q) % prime
    place_of = {pair: n for n, pair in enumerate(combinations_with_replacement(range(p), 2))}
    columns = []
    for a, b in _listed_minors(graph):
        rows, across = list(bits(a)), list(bits(b))
        # d log det M = tr(M⁻¹ dM)
        inverse = _inverse_modulo(theta[np.ix_(rows, across)].tolist(), prime)
        gradient = np.zeros(len(place_of), dtype=object)
        for x, i in enumerate(rows):
            for y, j in enumerate(across):
                gradient[place_of[min(i, j), max(i, j)]] += inverse[y][x]
        columns.append(jacobian.dot(gradient) % prime)
    matrix = np.array(columns, dtype=np.int64).T
    return matrix[_first_basis(matrix.T, prime)]


def _inverse_modulo(matrix: list[list[int]], prime: int) -> list[list[int]]:
    """Inverse over the field with ``prime`` elements, zero where there is none."""
    k = len(matrix)
    rows = [[*row, *(int(i == j) for j in range(k))] for i, row in enumerate(matrix)]
    for step in range(k):
        pivot = next((r for r in range(step, k) if rows[r][step]), None)
        if pivot is None:
            # Of probability about 1/prime; the minor then counts as a constant at this point.
            return [[0] * k for _ in range(k)]
        rows[step], rows[pivot] = rows[pivot], rows[step]
        factor = pow(rows[step][step], -1, prime)
        rows[step] = [x * factor % prime for x in rows[step]]
        for r in range(k):
            if r != step and rows[r][step]:
                head = rows[r][step]
                rows[r] = [(x - head * y) % prime for x, y in zip(rows[r], rows[step], strict=True)]
    return [row[k:] for row in rows]


def _first_basis(matrix: NDArray[np.int64], prime: int) -> list[int]:
    """The columns that are independent of the columns before them, modulo the prime."""
    rows = matrix.copy()
    basis: list[int] = []
    for column in range(rows.shape[1]):
        rank = len(basis)
        if rank == rows.shape[0]:
            break
        below = np.flatnonzero(rows[rank:, column])
        if below.size == 0:
            continue
        pivot = rank + int(below[0])
        rows[[rank, pivot]] = rows[[pivot, rank]]
        rows[rank] = rows[rank] * pow(int(rows[rank, column]), -1, prime) % prime
        touched = rank + 1 + np.flatnonzero(rows[rank + 1 :, column])
        rows[touched] = (rows[touched] - rows[touched, column, None] * rows[rank]) % prime
        basis.append(column)
    return basis


def differing_ranks(
    g: DirectedGraph, h: DirectedGraph, *, n_orders: int = 200
) -> tuple[tuple[Minor, ...], int, int] | None:
    """Minors of Θ with a different number of independent ones on the two graphs, and the numbers.

    Both graphs have the same vanishing minors. The minors are taken in ``n_orders`` pseudo-random
    orders; one elimination compares the ranks of all beginnings of an order. None proves nothing.

    Examples
    --------
    Columns {0}, {1, 2}, {2, 3}, {0, 1, 2, 3} and {0}, {1, 2}, {1, 3}, {0, 1, 2, 3}: both are
    hypersurfaces in the same entries of Θ, yet not the same one.

    >>> names = ("a", "b", "c", "d")
    >>> g = DirectedGraph.from_columns((0b0001, 0b0110, 0b1100, 0b1111), names)
    >>> h = DirectedGraph.from_columns((0b0001, 0b1111, 0b0110, 0b1010), names)
    >>> minors, first, second = differing_ranks(g, h)
    >>> first != second
    True
    """
    listed = _listed_minors(g)
    generator = np.random.default_rng(0)
    matrices = [_differentials(graph, 0) for graph in (g, h)]
    for _ in range(n_orders):
        order = generator.permutation(len(listed))
        bases = [_first_basis(matrix[:, order], _PRIMES[0]) for matrix in matrices]
        if bases[0] == bases[1]:
            continue
        chosen = order[: min(set(bases[0]) ^ set(bases[1])) + 1].tolist()
        if _rank(g, chosen) != _rank(h, chosen):
            chosen = _shrunk(g, h, chosen)
            return tuple(listed[n] for n in chosen), _rank(g, chosen), _rank(h, chosen)
    return None


def _rank(graph: DirectedGraph, chosen: Sequence[int]) -> int:
    return max(
        rank_modulo(_differentials(graph, place)[:, chosen], prime)
        for place, prime in enumerate(_PRIMES)
    )


def _shrunk(g: DirectedGraph, h: DirectedGraph, chosen: list[int]) -> list[int]:
    """Leave out minors while the ranks still differ: a circuit of one matroid."""
    for n in list(chosen):
        fewer = [other for other in chosen if other != n]
        if _rank(g, fewer) != _rank(h, fewer):
            chosen = fewer
    return chosen
