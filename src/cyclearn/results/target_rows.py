"""Targets learned with the graph: their probabilities, and which cannot be distinguished."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import exp, nan, sqrt
from typing import TYPE_CHECKING

import numpy as np

from cyclearn.data.intervened_tables import target_mask
from cyclearn.foundation.errors import InputError
from cyclearn.models.experiments import Experiments
from cyclearn.search.unknown_targets import TargetSearch

if TYPE_CHECKING:
    from cyclearn.results.result import LearnResult

# Less probable targets appear only in the table.
_WORTH_SAYING = 0.05


@dataclass(frozen=True)
class TargetRow:
    """One variable in one table.

    Attributes
    ----------
    table, variable : str
    target : bool
    probability : float
        That the variable is a target of this table, given the graph shown and all other targets.
    variance_ratio, shift : float
        Noise variance there relative to tables where it is not a target, and the difference of
        intercepts in standard deviations of that noise.
    or_rather : str
        Its parents in its feedback loop: with a cycle reversed, the noise of one of these differs
        instead, and the tables fit equally well.
    """

    table: str
    variable: str
    target: bool
    probability: float
    variance_ratio: float
    shift: float
    or_rather: str


def target_rows(result: LearnResult) -> tuple[TargetRow, ...]:
    """One row per variable and table, unless the change would leave no table with ordinary noise.

    Targets are scored like edges; the difference of scores with and without a target is used as the
    log odds.
    """
    if not result.options.is_unknown:
        raise InputError("no targets were learned; use learn(..., interventions='unknown')")
    tables, graph, B = result.tables, result.graph, result.model.B
    usual = Experiments.of(tables)
    unit = np.outer(usual.scale, usual.scale)
    search, mask = TargetSearch(tables, result.penalty, stable=False), target_mask(tables)
    rows = []
    for columns in search.components(graph):
        nodes = columns.nodes.tolist()
        for (e, table), j in product(enumerate(tables), nodes):
            changed = mask.copy()
            changed[e, j] ^= True
            if changed[:, j].all():
                continue
            worse = search.score(columns, changed) - search.score(columns, mask)
            odds = worse if mask[e, j] else -worse
            S, q = usual.first_matrix(j) * unit, np.eye(len(B))[j] - B[:, j]
            own, variance = table.moments, float(q @ S @ q)
            shift = nan if own.mean is None else float(q @ (own.mean - usual.means[j]))
            row = TargetRow(
                table=table.group,
                variable=graph.names[j],
                target=bool(mask[e, j]),
                probability=1 / (1 + exp(min(-odds, 700))),
                variance_ratio=float(q @ own.covariance @ q) / variance,
                shift=shift / sqrt(variance),
                or_rather=", ".join(graph.names[i] for i in nodes if graph.adjacency[i, j]),
            )
            rows.append((e, j, row))
    return tuple(row for _, _, row in sorted(rows, key=lambda each: each[:2]))


def worth_saying(rows: tuple[TargetRow, ...]) -> list[TargetRow]:
    """Targets, and variables that are not excluded as targets."""
    return [row for row in rows if row.target or row.probability >= _WORTH_SAYING]


def targets_in_words(result: LearnResult) -> list[str]:
    """Targets of each table, with their probabilities; empty if they were given."""
    if not result.options.is_unknown:
        return []
    lines = ["Targets, with probabilities given this graph and the other targets:"]
    rows = result.target_rows
    for name in result.tables.groups:
        own = [
            f"{row.variable} {row.probability:.2f}" + " (not selected)" * (not row.target)
            for row in worth_saying(rows)
            if row.table == name
        ]
        lines.append(f"  table {name}: {', '.join(own) or 'none'}")
    inside = dict.fromkeys(row.variable for row in rows if row.target and row.or_rather)
    if inside:
        lines.append(
            "Within a feedback loop, targets are determined only up to equivalence: "
            f"{', '.join(inside)} can be distinguished from a parent in the loop only by "
            "stability, because reversing a cycle swaps their noise terms."
        )
    return lines
