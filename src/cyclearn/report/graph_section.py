"""The learned graph as a picture, and how much of it all equally good graphs share."""

from __future__ import annotations

from collections.abc import Iterable

from cyclearn.classes.class_statements import OPTIONAL, TURNS
from cyclearn.drawing.edge_labels import weights_in_words
from cyclearn.drawing.layout import backbone, is_thicket, lay_out
from cyclearn.drawing.markup import Markup, join, table, tag
from cyclearn.drawing.svg_graph import DrawnEdge, graph_svg, legend
from cyclearn.graphs.directed_graph import Edge
from cyclearn.report.findings import Findings
from cyclearn.results.edge_rows import EdgeRow, PairVerdict, agreement_in_words

# With more labels than this they overlap; the table has the numbers.
_MAX_LABELS = 40
_WIDTHS = 0.045, 0.16


def arrow(edge: Edge) -> str:
    """An edge in one line."""
    return f"{edge[0]} → {edge[1]}"


def picture(found: Findings) -> Markup:
    """The drawn graph with its legend."""
    graph = found.graph
    first = backbone(graph, found.standardised)
    is_whole = first.n_edges == graph.n_edges
    labelled = graph.n_edges <= _MAX_LABELS
    edges = []
    for row in found.result.edge_rows:
        if not row.in_graph:
            continue
        sign = "negative" if row.standardised < 0 else "positive"
        more = "" if first.has_edge(*row.edge) else " weak"
        words = weights_in_words(found.result, row)
        about = [f"{arrow(row.edge)}: {words}", _verdict_in_words(found, row)]
        edges.append(
            DrawnEdge(
                *row.edge,
                classes=("differing" if row.signs_differ else sign) + more,
                width=line_width(row.standardised),
                open_head=row.edge not in found.shared,
                label=words + _likelihood(row) if labelled else "",
                title=", ".join(filter(None, [*about, row.evidence])),
            )
        )
    groups = "; ".join(", ".join(nodes) for nodes in found.loops)
    drawn = graph_svg(
        graph,
        lay_out(first, also=graph.edges),
        edges,
        identifier="learned-graph",
        title="The learned graph",
        description=f"{graph.n_nodes} variables and {graph.n_edges} edges. "
        + (f"Feedback loops: {groups}. " if groups else "No feedback. ")
        + "The table of coefficients lists the edges.",
    )
    note = (
        "Numbers and widths are standardised weights: the change of the effect, in standard "
        "deviations, for one standard deviation of the cause, with all else fixed."
        + _likelihood_note(found)
        if labelled
        else "Widths are standardised weights; the table of coefficients has the numbers. Point at "
        "an edge to read its weight."
    )
    if is_thicket(first):
        note += (
            " The variables are arranged on a circle because many edges cross; causes come "
            "before effects clockwise from the top, and feedback loops are not framed."
        )
    if len(found.result.groups) > 1:
        note += " They are means over the groups, except where groups have opposite signs."
    every = tag(
        "label",
        tag("input", type="checkbox", class_="every-edge"),
        f" show all {graph.n_edges:,} edges, not only the {first.n_edges:,} strongest",
    )
    return tag(
        "figure",
        "" if is_whole else tag("p", every),
        tag("div", drawn, class_="canvas", tabindex="0", role="group", aria_label="Learned graph"),
        tag("figcaption", _legend(found), tag("p", note)),
    )


def _legend(found: Findings) -> Markup:
    strong, weak = line_width(0.9), line_width(0.1)
    items = [
        ("positive", "positive: both change in the same direction", False, line_width(0.5)),
        ("negative", "negative: they change in opposite directions", False, line_width(0.5)),
        ("neutral", "strong", False, strong),
        ("neutral", "weak", False, weak),
    ]
    if any(row.signs_differ for row in found.result.edge_rows):
        items.append(("differing", "positive in some groups, negative in others", False, weak))
    if not found.shared.issuperset(found.graph.edges):
        items.append(("neutral", "open head: not in all graphs that fit equally well", True, weak))
    shaded = [tag("li", tag("span", class_="swatch"), " feedback loop")] if found.loops else []
    return legend(*items, further=shaded)


def line_width(weight: float) -> float:
    """How wide the line of an edge is drawn, by its standardised weight."""
    low, high = _WIDTHS
    return low + (high - low) * min(abs(weight), 1.0)


def _likelihood(row: EdgeRow) -> str:
    """The probability of the edge, shown next to its weight; empty if not computed."""
    value = row.resamples if row.probability is None else row.probability
    return "" if value is None else f" ({value:.0%})"


def _likelihood_note(found: Findings) -> str:
    if found.result.posterior is not None:
        return " In brackets: the probability of the edge, given these data."
    if found.result.bootstrap is not None:
        return " In brackets: the share of resamples with the edge."
    return ""


def _verdict_in_words(found: Findings, row: EdgeRow) -> str:
    if row.edge in found.shared:
        return "in all graphs that fit equally well"
    return found.pair_of[row.edge].chances(row.edge)


def verdicts(found: Findings) -> Markup:
    """What all graphs that fit equally well share, and what differs between them."""
    turning = [p for p in found.result.verdicts if p.verdict == TURNS]
    going = [p for p in found.result.verdicts if p.verdict == OPTIONAL]
    parts = [tag("p", _who_agrees(found)), tag("p", _NOT_PROBABLE, class_="note"), _shared(found)]
    parts += _shared_if_stable(found)
    if turning:
        parts += [
            tag("h3", f"Direction differs ({len(turning)})"),
            tag("p", "These pairs are adjacent in all of the graphs, but the direction differs."),
            _pair_table("Pairs whose direction differs", turning),
        ]
    if going:
        parts += [
            tag("h3", f"In some of the graphs ({len(going)})"),
            tag("p", "These pairs have an edge in some of the graphs and none in others."),
            _pair_table("Pairs with an edge in some of the graphs", going),
        ]
    return join(parts)


_NOT_PROBABLE = (
    "This section describes how far graphs that fit equally well agree. It does not give the "
    "probability of an edge: there may be too few data, and all of the graphs may lack a cause."
)


def _who_agrees(found: Findings) -> str:
    agreeing = " that agree with the knowledge" if found.has_knowledge else ""
    ties = found.result.alternatives
    if found.size == 1:
        return agreement_in_words(found.result)
    many = found.size_in_words
    words = f"{many[:1].upper()}{many[1:]} graphs{agreeing} fit these data equally well."
    if found.result.experiments is not None:
        return f"{words} There may be others."
    if not ties:
        return words + (
            " They generate exactly the same distributions, so no amount of observational data "
            "can choose between them. An experiment or further knowledge can."
        )
    return words + (
        f" They belong to {len(ties) + 1:,} classes. Graphs of one class generate exactly the "
        "same distributions, so no amount of observational data can choose between them. The "
        "classes have the same score on these data, and other data could distinguish them."
    )


def _shared(found: Findings) -> Markup:
    edges = _in_order(found, found.shared)
    title = tag("h3", f"In every equally good graph ({len(edges)})")
    if not edges:
        return join([title, tag("p", "No edge is in every one of the graphs.")])
    items = join(tag("li", arrow(edge)) for edge in edges)
    which = "The graph" if found.size == 1 else "All of the graphs"
    note = tag("p", f"{which} {'has' if found.size == 1 else 'have'} these edges.")
    return join([title, note, tag("ul", items, class_="edges")])


def _shared_if_stable(found: Findings) -> list[Markup]:
    """Edges that all stable graphs share; only if all graphs were examined."""
    stable = [set(member.graph.edges) for member in found.members if member.is_stable]
    if found.listing.found.selection != "all" or not stable or len(stable) == len(found.members):
        return []
    more = _in_order(found, set.intersection(*stable) - found.shared)
    words = (
        f"If a shock to the system dies out, only {len(stable):,} of the {len(found.members):,} "
        f"graph{'s' * (len(found.members) != 1)} can be true: with these data the feedback of "
        "the others would grow without limit."
    )
    if not more:
        return [tag("p", words, " They share no further edge.")]
    items = join(tag("li", arrow(edge)) for edge in more)
    return [
        tag("h3", f"In every stable one ({len(more)})"),
        tag("p", words, " All of these have these edges as well."),
        tag("ul", items, class_="edges"),
    ]


def _in_order(found: Findings, edges: Iterable[Edge]) -> list[Edge]:
    """Edges in the order of the columns of the data."""
    index = found.graph.index
    return sorted(edges, key=lambda edge: (index(edge[0]), index(edge[1])))


def _pair_table(caption: str, pairs: list[PairVerdict]) -> Markup:
    counted = [(p, p.counts) for p in pairs if p.counts is not None]
    if len(counted) < len(pairs):
        rows: list[tuple[str, ...]] = [
            (
                f"{p.a}, {p.b}",
                ", ".join(map(arrow, p.possible_edges)),
                ", ".join(map(arrow, p.shared_edges)) or "–",
                "yes" if p.can_vanish else "no",
            )
            for p in pairs
        ]
        columns: tuple[str, ...] = ("pair", "in some", "in every", "not adjacent in some")
        return table(caption, columns, rows)
    counted.sort(key=lambda each: each[1][3])
    rows = [
        (
            f"{p.a}, {p.b}",
            *(
                _count(count, words, sum(counts))
                for count, words in zip(
                    counts,
                    (arrow((p.a, p.b)), arrow((p.b, p.a)), f"{p.a} ⇄ {p.b}", "no edge"),
                    strict=True,
                )
            ),
        )
        for p, counts in counted
    ]
    columns = ("pair", "one way", "the other way", "both ways", "not joined")
    return table(f"{caption}, with the number of graphs", columns, rows)


def _count(count: int, words: str, size: int) -> str:
    if count == 0:
        return "–"
    shown = f"{count:,}" if size < 10**6 else f"{count / size:.0%}"
    return f"{words}: {shown}"
