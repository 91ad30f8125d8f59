"""Non-Gaussian noise distinguishes members of a class: ranking by the likelihood of residuals.

All members fit the covariance equally well, so their Gaussian likelihoods are equal. Each member,
with each of its parameter sets, implies values of the noises: the residuals, one for each column of
I − B. If the noises are independent and not Gaussian, so are the residuals of the true member;
those of the others are mixtures of them, which are closer to Gaussian (Shimizu et al. 2006 for
acyclic graphs, Lacerda et al. 2008 with cycles). So members are ranked by how much likelihood their
residuals gain when each noise has its own fitted density (:mod:`cyclearn.models.noise_shape`).

The columns of a block of the class are chosen independently of other blocks, and so are their
residuals: blocks are ranked one by one. Two candidates tie exactly when their columns are the same
up to order and scale, as with a turned cycle and the inverse gain.

Each group has its own weights and noise shapes, and the gains are added. Tables with interventions
share the weights; there whole graphs are ranked, and a node's noise is observed in the tables
without an intervention on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice, product
from math import prod

import numpy as np

from cyclearn.classes import EquivalenceClass
from cyclearn.classes.seating import Block, Seating
from cyclearn.data.grouped_tables import SeveralData
from cyclearn.data.reading import as_tables
from cyclearn.data.tables import Tables
from cyclearn.foundation import InputError, is_stable_radius
from cyclearn.foundation.arguments import between, flag, whole
from cyclearn.graphs import DirectedGraph
from cyclearn.models import FittedModel, LinearGaussianModel, fit
from cyclearn.models.components import parameters_of
from cyclearn.models.fit_status import FitStatus
from cyclearn.results import member_ranking_result as ranking
from cyclearn.results.noise_rows import Residuals, noise_answers, noise_rows
from cyclearn.search.knowledge import Knowledge
from cyclearn.search.members import respects

# Maximum number of parameter sets of one filling.
_MAX_SETS = 64


def rank_members(
    graphs: Sequence[DirectedGraph],
    data: SeveralData | Tables,
    shown: Sequence[LinearGaussianModel],
    *,
    knowledge: Knowledge | None = None,
    level: float = 0.01,
    stable_only: bool = False,
    max_fillings: int = 500,
) -> ranking.MemberRanking:
    """Rank the members of some classes, each given by a graph; see ``LearnResult.rank_members``.

    ``shown`` is a fitted member, one model for each group, whose residuals are tested for
    normality; it must have been chosen without looking at the shape of the noise. With
    interventions the graphs themselves are ranked.
    """
    between("level", level, 0, 1, 0.01)
    flag("stable_only", stable_only)
    whole("max_fillings", max_fillings, 1)
    names = graphs[0].names
    tables = as_tables(data).aligned_to(names)
    rows = noise_rows(tables, () if knowledge is None else knowledge.exogenous)
    if len(rows) != len(shown):
        raise InputError(f"there are {len(rows)} groups but {len(shown)} models; give one each")
    masks = (knowledge or Knowledge()).masks(names)
    residuals = Residuals(rows)
    listed: Iterable[list[ranking.ListedBlock]]
    if tables.design is None:
        listed = (
            [_listed_block(seating, block, residuals, max_fillings) for block in seating.blocks]
            for graph in graphs
            for seating in EquivalenceClass(graph).irreducible_seatings(*masks)
        )
    else:
        # A whole graph forms one block.
        kept, nodes = [g for g in graphs if respects(g, masks)], tuple(range(len(names)))
        fits = [_fillings(g, nodes, residuals) for g in kept[:max_fillings]]
        everything = tuple(each for fit_of_one in fits for each in fit_of_one)
        listed = [[ranking.ListedBlock(nodes, everything, len(kept) <= max_fillings)]]
    classes = []
    for blocks in listed:
        if stable_only:
            blocks = [replace(block, candidates=block.stable) for block in blocks]
        if all(block.candidates for block in blocks):
            classes.append(blocks)
    if not classes:
        raise InputError(
            "no member of the class can be ranked: the likelihoods have no maximum, or no fit is "
            "stable and stable_only=True was given"
        )
    ranked = _ranked(classes, shown, residuals, level)
    return ranking.MemberRanking(names, ranked, level, tables.n_samples, rows, tables.groups)


def _ranked(
    classes: list[list[ranking.ListedBlock]],
    shown: Sequence[LinearGaussianModel],
    residuals: Residuals,
    level: float,
) -> tuple[ranking.ClassRanking, ...]:
    """Whole classes are compared by all of their residuals, one class block by block."""
    several = len(classes) > 1
    present = set(np.flatnonzero(~residuals.rows[0].is_cut.all(axis=0)).tolist())
    everything = [block for blocks in classes for block in blocks]
    sets = [
        sorted(present if several else present.intersection(block.nodes))
        if several or block.is_open
        else []
        for block in everything
    ]
    answers = iter(noise_answers(residuals.rows, shown, sets, level))
    ranked = [
        ranking.ClassRanking(
            tuple(
                ranking.BlockRanking.of(
                    block, residuals.gains, *next(answers), is_needed=several or block.is_open
                )
                for block in blocks
            )
        )
        for blocks in classes
    ]
    return tuple(sorted(ranked, key=lambda each: -round(each.gain, 6)))


def _listed_block(
    seating: Seating, block: Block, residuals: Residuals, max_fillings: int
) -> ranking.ListedBlock:
    """All fillings of a block with all parameter sets."""
    names = residuals.rows[0].tables.names
    fillings = list(islice(seating.iter_block(block), max_fillings + 1))
    candidates: list[ranking.Filling] = []
    for filling in fillings[:max_fillings]:
        # No cycle leaves a block, so the fit can omit the edges into other blocks.
        columns = [1 << j for j in range(len(names))]
        for j, column in zip(block.nodes, filling, strict=True):
            columns[j] = column
        graph = DirectedGraph.from_columns(columns, names)
        candidates += _fillings(graph, block.nodes, residuals)
    return ranking.ListedBlock(block.nodes, tuple(candidates), len(fillings) <= max_fillings)


def _fillings(
    graph: DirectedGraph, nodes: tuple[int, ...], residuals: Residuals
) -> Sequence[ranking.Filling]:
    """The columns of some nodes with all parameter sets; with groups, the best of each group."""
    sets = [
        tuple(_candidates(graph, nodes, residuals, place)) for place in range(len(residuals.rows))
    ]
    if len(sets) == 1:
        return sets[0]
    return [ranking.Filling.joined([_best(own, residuals) for own in sets])] if all(sets) else []


def _best(candidates: tuple[ranking.Filling, ...], residuals: Residuals) -> ranking.Filling:
    """The parameter set whose residuals gain most; a stable one among ties."""
    if len(candidates) == 1:
        return candidates[0]
    gains = [round(float(residuals.gains(each.residuals).sum()), 6) for each in candidates]
    order = sorted(range(len(gains)), key=lambda k: (-gains[k], not candidates[k].stable))
    return candidates[order[0]]


def _candidates(
    graph: DirectedGraph, nodes: tuple[int, ...], residuals: Residuals, place: int
) -> Iterator[ranking.Filling]:
    """The columns of some nodes of a graph, with every parameter set fitted to some of the rows."""
    rows = residuals.rows[place]
    fitted, scale, own = fit(graph, rows.tables), rows.scale, list(nodes)
    assert isinstance(fitted, FittedModel)
    if fitted.status is FitStatus.AT_INFINITY:
        return
    parts = [part for part in fitted.components if set(part.columns.nodes) & set(nodes)]
    has_continuum = any(part.status is FitStatus.NOT_IDENTIFIED for part in parts)
    if prod(len(part.solutions) for part in parts) > _MAX_SETS:
        raise InputError(f"more than {_MAX_SETS} parameter sets of one graph are too many to rank")
    for chosen in product(*(part.solutions for part in parts)):
        B, variances = parameters_of(zip(parts, chosen, strict=True), graph.n_nodes)
        Q = np.eye(len(B)) - B
        yield ranking.Filling(
            tuple(graph.columns[j] for j in nodes),
            ((B * scale / scale[:, None]).T[own],),
            ((variances * scale**2)[own],),
            tuple(sorted(residuals.number(place, Q[:, j], j) for j in nodes)),
            all(is_stable_radius(solution.spectral_radius) for solution in chosen),
            has_continuum,
        )
