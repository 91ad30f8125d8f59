"""Common methods of classes of graphs: list, sample, nearest member, table of edges."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import log10
from random import Random
from typing import Any, Literal, get_args

from cyclearn.classes import rule_search
from cyclearn.classes.canonical_member import canonical_order
from cyclearn.classes.nearest_member import NearestMember, nearest_member
from cyclearn.classes.rotation_class import RotationClass, irreducible_columns
from cyclearn.classes.seated_graphs import SeatedGraphs, edge_table
from cyclearn.classes.territories import reduced_columns, territories
from cyclearn.foundation import Answer, LimitError, Options, deadline_after, has_passed, option, pd
from cyclearn.foundation.arguments import at_least, flag, one_of, whole
from cyclearn.foundation.option_values import checks_names
from cyclearn.foundation.random_state import RandomState, generator
from cyclearn.graphs.directed_graph import DirectedGraph
from cyclearn.graphs.graph_input import as_graph

Rules = Literal["all", "rotations"]
MAX_STATES = 300_000


def columns_into(columns: Sequence[int], group: Sequence[int]) -> tuple[int, ...]:
    """The columns of the graph that keeps only the edges into a group of nodes.

    Examples
    --------
    >>> [bin(column) for column in columns_into((0b011, 0b010, 0b110), [2])]
    ['0b1', '0b10', '0b110']
    """
    kept = set(group)
    return tuple(column if j in kept else 1 << j for j, column in enumerate(columns))


def group_territories(
    graph: DirectedGraph, groups: Sequence[Sequence[int]]
) -> tuple[rule_search.ClassKey, ...]:
    """For every group, the territories of the graph that keeps only the edges into it.

    A design with these groups cannot distinguish graphs with equal territories; rules may link
    different ones.
    """
    return tuple(territories(columns_into(graph.columns, group)) for group in groups)


@dataclass(frozen=True)
class Members:
    """Members of a class as a list, and whether it was truncated."""

    graphs: tuple[DirectedGraph, ...]
    complete: bool
    cut_by: str | None

    def __iter__(self) -> Iterator[DirectedGraph]:
        return iter(self.graphs)

    def __len__(self) -> int:
        return len(self.graphs)


@dataclass(frozen=True, kw_only=True)
class ClassOptions(Options):
    """How far a class is searched, and which of its members count."""

    rules: Rules = option(
        "all", "Rules beyond rotations too, or rotations.", partial(one_of, words=get_args(Rules))
    )
    reducible: bool = option(False, "List members with redundant edges too.", flag)
    max_states: int = option(
        MAX_STATES, "Maximum number of states of an exact count.", partial(whole, least=1)
    )
    max_classes: int = option(
        rule_search.MAX_CLASSES, "Maximum number of classes of rotations.", partial(whole, least=1)
    )


class GraphClass(Answer, SeatedGraphs, ABC):
    """A class of graphs, described by seatings. An immutable value."""

    graph: DirectedGraph
    options: ClassOptions
    rules: Rules
    reducible: bool
    max_states: int
    max_classes: int

    def _write(self, graph: DirectedGraph, options: ClassOptions, **more: Any) -> None:
        """Check the arguments, and set attributes once, bypassing the guard in __setattr__."""
        graph = as_graph(graph)
        own = {"graph": graph, "names": graph.names, "options": options}
        self.__dict__.update(own, **vars(options), **more)

    @property
    @abstractmethod
    def _groups(self) -> tuple[tuple[int, ...], ...]:
        """Groups of nodes whose columns move independently of those of other groups."""

    @cached_property
    def _keys(self) -> tuple[rule_search.ClassKey, ...]:
        return group_territories(self.graph, self._groups)

    @cached_property
    def _linked(self) -> list[rule_search.LinkedClasses]:
        """For every group, the classes of rotations that its columns belong to."""
        if self.rules == "rotations":
            return [rule_search.LinkedClasses({key: None}, None) for key in self._keys]
        return [rule_search.linked_classes(key, max_classes=self.max_classes) for key in self._keys]

    def _has_key(self, key: rule_search.ClassKey, group: int = 0) -> bool:
        # Usually they are the same, and no search is needed.
        return key == self._keys[group] or key in self._linked[group].links

    def _iter_differing(self, graph: DirectedGraph) -> Iterator[tuple[int, ...]]:
        """The groups whose columns are not linked to those of another graph."""
        for n, key in enumerate(group_territories(graph.reordered(self.names), self._groups)):
            if not self._has_key(key, n):
                yield self._groups[n]

    @cached_property
    def _rotation_classes(self) -> list[tuple[RotationClass, ...]]:
        """For every group, its classes of rotations, those with the fewest edges first."""
        found = []
        for linked in self._linked:
            classes = (
                RotationClass(key, self.names, linked.links, self.max_states)
                for key in linked.links
            )
            found.append(tuple(sorted(classes, key=lambda c: (c.n_edges, c.territories))))
        return found

    @cached_property
    def representative(self) -> DirectedGraph:
        """The graph that the class was made from, without redundant edges.

        A variable that is a target in every table has no incoming edges in it.
        """
        reduce = irreducible_columns if self.rules == "all" else reduced_columns
        columns = [1 << j for j in range(len(self.names))]
        for group in self._groups:
            reduced = reduce(columns_into(self.graph.columns, group))
            for j in group:
                columns[j] = reduced[j]
        return DirectedGraph.from_columns(columns, self.names)

    @property
    def redundancy_cut_by(self) -> str | None:
        """The limit that stopped the search for redundant edges; None if it was completed.

        If it was stopped, some members may have a redundant edge; no irreducible graph of the
        classes found is missing.
        """
        limits = (each.redundancy_cut_by for found in self._rotation_classes for each in found)
        return next((limit for limit in limits if limit is not None), None)

    @property
    def completeness(self) -> rule_search.Completeness:
        """Whether all graphs with these distributions are members, and how that is known."""
        if self.rules == "rotations":
            return rule_search.Completeness.ROTATIONS
        found = {
            rule_search.completeness(columns_into(self.graph.columns, group), linked)
            for group, linked in zip(self._groups, self._linked, strict=True)
        }
        worst_first = (rule_search.Completeness.CUT, rule_search.Completeness.CONJECTURED)
        return next(
            (worst for worst in worst_first if worst in found), rule_search.Completeness.PROVED
        )

    def __contains__(self, graph: object) -> bool:
        """Whether the graph is proved to generate these distributions.

        A member with additional redundant edges is in the class too.
        """
        if not isinstance(graph, DirectedGraph) or set(graph.names) != set(self.names):
            return False
        return not any(True for _ in self._iter_differing(graph))

    def _identity(self) -> tuple[object, ...]:
        """A key that is equal for two classes if and only if they are the same."""
        links = tuple(frozenset(linked.links) for linked in self._linked)
        return self._groups, links, self.names

    def _size_in_words(self) -> str:
        try:
            # Python refuses to write out integers of thousands of digits.
            return str(self.size) if self.size < 10**18 else f"about 10^{int(log10(self.size))}"
        except LimitError:
            return "an unknown number of"

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
        at_least("max_members", max_members, 0)
        deadline = deadline_after(time_limit)
        graphs: list[DirectedGraph] = []
        for graph in self:
            if max_members is not None and len(graphs) >= max_members:
                return Members(tuple(graphs), False, f"max_members={max_members}")
            if has_passed(deadline):
                return Members(tuple(graphs), False, f"time_limit={time_limit}")
            graphs.append(graph)
        return Members(tuple(graphs), True, None)

    def to_dict(self, max_members: int = 1_000) -> dict[str, Any]:
        """The class and at most ``max_members`` of its members, as plain values for JSON."""
        listed = self.members(max_members)
        try:
            size, edges = self.size, self.edge_table().to_dict(orient="records")
        except LimitError:
            size, edges = None, None
        return {
            "graph": self.graph.to_dict(),
            "size": size,
            "completeness": self.completeness.name.lower(),
            "redundancy_cut_by": self.redundancy_cut_by,
            "members": [graph.to_dict() for graph in listed],
            "complete": listed.complete,
            "edge_table": edges,
        }

    @checks_names
    def sample(self, n: int, random_state: RandomState = None) -> tuple[DirectedGraph, ...]:
        """Members drawn independently, each member with the same probability.

        Raises
        ------
        LimitError
            If the class is too complex to be counted with ``max_states`` states.

        Examples
        --------
        >>> from cyclearn.classes import equivalence_class
        >>> chain = DirectedGraph.from_edges([("a", "b"), ("b", "c")])
        >>> len(set(equivalence_class(chain).sample(100, random_state=0)))
        3
        """
        whole("n", n, 0)
        # Python's own generator draws whole numbers of any size.
        source = Random(int(generator(random_state).integers(2**62)))
        size = self.size
        # Draw a number only if there is a choice, so that one part uses one stream.
        has_parts = len(self.seatings) > 1
        return tuple(
            self.draw(source.randrange(size) if has_parts else 0, source) for _ in range(n)
        )

    def nearest(self, graph: DirectedGraph, *, time_limit: float | None = None) -> NearestMember:
        """The member nearest to ``graph`` in structural Hamming distance, with bounds.

        Ties are resolved by the rule that chooses the member shown (smallest feedback, then the
        smallest list of edges, names compared by code point).
        """
        graph = as_graph(graph).reordered(self.names)
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

        An edge to add, remove or reverse counts one.

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
        """The number of members in which each pair of nodes is adjacent, by direction.

        Returns
        -------
        pandas.DataFrame
            One row for each unordered pair that is adjacent in some member: nodes ``a`` and ``b``;
            the number of members with only a → b (``forward``), only b → a (``backward``), ``both``
            and either (``adjacent``); the ``share`` of members in which they are adjacent; and
            ``verdict``: *in every equally good graph* (joined the same way in every member, which
            is not how probable it is), *direction differs* (always adjacent, but no edge is always
            there), *in some*. Pairs without a row are adjacent in no member. The four counts are
            Python integers (dtype object) if the class has 2⁶² members or more, which exceed 64
            bits.

        Raises
        ------
        LimitError
            If the class is too complex to be counted with ``max_states`` states.
        """
        return edge_table(self.pair_counts(), self.size, self.names)
