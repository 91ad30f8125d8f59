"""The learned loops and their rivals: no feedback, hidden causes, smaller loops."""

from __future__ import annotations

from cyclearn.drawing.markup import Markup, fixed, join, table, tag
from cyclearn.report.findings import Findings
from cyclearn.report.graph_section import arrow
from cyclearn.results.rivals import BOUNDARIES, Rival


def rivals_section(found: Findings) -> Markup:
    """The evidence for the loops, in words and numbers."""
    rivals = found.rivals
    if rivals is None:
        return Markup(
            "<p>The comparison was omitted to save time; <code>result.rivals()</code> computes "
            "it.</p>"
        )
    sentences = [*(each.in_words for each in rivals), *rivals.notes, BOUNDARIES]
    return join(
        [
            tag("p", " ".join(sentences)),
            table(
                "Other graphs for the same data, the best one found of each kind (above zero: "
                "worse than the learned graph)",
                ("rival", "difference", "evidence", "hidden causes", "edges added", "removed"),
                [_row(each) for each in rivals],
            ),
        ]
    )


def _row(each: Rival) -> tuple[str, ...]:
    return (
        each.title,
        fixed(each.difference, 1),
        each.evidence,
        "; ".join(", ".join(hidden) for hidden in each.hidden) or "–",
        ", ".join(map(arrow, each.added)) or "–",
        ", ".join(map(arrow, each.removed)) or "–",
    )
