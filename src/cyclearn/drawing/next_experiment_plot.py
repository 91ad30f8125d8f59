"""A picture of what each candidate experiment would leave open."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cyclearn.drawing.palette import BLUE, GREY, VERMILION, open_axes, plain_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from cyclearn.results import NextExperiment

_MOST = 20


def plot_candidates(advice: NextExperiment, ax: Axes | None = None) -> Axes:
    """Draw a bar for the graphs left on average and a mark for the worst case, best at the top.

    Predicted rows are written next to the bars. At most the 20 best are drawn.
    """
    shown = advice.candidates[:_MOST]
    ax = open_axes(ax, (5.2, 1.2 + 0.28 * len(shown)))
    places = np.arange(len(shown))
    labels = [plain_text(", ".join(c.targets)) for c in shown]
    ax.barh(places, [c.expected_left for c in shown], color=BLUE, height=0.6, label="on average")
    ax.plot(
        [c.largest_left for c in shown], places, "D", color=VERMILION, ms=5, label="at most", ls=""
    )
    for place, candidate in zip(places, shown, strict=True):
        rows = candidate.numbers()["rows"]
        if np.isfinite(rows):
            ax.annotate(
                f"{rows:,.0f} rows",
                (candidate.largest_left, place),
                xytext=(7, 0),
                textcoords="offset points",
                va="center",
                size="small",
                color=GREY,
            )
    ax.set_yticks(places, labels)
    ax.invert_yaxis()
    ax.set_xlim(0, 1.25 * max(max(c.largest_left, c.expected_left) for c in shown))
    ax.set_xlabel("graphs left")
    ax.set_ylabel("variables intervened on")
    ax.legend(frameon=False, fontsize="small", loc="lower right")
    return ax
