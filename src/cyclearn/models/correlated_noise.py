"""Maximum likelihood with correlated noises of some pairs, the effect of hidden common causes.

X = BᵀX + N with Cov(N) = Ω, which off its diagonal is free at the pairs and zero elsewhere. With S
the covariance of the data, the negative log-likelihood of a row is, up to a constant,

    f(B, Ω) = ½ log det Ω + ½ (tr Ω⁻¹(I − B)ᵀS(I − B) − p) − log|det(I − B)|.

It is a sum over *blocks*: nodes joined by pairs or cycles. A block without pairs is an ordinary
component. A block with pairs is fitted by coordinate steps (Drton, Eichler and Richardson, JMLR 10,
2009, for acyclic graphs; Drton, Fox and Wang, Annals of Statistics 47, 2019, for all). One step
fits everything about node i, given the rest: its noise is Nᵢ = ω·Z + rest, where Z = Ω₋ᵢ₋ᵢ⁻¹N₋ᵢ are
pseudo-variables, so its weights and its covariances ω with its partners are the least squares
coefficients θ of Xᵢ on its parents and on the Z of the partners. On a cycle det(I − B) = c₀ + c·θ
matters too. Let G be the covariance of the regressors, r the residual variance and a = c₀ + c·θ;
then the exact minimum is θ + (r / a) G⁻¹c.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cyclearn.data.moments import Moments
from cyclearn.foundation.arrays import BoolArray, FloatArray, IntArray
from cyclearn.foundation.errors import InputError
from cyclearn.graphs.bitsets import bits, strong_components, support_to_columns
from cyclearn.graphs.directed_graph import DirectedGraph, Edge
from cyclearn.models import components as component_fits

if TYPE_CHECKING:
    from cyclearn._kernels.noise_blocks import Block

Pairs = frozenset[tuple[int, int]]

# Decrease of f in a round of steps at which a fit has converged, and the maximum number of rounds:
# with 10,000 rows, stopping there changes the log-likelihood by less than about 0.001.
_TOLERANCE = 1e-11
_MAX_ROUNDS = 1_000
# Zero and random ones, as for components without pairs (:func:`component_starts`).
_CYCLIC_STARTS = 4


@dataclass(frozen=True, eq=False)
class BlockFit:
    """The fit of one block of k nodes, on the scale of the covariance that was fitted.

    ``value`` is its part of f, ``B`` its columns of the weights, shape (p, k), ``omega`` the
    covariance of its noises, shape (k, k).
    """

    nodes: tuple[int, ...]
    value: float
    B: FloatArray
    omega: FloatArray

    @property
    def spectral_radius(self) -> float:
        """Largest modulus of an eigenvalue of the weights inside the block."""
        return float(np.abs(np.linalg.eigvals(self.B[list(self.nodes)])).max())


class CorrelatedNoise:
    """Fits to one covariance matrix; each block is fitted once, and ``n_fits`` counts them."""

    def __init__(self, S: FloatArray) -> None:
        self._S = S
        self._fits: dict[tuple[object, ...], BlockFit] = {}

    @property
    def n_fits(self) -> int:
        """Blocks that were fitted."""
        return len(self._fits)

    def value(self, adjacency: BoolArray, pairs: Pairs) -> float:
        """The smallest f found; infinite if parents determine a node exactly."""
        return sum(each.value for each in self.blocks(adjacency, pairs))

    def value_of_part(self, adjacency: BoolArray, pairs: Pairs, part: int) -> float:
        """The contribution to f of a set of nodes of an acyclic graph that no pair leaves."""
        alone = {node: 1 << node for node in bits(part)}
        inside = frozenset(pair for pair in pairs if pair[0] in alone)
        return sum(self._fitted(adjacency, block, inside).value for block in _joined(alone, inside))

    def blocks(self, adjacency: BoolArray, pairs: Pairs) -> Iterator[BlockFit]:
        """The fit of every block; pairs are positions (i, j) with i < j."""
        components = dict(enumerate(strong_components(support_to_columns(adjacency))))
        return (self._fitted(adjacency, block, pairs) for block in _joined(components, pairs))

    def _fitted(self, adjacency: BoolArray, block: int, pairs: Pairs) -> BlockFit:
        nodes = tuple(bits(block))
        inside = tuple(sorted(pair for pair in pairs if block >> pair[0] & 1))
        key = block, adjacency[:, nodes].tobytes(), inside
        if key not in self._fits:
            self._fits[key] = _fit_block(self._S, adjacency, nodes, inside)
        return self._fits[key]

    def noise(self, adjacency: BoolArray, pairs: Pairs, nodes: Sequence[int]) -> FloatArray:
        """The covariance of the noises of nodes in one block."""
        block = next(each for each in self.blocks(adjacency, pairs) if nodes[0] in each.nodes)
        places = [block.nodes.index(node) for node in nodes]
        return np.asarray(block.omega[np.ix_(places, places)])


def is_one_factor(omega: FloatArray) -> bool:
    """Whether one common cause explains the covariances of three variables.

    ωᵢⱼ = λᵢλⱼ off the diagonal gives λᵢ² = ωᵢⱼωᵢₖ / ωⱼₖ, which must be positive and less than ωᵢᵢ.

    Examples
    --------
    >>> all_positive = np.array([[1, 0.3, 0.4], [0.3, 1, 0.5], [0.4, 0.5, 1]])
    >>> is_one_factor(all_positive), is_one_factor(2 * np.eye(3) - all_positive)
    (True, False)
    """
    x, y, z = omega[1, 2], omega[0, 2], omega[0, 1]
    loadings = np.array([y * z / x, x * z / y, x * y / z])
    return bool((loadings > 0).all() and (loadings < omega.diagonal()).all())


@dataclass(frozen=True, eq=False)
class CorrelatedFit:
    """Weights, covariance of the noises and log-likelihood, on the scale of the data."""

    B: FloatArray
    omega: FloatArray
    log_likelihood: float


def fit_correlated(graph: DirectedGraph, moments: Moments, pairs: Sequence[Edge]) -> CorrelatedFit:
    """Maximum likelihood on a graph whose noises correlate in some pairs of variables.

    Examples
    --------
    >>> graph = DirectedGraph.from_edges([("x", "a"), ("y", "b")])
    >>> S = [[1.0, 0.5, 0.0, 0.0], [0.5, 1.0, 0.0, 0.3], [0.0, 0.0, 1.0, 0.6], [0.0, 0.3, 0.6, 1.0]]
    >>> found = fit_correlated(graph, Moments(S, 100, names=list("xayb")), [("a", "b")])
    >>> found.omega[1].round(2)
    array([0.  , 0.75, 0.  , 0.3 ])
    """
    moments = moments.aligned_to(graph.names)
    places = frozenset(checked_pair(graph, pair) for pair in pairs)
    p, scale = graph.n_nodes, moments.scale
    B, omega, value = np.zeros((p, p)), np.zeros((p, p)), 0.0
    for block in CorrelatedNoise(moments.correlation).blocks(graph.adjacency, places):
        index = list(block.nodes)
        B[:, index] = block.B
        omega[np.ix_(index, index)] = block.omega
        value += block.value
    constant = 0.5 * p * (1 + np.log(2 * np.pi)) + np.log(scale).sum()
    return CorrelatedFit(
        B * scale / scale[:, None],
        omega * np.outer(scale, scale),
        float(-moments.n_samples * (value + constant)),
    )


def checked_pair(graph: DirectedGraph, pair: Edge) -> tuple[int, int]:
    """The positions of two different variables, the smaller first."""
    i, j = sorted(graph.index(name) for name in pair)
    if i == j:
        raise InputError(f"the pair {pair!r} is one variable; give two different ones")
    return i, j


def _joined(component_of: dict[int, int], pairs: Pairs) -> Iterator[int]:
    """The blocks: the components of nodes, joined by pairs."""
    for i, j in pairs:
        both = component_of[i] | component_of[j]
        component_of.update(dict.fromkeys(bits(both), both))
    return iter(dict.fromkeys(component_of.values()))


def _fit_block(
    S: FloatArray, adjacency: BoolArray, nodes: tuple[int, ...], pairs: tuple[tuple[int, int], ...]
) -> BlockFit:
    try:
        if len(nodes) == 1:
            weights, variance = _least_squares(S, _parents(adjacency, nodes[0]), nodes[0])
            value = float(0.5 * np.log(variance))
            return BlockFit(nodes, value, weights[:, None], np.array([[variance]]))
        return _steps(S, adjacency, nodes, pairs) if pairs else _loop(S, adjacency, nodes)
    except (component_fits.CollinearError, np.linalg.LinAlgError):
        k = len(nodes)
        return BlockFit(nodes, np.inf, np.zeros((len(S), k)), np.zeros((k, k)))


def _parents(adjacency: BoolArray, node: int) -> IntArray:
    return np.flatnonzero(adjacency[:, node]).astype(np.int64)


def _least_squares(S: FloatArray, parents: IntArray, node: int) -> tuple[FloatArray, float]:
    weights = np.zeros(len(S))
    weights[parents] = np.linalg.solve(S[np.ix_(parents, parents)], S[parents, node])
    variance = float(S[node, node] - S[node] @ weights)
    if not variance > np.finfo(float).eps:
        # The parents determine the node exactly.
        raise np.linalg.LinAlgError
    return weights, variance


def _loop(S: FloatArray, adjacency: BoolArray, nodes: tuple[int, ...]) -> BlockFit:
    """A component with cycles, and with independent noises."""
    found = component_fits.fit_component_solutions(
        S, component_fits.ComponentColumns.of(adjacency, nodes)
    )
    best, columns = found.solutions[0], found.columns
    B = np.zeros((len(S), len(nodes)))
    B[columns.parents, np.searchsorted(columns.nodes, columns.children)] = best.coefficients
    return BlockFit(nodes, found.value, B, np.diag(best.noise_variances))


def _steps(
    S: FloatArray, adjacency: BoolArray, nodes: tuple[int, ...], pairs: tuple[tuple[int, int], ...]
) -> BlockFit:
    """The best fit of a block with pairs; from several starts if it has cycles."""
    block = _block(adjacency, nodes, pairs)
    single = [_least_squares(S, _parents(adjacency, node), node) for node in nodes]
    starts = [np.column_stack([weights for weights, _ in single])]
    if block.has_cycle:
        inside = adjacency[:, nodes]
        for coefficients in component_fits.component_starts(0, _CYCLIC_STARTS, int(inside.sum())):
            B = np.zeros_like(starts[0])
            B[inside] = coefficients
            starts.append(B)
    found = [_fitted(S, block, start) for start in starts]
    return min(found, key=lambda each: each.value)


def _block(
    adjacency: BoolArray, nodes: tuple[int, ...], pairs: tuple[tuple[int, int], ...]
) -> Block:
    from cyclearn._kernels.noise_blocks import Block

    place = {node: t for t, node in enumerate(nodes)}
    is_pair = np.zeros((len(nodes), len(nodes)), dtype=bool)
    for i, j in pairs:
        is_pair[place[i], place[j]] = is_pair[place[j], place[i]] = True
    inner = support_to_columns(adjacency[np.ix_(nodes, nodes)])
    has_cycle = any(each.bit_count() > 1 for each in strong_components(inner))
    parents = _by_column(adjacency[:, nodes])
    return Block(np.array(nodes), *parents, *_by_column(is_pair), has_cycle)


def _by_column(chosen: BoolArray) -> tuple[IntArray, IntArray]:
    """Where the rows of each column begin, and the rows, one column after the other."""
    at = np.concatenate([[0], chosen.sum(axis=0).cumsum()]).astype(np.int64)
    return at, np.nonzero(chosen.T)[1].astype(np.int64)


def _fitted(S: FloatArray, block: Block, B: FloatArray) -> BlockFit:
    """Rounds of steps from weights."""
    from cyclearn._kernels.noise_blocks import fit_block

    own = block.nodes, np.arange(len(block.nodes))
    K = -B
    K[own] += 1.0
    omega = np.diag((K * (S @ K)).sum(axis=0))
    if not (omega.diagonal() > 0).all():
        raise np.linalg.LinAlgError
    value = fit_block(S, block, K, omega, _MAX_ROUNDS, _TOLERANCE)
    B = -K
    B[own] += 1.0
    return BlockFit(tuple(block.nodes.tolist()), value, B, omega)
