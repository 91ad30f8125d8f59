"""How often statements came out when the graph was learned again from resamples."""

from __future__ import annotations

from cyclearn.drawing.markup import Markup, join, table, tag
from cyclearn.learning import BootstrapResult
from cyclearn.report.graph_section import arrow

_MAX_ROWS = 40
_MAX_CYCLES = 12


def bootstrap_section(found: BootstrapResult | None) -> Markup:
    """Edges and feedback over resamples, or how to have them."""
    if found is None:
        return tag(
            "p",
            "No resamples were drawn. With ",
            tag("code", "--bootstrap 100"),
            " (or ",
            tag("code", "bootstrap=100"),
            " in Python) the graph is learned again from 100 resamples, and this section says how "
            "often each edge and each feedback loop came out.",
        )
    edges = found.edges
    rows = [
        (
            arrow((row.source, row.target)),
            _share(row.frequency),
            _share(row.compelled),
            _share(row.possible),
        )
        for row in edges.head(_MAX_ROWS).itertuples()
    ]
    drawn = {
        "rows": "rows drawn with replacement",
        "blocks": "blocks of neighbouring rows drawn with replacement",
        "half": "half of the rows",
        "groups": "groups drawn with replacement",
        "parametric": "draws from a Gaussian distribution with the covariance of the data",
    }[found.kind]
    parts = [
        tag(
            "p",
            f"The graph was learned again from {found.n_resamples:,} resamples ({drawn}). An edge "
            "that came out often is no accident of these rows; whether its direction can be told "
            "is a second question, which the share of resamples with the edge in every graph of "
            "the class answers.",
        )
    ]
    if found.n_failed:
        parts.append(tag("p", f"{found.n_failed:,} more resamples led to no graph."))
    caption = "Share of resamples with an edge"
    if len(edges) > _MAX_ROWS:
        caption += f", the {_MAX_ROWS} most frequent of {len(edges):,}"
    columns = (
        "edge",
        "in the learned graph",
        "in every graph of its class",
        "in some of its class",
    )
    parts.append(table(caption, columns, rows, numbers=(1, 2, 3)))
    cycles = found.cycles.head(_MAX_CYCLES)
    if len(cycles):
        loops = [
            (" → ".join([*row.cycle, row.cycle[0]]), _share(row.frequency))
            for row in cycles.itertuples()
        ]
        parts.append(
            table(
                "The most frequent feedback loops",
                ("loop", "share of resamples"),
                loops,
                numbers=(1,),
            )
        )
    return join(parts)


def _share(value: float) -> str:
    return f"{value:.0%}"
