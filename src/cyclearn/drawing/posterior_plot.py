"""A picture of a posterior: what is probable, and how probable."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cyclearn.drawing.canvas import Canvas, Stroke
from cyclearn.drawing.layout import lay_out
from cyclearn.drawing.plots import BROKEN, LOOSE, SOLID
from cyclearn.foundation.arguments import share
from cyclearn.graphs import DirectedGraph
from cyclearn.graphs.directed_graph import Edge

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from cyclearn.posterior import Posterior

# An edge that is this probable is drawn solid.
_SURE = 0.95


def plot_posterior(found: Posterior, ax: Axes | None = None, *, threshold: float = 0.5) -> Axes:
    """Draw edges and adjacencies with a probability of at least ``threshold``.

    Solid: an edge of probability 0.95 or more. Dashed: a less probable one. Dotted, without a
    head: the two are joined that probably, but neither direction is. Widths grow with the
    probability, which is written on the edge.

    Parameters
    ----------
    found : Posterior
    ax : matplotlib Axes, optional
    threshold : float
        From above 0 to 1.
    """
    share("threshold", threshold, 0, 1)
    names, edges = found.names, found.edges
    joined = found.adjacency_probabilities().to_numpy()
    drawn = edges >= threshold
    # One way in some graphs and the other way in others is no feedback.
    drawn &= ~drawn.T | (found.both >= threshold)
    strokes: dict[Edge, tuple[Stroke, float]] = {}
    for i, j in np.argwhere(drawn).tolist():
        value = float(edges[i, j])
        strokes[names[i], names[j]] = SOLID if value >= _SURE else BROKEN, value
    for i, j in np.argwhere(np.triu((joined >= threshold) & ~drawn & ~drawn.T, 1)).tolist():
        strokes[names[i], names[j]] = LOOSE, float(joined[i, j])
    layout = lay_out(DirectedGraph(drawn, names), also=strokes)
    canvas = Canvas(layout, ax, legend_rows=bool(strokes))
    for edge, (base, value) in strokes.items():
        canvas.draw_edge(
            edge,
            Stroke(base.color, base.dashes, 0.6 + 1.4 * value),
            heads=(False, base is not LOOSE),
            label=f"{100 * value:.0f}%" if len(strokes) <= 30 else "",
        )
    canvas.draw_nodes()
    named = {"probability ≥ 0.95": SOLID, "less": BROKEN, "joined": LOOSE}
    used = {id(stroke) for stroke, _ in strokes.values()}
    canvas.legend([each for each in named.items() if id(each[1]) in used], columns=3)
    return canvas.ax
