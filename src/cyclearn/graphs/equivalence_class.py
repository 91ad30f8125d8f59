"""The equivalence class of a graph: members streamed, counted, compared and tabulated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import prod
from time import monotonic
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cyclearn.errors import InputError, LimitError
from cyclearn.graphs.acyclic_members import AcyclicMembers
from cyclearn.graphs.bitsets import words_to_supports
from cyclearn.graphs.directed_graph import DirectedGraph
from cyclearn.graphs.nearest_member import NearestMember, nearest_member
from cyclearn.graphs.seating import Seating
from cyclearn.graphs.territories import Territory, territories

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Members:
    """Members of a class as a list, and whether it was cut short."""

    graphs: tuple[DirectedGraph, ...]
    complete: bool
    cut_by: str | None

    def __iter__(self) -> Iterator[DirectedGraph]:
        return iter(self.graphs)

    def __len__(self) -> int:
        return len(self.graphs)


class EquivalenceClass:
    """All graphs that rotations link to one (Theorem 1); made by :func:`equivalence_class`.

    Iterating streams the members in a fixed order that does not depend on the member the class
    was made from. Irreducible members only, unless made with ``reducible=True``.
    """

    def __init__(self, graph: DirectedGraph, *, reducible: bool = False) -> None:
        self.representative = graph.reduced()
        self.reducible = reducible
        self.names = graph.names
        self.territories: tuple[Territory, ...] = territories(graph.columns)
        self._seating = Seating(self.territories, reducible=reducible)

    @property
    def size(self) -> int:
        """Number of members, exact, without listing them.

        Raises
        ------
        LimitError
            If the class is too entangled to be counted.
        """
        return prod(self._block_sizes)

    @cached_property
    def _block_sizes(self) -> tuple[int, ...]:
        return tuple(self._seating.count(block) for block in self._seating.blocks)

    def __iter__(self) -> Iterator[DirectedGraph]:
        for words in self._seating.iter_words():
            if words.shape[2] == 1:
                batch = words[:, :, 0].tolist()
            else:
                batch = [
                    [int.from_bytes(column.tobytes(), "little") for column in m] for m in words
                ]
            for columns in batch:
                yield DirectedGraph.from_columns(columns, self.names)

    def iter_adjacencies(self) -> Iterator[NDArray[np.bool_]]:
        """Stream the adjacency arrays of the members, in the order of iteration.

        Faster than making graphs; memory does not grow with the number of members.
        """
        diagonal = np.arange(len(self.names))
        for words in self._seating.iter_words():
            adjacencies = words_to_supports(words, len(self.names))
            adjacencies[:, diagonal, diagonal] = False
            yield from adjacencies

    def members(self, max_members: int | None = None, time_limit: float | None = None) -> Members:
        """The members as a list, at most ``max_members`` of them, within ``time_limit`` seconds."""
        if max_members is not None and max_members < 0:
            raise InputError(f"max_members is {max_members}; give zero or more")
        deadline = None if time_limit is None else monotonic() + time_limit
        graphs: list[DirectedGraph] = []
        for graph in self:
            if max_members is not None and len(graphs) >= max_members:
                return Members(tuple(graphs), False, f"max_members={max_members}")
            if deadline is not None and monotonic() > deadline:
                return Members(tuple(graphs), False, f"time_limit={time_limit}")
            graphs.append(graph)
        return Members(tuple(graphs), True, None)

    def iter_acyclic(self) -> Iterator[DirectedGraph]:
        """Stream the acyclic members, none when the class has none."""
        for columns in self._acyclic.iter_columns():
            yield DirectedGraph.from_columns(columns, self.names)

    @property
    def n_acyclic(self) -> int:
        """Number of acyclic members, exact, without listing them."""
        return self._acyclic.count()

    @cached_property
    def _acyclic(self) -> AcyclicMembers:
        return AcyclicMembers(self.representative.columns)

    def __contains__(self, graph: object) -> bool:
        """Whether rotations link the graph to the class; a reducible graph is reduced first."""
        if not isinstance(graph, DirectedGraph):
            return False
        return territories(graph.reordered(self.names).columns) == self.territories

    def nearest(self, graph: DirectedGraph, *, time_limit: float | None = None) -> NearestMember:
        """The member nearest to ``graph`` in structural Hamming distance, with bounds."""
        return nearest_member(self._seating, graph.reordered(self.names), time_limit)

    def distance(self, graph: DirectedGraph, *, time_limit: float | None = None) -> int:
        """The smallest structural Hamming distance from ``graph`` to a member, exact.

        An edge to add, remove or turn counts one.

        Raises
        ------
        LimitError
            If ``time_limit`` seconds did not suffice; :meth:`nearest` returns the bounds.
        """
        nearest = self.nearest(graph, time_limit=time_limit)
        if not nearest.is_exact:
            raise LimitError(
                f"the distance lies between {nearest.lower_bound} and {nearest.distance}; "
                "allow more time for the exact value"
            )
        return nearest.distance

    def edge_table(self) -> pd.DataFrame:
        """In how many members each pair of nodes is joined, and how.

        Returns
        -------
        pandas.DataFrame
            One row for each unordered pair that is adjacent in some member: nodes ``a`` and ``b``;
            the number of members with only a → b (``forward``), only b → a (``backward``), ``both``
            and either (``adjacent``); the ``share`` of members in which they are adjacent; and
            ``verdict``: *certain* (the same edge in every member), *turns* (always adjacent),
            *comes and goes*. Pairs without a row are adjacent in no member.
        """
        import pandas as pd

        size = self.size
        rows = []
        for i, j in combinations(range(len(self.names)), 2):
            into_j, into_i = self._count_edges((i, j)), self._count_edges((j, i))
            if not (into_j or into_i):
                continue
            both = self._count_edges((i, j), (j, i)) if into_j and into_i else 0
            adjacent = into_j + into_i - both
            if adjacent < size:
                verdict = "comes and goes"
            else:
                verdict = "certain" if size in (into_j - both, into_i - both, both) else "turns"
            counts = (into_j - both, into_i - both, both, adjacent)
            rows.append((self.names[i], self.names[j], *counts, adjacent / size, verdict))
        columns = ["a", "b", "forward", "backward", "both", "adjacent", "share", "verdict"]
        return pd.DataFrame(rows, columns=columns)

    def _count_edges(self, *edges: tuple[int, int]) -> int:
        """Number of members that have all these edges, each into a node of its own."""
        changed = {
            j: {
                seat: self._pair_counts.setdefault(
                    (seat, i, j), self.territories[seat].count(1 << i | 1 << j)
                )
                for seat in self._seating.weights[j]
            }
            for i, j in edges
        }
        total = 1
        for block, n_fillings in zip(self._seating.blocks, self._block_sizes, strict=True):
            if any(j in changed for j in block.nodes):
                total *= self._seating.count(block, changed)
            else:
                total *= n_fillings
        return total

    @cached_property
    def _pair_counts(self) -> dict[tuple[int, int, int], int]:
        return {}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EquivalenceClass):
            return NotImplemented
        return (self.territories, self.names, self.reducible) == (
            other.territories,
            other.names,
            other.reducible,
        )

    def __hash__(self) -> int:
        return hash((self.territories, self.names, self.reducible))

    def __repr__(self) -> str:
        try:
            size = str(self.size)
        except LimitError:
            size = "an unknown number of"
        kind = "members" if self.reducible else "irreducible members"
        return f"EquivalenceClass({size} {kind}, {self.representative.n_edges} edges each)"


def equivalence_class(graph: DirectedGraph, *, reducible: bool = False) -> EquivalenceClass:
    """The class of all graphs that rotations prove to generate the same distributions.

    Parameters
    ----------
    graph : DirectedGraph
        Any member; a reducible graph stands for its class as well.
    reducible : bool, default False
        Whether members with redundant edges are listed and counted too.

    Examples
    --------
    The paper's example on four nodes:

    >>> g = DirectedGraph.from_edges([(0, 2), (2, 1), (1, 3), (3, 0), (3, 2)])
    >>> c = equivalence_class(g)
    >>> c.size, equivalence_class(g, reducible=True).size, c.n_acyclic
    (8, 10, 0)
    >>> table = c.edge_table().set_index(["a", "b"])
    >>> table.loc[("X2", "X4"), "verdict"], table.loc[("X3", "X4"), "verdict"]
    ('turns', 'comes and goes')
    """
    return EquivalenceClass(graph, reducible=reducible)
