"""Learn causal graphs with feedback loops, and know how much the data determine.

Names are loaded when they are first used, so that ``import cyclearn`` stays fast; type checkers
read them from the stub beside this file.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

__version__ = "0.1.0"

# The package that defines each name.
_HOMES = {
    "foundation.errors": "InputError LimitError",
    "graphs": "DirectedGraph d_separated markov_equivalent read_graph virtual_edges write_graph",
    "classes": "Equivalence EquivalenceClass InterventionalClass equivalent",
    "classes.equivalence_class": "equivalence_class",
    "data": "DataWarning Moments Reading read_table",
    "models": "FittedGroups FittedModel LinearGaussianModel fit project",
    "identifiability": "Comparison QuasiEquivalence compare quasi_equivalent",
    "identifiability.constraints.hard_constraints": "hard_constraints",
    "search": "Knowledge SearchOptions check_data l1_learn",
    "search.progress": "Progress",
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
