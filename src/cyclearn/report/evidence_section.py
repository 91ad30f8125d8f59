"""The probability of statements, by a posterior or a bootstrap, or how to compute them."""

from __future__ import annotations

from itertools import combinations

from cyclearn.drawing.markup import Markup, fixed, join, table, tag
from cyclearn.posterior import Posterior
from cyclearn.report.bootstrap_section import bootstrap_section
from cyclearn.report.findings import Findings
from cyclearn.report.graph_section import arrow

_MAX_ROWS = 40
_COLUMNS = ["source", "target", "probability", "adjacent", "feedback"]
_MAX_CLASSES = 8
# Feedback between two variables is listed from this probability on.
_RARE = 0.05


def evidence_section(found: Findings) -> Markup:
    """The posterior and the bootstrap, or how to compute them."""
    result = found.result
    if result.posterior is None and result.bootstrap is None:
        return _how_to_ask(takes_posterior=not result.options.is_unknown)
    parts = []
    if result.posterior is not None:
        parts.append(_posterior(result.posterior))
    if result.bootstrap is not None:
        if parts:
            parts.append(tag("h3", "How often edges occur in resamples"))
        parts.append(bootstrap_section(result.bootstrap))
    return join(parts)


def _how_to_ask(*, takes_posterior: bool) -> Markup:
    posterior = (
        "<code>posterior=True</code> in Python (the default on the command line) computes the "
        "probability of each edge and adds it to this section and to the picture. "
    )
    return Markup(
        f"<p>Not computed. {posterior * takes_posterior}<code>bootstrap=100</code> "
        "(<code>--bootstrap 100</code>) learns the graph again from 100 resamples and counts "
        "how often each edge occurs.</p>"
    )


def _posterior(found: Posterior) -> Markup:
    edges = found.edge_table()
    rows = [
        (arrow(row[:2]), *(fixed(share, 2) for share in row[2:]))
        for row in edges[_COLUMNS].head(_MAX_ROWS).itertuples(index=False)
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
            f"{found.n_samples:,} graphs were sampled in proportion to their probability, given "
            f"these data and a penalty of {fixed(found.penalty, 2)} per edge. The probabilities "
            "account for two kinds of uncertainty: between graphs that fit equally well, and "
            "from the limited data. The penalty may differ from that of the search above.",
        ),
        tag("p", "" if problem is None else f"{problem.message} {problem.page_remedy}"),
        table(caption, ("edge", "probability", "adjacent", "in one feedback loop"), rows),
    ]
    if pairs := _feedback(found):
        likely = [(words, fixed(value, 2)) for value, words in pairs[:_MAX_ROWS]]
        columns = ("pair", "probability")
        parts.append(table("Feedback between two variables", columns, likely))
    classes = [
        (
            ", ".join(map(arrow, each.equivalence_class.representative.edges)) or "no edge",
            fixed(each.probability, 2),
        )
        for each in found.classes()[:_MAX_CLASSES]
    ]
    caption = "The most probable classes of equivalent graphs"
    parts.append(table(caption, ("a graph of the class", "probability"), classes))
    return join(parts)


def _feedback(found: Posterior) -> list[tuple[float, str]]:
    """Pairs of variables by the probability of feedback between them, largest first."""
    loops = found.feedback_probabilities()
    pairs = combinations(range(len(found.names)), 2)
    likely = [(float(loops.iat[pair]), pair) for pair in pairs if loops.iat[pair] >= _RARE]
    named = [(value, f"{found.names[i]}, {found.names[j]}") for value, (i, j) in likely]
    return sorted(named, key=lambda each: (-each[0], each[1]))
