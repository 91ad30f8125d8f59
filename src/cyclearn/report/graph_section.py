"""The learned graph as a picture, and how much of it all members of its class share."""

from __future__ import annotations

from collections.abc import Iterable

from cyclearn.drawing.layout import lay_out
from cyclearn.drawing.markup import Markup, join, number, table, tag
from cyclearn.drawing.svg_graph import DrawnEdge, graph_svg, legend
from cyclearn.graphs.directed_graph import Edge
from cyclearn.learning.verdicts import PairVerdict
from cyclearn.report.findings import Findings

# More labels than this cover each other; the table has the numbers.
_MAX_LABELS = 40
_WIDTHS = 0.045, 0.16


def arrow(edge: Edge) -> str:
    """An edge in one line."""
    return f"{edge[0]} → {edge[1]}"


def picture(found: Findings) -> Markup:
    """The drawn graph with its legend."""
    graph = found.graph
    labelled = graph.n_edges <= _MAX_LABELS
    edges = []
    for a, b in graph.edges:
        weight = float(found.standardised[graph.index(a), graph.index(b)])
        is_certain = (a, b) in found.certain
        words = "in every graph of the class" if is_certain else found.pair_of[a, b].chances((a, b))
        edges.append(
            DrawnEdge(
                a,
                b,
                classes="negative" if weight < 0 else "positive",
                width=line_width(weight),
                open_head=not is_certain,
                label=number(weight, 2) if labelled else "",
                title=f"{a} → {b}: {number(weight, 2)}, {words}",
            )
        )
    groups = "; ".join(", ".join(nodes) for nodes in found.loops)
    drawn = graph_svg(
        graph,
        lay_out(graph),
        edges,
        identifier="learned-graph",
        title="The learned graph",
        description=f"{graph.n_nodes} variables and {graph.n_edges} edges. "
        + (f"Feedback groups: {groups}. " if groups else "No feedback. ")
        + "The table of coefficients lists the edges.",
    )
    strong, weak = line_width(0.9), line_width(0.1)
    items = [
        ("positive", "positive: both move the same way", False, line_width(0.5)),
        ("negative", "negative: they move in opposite ways", False, line_width(0.5)),
        ("neutral", "strong", False, strong),
        ("neutral", "weak", False, weak),
    ]
    if not found.certain.issuperset(graph.edges):
        items.append(("neutral", "open head: not in every graph of the class", True, weak))
    note = (
        "Numbers and widths are standardised weights: standard deviations of the effect for one "
        "of the cause, all else held fixed."
        if labelled
        else "Widths are standardised weights; the table of coefficients has the numbers. Point at "
        "an edge to read its weight."
    )
    if len(found.result.groups) > 1:
        note += " They are means over the groups."
    shaded = [tag("li", tag("span", class_="swatch"), " feedback group")] if found.loops else []
    marks = legend(*items, further=shaded)
    return tag(
        "figure",
        tag("div", drawn, class_="canvas", tabindex="0", role="group", aria_label="Learned graph"),
        tag("figcaption", marks, tag("p", note)),
    )


def line_width(weight: float) -> float:
    """How wide the line of an edge is drawn, by its standardised weight."""
    low, high = _WIDTHS
    return low + (high - low) * min(abs(weight), 1.0)


def standing(found: Findings, edge: Edge) -> str:
    """How sure one edge of the learned graph is: certain, can turn, comes and goes."""
    return "certain" if edge in found.certain else found.pair_of[edge].kind


def verdicts(found: Findings) -> Markup:
    """What is certain, what can turn, what can come and go."""
    certain = _in_order(found, found.certain)
    turning = [p for p in found.pairs if p.kind == "can turn"]
    going = [p for p in found.pairs if p.kind == "comes and goes"]
    agreeing = " that agree with the knowledge" if found.has_knowledge else ""
    if found.size == 1:
        intro = tag(
            "p",
            f"No other graph{' that agrees with the knowledge' * found.has_knowledge} generates "
            "the same distributions: if the assumptions hold and the search found the best graph, "
            "every edge is certain.",
        )
        return join([intro, _certain(certain, len(found.result.alternatives))])
    intro = tag(
        "p",
        f"{_capital(found.size_in_words)} graphs{agreeing} generate exactly the same distributions "
        "as the learned one, so no amount of data of this kind can choose between them. An "
        "experiment or further knowledge can.",
    )
    parts = [intro, _certain(certain, len(found.result.alternatives)), *_certain_if_stable(found)]
    if turning:
        parts += [
            tag("h3", f"Can turn ({len(turning)})"),
            tag("p", "These pairs are joined in every graph, but not always the same way."),
            _pair_table("Pairs that can turn", turning),
        ]
    if going:
        parts += [
            tag("h3", f"Can come and go ({len(going)})"),
            tag("p", "These pairs have an edge in some graphs that other graphs do without."),
            _pair_table("Pairs that come and go", going),
        ]
    return join(parts)


def _certain(edges: list[Edge], n_ties: int) -> Markup:
    tied = " and of the classes that tie with it" if n_ties else ""
    title = tag("h3", f"Certain ({len(edges)})")
    if not edges:
        return join([title, tag("p", f"No edge is the same in every graph of the class{tied}.")])
    items = join(tag("li", arrow(edge)) for edge in edges)
    note = tag("p", f"These edges are in every graph of the class{tied}.")
    return join([title, note, tag("ul", items, class_="edges")])


def _certain_if_stable(found: Findings) -> list[Markup]:
    """Edges that all members share among which a shock dies out; only where all were looked at."""
    stable = [set(member.graph.edges) for member in found.members if member.is_stable]
    if found.listing.found.selection != "all" or not stable or len(stable) == len(found.members):
        return []
    more = _in_order(found, set.intersection(*stable) - found.certain)
    words = (
        f"If a shock to the system dies out, only {len(stable):,} of the {len(found.members):,} "
        f"graph{'s' * (len(found.members) != 1)} can be: with these data the feedback of the "
        "others would grow without limit."
    )
    if not more:
        return [tag("p", words, " This makes no further edge certain.")]
    items = join(tag("li", arrow(edge)) for edge in more)
    return [
        tag("h3", f"Certain if the system is stable ({len(more)})"),
        tag("p", words, " Then these edges are certain as well."),
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
                ", ".join(map(arrow, p.certain_edges)) or "–",
                "yes" if p.can_vanish else "no",
            )
            for p in pairs
        ]
        columns: tuple[str, ...] = ("pair", "in some", "in every", "not joined in some")
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


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
