"""The residuals of rows: how much a fitted density gains for each, and whether all look Gaussian.

Rows whose equations share their weights belong together: those of one table or of one group, or
those of all tables with interventions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np

from cyclearn.data.intervened_tables import target_mask
from cyclearn.data.tables import Tables
from cyclearn.foundation.arrays import BoolArray, FloatArray
from cyclearn.foundation.errors import InputError
from cyclearn.models import LinearGaussianModel
from cyclearn.models.experiments import Experiments, observed_mean
from cyclearn.models.noise_shape import noise_gains

# Minimum number of rows: kurtosis has no usable approximation below 20.
FEWEST_ROWS = 30
# Directions whose cosine differs from one by less are the same.
_SAME = 1e-8
# Number of draws that may be more extreme than the data for an answer: at level 0.01, 299 are
# drawn. Smaller numbers give fewer answers with few rows (rank_members.md). One is enough for large
# tables: non-Gaussian noise is then more extreme than all draws.
_MOST_BEYOND = 3
_MANY = 100_000
# Maximum amount of numbers drawn at once.
_BATCH = 4_000_000


@dataclass(frozen=True, eq=False)
class NoiseRows:
    """Rows whose equations share their weights.

    Attributes
    ----------
    tables : Tables
        The tables that weights are fitted to.
    scale : array of shape (p,)
        Standard deviations of all rows.
    parts : tuple of arrays of shape (n, p)
        The rows of each table, centred, on the scale of the standard deviations.
    is_cut : array of shape (tables, p)
        Nodes without an equation there: intervened on or exogenous.
    is_other : array of shape (tables, p)
        Nodes whose ordinary noise the table does not show: these, and nodes with different noise
        there.
    """

    tables: Tables
    scale: FloatArray
    parts: tuple[FloatArray, ...]
    is_cut: BoolArray
    is_other: BoolArray

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(map(len, self.parts))

    def mean(self, B: FloatArray) -> FloatArray | None:
        """The mean of the undisturbed system, with these weights."""
        if self.tables.design is None:
            return self.tables.only.moments.mean
        return observed_mean(Experiments.of(self.tables), B)

    def shows(self, node: int) -> BoolArray:
        """The rows with a node's ordinary noise."""
        return np.repeat(~self.is_other[:, node], list(map(len, self.parts)))

    def residuals(self, B: FloatArray) -> list[FloatArray]:
        """Residuals of each table; values of nodes without an equation. Weights are unscaled."""
        Q = np.eye(len(B)) - B * self.scale[:, None] / self.scale
        return [
            np.where(is_cut, part, part @ Q)
            for part, is_cut in zip(self.parts, self.is_cut, strict=True)
        ]


def noise_rows(tables: Tables, given: Iterable[str] = ()) -> tuple[NoiseRows, ...]:
    """The rows of tables, together if they share weights; ``given`` have no noise terms."""
    for table in tables:
        if table.rows is None:
            raise InputError(
                "the shape of the noise can be seen only in the rows, but the data are Moments, "
                "which have no rows; pass the table"
            )
    is_given = np.isin(tables.names, [*given, *tables.exogenous])
    found = []
    for own in tables.by_group.values():
        rows = [np.asarray(table.rows, dtype=float) for table in own]
        if own.design is None:
            scale = own.only.moments.scale
            part = (rows[0] - rows[0].mean(axis=0)) / scale
            found.append(NoiseRows(own, scale, (part,), is_given[None], is_given[None]))
            continue
        joined = Experiments.of(own)
        centre = joined.moments.mean if own.design.intercepts == "shared" else None
        centred = (X - (X.mean(axis=0) if centre is None else centre) for X in rows)
        parts = tuple(X / joined.scale for X in centred)
        cut = joined.targeted.astype(bool) | is_given
        found.append(NoiseRows(own, joined.scale, parts, cut, cut | target_mask(own)))
    present = np.flatnonzero(~is_given).tolist()
    fewest = min(max(int(each.shows(j).sum()) for j in present) for each in found)
    if fewest < FEWEST_ROWS:
        raise InputError(
            f"there are {fewest} rows; judging the shape of the noise needs at least {FEWEST_ROWS}"
        )
    return tuple(found)


class Residuals:
    """Numbered residuals: columns that are equal up to scale and sign share a number."""

    def __init__(self, rows: Sequence[NoiseRows]) -> None:
        self.rows = rows
        self._found: list[tuple[int, FloatArray, BoolArray]] = []
        # Directions and their numbers, among rows with the same noise.
        self._known: dict[tuple[int, bytes], tuple[FloatArray, list[int]]] = {}
        self._gains: dict[int, FloatArray] = {}

    def number(self, place: int, column: FloatArray, node: int) -> int:
        """The number of a node's column of I − B of standardised variables, in some of the rows."""
        direction = column / np.linalg.norm(column)
        key = place, self.rows[place].is_other[:, node].tobytes()
        known, numbers = self._known.get(key, (np.empty((0, len(column))), []))
        if numbers:
            cosines = np.abs(known @ direction)
            if cosines.max() > 1 - _SAME:
                return numbers[int(cosines.argmax())]
        self._known[key] = np.vstack([known, direction]), [*numbers, len(self._found)]
        self._found.append((place, direction, self.rows[place].shows(node)))
        return len(self._found) - 1

    def gains(self, numbers: Sequence[int]) -> FloatArray:
        """Gain of every row when each of these residuals has its own fitted density."""
        total = [np.zeros(each.n_rows) for each in self.rows]
        for number in numbers:
            place, direction, shows = self._found[number]
            if shows.sum() < FEWEST_ROWS:
                continue
            if number not in self._gains:
                rows = np.vstack(self.rows[place].parts)
                self._gains[number] = noise_gains(rows[shows] @ direction)
            total[place][shows] += self._gains[number]
        return np.concatenate(total)


class _Rotated:
    """Random tables of residuals with the same means and covariances as a given one.

    Given means and covariances, which determine all residuals, Gaussian rows are equally likely
    under every rotation that preserves the exogenous variables.
    """

    def __init__(self, residuals: FloatArray, is_other: BoolArray) -> None:
        from scipy.linalg import orth

        fixed = np.column_stack([np.ones(len(residuals)), residuals[:, is_other]])
        self._fixed = orth(fixed / np.linalg.norm(fixed, axis=0).clip(1e-300))
        self._kept = self._fixed @ (self._fixed.T @ residuals)
        _, size, right = np.linalg.svd(residuals - self._kept, full_matrices=False)
        self._loadings = (size[:, None] * right)[size > 1e-9 * np.linalg.norm(residuals)]

    def draw(self, rng: np.random.Generator, times: int) -> FloatArray:
        """Residuals of shape (times, n, p)."""
        G = rng.standard_normal((times, len(self._kept), len(self._loadings)))
        G -= self._fixed @ (self._fixed.T @ G)
        directions, R = np.linalg.qr(G)
        signs = np.sign(np.einsum("kii->ki", R))
        return np.asarray(self._kept + (directions * signs[:, None]) @ self._loadings)


def _extremes(
    rows: Sequence[NoiseRows],
    residuals: Sequence[Sequence[FloatArray]],
    sets: Sequence[tuple[int, ...]],
) -> FloatArray:
    """How non-Gaussian the noise of each set of nodes looks, for each draw.

    D'Agostino and Pearson's statistics are summed over nodes and groups of rows; with many rows the
    sum is χ² distributed, whose tail makes sets of different sizes comparable.
    """
    from scipy.stats import chi2, normaltest

    total = np.zeros((len(residuals[0][0]), rows[0].is_other.shape[1]))
    for each, parts in zip(rows, residuals, strict=True):
        for other in np.unique(each.is_other, axis=1).T:
            nodes = (each.is_other == other[:, None]).all(axis=0)
            shown = [E[:, :, nodes] for E, without in zip(parts, other, strict=True) if not without]
            if sum(E.shape[1] for E in shown) >= FEWEST_ROWS:
                total[:, nodes] += normaltest(np.concatenate(shown, axis=1), axis=1).statistic
    sums = [
        -chi2.logsf(total[:, list(nodes)].sum(axis=1), 2 * len(nodes) * len(rows)) for nodes in sets
    ]
    return np.stack(sums, axis=1)


def noise_answers(
    rows: Sequence[NoiseRows],
    shown: Sequence[LinearGaussianModel],
    sets: Sequence[Sequence[int]],
    level: float,
) -> list[tuple[float, bool]]:
    """For each set of nodes, whether their noise is significantly non-Gaussian.

    The residuals of ``shown``, fitted models chosen by means and covariances alone, are tested by
    the sum of the nodes' statistics, against the most extreme set in Gaussian rows with the same
    means and covariances. So the chance that any set of Gaussian noise gets an answer is at most
    the level, with any number of rows.

    Returns
    -------
    list of (float, bool)
        P-value, and whether there is an answer; drawing ends when there can be none.
    """
    tested = [nodes for nodes in dict.fromkeys(map(tuple, sets)) if nodes]
    if not tested:
        return [(1.0, False)] * len(sets)
    residuals = [each.residuals(model.B) for each, model in zip(rows, shown, strict=True)]
    observed = _extremes(rows, [[E[None] for E in parts] for parts in residuals], tested)[0]
    rotated = [
        [_Rotated(*part) for part in zip(parts, each.is_other, strict=True)]
        for each, parts in zip(rows, residuals, strict=True)
    ]
    rng = np.random.default_rng(0)
    size = sum(E.size for parts in residuals for E in parts)
    most = _MOST_BEYOND if size <= _MANY else 1
    n_draws, n, beyond = ceil(most / level) - 1, 0, np.zeros(len(tested), dtype=int)
    while n < n_draws and beyond.min() < most:
        times = min(max(_BATCH // size, 1), 20, n_draws - n)
        parts = [[each.draw(rng, times) for each in parts] for parts in rotated]
        largest = _extremes(rows, parts, tested).max(axis=1)
        beyond += (largest[:, None] >= observed).sum(axis=0)
        n += times
    found = {
        nodes: (float((b + 1) / (n + 1)), bool(b < most))
        for nodes, b in zip(tested, beyond, strict=True)
    }
    return [found.get(tuple(nodes), (1.0, False)) for nodes in sets]
