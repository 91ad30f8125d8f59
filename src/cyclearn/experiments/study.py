"""What a study is: settings and instances, each of which runs by itself from its own seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Protocol

import numpy as np

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
    def configuration(self) -> dict[str, Any]:
        """All that the results depend on, as plain values; the number of instances is not in it."""

    def tasks(self, n_instances: int | None) -> list[Task]:
        """The tasks of so many instances, or of all there are."""

    def run(self, task: Task) -> list[Output]:
        """Run one instance."""


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
