"""Colours that colour-blind readers can distinguish (after Okabe and Ito), and dashes."""

from __future__ import annotations

from typing import Literal

from cyclearn.foundation.late_imports import Axes

BLUE, VERMILION, INK, GREY = "#0072b2", "#d55e00", "#222222", "#6b6b6b"

# As matplotlib's ``linestyle``.
Dashes = Literal["solid"] | tuple[int, tuple[float, ...]]
DASHED: Dashes = (0, (4.0, 1.8))
DOTTED: Dashes = (0, (1.0, 1.4))


def plain_text(text: str) -> str:
    """Text for matplotlib with escaped dollar signs."""
    return text.replace("$", r"\$")


def open_axes(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """Axes without top and right spines; by default in a new figure."""
    if ax is None:
        from matplotlib.figure import Figure

        ax = Figure(figsize=size, layout="constrained").add_subplot()
    ax.spines[["top", "right"]].set_visible(False)
    return ax
