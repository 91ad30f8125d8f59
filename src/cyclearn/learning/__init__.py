"""From data to graph: score, moves, search, knowledge, baseline, `learn` and the estimator."""

from cyclearn.learning.bootstrap import bootstrap as bootstrap
from cyclearn.learning.bootstrap_result import BootstrapResult as BootstrapResult
from cyclearn.learning.estimator import CyclicGraphLearner as CyclicGraphLearner
from cyclearn.learning.knowledge import Knowledge as Knowledge
from cyclearn.learning.l1 import L1Fit as L1Fit
from cyclearn.learning.l1 import l1_learn as l1_learn
from cyclearn.learning.learn import learn as learn
from cyclearn.learning.local_search import SearchStatus as SearchStatus
from cyclearn.learning.result import LearnResult as LearnResult

__all__ = [
    "BootstrapResult",
    "CyclicGraphLearner",
    "Knowledge",
    "L1Fit",
    "LearnResult",
    "SearchStatus",
    "bootstrap",
    "l1_learn",
    "learn",
]
