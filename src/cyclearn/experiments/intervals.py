"""Confidence intervals for shares of outputs, when outputs of one true graph go together."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from cyclearn.identifiability.numerics.numerical_overlap import wilson_interval


@dataclass(frozen=True)
class Share:
    """A share with Wilson's 95% interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.0%} [{self.low:.0%}, {self.high:.0%}]"


def share(successes: Sequence[bool], groups: Sequence[Hashable]) -> Share:
    """Share of successes, with an interval that allows for groups of alike outputs.

    Outputs of one true graph resemble each other, so they count as fewer than they are: Wilson's
    interval is taken with the number of independent outputs that would make the share as uncertain
    as its spread between groups does, at least the number of groups and at most that of outputs.

    Examples
    --------
    Ten outputs of one graph say no more than one where all are alike:

    >>> print(share([True] * 10 + [False] * 10, [1] * 10 + [2] * 10))
    50% [9%, 91%]
    >>> print(share([True, False] * 10, range(20)))
    50% [30%, 70%]
    """
    values = np.asarray(successes, dtype=float)
    n = len(values)
    _, index = np.unique(np.asarray([str(group) for group in groups]), return_inverse=True)
    sizes = np.bincount(index)
    n_groups = len(sizes)
    p = float(values.mean())
    effective = float(n_groups)
    if n_groups > 1 and 0 < p < 1:
        # The variance of a ratio of sums over groups.
        residual = np.bincount(index, weights=values) - p * sizes
        variance = n_groups / (n_groups - 1) * float(residual @ residual) / n**2
        effective = min(max(p * (1 - p) / variance, n_groups), n) if variance > 0 else n
    return Share(p, *wilson_interval(p * effective, effective))
