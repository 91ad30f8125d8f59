"""Targets that were learned with the graph: which noises differ in which table."""

from __future__ import annotations

from cyclearn.drawing.markup import Markup, join, number, table, tag
from cyclearn.report.findings import Findings
from cyclearn.results.target_rows import targets_in_words, worth_saying


def targets_section(found: Findings) -> Markup:
    """Each learned target with its probability and difference; and which are not distinguished."""
    rows = [
        (
            row.table,
            row.variable,
            "yes" if row.target else "no",
            number(row.probability),
            number(row.variance_ratio),
            number(row.shift),
        )
        for row in worth_saying(found.result.target_rows)
    ]
    words = (
        "Tables share all weights. A target of a table is a variable whose noise has a different "
        "variance or mean in that table. Targets were not given; they were learned with the "
        "graph. Probabilities are conditional on this graph and the other targets."
    )
    if not rows:
        return tag("p", f"{words} No noise term differs.")
    columns = ("table", "variable", "target", "probability", "variance × ", "shift in sd")
    last = [line for line in targets_in_words(found.result) if line.startswith("Within")]
    return join([tag("p", words), table("Targets", columns, rows), *(tag("p", w) for w in last)])
