"""A study: independent instances, each with its own seed, and the methods compared."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from time import perf_counter
from typing import Any

import numpy as np

from cyclearn import __version__
from cyclearn.data import Moments
from cyclearn.foundation.errors import InputError
from cyclearn.graphs import DirectedGraph
from cyclearn.learning import learn
from cyclearn.search import l1_learn

Measures = Mapping[str, Any]


@dataclass(frozen=True, order=True)
class Task:
    """One instance of a study in one of its settings."""

    setting: str
    instance: int


@dataclass(frozen=True)
class Output:
    """One output of an instance: its measures, and the seconds it took to learn.

    Measures are plain values that depend only on the configuration; seconds are kept separate.
    """

    number: int
    method: str
    measures: Measures
    seconds: float


class Study(ABC):
    """A study that can be run instance by instance, in any order and in any process.

    Its fields are the options that the results depend on; ``name`` is its name on the command line.
    """

    name: str

    @property
    def configuration(self) -> dict[str, Any]:
        """Everything the results depend on except the number of instances, as plain values."""
        options = {field.removeprefix("n_"): value for field, value in vars(self).items()}
        return {"study": options.pop("name"), "cyclearn": __version__} | options

    @abstractmethod
    def tasks(self, n_instances: int | None) -> list[Task]:
        """The tasks of a number of instances, or of all."""

    @abstractmethod
    def run(self, task: Task) -> list[Output]:
        """Run one instance."""


def task_generator(seed: int, *key: object) -> np.random.Generator:
    """A generator that depends only on the seed and the key, not on earlier runs.

    Examples
    --------
    >>> one, same, other = (task_generator(0, "paper", n) for n in (1, 1, 2))
    >>> first = one.integers(2**62)
    >>> bool(first == same.integers(2**62)), bool(first == other.integers(2**62))
    (True, False)
    """
    text = "/".join(map(str, key)).encode()
    return np.random.default_rng([seed, int.from_bytes(sha256(text).digest()[:8], "big")])


METHODS = ("hill-climbing", "tabu", "auto", "default", "l1")
_KNOWN = (*METHODS, "exact", "tabu-2bic")


@dataclass(frozen=True)
class Learned:
    """A learned graph, its score (None for a method without a score) and the time it took."""

    graph: DirectedGraph
    score: float | None
    penalty: float | None
    seconds: float


def check_methods(methods: Sequence[str]) -> None:
    """Raise unless all methods are known, each named once."""
    for method in methods:
        if method not in _KNOWN:
            raise InputError(f"method {method!r} is unknown; the methods are {', '.join(_KNOWN)}")
    if not methods or len(set(methods)) < len(methods):
        raise InputError(f"methods are {', '.join(methods) or 'none'}; name one or more, each once")


def learn_by(method: str, moments: Moments) -> Learned:
    """Learn a graph by a method given by name, with the paper's penalty (BIC).

    ``"default"`` is the default of :func:`cyclearn.learn`: the search of ``"auto"`` with its
    default penalty. Tabu search has the paper's length, 5 for up to five variables and 10 beyond,
    and its patience of 5; l1 has its coefficient 0.1 and threshold 0.05.
    """
    begun = perf_counter()
    if method == "l1":
        graph = l1_learn(moments).graph
        return Learned(graph, None, None, perf_counter() - begun)
    options: dict[str, Any] = {"method": method, "penalty": "bic"}
    if method == "tabu":
        options |= {"tabu_length": 5 if moments.n_variables <= 5 else 10, "patience": 5}
    elif method == "tabu-2bic":
        options = {"method": "tabu", "penalty": "2 bic"}
    elif method == "default":
        options = {}
    result = learn(moments, **options)
    return Learned(result.graph, result.score, result.penalty, perf_counter() - begun)
