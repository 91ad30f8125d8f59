"""The optima of one component: several starts, and the distinct points with the best value."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# Negative log-likelihoods per sample closer than this are one maximum reached twice.
_SAME_VALUE = 1e-8
# Coefficients closer than this, relative to the largest, are one point reached twice.
_SAME_POINT = 1e-4


class Run(NamedTuple):
    """Where one start led; see :func:`cyclearn._kernels.component_fit.fit_component`."""

    value: float
    coefficients: FloatArray
    gradient_norm: float
    iterations: int
    status: int


def fit_from_starts(
    R: FloatArray,
    nodes: IntArray,
    offsets: IntArray,
    parents: IntArray,
    inside: NDArray[np.bool_],
    starts: FloatArray,
    tolerance: float,
    max_iterations: int,
) -> list[Run]:
    """Fit a component from every row of ``starts``, shape (n_starts, m), and once more.

    The last run starts at the best coefficients so far divided by the squared geometric mean of
    their moduli ``inside`` the component. On a chordless cycle that inverts the gain, which is
    where its second solution lies.
    """
    from cyclearn._kernels.component_fit import fit_component

    runs = [
        Run(*fit_component(R, nodes, offsets, parents, start, tolerance, max_iterations))
        for start in starts
    ]
    best = min(runs, key=_value).coefficients
    scale = np.exp(-2 * np.log(np.maximum(np.abs(best[inside]), 1e-3)).mean())
    runs.append(
        Run(*fit_component(R, nodes, offsets, parents, scale * best, tolerance, max_iterations))
    )
    return runs


def distinct_optima(runs: list[Run]) -> list[Run]:
    """The best of several runs, then one run for each other point that reaches its value.

    Where some starts run to infinity and others settle at the same value, the maximum exists,
    and these are the ones that count.
    """
    from cyclearn._kernels.component_fit import CONVERGED, SINGULAR

    best = min(runs, key=_value)
    reached = [run for run in runs if run.value <= best.value + _SAME_VALUE]
    settled = [run for run in reached if run.status in (CONVERGED, SINGULAR)]
    if settled:
        best = min(settled, key=_value)
    kept = [best]
    for run in settled or [run for run in reached if run.status == best.status]:
        if not any(_same_point(run.coefficients, other.coefficients) for other in kept):
            kept.append(run)
    return kept


def _value(run: Run) -> float:
    return run.value


def _same_point(a: FloatArray, b: FloatArray) -> bool:
    return bool(np.abs(a - b).max() <= _SAME_POINT * max(1.0, np.abs(b).max()))
