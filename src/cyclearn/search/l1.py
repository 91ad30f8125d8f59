"""The paper's baseline: l1-regularised maximum likelihood, without a search over structures.

Per sample, minimise over B with a zero diagonal

    −log|det(I − B)| + Σⱼ ½ log sⱼ(B) + λ‖B‖₁,   sⱼ = (I − B)ⱼᵀ S (I − B)ⱼ,

and cut small entries. The problem is neither smooth nor convex. It is solved by proximal gradient
steps whose length follows the curvature last seen (Barzilai and Borwein), each checked to decrease
the objective, until the conditions of optimality hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from numbers import Real

import numpy as np

from cyclearn.data import as_moments
from cyclearn.data.moments import Data
from cyclearn.foundation import Answer, InputError, deadline_after, has_passed, short
from cyclearn.foundation.arguments import at_least, seconds
from cyclearn.foundation.arrays import FloatArray
from cyclearn.graphs import DirectedGraph

_SHORTEST = 1e-14


@dataclass(frozen=True)
class L1Fit(Answer):
    """Solution of the l1 problem: B before the cut, and its distance from optimality.

    ``violation`` is the largest violation of the optimality conditions: |gradient + λ sign B| on
    entries that are not zero, the excess of |gradient| over λ on entries that are.
    """

    graph: DirectedGraph
    B: FloatArray
    objective: float
    violation: float
    n_iterations: int
    converged: bool


def l1_learn(
    data: Data,
    *,
    coefficient: float = 0.1,
    threshold: float = 0.05,
    tolerance: float = 1e-6,
    max_iterations: int = 20_000,
    time_limit: float | None = None,
) -> L1Fit:
    """l1-regularised maximum likelihood, its entries cut at ``threshold``.

    The defaults are the paper's. The solution depends on the units of the data.

    Parameters
    ----------
    data : DataFrame, array of shape (n, p), path or Moments
    coefficient : float
        λ, the penalty per unit of absolute weight, per sample.
    threshold : float
        Weights up to this absolute value do not become edges.
    tolerance : float
        Largest violation of the optimality conditions at convergence.
    max_iterations : int
        Limit on gradient steps; ``converged`` of the result says whether they sufficed.
    time_limit : float, optional
        Limit in seconds, after which the current iterate is the solution.

    Returns
    -------
    L1Fit
        ``graph``, ``B`` before the cut, ``objective``, ``violation``, ``n_iterations``,
        ``converged``.

    Examples
    --------
    >>> from cyclearn import LinearGaussianModel
    >>> model = LinearGaussianModel([[0, 0.9], [0, 0]], [1, 1])
    >>> l1_learn(model.sample(1000, random_state=0)).converged
    True
    """
    for name, value in (
        ("coefficient", coefficient),
        ("threshold", threshold),
        ("tolerance", tolerance),
    ):
        is_number = isinstance(value, Real) and not isinstance(value, bool)
        if not (is_number and 0 <= value < inf):
            raise InputError(f"{name} is {short(value)}; give a number that is at least zero")
    max_iterations = at_least("max_iterations", max_iterations, 1) or 1
    deadline = deadline_after(seconds("time_limit", time_limit))
    moments = as_moments(data)
    S = moments.covariance
    p = len(S)
    off_diagonal = ~np.eye(p, dtype=bool)
    B = np.zeros((p, p))
    smooth, gradient = _likelihood(S, B)
    objective = smooth
    # In units of the largest entry, because its square may overflow.
    largest = float(np.abs(gradient).max(initial=1.0))
    step = 1.0 / (1.0 + largest * float(np.linalg.norm(gradient / largest)))
    violation = _violation(B, gradient, coefficient)
    iteration = 0
    while violation > tolerance and iteration < max_iterations and not has_passed(deadline):
        iteration += 1
        while True:
            candidate = B - step * gradient
            candidate = np.sign(candidate) * np.maximum(np.abs(candidate) - step * coefficient, 0)
            candidate *= off_diagonal
            moved = candidate - B
            smooth_after, gradient_after = _likelihood(S, candidate)
            after = smooth_after + coefficient * np.abs(candidate).sum()
            with np.errstate(over="ignore"):
                least = 1e-4 / step * np.sum(moved**2)
            if after <= objective - least or step < _SHORTEST:
                break
            step /= 2
        if not after <= objective:
            break  # no step is short enough: scales differ too much, or rounding limits it
        bend = np.sum(moved * (gradient_after - gradient))
        B, gradient, objective = candidate, gradient_after, after
        # The problem is not convex; negative curvature calls for a long step.
        step = (
            float(np.clip(np.sum(moved**2) / bend, 1e-8, 1e4)) if bend > 0 else min(2 * step, 1e4)
        )
        violation = _violation(B, gradient, coefficient)
        if not np.any(moved):
            break
    graph = DirectedGraph(np.abs(B) > threshold, moments.names)
    return L1Fit(graph, B, float(objective), violation, iteration, violation <= tolerance)


def _likelihood(S: FloatArray, B: FloatArray) -> tuple[float, FloatArray]:
    """Negative log-likelihood per sample without constants, and its gradient in B.

    Infinite if weights are so large that it overflows.
    """
    Q = np.eye(len(S)) - B
    sign, log_det = np.linalg.slogdet(Q)
    if sign == 0:
        return np.inf, np.zeros_like(B)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        SQ = S @ Q
        s = np.einsum("ij,ij->j", Q, SQ)
        gradient = np.linalg.inv(Q).T - SQ / s
        value = float(0.5 * np.log(s).sum() - log_det)
    np.fill_diagonal(gradient, 0.0)
    return (value if np.isfinite(gradient).all() else np.inf), gradient


def _violation(B: FloatArray, gradient: FloatArray, coefficient: float) -> float:
    on_support = np.abs(gradient + coefficient * np.sign(B))
    at_zero = np.maximum(np.abs(gradient) - coefficient, 0)
    off_diagonal = ~np.eye(len(B), dtype=bool)
    return float(np.max(np.where(B != 0, on_support, at_zero) * off_diagonal, initial=0.0))
