"""Pairs for which a hidden common cause fits as well as an edge, or better."""

from __future__ import annotations

from cyclearn.drawing.markup import Markup, fill, fixed, join, table, tag
from cyclearn.report.findings import MAX_COMPARED, Findings
from cyclearn.report.graph_section import arrow
from cyclearn.results.hidden_causes import PairExplanation


def hidden_section(found: Findings) -> Markup:
    """The verdict for each adjacent pair: edge, hidden cause, or neither."""
    intro = tag(
        "p",
        "A common cause that is not in the table makes two variables correlated although "
        "neither acts on the other. For each pair, the edges between the two were replaced by "
        "such a cause, edges that became superfluous were removed, and the scores were "
        "compared. Most pairs cannot be distinguished in this way, which is evidence neither "
        "for the edge nor for the hidden cause.",
    )
    result = found.result
    if result.groups or result.lags or result.experiments is not None:
        what = "several groups" if result.groups else "tables with interventions"
        what = "rows given their past" if result.lags else what
        return join([intro, tag("p", f"This comparison is not available for {what}.")])
    if found.hidden is None:
        words = (
            "<p>This graph has more than $most edges, and the comparison was omitted to save "
            "time: <code>result.hidden_causes()</code> computes it.</p>"
        )
        return join([intro, fill(words, most=MAX_COMPARED)])
    if not found.hidden:
        return join([intro, tag("p", "The graph has no edges, so there is nothing to compare.")])
    ordered = sorted(found.hidden, key=lambda each: round(each.difference, 6))
    flagged = [each.warning for each in ordered if each.warning is not None]
    parts = [intro]
    if flagged:
        items = (tag("li", tag("strong", each.message)) for each in flagged)
        parts.append(tag("ul", *items, class_="warnings"))
    parts.append(
        table(
            "An edge or a hidden common cause, by the score (below zero: the hidden cause is "
            "better; less than 2.3 either way decides nothing)",
            ("pair", "edges", "what fits better", "difference", "then superfluous"),
            [_row(each) for each in ordered],
        )
    )
    return join(parts)


def _row(each: PairExplanation) -> tuple[str, ...]:
    difference = round(each.difference, 6) + 0.0
    return (
        f"{each.a}, {each.b}",
        ", ".join(map(arrow, each.learned)),
        each.verdict,
        fixed(difference, 1) if difference < float("inf") else "–",
        ", ".join(map(arrow, each.superfluous)) or "–",
    )
