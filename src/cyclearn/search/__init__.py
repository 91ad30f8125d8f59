"""From moments to the graph with the best score: problem, score, moves, methods."""

from cyclearn.search.l1 import L1Fit as L1Fit
from cyclearn.search.l1 import l1_learn as l1_learn
from cyclearn.search.runs import SearchStatus as SearchStatus

__all__ = ["L1Fit", "SearchStatus", "l1_learn"]
