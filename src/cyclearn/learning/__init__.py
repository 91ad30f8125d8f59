"""From data to graph: score, moves, search, knowledge, baseline, `learn` and the estimator."""

from typing import TYPE_CHECKING, Any

from cyclearn.learning.bootstrap import bootstrap as bootstrap
from cyclearn.learning.bootstrap_result import BootstrapResult as BootstrapResult
from cyclearn.learning.class_effects import ClassEffects as ClassEffects
from cyclearn.learning.class_effects import class_effects as class_effects
from cyclearn.learning.knowledge import Knowledge as Knowledge
from cyclearn.learning.l1 import L1Fit as L1Fit
from cyclearn.learning.l1 import l1_learn as l1_learn
from cyclearn.learning.learn import learn as learn
from cyclearn.learning.local_search import SearchStatus as SearchStatus
from cyclearn.learning.result import LearnResult as LearnResult

if TYPE_CHECKING:
    from cyclearn.learning.estimator import CyclicGraphLearner as CyclicGraphLearner

__all__ = [
    "BootstrapResult",
    "ClassEffects",
    "CyclicGraphLearner",
    "Knowledge",
    "L1Fit",
    "LearnResult",
    "SearchStatus",
    "bootstrap",
    "class_effects",
    "l1_learn",
    "learn",
]


def __getattr__(name: str) -> Any:
    # scikit-learn takes a second to import, and only the estimator needs it.
    if name == "CyclicGraphLearner":
        from cyclearn.learning.estimator import CyclicGraphLearner

        return CyclicGraphLearner
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
