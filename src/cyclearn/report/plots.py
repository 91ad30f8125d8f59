"""Pictures of graphs, classes and results with matplotlib; each takes and returns an ``Axes``.

Colours are told apart by people who are colour blind (after Okabe and Ito), and every difference
of colour is one of dashes as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cyclearn.errors import LimitError
from cyclearn.graphs import DirectedGraph, EquivalenceClass
from cyclearn.models import FittedModel
from cyclearn.report.canvas import Canvas, Stroke
from cyclearn.report.layout import lay_out

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

BLUE, VERMILION, INK, GREY = "#0072b2", "#d55e00", "#222222", "#6b6b6b"
DASHED = (0, (4.0, 1.8))
DOTTED = (0, (1.0, 1.4))
# With more edges than this, weights are not written on them unless asked for.
_MAX_LABELS = 30
# Members looked at when a class is too entangled to be counted.
_MAX_MEMBERS = 2_000

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
    canvas = Canvas(lay_out(graph), ax)
    for edge in graph.edges:
        canvas.draw_edge(edge, CERTAIN)
    canvas.draw_nodes()
    return canvas.ax


def plot_fit(model: FittedModel, ax: Axes | None = None, *, labels: bool | None = None) -> Axes:
    """Draw a fitted graph with the sign and strength of its weights.

    Positive weights are solid and blue, negative ones dashed and red; the width of a line is the
    weight that standardised variables would have.

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


def _number(value: float) -> str:
    digits = ".2f" if 0.1 <= abs(value) < 100 else ".2g"
    return f"{value:{digits}}".replace("-", "−")


def plot_class(members: EquivalenceClass, ax: Axes | None = None) -> Axes:
    """Draw what the members of a class share, on the places of its representative.

    Solid: the same edge in every member. Dashed: always joined, the direction can turn. Dotted:
    comes and goes, the wider the more members have it. Arrow heads stand at the ends at which
    they stand in some member. Where the class cannot be counted, the first 2,000 members are
    looked at, and the title says so.
    """
    table, partial = _edge_table(members)
    graph = members.representative
    drawn = {}
    for row in table.itertuples():
        to, back = bool(row.forward or row.both), bool(row.backward or row.both)
        edge = (row.a, row.b) if to else (row.b, row.a)
        # The way round that the representative has keeps the route made for it.
        if to and back and graph.has_edge(*edge[::-1]) and not graph.has_edge(*edge):
            edge = edge[::-1]
        drawn[edge] = (row, to and back)
    layout = lay_out(graph, also=drawn)
    verdicts = set(table["verdict"])
    canvas = Canvas(layout, ax, legend_rows=bool(verdicts))
    for edge, (row, two_headed) in drawn.items():
        if row.verdict == "certain":
            canvas.draw_edge(edge, CERTAIN)
            if two_headed:
                canvas.draw_edge(edge[::-1], CERTAIN)
            continue
        base = TURNS if row.verdict == "turns" else OPTIONAL
        stroke = Stroke(base.color, base.dashes, 0.8 + 0.8 * row.share)
        canvas.draw_edge(edge, stroke, heads=(two_headed, True))
    canvas.draw_nodes()
    named = {"certain": CERTAIN, "turns": TURNS, "comes and goes": OPTIONAL}
    entries = [(text, stroke) for text, stroke in named.items() if text in verdicts]
    canvas.legend(entries, columns=3)
    if partial:
        canvas.ax.set_title(partial)
    return canvas.ax


def _edge_table(members: EquivalenceClass) -> tuple[pd.DataFrame, str]:
    """The edge table, and a remark where it had to be made from some of the members."""
    import pandas as pd

    try:
        return members.edge_table(), ""
    except LimitError:
        pass
    counts: dict[tuple[str, str], list[int]] = {}
    n = 0
    for member in members.members(max_members=_MAX_MEMBERS):
        n += 1
        A = member.adjacency
        for i, j in np.argwhere(np.triu(A | A.T)).tolist():
            kind = 2 if A[i, j] and A[j, i] else int(A[j, i])
            counts.setdefault((members.names[i], members.names[j]), [0, 0, 0])[kind] += 1
    rows = []
    for (a, b), (to, back, both) in sorted(counts.items()):
        total = to + back + both
        verdict = "comes and goes" if total < n else "certain" if n in (to, back, both) else "turns"
        rows.append((a, b, to, back, both, total / n, verdict))
    columns = ["a", "b", "forward", "backward", "both", "share", "verdict"]
    return pd.DataFrame(rows, columns=columns), f"the first {n} members of the class"
