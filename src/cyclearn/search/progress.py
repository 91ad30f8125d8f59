"""Progress of long computations: one value for callbacks, the command line and the application."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cyclearn.graphs import DirectedGraph


@dataclass(frozen=True)
class Progress:
    """The progress of a search, a sample of graphs or a bootstrap.

    Parameters
    ----------
    phase : {"search", "posterior", "bootstrap"}
    seconds : float
        Since that phase began.
    score, graph : float and DirectedGraph, optional
        The best score so far, for the whole sample, and its graph; ``cyclearn.fit`` gives its
        weights.
    start, agreeing : int
        The number of the current start, and how many starts before it reached the best score.
    done, wanted : float, optional
        The effective sample size of a posterior and its goal, or resamples of a bootstrap.
    steps, r_hat : int and float, optional
        The steps of each chain, and their agreement: R̂ is 1 if they agree.
    """

    phase: str
    seconds: float
    score: float | None = None
    graph: DirectedGraph | None = None
    start: int = 1
    agreeing: int = 0
    done: float = 0
    wanted: float | None = None
    steps: int = 0
    r_hat: float | None = None

    def __str__(self) -> str:
        if self.phase == "search" and self.graph is not None:
            words = f"best score {self.score:,.2f} with {self.graph.n_edges} edges"
            words += f", start {self.start}" if self.start > 1 else ""
            words += f", {self.agreeing} starts agree" if self.agreeing > 1 else ""
        elif self.phase == "posterior":
            words = f"effective sample size {self.done:,.0f} of {self.wanted:,.0f}, "
            words += f"{self.steps:,} steps, R̂ {self.r_hat:.3f}"
        else:
            words = f"{self.done:,.0f} of {self.wanted or 0:,.0f} resamples"
        return f"{self.phase}, {self.seconds:.0f} s: {words}"


OnProgress = Callable[[Progress], None]
