"""What if: each variable held one standard deviation higher, over all equally good graphs."""

from __future__ import annotations

import numpy as np

from cyclearn.drawing.markup import Markup, join, number, table, tag
from cyclearn.report.findings import Findings
from cyclearn.results.what_if import estimated, prediction_table

# More variables than this make a long page; Python and the command line answer for any.
_MAX_VARIABLES = 20
# Changes smaller than this, in standard deviations, are none.
_NONE = 1e-9


def what_if_section(found: Findings) -> Markup:
    """For every variable: what holding it higher is predicted to do to the others."""
    result, graph = found.result, found.graph
    if result.groups:
        return tag(
            "p",
            "Groups have weights of their own: ",
            tag("code", f"result.do({{{graph.names[0]!r}: 1.0}}, group={result.groups[0]!r})"),
            " predicts for one of them.",
        )
    models = estimated(
        result.model, [model for member in found.listing.found.members for model in member.models]
    )
    if not models:
        return tag("p", "None of the graphs is stable, so that there is nothing to predict.")
    shown = estimated(result.model, [result.model.model])[0]
    scale = result.model.moments.scale
    parts, quiet = [], []
    for s in np.argsort(-graph.adjacency.sum(axis=1), kind="stable")[:_MAX_VARIABLES]:
        name = graph.names[s]
        held = {int(s): float(shown.model.mean[s] + scale[s])}
        predicted = prediction_table(shown, models, held, {})
        now = predicted["now"].to_numpy()
        changes = predicted[["smallest", "largest"]].sub(now, axis=0).div(scale, axis=0)
        moved = np.array(changes.abs().max(axis=1) > _NONE)
        moved[s] = False
        if not moved.any():
            quiet.append(name)
            continue
        rows = [
            (
                row.Index,
                number(row.now),
                number(row.mean),
                _interval(row.lower, row.upper),
                _interval(row.smallest, row.largest),
                _interval(row.lowest, row.highest),
            )
            for row in predicted[moved].itertuples()
        ]
        n_unsettled = predicted.attrs["n_unsettled"]
        caption = f"If {name} is held at {number(held[int(s)])}, one standard deviation higher"
        if n_unsettled:
            caption += f" (in {n_unsettled} of {len(models)} the system does not settle then)"
        columns = ("variable", "mean now", "mean then", "95% interval", "over all graphs")
        grid = table(caption, (*columns, "with intervals"), rows, numbers=(1, 2, 3, 4, 5))
        parts.append(tag("details", tag("summary", f"If {name} is held higher"), grid))
    if not parts:
        return tag("p", "By these graphs no variable acts on another.")
    parts[0] = Markup(parts[0].replace("<details>", "<details open>", 1))
    example = f"result.do({{{graph.names[0]!r}: 1.0}})"
    words = [
        "A variable that is held keeps its value whatever its causes say. Means then are by the "
        "learned graph; over all graphs: from the smallest to the largest mean that equally good "
        "graphs predict, and with the intervals of all of them. Intervals take the graphs as given."
    ]
    if quiet:
        words.append(f"Holding {', '.join(quiet)} moves nothing in any of the graphs.")
    return join(
        [
            tag("p", " ".join(words)),
            *parts,
            tag(
                "p",
                "Other values, several variables, and pushes instead of holding: ",
                tag("code", example),
                " in Python, or ",
                tag("code", "cyclearn effects"),
                ".",
            ),
        ]
    )


def _interval(low: float, high: float) -> str:
    if np.isnan(low) or np.isnan(high):
        return "–"
    return f"{number(low)} to {number(high)}" if number(low) != number(high) else number(low)
