"""The member of a class nearest to a graph in structural Hamming distance.

An edge between two blocks (:mod:`cyclearn.classes.seating`) can only point one way: could each node
hold a set with the other, the two could change places, and the blocks were one. So the distance is
a sum over blocks, each of which is filled by itself. The fillings of a block are listed, where they
are few, and the first by :func:`canonical_order` of the nearest is taken.

Where a block is large, two assignment problems give bounds. Counting each edge to add or remove as
one, the best member is the solution of an assignment of territories to nodes, since columns are
chosen independently; its distance is an upper bound. Counting one half wherever the difference
could be part of a turned edge, the same assignment gives a lower bound. Where the two differ, an
integer programme with one variable for each possible edge settles it. Which of several equally
near fillings of such a block is taken is left to these programmes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, islice, product
from math import ceil
from typing import Any

import numpy as np

from cyclearn.classes.canonical_member import canonical_order
from cyclearn.classes.seating import Block, Seating
from cyclearn.foundation.arrays import FloatArray
from cyclearn.graphs.bitsets import bits, support_to_columns
from cyclearn.graphs.directed_graph import DirectedGraph, structural_hamming_distance


@dataclass(frozen=True)
class NearestMember:
    """A member of a class near to a graph, and what is known of the smallest distance."""

    member: DirectedGraph
    distance: int
    lower_bound: int

    @property
    def is_exact(self) -> bool:
        """Whether no member is nearer."""
        return self.distance == self.lower_bound


# Fillings of a block that are listed.
_MAX_LISTED = 2_000


def nearest_member(
    seating: Seating, graph: DirectedGraph, time_limit: float | None = None
) -> NearestMember:
    """The member of the class of ``seating`` nearest to ``graph``.

    Of several it is the first by the rule that chooses the member shown, nodes in the order of
    their numbers.
    """
    if seating.groups is not None:
        # Edges between nodes of two groups can point both ways.
        return _by_programmes(seating, graph, time_limit)
    columns = [0] * graph.n_nodes
    is_listed = True
    for block in seating.blocks:
        filling = _nearest_filling(seating, block, graph)
        is_listed = is_listed and filling is not None
        for j, column in zip(block.nodes, filling or (), strict=filling is not None):
            columns[j] = column
    if is_listed:
        nearest = _measured(columns, graph, 0)
        return NearestMember(nearest.member, nearest.distance, nearest.distance)
    nearest = _by_programmes(seating, graph, time_limit)
    for j, column in enumerate(nearest.member.columns):
        columns[j] = columns[j] or column
    # The blocks that were listed are nowhere worse.
    return _measured(columns, graph, nearest.lower_bound)


def _nearest_filling(
    seating: Seating, block: Block, graph: DirectedGraph
) -> tuple[int, ...] | None:
    """The first of the nearest fillings of a block, None where it has too many to be listed."""
    fillings = list(islice(seating.iter_block(block), _MAX_LISTED + 1))
    if len(fillings) == 1:
        return fillings[0]
    if len(fillings) > _MAX_LISTED:
        return None
    distance = _block_distance(block, graph)
    best = min(distance(filling) for filling in fillings)
    return min(
        (filling for filling in fillings if distance(filling) == best),
        key=lambda filling: canonical_order(block.nodes, filling),
    )


def _block_distance(block: Block, graph: DirectedGraph) -> Callable[[tuple[int, ...]], int]:
    """What a filling of a block adds to the distance, but for a constant."""
    inside = sum(1 << j for j in block.nodes)
    wanted = {j: graph.columns[j] for j in block.nodes}
    children = support_to_columns(graph.adjacency.T)

    def distance(filling: tuple[int, ...]) -> int:
        differs = {j: c ^ wanted[j] for j, c in zip(block.nodes, filling, strict=True)}
        total = 0
        for j, places in differs.items():
            # An edge from outside that stands in the graph the other way is one to be turned.
            total += (places & (inside | wanted[j] | ~children[j])).bit_count()
            # The same inside, where the place across belongs to the block, counted once.
            turned = places & inside & (wanted[j] ^ children[j]) & ((1 << j) - 1)
            total -= sum(differs[i] >> j & 1 for i in bits(turned))
        return total

    return distance


def _by_programmes(
    seating: Seating, graph: DirectedGraph, time_limit: float | None
) -> NearestMember:
    """A member near to the graph by assignments, or else by the integer programme."""
    single = graph.adjacency != graph.adjacency.T
    candidates = [
        _best_assignment(seating, graph, np.where(single, halved, 1.0)) for halved in (0.5, 1.0)
    ]
    lower_bound = 0 if seating.reducible else ceil(candidates[0][1] - 1e-6)
    nearest = min(
        (_measured(columns, graph, lower_bound) for columns, _ in candidates),
        key=lambda found: found.distance,
    )
    if nearest.is_exact:
        return nearest
    return _by_integer_programme(seating, graph, nearest, time_limit)


def _measured(columns: Sequence[int], graph: DirectedGraph, lower_bound: int) -> NearestMember:
    member = DirectedGraph.from_columns(columns, graph.names)
    return NearestMember(member, structural_hamming_distance(member, graph), lower_bound)


def _best_assignment(
    seating: Seating, graph: DirectedGraph, price: FloatArray
) -> tuple[list[int], float]:
    """Cheapest member when entry (i, j) that differs from the graph costs ``price[i, j]``."""
    from scipy.optimize import linear_sum_assignment

    p = graph.n_nodes
    cost = np.full((p, p), np.inf)
    best: dict[tuple[int, int], int] = {}
    for seat, territory in enumerate(seating.territories):
        for anchor in territory.anchors:
            for j in filter(partial(seating.may_take, seat), bits(anchor)):
                members, value = _cheapest_set(territory.size, anchor, j, graph, price[:, j])
                if value < cost[seat, j]:
                    cost[seat, j], best[seat, j] = value, members
    for seat, j in [key for key, members in best.items() if members in seating.excluded(*key)]:
        values = {
            members: float(sum(price[i, j] for i in bits(members ^ graph.columns[j])))
            for members in seating.iter_sets(seat, j)
        }
        best[seat, j] = min(values, key=values.__getitem__, default=0)
        cost[seat, j] = values.get(best[seat, j], np.inf)
    seats, nodes = linear_sum_assignment(cost)
    columns = [0] * p
    for seat, j in zip(seats.tolist(), nodes.tolist(), strict=True):
        columns[j] = best[seat, j]
    return columns, float(cost[seats, nodes].sum())


def _cheapest_set(
    size: int, anchor: int, j: int, graph: DirectedGraph, price: FloatArray
) -> tuple[int, float]:
    """The set of ``size`` inside ``anchor`` around j that costs least against column j."""
    wanted = graph.columns[j]
    # Taking an element saves its price if the graph has it and costs it otherwise.
    gain = sorted(
        (-price[i] if wanted >> i & 1 else price[i], i) for i in bits(anchor & ~(1 << j))
    )[: size - 1]
    everything_missed = float(sum(price[i] for i in bits(wanted & ~(1 << j))))
    members = (1 << j) | sum(1 << i for _, i in gain)
    return members, everything_missed + sum(value for value, _ in gain)


class _Programme:
    """An integer programme: variables, numbered as they are asked for, rows and prices."""

    def __init__(self) -> None:
        self.number: dict[tuple[str, tuple[int, ...]], int] = {}
        self.rows: list[tuple[dict[int, float], float, float]] = []
        self.price: dict[int, float] = {}
        self.constant = 0.0

    def variable(self, kind: str, *which: int) -> int:
        return self.number.setdefault((kind, which), len(self.number))

    def solve(self, time_limit: float | None) -> Any:
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import coo_array

        n = len(self.number)
        entries = [(r, v, c) for r, (row, _, _) in enumerate(self.rows) for v, c in row.items()]
        # That of scipy 1.13 takes places of 32 bits only.
        r, v = np.array([entry[:2] for entry in entries], dtype=np.int32).T
        c = [entry[2] for entry in entries]
        objective = np.zeros(n)
        objective[list(self.price)] = list(self.price.values())
        return milp(
            objective,
            integrality=np.array([kind != "differs" for kind, _ in self.number], dtype=int),
            bounds=Bounds(0, 1),
            constraints=LinearConstraint(
                coo_array((c, (r, v)), shape=(len(self.rows), n)).tocsr(),
                [low for _, low, _ in self.rows],
                [high for _, _, high in self.rows],
            ),
            options={} if time_limit is None else {"time_limit": time_limit},
        )


def _by_integer_programme(
    seating: Seating, graph: DirectedGraph, known: NearestMember, time_limit: float | None
) -> NearestMember:
    programme = _Programme()
    _add_members(programme, seating)
    _add_distance(programme, graph)
    solved = programme.solve(time_limit)
    bound = known.lower_bound
    if solved.mip_dual_bound is not None:
        bound = max(bound, ceil(solved.mip_dual_bound + programme.constant - 1e-6))
    if solved.x is not None:
        columns = [1 << j for j in range(graph.n_nodes)]
        for (kind, which), number in programme.number.items():
            if kind == "edge" and solved.x[number] > 0.5:
                i, j = which
                columns[j] |= 1 << i
        found = _measured(columns, graph, bound)
        if found.distance <= known.distance:
            known = found
    return NearestMember(known.member, known.distance, min(bound, known.distance))


def _add_members(programme: _Programme, seating: Seating) -> None:
    """Rows that only members of the class satisfy."""
    p = len(seating.territories)
    variable, rows = programme.variable, programme.rows
    seated: list[dict[int, float]] = [{} for _ in range(p)]
    held: list[dict[int, float]] = [{} for _ in range(p)]
    n_chosen: list[dict[int, float]] = [{} for _ in range(p)]
    allows: dict[tuple[int, int], dict[int, float]] = {}
    for seat, territory in enumerate(seating.territories):
        for anchor in territory.anchors:
            for j in filter(partial(seating.may_take, seat), bits(anchor)):
                sits = variable("sits", seat, anchor, j)
                held[seat][sits] = seated[j][sits] = 1.0
                n_chosen[j][sits] = -float(territory.size - 1)
                for i in bits(anchor & ~(1 << j)):
                    edge = variable("edge", i, j)
                    n_chosen[j][edge] = 1.0
                    allows.setdefault((i, j), {edge: 1.0})[sits] = -1.0
    rows += [(row, 1.0, 1.0) for row in seated]
    rows += [(row, 0.0, 0.0) for row in n_chosen]
    rows += [(row, -np.inf, 0.0) for row in allows.values()]
    for seat, j in product(seating.redundant, range(p)):
        # Not all entries of a set that node j may not hold, if it takes this seat.
        for members in seating.excluded(seat, j):
            row = {
                variable("sits", seat, anchor, j): 1.0
                for anchor in seating.territories[seat].anchors
                if anchor >> j & 1 and seating.may_take(seat, j)
            }
            row |= {variable("edge", i, j): 1.0 for i in bits(members ^ (1 << j))}
            rows.append((row, -np.inf, float(members.bit_count() - 1)))
    if not seating.reducible:
        rows += [(row, 1.0, 1.0) for row in held]
        return
    # A territory and those that hand down to it are used at least once each.
    subtree, size = [dict(row) for row in held], [1] * p
    for seat in sorted(range(p), key=lambda s: -seating.territories[s].size):
        below = seating.below[seat]
        if below is not None:
            subtree[below].update(subtree[seat])
            size[below] += size[seat]
    rows += [(row, float(n), np.inf) for row, n in zip(subtree, size, strict=True)]


def _add_distance(programme: _Programme, graph: DirectedGraph) -> None:
    """Prices, and the rows that they need: what is paid is the distance to the graph."""
    for i, j in combinations(range(graph.n_nodes), 2):
        forward, back = graph.has_edge(i, j), graph.has_edge(j, i)
        edges = [programme.number.get(("edge", e)) for e in ((i, j), (j, i))]
        if forward == back:
            programme.constant += 2.0 * forward
            programme.price |= {e: -1.0 if forward else 1.0 for e in edges if e is not None}
            continue
        have, turned = edges if forward else edges[::-1]
        # One edge to add, remove or turn, whichever it is, costs one.
        differs = programme.variable("differs", i, j)
        programme.price[differs] = 1.0
        kept = {} if have is None else {have: 1.0}
        programme.rows.append(({differs: 1.0} | kept, 1.0, np.inf))
        if turned is not None:
            programme.rows.append(({differs: 1.0, turned: -1.0}, 0.0, np.inf))
