"""Draw the pictures of the documentation: ``python docs/make_pictures.py [FOLDER]``.

Small graphs before and after a step are drawn at fixed places, so that only what changes moves.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch, Rectangle

from cyclearn import (
    DirectedGraph,
    LearnResult,
    LinearGaussianModel,
    bootstrap,
    equivalence_class,
    learn,
)
from cyclearn.classes import CycleReversion, ParentExchange

# Fixed ids and text as text: the same input gives the same small file.
STYLE = {
    "svg.hashsalt": "cyclearn",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.sans-serif": ["Helvetica", "Arial", "DejaVu Sans"],
    "font.size": 11,
}
INK, QUIET, GAIN, LOSS = "#22313f", "#b8c2cc", "#0072b2", "#d55e00"
# Radius of a node in points, so that nodes have one size in all pictures.
RADIUS = 14

Place = tuple[float, float]
Edge = tuple[str, str]
SQUARE: dict[str, Place] = {"1": (0, 1), "2": (1, 1), "3": (1, 0), "4": (0, 0)}
TRIANGLE: dict[str, Place] = {"a": (0.5, 0.9), "b": (1, 0), "c": (0, 0)}


def draw_graph(
    ax: Axes,
    graph: DirectedGraph,
    places: Mapping[str, Place],
    *,
    gained: Iterable[Edge] = (),
    lost: Iterable[Edge] = (),
    title: str = "",
) -> None:
    """Nodes as circles; gained edges in blue, lost ones dashed in orange."""
    gained, lost = set(gained), set(lost)
    for a, b in [*graph.edges, *sorted(lost - set(graph.edges))]:
        is_double = (b, a) in graph.edges or (b, a) in lost
        colour = GAIN if (a, b) in gained else LOSS if (a, b) in lost else INK
        ax.add_patch(
            FancyArrowPatch(
                places[a],
                places[b],
                connectionstyle=f"arc3,rad={0.25 if is_double else 0}",
                arrowstyle="-|>,head_length=7,head_width=3.5",
                shrinkA=RADIUS + 1,
                shrinkB=RADIUS + 1,
                color=colour,
                linewidth=1.6,
                linestyle=(0, (3, 2)) if (a, b) in lost else "-",
                zorder=1,
            )
        )
    for name, place in places.items():
        ax.scatter(*place, s=(2 * RADIUS) ** 2, color="white", edgecolor=INK, lw=1.4, zorder=2)
        size = 11 if len(name) < 3 else 8
        ax.text(*place, name, ha="center", va="center_baseline", color=INK, zorder=3, size=size)
    xs, ys = zip(*places.values(), strict=True)
    ax.set_xlim(min(xs) - 0.35, max(xs) + 0.35)
    ax.set_ylim(min(ys) - 0.3, max(ys) + 0.3)
    _bare(ax, title)


def draw_support(
    ax: Axes,
    support: np.ndarray,
    names: tuple[str, ...],
    *,
    marked: Iterable[int] = (),
    emptied: Iterable[tuple[int, int]] = (),
    title: str = "",
) -> None:
    """Filled cells where the support is; a frame around marked columns."""
    p, q = support.shape
    for i, j in np.ndindex(p, q):
        is_own = i == j and p == q
        face = (INK if is_own else "#5f7d95") if support[i, j] else "white"
        ax.add_patch(Rectangle((j, p - 1 - i), 1, 1, facecolor=face, edgecolor=QUIET))
    for i, j in emptied:
        ax.add_patch(Rectangle((j, p - 1 - i), 1, 1, facecolor="none", edgecolor=LOSS, lw=2))
        ax.text(j + 0.5, p - 0.5 - i, "0", ha="center", va="center_baseline", color=LOSS)
    for j in marked:
        ax.add_patch(Rectangle((j, 0), 1, p, facecolor="none", edgecolor=GAIN, lw=2.2, zorder=3))
    for k, name in enumerate(names[:p]):
        ax.text(-0.25, p - 0.5 - k, name, ha="right", va="center_baseline", color=INK)
    if p == q:
        for k, name in enumerate(names):
            ax.text(k + 0.5, p + 0.2, name, ha="center", va="bottom", color=INK)
    ax.set_xlim(-0.8, q + 0.2)
    ax.set_ylim(-0.2, p + (0.9 if p == q else 0.2))
    _bare(ax, title)


def _bare(ax: Axes, title: str) -> None:
    ax.set_aspect("equal")
    ax.axis("off")
    if title:
        ax.set_title(title, fontsize=11, color=INK)


def _between(ax: Axes, text: str = "") -> None:
    """A broad arrow between two pictures, with a word over it."""
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1)
    ax.axis("off")
    arrow = "-|>,head_length=8,head_width=4"
    ax.add_patch(FancyArrowPatch((0.05, 0.5), (0.95, 0.5), arrowstyle=arrow, color=QUIET, lw=3))
    ax.text(0.5, 0.58, text, ha="center", va="bottom", color=INK)


def _changes(before: DirectedGraph, after: DirectedGraph) -> tuple[set[Edge], set[Edge]]:
    return set(after.edges) - set(before.edges), set(before.edges) - set(after.edges)


def _step_picture(
    before: DirectedGraph, after: DirectedGraph, places: Mapping[str, Place], columns: list[int]
) -> Figure:
    """A graph and its support, before and after one step."""
    figure = Figure(figsize=(9.2, 2.3), layout="constrained")
    axes = figure.subplots(1, 5, width_ratios=[1.2, 1, 0.4, 1.2, 1])
    gained, lost = _changes(before, after)
    draw_graph(axes[0], before, places, lost=lost)
    draw_support(axes[1], before.support, before.names, marked=columns)
    _between(axes[2])
    draw_graph(axes[3], after, places, gained=gained)
    draw_support(axes[4], after.support, after.names, marked=columns)
    return figure


def support() -> Figure:
    """A graph beside its support."""
    graph = DirectedGraph.from_edges([("a", "b"), ("b", "c"), ("c", "b")])
    figure = Figure(figsize=(4.6, 2.1), layout="constrained")
    left, right = figure.subplots(1, 2)
    draw_graph(left, graph, {"a": (0, 0), "b": (0.9, 0), "c": (1.8, 0)})
    draw_support(right, graph.support, graph.names, marked=[1])
    return figure


def rotations() -> Figure:
    """What a rotation of two columns can do, by how many rows they differ in."""
    names = ("1", "2", "3", "4")
    # The supports before and after the rotation of both columns that empties the first entry.
    cases = [
        ("equal columns: reduction", ["11", "11", "11", "00"], ["01", "11", "11", "00"]),
        ("one row apart: exchange", ["11", "11", "01", "00"], ["01", "11", "11", "00"]),
        ("row 1 in one of them only: swap", ["10", "11", "01", "01"], ["01", "11", "10", "10"]),
        ("further apart: zeros are lost", ["11", "10", "01", "01"], ["01", "11", "11", "11"]),
    ]
    figure = Figure(figsize=(8.4, 4.6), layout="constrained")
    for part, (title, *rows) in zip(figure.subfigures(2, 2).flat, cases, strict=True):
        part.suptitle(title, fontsize=11, color=INK)
        left, middle, right = part.subplots(1, 3, width_ratios=[1, 0.5, 1])
        before, after = np.array([[list(row) for row in each] for each in rows]) == "1"
        draw_support(left, before, names)
        _between(middle)
        draw_support(right, after, names, emptied=[(0, 0)])
    return figure


def exchange() -> Figure:
    """A parent exchange that turns an edge."""
    graph = DirectedGraph.from_edges([("a", "b"), ("b", "c")])
    after = ParentExchange.of(graph, "b", "a", drop="a").apply(graph)
    return _step_picture(graph, after, {"a": (0, 0), "b": (0.9, 0), "c": (1.8, 0)}, [0, 1])


def reversion() -> Figure:
    """A cycle turned, with an edge from outside."""
    names = ["a", "b", "c", "d"]
    graph = DirectedGraph.from_edges([("d", "a"), ("a", "b"), ("b", "c"), ("c", "a")], names)
    after = CycleReversion.of(graph, "a", "b", "c").apply(graph)
    return _step_picture(graph, after, TRIANGLE | {"d": (-0.55, 0.9)}, [0, 1, 2])


def reduction() -> Figure:
    """Two nodes with the same column: one edge is redundant."""
    graph = DirectedGraph.from_edges([("a", "b"), ("b", "a"), ("c", "a"), ("c", "b")], list("abc"))
    places = {"a": (0, 0.9), "b": (1, 0.9), "c": (0.5, 0)}
    return _step_picture(graph, graph.reduced(), places, [0, 1])


def members() -> Figure:
    """The eight irreducible members of the paper's example."""
    graph = DirectedGraph.from_edges(
        [("1", "3"), ("3", "2"), ("2", "4"), ("4", "1"), ("4", "3")], list("1234")
    )
    figure = Figure(figsize=(8.4, 4.4), layout="constrained")
    graphs = sorted(equivalence_class(graph), key=lambda member: len(_changes(graph, member)[0]))
    for ax, member in zip(figure.subplots(2, 4).flat, graphs, strict=True):
        draw_graph(ax, member, SQUARE, gained=_changes(graph, member)[0])
    return figure


def quasi() -> Figure:
    """The 3-cycle and the complete acyclic graph, and how their distributions overlap."""
    cycle = DirectedGraph.from_edges([("a", "b"), ("b", "c"), ("c", "a")])
    complete = DirectedGraph.from_edges([("a", "b"), ("b", "c"), ("a", "c")])
    figure = Figure(figsize=(7.6, 2.4), layout="constrained")
    left, middle, right = figure.subplots(1, 3, width_ratios=[1, 1.3, 1])
    draw_graph(left, cycle, TRIANGLE)
    draw_graph(right, complete, TRIANGLE)
    middle.add_patch(Circle((0, 0), 1.0, facecolor="#eef2f5", edgecolor=INK, lw=1.4))
    middle.add_patch(Circle((-0.07, 0), 0.84, facecolor="#cfe3f1", edgecolor=GAIN, lw=1.4))
    middle.text(-0.07, 0, "3-cycle", ha="center", va="center", color=INK)
    middle.text(0, -1.1, "all covariances: complete graph", ha="center", va="top", color=INK)
    middle.set_xlim(-1.7, 1.7)
    middle.set_ylim(-1.4, 1.1)
    _bare(middle, "")
    return figure


def counterexample() -> Figure:
    """Two graphs with the same distributions that no rotations link, and what both imply."""
    first = DirectedGraph.from_edges(
        [("1", "2"), ("4", "3"), ("1", "4"), ("2", "4"), ("3", "4")], list("1234")
    )
    second = DirectedGraph.from_edges(
        [("3", "4"), ("2", "1"), ("1", "2"), ("3", "2"), ("4", "2")], list("1234")
    )
    figure = Figure(figsize=(9.2, 2.4), layout="constrained")
    axes = figure.subplots(1, 5, width_ratios=[1.1, 1, 1, 1, 1.1])
    draw_graph(axes[0], first, SQUARE, title="A")
    draw_support(axes[1], first.support, first.names)
    _block_picture(axes[2])
    draw_support(axes[3], second.support, second.names)
    draw_graph(axes[4], second, SQUARE, title="B")
    return figure


def _block_picture(ax: Axes) -> None:
    for i, j in np.ndindex(4, 4):
        is_block = i // 2 != j // 2
        face = "#cfe3f1" if is_block else "white"
        ax.add_patch(Rectangle((j, 3 - i), 1, 1, facecolor=face, edgecolor=QUIET))
    ax.text(3, 3, "rank 1", ha="center", va="center", color=GAIN)
    ax.text(1, 1, "rank 1", ha="center", va="center", color=GAIN)
    ax.set_xlim(-0.8, 4.2)
    ax.set_ylim(-0.2, 4.9)
    _bare(ax, "both: Θ")


GENES: dict[str, Place] = {
    "ATM": (0, 1.6),
    "ARF": (1, 1.6),
    "p53": (0, 0.8),
    "MDM2": (1, 0.8),
    "p21": (0, 0),
}
LOOP = [("ATM", "p53"), ("ARF", "MDM2"), ("p53", "MDM2"), ("MDM2", "p53"), ("p53", "p21")]


def _genes() -> LinearGaussianModel:
    """The model of the tutorial."""
    weights = pd.DataFrame(0.0, index=list(GENES), columns=list(GENES))
    for edge, weight in zip(LOOP, (1.0, -1.0, 0.9, -0.6, 0.8), strict=True):
        weights.loc[edge] = weight
    return LinearGaussianModel(weights, noise_variances=[1, 1, 1, 1, 1])


@cache
def _learned() -> LearnResult:
    """The result of the tutorial, from the same data."""
    return learn(_genes().sample(1_000, random_state=0).round(3))


def p53() -> Figure:
    """The result of the tutorial as it draws itself."""
    return _learned().plot().figure


def p53_shared() -> Figure:
    """What its class agrees on."""
    return _learned().equivalence_class.plot().figure


def p53_bootstrap() -> Figure:
    """How often each edge comes out, from the data of the page on resampling."""
    data = _genes().sample(500, random_state=1)
    return bootstrap(data, 10, random_state=0, n_starts=1).plot().figure


def p53_class() -> Figure:
    """The two members of its class."""
    graph = DirectedGraph.from_edges(LOOP, list(GENES))
    figure = Figure(figsize=(5.6, 2.6), layout="constrained")
    for ax, member in zip(figure.subplots(1, 2), equivalence_class(graph), strict=True):
        gained, _ = _changes(graph, member)
        draw_graph(ax, member, GENES, gained=gained)
    return figure


PICTURES = {
    "p53": p53,
    "p53_bootstrap": p53_bootstrap,
    "p53_shared": p53_shared,
    "p53_class": p53_class,
    "support": support,
    "rotations": rotations,
    "exchange": exchange,
    "reversion": reversion,
    "reduction": reduction,
    "members": members,
    "quasi": quasi,
    "counterexample": counterexample,
}


def make_pictures(folder: Path) -> None:
    """Write every picture as SVG."""
    folder.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context(STYLE):
        for name, draw in PICTURES.items():
            path = folder / f"{name}.svg"
            draw().savefig(path, metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    default = Path(__file__).parent / "images"
    make_pictures(Path(sys.argv[1]) if len(sys.argv) > 1 else default)
