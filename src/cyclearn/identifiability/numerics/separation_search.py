"""Distributions of a graph at which another graph is likely to fail, where random ones do not.

Sets that agree nearly everywhere differ near their boundaries. *Face* draws have many entries zero,
and the others are often all equal: what few columns generate lies on the boundary of what all of
them generate together, and equal entries meet the corners of it. *Wide* draws have columns of very
different lengths, so they are close to matrices of low rank. *Boundary* draws start at a random
distribution and walk in a random direction as far as the graph generates what is met.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cyclearn.foundation.arrays import FloatArray
from cyclearn.graphs.directed_graph import DirectedGraph
from cyclearn.identifiability.difference.separating_matrix import Separation, separate
from cyclearn.identifiability.numerics.numerical_overlap import Sampler, draw_factor, nearest_factor

_BISECTIONS = 12
_STARTS = 4
_TOLERANCE = 1e-9
# Walks stay away from singular matrices, where a projection says little.
_SMALLEST_EIGENVALUE = 1e-5


def iter_face_factors(graph: DirectedGraph, generator: np.random.Generator) -> Iterator[FloatArray]:
    """Stream regular matrices Q on the support with zeros at random, the others simple numbers."""
    p = graph.n_nodes
    while True:
        kept = generator.random((p, p)) < generator.choice([0.4, 0.6, 0.8, 0.9, 1.0, 1.0])
        entries = _simple_entries(p, generator)
        lengths = np.exp(generator.choice([0.0, 0.0, 1.0]) * generator.standard_normal(p))
        Q = np.where(graph.support & kept, entries * lengths, 0.0)
        if np.linalg.matrix_rank(Q) == p:
            yield Q


def _simple_entries(p: int, generator: np.random.Generator) -> FloatArray:
    kind = generator.integers(6)
    if kind < 3:
        # Multiples of a row make no difference, so only proportions between columns are left out.
        ones = np.ones((p, p))
        if kind:
            ones[generator.integers(p)] = generator.integers(-3, 4, p)
        return ones
    if kind == 3:
        return np.where(generator.random((p, p)) < generator.choice([0.15, 0.5]), -1.0, 1.0)
    if kind == 4:
        return generator.integers(-3, 4, (p, p)).astype(np.float64)
    return generator.standard_normal((p, p))


def iter_wide_factors(graph: DirectedGraph, generator: np.random.Generator) -> Iterator[FloatArray]:
    """Stream matrices Q on the support: columns, then single entries, of log-normal sizes."""
    p = graph.n_nodes
    while True:
        columns = generator.standard_normal((p, p)) * np.exp(2 * generator.standard_normal(p))
        yield np.where(graph.support, columns, 0.0)
        sizes = np.exp(generator.choice([1, 2]) * generator.standard_normal((p, p)))
        signs = generator.choice([-1.0, 1.0], size=(p, p))
        yield np.where(graph.support, signs * sizes, 0.0)


def iter_boundary_factors(
    graph: DirectedGraph, generator: np.random.Generator
) -> Iterator[FloatArray]:
    """Stream matrices Q on the support with QQᵀ close to the boundary of what the graph generates.

    Only where the set has full dimension: elsewhere a straight walk leaves it at once.
    """
    p = graph.n_nodes
    while True:
        Q, _ = draw_factor(graph, Sampler.GAUSSIAN, generator)
        Q /= np.linalg.norm(Q, axis=1)[:, None]
        direction = _direction(p, generator)
        inside, outside = 0.0, 3.0
        for _ in range(_BISECTIONS):
            middle = (inside + outside) / 2
            found = _factor(graph, Q @ Q.T + middle * direction, generator)
            if found is None:
                outside = middle
            else:
                inside, best = middle, found
        if inside:
            yield best


def _direction(p: int, generator: np.random.Generator) -> FloatArray:
    """A symmetric matrix: random, or one that takes away from the diagonal or along a vector."""
    kind = generator.integers(3)
    if kind == 0:
        change = generator.standard_normal((p, p))
        change = change + change.T
    elif kind == 1:
        change = -np.diag(generator.random(p))
    else:
        vector = generator.standard_normal(p) * (generator.random(p) < 0.6)
        vector[generator.integers(p)] = 1.0
        change = -np.outer(vector, vector)
    return np.asarray(change / np.linalg.norm(change))


def _factor(
    graph: DirectedGraph, theta: FloatArray, generator: np.random.Generator
) -> FloatArray | None:
    """Q on the support with QQᵀ = Θ, or None where none was found."""
    if np.linalg.eigvalsh(theta)[0] <= 0:
        return None
    covariance = np.linalg.inv(theta)
    scale = np.sqrt(covariance.diagonal())
    R = covariance / np.outer(scale, scale)
    R = (R + R.T) / 2
    if np.linalg.eigvalsh(R)[0] < _SMALLEST_EIGENVALUE:
        return None
    divergence, Q = nearest_factor(
        graph, R, n_starts=_STARTS, tolerance=_TOLERANCE, generator=generator
    )
    if divergence >= _TOLERANCE:
        return None
    return np.where(graph.support, Q / scale[:, None], 0.0)


def search_separation(
    g: DirectedGraph,
    h: DirectedGraph,
    *,
    n_faces: int,
    n_wide: int,
    n_boundary: int,
    random_state: int,
) -> Separation | None:
    """Try face, wide and boundary draws of both graphs until one is separated from the other.

    Examples
    --------
    Graphs that no ordinary draw distinguishes:

    >>> names = tuple("abcde")
    >>> g = DirectedGraph.from_columns((0b00111, 0b01110, 0b01101, 0b11111, 0b10101), names)
    >>> h = DirectedGraph.from_columns((0b00011, 0b01110, 0b01101, 0b11111, 0b10101), names)
    >>> search_separation(g, h, n_faces=60, n_wide=0, n_boundary=0, random_state=0).holds()
    True
    """
    generator = np.random.default_rng(random_state)
    streams = [(n_faces, iter_face_factors), (n_wide, iter_wide_factors)]
    if n_boundary and g.dimension() == g.n_nodes * (g.n_nodes + 1) // 2:
        streams.append((n_boundary, iter_boundary_factors))
    for n_trials, stream in streams:
        drawn = stream(g, generator), stream(h, generator)
        for _ in range(n_trials):
            found = separate(g, h, [next(drawn[0])]) or separate(h, g, [next(drawn[1])])
            if found is not None:
                return found
    return None
