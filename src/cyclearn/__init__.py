"""Learn causal graphs with feedback loops, and know how much the data can settle.

Names are loaded when they are first used, so that ``import cyclearn`` stays fast.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cyclearn import metrics as metrics
    from cyclearn import simulate as simulate
    from cyclearn.classes import Equivalence as Equivalence
    from cyclearn.classes import EquivalenceClass as EquivalenceClass
    from cyclearn.classes import InterventionalClass as InterventionalClass
    from cyclearn.classes import equivalent as equivalent
    from cyclearn.classes.equivalence_class import equivalence_class as equivalence_class
    from cyclearn.data import DataWarning as DataWarning
    from cyclearn.data import Moments as Moments
    from cyclearn.data import Reading as Reading
    from cyclearn.data import read_table as read_table
    from cyclearn.foundation.errors import InputError as InputError
    from cyclearn.foundation.errors import LimitError as LimitError
    from cyclearn.foundation.progress import Progress as Progress
    from cyclearn.graphs import DirectedGraph as DirectedGraph
    from cyclearn.graphs import d_separated as d_separated
    from cyclearn.graphs import markov_equivalent as markov_equivalent
    from cyclearn.graphs import read_graph as read_graph
    from cyclearn.graphs import virtual_edges as virtual_edges
    from cyclearn.graphs import write_graph as write_graph
    from cyclearn.identifiability import Comparison as Comparison
    from cyclearn.identifiability import QuasiEquivalence as QuasiEquivalence
    from cyclearn.identifiability import compare as compare
    from cyclearn.identifiability import quasi_equivalent as quasi_equivalent
    from cyclearn.identifiability.constraints.hard_constraints import (
        hard_constraints as hard_constraints,
    )
    from cyclearn.learning.bootstrap import bootstrap as bootstrap
    from cyclearn.learning.estimator import CyclicGraphLearner as CyclicGraphLearner
    from cyclearn.learning.learn import learn as learn
    from cyclearn.learning.loading import load as load
    from cyclearn.models import FittedGroups as FittedGroups
    from cyclearn.models import FittedModel as FittedModel
    from cyclearn.models import LinearGaussianModel as LinearGaussianModel
    from cyclearn.models import fit as fit
    from cyclearn.models import project as project
    from cyclearn.posterior import Posterior as Posterior
    from cyclearn.posterior import SamplingWarning as SamplingWarning
    from cyclearn.posterior import posterior as posterior
    from cyclearn.results import BootstrapResult as BootstrapResult
    from cyclearn.results import ClassEffects as ClassEffects
    from cyclearn.results import LearnResult as LearnResult
    from cyclearn.results import MemberRanking as MemberRanking
    from cyclearn.results import NextExperiment as NextExperiment
    from cyclearn.results import class_effects as class_effects
    from cyclearn.results import next_experiment as next_experiment
    from cyclearn.search import Knowledge as Knowledge
    from cyclearn.search import SearchOptions as SearchOptions
    from cyclearn.search import check_data as check_data
    from cyclearn.search import l1_learn as l1_learn

__version__ = "0.1.0"

# The package that defines each name.
_HOMES = {
    "foundation.errors": "InputError LimitError",
    "foundation.progress": "Progress",
    "graphs": "DirectedGraph d_separated markov_equivalent read_graph virtual_edges write_graph",
    "classes": "Equivalence EquivalenceClass InterventionalClass equivalent",
    "classes.equivalence_class": "equivalence_class",
    "data": "DataWarning Moments Reading read_table",
    "models": "FittedGroups FittedModel LinearGaussianModel fit project",
    "identifiability": "Comparison QuasiEquivalence compare quasi_equivalent",
    "identifiability.constraints.hard_constraints": "hard_constraints",
    "search": "Knowledge SearchOptions check_data l1_learn",
    "posterior": "Posterior SamplingWarning posterior",
    "results": "BootstrapResult ClassEffects LearnResult MemberRanking NextExperiment "
    "class_effects next_experiment",
    "learning": "bootstrap learn load",
    "learning.estimator": "CyclicGraphLearner",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}
_MODULES = {"metrics", "simulate"}

__all__ = ["__version__", *sorted(_HOME_OF), *sorted(_MODULES)]


class _Package(ModuleType):
    """The package itself, whose ``posterior`` is the function, not the package that defines it."""

    def __setattr__(self, name: str, value: Any) -> None:
        # Importing a submodule binds its name here, where the function's belongs.
        if not (name in _HOME_OF and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"cyclearn.{name}")
    if name in _HOME_OF:
        return getattr(import_module(f"cyclearn.{_HOME_OF[name]}"), name)
    raise AttributeError(f"module 'cyclearn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
