"""Distribution equivalence of two graphs by rotations (Theorems 1 and 2).

**Certificates** are sequences of graph steps from a graph to a given member of its class. A
multiset of columns is transformed into another one by exchanges, the smallest columns first: larger
columns serve as vehicles, and moving them later does not affect the smaller ones. Columns belong to
nodes, and an exchange that would remove a node from its own column is done the other way round: the
two columns change places, and the diagonal stays full. At the end the columns are correct up to
their order, and one cycle reversion for each cycle of that permutation remains.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from cyclearn.classes import steps as graph_steps
from cyclearn.classes.territories import Territory, reduced_columns, survey, territories
from cyclearn.foundation.answers import Answer
from cyclearn.graphs.bitsets import bits
from cyclearn.graphs.directed_graph import DirectedGraph
from cyclearn.graphs.graph_input import as_graph


@dataclass(frozen=True)
class Equivalence(Answer):
    """The answer of :func:`equivalent`: true when rotations link the two graphs.

    ``forward`` has graph steps from ``first`` to a subgraph of ``second``, ``backward`` the
    reverse; both are ``None`` if the answer is negative. Replaying them proves that the two graphs
    generate the same distributions.
    """

    first: DirectedGraph
    second: DirectedGraph
    first_territories: tuple[Territory, ...]
    second_territories: tuple[Territory, ...]

    def __bool__(self) -> bool:
        return self.first_territories == self.second_territories

    @cached_property
    def forward(self) -> tuple[graph_steps.GraphStep, ...] | None:
        """Steps from the first graph to a subgraph of the second."""
        return steps_into(self.first, _reduced(self.second)) if self else None

    @cached_property
    def backward(self) -> tuple[graph_steps.GraphStep, ...] | None:
        """Steps from the second graph to a subgraph of the first."""
        return steps_into(self.second, _reduced(self.first)) if self else None

    @property
    def reason(self) -> str:
        """The reason for the answer, in one sentence."""
        if self:
            return "The reduced graphs have the same territories, so graph steps link them."
        sizes = [
            Counter(t.size for t in held)
            for held in (self.first_territories, self.second_territories)
        ]
        if sizes[0] != sizes[1]:
            edges = [sum((s - 1) * n for s, n in counted.items()) for counted in sizes]
            if edges[0] != edges[1]:
                return (
                    f"The reduced graphs have {edges[0]} and {edges[1]} edges; "
                    "rotations keep the number of edges of a reduced graph."
                )
            return (
                "Rotations keep the numbers of parents in reduced graphs: the first has "
                f"{_in_words(sizes[0])}; the second {_in_words(sizes[1])}."
            )
        apart = min(set(self.first_territories) ^ set(self.second_territories))
        where, other = "first", "second"
        if apart not in self.first_territories:
            where, other = other, where
        return (
            f"In all graphs equivalent to the {where}, some node together with its parents is "
            f"{self._territory_in_words(apart)}; this is true of no node of the {other}."
        )

    def explain(self) -> str:
        """The answer as text, with the steps or the meaning of a negative answer."""
        if not self:
            dimensions = self.first.dimension(), self.second.dimension()
            if dimensions[0] != dimensions[1]:
                return (
                    f"Not equivalent. {self.reason}\nThe distribution sets have dimensions "
                    f"{dimensions[0]} and {dimensions[1]}, so they differ."
                )
            return (
                f"Not equivalent by rotations. {self.reason}\n"
                "No sequence of parent reductions, parent exchanges and cycle reversions leads "
                "from one graph into the other. That alone does not prove that they generate "
                "different distributions: rare pairs (the smallest have 4 nodes) generate the "
                "same ones although no rotations link them."
            )
        lines = ["Equivalent: both graphs generate the same distributions."]
        for title, start, goal, steps in (
            ("From the first graph into the second", self.first, self.second, self.forward),
            ("From the second graph into the first", self.second, self.first, self.backward),
        ):
            assert steps is not None
            lines.append(
                f"{title}, {len(steps)} step{'s' * (len(steps) != 1)}:"
                if steps
                else f"{title}: no step needed."
            )
            lines += [
                f"  {n}. {step.describe(start.names)}" for n, step in enumerate(steps, start=1)
            ]
            missing = goal.n_edges - graph_steps.replay(start, steps).n_edges
            if missing:
                lines.append(f"  A subgraph: {missing} edges of the goal are redundant.")
        return "\n".join(lines)

    __str__ = explain

    def to_dict(self) -> dict[str, Any]:
        """The answer with its steps in words, as plain values for JSON."""
        return {
            "equivalent": bool(self),
            "reason": self.reason,
            "forward": _described(self.forward, self.first),
            "backward": _described(self.backward, self.second),
            "dimensions": [self.first.dimension(), self.second.dimension()],
        }

    def _territory_in_words(self, territory: Territory) -> str:
        sets = [
            "{" + ", ".join(self.first.names[v] for v in bits(anchor)) + "}"
            for anchor in territory.anchors
        ]
        if len(sets) == 1 and territory.anchors[0].bit_count() == territory.size:
            return sets[0]
        return f"{territory.size} of the nodes of " + " or ".join(sets)

    def __repr__(self) -> str:
        return f"Equivalence({bool(self)}: {self.reason})"


def _described(
    steps: Sequence[graph_steps.GraphStep] | None, graph: DirectedGraph
) -> list[str] | None:
    return None if steps is None else [step.describe(graph.names) for step in steps]


def _reduced(graph: DirectedGraph) -> DirectedGraph:
    """The graph reduced by rotations."""
    return DirectedGraph.from_columns(reduced_columns(graph.columns), graph.names)


def _in_words(sizes: Counter[int]) -> str:
    return ", ".join(f"{n} node{'s' * (n != 1)} with {s - 1}" for s, n in sorted(sizes.items()))


def equivalent(g: DirectedGraph | str, h: DirectedGraph | str) -> Equivalence:
    """Whether rotations prove that two graphs generate the same distributions.

    This is the relation of Theorems 1 and 2, decided without enumeration by comparing the
    territories of the reduced graphs.

    A positive answer is a proof and carries the steps. A negative answer says that no rotations
    link the graphs. The paper's "only if" would make it a proof of difference, but that direction
    fails: see the first example. Graphs of different :meth:`~DirectedGraph.dimension`, or that
    are not :func:`~cyclearn.markov_equivalent`, do differ; :func:`~cyclearn.compare` uses
    further rules and invariants, and reports what is proved.

    Parameters
    ----------
    g, h : DirectedGraph
        Graphs on the same nodes; the order of the nodes may differ.

    Returns
    -------
    Equivalence
        True or false in conditions, with ``forward``, ``backward``, ``reason``, ``explain()``.

    Examples
    --------
    No rotations link these two, yet both generate every Θ whose block Θ[{1,2},{3,4}] has rank at
    most one, and nothing else:

    >>> a = DirectedGraph.from_edges([(0, 1), (3, 2), (0, 3), (1, 3), (2, 3)])
    >>> b = DirectedGraph.from_edges([(2, 3), (1, 0), (0, 1), (2, 1), (3, 1)])
    >>> bool(equivalent(a, b)), a.dimension() == b.dimension()
    (False, True)

    A 3-cycle can be reversed:

    >>> cycle = DirectedGraph.from_edges([("a", "b"), ("b", "c"), ("c", "a")])
    >>> turned = DirectedGraph.from_edges([("a", "c"), ("c", "b"), ("b", "a")])
    >>> print(equivalent(cycle, turned).explain())
    Equivalent: both graphs generate the same distributions.
    From the first graph into the second, 1 step:
      1. reverse cycle a -> b -> c -> a
    From the second graph into the first, 1 step:
      1. reverse cycle a -> c -> b -> a

    See Also
    --------
    cyclearn.equivalence_class : all graphs that are equivalent to one.
    cyclearn.compare : what is known beyond rotations.
    """
    g, h = as_graph(g, "first graph"), as_graph(h, "second graph")
    h = h.reordered(g.names)
    return Equivalence(g, h, territories(g.columns), territories(h.columns))


def steps_into(
    graph: DirectedGraph,
    target: DirectedGraph,
    goal: Mapping[Territory, int] | None = None,
    raised: Mapping[Territory, Sequence[Territory]] | None = None,
) -> tuple[graph_steps.GraphStep, ...]:
    """Steps from ``graph`` to ``target``, an irreducible graph with the same territories.

    ``raised`` columns may be larger than necessary: each is in the last of these territories, which
    increase by one in size. Then ``goal`` gives the column of each territory.
    """
    journey = _Journey(graph)
    if goal is None:
        goal = {o.territory: target.columns[o.column] for o in survey(target.columns)}
    for territory in sorted(goal, key=lambda t: t.size):
        if raised and territory in raised:
            journey.lift(territory, raised[territory], goal[territory])
        else:
            journey.carry(territory, goal[territory])
    journey.reorder(target.columns)
    return tuple(journey.steps)


class _Journey:
    """A partly transformed graph: its columns, the occupied territories, and the steps so far."""

    def __init__(self, graph: DirectedGraph) -> None:
        self.columns = list(graph.columns)
        self.steps: list[graph_steps.GraphStep] = []
        self.node_of: dict[Territory, int] = {}
        # For each anchor, the territory one size larger, whose column is the vehicle.
        self.vehicle: dict[tuple[int, int], Territory] = {}
        self._reduce()

    def _reduce(self) -> None:
        """Occupy the territories from the largest size down; drop redundant edges."""
        waiting: dict[int, list[int]] = {}
        for j, column in enumerate(self.columns):
            waiting.setdefault(column.bit_count(), []).append(j)
        for occupant in survey(self.columns.copy()):
            territory = occupant.territory
            # Earlier reductions moved columns to other nodes: look up the current node.
            inside = [j for j in waiting[territory.size] if self.columns[j] in territory]
            first, *redundant = inside
            self.node_of[territory] = first
            for anchor in territory.anchors:
                self.vehicle[anchor, territory.size] = territory
            for child in redundant:
                self.carry(territory, self.columns[child])
                twin = self.node_of[territory]
                parent = next(i for i in bits(self.columns[child]) if i != child)
                self.columns[child] ^= 1 << parent
                self.steps.append(graph_steps.ParentReduction(child, twin, parent))
                waiting.setdefault(territory.size - 1, []).append(child)

    def carry(self, territory: Territory, goal: int) -> None:
        """Move the column of this territory to the set ``goal``, along shared anchors."""
        for waypoint in self._route(territory, goal):
            self._carry_inside(territory, *waypoint)

    def lift(self, mover: Territory, raised: Sequence[Territory], goal: int) -> None:
        """Make the column of ``mover`` equal to larger ones, one after another, then the goal."""
        node = self.node_of.pop(mover)
        for above in raised:
            column = self.columns[node]
            room = next(a for a in above.anchors if column & ~a == 0)
            gained = (room & ~column) & -(room & ~column)
            self.carry(above, column | gained)
            parent = gained.bit_length() - 1
            self.steps.append(graph_steps.ParentAddition(node, self.node_of[above], parent))
            self.columns[node] |= gained
        # The raised column moves while the one it was made equal to stays.
        stays = self.node_of[raised[-1]]
        self.node_of[raised[-1]] = node
        self.carry(raised[-1], goal)
        self.node_of[raised[-1]] = stays

    def _carry_inside(self, territory: Territory, anchor: int, goal: int) -> None:
        """Move the column to ``goal`` inside one anchor, one element at a time."""
        while (column := self._column(territory)) != goal:
            vehicle = self.vehicle[anchor, territory.size + 1]
            wanted, spare = goal & ~column, column & ~goal
            # An element that the vehicle already contains need not be moved.
            at_hand = wanted & self._column(vehicle)
            gained = (at_hand or wanted) & -(at_hand or wanted)
            self.carry(vehicle, column | gained)
            self._exchange(territory, vehicle, gained, spare & -spare)

    def _exchange(self, territory: Territory, vehicle: Territory, gained: int, lost: int) -> None:
        """Move the smaller column inside the larger one: ``gained`` comes, ``lost`` goes."""
        small, large = self.node_of[territory], self.node_of[vehicle]
        added, dropped = gained.bit_length() - 1, lost.bit_length() - 1
        union = self.columns[large]
        if dropped == small:
            # The smaller column would lose its own node, so the two change places.
            self.steps.append(graph_steps.ParentExchange(large, small, dropped, added, small))
            self.columns[small], self.columns[large] = union, union ^ lost
            self.node_of[territory], self.node_of[vehicle] = large, small
        else:
            self.steps.append(graph_steps.ParentExchange(small, large, dropped, added, small))
            self.columns[small] = union ^ lost

    def _column(self, territory: Territory) -> int:
        return self.columns[self.node_of[territory]]

    def _route(self, territory: Territory, goal: int) -> list[tuple[int, int]]:
        """Waypoints (anchor, set inside it) that end at ``goal``; neighbours share a set."""
        column = self._column(territory)
        if column == goal:
            return []
        before: dict[int, int] = {a: 0 for a in territory.anchors if column & ~a == 0}
        queue = deque(before)
        while queue:
            anchor = queue.popleft()
            if goal & ~anchor == 0:
                break
            for other in territory.anchors:
                if other not in before and (anchor & other).bit_count() >= territory.size:
                    before[other] = anchor
                    queue.append(other)
        path = [anchor]
        while before[path[-1]]:
            path.append(before[path[-1]])
        path.reverse()
        waypoints = []
        for anchor, following in pairwise(path):
            column = _nearest_inside(column, goal, anchor & following, territory.size)
            waypoints.append((anchor, column))
        return [*waypoints, (path[-1], goal)]

    def reorder(self, goal: Sequence[int]) -> None:
        """Reverse cycles until the columns are in the order of ``goal``."""
        # Equal columns can change places without a step, so they stay where possible.
        left = [j for j, column in enumerate(goal) if self.columns[j] != column]
        belongs: dict[int, list[int]] = {}
        for j in reversed(left):
            belongs.setdefault(goal[j], []).append(j)
        goes_to = {j: belongs[self.columns[j]].pop() for j in left}
        for start in left:
            if start not in goes_to:
                continue
            node = goes_to.pop(start)
            cycle = [start]
            while node != start:
                cycle.append(node)
                node = goes_to.pop(node)
            # The column of cycle[0] belongs to cycle[1]: an edge cycle[1] → cycle[0].
            self.steps.append(graph_steps.CycleReversion((start, *reversed(cycle[1:]))))
        self.columns = list(goal)


def _nearest_inside(column: int, goal: int, room: int, size: int) -> int:
    """A set of ``size`` inside ``room`` with most of ``column``, and then most of ``goal``."""
    chosen = 0
    for preferred in (column & goal, column, goal, room):
        for i in bits(preferred & room & ~chosen):
            if chosen.bit_count() == size:
                return chosen
            chosen |= 1 << i
    return chosen
