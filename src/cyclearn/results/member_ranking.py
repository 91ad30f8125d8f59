"""Non-Gaussian noise chooses in the class: members by the likelihood of their residuals.

All members fit the covariance equally well, so their Gaussian likelihoods are equal. Each, with
each of its parameter sets, says what the noises were: the residuals, one for each column of I − B.
Where the noises are independent and not Gaussian, the residuals of the true one are, and those of
others are mixtures of them, which are closer to Gaussian (Shimizu et al. 2006 for acyclic graphs,
Lacerda et al. 2008 with cycles). So what ranks members is how much their residuals gain when each
noise may have the shape that suits it best (:mod:`cyclearn.models.noise_shape`).

The columns of a block of the class are chosen apart from those of other blocks, and so are their
residuals: blocks are ranked one by one. Two candidates tie exactly when their columns are the same
up to order and scale, as with a turned cycle and the inverse gain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, product
from math import prod

import numpy as np

from cyclearn.classes import EquivalenceClass
from cyclearn.classes.seating import Block, Seating
from cyclearn.data import Moments, as_moments, as_rows
from cyclearn.data.moments import Data
from cyclearn.foundation.arguments import between, flag, whole
from cyclearn.foundation.arrays import FloatArray
from cyclearn.foundation.errors import InputError
from cyclearn.foundation.stability import is_stable_radius
from cyclearn.graphs import DirectedGraph
from cyclearn.models import LinearGaussianModel, fit
from cyclearn.models.components import parameters_of
from cyclearn.models.fit_status import FitStatus
from cyclearn.models.noise_shape import noise_gains
from cyclearn.results.member_ranking_result import (
    BlockRanking,
    ClassRanking,
    Filling,
    ListedBlock,
    MemberRanking,
)
from cyclearn.search.knowledge import Knowledge

# Directions whose cosine is closer to one than this are one direction.
_SAME = 1e-8
# Parameter sets of one filling that are looked at.
_MAX_SETS = 64
_FEWEST_ROWS = 50


class Residuals:
    """Residuals by number: columns that are the same up to scale and sign share one."""

    def __init__(self, rows: FloatArray) -> None:
        self._rows = rows
        self._directions = np.empty((0, rows.shape[1]))
        self._gains: dict[int, FloatArray] = {}

    def number(self, column: FloatArray) -> int:
        """The number of a column of I − B of standardised variables."""
        direction = column / np.linalg.norm(column)
        if len(self._directions):
            cosines = np.abs(self._directions @ direction)
            nearest = int(cosines.argmax())
            if cosines[nearest] > 1 - _SAME:
                return nearest
        self._directions = np.vstack([self._directions, direction])
        return len(self._directions) - 1

    def gains(self, number: int) -> FloatArray:
        """What every row gains when this residual may have a shape of its own."""
        if number not in self._gains:
            residual = self._rows @ self._directions[number]
            self._gains[number] = noise_gains(residual)
        return self._gains[number]


def rank_members(
    graphs: Sequence[DirectedGraph],
    data: Data,
    shown: LinearGaussianModel,
    *,
    knowledge: Knowledge | None = None,
    level: float = 0.01,
    stable_only: bool = False,
    max_fillings: int = 500,
) -> MemberRanking:
    """Rank the members of some classes, each given by a graph; see ``LearnResult.rank_members``.

    ``shown`` is a fitted member, whose residuals are tested for being Gaussian: one that was chosen
    without looking at the shape of the noise.
    """
    names = graphs[0].names
    moments, Z = _standardised(data, names)
    between("level", level, 0, 1, 0.01)
    flag("stable_only", stable_only)
    whole("max_fillings", max_fillings, 1)
    masks = (None, None) if knowledge is None else knowledge.masks(names)
    residuals = Residuals(Z)
    given = set() if knowledge is None else {names.index(name) for name in knowledge.exogenous}
    suspects = _p_values(Z, shown, moments, given)
    classes = []
    for graph in graphs:
        for seating in EquivalenceClass(graph).irreducible_seatings(*masks):
            blocks = [
                _listed_block(seating, block, moments, residuals, max_fillings)
                for block in seating.blocks
            ]
            if stable_only:
                blocks = [replace(block, candidates=block.stable) for block in blocks]
            if all(block.candidates for block in blocks):
                classes.append(blocks)
    if not classes:
        raise InputError(
            "no member of the class has parameters that could be ranked: their likelihoods have no "
            "maximum, or none is stable and stable_only=True was given"
        )
    # Whole classes are compared by all of their residuals, one class block by block.
    several = len(classes) > 1
    tested = {
        j for blocks in classes for block in blocks if several or block.is_open for j in block.nodes
    } - given
    threshold = level / max(len(tested), 1)
    ranked = [
        ClassRanking(
            names,
            tuple(
                BlockRanking.of(
                    block,
                    residuals.gains,
                    float((suspects if several else suspects[list(block.nodes)]).min()),
                    threshold,
                    is_needed=several or block.is_open,
                )
                for block in blocks
            ),
        )
        for blocks in classes
    ]
    ranked.sort(key=lambda each: -round(each.gain, 6))
    return MemberRanking(tuple(ranked), level, len(Z), moments)


def _standardised(data: Data, names: tuple[str, ...]) -> tuple[Moments, FloatArray]:
    rows = as_rows(data)
    if isinstance(rows, Moments):
        raise InputError(
            "the shape of the noise is in the rows, and the data are Moments, which have none; "
            "pass the table"
        )
    moments = as_moments(rows)
    table = np.asarray(rows, dtype=float)
    if len(table) < _FEWEST_ROWS:
        raise InputError(
            f"there are {len(table)} rows; the shape of the noise takes at least {_FEWEST_ROWS}"
        )
    aligned = moments.aligned_to(names)
    if not moments.has_default_names:
        table = table[:, [moments.names.index(name) for name in names]]
    return aligned, np.asarray((table - table.mean(axis=0)) / aligned.scale)


def _p_values(
    Z: FloatArray, shown: LinearGaussianModel, moments: Moments, given: set[int]
) -> FloatArray:
    """Of D'Agostino and Pearson's test, for the residuals of the member shown."""
    from scipy.stats import normaltest

    columns = (np.eye(shown.n_variables) - shown.B) * moments.scale[:, None]
    found = np.array(normaltest(Z @ columns, axis=0).pvalue)
    # Variables that are taken as given are not noise, whatever their shape.
    found[list(given)] = 1.0
    return found


def _listed_block(
    seating: Seating, block: Block, moments: Moments, residuals: Residuals, max_fillings: int
) -> ListedBlock:
    """All fillings of a block with all of their parameter sets."""
    fillings = list(islice(seating.iter_block(block), max_fillings + 1))
    candidates: list[Filling] = []
    for filling in fillings[:max_fillings]:
        # No cycle leaves a block, so the edges into other blocks can be left out of the fit.
        columns = [1 << j for j in range(moments.n_variables)]
        for j, column in zip(block.nodes, filling, strict=True):
            columns[j] = column
        graph = DirectedGraph.from_columns(columns, moments.names)
        candidates += _candidates(graph, filling, block, moments, residuals)
    return ListedBlock(block.nodes, tuple(candidates), len(fillings) <= max_fillings)


def _candidates(
    graph: DirectedGraph,
    filling: tuple[int, ...],
    block: Block,
    moments: Moments,
    residuals: Residuals,
) -> Iterator[Filling]:
    fitted = fit(graph, moments)
    if fitted.status is FitStatus.AT_INFINITY:
        return
    parts = [part for part in fitted.components if set(part.columns.nodes) & set(block.nodes)]
    has_continuum = any(part.status is FitStatus.NOT_IDENTIFIED for part in parts)
    if prod(len(part.solutions) for part in parts) > _MAX_SETS:
        raise InputError(f"more than {_MAX_SETS} parameter sets of one graph cannot be ranked")
    for chosen in product(*(part.solutions for part in parts)):
        B, _ = parameters_of(zip(parts, chosen, strict=True), moments.n_variables)
        Q = np.eye(len(B)) - B
        yield Filling(
            filling,
            tuple(B[:, j] * moments.scale[j] / moments.scale for j in block.nodes),
            tuple(sorted(residuals.number(Q[:, j]) for j in block.nodes)),
            all(is_stable_radius(solution.spectral_radius) for solution in chosen),
            has_continuum,
        )
