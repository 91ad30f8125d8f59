"""The view of a result: one picture for the whole class, numbers, files to download."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from cyclearn.drawing.layout import backbone, lay_out
from cyclearn.drawing.svg_graph import DrawnEdge, graph_svg
from cyclearn.foundation.arrays import FloatArray
from cyclearn.foundation.errors import InputError
from cyclearn.graphs.directed_graph import Edge
from cyclearn.models import FittedModel
from cyclearn.report.class_listing import ListedMember, Listing
from cyclearn.report.exports import exported
from cyclearn.report.findings import Findings, find_out
from cyclearn.report.fit_words import chi_square_in_words, fit_in_words, known_rows
from cyclearn.report.graph_section import line_width
from cyclearn.report.member_browser import describe, listing_in_words
from cyclearn.results.result import LearnResult
from cyclearn.results.result_text import about_search, conclusion, ties_in_words

if TYPE_CHECKING:
    from cyclearn.data.tables import Tables


FORMS = (
    "graph.txt",
    "graph.tetrad",
    "graph.graphml",
    "model.lav",
    "model.dagitty",
    "picture.tikz",
    "edges.tex",
    "edges.csv",
)


def form(result: LearnResult, name: str) -> str:
    """The result as text in one of these formats."""
    return exported(result, PurePath(name).suffix)


def lacking(result: LearnResult) -> list[str]:
    """Files that are not available for this result.

    Some formats cannot represent every name, or the weights of several groups; for some kinds of
    interventions no class is available.
    """
    # A picture and a table can represent everything but take some time to write.
    texts = [name for name in FORMS if not name.startswith(("picture", "edges"))]
    found = [name for name in texts if _is_refused(partial(form, result, name))]
    if _is_refused(lambda: result.equivalence_class):
        found.append("class.csv")
    return found


def _is_refused(make: Callable[[], Any]) -> bool:
    try:
        make()
    except InputError:
        return True
    return False


def result_view(
    result: LearnResult, tables: Tables | None, max_members: int, *, is_brief: bool = False
) -> dict[str, Any]:
    """Everything that the page shows of a learned graph, as plain values."""
    found = find_out(result, tables, max_members, is_brief=is_brief)
    size = None if found.size is None else str(found.size)
    return _members(found) | {
        "conclusion": conclusion(result),
        "search": [
            *ties_in_words(result),
            f"Score {result.score:,.2f}, BIC {result.fitted.bic:,.2f}.",
            *about_search(result),
        ],
        "names": list(found.graph.names),
        "listing": {
            "words": listing_in_words(found),
            "selection": found.listing.found.selection,
            # As text, because a page would round a large number.
            "size": size,
        },
        "coefficients": _coefficients(found),
        "groups": list(result.groups),
        "fit": [_fit(name, model) for name, model in result.models.items()],
        "warnings": [each.on_page() for each in found.warnings],
        "options": result.options.call("learn", "data"),
        "lacking": lacking(result),
        "interventions": result.experiments is not None,
    }


def members_view(result: LearnResult, listing: Listing) -> dict[str, Any]:
    """Some graphs that fit equally well, the learned one first, and one picture for all."""
    return _members(Findings(result, (), False, False, listing))


def _members(found: Findings) -> dict[str, Any]:
    edges = _edges(found)
    return {
        "edges": [_edge(found, edge) for edge in edges],
        "picture": _picture(found, edges),
        "n_first": backbone(found.graph, found.standardised).n_edges,
        "members": [_member(member, edges, found) for member in found.members],
    }


def _edges(found: Findings) -> list[Edge]:
    """The edges of all listed members, in the order of the columns."""
    index = found.graph.index
    every = {edge for member in found.members for edge in member.graph.edges}
    return sorted(every, key=lambda edge: (index(edge[0]), index(edge[1])))


def _edge(found: Findings, edge: Edge) -> dict[str, Any]:
    is_shared = edge in found.shared
    words = "in all graphs that fit equally well" if is_shared else "in some of the graphs"
    pair = found.pair_of.get(edge)
    if pair is not None and not is_shared:
        words = pair.chances(edge)
    return {"source": edge[0], "target": edge[1], "shared": is_shared, "members": words}


# More labels than this would overlap; of more edges only the strongest are drawn here, and the page
# draws the others when it shows them.
_MAX_LABELS, _MAX_DRAWN = 60, 120


def _picture(found: Findings, edges: list[Edge]) -> str:
    """The union of all listed members; edges that the learned graph lacks are not shown.

    Nodes are placed by the strongest edges of the learned graph, so that only edges change when
    another member is shown.
    """
    graph = found.graph
    learned, strong = set(graph.edges), backbone(graph, found.standardised)
    drawn = []
    for number, edge in enumerate(edges):
        if len(edges) > _MAX_DRAWN and not strong.has_edge(*edge):
            continue
        weight = float(found.standardised[graph.index(edge[0]), graph.index(edge[1])])
        is_labelled = strong.has_edge(*edge) or len(edges) <= _MAX_LABELS
        drawn.append(
            DrawnEdge(
                *edge,
                classes="absent" if edge not in learned else "",
                width=line_width(weight),
                open_head=edge not in found.shared,
                # As long as the text that the page writes there: a weight and a probability.
                label="−0.00 (00%)" if is_labelled else "",
                attributes={"data_edge": number},
            )
        )
    return graph_svg(
        graph,
        lay_out(strong, also=[(each.source, each.target) for each in drawn]),
        drawn,
        identifier="graph-picture",
        title="The graph",
        description="The table of edges has the same content as text.",
        sized=False,
    )


def _member(member: ListedMember, edges: list[Edge], found: Findings) -> dict[str, Any]:
    graph = member.graph
    present = [number for number, (a, b) in enumerate(edges) if graph.has_edge(a, b)]
    weights = _weights(member, found)
    loops = [nodes for nodes in graph.components if len(nodes) > 1]
    return {
        "edges": present,
        "weights": None if weights is None else _along(weights[0], edges, present, found),
        "standardised": None if weights is None else _along(weights[1], edges, present, found),
        "words": describe(member),
        "stable": member.is_stable,
        "n_changes": len(member.added) + len(member.removed),
        "n_in_feedback": sum(map(len, loops)),
    }


def _weights(member: ListedMember, found: Findings) -> tuple[FloatArray, FloatArray] | None:
    """Weights of a member, raw and standardised; for the learned graph, means over groups."""
    models = found.result.models.values()
    if member.graph == found.graph:
        return np.mean([model.B for model in models], axis=0), found.standardised
    # For several groups it is not known which parameters belong to which group.
    if not member.models or len(models) > 1:
        return None
    # Standard deviations implied by the model, which are the same for equivalent graphs.
    B, scale = member.models[0].B, np.sqrt(found.result.model.covariance.diagonal())
    return B, B * scale[:, None] / scale


def _along(B: FloatArray, edges: list[Edge], present: list[int], found: Findings) -> list[float]:
    index = found.graph.index
    return [float(B[index(edges[n][0]), index(edges[n][1])]) for n in present]


def _fit(group: str, model: FittedModel) -> dict[str, Any]:
    return {
        "group": group,
        "verdict": fit_in_words(model),
        "test": chi_square_in_words(model.fit_indices),
        "indices": [list(row) for row in known_rows(model)],
    }


def _coefficients(found: Findings) -> list[dict[str, Any]]:
    """One row for each edge of the learned graph, and for each group."""
    return [
        row | {"group": group, "standing": found.row_of[row["source"], row["target"]].verdict}
        for group, model in found.result.models.items()
        for row in weight_rows(model)
    ]


def weight_rows(model: FittedModel) -> list[dict[str, Any]]:
    """The weight of each edge with its uncertainty."""
    graph, standardised = model.graph, model.standardised_weights
    return [
        {
            "source": a,
            "target": b,
            "weight": float(row["estimate"]),
            "standard_error": float(row["std_error"]),
            "lower": float(row["lower"]),
            "upper": float(row["upper"]),
            "p_value": float(row["p_value"]),
            "standardised": float(standardised[graph.index(a), graph.index(b)]),
        }
        for (a, b), row in zip(graph.edges, model.summary().to_dict("records"), strict=False)
    ]
