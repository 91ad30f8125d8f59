"""How probable statements are, given the data: by a posterior, by a bootstrap, or how to ask."""

from __future__ import annotations

from cyclearn.drawing.markup import Markup, fixed, join, table, tag
from cyclearn.posterior import Posterior
from cyclearn.report.bootstrap_section import bootstrap_section
from cyclearn.report.findings import Findings
from cyclearn.report.graph_section import arrow

_MAX_ROWS = 40
_MAX_CLASSES = 8
# Feedback between two variables that is less probable than this is not listed.
_RARE = 0.05


def evidence_section(found: Findings) -> Markup:
    """The posterior and the bootstrap, or how to have them."""
    result = found.result
    if result.posterior is None and result.bootstrap is None:
        return _how_to_ask(takes_posterior=result.experiments is None)
    parts = []
    if result.posterior is not None:
        parts.append(_posterior(result.posterior))
    if result.bootstrap is not None:
        if parts:
            parts.append(tag("h3", "How often it comes out of resamples"))
        parts.append(bootstrap_section(result.bootstrap))
    return join(parts)


def _how_to_ask(*, takes_posterior: bool) -> Markup:
    posterior: tuple[Markup | str, ...] = (
        "With ",
        tag("code", "posterior=True"),
        " in Python (",
        tag("code", "--posterior"),
        " on the command line) graphs are drawn by how probable they are, and this section and "
        "the picture say how probable each edge is. ",
    )
    return tag(
        "p",
        "Nobody asked yet. ",
        *(posterior if takes_posterior else ()),
        "With ",
        tag("code", "bootstrap=100"),
        " (",
        tag("code", "--bootstrap 100"),
        ") the graph is learned again from 100 resamples, and they say how often each edge "
        "came out.",
    )


def _posterior(found: Posterior) -> Markup:
    edges = found.edge_table()
    rows = [
        (
            arrow((row.source, row.target)),
            fixed(row.probability, 2),
            fixed(row.adjacent, 2),
            fixed(row.feedback, 2),
        )
        for row in edges.head(_MAX_ROWS).itertuples()
    ]
    caption = "Edges, the most probable first"
    if len(edges) > _MAX_ROWS:
        caption += f", {_MAX_ROWS} of {len(edges):,}"
    loops = found.feedback_probabilities()
    names = found.names
    pairs = sorted(
        (
            (float(loops.iat[i, j]), f"{names[i]}, {names[j]}")
            for i in range(len(names))
            for j in range(i + 1, len(names))
            if loops.iat[i, j] >= _RARE
        ),
        key=lambda each: (-each[0], each[1]),
    )
    best, problem = found.classes()[:_MAX_CLASSES], found.warning
    parts = [
        tag(
            "p",
            f"{found.n_samples:,} graphs were drawn by how probable they are, given these data and "
            f"a price of {fixed(found.penalty, 2)} for an edge. A probability weighs both: what "
            "equally good graphs leave open, and what these data leave open. The price need not be "
            "that of the search above.",
        ),
        tag("p", "" if problem is None else f"{problem.message} {problem.page_remedy}"),
        table(
            caption,
            ("edge", "probability", "joined, either way", "in one feedback group"),
            rows,
            numbers=(1, 2, 3),
        ),
    ]
    if pairs:
        parts.append(
            table(
                "Feedback between two variables",
                ("pair", "probability"),
                [(words, fixed(value, 2)) for value, words in pairs[:_MAX_ROWS]],
                numbers=(1,),
            )
        )
    parts.append(
        table(
            "The most probable classes of equivalent graphs",
            ("a graph of the class", "probability"),
            [
                (
                    ", ".join(map(arrow, each.equivalence_class.representative.edges)) or "no edge",
                    fixed(each.probability, 2),
                )
                for each in best
            ],
            numbers=(1,),
        )
    )
    return join(parts)
