"""The member of a class nearest to a graph in structural Hamming distance.

An edge between two blocks (:mod:`cyclearn.classes.seating`) has only one possible direction: if
each node could have a set with the other, the two could change places, and the blocks would be one.
So the distance is a sum over blocks, which are filled independently. If a block has few fillings,
they are listed, and the nearest is taken, the first by :func:`canonical_order` among ties. For a
large block, an integer programme with one variable for each possible edge finds the nearest; among
ties its choice is arbitrary.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, islice, product
from math import ceil
from typing import Any

import numpy as np

from cyclearn.classes.canonical_member import canonical_order
from cyclearn.classes.seating import Block, Seating
from cyclearn.graphs.bitsets import bits, support_to_columns
from cyclearn.graphs.directed_graph import DirectedGraph, structural_hamming_distance


@dataclass(frozen=True)
class NearestMember:
    """A member of a class near a graph, with a lower bound of the smallest distance."""

    member: DirectedGraph
    distance: int
    lower_bound: int

    @property
    def is_exact(self) -> bool:
        """Whether it is proved that no member is nearer."""
        return self.distance == self.lower_bound


# Maximum number of fillings of a block to list.
_MAX_LISTED = 2_000


def nearest_member(
    seating: Seating, graph: DirectedGraph, time_limit: float | None = None
) -> NearestMember:
    """The member of the class of ``seating`` nearest to ``graph``.

    Ties are resolved by the rule that chooses the member shown, nodes in the order of their
    numbers.
    """
    columns, found = [0] * graph.n_nodes, list[int]()
    for block in seating.blocks:
        filling, is_nearest = _near_filling(seating, block, graph)
        for j, column in zip(block.nodes, filling, strict=True):
            columns[j] = column
            found += [j] * is_nearest
    known = _measured(columns, graph)
    if len(found) == graph.n_nodes:
        return known
    solution, bound = _by_integer_programme(seating, graph, time_limit)
    if solution is not None:
        # The listed blocks are at least as near.
        for j in found:
            solution[j] = columns[j]
        known = min(_measured(solution, graph), known, key=lambda near: near.distance)
    return replace(known, lower_bound=min(bound, known.distance))


def _near_filling(
    seating: Seating, block: Block, graph: DirectedGraph
) -> tuple[tuple[int, ...], bool]:
    """The first of the nearest listed fillings of a block, and whether the list is complete."""
    # Edges between nodes of two groups can point both ways: such blocks are filled together.
    most = _MAX_LISTED if seating.groups is None else 1
    fillings = list(islice(seating.iter_block(block), most + 1))
    is_listed = len(fillings) <= most
    distance = _block_distance(block, graph)
    best = min(distance(filling) for filling in fillings)
    nearest = (filling for filling in fillings if distance(filling) == best)
    return min(nearest, key=lambda filling: canonical_order(block.nodes, filling)), is_listed


def _block_distance(block: Block, graph: DirectedGraph) -> Callable[[tuple[int, ...]], int]:
    """The contribution of a filling of a block to the distance, up to a constant."""
    inside = sum(1 << j for j in block.nodes)
    wanted = {j: graph.columns[j] for j in block.nodes}
    children = support_to_columns(graph.adjacency.T)

    def distance(filling: tuple[int, ...]) -> int:
        differs = {j: c ^ wanted[j] for j, c in zip(block.nodes, filling, strict=True)}
        total = 0
        for j, places in differs.items():
            # An edge in the other direction is to be reversed.
            total += (places & (inside | wanted[j] | ~children[j])).bit_count()
            # Inside the block, whose mirrored entries belong to it too, each is counted once.
            turned = places & inside & (wanted[j] ^ children[j]) & ((1 << j) - 1)
            total -= sum(differs[i] >> j & 1 for i in bits(turned))
        return total

    return distance


def _measured(columns: Sequence[int], graph: DirectedGraph) -> NearestMember:
    member = DirectedGraph.from_columns(columns, graph.names)
    distance = structural_hamming_distance(member, graph)
    return NearestMember(member, distance, distance)


class _Programme:
    """An integer programme: variables, numbered as they are requested, rows and costs."""

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
        # scipy 1.13 accepts only 32-bit indices.
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
    seating: Seating, graph: DirectedGraph, time_limit: float | None
) -> tuple[list[int] | None, int]:
    """Columns of the nearest member found, None if time ran out, and a lower bound."""
    programme = _Programme()
    _add_members(programme, seating)
    _add_distance(programme, graph)
    solved = programme.solve(time_limit)
    bound = 0
    if solved.mip_dual_bound is not None:
        bound = max(0, ceil(solved.mip_dual_bound + programme.constant - 1e-6))
    if solved.x is None:
        return None, bound
    columns = [1 << j for j in range(graph.n_nodes)]
    for (kind, which), number in programme.number.items():
        if kind == "edge" and solved.x[number] > 0.5:
            i, j = which
            columns[j] |= 1 << i
    return columns, bound


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
        # If node j takes this seat, exclude all sets that it must not have.
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
    # A territory and those above it are used at least once each.
    subtree, size = [dict(row) for row in held], [1] * p
    for seat in sorted(range(p), key=lambda s: -seating.territories[s].size):
        below = seating.below[seat]
        if below is not None:
            subtree[below].update(subtree[seat])
            size[below] += size[seat]
    rows += [(row, float(n), np.inf) for row, n in zip(subtree, size, strict=True)]


def _add_distance(programme: _Programme, graph: DirectedGraph) -> None:
    """Costs, and the rows that define them: the total is the distance to the graph."""
    for i, j in combinations(range(graph.n_nodes), 2):
        forward, back = graph.has_edge(i, j), graph.has_edge(j, i)
        edges = [programme.number.get(("edge", e)) for e in ((i, j), (j, i))]
        if forward == back:
            programme.constant += 2.0 * forward
            programme.price |= {e: -1.0 if forward else 1.0 for e in edges if e is not None}
            continue
        have, turned = edges if forward else edges[::-1]
        # Each edge to add, remove or reverse costs one.
        differs = programme.variable("differs", i, j)
        programme.price[differs] = 1.0
        kept = {} if have is None else {have: 1.0}
        programme.rows.append(({differs: 1.0} | kept, 1.0, np.inf))
        if turned is not None:
            programme.rows.append(({differs: 1.0, turned: -1.0}, 0.0, np.inf))
