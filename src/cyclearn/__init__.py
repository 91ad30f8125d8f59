"""Learn causal graphs with feedback loops, and know how much the data can settle.

Names are loaded when they are first used, so that ``import cyclearn`` stays fast.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cyclearn import metrics as metrics
    from cyclearn import simulate as simulate
    from cyclearn.classes import CycleReversion as CycleReversion
    from cyclearn.classes import Equivalence as Equivalence
    from cyclearn.classes import EquivalenceClass as EquivalenceClass
    from cyclearn.classes import InterventionalClass as InterventionalClass
    from cyclearn.classes import ParentExchange as ParentExchange
    from cyclearn.classes import ParentReduction as ParentReduction
    from cyclearn.classes import equivalent as equivalent
    from cyclearn.classes.equivalence_class import equivalence_class as equivalence_class
    from cyclearn.errors import InputError as InputError
    from cyclearn.errors import LimitError as LimitError
    from cyclearn.graphs import DirectedGraph as DirectedGraph
    from cyclearn.graphs import d_separated as d_separated
    from cyclearn.graphs import markov_equivalent as markov_equivalent
    from cyclearn.graphs import read_graph as read_graph
    from cyclearn.graphs import virtual_edges as virtual_edges
    from cyclearn.graphs import write_graph as write_graph
    from cyclearn.identifiability import Comparison as Comparison
    from cyclearn.identifiability import QuasiEquivalence as QuasiEquivalence
    from cyclearn.identifiability import check_assumption_one as check_assumption_one
    from cyclearn.identifiability import compare as compare
    from cyclearn.identifiability import is_faithful as is_faithful
    from cyclearn.identifiability import quasi_equivalent as quasi_equivalent
    from cyclearn.identifiability.constraints.hard_constraints import (
        hard_constraints as hard_constraints,
    )
    from cyclearn.learning import BootstrapResult as BootstrapResult
    from cyclearn.learning import ClassEffects as ClassEffects
    from cyclearn.learning import CyclicGraphLearner as CyclicGraphLearner
    from cyclearn.learning import Knowledge as Knowledge
    from cyclearn.learning import LearnResult as LearnResult
    from cyclearn.learning import MemberRanking as MemberRanking
    from cyclearn.learning import NextExperiment as NextExperiment
    from cyclearn.learning import Posterior as Posterior
    from cyclearn.learning import SamplingWarning as SamplingWarning
    from cyclearn.learning import SearchOptions as SearchOptions
    from cyclearn.learning.bootstrap import bootstrap as bootstrap
    from cyclearn.learning.class_effects import class_effects as class_effects
    from cyclearn.learning.learn import learn as learn
    from cyclearn.learning.loading import load as load
    from cyclearn.learning.next_experiment import next_experiment as next_experiment
    from cyclearn.learning.posterior import posterior as posterior
    from cyclearn.models import DataWarning as DataWarning
    from cyclearn.models import FittedGroups as FittedGroups
    from cyclearn.models import FittedModel as FittedModel
    from cyclearn.models import LinearGaussianModel as LinearGaussianModel
    from cyclearn.models import Moments as Moments
    from cyclearn.models import check_data as check_data
    from cyclearn.models import fit as fit
    from cyclearn.models import project as project
    from cyclearn.models import read_table as read_table
    from cyclearn.search import l1_learn as l1_learn

__version__ = "0.1.0"

_ROOM_OF = {
    "compare": "cyclearn.identifiability",
    "quasi_equivalent": "cyclearn.identifiability",
    "Comparison": "cyclearn.identifiability",
    "QuasiEquivalence": "cyclearn.identifiability",
    "hard_constraints": "cyclearn.identifiability",
    "is_faithful": "cyclearn.identifiability",
    "check_assumption_one": "cyclearn.identifiability",
    "Moments": "cyclearn.models",
    "LinearGaussianModel": "cyclearn.models",
    "check_data": "cyclearn.models",
    "read_table": "cyclearn.models",
    "DataWarning": "cyclearn.models",
    "fit": "cyclearn.models",
    "FittedGroups": "cyclearn.models",
    "FittedModel": "cyclearn.models",
    "project": "cyclearn.models",
    "learn": "cyclearn.learning",
    "load": "cyclearn.learning",
    "bootstrap": "cyclearn.learning",
    "posterior": "cyclearn.learning",
    "next_experiment": "cyclearn.learning",
    "MemberRanking": "cyclearn.learning",
    "NextExperiment": "cyclearn.learning",
    "Posterior": "cyclearn.learning",
    "SamplingWarning": "cyclearn.learning",
    "class_effects": "cyclearn.learning",
    "ClassEffects": "cyclearn.learning",
    "BootstrapResult": "cyclearn.learning",
    "LearnResult": "cyclearn.learning",
    "SearchOptions": "cyclearn.learning",
    "CyclicGraphLearner": "cyclearn.learning",
    "Knowledge": "cyclearn.learning",
    "l1_learn": "cyclearn.search",
    "virtual_edges": "cyclearn.graphs",
    "CycleReversion": "cyclearn.classes",
    "DirectedGraph": "cyclearn.graphs",
    "Equivalence": "cyclearn.classes",
    "EquivalenceClass": "cyclearn.classes",
    "InputError": "cyclearn.errors",
    "InterventionalClass": "cyclearn.classes",
    "LimitError": "cyclearn.errors",
    "ParentExchange": "cyclearn.classes",
    "ParentReduction": "cyclearn.classes",
    "d_separated": "cyclearn.graphs",
    "equivalence_class": "cyclearn.classes",
    "equivalent": "cyclearn.classes",
    "markov_equivalent": "cyclearn.graphs",
    "read_graph": "cyclearn.graphs",
    "write_graph": "cyclearn.graphs",
}
_MODULES = {"metrics", "simulate"}

__all__ = ["__version__", *sorted(_ROOM_OF), *sorted(_MODULES)]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"cyclearn.{name}")
    if name in _ROOM_OF:
        return getattr(import_module(_ROOM_OF[name]), name)
    raise AttributeError(f"module 'cyclearn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


def _say_compiling() -> None:
    import logging

    words = "first use on this machine: compiling, about two minutes"
    logging.getLogger("cyclearn").warning(words)


def _say_held() -> None:
    import logging

    words = "stopping as soon as the kernel at hand is compiled, some seconds"
    logging.getLogger("cyclearn").warning(words)


if hasattr(sys, "ps1"):
    # Somebody sits before this Python and waits.
    from cyclearn._kernels.first_use import when_compiling, when_held

    when_compiling(_say_compiling)
    when_held(_say_held)
