"""From a table to an answer: `learn`, knowledge, results, estimator, bootstrap, posterior."""

from typing import TYPE_CHECKING, Any

from cyclearn.learning.bootstrap import bootstrap as bootstrap
from cyclearn.learning.bootstrap_result import BootstrapResult as BootstrapResult
from cyclearn.learning.class_effects import ClassEffects as ClassEffects
from cyclearn.learning.class_effects import class_effects as class_effects
from cyclearn.learning.knowledge import Knowledge as Knowledge
from cyclearn.learning.learn import learn as learn
from cyclearn.learning.loading import load as load
from cyclearn.learning.member_ranking_result import MemberRanking as MemberRanking
from cyclearn.learning.next_experiment import NextExperiment as NextExperiment
from cyclearn.learning.next_experiment import next_experiment as next_experiment
from cyclearn.learning.options import SearchOptions as SearchOptions
from cyclearn.learning.posterior import posterior as posterior
from cyclearn.learning.posterior_result import Posterior as Posterior
from cyclearn.learning.result import LearnResult as LearnResult
from cyclearn.learning.sample_quality import SamplingWarning as SamplingWarning

if TYPE_CHECKING:
    from cyclearn.learning.estimator import CyclicGraphLearner as CyclicGraphLearner

__all__ = [
    "BootstrapResult",
    "ClassEffects",
    "CyclicGraphLearner",
    "Knowledge",
    "LearnResult",
    "MemberRanking",
    "NextExperiment",
    "Posterior",
    "SamplingWarning",
    "SearchOptions",
    "bootstrap",
    "class_effects",
    "learn",
    "load",
    "next_experiment",
    "posterior",
]


def __getattr__(name: str) -> Any:
    # scikit-learn takes a second to import, and only the estimator needs it.
    if name == "CyclicGraphLearner":
        from cyclearn.learning.estimator import CyclicGraphLearner

        return CyclicGraphLearner
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
