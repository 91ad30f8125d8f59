"""What is asked of a class of graphs: a list, a sample, the nearest member, the table of edges."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Literal, get_args

from cyclearn.classes.canonical_member import canonical_order
from cyclearn.classes.nearest_member import NearestMember, nearest_member
from cyclearn.classes.seated_graphs import SeatedGraphs, edge_table, summed
from cyclearn.foundation.arguments import one_of
from cyclearn.foundation.deadlines import deadline_after, has_passed
from cyclearn.foundation.errors import InputError, LimitError
from cyclearn.foundation.json_input import short
from cyclearn.foundation.random_state import RandomState, generator
from cyclearn.graphs.directed_graph import DirectedGraph
from cyclearn.graphs.graph_input import checked_graph

if TYPE_CHECKING:
    import pandas as pd

Rules = Literal["all", "rotations"]
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


class GraphClass(SeatedGraphs, ABC):
    """A class of graphs that seatings describe, and what is asked of it. An immutable value."""

    graph: DirectedGraph
    rules: Rules
    max_states: int
    max_classes: int

    def _write(
        self,
        graph: DirectedGraph,
        *,
        rules: Rules,
        max_states: int,
        max_classes: int,
        **others: object,
    ) -> None:
        """Check what the class is made from, and write it once, past the guard in __setattr__."""
        checked_graph(graph)
        one_of("rules", rules, get_args(Rules))
        for name, limit in (("max_states", max_states), ("max_classes", max_classes)):
            if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
                raise InputError(f"{name} is {short(limit)}; give a whole number of at least 1")
        self.__dict__.update(
            graph=graph,
            names=graph.names,
            rules=rules,
            max_states=max_states,
            max_classes=max_classes,
            **others,
        )

    @abstractmethod
    def _identity(self) -> tuple[object, ...]:
        """What two classes have in common exactly when they are the same."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable; {name!r} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable; {name!r} cannot be deleted")

    def members(self, max_members: int | None = None, time_limit: float | None = None) -> Members:
        """The members as a list, at most ``max_members`` of them, within ``time_limit`` seconds."""
        if max_members is not None and max_members < 0:
            raise InputError(f"max_members is {max_members}; give zero or more")
        deadline = deadline_after(time_limit)
        graphs: list[DirectedGraph] = []
        for graph in self:
            if max_members is not None and len(graphs) >= max_members:
                return Members(tuple(graphs), False, f"max_members={max_members}")
            if has_passed(deadline):
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
        >>> from cyclearn.classes import equivalence_class
        >>> chain = DirectedGraph.from_edges([("a", "b"), ("b", "c")])
        >>> len(set(equivalence_class(chain).sample(100, random_state=0)))
        3
        """
        if isinstance(n, bool) or not isinstance(n, int) or n < 0:
            raise InputError(f"n is {short(n)}; give a whole number of members, zero or more")
        # Python's own generator draws whole numbers of any size.
        source = Random(int(generator(random_state).integers(2**62)))
        size = self.size
        # Numbers are drawn only where there is a choice, so that one part stays one stream.
        has_parts = len(self.seatings) > 1
        return tuple(
            self.draw(source.randrange(size) if has_parts else 0, source) for _ in range(n)
        )

    def nearest(self, graph: DirectedGraph, *, time_limit: float | None = None) -> NearestMember:
        """The member nearest to ``graph`` in structural Hamming distance, with bounds.

        Of several that are equally near it is the first by the rule that chooses the member shown
        (smallest feedback, then the smallest list of edges, names compared by code point).
        """
        graph = checked_graph(graph).reordered(self.names)
        if self._by_name is not self:
            near = self._by_name.nearest(graph, time_limit=time_limit)
            return NearestMember(near.member.reordered(self.names), near.distance, near.lower_bound)
        found = [nearest_member(seating, graph, time_limit) for seating in self.seatings]
        best = min(
            found,
            key=lambda nearest: (
                nearest.distance,
                canonical_order(range(graph.n_nodes), nearest.member.columns),
            ),
        )
        bound = min(nearest.lower_bound for nearest in found)
        return NearestMember(best.member, best.distance, bound)

    @property
    def _by_name(self) -> GraphClass:
        """The same class with the nodes in the order of their names."""
        return self

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
            ``verdict``: *same in all* (joined the same way in every member, which is not how
            probable it is), *turns* (always adjacent, but no edge is always there), *comes and
            goes*. Pairs without a row are adjacent in no member. The four counts are
            Python integers (dtype object) where the class has 2⁶² members or more, since 64 bits
            could not hold them.

        Raises
        ------
        LimitError
            If the class is too entangled to be counted with ``max_states`` states.
        """
        return edge_table(summed([self.iter_edge_counts()]), self.size, self.names)
