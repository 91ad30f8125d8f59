"""The graphs that a list of experiments cannot tell from one: the class under interventions.

Two graphs generate the same tuples of distributions, one for each table, exactly when for every
group of the design they generate the same distributions with only the edges into that group kept
(the documentation, "Interventions", proves it). So the class is a product: the columns of a group
move as rotations and rules let them move among themselves, whatever those of other groups do.

**Designs** say which variables are intervened on in each table. A perfect intervention sets a
variable from outside: its equation, parents and noise are replaced by
values that do not depend on anything else in the system. With U the other variables of a table, it
tells the distribution of x_U given the targets, which is that of the matrix Σ_{i∈U} q_i q_iᵀ, where
q_i is column i of Q = (I − B)Ω^(−1/2).

Variables that are untargeted in the same tables form a *group*. The tables tell the sum of q_i q_iᵀ
over every group, and nothing else (the documentation, "Interventions").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product
from typing import Any, TypeAlias

from cyclearn.classes.graph_class import MAX_STATES, GraphClass, Rules
from cyclearn.classes.rotation_class import (
    IrreducibleSeatings,
    irreducible_columns,
    irreducible_seatings,
)
from cyclearn.classes.rule_search import (
    MAX_CLASSES,
    ClassKey,
    Completeness,
    LinkedClasses,
    completeness,
    linked_classes,
)
from cyclearn.classes.seating import Seating
from cyclearn.classes.territories import Territory, reduced_columns, territories
from cyclearn.foundation.errors import InputError, LimitError
from cyclearn.foundation.json_input import short
from cyclearn.graphs.directed_graph import DirectedGraph, Node
from cyclearn.graphs.graph_input import checked_graph

_WORST_FIRST = (Completeness.CUT, Completeness.ROTATIONS, Completeness.CONJECTURED)


def columns_into(columns: Sequence[int], group: Sequence[int]) -> tuple[int, ...]:
    """The columns of the graph that keeps only the edges into a group of nodes.

    Examples
    --------
    >>> [bin(column) for column in columns_into((0b011, 0b010, 0b110), [2])]
    ['0b1', '0b10', '0b110']
    """
    kept = set(group)
    return tuple(column if j in kept else 1 << j for j, column in enumerate(columns))


class InterventionalClass(GraphClass):
    """All graphs proved to generate the same tuples of distributions under some interventions.

    Made by :func:`cyclearn.equivalence_class` with ``interventions``. Iterating streams the
    members in a fixed order. Members have no edge that is redundant under the design: an edge can
    be redundant in observed data alone and be settled by an intervention. Immutable.

    Attributes
    ----------
    graph : DirectedGraph
    design : InterventionDesign
        The targets of every table.
    """

    design: InterventionDesign

    def __init__(
        self,
        graph: DirectedGraph,
        interventions: Interventions | InterventionDesign,
        *,
        rules: Rules = "all",
        max_states: int = MAX_STATES,
        max_classes: int = MAX_CLASSES,
    ) -> None:
        checked_graph(graph)
        if not isinstance(interventions, InterventionDesign):
            interventions = as_design(interventions, graph)
        self._write(
            graph,
            rules=rules,
            max_states=max_states,
            max_classes=max_classes,
            design=interventions,
        )

    @property
    def interventions(self) -> tuple[tuple[str, ...], ...]:
        """The targets of every table, by name."""
        return tuple(tuple(self.names[j] for j in targets) for targets in self.design.tables)

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Variables that are targeted in the same tables: their parents can trade places."""
        return tuple(tuple(self.names[j] for j in group) for group in self.design.groups)

    @cached_property
    def representative(self) -> DirectedGraph:
        """The graph that the class was made from, without edges that are redundant in the design.

        A variable that every table sets from outside has no incoming edges in it.
        """
        reduce = irreducible_columns if self.rules == "all" else reduced_columns
        columns = [1 << j for j in range(len(self.names))]
        for group in self.design.groups:
            reduced = reduce(columns_into(self.graph.columns, group))
            for j in group:
                columns[j] = reduced[j]
        return DirectedGraph.from_columns(columns, self.names)

    @cached_property
    def _linked(self) -> tuple[LinkedClasses, ...]:
        """For every group, the classes of rotations that its columns belong to."""
        return tuple(self._linked_to(key) for key in group_territories(self.graph, self.design))

    def _linked_to(self, key: ClassKey) -> LinkedClasses:
        if self.rules == "rotations":
            return LinkedClasses({key: None}, None)
        return linked_classes(key, max_classes=self.max_classes)

    @cached_property
    def seatings(self) -> tuple[Seating, ...]:
        """Which node can hold a set of which territory; the members in disjoint parts."""
        found = (self._seating(choice) for choice in product(*self._group_seatings))
        return tuple(seating for seating in found if not seating.is_empty)

    @cached_property
    def _group_seatings(self) -> list[list[_GroupSeats]]:
        return [
            [seats for each in found for seats in _iter_group_seats(group, each.parts)]
            for group, found in zip(self.design.groups, self._irreducible, strict=True)
        ]

    @cached_property
    def _irreducible(self) -> list[list[IrreducibleSeatings]]:
        """For every group, what is irreducible in its classes of rotations, fewest edges first."""
        return [
            [
                irreducible_seatings(key, linked.links, self.max_states)
                for key in sorted(linked.links, key=lambda key: (sum(t.size for t in key), key))
            ]
            for linked in self._linked
        ]

    @property
    def redundancy_cut_by(self) -> str | None:
        """The limit that cut the search for redundant edges, None where none did.

        Where it did, some of the members may have an edge that can be dropped.
        """
        limits = (each.cut_by for found in self._irreducible for each in found)
        return next((limit for limit in limits if limit is not None), None)

    def _seating(self, parts: Sequence[_GroupSeats]) -> Seating:
        """The groups side by side: as many territories as nodes, each for the nodes of one."""
        group_of_node = [-1] * len(self.names)
        held: list[Territory] = []
        group_of_seat: list[int] = []
        redundant: dict[int, frozenset[int]] = {}
        for n, (group, part) in enumerate(zip(self.design.groups, parts, strict=True)):
            for j in group:
                group_of_node[j] = n
            for territory, smaller in part:
                if smaller:
                    redundant[len(held)] = smaller
                held.append(territory)
                group_of_seat.append(n)
        for j in self.design.always_targeted:
            held.append(Territory(1, (1 << j,)))
            group_of_seat.append(-1)
        return Seating(
            held,
            reducible=False,
            redundant=redundant,
            max_states=self.max_states,
            groups=(group_of_node, group_of_seat),
        )

    @property
    def completeness(self) -> Completeness:
        """Whether all graphs with these tuples are members, and how that is known."""
        if self.rules == "rotations":
            return Completeness.ROTATIONS
        found = {
            completeness(
                DirectedGraph.from_columns(columns_into(self.graph.columns, group), self.names),
                linked,
            )
            for group, linked in zip(self.design.groups, self._linked, strict=True)
        }
        return next((worst for worst in _WORST_FIRST if worst in found), Completeness.PROVED)

    def __contains__(self, graph: object) -> bool:
        """Whether the graph is proved to generate these tuples, with redundant edges or not."""
        if not isinstance(graph, DirectedGraph) or set(graph.names) != set(self.names):
            return False
        return not any(True for _ in self._iter_differing(graph))

    def told_apart_by(self, graph: DirectedGraph) -> tuple[tuple[str, ...], ...]:
        """The groups of variables whose equations the design tells from those of another graph.

        Empty for a graph of the class.

        Examples
        --------
        >>> from cyclearn.classes import equivalence_class
        >>> chain = DirectedGraph.from_edges([("a", "b"), ("b", "c")])
        >>> turned = DirectedGraph.from_edges([("b", "a"), ("b", "c")], chain.names)
        >>> equivalence_class(chain, interventions=[[], ["a"]]).told_apart_by(turned)
        (('a',), ('b', 'c'))
        >>> equivalence_class(chain, interventions=[[], ["c"]]).told_apart_by(turned)
        ()
        """
        checked_graph(graph)
        return tuple(tuple(self.names[j] for j in group) for group in self._iter_differing(graph))

    def _iter_differing(self, graph: DirectedGraph) -> Iterator[tuple[int, ...]]:
        keys = group_territories(graph.reordered(self.names), self.design)
        for group, linked, key in zip(self.design.groups, self._linked, keys, strict=True):
            if key not in linked.links:
                yield group

    def _identity(self) -> tuple[object, ...]:
        classes = tuple(frozenset(linked.links) for linked in self._linked)
        return self.design.groups, classes, self.names

    def __reduce__(self) -> tuple[Any, ...]:
        options = {name: getattr(self, name) for name in ("rules", "max_states", "max_classes")}
        return partial(InterventionalClass, **options), (self.graph, self.design)

    def __repr__(self) -> str:
        try:
            size = str(self.size)
        except (LimitError, ValueError):
            # Python refuses to write out integers of thousands of digits.
            size = "an unknown number of"
        n = len(self.design.tables)
        return f"InterventionalClass({size} members, {n} table{'s' * (n != 1)})"


def group_territories(graph: DirectedGraph, design: InterventionDesign) -> tuple[ClassKey, ...]:
    """For every group of a design, the territories of the graph that keeps the edges into it.

    Graphs with equal ones cannot be told apart by the design; rules may link different ones.
    """
    return tuple(territories(columns_into(graph.columns, group)) for group in design.groups)


# Territories for the nodes of a group, each with the redundant sets of its seat.
_GroupSeats = list[tuple[Territory, frozenset[int]]]


def _iter_group_seats(group: Sequence[int], parts: Sequence[Seating]) -> Iterator[_GroupSeats]:
    """The seats that are left for a group when every other node holds itself alone."""
    own = set(group)
    for part in parts:
        others = [j for j in range(len(part.territories)) if j not in own]
        # Territories of single nodes never meet, so the seat of another node is forced.
        taken = [
            seat
            for j in others
            for seat, territory in enumerate(part.territories)
            if (1 << j) in territory
        ]
        if len(taken) == len(set(taken)) == len(others):
            yield [
                (territory, part.redundant.get(seat, frozenset()))
                for seat, territory in enumerate(part.territories)
                if seat not in taken
            ]


# The targets of every table, by name or index; an empty list stands for observed data.
Interventions: TypeAlias = Sequence[Sequence[Node]]


@dataclass(frozen=True)
class InterventionDesign:
    """The targets of every table, as indices of nodes in ascending order.

    Examples
    --------
    >>> InterventionDesign(4, ((), (0,), (0, 1))).groups
    ((0,), (1,), (2, 3))
    """

    n_nodes: int
    tables: tuple[tuple[int, ...], ...]

    @cached_property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Nodes that are targeted in the same tables, those left out that always are."""
        together: dict[tuple[bool, ...], list[int]] = {}
        for j in range(self.n_nodes):
            together.setdefault(tuple(j in targets for targets in self.tables), []).append(j)
        return tuple(tuple(nodes) for where, nodes in together.items() if not all(where))

    @cached_property
    def always_targeted(self) -> tuple[int, ...]:
        """Nodes that every table sets from outside; nothing is told about what drives them."""
        free = {j for group in self.groups for j in group}
        return tuple(j for j in range(self.n_nodes) if j not in free)


def as_design(interventions: Interventions, graph: DirectedGraph) -> InterventionDesign:
    """The design that a list of targets for each table describes, checked.

    Examples
    --------
    >>> chain = DirectedGraph.from_edges([("a", "b"), ("b", "c")])
    >>> as_design([[], ["b"]], chain).tables
    ((), (1,))
    """
    if isinstance(interventions, str) or not isinstance(interventions, Iterable):
        raise InputError(
            f"interventions are {short(interventions)}; give the targets of every table, such as "
            "[[], ['a']], where [] stands for observed data"
        )
    tables = [_targets(targets, graph) for targets in interventions]
    if not tables:
        raise InputError("interventions are empty; give [[]] for observed data alone")
    return InterventionDesign(graph.n_nodes, tuple(tables))


def _targets(targets: Sequence[Node], graph: DirectedGraph) -> tuple[int, ...]:
    if isinstance(targets, str) or not isinstance(targets, Iterable):
        raise InputError(
            f"the targets of a table are {short(targets)}; give a list of names, such as ['a'], "
            "and [] for observed data"
        )
    found = [graph.index(target) for target in targets]
    if len(set(found)) < len(found):
        raise InputError(f"the targets {short(list(targets))} name a variable twice; name it once")
    if found and len(found) == graph.n_nodes:
        raise InputError(
            f"the targets {short(list(targets))} are all variables: such a table says nothing "
            "about the graph; leave it out"
        )
    return tuple(sorted(found))
