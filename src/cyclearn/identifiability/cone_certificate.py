"""Proof that a graph cannot generate a distribution, nor anything near it: a separating matrix.

Every Θ of a graph with columns C₁, …, C_p is a sum of qⱼqⱼᵀ with qⱼ supported on Cⱼ. Let Y be a
symmetric matrix whose submatrices Y[Cⱼ, Cⱼ] are all positive semidefinite. Then
tr(YΘ) = Σⱼ qⱼᵀYqⱼ ≥ 0. So where tr(YΘ*) < 0, the graph cannot generate Θ*, and since the
inequality is strict, it generates nothing in a neighbourhood of Θ*. If another graph generates
Θ*, the neighbourhood holds a set of positive measure of its distributions: the two graphs are not
equivalent.

Y is found by projecting Θ* onto the convex cone that the columns span, in floating point; then Y
and a factor Q of Θ* = QQᵀ are rounded to integers, and the claims are verified in exact arithmetic.

A graph with a column of all nodes spans every positive semidefinite matrix, so it is never refuted
directly. But a node v that occurs in one column only can be eliminated first: that column is then
Θ[:, v] / √Θ[v, v], and the other columns have to generate the Schur complement
Θ − Θ[:, v]Θ[v, :] / Θ[v, v]. Separating the Schur complement from their cone proves the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cyclearn.graphs.bitsets import bits
from cyclearn.graphs.directed_graph import DirectedGraph

FloatArray = NDArray[np.float64]
IntMatrix = tuple[tuple[int, ...], ...]

_ROUNDS = 150
_Q_SCALE = 1_000
_Y_SCALE = 100_000


@dataclass(frozen=True)
class ConeCertificate:
    """A distribution Θ = QQᵀ of one graph and a matrix Y that separates it from another graph.

    Both matrices hold integers, so :meth:`holds` is exact. Where nodes are ``eliminated``, in this
    order, Y separates what is left of Θ.
    """

    generates: DirectedGraph
    cannot: DirectedGraph
    Q: IntMatrix
    Y: IntMatrix
    eliminated: tuple[int, ...] = ()

    def holds(self) -> bool:
        """Verify the proof in exact arithmetic."""
        p = self.generates.n_nodes
        on_support = all(
            self.Q[i][j] == 0 or self.generates.columns[j] >> i & 1
            for i in range(p)
            for j in range(p)
        )
        theta = [
            [Fraction(sum(self.Q[i][c] * self.Q[k][c] for c in range(p))) for k in range(p)]
            for i in range(p)
        ]
        if not (on_support and _is_positive_definite(theta)):
            return False
        columns = list(self.cannot.columns)
        for v in self.eliminated:
            (holder,) = [c for c in columns if c >> v & 1]
            columns.remove(holder)
            theta = [
                [theta[i][k] - theta[i][v] * theta[v][k] / theta[v][v] for k in range(p)]
                for i in range(p)
            ]
        trace = sum(self.Y[i][k] * theta[i][k] for i in range(p) for k in range(p))
        symmetric = all(self.Y[i][k] == self.Y[k][i] for i in range(p) for k in range(i))
        return (
            symmetric
            and trace < 0
            and all(
                _is_positive_definite(
                    [[Fraction(self.Y[i][k]) for k in bits(column)] for i in bits(column)]
                )
                for column in _maximal(columns)
            )
        )

    def to_dict(self) -> dict[str, Any]:
        """The two matrices, and which graph is refuted."""
        return {
            "generates": self.generates.to_dict(),
            "cannot": self.cannot.to_dict(),
            "Q": [list(row) for row in self.Q],
            "Y": [list(row) for row in self.Y],
            "eliminated": [self.cannot.names[v] for v in self.eliminated],
        }


def _is_positive_definite(matrix: Sequence[Sequence[Fraction]]) -> bool:
    rows = [list(row) for row in matrix]
    for step in range(len(rows)):
        pivot = rows[step][step]
        if pivot <= 0:
            return False
        for i in range(step + 1, len(rows)):
            factor = rows[i][step] / pivot
            for k in range(step, len(rows)):
                rows[i][k] -= factor * rows[step][k]
    return True


def _maximal(columns: Iterable[int]) -> list[int]:
    """The columns that lie in no other."""
    distinct = set(columns)
    return [c for c in sorted(distinct) if not any(c != d and c & ~d == 0 for d in distinct)]


def refute(
    generates: DirectedGraph, cannot: DirectedGraph, factors: Iterable[FloatArray]
) -> ConeCertificate | None:
    """A certificate that ``cannot`` does not generate one of the distributions QQᵀ, if found.

    ``factors`` are matrices Q on the support of ``generates``.

    Examples
    --------
    The complete acyclic graph on three nodes generates strongly dependent distributions that a
    3-cycle does not:

    >>> dag = DirectedGraph.from_edges([(0, 1), (0, 2), (1, 2)])
    >>> cycle = DirectedGraph.from_edges([(0, 1), (1, 2), (2, 0)])
    >>> Q = np.array([[0.1, 0.0, 1.0], [0.0, 0.1, 1.0], [0.0, 0.0, 1.0]])
    >>> refute(dag, cycle, [Q[:, :] * dag.support]).holds()
    True
    """
    columns = list(cannot.columns)
    eliminated: list[int] = []
    drawn = list(factors)
    while True:
        found = _refute_rest(generates, cannot, drawn, columns, eliminated)
        if found is not None:
            return found
        sink = next(
            (v for v in range(cannot.n_nodes) if sum(c >> v & 1 for c in columns) == 1), None
        )
        if sink is None:
            return None
        eliminated.append(sink)
        columns = [c for c in columns if not c >> sink & 1]
        if not columns:
            return None


def _refute_rest(
    generates: DirectedGraph,
    cannot: DirectedGraph,
    factors: Sequence[FloatArray],
    columns: Sequence[int],
    eliminated: Sequence[int],
) -> ConeCertificate | None:
    blocks = [np.array(list(bits(column))) for column in _maximal(columns)]
    if any(len(block) == cannot.n_nodes - len(eliminated) for block in blocks):
        return None
    left = np.array([v for v in range(cannot.n_nodes) if v not in eliminated])
    for Q in factors:
        theta = Q @ Q.T
        for v in eliminated:
            theta = theta - np.outer(theta[:, v], theta[v]) / theta[v, v]
        Y = _separator(theta, blocks, left)
        if Y is None:
            continue
        whole_Q = np.rint(Q * (_Q_SCALE / np.abs(Q).max())).astype(int).tolist()
        whole_Y = np.rint(Y * (_Y_SCALE / np.abs(Y).max())).astype(int).tolist()
        certificate = ConeCertificate(
            generates,
            cannot,
            tuple(tuple(row) for row in whole_Q),
            tuple(tuple(row) for row in whole_Y),
            tuple(eliminated),
        )
        if certificate.holds():
            return certificate
    return None


def _separator(
    theta: FloatArray, blocks: list[NDArray[np.int64]], left: NDArray[np.int64]
) -> FloatArray | None:
    """Y with positive definite blocks and tr(YΘ) < 0, or None where none is near.

    Least squares projection of Θ, scaled to a unit diagonal, onto the sum of the cones of the
    blocks, one block at a time; Y is what is left over, made safe by a multiple of the identity.
    """
    scale = np.zeros(len(theta))
    scale[left] = 1 / np.sqrt(theta.diagonal()[left])
    scaled = theta * np.outer(scale, scale)
    rest = scaled.copy()
    parts = [np.zeros((len(block), len(block))) for block in blocks]
    for _ in range(_ROUNDS):
        before = rest.copy()
        for n, block in enumerate(blocks):
            index = np.ix_(block, block)
            values, vectors = np.linalg.eigh(rest[index] + parts[n])
            part = (vectors * np.maximum(values, 0)) @ vectors.T
            rest[index] += parts[n] - part
            parts[n] = part
        if np.abs(rest - before).max() < 1e-9:
            break
    Y = -(rest + rest.T) / 2
    lowest = min(np.linalg.eigvalsh(Y[np.ix_(block, block)])[0] for block in blocks)
    Y += (max(-lowest, 0.0) + 1e-3 * float(np.abs(Y).max())) * np.eye(len(Y))
    if not float(np.sum(Y * scaled)) < 0:
        return None
    return np.asarray(Y * np.outer(scale, scale))
