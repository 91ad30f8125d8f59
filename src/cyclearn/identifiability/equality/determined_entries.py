"""Entries of Θ that follow from the others because a minor of Θ vanishes on a graph.

Let det Θ[A, B] be zero on the whole set of a graph, which is decided by matchings alone
(:mod:`cyclearn.identifiability.constraints.invariants`), and let the entry (i, j) occur in it once.
Expanded along row i the determinant is the entry times a cofactor, plus what the other entries of
Θ[A, B] make. So where the cofactor is not zero, these determine the entry. One entry may follow
after another; an entry of an earlier minor must then not be one that is determined later.

Matrices that agree in all other entries, and on which these minors vanish, are then equal, as long
as the cofactors stay away from zero: the other entries are coordinates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cyclearn.graphs.bitsets import bits
from cyclearn.graphs.directed_graph import DirectedGraph
from cyclearn.identifiability.constraints.invariants import (
    Minor,
    iter_minors,
    matched_column_sets,
)

IntMatrix = Sequence[Sequence[int]]

# Beyond so many nodes there are too many minors to look through.
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

    def has_cofactor(self, theta: IntMatrix) -> bool:
        """Whether the entry is multiplied by something other than zero."""
        a, b = self.minor
        return _determinant(theta, a ^ (1 << self.row), b ^ (1 << self.column)) != 0

    def to_dict(self) -> dict[str, Any]:
        """The entry, and the rows and columns of the minor, all by position."""
        return {
            "entry": [self.row, self.column],
            "rows": list(bits(self.minor[0])),
            "columns": list(bits(self.minor[1])),
        }


def without_determined(
    free: NDArray[np.bool_], determined: Sequence[DeterminedEntry]
) -> NDArray[np.bool_]:
    """The entries that are left as coordinates."""
    kept = free.copy()
    for each in determined:
        kept[each.row, each.column] = kept[each.column, each.row] = False
    return kept


def are_determined(
    graph: DirectedGraph, theta: IntMatrix, determined: Sequence[DeterminedEntry]
) -> bool:
    """Verify, in exact arithmetic, that the entries follow from the others on the graph near Θ."""
    # Families of sets of columns are for few nodes only.
    families = matched_column_sets(graph.columns) if determined else ()
    return all(
        not families[each.minor[0]] & families[each.minor[1]]
        and _determinant(theta, *each.minor) == 0
        and each.occurs_once()
        and each.has_cofactor(theta)
        and not any(_has(each.minor, later) for later in determined[n + 1 :])
        for n, each in enumerate(determined)
    )


def determined_entries(
    graph: DirectedGraph, theta: IntMatrix, free: NDArray[np.bool_], n_wanted: int
) -> tuple[DeterminedEntry, ...] | None:
    """So many entries among the free ones that follow from the others, None where not as many do.

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
    families = matched_column_sets(graph.columns) if n_wanted else ()
    for a, b in iter_minors(graph.n_nodes) if n_wanted else ():
        if families[a] & families[b]:
            continue
        for i in bits(a):
            for j in bits(b):
                entry = DeterminedEntry(i, j, (a, b))
                if (
                    free[i, j]
                    and entry.occurs_once()
                    and not any(
                        _has(each.minor, entry) or {i, j} == {each.row, each.column}
                        for each in found
                    )
                    and entry.has_cofactor(theta)
                ):
                    found.append(entry)
                    break
            if found and found[-1].minor == (a, b):
                break
        if len(found) == n_wanted:
            break
    return tuple(found) if len(found) == n_wanted else None


def _is_in(row: int, column: int, minor: Minor) -> bool:
    return bool(minor[0] >> row & minor[1] >> column & 1)


def _has(minor: Minor, entry: DeterminedEntry) -> bool:
    """Whether an entry occurs in a minor of a symmetric matrix."""
    return _is_in(entry.row, entry.column, minor) or _is_in(entry.column, entry.row, minor)


def _determinant(theta: IntMatrix, a: int, b: int) -> int:
    """The minor with these rows and columns, by elimination without fractions (Bareiss)."""
    rows = [[theta[i][j] for j in bits(b)] for i in bits(a)]
    sign, before = 1, 1
    for step in range(len(rows) - 1):
        pivot = next((r for r in range(step, len(rows)) if rows[r][step]), None)
        if pivot is None:
            return 0
        if pivot != step:
            rows[step], rows[pivot] = rows[pivot], rows[step]
            sign = -sign
        for r in range(step + 1, len(rows)):
            for k in range(step + 1, len(rows)):
                rows[r][k] = (
                    rows[r][k] * rows[step][step] - rows[r][step] * rows[step][k]
                ) // before
        before = rows[step][step]
    return sign * rows[-1][-1] if rows else 1
