"""Labels with the weights of edges."""

from __future__ import annotations

from cyclearn.drawing.markup import number
from cyclearn.results.edge_rows import EdgeRow
from cyclearn.results.result import LearnResult

# Maximum number of groups whose weights fit next to an edge.
_MAX_NAMED = 3


def weights_in_words(result: LearnResult, row: EdgeRow, *, standardised: bool = True) -> str:
    """The weight of an edge of the graph shown, for its label in a picture.

    If signs differ between groups, the weight of each group, or the range for many groups.
    """
    if not row.signs_differ:
        return number(row.standardised if standardised else row.weight, 2)
    i, j = map(result.graph.index, row.edge)
    weights = {
        name: float((model.standardised_weights if standardised else model.B)[i, j])
        for name, model in result.models.items()
    }
    if len(weights) <= _MAX_NAMED:
        return ", ".join(f"{name}: {number(weight, 2)}" for name, weight in weights.items())
    return f"{number(min(weights.values()), 2)} to {number(max(weights.values()), 2)}"
