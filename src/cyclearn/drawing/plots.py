"""Pictures of graphs, classes and results with matplotlib; each takes and returns an ``Axes``.

Every difference of colour is one of dashes as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cyclearn.classes import EquivalenceClass, class_statements
from cyclearn.drawing.canvas import Canvas, Stroke
from cyclearn.drawing.layout import lay_out
from cyclearn.drawing.palette import BLUE, DASHED, DOTTED, INK, VERMILION
from cyclearn.errors import InputError
from cyclearn.graphs import DirectedGraph
from cyclearn.graphs.directed_graph import Edge
from cyclearn.graphs.graph_input import checked_graph
from cyclearn.models import FittedModel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from cyclearn.learning import BootstrapResult

# With more edges than this, weights are not written on them unless asked for.
_MAX_LABELS = 30

CERTAIN, TURNS, OPTIONAL = Stroke(INK), Stroke(BLUE, DASHED), Stroke(VERMILION, DOTTED)
POSITIVE, NEGATIVE = Stroke(BLUE), Stroke(VERMILION, DASHED)


def plot_graph(graph: DirectedGraph, ax: Axes | None = None) -> Axes:
    """Draw a directed graph: causes above effects, feedback loops as shaded rings.

    Parameters
    ----------
    graph : DirectedGraph
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure of fitting size, which pyplot does not know.

    Returns
    -------
    Axes

    Examples
    --------
    >>> ax = plot_graph(DirectedGraph.from_edges([("a", "b"), ("b", "a")]))
    >>> ax.figure.savefig("graph.pdf")  # doctest: +SKIP
    """
    checked_graph(graph)
    canvas = Canvas(lay_out(graph), ax)
    for edge in graph.edges:
        canvas.draw_edge(edge, CERTAIN)
    canvas.draw_nodes()
    return canvas.ax


def plot_fit(model: FittedModel, ax: Axes | None = None, *, labels: bool | None = None) -> Axes:
    """Draw a fitted graph with the sign and strength of its weights.

    Positive weights are solid and blue, negative ones dashed and red; the width of a line
    grows with the weight that standardised variables would have.

    Parameters
    ----------
    model : FittedModel
    ax : matplotlib Axes, optional
    labels : bool, optional
        Whether weights are written on the edges; by default where there are at most 30.
    """
    graph = model.graph
    if labels is None:
        labels = graph.n_edges <= _MAX_LABELS
    scale = np.sqrt(model.moments.covariance.diagonal())
    strength = np.abs(model.B) * scale[:, None] / scale
    canvas = Canvas(lay_out(graph), ax, legend_rows=bool(graph.n_edges))
    for a, b in graph.edges:
        i, j = graph.index(a), graph.index(b)
        weight = float(model.B[i, j])
        base = NEGATIVE if weight < 0 else POSITIVE
        stroke = Stroke(base.color, base.dashes, 0.7 + 2.3 * min(float(strength[i, j]), 1.0))
        canvas.draw_edge((a, b), stroke, label=_number(weight) if labels else "")
    canvas.draw_nodes()
    if graph.n_edges:
        entries = [("positive", POSITIVE), ("negative", NEGATIVE)]
        canvas.legend(entries, columns=2)
    return canvas.ax


def plot_bootstrap(
    found: BootstrapResult, ax: Axes | None = None, *, threshold: float = 0.5
) -> Axes:
    """Draw what came out in at least a share ``threshold`` of the resamples.

    Solid: the edge is in every member of the class in that many resamples. Dashed: it is in that
    many learned graphs, but equivalent graphs may lack or turn it. Dotted, without a head: the
    two are joined that often, now this way, now that. Percentages and widths are those of the
    edge, or pair, in the learned graphs.

    Parameters
    ----------
    found : BootstrapResult
    ax : matplotlib Axes, optional
    threshold : float
        From above 0 to 1.
    """
    if not 0 < threshold <= 1:
        raise InputError(f"threshold is {threshold}; give a share above 0 and at most 1")
    names, share = found.names, found.edge_frequencies
    joined = np.mean([g.adjacency | g.adjacency.T for g in found.graphs], axis=0)
    both = np.mean([g.adjacency & g.adjacency.T for g in found.graphs], axis=0)
    often = share >= threshold
    # One way in some resamples and the other way in others is no feedback.
    often &= ~often.T | (both >= threshold)
    graph = DirectedGraph(often, names)
    strokes: dict[Edge, tuple[Stroke, float]] = {}
    for i, j in np.argwhere(often).tolist():
        base = CERTAIN if found.compelled_frequencies[i, j] >= threshold else TURNS
        strokes[names[i], names[j]] = base, float(share[i, j])
    for i, j in np.argwhere(np.triu((joined >= threshold) & ~often & ~often.T)).tolist():
        strokes[names[i], names[j]] = OPTIONAL, float(joined[i, j])
    canvas = Canvas(lay_out(graph, also=strokes), ax, legend_rows=bool(strokes))
    for edge, (base, value) in strokes.items():
        canvas.draw_edge(
            edge,
            Stroke(base.color, base.dashes, 0.6 + 1.4 * value),
            heads=(False, base is not OPTIONAL),
            label=f"{100 * value:.0f}%" if len(strokes) <= _MAX_LABELS else "",
        )
    canvas.draw_nodes()
    named = {"in every member": CERTAIN, "may turn": TURNS, "joined": OPTIONAL}
    used = [
        (text, stroke)
        for text, stroke in named.items()
        if stroke in [s for s, _ in strokes.values()]
    ]
    canvas.legend(used, columns=3)
    return canvas.ax


def _number(value: float) -> str:
    digits = ".2f" if 0.1 <= abs(value) < 100 else ".2g"
    return f"{value:{digits}}".replace("-", "−")


def plot_class(members: EquivalenceClass, ax: Axes | None = None) -> Axes:
    """Draw what the irreducible members of a class share, on the places of its representative.

    Solid: the same edge in every member. Dashed: joined in every member, but not always the same
    way. Dotted: comes and goes. Arrow heads stand where they stand in some member. Exact for
    classes of any size, since nothing is counted.
    """
    names = members.names
    found = class_statements(members)
    strokes: dict[Edge, Stroke] = {}
    two_headed = set()
    for i, j in np.argwhere(found.possible).tolist():
        back = bool(found.possible[j, i])
        if found.compelled[i, j]:
            strokes[names[i], names[j]] = CERTAIN
        elif found.compelled[j, i]:
            strokes[names[i], names[j]] = OPTIONAL
        # Of an open pair one line is drawn, the way round for which the representative has a route.
        elif (
            not back
            or members.representative.has_edge(i, j)
            or (i < j and not members.representative.has_edge(j, i))
        ):
            edge = names[i], names[j]
            strokes[edge] = TURNS if found.always_adjacent[i, j] else OPTIONAL
            if back:
                two_headed.add(edge)
    for a, b in [edge for edge in two_headed if edge[::-1] in two_headed and edge[0] > edge[1]]:
        del strokes[a, b]
    canvas = Canvas(lay_out(members.representative, also=strokes), ax, legend_rows=bool(strokes))
    for edge, stroke in strokes.items():
        canvas.draw_edge(edge, stroke, heads=(edge in two_headed, True))
    canvas.draw_nodes()
    named = {"certain": CERTAIN, "turns": TURNS, "comes and goes": OPTIONAL}
    used = [(text, stroke) for text, stroke in named.items() if stroke in strokes.values()]
    canvas.legend(used, columns=3)
    return canvas.ax
