"""Equally good graphs one by one: a picture that a script changes, and a list without it."""

from __future__ import annotations

import numpy as np

from cyclearn.drawing.layout import lay_out
from cyclearn.drawing.markup import Markup, join, number, script_data, tag
from cyclearn.drawing.svg_graph import DrawnEdge, graph_svg, legend
from cyclearn.graphs.directed_graph import Edge
from cyclearn.report.class_listing import ListedMember
from cyclearn.report.findings import Findings
from cyclearn.report.graph_section import arrow
from cyclearn.results.edge_rows import agreement_in_words

# With more edges than this in all graphs together, labels would cover each other.
_MAX_LABELS = 40


def member_browser(found: Findings) -> Markup:
    """Buttons, the picture of one member, and all listed members as text."""
    graph, members = found.graph, found.members
    if len(members) == 1:
        return tag("p", listing_in_words(found))
    union = sorted({edge for member in members for edge in member.graph.edges})
    index = {edge: n for n, edge in enumerate(union)}
    learned = set(graph.edges)
    labelled = len(union) <= _MAX_LABELS and not found.result.groups
    # Node positions are those of the learned graph, so that only edges change before the eye.
    drawn = graph_svg(
        graph,
        lay_out(graph, also=union),
        (
            DrawnEdge(
                *edge,
                classes="same" if edge in learned else "absent",
                # What the script writes here is about as long.
                label="−0.00" if labelled else "",
                title=arrow(edge),
                attributes={"data_edge": index[edge]},
            )
            for edge in union
        ),
        identifier="member-graph",
        title="One graph that fits equally well",
        description="The text beside the buttons says how it differs from the learned graph.",
    )
    facts = {
        "members": [
            {
                "changes": [[index[e] for e in edges] for edges in (member.added, member.removed)],
                "stable": member.is_stable,
                "weights": _weights(found, member, index),
            }
            for member in members
        ],
        # Labels stand in the order of the edges.
        "labelled": labelled,
    }
    listing = tag("ol", *(tag("li", describe(m)) for m in members), id="member-list")
    return join(
        [
            tag("p", listing_in_words(found)),
            tag(
                "div",
                tag(
                    "div",
                    tag("button", "← Previous", type="button", id="member-previous"),
                    tag(
                        "span",
                        tag("label", "Graph ", for_="member-number"),
                        tag(
                            "input",
                            id="member-number",
                            type="number",
                            min="1",
                            max=len(members),
                            value="1",
                        ),
                        " of ",
                        tag("span", f"{len(members):,}", id="member-count"),
                    ),
                    tag("button", "Next →", type="button", id="member-next"),
                    class_="buttons",
                ),
                _filters(union),
                tag(
                    "p", describe(members[0]), id="member-words", role="status", aria_live="polite"
                ),
                tag("div", drawn, class_="canvas", tabindex="0", role="group", aria_label="Graph"),
                legend(
                    ("same", "as in the learned graph", False, 0.06),
                    ("added", "only in this graph", False, 0.1),
                    ("removed", "only in the learned graph", False, 0.06),
                ),
                tag(
                    "p",
                    "Numbers are standardised weights. "
                    * labelled
                    + "With a keyboard: arrow keys step through the graphs, Home and End go to the "
                    "first and the last.",
                    class_="note",
                ),
                id="members",
                class_="members",
                role="group",
                aria_label="Graphs that fit equally well, one by one",
                hidden=True,
            ),
            tag("details", tag("summary", "All listed graphs as text"), listing),
            script_data("member-data", facts),
        ]
    )


def _filters(union: list[Edge]) -> Markup:
    """Which graphs to step through: the stable ones, those with an edge, those without one."""

    def choice(identifier: str, words: str, none: str) -> Markup:
        options = [tag("option", none, value="")]
        options += [tag("option", arrow(edge), value=n) for n, edge in enumerate(union)]
        return tag(
            "span", tag("label", words, for_=identifier), tag("select", *options, id=identifier)
        )

    stable = tag("input", type="checkbox", id="member-stable")
    return tag(
        "div",
        tag("label", stable, " stable only"),
        choice("member-with", "with ", "any edge"),
        choice("member-without", "without ", "no edge in particular"),
        class_="buttons filters",
        role="group",
        aria_label="Which graphs to step through",
    )


def _weights(found: Findings, member: ListedMember, index: dict[Edge, int]) -> dict[str, str]:
    """Standardised weights by the numbers of the edges; none where no fit is stable."""
    if not member.models or found.result.groups:
        # Groups have weights of their own.
        return {}
    model, graph = member.models[0], member.graph
    # Deviations that the model implies, as for the learned graph.
    scale = np.sqrt(found.result.model.covariance.diagonal())
    weights = model.B * scale[:, None] / scale
    return {
        str(index[edge]): number(float(weights[graph.index(edge[0]), graph.index(edge[1])]), 2)
        for edge in graph.edges
    }


def describe(member: ListedMember) -> str:
    """How a member differs from the learned graph.

    Examples
    --------
    >>> from cyclearn import DirectedGraph
    >>> g = DirectedGraph.from_edges([("b", "a"), ("c", "a")], names=["a", "b", "c"])
    >>> describe(ListedMember(g, (("b", "a"), ("c", "a")), (("a", "b"),), ("a model",)))
    'Turned: b → a. Added: c → a. No feedback.'
    """
    added, removed = set(member.added), set(member.removed)
    turned = [edge for edge in member.added if edge[::-1] in removed]
    parts = [
        ("Turned", turned),
        ("Added", [edge for edge in member.added if edge not in turned]),
        ("Gone", [edge for edge in member.removed if edge[::-1] not in added]),
    ]
    words = [f"{name}: {', '.join(map(arrow, edges))}." for name, edges in parts if edges]
    loops = [", ".join(nodes) for nodes in member.graph.components if len(nodes) > 1]
    feedback = f"Feedback among {'; '.join(loops)}" if loops else "No feedback"
    if not member.is_stable:
        feedback += ", but with the data at hand it would grow without limit"
    return " ".join([*(words or ["The learned graph."]), f"{feedback}."])


def listing_in_words(found: Findings) -> str:
    """Which graphs of the class are listed, and how many of them can be stable."""
    listed = len(found.members)
    stable = sum(member.is_stable for member in found.members)
    agreeing = " that agree with the knowledge" if found.has_knowledge else ""
    words = f"All {listed:,} graphs{agreeing}, those nearest to the learned one first."
    if listed == 1:
        words = agreement_in_words(found.result)
    elif found.listing.found.selection != "all":
        how = {"sampled": "drawn at random", "first": "the first of a long list"}
        words = (
            f"{listed:,} of {found.size_in_words} graphs{agreeing} are listed here, "
            f"{how[found.listing.found.selection]} to keep this page small; the learned one comes "
            "first, then those nearest to it."
        )
    if stable < listed:
        words += (
            f" Only {stable:,} of these can be stable with the data at hand: in the others a shock "
            "would grow without limit."
        )
    return words
