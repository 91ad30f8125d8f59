"""What the page shows of a result: one picture for the whole class, and the numbers behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cyclearn.drawing.layout import lay_out
from cyclearn.drawing.svg_graph import DrawnEdge, graph_svg
from cyclearn.graphs.directed_graph import Edge
from cyclearn.learning.result import LearnResult
from cyclearn.models import LinearGaussianModel
from cyclearn.report.class_listing import ListedMember
from cyclearn.report.findings import Findings, find_out
from cyclearn.report.fit_words import chi_square_in_words, index_rows, verdict
from cyclearn.report.graph_section import line_width
from cyclearn.report.member_browser import describe, listing_in_words

if TYPE_CHECKING:
    import pandas as pd

# More labels than this cover each other.
_MAX_LABELS = 60


def result_view(result: LearnResult, frame: pd.DataFrame, max_members: int) -> dict[str, Any]:
    """Everything that the page shows of a learned graph, as plain values."""
    found = find_out(result, frame, max_members)
    edges = _edges(found)
    size = None if found.size is None else str(found.size)
    return {
        "summary": [line for line in str(result).splitlines() if line[:2] != "  "],
        "names": list(found.graph.names),
        "edges": [_edge(found, edge) for edge in edges],
        "picture": _picture(found, edges),
        "members": [_member(member, edges, found) for member in found.members],
        "listing": {
            "words": listing_in_words(found),
            "selection": found.listing.found.selection,
            # As text: a page would round a large number.
            "size": size,
        },
        "coefficients": _coefficients(found),
        "fit": {
            "verdict": verdict(result.model.fit_indices),
            "test": chi_square_in_words(result.model.fit_indices),
            "indices": [list(row) for row in index_rows(result.model.fit_indices)],
        },
        "warnings": [
            {"kind": w.kind, "message": w.message, "remedy": w.remedy} for w in found.warnings
        ],
        "score": result.score,
        "scores": [move.score for move in result.moves],
        "n_ties": len(result.alternatives),
        "options": result.options.call(),
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


def _picture(found: Findings, edges: list[Edge]) -> str:
    """The union of all listed members, those edges hidden that the learned graph lacks.

    Nodes stand where the learned graph puts them, so that only edges change before the eye.
    """
    graph = found.graph
    learned = set(graph.edges)
    standardised = found.result.model.standardised_weights
    drawn = []
    for number, edge in enumerate(edges):
        i, j = map(graph.index, edge)
        weight = float(standardised[i, j])
        drawn.append(
            DrawnEdge(
                *edge,
                classes="absent" if edge not in learned else "",
                width=line_width(weight),
                open_head=edge not in found.shared,
                label="0.00" if len(edges) <= _MAX_LABELS else "",
                attributes={"data_edge": number},
            )
        )
    return graph_svg(
        graph,
        lay_out(graph, also=edges),
        drawn,
        identifier="graph-picture",
        title="The graph",
        description="The list of edges beside it says the same in words.",
        sized=False,
    )


def _member(member: ListedMember, edges: list[Edge], found: Findings) -> dict[str, Any]:
    graph = member.graph
    present = [number for number, (a, b) in enumerate(edges) if graph.has_edge(a, b)]
    model = member.models[0] if member.models else None
    if graph == found.graph:
        model = found.result.model.model
    loops = [nodes for nodes in graph.components if len(nodes) > 1]
    return {
        "edges": present,
        "weights": None if model is None else _weights(model, [edges[n] for n in present]),
        "standardised": None
        if model is None
        else _weights(model, [edges[n] for n in present], found.result.model.moments.scale),
        "words": describe(member),
        "stable": member.is_stable,
        "n_changes": len(member.added) + len(member.removed),
        "n_in_feedback": sum(map(len, loops)),
    }


def _weights(
    model: LinearGaussianModel, edges: list[Edge], scale: np.ndarray | None = None
) -> list[float]:
    B = model.B if scale is None else model.B * scale[:, None] / scale
    index = {name: number for number, name in enumerate(model.names)}
    return [float(B[index[a], index[b]]) for a, b in edges]


def _coefficients(found: Findings) -> list[dict[str, Any]]:
    """One row for each edge of the learned graph."""
    graph, summary = found.graph, found.result.model.summary()
    return [
        {
            "source": a,
            "target": b,
            "weight": float(row["estimate"]),
            "standard_error": float(row["std_error"]),
            "lower": float(row["lower"]),
            "upper": float(row["upper"]),
            "p_value": float(row["p_value"]),
            "standardised": found.row_of[a, b].standardised,
            "standing": found.row_of[a, b].verdict,
        }
        for (a, b), (_, row) in zip(graph.edges, summary.iterrows(), strict=False)
    ]
