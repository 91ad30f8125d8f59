"""Sequences of graph steps from a graph to a given member of its class (Theorem 2).

A multiset of columns is carried to another one by exchanges, the smallest columns first: larger
columns serve as vehicles, and moving them later does not disturb the smaller ones. Columns live
on nodes, and an exchange that would take a node out of its own column is done the other way
round: the two columns change places, and the diagonal stays full. At the end the columns are the
right ones in some order, and one cycle reversion for each cycle of that permutation is left.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from itertools import pairwise

from cyclearn.classes.steps import (
    CycleReversion,
    GraphStep,
    ParentAddition,
    ParentExchange,
    ParentReduction,
)
from cyclearn.classes.territories import Territory, survey
from cyclearn.graphs.bitsets import bits
from cyclearn.graphs.directed_graph import DirectedGraph


def steps_into(graph: DirectedGraph, target: DirectedGraph) -> tuple[GraphStep, ...]:
    """Steps from ``graph`` to ``target``, an irreducible graph with the same territories."""
    journey = _Journey(graph)
    goal = {o.territory: target.columns[o.column] for o in survey(target.columns)}
    for territory in sorted(goal, key=lambda t: t.size):
        journey.carry(territory, goal[territory])
    journey.reorder(target.columns)
    # Nothing is added unless a column is lifted.
    return tuple(step for step in journey.steps if not isinstance(step, ParentAddition))


def steps_to_raised(
    graph: DirectedGraph,
    target: DirectedGraph,
    goal: Mapping[Territory, int],
    mover: Territory,
    raised: Sequence[Territory],
) -> tuple[GraphStep | ParentAddition, ...]:
    """Steps from ``graph`` to ``target``, in which one column is larger than need be.

    ``goal`` gives the column of each territory; that of ``mover`` is in the last of the territories
    ``raised``, each of which is one size above the one before.
    """
    journey = _Journey(graph)
    for territory in sorted(goal, key=lambda t: t.size):
        if territory == mover:
            journey.lift(mover, raised, goal[mover])
        else:
            journey.carry(territory, goal[territory])
    journey.reorder(target.columns)
    return tuple(journey.steps)


class _Journey:
    """A graph under way: its columns, who occupies which territory, and the steps so far."""

    def __init__(self, graph: DirectedGraph) -> None:
        self.columns = list(graph.columns)
        self.steps: list[GraphStep | ParentAddition] = []
        self.node_of: dict[Territory, int] = {}
        # The territory one size up that has this anchor: the vehicle inside it.
        self.vehicle: dict[tuple[int, int], Territory] = {}
        self._reduce()

    def _reduce(self) -> None:
        """Occupy the territories from the largest size down; drop what is redundant."""
        waiting: dict[int, list[int]] = {}
        for j, column in enumerate(self.columns):
            waiting.setdefault(column.bit_count(), []).append(j)
        for occupant in survey(self.columns.copy()):
            territory = occupant.territory
            # Earlier reductions moved columns to other nodes: look up who lives here now.
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
                self.steps.append(ParentReduction(child, twin, parent))
                waiting.setdefault(territory.size - 1, []).append(child)

    def carry(self, territory: Territory, goal: int) -> None:
        """Bring the column of this territory to the set ``goal``, by way of shared anchors."""
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
            self.steps.append(ParentAddition(node, self.node_of[above], parent))
            self.columns[node] |= gained
        # The lifted column goes its way while the one it was made equal to stays.
        stays = self.node_of[raised[-1]]
        self.node_of[raised[-1]] = node
        self.carry(raised[-1], goal)
        self.node_of[raised[-1]] = stays

    def _carry_inside(self, territory: Territory, anchor: int, goal: int) -> None:
        """Bring the column to ``goal``, both inside one anchor: one element at a time."""
        while (column := self._column(territory)) != goal:
            vehicle = self.vehicle[anchor, territory.size + 1]
            wanted, spare = goal & ~column, column & ~goal
            # An element that the vehicle has already saves moving it.
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
            self.steps.append(ParentExchange(large, small, dropped, added, small))
            self.columns[small], self.columns[large] = union, union ^ lost
            self.node_of[territory], self.node_of[vehicle] = large, small
        else:
            self.steps.append(ParentExchange(small, large, dropped, added, small))
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
        """Turn cycles until the columns stand in the order of ``goal``."""
        # Equal columns may change places without a step, so they stay where that is possible.
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
            self.steps.append(CycleReversion((start, *reversed(cycle[1:]))))
        self.columns = list(goal)


def _nearest_inside(column: int, goal: int, room: int, size: int) -> int:
    """A set of ``size`` inside ``room`` that keeps what it can of ``column``, then of ``goal``."""
    chosen = 0
    for preferred in (column & goal, column, goal, room):
        for i in bits(preferred & room & ~chosen):
            if chosen.bit_count() == size:
                return chosen
            chosen |= 1 << i
    return chosen
