"""Proof that a graph cannot generate a distribution or anything near it: a separating matrix.

Let Θ be positive definite and Θ = Σⱼ qⱼqⱼᵀ with qⱼ supported on column Cⱼ of a graph with p
columns, so Θ = QQᵀ with Q square. Then QᵀΘ⁻¹Q is the identity, hence **qⱼᵀΘ⁻¹qⱼ = 1 for every j**.

Let Y be a symmetric matrix and c₁, …, c_p numbers with Y[Cⱼ, Cⱼ] ⪰ cⱼ Θ⁻¹[Cⱼ, Cⱼ] for every j. Then
tr(YΘ) = Σⱼ qⱼᵀYqⱼ ≥ Σⱼ cⱼ qⱼᵀΘ⁻¹qⱼ = Σⱼ cⱼ. So where tr(YΘ*) < Σⱼ cⱼ, the graph cannot generate Θ*.
If every Y[Cⱼ, Cⱼ] − cⱼ Θ*⁻¹[Cⱼ, Cⱼ] is positive definite, the same Y and c work for all Θ near Θ*,
so the graph generates nothing in a neighbourhood of Θ*. If another graph generates Θ*, it generates
a set of positive measure in that neighbourhood, and the two graphs are not equivalent.

Y and c are found in floating point. In the coordinates in which Θ* is the identity, let Wⱼ be the
subspace that belongs to the column Cⱼ, and Dⱼ the symmetric matrices A ⪰ 0 of trace one on Wⱼ. If
the graph generates Θ*, the identity lies in D₁ + … + D_p. Otherwise the residual of the nearest
point of this convex set separates. Then Y, c and a factor Q of Θ* = QQᵀ are rounded to integers,
and the claims are verified in exact arithmetic.

**Largest columns** are an exact invariant of the set itself, not of its closure. Let a column C of
a graph lie in no column of another graph. Then the two are not equivalent: with q supported on all
of C, the other graph cannot generate qqᵀ as a limit, because a sum of qⱼqⱼᵀ that is qqᵀ has every
qⱼ proportional to q. The distributions of the one graph near qqᵀ are a set of positive measure, and
the sets of the supplement are closed. So the inclusion-maximal columns are the same for all graphs
that generate the same distributions.

The proof is put into a :class:`Separation` with c = 0: on C take Y = (2k − 1)I − 2J, with k = |C|
and J the matrix of ones, which is positive definite on every proper subset of C and negative at q =
1; elsewhere Y = I.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cyclearn.foundation.answers import Answer
from cyclearn.foundation.arrays import FloatArray
from cyclearn.graphs.bitsets import bits
from cyclearn.graphs.directed_graph import DirectedGraph

IntMatrix = tuple[tuple[int, ...], ...]

_ROUNDS = 400
_Q_SCALE = 10_000
_Y_SCALE = 10_000_000
# A separation smaller than this share of the length of Y is lost by rounding.
_MARGIN = 1e-4


@dataclass(frozen=True)
class Separation(Answer):
    """A distribution Θ = QQᵀ of one graph, and Y and c that separate it from another graph.

    All entries are integers, so :meth:`holds` is exact.
    """

    generates: DirectedGraph
    cannot: DirectedGraph
    Q: IntMatrix
    Y: IntMatrix
    c: tuple[int, ...]

    def holds(self) -> bool:
        """Verify the proof in exact arithmetic."""
        Q, Y = np.array(self.Q, dtype=object), np.array(self.Y, dtype=object)
        theta = Q.dot(Q.T)
        inverse = _inverse(theta)
        if (Q * ~self.generates.support).any() or (Y != Y.T).any() or inverse is None:
            return False
        columns = [list(bits(column)) for column in self.cannot.columns]
        return (Y * theta).sum() < sum(self.c) and all(
            _is_positive_definite((Y - c * inverse)[np.ix_(column, column)])
            for column, c in zip(columns, self.c, strict=True)
        )


def _is_positive_definite(matrix: NDArray[Any]) -> bool:
    """Whether all pivots of a symmetric matrix of fractions are positive."""
    rows = matrix.copy()
    for step, row in enumerate(rows):
        if row[step] <= 0:
            return False
        rows[step + 1 :] -= np.outer(rows[step + 1 :, step] / row[step], row)
    return True


def _inverse(matrix: NDArray[Any]) -> NDArray[Any] | None:
    """Inverse of a positive semidefinite matrix of integers, None if it does not exist."""
    n = len(matrix)
    rows = np.hstack([matrix, np.eye(n, dtype=int)]) * Fraction(1)
    for step in range(n):
        # A pivot of a positive definite matrix is never zero.
        if rows[step, step] == 0:
            return None
        rows[step] /= rows[step, step]
        others = np.arange(n) != step
        rows[others] -= np.outer(rows[others, step], rows[step])
    return np.asarray(rows[:, n:])


def separate(
    generates: DirectedGraph, cannot: DirectedGraph, factors: Iterable[FloatArray]
) -> Separation | None:
    """A proof that ``cannot`` does not generate one of the distributions QQᵀ, if one is found.

    ``factors`` are matrices Q on the support of ``generates``.

    Examples
    --------
    The complete acyclic graph on three nodes generates strongly dependent distributions that a
    3-cycle does not:

    >>> dag = DirectedGraph.from_edges([(0, 1), (0, 2), (1, 2)])
    >>> cycle = DirectedGraph.from_edges([(0, 1), (1, 2), (2, 0)])
    >>> Q = np.array([[1.0, 2.0, 2.0], [0.0, 1.0, 2.0], [0.0, 0.0, 1.0]])
    >>> separate(dag, cycle, [Q]).holds()
    True
    """
    for Q in factors:
        whole = np.rint(Q * (_Q_SCALE / np.abs(Q).max()))
        if np.linalg.matrix_rank(whole) < len(whole):
            continue
        found = _separating_matrix(whole, cannot.columns)
        if found is None:
            continue
        Y, c = found
        scale = _Y_SCALE / float(np.abs(Y).max())
        separation = Separation(
            generates,
            cannot,
            tuple(tuple(row) for row in whole.astype(int).tolist()),
            tuple(tuple(row) for row in np.rint(Y * scale).astype(int).tolist()),
            tuple(np.floor(c * scale).astype(int).tolist()),
        )
        if separation.holds():
            return separation
    return None


def _separating_matrix(
    Q: FloatArray, columns: Sequence[int]
) -> tuple[FloatArray, FloatArray] | None:
    """Y and c with tr(YΘ) < Σ c and Y[C, C] ≻ c Θ⁻¹[C, C], Θ = QQᵀ, or None if not found."""
    p = len(Q)
    # Rows scaled so that Θ has a unit diagonal, so that rounding affects all nodes equally.
    lengths = np.linalg.norm(Q, axis=1)
    inverse = np.linalg.inv(Q / lengths[:, None])
    bases = [np.linalg.qr(inverse[:, list(bits(column))])[0] for column in columns]
    found = _separating_direction(bases, p)
    if found is None:
        return None
    Y, c = found
    # Half of the margin makes the blocks positive definite, half remains for the trace.
    slack = (float(c.sum()) - float(np.trace(Y))) / (2 * p)
    Y = inverse.T @ Y @ inverse
    return Y / np.outer(lengths, lengths), c - slack


def _separating_direction(bases: list[FloatArray], p: int) -> tuple[FloatArray, FloatArray] | None:
    """Y and the smallest eigenvalues c of Y on the subspaces, with tr Y < Σ c.

    Accelerated projected gradient on the squared distance of the identity from D₁ + … + D_p.
    """
    widths = np.array([basis.shape[1] for basis in bases])
    U = np.zeros((len(bases), p, p))
    for n, basis in enumerate(bases):
        U[n, :, : basis.shape[1]] = basis
    Ut = U.transpose(0, 2, 1)
    unused = np.arange(p) >= widths[:, None]
    # Coordinates beyond the width of a subspace get an eigenvalue that the projection drops.
    drop = np.zeros((len(bases), p, p))
    drop[:, np.arange(p), np.arange(p)] = np.where(unused, -1e3, 0.0)
    parts = (~unused / widths[:, None])[:, :, None] * np.eye(p)
    ahead, momentum = parts, 1.0
    for round_ in range(_ROUNDS):
        residual = np.eye(p) - (U @ ahead @ Ut).sum(axis=0)
        if round_ % 10 == 9:
            length = float(np.linalg.norm(residual))
            if length < _MARGIN:
                return None
            Y = -residual / length
            c = np.linalg.eigvalsh(Ut @ Y @ U - drop)[:, 0]
            if c.sum() - np.trace(Y) > max(_MARGIN, 0.2 * length):
                return Y, c
        values, vectors = np.linalg.eigh(ahead + (Ut @ residual @ U) / p + drop)
        kept = (vectors * _onto_simplex(values)[:, None, :]) @ vectors.transpose(0, 2, 1)
        longer = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = kept + ((momentum - 1) / longer) * (kept - parts)
        parts, momentum = kept, longer
    return None


def _onto_simplex(values: FloatArray) -> FloatArray:
    """Nearest nonnegative vectors of sum one; each row of ``values`` is in ascending order."""
    descending = values[:, ::-1]
    sums = np.cumsum(descending, axis=1) - 1
    counts = np.arange(1, values.shape[1] + 1)
    held = (descending - sums / counts > 0).sum(axis=1)
    threshold = sums[np.arange(len(values)), held - 1] / held
    return np.asarray(np.maximum(values - threshold[:, None], 0.0))


def separate_by_largest_column(g: DirectedGraph, h: DirectedGraph) -> Separation | None:
    """A distribution of ``g`` that ``h`` cannot generate, if a column of ``g`` is in none of h.

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
