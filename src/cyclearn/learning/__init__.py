"""From a table to an answer in one call: `learn`, the estimator, `bootstrap`, `load`."""

from typing import TYPE_CHECKING, Any

from cyclearn.learning.bootstrap import bootstrap as bootstrap
from cyclearn.learning.learn import learn as learn
from cyclearn.learning.loading import load as load

if TYPE_CHECKING:
    from cyclearn.learning.estimator import CyclicGraphLearner as CyclicGraphLearner


def __getattr__(name: str) -> Any:
    # scikit-learn takes a second to import, and only the estimator needs it.
    if name == "CyclicGraphLearner":
        from cyclearn.learning.estimator import CyclicGraphLearner

        return CyclicGraphLearner
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
