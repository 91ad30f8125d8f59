"""Hard constraints of a graph as statements about Θ and Σ, and generalised faithfulness.

A hard constraint holds on the whole distribution set of a graph. The ones listed here are all ranks
of submatrices of Θ and Σ, exact (see :mod:`cyclearn.identifiability.constraints.invariants`). A
graph can be bound by equations of other kinds as well; they are not listed, and a test against the
list cannot see them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cyclearn.data.moments import Moments
from cyclearn.foundation.arrays import FloatArray
from cyclearn.foundation.errors import InputError, LimitError
from cyclearn.graphs.bitsets import bits
from cyclearn.graphs.directed_graph import DirectedGraph
from cyclearn.graphs.graph_input import as_graph
from cyclearn.identifiability.constraints import invariants
from cyclearn.models.linear_gaussian import LinearGaussianModel
from cyclearn.models.projection import moments_of


class ConstraintKind(Enum):
    """The meaning of a vanishing minor of Θ."""

    INDEPENDENCE = "conditional independence of two variables"
    RANK = "low rank of a submatrix"


@dataclass(frozen=True)
class HardConstraint:
    """One vanishing minor det Θ[rows, columns] = 0, readable by ``str``.

    Examples
    --------
    >>> print(HardConstraint(0b0011, 0b1100, ("a", "b", "c", "d")))
    Θ[{a, b}, {c, d}] has rank at most 1
    >>> print(HardConstraint(0b0101, 0b0110, ("a", "b", "c", "d")))
    a and b are independent given d
    """

    rows: int
    columns: int
    names: tuple[str, ...]

    @property
    def kind(self) -> ConstraintKind:
        """Minors whose rows and columns differ in one node are independences."""
        one_apart = (self.rows & ~self.columns).bit_count() == 1
        return ConstraintKind.INDEPENDENCE if one_apart else ConstraintKind.RANK

    def __str__(self) -> str:
        if self.kind is ConstraintKind.INDEPENDENCE:
            a, b = (self._listed(s) for s in (self.rows & ~self.columns, self.columns & ~self.rows))
            given = (1 << len(self.names)) - 1 & ~(self.rows | self.columns)
            if not given:
                return f"{a} and {b} are independent: Σ[{a}, {b}] = 0"
            text = f"{a} and {b} are independent given {self._listed(given)}"
            return f"{text}: Θ[{a}, {b}] = 0" if self.rows.bit_count() == 1 else text
        matrix, rows, columns = invariants.readable((self.rows, self.columns), len(self.names))
        return (
            f"{matrix}[{{{self._listed(rows)}}}, {{{self._listed(columns)}}}] has rank at most "
            f"{rows.bit_count() - 1}"
        )

    def _listed(self, members: int) -> str:
        return ", ".join(self.names[v] for v in bits(members))

    def to_dict(self) -> dict[str, Any]:
        """Rows and columns of Θ by name, the kind, and the sentence."""
        return {
            "rows": [self.names[v] for v in bits(self.rows)],
            "columns": [self.names[v] for v in bits(self.columns)],
            "kind": self.kind.name.lower(),
            "text": str(self),
        }


def hard_constraints(graph: DirectedGraph) -> tuple[HardConstraint, ...]:
    """The vanishing minors of Θ that do not follow from smaller ones by expansion along a line.

    Independences come first. The list may still hold constraints that follow from others in less
    direct ways.

    Raises
    ------
    LimitError
        For more than eleven nodes.

    Examples
    --------
    >>> chain = DirectedGraph.from_edges([("a", "b"), ("b", "c")])
    >>> [str(c) for c in hard_constraints(chain)]
    ['a and c are independent given b: Θ[a, c] = 0']
    >>> block = DirectedGraph.from_edges([(0, 1), (3, 2), (0, 3), (1, 3), (2, 3)], list("abcd"))
    >>> [str(c) for c in hard_constraints(block)]
    ['Θ[{a, b}, {c, d}] has rank at most 1']
    """
    graph = as_graph(graph)
    _check_size(graph.n_nodes)
    zero = invariants.vanishing_minors(graph)
    kept = [
        HardConstraint(a, b, graph.names)
        for a, b in zero
        if not (_follows(a, b, zero) or _follows(b, a, zero))
    ]
    return tuple(sorted(kept, key=lambda c: (c.kind.name, c.rows.bit_count(), c.rows, c.columns)))


def _follows(a: int, b: int, zero: frozenset[invariants.Minor]) -> bool:
    """Whether for some row of the minor every term of its expansion has a smaller zero minor."""
    if a.bit_count() == 1:
        return False
    return any(
        all(
            _is_zero(1 << i, 1 << j, zero) or _is_zero(a ^ (1 << i), b ^ (1 << j), zero)
            for j in bits(b)
        )
        for i in bits(a)
    )


def _is_zero(a: int, b: int, zero: frozenset[invariants.Minor]) -> bool:
    return (a, b) in zero or (b, a) in zero


@dataclass(frozen=True)
class Faithfulness:
    """Whether a distribution has the rank constraints of a graph and no others (Definition 10).

    ``violated`` are constraints of the graph that the distribution violates, so the graph does not
    generate it; ``extra`` are additional constraints. Both contain all minors, not only those that
    do not follow from others. True if both are empty.
    """

    violated: tuple[HardConstraint, ...]
    extra: tuple[HardConstraint, ...]
    tolerance: float

    def __bool__(self) -> bool:
        return not self.violated and not self.extra

    def explain(self) -> str:
        """The answer in words."""
        if self:
            return "Generalised faithful, as far as ranks of submatrices tell."
        lines = ["Not generalised faithful."]
        lines += [f"- broken: {constraint}" for constraint in self.violated]
        lines += [f"- not implied by the graph: {constraint}" for constraint in self.extra]
        return "\n".join(lines)


def is_faithful(
    graph: DirectedGraph, distribution: LinearGaussianModel | ArrayLike, *, tolerance: float = 1e-8
) -> Faithfulness:
    """Test generalised faithfulness of a distribution to a graph on all minors of Θ.

    Parameters
    ----------
    graph : DirectedGraph
    distribution : LinearGaussianModel or array of shape (p, p)
        A model with the graph's names, or a covariance matrix in the order of the nodes. The
        distribution itself, not a sample: an estimate satisfies no constraint exactly.
    tolerance : float
        A minor counts as zero when its modulus, divided by √(det Θ[A, A] · det Θ[B, B]), is below.

    Examples
    --------
    Two paths from a to c that cancel:

    >>> g = DirectedGraph.from_edges([("a", "b"), ("b", "c"), ("a", "c")])
    >>> m = LinearGaussianModel([[0, 0.5, -0.25], [0, 0, 0.5], [0, 0, 0]], [1, 1, 1], g.names)
    >>> print(is_faithful(g, m).explain())
    Not generalised faithful.
    - not implied by the graph: a and c are independent: Σ[a, c] = 0
    """
    graph = as_graph(graph)
    _check_size(graph.n_nodes)
    if not 0 < tolerance < 1:
        raise InputError(f"tolerance={tolerance}: give a number between 0 and 1, both excluded")
    theta = _precision(graph, distribution)
    zero = invariants.vanishing_minors(graph)
    log_principal = {
        s: float(np.linalg.slogdet(_block(theta, s, s))[1]) for s in range(1, 1 << graph.n_nodes)
    }
    violated: list[HardConstraint] = []
    extra: list[HardConstraint] = []
    for a, b in invariants.iter_minors(graph.n_nodes):
        log_size = float(np.linalg.slogdet(_block(theta, a, b))[1])
        holds = log_size - (log_principal[a] + log_principal[b]) / 2 < np.log(tolerance)
        if holds != ((a, b) in zero):
            (extra if holds else violated).append(HardConstraint(a, b, graph.names))
    return Faithfulness(tuple(violated), tuple(extra), tolerance)


def _block(matrix: FloatArray, a: int, b: int) -> FloatArray:
    return matrix[np.ix_(list(bits(a)), list(bits(b)))]


def _precision(graph: DirectedGraph, distribution: LinearGaussianModel | ArrayLike) -> FloatArray:
    known = (
        distribution
        if isinstance(distribution, LinearGaussianModel)
        else Moments(distribution, graph.n_nodes + 2)
    )
    return np.asarray(np.linalg.inv(moments_of(known, graph.names).correlation), dtype=np.float64)


def _check_size(n_nodes: int) -> None:
    if n_nodes > invariants.MOST_NODES:
        raise LimitError(
            f"the graph has {n_nodes} nodes; all minors are examined up to "
            f"{invariants.MOST_NODES} nodes only"
        )
