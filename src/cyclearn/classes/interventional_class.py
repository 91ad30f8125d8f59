"""The class under interventions: graphs that a list of experiments cannot distinguish.

Two graphs generate the same tuples of distributions, one for each table, exactly when for every
group of the design they generate the same distributions with only the edges into that group kept
(the documentation, "Interventions", proves it). So the class is a product: rotations and rules move
the columns of a group independently of other groups.

**Designs** say which variables are intervened on in each table. A perfect intervention sets a
variable: its equation, parents and noise are replaced by
values that do not depend on anything else in the system. With U the other variables of a table, it
determines the distribution of x_U given the targets, which is that of the matrix Σ_{i∈U} q_i q_iᵀ,
where q_i is column i of Q = (I − B)Ω^(−1/2).

Variables that are untargeted in the same tables form a *group*. The tables determine the sum of q_i
q_iᵀ over every group, and nothing else (the documentation, "Interventions").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from itertools import product
from typing import Any, TypeAlias

from cyclearn.classes.graph_class import ClassOptions, GraphClass, group_territories
from cyclearn.classes.rule_search import ClassKey, linked_classes
from cyclearn.classes.seating import Seating
from cyclearn.classes.territories import Territory
from cyclearn.foundation import InputError, short, takes_options
from cyclearn.graphs.directed_graph import DirectedGraph, Node
from cyclearn.graphs.graph_input import as_graph


class InterventionalClass(GraphClass):
    """All graphs proved to generate the same tuples of distributions under some interventions.

    Made by :func:`cyclearn.equivalence_class` with ``interventions``. Iteration yields the members
    in a fixed order. Members have no edge that is redundant under the design: an edge can be
    redundant for observational data and be determined by an intervention. Immutable.

    Attributes
    ----------
    graph : DirectedGraph
    design : InterventionDesign
        The targets of every table.
    """

    design: InterventionDesign

    @takes_options(ClassOptions)
    def __init__(
        self,
        graph: DirectedGraph,
        interventions: Interventions | InterventionDesign,
        **options: Any,
    ) -> None:
        graph = as_graph(graph)
        design = interventions
        if not isinstance(design, InterventionDesign):
            design = as_design(design, graph)
        checked = ClassOptions.of(options)
        if checked.reducible:
            raise InputError(
                "reducible=True is not available with interventions or exogenous variables; "
                "omit it, and use 'graph in members', which accepts graphs with redundant edges"
            )
        self._write(graph, checked, design=design)

    @property
    def interventions(self) -> tuple[tuple[str, ...], ...]:
        """The targets of every table, by name."""
        return tuple(tuple(self.names[j] for j in targets) for targets in self.design.tables)

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Groups of variables that are targets in the same tables, where columns can move."""
        return tuple(tuple(self.names[j] for j in group) for group in self.design.groups)

    @property
    def _groups(self) -> tuple[tuple[int, ...], ...]:
        return self.design.groups

    @cached_property
    def seatings(self) -> tuple[Seating, ...]:
        """Which nodes can use which territories; the members in disjoint parts."""
        choices = [
            [seats for each in found for seats in _iter_group_seats(group, each.seatings)]
            for group, found in zip(self.design.groups, self._rotation_classes, strict=True)
        ]
        found = (self._seating(choice) for choice in product(*choices))
        return tuple(seating for seating in found if not seating.is_empty)

    def _seating(self, parts: Sequence[_GroupSeats]) -> Seating:
        """The groups combined: as many territories as nodes, each for the nodes of one group."""
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

    def told_apart_by(self, graph: DirectedGraph) -> tuple[tuple[str, ...], ...]:
        """The groups of variables whose equations the design distinguishes from another graph.

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
        graph = as_graph(graph)
        return tuple(tuple(self.names[j] for j in group) for group in self._iter_differing(graph))

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(InterventionalClass, **self.options.given()), (self.graph, self.design)

    def __repr__(self) -> str:
        n = len(self.design.tables)
        return f"InterventionalClass({self._size_in_words()} members, {n} table{'s' * (n != 1)})"


# Territories for the nodes of a group, each with the redundant sets of its seat.
_GroupSeats = list[tuple[Territory, frozenset[int]]]


def _iter_group_seats(group: Sequence[int], parts: Sequence[Seating]) -> Iterator[_GroupSeats]:
    """The seats that are left for a group if every other node has only itself."""
    own = set(group)
    for part in parts:
        others = [j for j in range(len(part.territories)) if j not in own]
        # Territories of single nodes are disjoint, so the seat of another node is forced.
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


# The targets of every table, by name or index; an empty list means observed data.
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
        """Nodes that are targets in the same tables, except those that always are."""
        together: dict[tuple[bool, ...], list[int]] = {}
        for j in range(self.n_nodes):
            together.setdefault(tuple(j in targets for targets in self.tables), []).append(j)
        return tuple(tuple(nodes) for where, nodes in together.items() if not all(where))

    @cached_property
    def always_targeted(self) -> tuple[int, ...]:
        """Nodes that are targets in every table; the data contain nothing about their causes."""
        free = {j for group in self.groups for j in group}
        return tuple(j for j in range(self.n_nodes) if j not in free)


def as_design(interventions: Interventions, graph: DirectedGraph) -> InterventionDesign:
    """Check a list of targets for each table and return the design.

    Examples
    --------
    >>> chain = DirectedGraph.from_edges([("a", "b"), ("b", "c")])
    >>> as_design([[], ["b"]], chain).tables
    ((), (1,))
    """
    if isinstance(interventions, str) or not isinstance(interventions, Iterable):
        raise InputError(
            f"interventions are {short(interventions)}; give the targets of every table, such as "
            "[[], ['a']], where [] means observed data"
        )
    tables = [_targets(targets, graph) for targets in interventions]
    if not tables:
        raise InputError("interventions are empty; give [[]] for observed data alone")
    return InterventionDesign(graph.n_nodes, tuple(tables))


def finest_design(designs: Iterable[Interventions], graph: DirectedGraph) -> Interventions | None:
    """The design that distinguishes what any of several does, with separate weights for each.

    Then two graphs are distinguished if one of the designs does so: the class is the intersection
    of theirs. If the groups of variables of one design divide those of all others, it is the class
    of that design, because sums over parts determine sums over wholes. Otherwise it need not be the
    class of any design, and the answer is None.

    Examples
    --------
    >>> chain = DirectedGraph.from_edges([("a", "b"), ("b", "c")])
    >>> finest_design([[[], ["a"]], [[], ["a"], ["b"]]], chain)
    [[], ['a'], ['b']]
    """
    known = {as_design(own, graph): own for own in designs}
    for design, own in known.items():
        if all(
            any(set(part) <= set(whole) for whole in other.groups)
            for other in known
            for part in design.groups
        ):
            return own
    return None


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
            f"the targets {short(list(targets))} are all variables, so the table carries no "
            "information about the graph; omit it"
        )
    return tuple(sorted(found))


def class_key(graph: DirectedGraph, design: InterventionDesign) -> tuple[ClassKey, ...]:
    """A key that is equal for two graphs unless the design is known to distinguish them."""
    return tuple(map(_first_linked, group_territories(graph, design.groups)))


@lru_cache(maxsize=1 << 14)
def _first_linked(key: ClassKey) -> ClassKey:
    """One class of rotations to represent all classes that the rules link."""
    return min(linked_classes(key).links)
