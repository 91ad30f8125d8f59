"""Equally good graphs one by one: a picture changed by a script, or a list without it."""

from __future__ import annotations

import numpy as np

from cyclearn.drawing.layout import lay_out
from cyclearn.drawing.markup import Markup, fill, join, number, script_data, tag
from cyclearn.drawing.svg_graph import DrawnEdge, graph_svg, legend
from cyclearn.graphs.directed_graph import Edge
from cyclearn.report.assets import asset
from cyclearn.report.class_listing import ListedMember
from cyclearn.report.findings import Findings
from cyclearn.report.graph_section import arrow
from cyclearn.results.edge_rows import agreement_in_words

# With more edges than this in all graphs together, labels would overlap.
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
    # Node positions are those of the learned graph, so that only edges change.
    drawn = graph_svg(
        graph,
        lay_out(graph, also=union),
        (
            DrawnEdge(
                *edge,
                classes="same" if edge in learned else "absent",
                # As long as the text that the script writes here.
                label="−0.00" if labelled else "",
                title=arrow(edge),
                attributes={"data_edge": index[edge]},
            )
            for edge in union
        ),
        identifier="member-graph",
        title="One graph that fits equally well",
        description="The text next to the buttons describes how it differs from the learned graph.",
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
        # Labels are in the order of the edges.
        "labelled": labelled,
    }
    return fill(
        asset("member_browser.html"),
        which=listing_in_words(found),
        last=len(members),
        count=f"{len(members):,}",
        edges=join(tag("option", arrow(edge), value=n) for n, edge in enumerate(union)),
        first=describe(members[0]),
        drawn=drawn,
        legend=legend(
            ("same", "as in the learned graph", False, 0.06),
            ("added", "only in this graph", False, 0.1),
            ("removed", "only in the learned graph", False, 0.06),
        ),
        numbers="Numbers are standardised weights. " * labelled,
        listing=join(tag("li", describe(member)) for member in members),
        facts=script_data("member-data", facts),
    )


def _weights(found: Findings, member: ListedMember, index: dict[Edge, int]) -> dict[str, str]:
    """Standardised weights by the numbers of the edges; none if no fit is stable."""
    if not member.models or found.result.groups:
        # Each group has its own weights.
        return {}
    model, graph = member.models[0], member.graph
    # Standard deviations implied by the model, as for the learned graph.
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
    'Reversed: b → a. Added: c → a. No feedback.'
    """
    added, removed = set(member.added), set(member.removed)
    turned = [edge for edge in member.added if edge[::-1] in removed]
    parts = [
        ("Reversed", turned),
        ("Added", [edge for edge in member.added if edge not in turned]),
        ("Gone", [edge for edge in member.removed if edge[::-1] not in added]),
    ]
    words = [f"{name}: {', '.join(map(arrow, edges))}." for name, edges in parts if edges]
    loops = [", ".join(nodes) for nodes in member.graph.components if len(nodes) > 1]
    feedback = f"Feedback among {'; '.join(loops)}" if loops else "No feedback"
    if not member.is_stable:
        feedback += ", but with these data it would grow without limit"
    return " ".join([*(words or ["The learned graph."]), f"{feedback}."])


def listing_in_words(found: Findings) -> str:
    """Which graphs of the class are listed, and how many of them can be stable."""
    listed = len(found.members)
    stable = sum(member.is_stable for member in found.members)
    agreeing = " that agree with the knowledge" if found.has_knowledge else ""
    words = f"All {listed:,} graphs{agreeing}, closest to the learned one first."
    if listed == 1:
        words = agreement_in_words(found.result)
    elif found.listing.found.selection != "all":
        how = {"sampled": "drawn at random", "first": "the first of a long list"}
        words = (
            f"{listed:,} of {found.size_in_words} graphs{agreeing} are listed here, "
            f"{how[found.listing.found.selection]} to keep this page small; the learned one "
            "comes first, then those closest to it."
        )
    if stable < listed:
        words += (
            f" Only {stable:,} of these can be stable with these data: in the others a shock "
            "would grow without limit."
        )
    return words
