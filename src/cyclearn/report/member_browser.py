"""Equally good graphs one by one: a picture that a script changes, and a list without it."""

from __future__ import annotations

from cyclearn.drawing.layout import lay_out
from cyclearn.drawing.markup import Markup, join, script_data, tag
from cyclearn.drawing.svg_graph import DrawnEdge, graph_svg, legend
from cyclearn.report.class_listing import ListedMember
from cyclearn.report.findings import Findings
from cyclearn.report.graph_section import arrow


def member_browser(found: Findings) -> Markup:
    """Buttons, the picture of one member, and all listed members as text."""
    graph, members = found.graph, found.members
    if len(members) == 1:
        return tag("p", _cap(found))
    union = sorted({edge for member in members for edge in member.graph.edges})
    index = {edge: n for n, edge in enumerate(union)}
    learned = set(graph.edges)
    # Node positions are those of the learned graph, so that only edges change before the eye.
    drawn = graph_svg(
        graph,
        lay_out(graph, also=union),
        (
            DrawnEdge(
                *edge,
                classes="same" if edge in learned else "absent",
                title=arrow(edge),
                attributes={"data_edge": index[edge]},
            )
            for edge in union
        ),
        identifier="member-graph",
        title="One graph that fits equally well",
        description="The text beside the buttons says how it differs from the learned graph.",
    )
    changes = [
        [[index[edge] for edge in edges] for edges in (member.added, member.removed)]
        for member in members
    ]
    listing = tag("ol", *(tag("li", describe(m)) for m in members), id="member-list")
    return join(
        [
            tag("p", _cap(found)),
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
                        f" of {len(members):,}",
                    ),
                    tag("button", "Next →", type="button", id="member-next"),
                    class_="buttons",
                ),
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
                    "With a keyboard: arrow keys step through the graphs, Home and End go to the "
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
            script_data("member-data", changes),
        ]
    )


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


def _cap(found: Findings) -> str:
    listed = len(found.members)
    stable = sum(member.is_stable for member in found.members)
    agreeing = " that agree with the knowledge" if found.has_knowledge else ""
    words = f"All {listed:,} graphs{agreeing}, those nearest to the learned one first."
    if listed == 1:
        words = f"No other graph{agreeing.replace('agree', 'agrees')} fits these data equally well."
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
