"""How probable statements are, given the data: by a posterior, by a bootstrap, or how to ask."""

from __future__ import annotations

from itertools import combinations

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
    posterior = (
        "With <code>posterior=True</code> in Python (<code>--posterior</code> on the command line) "
        "graphs are drawn by how probable they are, and this section and the picture say how "
        "probable each edge is. "
    )
    return Markup(
        f"<p>Nobody asked yet. {posterior * takes_posterior}With <code>bootstrap=100</code> "
        "(<code>--bootstrap 100</code>) the graph is learned again from 100 resamples, and they "
        "say how often each edge came out.</p>"
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
    problem = found.warning
    if not found.is_determined:
        assert problem is not None
        return tag("p", f"Not determined. {problem.message} {problem.page_remedy}")
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
            ("edge", "probability", "joined, either way", "in one feedback loop"),
            rows,
            numbers=(1, 2, 3),
        ),
    ]
    if pairs := _feedback(found):
        likely = [(words, fixed(value, 2)) for value, words in pairs[:_MAX_ROWS]]
        columns = ("pair", "probability")
        parts.append(table("Feedback between two variables", columns, likely, numbers=(1,)))
    classes = [
        (
            ", ".join(map(arrow, each.equivalence_class.representative.edges)) or "no edge",
            fixed(each.probability, 2),
        )
        for each in found.classes()[:_MAX_CLASSES]
    ]
    caption = "The most probable classes of equivalent graphs"
    parts.append(table(caption, ("a graph of the class", "probability"), classes, numbers=(1,)))
    return join(parts)


def _feedback(found: Posterior) -> list[tuple[float, str]]:
    """How probable feedback between two variables is, the most probable first, and the two."""
    loops = found.feedback_probabilities()
    pairs = combinations(range(len(found.names)), 2)
    likely = [(float(loops.iat[pair]), pair) for pair in pairs if loops.iat[pair] >= _RARE]
    named = [(value, f"{found.names[i]}, {found.names[j]}") for value, (i, j) in likely]
    return sorted(named, key=lambda each: (-each[0], each[1]))
