"""Proof that a graph generates a distribution and all distributions near it.

"All" means the matrices with the zeros that the graph implies: entry (i, j) of Θ is zero on the
whole set if no column contains both. If other minors of Θ vanish on the graph, it means the
matrices on which these minors vanish too, and entries that are determined by others through them
are omitted from the coordinates. A graph can generate all of these near some Θ only if there are no
other constraints.

A factor Q of Θ on the support is found in floating point, so QQᵀ is only close to Θ. That an exact
factor exists near Q is proved in integers. The *coordinates* are the entries i ≤ j that are neither
forced to be zero nor follow from others. Let J be the derivative at Q of Q ↦ QQᵀ as a map into the
coordinates, K a matrix with JK close to the identity, and look for a factor Q + δ with δ = Ky on
the support. It has to satisfy y = T(y) with

    T(y) = (Θ − QQᵀ) + (I − JK)y − (Ky)(Ky)ᵀ.

In the largest-entry norm let r bound Θ − QQᵀ, ε bound I − JK, and β the sums
Σⱼ kᵢⱼkₗⱼ, with kᵢⱼ the sum of the moduli of the row of K that belongs to the entry (i, j). If
r + ερ + βρ² ≤ ρ, then T maps the ball of radius ρ into itself, so by Brouwer's theorem it has a
fixed point: the graph generates a matrix with the coordinates of Θ, which is Θ. If ε + 2βρ < 1 as
well, the derivative at the solution is onto, so the graph generates a neighbourhood of Θ.

**Determined entries** follow from others because a minor of Θ vanishes on a graph. Let det Θ[A, B]
be zero on the whole set of a graph, which matchings decide
(:mod:`cyclearn.identifiability.constraints.invariants`), and let the entry (i, j) occur in it once.
Expanded along row i the determinant is the entry times a cofactor, plus what the other entries of
Θ[A, B] contribute. So if the cofactor is not zero, these determine the entry. Entries may be
determined one after another; an earlier minor must then not contain an entry that is determined
later.

Matrices that agree in all other entries, and on which these minors vanish, are then equal, as long
as the cofactors stay away from zero: the other entries are coordinates.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from cyclearn.classes.dimension import gram_jacobian
from cyclearn.foundation.answers import Answer
from cyclearn.foundation.arrays import BoolArray, FloatArray
from cyclearn.graphs.bitsets import bits
from cyclearn.graphs.directed_graph import DirectedGraph
from cyclearn.identifiability.constraints.invariants import Minor, iter_minors, matched_column_sets

IntMatrix = tuple[tuple[int, ...], ...]

# All numbers are integers over this denominator, so that sums and products are exact.
_Q_UNIT = 1 << 40
_K_UNIT = 1 << 30
_BOUND_UNIT = 1 << 64
_NEWTON_STEPS = 3
# Factors that were drawn are rounded to integers after this scaling.
_FACTOR_SCALE = 1000


@dataclass(frozen=True)
class InteriorPoint(Answer):
    """Integers Θ, and Q and K over powers of two, that prove that Θ and all near it are generated.

    ``determined`` are the entries of Θ that follow from others on the graph.
    """

    graph: DirectedGraph
    theta: IntMatrix
    Q: IntMatrix
    K: IntMatrix
    determined: tuple[DeterminedEntry, ...] = ()

    def holds(self) -> bool:
        """Verify the proof in exact arithmetic."""
        p = self.graph.n_nodes
        Q = np.array(self.Q, dtype=object)
        K = np.array(self.K, dtype=object)
        free = free_entries(self.graph)
        kept = without_determined(free, self.determined)
        J = gram_jacobian(self.graph.columns, Q)[:, kept[np.triu_indices(p)]]
        theta = np.array(self.theta, dtype=object) * _Q_UNIT**2
        if (Q * ~self.graph.support).any() or K.shape != J.shape:
            return False
        if (theta != theta.T).any() or (theta * ~free).any():
            return False
        if not are_determined(self.graph, self.theta, self.determined):
            return False
        unit = _Q_UNIT * _K_UNIT
        r = _over((np.abs(theta - Q.dot(Q.T)) * kept).max(), _Q_UNIT**2)
        defect = np.abs(np.eye(J.shape[1], dtype=object) * unit - J.T.dot(K))
        epsilon = _over(defect.sum(axis=1).max(), unit)
        sums = np.zeros((p, p), dtype=object)
        places = [(i, j) for j, column in enumerate(self.graph.columns) for i in bits(column)]
        for (i, j), row in zip(places, K, strict=True):
            sums[i, j] = int(np.abs(row).sum())
        beta = _over(sums.dot(sums.T).max(), _K_UNIT**2)
        # r, ε and β are multiples of 2⁻⁶⁴, rounded up; ρ = 2r is near the smallest that can do.
        rho, one = 2 * r, _BOUND_UNIT
        fits = r * one**2 + epsilon * rho * one + beta * rho**2 <= rho * one**2
        return fits and epsilon * one + 2 * beta * rho < one**2


def free_entries(graph: DirectedGraph) -> BoolArray:
    """Entries of Θ that are not forced to be zero: nodes that are together in some column."""
    support = graph.support.astype(np.int64)
    return np.asarray(support @ support.T > 0)


def _over(numerator: int, denominator: int) -> int:
    """The quotient as a multiple of 2⁻⁶⁴, rounded up."""
    return -(-int(numerator) * _BOUND_UNIT // denominator)


def interior_point(
    graph: DirectedGraph,
    theta: Sequence[Sequence[int]],
    start: FloatArray,
    determined: tuple[DeterminedEntry, ...] = (),
) -> InteriorPoint | None:
    """A proof that the graph generates Θ and all near it, if ``start`` is close to a factor.

    Examples
    --------
    A 3-cycle generates everything near the identity:

    >>> cycle = DirectedGraph.from_edges([("a", "b"), ("b", "c"), ("c", "a")])
    >>> eye = np.eye(3, dtype=int).tolist()
    >>> interior_point(cycle, eye, np.eye(3)).holds()
    True

    A chain generates everything near the identity with Θ[a, c] = 0; with a → b ← c no entry of Θ is
    zero, and not everything near the identity is generated:

    >>> chain = DirectedGraph.from_edges([("a", "b"), ("b", "c")])
    >>> interior_point(chain, eye, np.eye(3)).holds()
    True
    >>> collider = DirectedGraph.from_edges([("a", "b"), ("c", "b")])
    >>> interior_point(collider, eye, np.eye(3)) is None
    True
    """
    p = graph.n_nodes
    target = np.array(theta, dtype=np.float64)
    kept = without_determined(free_entries(graph), determined)[np.triu_indices(p)]
    places = np.array([(i, j) for j, column in enumerate(graph.columns) for i in bits(column)])
    Q = np.where(graph.support, start, 0.0)
    for _ in range(_NEWTON_STEPS):
        J = gram_jacobian(graph.columns, Q).T[kept]
        if J.shape[1] < J.shape[0] or np.linalg.svd(J, compute_uv=False)[-1] < 1e-6:
            return None
        inverse = np.linalg.pinv(J)
        Q[places[:, 0], places[:, 1]] += inverse @ (target - Q @ Q.T)[np.triu_indices(p)][kept]
    if not np.abs(Q).max() < 1e6 or not np.abs(inverse).max() < 1e6:
        return None
    found = InteriorPoint(
        graph,
        tuple(tuple(int(x) for x in row) for row in theta),
        _whole(Q, _Q_UNIT),
        _whole(np.linalg.pinv(gram_jacobian(graph.columns, Q).T[kept]), _K_UNIT),
        determined,
    )
    return found if found.holds() else None


def _whole(matrix: FloatArray, unit: int) -> IntMatrix:
    return tuple(tuple(round(x * unit) for x in row) for row in matrix.tolist())


def common_interior_point(
    g: DirectedGraph, h: DirectedGraph, pairs: Iterable[tuple[FloatArray, FloatArray]]
) -> tuple[InteriorPoint, InteriorPoint] | None:
    """Proofs that both graphs generate everything near one Θ, if found.

    ``pairs`` are factors of one matrix, exact on the support of ``g`` and approximate on that of
    ``h``. None if other constraints than zeros and vanishing minors of Θ apply to one of them, or
    if these differ.
    """
    free = free_entries(g)
    n_bound = int(np.triu(free).sum()) - g.dimension()
    if (free != free_entries(h)).any() or g.dimension() != h.dimension():
        return None
    for Q, nearest in pairs:
        whole = np.rint(Q * _FACTOR_SCALE)
        theta = (whole @ whole.T).astype(np.int64).tolist()
        determined = determined_entries(g, theta, free, n_bound)
        if determined is None:
            continue
        first = interior_point(g, theta, whole, determined)
        second = interior_point(h, theta, nearest * _FACTOR_SCALE, determined)
        if first is not None and second is not None:
            return first, second
    return None


# With more nodes there are too many minors to examine.
_MOST_NODES = 8


@dataclass(frozen=True)
class DeterminedEntry:
    """The entry of Θ in this row and column, and the rows and columns of the vanishing minor."""

    row: int
    column: int
    minor: Minor

    def occurs_once(self) -> bool:
        """Whether the entry is in the minor, and its mirror image is not."""
        return _is_in(self.row, self.column, self.minor) and (
            self.row == self.column or not _is_in(self.column, self.row, self.minor)
        )

    def has_cofactor(self, theta: Sequence[Sequence[int]]) -> bool:
        """Whether the entry is multiplied by something other than zero."""
        a, b = self.minor
        return not _vanishes(theta, a ^ (1 << self.row), b ^ (1 << self.column))

    def to_dict(self) -> dict[str, Any]:
        """The entry, and the rows and columns of the minor, all by position."""
        return {
            "entry": [self.row, self.column],
            "rows": list(bits(self.minor[0])),
            "columns": list(bits(self.minor[1])),
        }


def without_determined(free: BoolArray, determined: Sequence[DeterminedEntry]) -> BoolArray:
    """The entries that are left as coordinates."""
    kept = free.copy()
    for each in determined:
        kept[each.row, each.column] = kept[each.column, each.row] = False
    return kept


def are_determined(
    graph: DirectedGraph, theta: Sequence[Sequence[int]], determined: Sequence[DeterminedEntry]
) -> bool:
    """Verify, in exact arithmetic, that the entries follow from the others on the graph near Θ."""
    # Families of sets of columns are for few nodes only.
    families = matched_column_sets(graph.columns) if determined else ()
    return all(
        not families[each.minor[0]] & families[each.minor[1]]
        and _vanishes(theta, *each.minor)
        and each.occurs_once()
        and each.has_cofactor(theta)
        and not any(_has(each.minor, later) for later in determined[n + 1 :])
        for n, each in enumerate(determined)
    )


def determined_entries(
    graph: DirectedGraph, theta: Sequence[Sequence[int]], free: BoolArray, n_wanted: int
) -> tuple[DeterminedEntry, ...] | None:
    """A given number of free entries that follow from the others; None if there are fewer.

    Examples
    --------
    On a → c ← b the entry Θ[a, b] follows from Θ[a, c], Θ[b, c] and Θ[c, c]:

    >>> collider = DirectedGraph.from_edges([("a", "c"), ("b", "c")], ["a", "b", "c"])
    >>> theta = [[2, 1, 1], [1, 2, 1], [1, 1, 1]]
    >>> found = determined_entries(collider, theta, np.ones((3, 3), dtype=bool), 1)
    >>> found
    (DeterminedEntry(row=0, column=1, minor=(5, 6)),)
    >>> are_determined(collider, theta, found)
    True
    """
    found: list[DeterminedEntry] = []
    if n_wanted and graph.n_nodes > _MOST_NODES:
        return None

    def is_new(entry: DeterminedEntry) -> bool:
        known = (
            _has(each.minor, entry) or {entry.row, entry.column} == {each.row, each.column}
            for each in found
        )
        return entry.occurs_once() and not any(known) and entry.has_cofactor(theta)

    families = matched_column_sets(graph.columns) if n_wanted else ()
    for a, b in iter_minors(graph.n_nodes):
        if len(found) == n_wanted:
            break
        if not families[a] & families[b]:
            entries = (
                DeterminedEntry(i, j, (a, b)) for i in bits(a) for j in bits(b) if free[i, j]
            )
            found += islice(filter(is_new, entries), 1)
    return tuple(found) if len(found) == n_wanted else None


def _is_in(row: int, column: int, minor: Minor) -> bool:
    return bool(minor[0] >> row & minor[1] >> column & 1)


def _has(minor: Minor, entry: DeterminedEntry) -> bool:
    """Whether an entry occurs in a minor of a symmetric matrix."""
    return _is_in(entry.row, entry.column, minor) or _is_in(entry.column, entry.row, minor)


def _vanishes(theta: Sequence[Sequence[int]], a: int, b: int) -> bool:
    """Whether a minor is zero, by elimination without fractions (Bareiss)."""
    rows = np.array([[theta[i][j] for j in bits(b)] for i in bits(a)], dtype=object)
    before = 1
    for step in range(len(rows) - 1):
        pivots = step + np.flatnonzero(rows[step:, step])
        if not pivots.size:
            return True
        rows[[step, pivots[0]]] = rows[[pivots[0], step]]
        left, row = rows[step + 1 :, step:], rows[step, step:]
        left[:] = (left * row[0] - np.outer(left[:, 0], row)) // before
        before = row[0]
    return len(rows) > 0 and bool(rows[-1, -1] == 0)
