"""The share of one graph's distributions that another graph generates, by projection.

A distribution of the first graph is drawn and projected onto the second from several starts. It
counts as generated when the smallest Kullback–Leibler divergence found is below a tolerance. The
solver works on Q with zeros on the diagonal allowed, so "generated" means membership in the closed
set Θ(ξ) of the paper's supplement. A success is an approximate proof for one distribution; a
failure is not a proof, because a local search can miss the optimum.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cyclearn.classes.dimension import gram_jacobian
from cyclearn.foundation.arrays import FloatArray
from cyclearn.foundation.errors import InputError
from cyclearn.graphs.directed_graph import DirectedGraph
from cyclearn.models.components import ComponentColumns
from cyclearn.models.projection import nearest_weights

# Draws whose correlation matrix is closer to singular than this mostly show rounding errors.
_SMALLEST_EIGENVALUE = 1e-4
_MAX_ITERATIONS = 200
_GRADIENT = 1e-9
# If at most this share of the draws fails, each failure is tried again with more starts.
_RARE = 0.1
_MORE = 10


class Sampler(Enum):
    """How distributions are drawn; the value describes it."""

    GAUSSIAN = "every entry of Q on the support standard normal, the diagonal included"
    PAPER = "weights uniform on ±[0.2, 0.8], noise variances uniform on [1, 3], unstable draws kept"


@dataclass(frozen=True, eq=False)
class Overlap:
    """Share of the distributions drawn from one graph that the other generates.

    ``low`` and ``high`` are the ends of Wilson's 95% interval. ``n_common_tangent`` counts the
    common distributions, at most three, at which both sets have the same tangent space of full
    dimension; ``common`` has their factors on either graph. ``missed`` are the factors Q of the
    distributions that were not generated, the farthest first.
    """

    n_drawn: int
    n_generated: int
    low: float
    high: float
    n_common_tangent: int
    largest_divergence: float
    missed: tuple[FloatArray, ...]
    common: tuple[tuple[FloatArray, FloatArray], ...]

    @property
    def share(self) -> float:
        """Generated over drawn."""
        return self.n_generated / self.n_drawn

    def __str__(self) -> str:
        return f"{self.n_generated} of {self.n_drawn} [{self.low:.2f}, {self.high:.2f}]"

    def to_dict(self) -> dict[str, Any]:
        """Numbers only, ready for JSON."""
        return {
            "n_drawn": self.n_drawn,
            "n_generated": self.n_generated,
            "share": self.share,
            "interval": [self.low, self.high],
            "n_common_tangent": self.n_common_tangent,
            "largest_divergence": self.largest_divergence,
        }


def wilson_interval(successes: float, trials: float, z: float = 1.959964) -> tuple[float, float]:
    """Wilson's interval for a share.

    Examples
    --------
    >>> low, high = wilson_interval(10, 10)
    >>> round(low, 3), round(high, 3)
    (0.722, 1.0)
    """
    share, weight = successes / trials, z * z / trials
    centre = (share + weight / 2) / (1 + weight)
    half = z * np.sqrt(share * (1 - share) / trials + weight / (4 * trials)) / (1 + weight)
    low = 0.0 if successes == 0 else max(0.0, float(centre - half))
    high = 1.0 if successes == trials else min(1.0, float(centre + half))
    return low, high


def draw_factor(
    graph: DirectedGraph, sampler: Sampler, generator: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """A random Q on the support, rows scaled so that Σ is a correlation matrix, and this Σ.

    A draw is repeated while an eigenvalue of the correlation matrix is below 10⁻⁴.
    """
    support = graph.support
    p = graph.n_nodes
    for _ in range(10_000):
        if sampler is Sampler.GAUSSIAN:
            Q = np.where(support, generator.standard_normal((p, p)), 0.0)
        else:
            signs = generator.choice([-1.0, 1.0], size=(p, p))
            B = np.where(graph.adjacency, signs * generator.uniform(0.2, 0.8, (p, p)), 0.0)
            Q = (np.eye(p) - B) / np.sqrt(generator.uniform(1.0, 3.0, p))
        if np.linalg.matrix_rank(Q) < p:
            continue
        inverse = np.linalg.inv(Q)
        covariance = inverse.T @ inverse
        scale = np.sqrt(covariance.diagonal())
        R = covariance / np.outer(scale, scale)
        np.fill_diagonal(R, 1.0)
        if np.linalg.eigvalsh(R)[0] >= _SMALLEST_EIGENVALUE:
            return Q * scale[:, None], (R + R.T) / 2
    raise InputError("no draw on this graph has a well-conditioned correlation matrix")


def _starts(n_starts: int, columns: ComponentColumns, generator: np.random.Generator) -> FloatArray:
    """Zero, then ratios of normals: the coefficients of a Gaussian Q."""
    starts = np.zeros((n_starts, len(columns.parents)))
    tops = generator.standard_normal((n_starts - 1, len(columns.parents)))
    own = generator.standard_normal((n_starts - 1, len(columns.nodes)))
    own = np.where(np.abs(own) < 0.01, 0.01, own)
    places = np.repeat(np.arange(len(columns.nodes)), np.diff(columns.offsets))
    starts[1:] = tops / own[:, places]
    return starts


def nearest_factor(
    graph: DirectedGraph,
    R: FloatArray,
    *,
    n_starts: int,
    tolerance: float,
    generator: np.random.Generator,
) -> tuple[float, FloatArray]:
    """Smallest KL divergence found from the correlation matrix R to the graph, and Q there.

    The divergence is a sum over components; each stops when it is within a hundredth of the
    tolerance of its lower bound, and all stop when the sum is.
    """
    divergence, B = nearest_weights(
        graph,
        R,
        lambda columns: _starts(n_starts, columns, generator),
        tolerance=_GRADIENT,
        max_iterations=_MAX_ITERATIONS,
        close=tolerance / 100,
    )
    residual = np.eye(graph.n_nodes) - B
    return divergence, residual / np.sqrt(np.einsum("ij,ik,kj->j", residual, R, residual))


def overlap(
    g: DirectedGraph,
    h: DirectedGraph,
    *,
    n_draws: int,
    n_starts: int,
    tolerance: float,
    sampler: Sampler,
    random_state: int,
) -> Overlap:
    """Share of the distributions drawn from ``g`` that ``h`` generates.

    If at most a tenth of the draws fails, each failure is tried again from ten times as many
    starts.
    """
    generator = np.random.default_rng(random_state)
    common: list[tuple[FloatArray, FloatArray]] = []
    dimension = g.dimension()
    missed: list[tuple[float, FloatArray, FloatArray]] = []
    worst = 0.0
    to_other = partial(nearest_factor, h, tolerance=tolerance, generator=generator)
    for _ in range(n_draws):
        Q, R = draw_factor(g, sampler, generator)
        divergence, nearest = to_other(R, n_starts=n_starts)
        if divergence < tolerance:
            worst = max(worst, divergence)
            if len(common) < 3 and has_common_tangent_space(g, Q, h, nearest, dimension):
                common.append((Q, nearest))
        else:
            missed.append((divergence, Q, R))
    if len(missed) <= n_draws * _RARE:
        # A few failures among many successes are usually missed optima, not a difference.
        kept = []
        for _, Q, R in missed:
            divergence, _ = to_other(R, n_starts=_MORE * n_starts)
            if divergence >= tolerance:
                kept.append((divergence, Q, R))
        missed = kept
    missed.sort(key=lambda item: -item[0])
    n_generated = n_draws - len(missed)
    return Overlap(
        n_draws,
        n_generated,
        *wilson_interval(n_generated, n_draws),
        len(common),
        float(missed[0][0] if missed else max(worst, 0.0)),
        tuple(Q for _, Q, _ in missed),
        tuple(common),
    )


def has_common_tangent_space(
    g: DirectedGraph, Q: FloatArray, h: DirectedGraph, nearest: FloatArray, dimension: int
) -> bool:
    """Whether both sets have the same tangent space, of generic dimension, at a common point."""
    first = _unit_rows(gram_jacobian(g.columns, Q))
    second = _unit_rows(gram_jacobian(h.columns, nearest))
    ranks = [
        int(np.linalg.matrix_rank(rows, tol=1e-5))
        for rows in (first, second, np.vstack([first, second]))
    ]
    return ranks == [dimension] * 3


def _unit_rows(rows: NDArray[Any]) -> FloatArray:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1.0), dtype=np.float64)
