"""Exact invariants of a closure from its normal directions: which minors of them vanish.

At a generic point Θ of the closure let Y be a generic symmetric matrix that is orthogonal, by
tr(Y dΘ), to the tangent space: the gradient of the equation if there is only one. Which minors of
Y, of ΘY and of ΘYΘ are zero depends only on the closure. (ΘYΘ is a normal direction of the closure
in terms of Σ.) Two hypersurfaces with no or the same vanishing minors of Θ are distinguished by
these.

Tangent spaces are taken at pseudo-random points modulo a prime. A minor that is not zero there is
not zero; one that vanishes at two points modulo two primes, and yet not identically, has a
probability below 10⁻¹⁰.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations

import numpy as np

from cyclearn.classes.dimension import PRIMES, echelon_modulo, gram_jacobian
from cyclearn.foundation.arrays import IntArray
from cyclearn.graphs.bitsets import bits
from cyclearn.graphs.directed_graph import DirectedGraph
from cyclearn.identifiability.constraints.invariants import Minor

ConormalMinor = tuple[str, Minor]
"""One of ``"Y"``, ``"ΘY"``, ``"ΘYΘ"``, and the rows and columns of a minor of it."""


@lru_cache(maxsize=1024)
def vanishing_conormal_minors(graph: DirectedGraph) -> frozenset[ConormalMinor]:
    """Minors of Y, ΘY and ΘYΘ that are zero on the closure.

    All of them up to six nodes, then those of at most three rows (eight nodes), two (twelve), one.

    Examples
    --------
    On a chain the only equation is Θ[a, c] = 0, so Y has two entries, and rank two.

    >>> chain = DirectedGraph.from_edges([("a", "b"), ("b", "c")])
    >>> zero = vanishing_conormal_minors(chain)
    >>> ("Y", (0b001, 0b100)) in zero, ("Y", (0b001, 0b010)) in zero, ("Y", (0b111, 0b111)) in zero
    (False, True, True)
    """
    zero: set[ConormalMinor] | None = None
    for which, prime in enumerate(PRIMES):
        theta, Y = _point(graph, which)
        products = {"Y": Y, "ΘY": _product(theta, Y, prime)}
        products["ΘYΘ"] = _product(products["ΘY"], theta, prime)
        here = {
            (name, minor)
            for name, matrix in products.items()
            for minor, value in _minors(matrix.tolist(), prime).items()
            if value == 0
        }
        zero = here if zero is None else zero & here
    return frozenset(zero or ())


def differing_conormal_minor(
    g: DirectedGraph, h: DirectedGraph
) -> tuple[ConormalMinor, bool] | None:
    """The smallest of these minors that vanishes on only one graph; true if that is the first.

    Examples
    --------
    Columns {0}, {1, 2}, {2, 3}, {0, 1, 2, 3} and {0}, {1, 2}, {1, 3}, {0, 1, 2, 3}: both are
    hypersurfaces in the same entries of Θ, yet not the same one.

    >>> names = ("a", "b", "c", "d")
    >>> g = DirectedGraph.from_columns((0b0001, 0b0110, 0b1100, 0b1111), names)
    >>> h = DirectedGraph.from_columns((0b0001, 0b1111, 0b0110, 0b1010), names)
    >>> differing_conormal_minor(g, h) is None, differing_conormal_minor(g, g) is None
    (False, True)
    """
    first, second = vanishing_conormal_minors(g), vanishing_conormal_minors(h)
    found = min(
        first ^ second, key=lambda item: (item[1][0].bit_count(), len(item[0]), item), default=None
    )
    return None if found is None else (found, found in first)


def _point(graph: DirectedGraph, which: int) -> tuple[IntArray, IntArray]:
    """Θ and a normal direction Y at a pseudo-random point modulo a prime."""
    prime = PRIMES[which]
    p = graph.n_nodes
    generator = np.random.default_rng(which)
    Q = np.where(graph.support, generator.integers(1, prime, (p, p)), 0)
    normals = _kernel(gram_jacobian(graph.columns, Q) % prime, prime)
    mixed = _product(generator.integers(1, prime, (1, len(normals))), normals, prime)[0]
    # Entries off the diagonal count twice in tr(Y dΘ).
    Y = np.zeros((p, p), dtype=np.int64)
    Y[np.triu_indices(p)] = mixed * pow(2, -1, prime) % prime
    return _product(Q, Q.T, prime), (Y + Y.T) % prime


def _product(a: IntArray, b: IntArray, prime: int) -> IntArray:
    return np.asarray((a[:, :, None] * b[None] % prime).sum(axis=1) % prime)


def _kernel(matrix: IntArray, prime: int) -> IntArray:
    """A basis, in rows, of the vectors x with matrix · x = 0."""
    rows, pivots = echelon_modulo(matrix, prime, reduced=True)
    free = np.setdiff1d(np.arange(rows.shape[1]), pivots)
    basis = np.zeros((len(free), rows.shape[1]), dtype=np.int64)
    basis[np.arange(len(free)), free] = 1
    basis[:, pivots] = -rows[: len(pivots), free].T % prime
    return basis


def _minors(matrix: list[list[int]], prime: int) -> dict[Minor, int]:
    """Minors modulo a prime, by expansion along the last row."""
    p = len(matrix)
    found: dict[Minor, int] = {(0, 0): 1}
    # All minors up to six nodes, then few enough to be quick.
    largest = p if p <= 6 else 3 if p <= 8 else 2 if p <= 12 else 1
    for size in range(1, largest + 1):
        sets = [sum(1 << v for v in chosen) for chosen in combinations(range(p), size)]
        for a in sets:
            row = a.bit_length() - 1
            rest = a ^ (1 << row)
            for b in sets:
                total = 0
                sign = (-1) ** (size - 1)
                for column in bits(b):
                    total += sign * matrix[row][column] * found[rest, b ^ (1 << column)]
                    sign = -sign
                found[a, b] = total % prime
    del found[0, 0]
    return found
