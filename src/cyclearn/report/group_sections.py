"""Sections of numbers for several groups: weights side by side, fit and total effects of each."""

from __future__ import annotations

from math import isnan
from typing import cast

from cyclearn.drawing.markup import Markup, folded, join, number, table, tag
from cyclearn.models import FittedGroups, FittedModel
from cyclearn.report.findings import Findings
from cyclearn.report.fit_words import grade, verdict
from cyclearn.report.graph_section import arrow
from cyclearn.report.number_sections import interval, p_value, total_effects

# More columns than this are hard to read; every group has its own table below.
_MAX_COLUMNS = 12


def differences(fitted: FittedGroups) -> str:
    """One sentence: how many weights differ between groups."""
    tested = fitted.weights_by_group()["test"]
    n_tested, n_differing = int(tested["p_value"].notna().sum()), int(tested["differs"].sum())
    if not n_tested:
        return "No weight could be compared between groups."
    return f"{n_differing} of {n_tested} weights differ between groups."


def weights_by_group(found: Findings) -> Markup:
    """Every edge with its weight in each group, and whether these differ."""
    fitted = cast(FittedGroups, found.result.fitted)
    graph = found.graph
    if not graph.n_edges:
        return tag("p", "The learned graph has no edges, so there are no coefficients.")
    weights = fitted.weights_by_group()
    shown = list(fitted.models)[:_MAX_COLUMNS]
    rows = []
    for (a, b), (_, row) in zip(graph.edges, weights.iterrows(), strict=True):
        differs = "yes" if row["test", "differs"] else "no"
        rows.append(
            (
                arrow((a, b)),
                *(number(row["weight", name]) for name in shown),
                p_value(row["test", "p_value"]),
                "–" if isnan(row["test", "p_value"]) else differs,
                found.row_of[a, b].verdict,
            )
        )
    left = len(fitted.models) - len(shown)
    parts = [
        tag(
            "p",
            "A weight is the change of the effect, in its own units, when the cause changes by "
            "one unit and all other causes are fixed. Groups share the graph and have their own "
            "weights. Wald's test at the 5% level, corrected for the number of edges (Holm), "
            "decides whether weights differ; it is conditional on the graph.",
        ),
        table(
            "Weights by group" + (f", the first {len(shown)} groups" if left else ""),
            ("edge", *shown, "p-value", "differs", "in the class"),
            rows,
        ),
    ]
    parts += [
        folded(f"Group {name}", _summary(name, model)) for name, model in fitted.models.items()
    ]
    return join(parts)


def _summary(name: str, model: FittedModel) -> Markup:
    rows = [
        (
            parameter,
            number(row["estimate"]),
            number(row["std_error"]),
            interval(row["lower"], row["upper"]),
            p_value(row["p_value"]),
        )
        for parameter, row in model.summary().iterrows()
    ]
    head = ("parameter", "estimate", "standard error", "95% interval", "p-value")
    return table(f"Parameters of group {name}", head, rows)


def fit_by_group(found: Findings) -> Markup:
    """How well the graph fits each group."""
    rows = []
    for name, model in found.result.models.items():
        indices = model.fit_indices
        rows.append(
            (
                name,
                f"{model.n_samples:,}",
                number(indices.chi_square, 1),
                f"{indices.degrees_of_freedom:,}",
                p_value(indices.p_value),
                *(number(getattr(indices, key)) for key in ("rmsea", "cfi", "srmr")),
                grade("rmsea", indices.rmsea) or "–",
            )
        )
    words = {name: verdict(model.fit_indices) for name, model in found.result.models.items()}
    same = set(words.values())
    head = ("group", "rows", "chi-square", "df", "p-value", "RMSEA", "CFI", "SRMR", "by RMSEA")
    return join(
        [
            tag("p", f"In every group: {same.pop()}")
            if len(same) == 1
            else tag("ul", *(tag("li", f"Group {name}: {word}") for name, word in words.items())),
            table("Fit indices by group", head, rows),
        ]
    )


def effects_by_group(found: Findings) -> Markup:
    """Total effects in each group."""
    return join(folded(f"Group {name}", total_effects(found, name)) for name in found.result.models)
