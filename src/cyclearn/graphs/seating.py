"""Which node holds a set of which territory: the members of a class, counted and streamed.

A graph is a choice, for every node j, of a set that contains j. It is an *irreducible* member of
a class when every territory of the class is used by exactly one node. It is a member, reducible
or not, when the surplus of territories used more than once, passed down to the territory one size
smaller around it, fills every territory that nobody used: a reduction is one such pass.

Nodes fall into blocks that can be filled independently; counts multiply over blocks and streams
are products of blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from cyclearn.errors import LimitError
from cyclearn.graphs.bitsets import columns_to_words
from cyclearn.graphs.permanents import permanent
from cyclearn.graphs.territories import Territory

# How many sets of a territory, or members of a block, are kept as a table.
_TABLE_SIZE = 1 << 14


@dataclass(frozen=True)
class Block:
    """Nodes and territories that are filled together, and apart from all others."""

    nodes: tuple[int, ...]
    seats: tuple[int, ...]


class Seating:
    """All ways to give each node a set of some territory, one block at a time."""

    def __init__(self, territories: Sequence[Territory], *, reducible: bool) -> None:
        self.territories = tuple(territories)
        self.reducible = reducible
        self.below = _territory_below(self.territories)

    @cached_property
    def weights(self) -> tuple[dict[int, int], ...]:
        """For every node, in how many sets of each territory it occurs."""
        weights: list[dict[int, int]] = [{} for _ in self.territories]
        for seat, territory in enumerate(self.territories):
            for j in range(len(self.territories)):
                if any(anchor >> j & 1 for anchor in territory.anchors):
                    weights[j][seat] = territory.count(1 << j)
        return tuple(weights)

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The finest split, in the order of the smallest node of each block."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components, maximum_bipartite_matching

        p = len(self.territories)
        pairs = [(j, seat) for j in range(p) for seat in self.weights[j]]
        if not pairs:
            return ()
        nodes, seats = np.array(pairs).T
        taken = coo_array((np.ones(len(pairs)), (nodes, seats)), shape=(p, p)).tocsr()
        # An entry is in no perfect matching unless it lies inside a strong component of the
        # matrix with one perfect matching put on its diagonal.
        seat_of = maximum_bipartite_matching(taken, perm_type="column")
        if self.reducible:
            held = [(s, b) for s, b in enumerate(self.below) if b is not None]
            node_at = {int(seat_of[j]): j for j in range(p)}
            links = [(node_at[s], node_at[b]) for s, b in held]
            links += [(j, node_at[seat]) for j, seat in pairs]
            connection = "weak"
        else:
            node_at = {int(seat_of[j]): j for j in range(p)}
            links = [(j, node_at[seat]) for j, seat in pairs]
            connection = "strong"
        ends = np.array(links).T
        graph = coo_array((np.ones(len(links)), (ends[0], ends[1])), shape=(p, p)).tocsr()
        _, label = connected_components(graph, connection=connection)
        members: dict[int, list[int]] = {}
        for j in range(p):
            members.setdefault(int(label[j]), []).append(j)
        return tuple(
            Block(tuple(group), tuple(sorted(int(seat_of[j]) for j in group)))
            for group in members.values()
        )

    def count(self, block: Block, changed: Mapping[int, Mapping[int, int]] | None = None) -> int:
        """Number of ways to fill a block, with the weights of some nodes changed."""
        weights = [
            (changed[j] if changed and j in changed else self.weights[j]) for j in block.nodes
        ]
        if self.reducible:
            return self._count_reducible(block, weights)
        return permanent([[row.get(seat, 0) for seat in block.seats] for row in weights])

    def _count_reducible(self, block: Block, weights: Sequence[Mapping[int, int]]) -> int:
        """Sum over all distributions of the nodes over territories that pass the surplus down."""
        position = {seat: n for n, seat in enumerate(block.seats)}
        states = {(0,) * len(block.seats): 1}
        for row in weights:
            following: dict[tuple[int, ...], int] = {}
            for state, ways in states.items():
                for seat, weight in row.items():
                    n = position[seat]
                    after = (*state[:n], state[n] + 1, *state[n + 1 :])
                    following[after] = following.get(after, 0) + ways * weight
            if len(following) > 300_000:
                raise LimitError(
                    f"a block of {len(block.nodes)} nodes has too many reducible members to be "
                    "counted; ask for the irreducible members"
                )
            states = following
        return sum(ways for state, ways in states.items() if self._passes_down(block, state))

    def _passes_down(self, block: Block, taken: Sequence[int]) -> bool:
        """Whether the surplus, passed down from the largest size on, fills every territory."""
        surplus = dict(zip(block.seats, taken, strict=True))
        for seat in sorted(block.seats, key=lambda s: -self.territories[s].size):
            extra = surplus[seat] - 1
            if extra < 0 or (extra > 0 and self.below[seat] is None):
                return False
            if extra:
                surplus[self.below[seat]] += extra  # type: ignore[index]
        return True

    def iter_words(self) -> Iterator[NDArray[np.uint64]]:
        """Stream all members as columns in 64-bit words, shape (members, p, words), in batches."""
        p = len(self.territories)
        # A batch of adjacency arrays stays inside the cache of the processor.
        batch = min(4096, max(64, (1 << 21) // max(1, p * p)))
        order = np.array([j for block in self.blocks for j in block.nodes], dtype=np.intp)
        for tables in self._iter_table_products(0, batch):
            for rows in _iter_products(tables, batch):
                members = np.empty((len(rows[0]), p, rows[0].shape[2]), dtype=np.uint64)
                members[:, order] = np.concatenate(rows, axis=1)
                yield members

    def _iter_table_products(self, first: int, batch: int) -> Iterator[list[NDArray[np.uint64]]]:
        """Stream tables, one a block, whose products are all members; large blocks in pieces."""
        if first == len(self.blocks):
            yield []
            return
        for table in self._iter_tables(self.blocks[first], batch):
            for others in self._iter_table_products(first + 1, batch):
                yield [table, *others]

    def _iter_tables(self, block: Block, batch: int) -> Iterator[NDArray[np.uint64]]:
        if block.nodes in self._tables:
            yield self._tables[block.nodes]
            return
        stream = self._iter_block(block)
        piece_size = max(batch, _TABLE_SIZE)
        is_first = True
        while piece := list(islice(stream, piece_size)):
            words = columns_to_words(list(chain.from_iterable(piece)), len(self.territories))
            table = words.reshape(len(piece), len(block.nodes), -1)
            if is_first and len(piece) < piece_size:
                self._tables[block.nodes] = table
            is_first = False
            yield table

    @cached_property
    def _tables(self) -> dict[tuple[int, ...], NDArray[np.uint64]]:
        return {}

    def _iter_block(self, block: Block) -> Iterator[tuple[int, ...]]:
        """Stream the fillings of a block, each as one column for each of its nodes."""
        last = len(block.nodes) - 1
        seats_of = [sorted(set(self.weights[j]).intersection(block.seats)) for j in block.nodes]
        # Sets of one territory that contain one node: kept where few, made again where many.
        kept = {
            (j, seat): tuple(self.territories[seat].iter_sets(1 << j))
            for j, seats in zip(block.nodes, seats_of, strict=True)
            for seat in seats
            if self.weights[j][seat] <= _TABLE_SIZE
        }

        @lru_cache(maxsize=1 << 16)
        def choices(taken: tuple[int, ...]) -> tuple[tuple[int, tuple[int, ...]], ...]:
            """Seats for the next node, with the seats taken then, that leave a way to the end."""
            after = ((seat, tuple(sorted((*taken, seat)))) for seat in seats_of[len(taken)])
            return tuple((seat, then) for seat, then in after if self._can_be_filled(block, then))

        def extend(columns: tuple[int, ...], taken: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
            j = block.nodes[len(columns)]
            for seat, after in choices(taken):
                sets = kept.get((j, seat)) or self.territories[seat].iter_sets(1 << j)
                if len(columns) == last:
                    for members in sets:
                        yield (*columns, members)
                else:
                    for members in sets:
                        yield from extend((*columns, members), after)

        return extend((), ())

    def _can_be_filled(self, block: Block, taken: tuple[int, ...]) -> bool:
        """Whether a block whose first nodes took these seats can be completed: one matching."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import maximum_bipartite_matching

        if not self.reducible and len(set(taken)) < len(taken):
            return False
        open_seats = [{seat} for seat in taken]
        open_seats += [set(self.weights[j]) for j in block.nodes[len(taken) :]]
        position = {seat: n for n, seat in enumerate(block.seats)}
        matrix = np.zeros((len(block.nodes), len(block.seats)), dtype=bool)
        for row, seats in enumerate(open_seats):
            for seat in seats:
                walk: int | None = seat
                while walk is not None and walk in position:
                    matrix[row, position[walk]] = True
                    # A reducible member may hand a seat down to the territory around it.
                    walk = self.below[walk] if self.reducible else None
        return bool(np.all(maximum_bipartite_matching(csr_array(matrix)) >= 0))


def _territory_below(territories: Sequence[Territory]) -> tuple[int | None, ...]:
    """For every territory, the one of one size less whose columns move inside its sets."""
    at = {(anchor, t.size): n for n, t in enumerate(territories) for anchor in t.anchors}
    return tuple(at.get((t.anchors[0], t.size - 1)) for t in territories)


def _iter_products(
    tables: list[NDArray[np.uint64]], batch: int
) -> Iterator[list[NDArray[np.uint64]]]:
    """Stream the rows of a product of tables, the last table varying fastest, in batches."""
    if not tables:
        return
    total = 1
    for table in tables:
        total *= len(table)
    for start in range(0, total, batch):
        numbers = range(start, min(start + batch, total))
        if total < 2**62:
            rest = np.arange(numbers.start, numbers.stop)
        else:
            rest = np.array(list(numbers), dtype=object)
        picked = []
        for table in reversed(tables):
            picked.append(table[(rest % len(table)).astype(np.intp)])
            rest = rest // len(table)
        yield picked[::-1]
