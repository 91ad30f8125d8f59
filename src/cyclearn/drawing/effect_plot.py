"""A picture of the possible effects in a class."""

from __future__ import annotations

from cyclearn.drawing.palette import BLUE, DASHED, GREY, VERMILION, Dashes, open_axes, plain_text
from cyclearn.foundation.late_imports import Axes
from cyclearn.results import ClassEffects

_SIZE = (4.8, 2.6)


def plot_effects(effects: ClassEffects, ax: Axes | None = None) -> Axes:
    """Draw every different effect as a stem whose height is its share of the stable members.

    Circles: total effects. Diamonds, dashed: effects of holding the source, if they differ.
    """
    ax = open_axes(ax, _SIZE)
    source, target = map(plain_text, (effects.source, effects.target))
    table = effects.distinct
    ax.axvline(0, color=GREY, linewidth=0.8, zorder=0)
    series: list[tuple[str, str, str, str, Dashes]] = [
        ("total_effect", "total effect", BLUE, "o", "solid")
    ]
    if not table["total_effect"].equals(table["do_effect"]):
        series.append(("do_effect", f"do({source})", VERMILION, "D", DASHED))
    for column, label, color, marker, style in series:
        shares = table.dropna(subset=[column]).groupby(column)["share"].sum()
        ax.vlines(shares.index, 0, shares, colors=color, linestyles=style, linewidth=1.4)
        ax.plot(shares.index, shares, marker, color=color, markersize=5, label=label)
    ax.set_ylim(0, 1.08)
    ax.margins(x=0.12)
    ax.set_xlabel(f"effect of {source} on {target}")
    ax.set_ylabel("share of stable members")
    listed = effects.listed
    drawn = "" if listed.selection == "all" else f" ({listed.selection})"
    ax.set_title(f"{effects.n_stable} stable of {listed.n_looked_at} members{drawn}", size="medium")
    if len(series) > 1:
        ax.legend(frameon=False, fontsize="small")
    return ax
