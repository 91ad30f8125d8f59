"""The equivalence class of a graph: members streamed, counted, compared and tabulated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import log10, prod
from random import Random
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cyclearn.classes.acyclic_members import AcyclicMembers
from cyclearn.classes.edge_counts import EdgeCounts
from cyclearn.classes.feedback_pairs import FeedbackPairs, feedback_pairs
from cyclearn.classes.member_sampling import MemberSampler
from cyclearn.classes.nearest_member import NearestMember, nearest_member
from cyclearn.classes.seating import Seating
from cyclearn.classes.territories import Territory, territories
from cyclearn.errors import InputError, LimitError
from cyclearn.graphs.bitsets import words_to_supports
from cyclearn.graphs.directed_graph import DirectedGraph
from cyclearn.graphs.graph_input import checked_graph
from cyclearn.random_state import RandomState, generator

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

MAX_STATES = 300_000


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
    was made from. Irreducible members only, unless made with ``reducible=True``. Immutable.
    """

    representative: DirectedGraph
    reducible: bool
    names: tuple[str, ...]
    territories: tuple[Territory, ...]
    max_states: int

    def __init__(
        self, graph: DirectedGraph, *, reducible: bool = False, max_states: int = MAX_STATES
    ) -> None:
        checked_graph(graph)
        if isinstance(max_states, bool) or not isinstance(max_states, int) or max_states < 1:
            raise InputError(f"max_states is {max_states!r}; give a whole number of at least 1")
        # Written here once, past the guard in __setattr__.
        self.__dict__.update(
            representative=graph.reduced(),
            reducible=reducible,
            names=graph.names,
            territories=territories(graph.columns),
            max_states=max_states,
        )

    @cached_property
    def _seating(self) -> Seating:
        return Seating(self.territories, reducible=self.reducible, max_states=self.max_states)

    @property
    def size(self) -> int:
        """Number of members, exact, without listing them.

        Raises
        ------
        LimitError
            If the class is too entangled to be counted with ``max_states`` states.
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

    def sample(self, n: int, random_state: RandomState = None) -> tuple[DirectedGraph, ...]:
        """Members drawn independently, each member with the same probability.

        Raises
        ------
        LimitError
            If the class is too entangled to be counted with ``max_states`` states.

        Examples
        --------
        >>> chain = DirectedGraph.from_edges([("a", "b"), ("b", "c")])
        >>> len(set(EquivalenceClass(chain).sample(100, random_state=0)))
        3
        """
        if isinstance(n, bool) or not isinstance(n, int) or n < 0:
            raise InputError(f"n is {n!r}; give a whole number of members, zero or more")
        # Python's own generator draws whole numbers of any size.
        source = Random(int(generator(random_state).integers(2**62)))
        sampler = MemberSampler(self._seating)
        return tuple(DirectedGraph.from_columns(sampler.draw(source), self.names) for _ in range(n))

    def iter_acyclic(self) -> Iterator[DirectedGraph]:
        """Stream the acyclic members, none when the class has none."""
        for columns in self._acyclic.iter_columns():
            yield DirectedGraph.from_columns(columns, self.names)

    @property
    def n_acyclic(self) -> int:
        """Number of acyclic members, exact, without listing them, in polynomial time."""
        return self._acyclic.count()

    @cached_property
    def _acyclic(self) -> AcyclicMembers:
        return AcyclicMembers(self.representative.columns)

    def __contains__(self, graph: object) -> bool:
        """Whether rotations link the graph to the class; a reducible graph is reduced first."""
        if not isinstance(graph, DirectedGraph) or set(graph.names) != set(self.names):
            return False
        return territories(graph.reordered(self.names).columns) == self.territories

    def nearest(self, graph: DirectedGraph, *, time_limit: float | None = None) -> NearestMember:
        """The member nearest to ``graph`` in structural Hamming distance, with bounds."""
        checked_graph(graph)
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
            *comes and goes*. Pairs without a row are adjacent in no member. The four counts are
            Python integers (dtype object) where the class has 2⁶² members or more, since 64 bits
            could not hold them.

        Raises
        ------
        LimitError
            If the class is too entangled to be counted with ``max_states`` states.
        """
        import pandas as pd

        size = self.size
        rows = []
        for pair in EdgeCounts(self._seating, self._block_sizes):
            counts = (pair.forward, pair.backward, pair.both)
            adjacent = sum(counts)
            if adjacent < size:
                verdict = "comes and goes"
            else:
                verdict = "certain" if size in counts else "turns"
            names = self.names[pair.i], self.names[pair.j]
            rows.append((*names, *counts, adjacent, adjacent / size, verdict))
        columns = ["a", "b", "forward", "backward", "both", "adjacent", "share", "verdict"]
        types = dict.fromkeys(columns[2:6], object if size >= 2**62 else "int64")
        # Every column by itself, since pandas would make floats of some large integers.
        return pd.DataFrame(
            {
                name: pd.Series(
                    [row[n] for row in rows],
                    dtype=types.get(name, "float64" if name == "share" else None),
                )
                for n, name in enumerate(columns)
            }
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw what all members share; see :func:`cyclearn.drawing.plots.plot_class`."""
        from cyclearn.drawing.plots import plot_class

        return plot_class(self, ax)

    def feedback_pairs(self, max_fillings: int = 20_000) -> FeedbackPairs:
        """Which pairs of nodes lie on a common cycle in some member, and which in every one."""
        return feedback_pairs(self._seating, max_fillings)

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

    def __reduce__(self) -> tuple[Any, ...]:
        # What was counted is left behind; it can be counted again.
        return _restored, (self.representative, self.reducible, self.max_states)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"an EquivalenceClass is immutable; {name!r} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"an EquivalenceClass is immutable; {name!r} cannot be deleted")

    def __repr__(self) -> str:
        try:
            # Python refuses to write out integers of thousands of digits.
            size = str(self.size) if self.size < 10**18 else f"about 10^{int(log10(self.size))}"
        except LimitError:
            size = "an unknown number of"
        kind = "members" if self.reducible else "irreducible members"
        return f"EquivalenceClass({size} {kind}, {self.representative.n_edges} edges each)"


def _restored(graph: DirectedGraph, reducible: bool, max_states: int) -> EquivalenceClass:
    return EquivalenceClass(graph, reducible=reducible, max_states=max_states)


def equivalence_class(
    graph: DirectedGraph, *, reducible: bool = False, max_states: int = MAX_STATES
) -> EquivalenceClass:
    """The class of all graphs that rotations prove to generate the same distributions.

    Parameters
    ----------
    graph : DirectedGraph
        Any member; a reducible graph stands for its class as well.
    reducible : bool, default False
        Whether members with redundant edges are listed and counted too.
    max_states : int, default 300,000
        How many intermediate results an exact count may hold in memory at once; counts that need
        more raise LimitError. Listing members does not need any.

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
    return EquivalenceClass(graph, reducible=reducible, max_states=max_states)
