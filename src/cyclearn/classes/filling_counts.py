"""Exact counts of the ways to fill the seats of a block.

Irreducible members are counted by permanents of sparse or repetitive integer matrices, with one row
per node and one column per seat. For reducible members the surplus moves down: a node enters at a
seat and moves down a chain of seats to a free one. The seats that are filled at the end do not
depend on the order of the nodes, as in parking functions, so each sweep below may choose its order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import comb, gcd, prod

from cyclearn.foundation.errors import LimitError
from cyclearn.graphs.bitsets import bits, union


def count_fillings(
    entries: Sequence[Mapping[int, int]], below: Sequence[int | None], max_states: int = 300_000
) -> int:
    """Number of ways to fill every seat, exact.

    Parameters
    ----------
    entries : for each node, in how many ways it enters at each seat
    below : for each seat, the one that its surplus moves to; as many seats as nodes
    max_states : maximum number of states of a sweep

    Examples
    --------
    Two nodes that may enter at either of two seats, the first above the second:

    >>> count_fillings([{0: 1, 1: 1}, {0: 1, 1: 1}], [1, None])
    3
    """
    rows = [{seat: ways for seat, ways in row.items() if ways} for row in entries]
    is_permanent = all(seat is None for seat in below)
    for budget in (min(2_000, max_states), max_states):
        for sweep in (_permanent, _sweep_nodes) if is_permanent else (_sweep_nodes, _sweep_seats):
            value = sweep(rows, below, budget)
            if value is not None:
                return value
    raise LimitError(
        f"a block of {len(rows)} nodes is too complex to be counted with {max_states} states; "
        "raise max_states, list the members one by one, or use the irreducible members"
    )


def chain_below(seat: int | None, below: Sequence[int | None]) -> list[int]:
    """A seat and the seats below it, one after the other."""
    found = []
    while seat is not None:
        found.append(seat)
        seat = below[seat]
    return found


def _permanent(
    rows: Sequence[Mapping[int, int]], below: Sequence[int | None], max_states: int
) -> int | None:
    """Seat by seat if nothing moves down; the state is the number of nodes of each kind left.

    Nodes whose rows are multiples of each other are of one kind.
    """
    scales = [gcd(*row.values()) or 1 for row in rows]
    kinds = Counter(
        tuple((seat, ways // scale) for seat, ways in sorted(row.items()))
        for row, scale in zip(rows, scales, strict=True)
    )
    values = [dict(kind) for kind in kinds]
    width = max(kinds.values(), default=0).bit_length()
    mask = (1 << width) - 1
    order = _sweep_order(
        [union(1 << k for k, row in enumerate(values) if c in row) for c in range(len(below))]
    )
    last_use = [
        max((position for position, column in enumerate(order) if column in row), default=-1)
        for row in values
    ]
    # A state packs the numbers of rows left, one field of ``width`` bits for each kind.
    start = sum(number << (width * kind) for kind, number in enumerate(kinds.values()))
    states = {start: 1}
    for position, column in enumerate(order):
        users = [(width * k, row[column]) for k, row in enumerate(values) if column in row]
        spent = sum(mask << (width * k) for k, last in enumerate(last_use) if last == position)
        following: dict[int, int] = {}
        for state, ways in states.items():
            for shift, value in users:
                left = state >> shift & mask
                if left:
                    after = state - (1 << shift)
                    # A kind that no later column can use must be used up.
                    if not after & spent:
                        following[after] = following.get(after, 0) + ways * left * value
            if len(following) > max_states:
                return None
        states = following
    return prod(scales) * states.get(0, 0)


def _sweep_nodes(
    rows: Sequence[Mapping[int, int]], below: Sequence[int | None], max_states: int
) -> int | None:
    """Node by node; the state is the set of seats filled."""
    reach = [
        union(1 << seat for entry in row for seat in chain_below(entry, below)) for row in rows
    ]
    order = _sweep_order(reach)
    states = {0: 1}
    for position, j in enumerate(order):
        # A seat that no later node can reach must be filled by now.
        due = ~union(reach[k] for k in order[position + 1 :]) & (1 << len(below)) - 1
        following: dict[int, int] = {}
        for filled, ways in states.items():
            for entry, weight in rows[j].items():
                seat: int | None = entry
                while seat is not None and filled >> seat & 1:
                    seat = below[seat]
                if seat is None:
                    continue
                after = filled | 1 << seat
                if not due & ~after:
                    following[after] = following.get(after, 0) + ways * weight
            if len(following) > max_states:
                return None
        states = following
    return states.get((1 << len(below)) - 1, 0)


def _sweep_order(reach: Sequence[int]) -> list[int]:
    """Order the nodes, with the seats that each reaches, so that few seats are open at a time."""
    remaining = set(range(len(reach)))
    begun = 0
    order: list[int] = []
    while remaining:
        j = min(remaining, key=lambda k: ((reach[k] & ~begun).bit_count(), k))
        remaining.remove(j)
        begun |= reach[j]
        order.append(j)
    return order


def _sweep_seats(
    rows: Sequence[Mapping[int, int]], below: Sequence[int | None], max_states: int
) -> int | None:
    """Seat by seat from the top; the state is the number of nodes of each kind left.

    Nodes with equal rows are of one kind. The surplus of a seat is part of the state until the
    seat below it is swept.
    """
    kinds = Counter(tuple(sorted(row.items())) for row in rows)
    values = [dict(kind) for kind in kinds]
    # Each after all seats above it.
    order = sorted(range(len(below)), key=lambda seat: (-len(chain_below(seat, below)), seat))
    states: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = {
        (tuple(kinds.values()), (0,) * len(below)): 1
    }
    for seat in order:
        users = [kind for kind, row in enumerate(values) if seat in row]
        for kind in users:
            weight = values[kind][seat]
            spread: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = {}
            for (left, surplus), ways in states.items():
                for n in range(left[kind] + 1):
                    key = (_changed(left, kind, -n), _changed(surplus, seat, n))
                    more = ways * comb(left[kind], n) * weight**n
                    spread[key] = spread.get(key, 0) + more
                if len(spread) > max_states:
                    return None
            states = spread
        following: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = {}
        for (left, surplus), ways in states.items():
            extra = surplus[seat] - 1
            target = below[seat]
            if extra < 0 or (extra and target is None):
                continue
            after = _changed(surplus, seat, -surplus[seat])
            if target is not None:
                after = _changed(after, target, extra)
            following[left, after] = following.get((left, after), 0) + ways
        states = following
    return sum(ways for (left, _), ways in states.items() if not any(left))


def _changed(counts: tuple[int, ...], position: int, change: int) -> tuple[int, ...]:
    return (*counts[:position], counts[position] + change, *counts[position + 1 :])


def completions(reach: Sequence[int], free: int) -> list[int] | None:
    """Assign each node a different free seat within its reach; None if this is impossible."""
    owner: dict[int, int] = {}
    seat_of = [-1] * len(reach)
    for node in range(len(reach)):
        # Breadth first to a free seat, past nodes that can move on.
        wanted_by: dict[int, int] = {}
        frontier, seen, seat = [node], 0, -1
        while frontier and seat < 0:
            holders = []
            for claimant in frontier:
                for candidate in bits(reach[claimant] & free & ~seen):
                    seen |= 1 << candidate
                    wanted_by[candidate] = claimant
                    if candidate not in owner:
                        seat = candidate
                        break
                    holders.append(owner[candidate])
                if seat >= 0:
                    break
            frontier = holders
        if seat < 0:
            return None
        while seat >= 0:
            claimant = wanted_by[seat]
            owner[seat] = claimant
            seat_of[claimant], seat = seat, seat_of[claimant]
    return seat_of
