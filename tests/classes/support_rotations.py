"""Givens rotations of Q and what they do to its support (Definitions 4 to 6, Proposition 3).

Θ = QQᵀ fixes Q up to a rotation of its columns, Q → QU, so graphs generate the same
distributions when rotations carry the support of one into the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import atan2

import numpy as np

from cyclearn.foundation.arrays import BoolArray, FloatArray
from cyclearn.foundation.errors import InputError


def givens_rotation(n: int, j: int, k: int, angle: float) -> FloatArray:
    """Rotation of the (j, k) plane: v ↦ vG turns (v_j, v_k) by ``angle`` radians.

    The signs are those of the paper's equation (2), v_j ↦ cos·v_j + sin·v_k; its Definition 4
    prints the two sines the other way round.

    Examples
    --------
    >>> np.round(np.array([3.0, 4.0]) @ givens_rotation(2, 0, 1, np.pi / 2), 12)
    array([ 4., -3.])
    """
    if j == k or not (0 <= j < n and 0 <= k < n):
        raise InputError(f"columns {j} and {k} span no plane; give two columns from 0 to {n - 1}")
    G = np.eye(n)
    G[j, j] = G[k, k] = np.cos(angle)
    G[k, j] = np.sin(angle)
    G[j, k] = -np.sin(angle)
    return G


def zero_by_rotation(Q: FloatArray, i: int, j: int, k: int) -> FloatArray:
    """QG(j, k, θ) with the angle θ = arctan(−Q[i, j] / Q[i, k]) that makes entry (i, j) zero."""
    rotated = Q @ givens_rotation(Q.shape[1], j, k, atan2(-Q[i, j], Q[i, k]))
    rotated[i, j] = 0.0
    return rotated


class RotationKind(Enum):
    """The five outcomes of a support rotation A(i, j, k)."""

    NO_EFFECT = "no effect"
    REDUCTION = "reduction"
    REVERSIBLE_ACUTE = "reversible acute rotation"
    IRREVERSIBLE_ACUTE = "irreversible acute rotation"
    COLUMN_SWAP = "column swap"


@dataclass(frozen=True)
class SupportRotation:
    """Support rotation A(i, j, k): zero entry (i, j) by a rotation of columns j and k.

    Examples
    --------
    >>> chain = np.array([[1, 1, 0], [0, 1, 1], [0, 0, 1]], dtype=bool)
    >>> flip = SupportRotation(0, 1, 0)
    >>> flip.kind(chain)
    <RotationKind.REVERSIBLE_ACUTE: 'reversible acute rotation'>
    >>> flip.apply(chain).astype(int)
    array([[1, 0, 0],
           [1, 1, 1],
           [0, 0, 1]])
    """

    i: int
    j: int
    k: int

    def kind(self, support: BoolArray) -> RotationKind:
        """Which of the five outcomes this rotation has on ``support`` (Proposition 3)."""
        column_j, column_k = self._columns(support)
        if not column_j[self.i]:
            return RotationKind.NO_EFFECT
        if not column_k[self.i]:
            return RotationKind.COLUMN_SWAP
        n_differing = int(np.count_nonzero(column_j != column_k))
        if n_differing == 0:
            return RotationKind.REDUCTION
        if n_differing == 1:
            return RotationKind.REVERSIBLE_ACUTE
        return RotationKind.IRREVERSIBLE_ACUTE

    def apply(self, support: BoolArray) -> BoolArray:
        """The support after the rotation; ``support`` is left as it is."""
        column_j, column_k = self._columns(support)
        kind = self.kind(support)
        rotated = np.array(support, dtype=bool)
        if kind is RotationKind.COLUMN_SWAP:
            rotated[:, self.j], rotated[:, self.k] = column_k, column_j
        elif kind is not RotationKind.NO_EFFECT:
            # An acute rotation mixes both columns: only the zeroed entry stays empty.
            rotated[:, self.j] = rotated[:, self.k] = column_j | column_k
            rotated[self.i, self.j] = False
        return rotated

    def _columns(self, support: BoolArray) -> tuple[BoolArray, BoolArray]:
        n_rows, n_columns = np.shape(support)
        if not (0 <= self.i < n_rows and 0 <= self.j < n_columns and 0 <= self.k < n_columns):
            raise InputError(f"{self} is outside a support of shape {np.shape(support)}")
        if self.j == self.k:
            raise InputError(f"{self} names one column twice; a rotation needs two")
        matrix = np.asarray(support, dtype=bool)
        return matrix[:, self.j].copy(), matrix[:, self.k].copy()

    def __str__(self) -> str:
        return f"A({self.i}, {self.j}, {self.k})"
