"""Total effects over the graphs of the class."""

from __future__ import annotations

import numpy as np

from cyclearn.drawing.markup import Markup, fill, number, table, tag
from cyclearn.report.findings import Findings
from cyclearn.report.graph_section import arrow

_MAX_ROWS = 40
# Effects smaller than this, in standard deviations, count as zero.
_NONE = 1e-9


def class_effects_section(found: Findings) -> Markup:
    """For every pair of variables, the range of total effects over the stable members."""
    listed = found.listing.found
    models = [model for member in listed.members for model in member.models]
    n_stable = sum(member.is_stable for member in listed.members)
    if n_stable == 0:
        return tag("p", "None of the listed graphs is stable, so total effects do not exist.")
    if len(models) == 1:
        return tag(
            "p",
            "Only one of the listed graphs is stable, with one set of coefficients: the total "
            "effects above are the only ones.",
        )
    graph = found.graph
    p = graph.n_nodes
    effects = np.array([model.total_effects().to_numpy() for model in models])
    scale = found.scale
    standard = effects * scale[:, None] / scale
    standard[:, np.eye(p, dtype=bool)] = 0
    size = np.abs(standard).max(axis=0)
    order = [int(n) for n in np.argsort(-size, axis=None, kind="stable") if size.flat[n] > _NONE]
    rows = []
    for n in order[:_MAX_ROWS]:
        i, j = divmod(n, p)
        values = standard[:, i, j]
        rows.append(
            (
                arrow((graph.names[i], graph.names[j])),
                number(float(effects[:, i, j].min())),
                number(float(effects[:, i, j].max())),
                f"{np.mean(np.abs(values) > _NONE):.0%}",
                _verdict(values),
            )
        )
    if not rows:
        return tag("p", "No variable affects another in any graph that fits equally well.")
    caption = f"Total effects over {n_stable:,} stable graphs"
    if len(order) > len(rows):
        caption += f", the {len(rows)} strongest of {len(order):,}"
    which = {
        "all": "all stable graphs that fit equally well",
        "sampled": "the stable ones among graphs drawn at random from those that fit equally well",
        "first": "the stable ones among the listed graphs, which are not a random sample",
    }[listed.selection]
    columns = ("cause and effect", "smallest", "largest", "not zero in", "sign")
    return fill(
        "<p>This table gives total effects over $which. Each graph has its best-fitting "
        "coefficients, and an effect holds if that graph is true.</p>$table<p>In Python, "
        "<code>$example</code> lists the effect for each graph.</p>",
        which=which,
        table=table(caption, columns, rows),
        example=f"result.effects({graph.names[order[0] // p]!r}, {graph.names[order[0] % p]!r})",
    )


def _verdict(values: np.ndarray) -> str:
    """What the graphs agree on, in words.

    Examples
    --------
    >>> [_verdict(np.array(v)) for v in ([0.1, 0.4], [-0.1, -0.2], [0.0, 0.4], [-0.1, 0.4])]
    ['positive in all', 'negative in all', 'positive or none', 'sign not determined']
    """
    low, high = values.min(), values.max()
    if low > _NONE:
        return "positive in all"
    if high < -_NONE:
        return "negative in all"
    if low >= -_NONE:
        return "positive or none"
    return "negative or none" if high <= _NONE else "sign not determined"
