"""Pictures of graphs, classes and results with matplotlib; each takes and returns an ``Axes``.

Colours are always combined with dashes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np

from cyclearn.classes import EquivalenceClass, class_statements
from cyclearn.classes.class_statements import OPTIONAL, SAME, TURNS, edge_verdict
from cyclearn.drawing.canvas import Line, Stroke, draw_lines
from cyclearn.drawing.edge_labels import weights_in_words
from cyclearn.drawing.layout import lay_out
from cyclearn.drawing.markup import number
from cyclearn.drawing.palette import BLUE, DASHED, DOTTED, GREY, INK, VERMILION
from cyclearn.foundation.arguments import flag
from cyclearn.foundation.arguments import share as share_of
from cyclearn.foundation.arrays import BoolArray, FloatArray
from cyclearn.foundation.late_imports import Axes
from cyclearn.graphs import DirectedGraph
from cyclearn.graphs.graph_input import as_graph
from cyclearn.models import FittedModel
from cyclearn.posterior import Posterior
from cyclearn.results import BootstrapResult, LearnResult
from cyclearn.results.edge_rows import edge_rows

# With more edges than this, weights are not shown by default.
_MAX_LABELS = 30
# Edges with at least this probability are drawn solid.
_SURE = 0.95

SOLID, BROKEN, LOOSE = Stroke(INK), Stroke(BLUE, DASHED), Stroke(VERMILION, DOTTED)
# Strokes for the edges of a class.
_LOOKS: dict[str, Stroke] = {SAME: SOLID, TURNS: BROKEN, OPTIONAL: LOOSE}
POSITIVE, NEGATIVE = Stroke(BLUE), Stroke(VERMILION, DASHED)
# Signs differ between groups.
DIFFERING = Stroke(GREY, DOTTED)


def plot_graph(graph: DirectedGraph, ax: Axes | None = None) -> Axes:
    """Draw a directed graph: causes above effects, feedback loops as shaded rings.

    Parameters
    ----------
    graph : DirectedGraph
    ax : matplotlib Axes, optional
        Axes to draw on; by default in a new figure of suitable size, which pyplot does not manage.

    Returns
    -------
    Axes

    Examples
    --------
    >>> ax = plot_graph(DirectedGraph.from_edges([("a", "b"), ("b", "a")]))
    >>> ax.figure.savefig("graph.pdf")  # doctest: +SKIP
    """
    graph = as_graph(graph)
    return draw_lines(lay_out(graph), [Line(edge, SOLID) for edge in graph.edges], ax)


def plot_fit(
    model: FittedModel,
    ax: Axes | None = None,
    *,
    labels: bool | None = None,
    standardised: bool = False,
) -> Axes:
    """Draw a fitted graph with the sign and strength of its weights.

    Positive weights are solid and blue, negative ones dashed and red; the width of a line
    grows with the weight that standardised variables would have.

    Parameters
    ----------
    model : FittedModel
    ax : matplotlib Axes, optional
    labels : bool, optional
        Whether to write weights on the edges; by default if there are at most 30.
    standardised : bool
        Write standardised weights (standard deviations of the effect per standard deviation of the
        cause).
    """
    flag("standardised", standardised)
    graph, strength = model.graph, model.standardised_weights
    weights = strength if standardised else model.B
    lines = [
        Line((graph.names[i], graph.names[j]), _weighed(strength[i, j]), number(weights[i, j], 2))
        for i, j in np.argwhere(graph.adjacency)
    ]
    return _draw_weighed(graph, lines, ax, labels)


def plot_result(
    result: LearnResult,
    ax: Axes | None = None,
    *,
    labels: bool | None = None,
    standardised: bool = False,
    group: str | None = None,
) -> Axes:
    """Draw a learned graph as :func:`plot_fit` does, with what is known about each edge.

    An open head means that not all graphs that fit equally well have the edge. Brackets contain the
    probability of the edge, or its frequency in resamples, if there is a posterior or a bootstrap.
    With several groups, ``group`` selects the weights.
    """
    flag("standardised", standardised)
    lines = []
    for row in edge_rows(result, None if group is None else [result.model_of(group)]):
        if not row.in_graph:
            continue
        words = weights_in_words(result, row, standardised=standardised)
        share = row.resamples if row.probability is None else row.probability
        if share is not None:
            words += f" ({share:.0%})"
        is_open = row.verdict != SAME
        stroke = _weighed(row.standardised)
        if row.signs_differ:
            stroke = replace(DIFFERING, width=stroke.width)
        lines.append(Line(row.edge, stroke, words, open_head=is_open))
    return _draw_weighed(result.graph, lines, ax, labels)


def _weighed(strength: float) -> Stroke:
    """The stroke of an edge with a standardised weight."""
    base = NEGATIVE if strength < 0 else POSITIVE
    return replace(base, width=0.7 + 2.3 * min(abs(strength), 1.0))


def _draw_weighed(
    graph: DirectedGraph, lines: list[Line], ax: Axes | None, labels: bool | None
) -> Axes:
    if labels is None or not flag("labels", labels):
        labels = labels is None and graph.n_edges <= _MAX_LABELS
    if not labels:
        lines = [replace(line, label="") for line in lines]
    is_open = any(line.open_head for line in lines)
    note = "open head: not in all equally good graphs" if is_open else ""
    legend = {"positive": POSITIVE, "negative": NEGATIVE} if lines else {}
    if any(line.stroke.color == DIFFERING.color for line in lines):
        legend["signs differ between groups"] = DIFFERING
    return draw_lines(lay_out(graph), lines, ax, legend, note)


def plot_bootstrap(
    found: BootstrapResult, ax: Axes | None = None, *, threshold: float = 0.5
) -> Axes:
    """Draw edges and adjacencies found in at least a share ``threshold`` of the resamples.

    Solid: the edge is in every member of the class in that many resamples. Dashed: it is in that
    many learned graphs, but equivalent graphs may lack or reverse it. Dotted, without a head: the
    two are adjacent that often, in different directions. Percentages and widths are those of the
    edge, or pair, in the learned graphs.

    Parameters
    ----------
    found : BootstrapResult
    ax : matplotlib Axes, optional
    threshold : float
        From above 0 to 1.
    """
    shares = EdgeShares(
        found.names,
        edges=found.edge_frequencies,
        joined=np.mean([g.adjacency | g.adjacency.T for g in found.graphs], axis=0),
        both=np.mean([g.adjacency & g.adjacency.T for g in found.graphs], axis=0),
        is_sure=found.compelled_frequencies >= threshold,
    )
    return draw_shares(shares, ax, threshold, ("in all equivalent graphs", "in some of them"))


def plot_posterior(found: Posterior, ax: Axes | None = None, *, threshold: float = 0.5) -> Axes:
    """Draw edges and adjacencies with a probability of at least ``threshold``.

    Solid: an edge of probability 0.95 or more. Dashed: a less probable one. Dotted, without a
    head: the two are adjacent with this probability, but neither direction is. Widths increase with
    the probability, which is written on the edge.

    Parameters
    ----------
    found : Posterior
    ax : matplotlib Axes, optional
    threshold : float
        From above 0 to 1.
    """
    found.check_determined()
    joined = found.adjacency_probabilities().to_numpy()
    shares = EdgeShares(found.names, found.edges, joined, found.both, found.edges >= _SURE)
    return draw_shares(shares, ax, threshold, (f"probability ≥ {_SURE}", "less"))


@dataclass(frozen=True, eq=False)
class EdgeShares:
    """Frequencies of each edge, adjacency and 2-cycle, and the edges to draw solid."""

    names: tuple[str, ...]
    edges: FloatArray
    joined: FloatArray
    both: FloatArray
    is_sure: BoolArray


def draw_shares(
    shares: EdgeShares, ax: Axes | None, threshold: float, words: tuple[str, str]
) -> Axes:
    """Draw what occurs at least this often; ``words`` describe solid and dashed edges."""
    share_of("threshold", threshold, 0, 1)
    names, often = shares.names, shares.edges >= threshold
    # Different directions in different graphs are not feedback.
    often &= ~often.T | (shares.both >= threshold)
    only_joined = np.triu((shares.joined >= threshold) & ~often & ~often.T, 1)
    found = [
        ((names[i], names[j]), SOLID if shares.is_sure[i, j] else BROKEN, shares.edges[i, j])
        for i, j in np.argwhere(often)
    ] + [((names[i], names[j]), LOOSE, shares.joined[i, j]) for i, j in np.argwhere(only_joined)]
    lines = [
        Line(
            edge,
            replace(base, width=0.6 + 1.4 * value),
            f"{100 * value:.0f}%" if len(found) <= _MAX_LABELS else "",
            heads=(False, base is not LOOSE),
        )
        for edge, base, value in found
    ]
    layout = lay_out(DirectedGraph(often, names), also=[line.edge for line in lines])
    meanings = {words[0]: SOLID, words[1]: BROKEN, "adjacent": LOOSE}
    return draw_lines(layout, lines, ax, _drawn(meanings, [base for _, base, _ in found]))


def _drawn(meanings: Mapping[str, Stroke], strokes: Collection[Stroke]) -> dict[str, Stroke]:
    """Legend entries of the strokes that were drawn."""
    return {words: stroke for words, stroke in meanings.items() if stroke in strokes}


def plot_class(members: EquivalenceClass, ax: Axes | None = None) -> Axes:
    """Draw what the irreducible members of a class share, with the layout of its representative.

    Solid: the same in every member. Dashed: adjacent in all members, but with different directions.
    Dotted: adjacent in some. Arrow heads are those of some member. Exact for classes of any size,
    because nothing is counted.
    """
    names = members.names
    found = class_statements(members)
    lines = []
    for i, j in np.argwhere(np.triu(found.possible | found.possible.T)).tolist():
        ways = [way for way in ((i, j), (j, i)) if found.possible[way]]
        is_open = len(ways) == 2 and not (found.compelled[i, j] or found.compelled[j, i])
        if is_open:
            # One line for both edges, in the direction for which the representative has a route.
            ways = [way for way in ways if members.representative.has_edge(*way)] or ways
        for a, b in ways[:1] if is_open else ways:
            verdict = edge_verdict(
                compelled=bool(found.compelled[a, b]),
                back_compelled=bool(found.compelled[b, a]),
                always_adjacent=bool(found.always_adjacent[a, b]),
            )
            lines.append(Line((names[a], names[b]), _LOOKS[verdict], heads=(is_open, True)))
    layout = lay_out(members.representative, also=[line.edge for line in lines])
    return draw_lines(layout, lines, ax, _drawn(_LOOKS, [line.stroke for line in lines]))
