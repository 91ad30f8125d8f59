"""What if: each variable held one standard deviation higher, over all equally good graphs."""

from __future__ import annotations

import numpy as np
import pandas as pd

from cyclearn.drawing.markup import Markup, fill, folded, join, number, table, tag
from cyclearn.report.findings import Findings
from cyclearn.report.number_sections import interval
from cyclearn.results.what_if import add_levels, estimated, prediction_table

# With more variables the page would be long; Python and the command line have no limit.
_MAX_VARIABLES = 20
# Changes smaller than this, in standard deviations, count as zero.
_NONE = 1e-9


def what_if_section(found: Findings) -> Markup:
    """For every variable, the predicted effect of holding it higher on the others."""
    result, graph = found.result, found.graph
    if result.groups:
        return fill(
            "<p>Each group has its own weights: <code>$example</code> predicts for one group.</p>",
            example=f"result.do({{{graph.names[0]!r}: 1.0}}, group={result.groups[0]!r})",
        )
    models = estimated(
        result.model, [model for member in found.listing.found.members for model in member.models]
    )
    if not models:
        return tag("p", "None of the graphs is stable, so there is nothing to predict.")
    shown = estimated(result.model, [result.model.model])[0]
    scale, levels = result.model.moments.scale, result.model.moments.levels
    parts, quiet = [], []
    for s in np.argsort(-graph.adjacency.sum(axis=1), kind="stable")[:_MAX_VARIABLES]:
        name = graph.names[s]
        held = {int(s): float(shown.model.mean[s] + scale[s])}
        predicted = prediction_table(shown, models, held, {})
        add_levels(predicted, levels)
        now = predicted["now"].to_numpy()
        changes = predicted[["smallest", "largest"]].sub(now, axis=0).div(scale, axis=0)
        moved = np.array(changes.abs().max(axis=1) > _NONE)
        moved[s] = False
        if not moved.any():
            quiet.append(name)
            continue
        caption = f"If {name} is held at {number(held[int(s)])}, one standard deviation higher"
        grid = _moved(caption, predicted[moved], len(models))
        parts.append(folded(f"If {name} is held higher", grid))
    if not parts:
        return tag("p", "In these graphs no variable affects another.")
    parts[0] = Markup(parts[0].replace("<details>", "<details open>", 1))
    words = [
        "A variable that is held keeps its value regardless of its causes. The means are those "
        'of the learned graph. "Over all graphs" gives the range of means that equally good '
        "graphs predict, without and with their intervals. Intervals are conditional on the "
        "graph."
    ]
    if levels:
        words.append(
            "Ordinal variables are on the scale of the underlying normal variables; if one "
            "changes, the last column has the probability of each of its levels."
        )
    if quiet:
        words.append(f"Holding {', '.join(quiet)} changes no other variable in any of the graphs.")
    return fill(
        "<p>$words</p>$parts<p>Other values, several variables, and shifts instead of holding: "
        "<code>$example</code> in Python, or <code>cyclearn effects</code>.</p>",
        words=" ".join(words),
        parts=join(parts),
        example=f"result.do({{{graph.names[0]!r}: 1.0}})",
    )


def _moved(caption: str, predicted: pd.DataFrame, n_models: int) -> Markup:
    """The variables that change, with their means before and after."""
    n_unsettled, has_levels = predicted.attrs["n_unsettled"], bool(predicted["levels"].any())
    if n_unsettled:
        caption += f" (in {n_unsettled} of {n_models} graphs the system then has no equilibrium)"
    rows = [
        (
            row.Index,
            number(row.now),
            number(row.mean),
            interval(row.lower, row.upper),
            interval(row.smallest, row.largest),
            interval(row.lowest, row.highest),
            *([row.levels] if has_levels else []),
        )
        for row in predicted.itertuples()
    ]
    columns = ("variable", "mean now", "mean then", "95% interval", "over all graphs")
    more = ("with intervals", *["levels then"] * has_levels)
    return table(caption, (*columns, *more), rows)
