"""Targets that were learned with the graph: how probable each is, and what is not told apart."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp
from typing import TYPE_CHECKING

import numpy as np

from cyclearn.data.intervened_tables import target_mask
from cyclearn.data.moments import Moments
from cyclearn.foundation.arrays import FloatArray
from cyclearn.foundation.errors import InputError
from cyclearn.search.unknown_targets import TargetSearch

if TYPE_CHECKING:
    import pandas as pd

    from cyclearn.results.result import LearnResult

# Less probable targets are left to the table.
_WORTH_SAYING = 0.05


@dataclass(frozen=True)
class TargetRow:
    """One variable in one table.

    Attributes
    ----------
    table, variable : str
    is_target : bool
    probability : float
        That the variable is a target of this table, given the graph shown and all other targets.
    variance_ratio, shift : float
        Noise variance there beside that in tables where it is not a target, and the difference of
        intercepts in standard deviations of that noise.
    or_rather : tuple of str
        Its parents in its feedback loop: with a cycle turned, the noise of one of these is what
        differs, and tables fit as well.
    """

    table: str
    variable: str
    is_target: bool
    probability: float
    variance_ratio: float
    shift: float
    or_rather: tuple[str, ...]


def target_rows(result: LearnResult) -> tuple[TargetRow, ...]:
    """One row for each variable of each table; none where a change would leave no ordinary noise.

    Targets are scored as edges are; the difference of scores with and without a target is taken
    for the logarithm of the odds.
    """
    if not result.options.is_unknown:
        raise InputError("targets were not learned; learn with interventions='unknown'")
    tables, graph, B = result.tables, result.graph, result.model.B
    search = TargetSearch(tables, result.penalty, stable=False)
    mask = target_mask(tables)
    rows = []
    for columns in search.components(graph):
        nodes = columns.nodes.tolist()
        for j in nodes:
            loop = tuple(graph.names[i] for i in nodes if graph.adjacency[i, j])
            for e in range(len(tables)):
                changed = mask.copy()
                changed[e, j] ^= True
                if changed[:, j].all():
                    continue
                gain = search.score(columns, changed) - search.score(columns, mask)
                odds = gain if mask[e, j] else -gain
                name = tables.tables[e].group
                ratio, shift = _noise(result, B[:, j], j, e)
                chance = 1 / (1 + exp(min(-odds, 700)))
                target = bool(mask[e, j])
                rows.append(TargetRow(name, graph.names[j], target, chance, ratio, shift, loop))
    places = {name: k for k, name in enumerate(tables.groups)}
    return tuple(sorted(rows, key=lambda row: (places[row.table], graph.index(row.variable))))


def _noise(result: LearnResult, weights: FloatArray, j: int, e: int) -> tuple[float, float]:
    """Variance and shift of a node's noise in a table, beside tables where it is no target."""
    q = -weights
    q[j] = 1.0
    name = result.graph.names[j]
    others = [
        table for k, table in enumerate(result.tables) if k != e and name not in table.targets
    ] or [table for k, table in enumerate(result.tables) if k != e]
    share = np.array([table.n_effective for table in others])
    share /= share.sum()

    def parts(moments: Moments) -> tuple[float, float]:
        mean = np.nan if moments.mean is None else q @ moments.mean
        return float(q @ moments.covariance @ q), float(mean)

    found = np.array([parts(table.moments) for table in others])
    centre = share @ found[:, 1]
    variance = share @ found[:, 0]
    if result.options.intercepts == "shared":
        variance += share @ (found[:, 1] - centre) ** 2
    own, level = parts(result.tables.tables[e].moments)
    return float(own / variance), float((level - centre) / np.sqrt(variance))


def target_table(rows: tuple[TargetRow, ...]) -> pd.DataFrame:
    """The rows as a table."""
    import pandas as pd

    columns = ["table", "variable", "target", "probability", "variance_ratio", "shift", "or_rather"]
    values = [(*vars(row).values(),) for row in rows]
    frame = pd.DataFrame(values, columns=columns)
    frame["or_rather"] = [", ".join(names) for names in frame["or_rather"]]
    return frame


def worth_saying(rows: tuple[TargetRow, ...]) -> list[TargetRow]:
    """Targets, and variables that are not excluded as targets."""
    return [row for row in rows if row.is_target or row.probability >= _WORTH_SAYING]


def targets_in_words(result: LearnResult) -> list[str]:
    """Targets of each table, with their probabilities; nothing where they were given."""
    if not result.options.is_unknown:
        return []
    lines = ["Targets, with probabilities given this graph and the other targets:"]
    rows = result.target_rows
    for name in result.tables.groups:
        own = [
            f"{row.variable} {row.probability:.2f}" + " (not taken)" * (not row.is_target)
            for row in worth_saying(rows)
            if row.table == name
        ]
        lines.append(f"  table {name}: {', '.join(own) or 'none'}")
    inside = dict.fromkeys(row.variable for row in rows if row.is_target and row.or_rather)
    if inside:
        lines.append(
            "Inside a feedback loop targets are known up to the class: "
            f"{', '.join(inside)} is told from a parent in the loop only by stability, as a turned "
            "cycle swaps their noises."
        )
    return lines
