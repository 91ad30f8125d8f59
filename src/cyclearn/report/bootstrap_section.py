"""How often statements hold for graphs learned from resamples."""

from __future__ import annotations

from cyclearn.drawing.markup import Markup, join, table, tag
from cyclearn.report.graph_section import arrow
from cyclearn.results import BootstrapResult

_MAX_ROWS = 40
_MAX_CYCLES = 12
_COLUMNS = ["source", "target", "frequency", "compelled", "possible"]


def bootstrap_section(found: BootstrapResult) -> Markup:
    """Edges and feedback over resamples."""
    edges = found.edges
    rows = [
        (arrow(row[:2]), *(f"{share:.0%}" for share in row[2:]))
        for row in edges[_COLUMNS].head(_MAX_ROWS).itertuples(index=False)
    ]
    drawn = {
        "rows": "rows drawn with replacement",
        "blocks": "blocks of neighbouring rows drawn with replacement",
        "half": "half of the rows",
        "groups": "groups drawn with replacement",
        "parametric": "draws from a Gaussian distribution with the covariance of the data",
    }[found.resampling]
    parts = [
        tag(
            "p",
            f"The graph was learned again from {found.n_resamples:,} resamples ({drawn}). An "
            'edge that occurs in most resamples does not depend on a few rows. The column "in '
            'all equivalent graphs" also takes into account whether equivalent graphs have '
            "the edge.",
        )
    ]
    if found.n_failed:
        parts.append(tag("p", f"{found.n_failed:,} further resamples gave no graph."))
    caption = "Share of resamples with an edge"
    if len(edges) > _MAX_ROWS:
        caption += f", the {_MAX_ROWS} most frequent of {len(edges):,}"
    columns = ("edge", "in the learned graph", "in all equivalent graphs", "in some of them")
    parts.append(table(caption, columns, rows))
    cycles = found.cycles.head(_MAX_CYCLES)
    if len(cycles):
        loops = [
            (" → ".join([*row.cycle, row.cycle[0]]), f"{row.frequency:.0%}")
            for row in cycles.itertuples()
        ]
        names = ("loop", "share of resamples")
        parts.append(table("The most frequent feedback loops", names, loops))
    return join(parts)
