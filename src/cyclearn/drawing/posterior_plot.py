"""A picture of a posterior: what is probable, and how probable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclearn.drawing.plots import EdgeShares, draw_shares

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
    found.check_determined()
    joined = found.adjacency_probabilities().to_numpy()
    shares = EdgeShares(found.names, found.edges, joined, found.both, found.edges >= _SURE)
    return draw_shares(shares, ax, threshold, (f"probability ≥ {_SURE}", "less"))
