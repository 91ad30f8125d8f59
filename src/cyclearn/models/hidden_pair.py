"""Maximum likelihood with a hidden common cause of two variables: their noises correlate.

For a graph and a pair a, b, X = BᵀX + N with Ω diagonal but for Ω_ab. Taken as one block, a and b
and whatever lies on a cycle with them (a and b counting as joined both ways) are fitted together;
the rest of the graph is as before. Within the block Ω is maximised out, since the noises of a and b
have a covariance matrix of their own, and what is left is

    f(B) = ½ log det R_ab + Σ_j ½ log R_jj − log|det(I − B)|,   R the covariance of the noises.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cyclearn.data.moments import Moments
from cyclearn.foundation.arrays import BoolArray, FloatArray
from cyclearn.foundation.stability import is_stable_radius
from cyclearn.graphs.bitsets import bits, strong_components, support_to_columns
from cyclearn.graphs.directed_graph import DirectedGraph, Edge
from cyclearn.models.linear_gaussian import spectral_radius
from cyclearn.models.maximum_likelihood import fit

IntArray = NDArray[np.intp]

# Gradient of f on standardised variables at which a fit has arrived.
_TOLERANCE = 1e-7
# Where a weight is this large on standardised variables, the fit is running away.
_LARGEST = 50.0


@dataclass(frozen=True, eq=False)
class HiddenPairFit:
    """Log-likelihood of one row, and whether the weights of the block are stable."""

    log_likelihood: float
    is_stable: bool


class HiddenPair:
    """Fits of graphs with a hidden common cause of one pair; what is shared is computed once."""

    def __init__(self, moments: Moments, pair: Edge) -> None:
        self._moments = moments
        self._pair = tuple(moments.names.index(name) for name in pair)
        self._rest: dict[tuple[frozenset[int], bytes], float] = {}
        self._fits: dict[bytes, HiddenPairFit] = {}

    def fit(self, adjacency: BoolArray) -> HiddenPairFit:
        """The best fit of a graph in the order of the moments, without edges between the pair."""
        key = np.packbits(adjacency).tobytes()
        if key not in self._fits:
            self._fits[key] = self._fitted(adjacency)
        return self._fits[key]

    def _fitted(self, adjacency: BoolArray) -> HiddenPairFit:
        block = _block(adjacency, self._pair)
        value, B = _minimum(self._moments.correlation, adjacency, block, self._pair)
        inner = np.zeros_like(B)
        inner[np.ix_(block, block)] = B[np.ix_(block, block)]
        radius = spectral_radius(DirectedGraph(inner != 0), inner)
        total = self._rest_of(adjacency, block) - value
        return HiddenPairFit(float(total), is_stable_radius(radius))

    def _rest_of(self, adjacency: BoolArray, block: IntArray) -> float:
        """Log-likelihood of one row of all variables, those of the block without any cause."""
        others = adjacency.copy()
        others[:, block] = False
        key = frozenset(block.tolist()), np.packbits(others).tobytes()
        if key not in self._rest:
            moments = self._moments
            found = fit(DirectedGraph(others, moments.names), moments)
            self._rest[key] = found.log_likelihood / found.n_effective
        return self._rest[key]


def _block(adjacency: BoolArray, pair: tuple[int, ...]) -> IntArray:
    """The pair and all that lies on a cycle with it, a and b counting as joined both ways."""
    a, b = pair
    joined = list(support_to_columns(adjacency))
    joined[a] |= 1 << b
    joined[b] |= 1 << a
    return np.array(list(bits(strong_components(joined)[a])), dtype=np.intp)


def _minimum(
    R: FloatArray, adjacency: BoolArray, block: IntArray, pair: tuple[int, ...]
) -> tuple[float, FloatArray]:
    """The smallest f found, and weights of shape (p, p) with the columns of the block filled."""
    from scipy.optimize import minimize

    p = len(R)
    inside = np.zeros(p, dtype=bool)
    inside[block] = True
    i, j = np.nonzero(adjacency & inside)
    column = np.searchsorted(block, j)
    a, b = np.searchsorted(block, pair)
    singles = np.array([n for n in range(len(block)) if n not in (a, b)], dtype=np.intp)
    within = np.flatnonzero(inside[i])

    def value_and_gradient(weights: FloatArray) -> tuple[float, FloatArray]:
        K = np.zeros((p, len(block)))
        K[block, np.arange(len(block))] = 1.0
        K[i, column] -= weights
        SK = R @ K
        noise = K.T @ SK
        two = noise[np.ix_([a, b], [a, b])]
        det = two[0, 0] * two[1, 1] - two[0, 1] ** 2
        C = K[block]
        sign, log_det = np.linalg.slogdet(C)
        if det <= 0 or sign == 0 or (noise.diagonal() <= 0).any():
            return np.inf, np.zeros_like(weights)
        value = 0.5 * np.log(det) + 0.5 * np.log(noise.diagonal()[singles]).sum() - log_det
        G = np.zeros_like(SK)
        G[:, [a, b]] = -SK[:, [a, b]] @ np.linalg.inv(two)
        G[:, singles] = -SK[:, singles] / noise.diagonal()[singles]
        gradient = G[i, column]
        M = np.linalg.inv(C)
        gradient[within] += M[column[within], np.searchsorted(block, i[within])]
        return float(value), gradient

    B = np.zeros((p, p))
    if not len(i):
        return value_and_gradient(np.empty(0))[0], B
    best, weights = np.inf, np.zeros(len(i))
    for start in (_least_squares(R, i, j), np.zeros(len(i))):
        if not np.isfinite(value_and_gradient(start)[0]):
            continue
        found = minimize(
            value_and_gradient, start, jac=True, method="BFGS", options={"gtol": _TOLERANCE}
        )
        if found.fun < best - 1e-9 and np.abs(found.x).max() < _LARGEST:
            best, weights = float(found.fun), np.asarray(found.x)
        if not len(within):
            # Without edges inside the block the problem has one optimum.
            break
    B[i, j] = weights
    return best, B


def _least_squares(R: FloatArray, i: IntArray, j: IntArray) -> FloatArray:
    weights = np.zeros(len(i))
    for child in np.unique(j):
        own = np.flatnonzero(j == child)
        parents = i[own]
        weights[own] = np.linalg.solve(R[np.ix_(parents, parents)], R[parents, child])
    return weights
