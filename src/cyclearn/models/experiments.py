"""What the likelihood of tables with interventions needs of them: covariances of sets of rows.

A node's intercept, weights and variance are estimated from all rows in which it was not set; where
it kept its parents and had other noise, such rows count as well, with a variance and an intercept
of their own. See :mod:`cyclearn._kernels.shared_weights` for the likelihood.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cyclearn.data.intervened_tables import target_mask
from cyclearn.data.moments import Moments
from cyclearn.data.tables import Design, Tables
from cyclearn.foundation.stability import is_stable_radius

if TYPE_CHECKING:
    from cyclearn._kernels.shared_weights import Pooled

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Experiments:
    """Tables that share their weights, on the scale of the standard deviations of all rows.

    Attributes
    ----------
    tables : Tables
    scale : array of shape (p,)
        Standard deviations over all rows.
    covariances : array of shape (tables, p, p)
        Of each table; a constant column stands there with variance one, by itself.
    targeted : array of shape (tables, p)
        Which variables were cut off from their parents.
    matrices : array of shape (sets of rows, p, p)
        Covariances of sets of rows, that of all rows first.
    at, which, weights : arrays
        The terms of node i are ``at[i]`` to ``at[i + 1]``, the one with its ordinary noise first:
        a matrix, and its share of all rows.
    means : array of shape (p, p)
        Row i: means of all variables over the rows of the first term of node i.
    """

    tables: Tables
    scale: FloatArray
    covariances: FloatArray
    targeted: NDArray[np.uint8]
    matrices: FloatArray
    at: IntArray
    which: IntArray
    weights: FloatArray
    means: FloatArray

    @classmethod
    def of(cls, tables: Tables) -> Experiments:
        """From tables that have been checked."""
        design = tables.design or Design()
        moments = [table.moments for table in tables]
        p, everything = tables.n_variables, tuple(range(len(moments)))
        mask = target_mask(tables)
        is_shared = design.intercepts == "shared"
        scale = np.sqrt(_pooled(moments, everything, True)[0].diagonal())
        sets: dict[tuple[int, ...], int] = {everything: 0}
        at, which, weights, means = [0], list[int](), list[float](), list[FloatArray]()
        for i in range(p):
            free = tuple(np.flatnonzero(~mask[:, i]).tolist())
            terms = [free] if free else []
            if design.intervention_kind == "noise":
                terms += [(e,) for e in np.flatnonzero(mask[:, i]).tolist()]
            for rows in terms:
                which.append(sets.setdefault(rows, len(sets)))
                weights.append(sum(moments[e].n_samples for e in rows) / tables.n_samples)
            at.append(len(which))
            means.append(_pooled(moments, terms[0] if terms else everything, True)[1])
        unit = np.outer(scale, scale)
        matrices = [_pooled(moments, rows, is_shared)[0] / unit for rows in sets]
        return cls(
            tables=tables,
            scale=scale,
            covariances=np.array([_without_constants(each.covariance / unit) for each in moments]),
            targeted=(
                mask if design.intervention_kind == "perfect" else np.zeros_like(mask)
            ).astype(np.uint8),
            matrices=np.array(matrices),
            at=np.array(at),
            which=np.array(which, dtype=np.int64),
            weights=np.array(weights),
            means=np.array(means),
        )

    @property
    def shares(self) -> FloatArray:
        """The share of all rows that each table has."""
        return self.tables.shares

    @cached_property
    def is_special(self) -> NDArray[np.bool_]:
        """Nodes that were set, or had noise of their own, in some tables."""
        return np.array([self.which[a:b].tolist() != [0] for a, b in self._ranges])

    @property
    def _ranges(self) -> list[tuple[int, int]]:
        return list(zip(self.at[:-1].tolist(), self.at[1:].tolist(), strict=True))

    @cached_property
    def n_rows(self) -> FloatArray:
        """Rows that the equation of each node is estimated from, shape (p,)."""
        return np.array([self.weights[a:b].sum() for a, b in self._ranges]) * self.tables.n_samples

    @property
    def is_set_everywhere(self) -> NDArray[np.bool_]:
        """Nodes that were set in every table: they have no equation, and no parents."""
        return np.asarray(self.at[1:] == self.at[:-1])

    @cached_property
    def pooled(self) -> Pooled:
        """The sets of rows as the kernels take them."""
        from cyclearn._kernels.shared_weights import Pooled

        special = self.is_special.astype(np.uint8)
        return Pooled(self.matrices, self.at, self.which, self.weights, special)

    def first_matrix(self, node: int) -> FloatArray:
        """The covariance of the rows of a node's first term."""
        return np.asarray(self.matrices[self.which[self.at[node]]])

    @cached_property
    def moments(self) -> Moments:
        """Mean and covariance of all rows together."""
        each = [table.moments for table in self.tables]
        S, mean = _pooled(each, tuple(range(len(each))), True)
        first = each[0]
        return Moments._unchecked(
            S, self.tables.n_samples, mean, first.names, first.has_default_names
        )

    def largest_radius(self, B: FloatArray, nodes: IntArray | None = None) -> float:
        """The largest spectral radius of B and of B with the columns of targets removed.

        ``nodes`` are the variables that B is about, all by default.
        """
        cut = self.targeted.astype(bool)
        cut = cut if nodes is None else cut[:, nodes]
        largest = 0.0
        for targets in np.unique(np.vstack([cut, np.zeros_like(cut[:1])]), axis=0):
            held = np.where(targets, 0.0, B)
            largest = max(largest, float(np.abs(np.linalg.eigvals(held)).max()))
        return largest

    def is_stable(self, B: FloatArray) -> bool:
        """Whether the observed system and every mutilated one are stable."""
        return bool(is_stable_radius(self.largest_radius(B)))


def _pooled(
    moments: list[Moments], rows: tuple[int, ...], about_one_mean: bool
) -> tuple[FloatArray, FloatArray]:
    """Covariance of the rows of some tables, about one mean or each about its own; their mean."""
    n = np.array([moments[e].n_samples for e in rows], dtype=float)
    share = n / n.sum()
    S = np.einsum("e,eij->ij", share, [moments[e].covariance for e in rows])
    known = [moments[e].mean for e in rows]
    if any(mean is None for mean in known):
        return S, np.zeros(len(S))
    centres = np.array(known, dtype=float)
    mean = share @ centres
    if about_one_mean:
        apart = centres - mean
        S = S + (share[:, None] * apart).T @ apart
    return S, mean


def _without_constants(S: FloatArray) -> FloatArray:
    constant = S.diagonal() <= 1e-20
    S = np.where(constant[:, None] | constant, 0.0, S)
    S[constant, constant] = 1.0
    return S
