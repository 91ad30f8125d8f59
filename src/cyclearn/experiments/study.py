"""What a study is: settings and instances, each of which runs by itself from its own seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from cyclearn import __version__

if TYPE_CHECKING:
    from cyclearn.evaluation import StructureScores
    from cyclearn.experiments.compared_methods import Learned
    from cyclearn.models import FittedModel
    from cyclearn.results import LearnResult

Measures = Mapping[str, Any]


@dataclass(frozen=True, order=True)
class Task:
    """One instance of a study in one of its settings."""

    setting: str
    instance: int


@dataclass(frozen=True)
class Output:
    """One output of an instance: what was measured, and the seconds it took to learn.

    Measures are plain values that depend on the configuration alone; the seconds are kept apart.
    """

    number: int
    method: str
    measures: Measures
    seconds: float


class Study(Protocol):
    """A study that can be run instance by instance, in any order and in any process."""

    @property
    def name(self) -> str:
        """The name on the command line."""

    @property
    def seed(self) -> int:
        """What the seeds of all instances are derived from."""

    @property
    def configuration(self) -> dict[str, Any]:
        """All that the results depend on, as plain values; the number of instances is not in it."""

    def tasks(self, n_instances: int | None) -> list[Task]:
        """The tasks of so many instances, or of all there are."""

    def run(self, task: Task) -> list[Output]:
        """Run one instance."""


def configured(study: Study, **options: Any) -> dict[str, Any]:
    """A configuration: the study, the version, its seed, and its options."""
    return {"study": study.name, "cyclearn": __version__, "seed": study.seed, **options}


def instances(n_instances: int | None) -> range:
    """Numbers of so many instances; 100 by default, as in the paper."""
    return range(100 if n_instances is None else n_instances)


def reaches(learned: Learned | LearnResult, truth: FittedModel) -> bool:
    """Whether a learned graph scores at least as well as the true one."""
    assert learned.score is not None
    assert learned.penalty is not None
    bar = -truth.log_likelihood + learned.penalty * truth.graph.n_edges
    return bool(learned.score <= bar + 1e-6 * truth.n_samples)


def flat(scores: StructureScores, prefix: str = "") -> dict[str, float | None]:
    """Precision and recall of each kind in one record."""
    pairs = {name: getattr(scores, name) for name in ("adjacency", "arrowhead", "cycle")}
    return {
        f"{prefix}{name}_{kind}": value
        for name, pair in pairs.items()
        for kind, value in pair.to_dict().items()
    }


def task_generator(seed: int, *key: object) -> np.random.Generator:
    """A generator that depends on the seed and the key alone, not on what ran before.

    Examples
    --------
    >>> one, same, other = (task_generator(0, "paper", n) for n in (1, 1, 2))
    >>> first = one.integers(2**62)
    >>> bool(first == same.integers(2**62)), bool(first == other.integers(2**62))
    (True, False)
    """
    text = "/".join(map(str, key)).encode()
    return np.random.default_rng([seed, int.from_bytes(sha256(text).digest()[:8], "big")])
