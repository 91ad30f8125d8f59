"""The largest columns: an exact invariant of the set itself, not of its closure.

Let a column C of a graph lie in no column of another graph. Then the two are not equivalent: with q
supported on all of C, the other graph cannot generate qqᵀ as a limit, since a sum of qⱼqⱼᵀ that is
qqᵀ has every qⱼ proportional to q. The distributions of the one graph near qqᵀ are a set of
positive measure, and the sets of the supplement are closed. So the inclusion-maximal columns are
the same for all graphs that generate the same distributions.

The proof is put into a
:class:`~cyclearn.identifiability.difference.separating_matrix.Separation` with c = 0: on C
take Y = (2k − 1)I − 2J, with k = |C| and J the matrix of ones, which is positive definite on every
proper subset of C and negative at q = 1; elsewhere Y = I.
"""

from __future__ import annotations

from cyclearn.graphs.directed_graph import DirectedGraph
from cyclearn.identifiability.difference.separating_matrix import Separation


def separate_by_largest_column(g: DirectedGraph, h: DirectedGraph) -> Separation | None:
    """A distribution of ``g`` that ``h`` cannot generate, where a column of ``g`` is in none of h.

    Examples
    --------
    >>> cycle = DirectedGraph.from_edges([("a", "b"), ("b", "c"), ("c", "a")])
    >>> dag = DirectedGraph.from_edges([("a", "b"), ("b", "c"), ("a", "c")])
    >>> separate_by_largest_column(dag, cycle).holds(), separate_by_largest_column(cycle, dag)
    (True, None)
    """
    outside = [
        place
        for place, column in enumerate(g.columns)
        if all(column & ~other for other in h.columns)
    ]
    if not outside:
        return None
    place = min(outside, key=lambda n: (g.columns[n].bit_count(), n))
    column = g.columns[place]
    p, k = g.n_nodes, column.bit_count()

    def entry(i: int, j: int) -> int:
        if column >> i & 1 and column >> j & 1:
            return 2 * k - 3 if i == j else -2
        return int(i == j)

    Y = tuple(tuple(entry(i, j) for j in range(p)) for i in range(p))
    # Large enough for the negative value −k·size² to outweigh the other columns.
    size = 2 * k + p
    Q = tuple(
        tuple(size * (column >> i & 1) if j == place else int(i == j) for j in range(p))
        for i in range(p)
    )
    return Separation(g, h, Q, Y, (0,) * p)
