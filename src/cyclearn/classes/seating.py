"""The assignment of territories to nodes: counting and listing the members of a class.

A graph is a choice, for every node j, of a set that contains j. It is an *irreducible* member of a
class if every territory of the class is used by exactly one node. It is a member, reducible or not,
if passing the surplus of territories used more than once down to the territory one size smaller
fills every unused territory: a reduction is one such step. Knowledge restricts single columns:
which elements the set of a node must and may have. So the members that respect it have the same
seating with fewer sets for some nodes. The nodes are divided into blocks that can be filled
independently; counts are products over blocks. In other words: a choice of territories gives a
member if the nodes can be matched one to one with the territories, each with the one it uses or,
for reducible members, with one further down. So the blocks are those of the perfect matchings of
that relation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from cyclearn.classes.filling_counts import chain_below, completions, count_fillings
from cyclearn.classes.territories import Territory, territory_below
from cyclearn.foundation.arrays import BoolArray
from cyclearn.graphs.bitsets import bits, strong_components, support_to_columns, union

# Maximum number of fillings of a block, and of sets of a territory, to keep.
_MOST_KEPT = 1 << 12
_KEPT_SETS = 1 << 10


@dataclass(frozen=True)
class Block:
    """Nodes and territories that are filled together, independently of all others.

    ``entry`` gives, for every territory that a node of the block may use, the position in
    ``seats`` of the first one further down that belongs to the block; ``below`` the next position
    down. Among irreducible members every territory represents only itself.
    """

    nodes: tuple[int, ...]
    seats: tuple[int, ...]
    entry: Mapping[int, int]
    below: tuple[int | None, ...]


@dataclass(eq=False, kw_only=True)
class Seating:
    """All ways to give each node a set of some territory, one block at a time.

    ``least`` and ``most`` are, for every node, the elements that its set must and may have.
    ``groups`` are numbers for every node and for every territory: a node takes a territory of its
    own group. Only irreducible members can be seated in groups.
    """

    territories: Sequence[Territory] = field(kw_only=False)
    reducible: bool
    redundant: Mapping[int, frozenset[int]] = field(default_factory=dict)
    max_states: int = 300_000
    least: Sequence[int] = ()
    most: Sequence[int] = ()
    groups: tuple[Sequence[int], Sequence[int]] | None = None

    def __post_init__(self) -> None:
        p = len(self.territories)
        self.redundant = {} if self.reducible else self.redundant
        self.least = self.least or tuple(1 << j for j in range(p))
        self.most = self.most or ((1 << p) - 1,) * p
        self.below = territory_below(self.territories)
        self._excluded: dict[tuple[int, int], frozenset[int]] = {}
        self._kept: dict[tuple[int, ...], tuple[tuple[int, ...], ...]] = {}

    def respecting(self, allowed: BoolArray | None, required: BoolArray | None) -> Seating:
        """The members whose edges are all allowed and that have all required edges."""
        own = np.eye(len(self.territories), dtype=bool)
        least = () if required is None else support_to_columns(required | own)
        most = () if allowed is None else support_to_columns(allowed | own)
        return replace(self, least=least, most=most)

    def territory(self, j: int, seat: int) -> Territory:
        """The sets of a territory without elements that node j must not have."""
        whole = self.territories[seat]
        outside = ~self.most[j]
        return whole.within(~outside) if any(a & outside for a in whole.anchors) else whole

    @cached_property
    def weights(self) -> tuple[dict[int, int], ...]:
        """For every node, the number of sets that it may use of each territory."""
        return tuple(
            {seat: ways for seat in self._seats_with[j] if (ways := self.count_sets(seat, j))}
            for j in range(len(self.territories))
        )

    def excluded(self, seat: int, j: int) -> frozenset[int]:
        """Sets of a territory that node j must not have because one entry would be redundant.

        This is the case if a rule reduces the set to one of the ``redundant`` sets of the seat, one
        entry smaller, and j is not the removed entry.
        """
        if seat not in self.redundant:
            return frozenset()
        if (seat, j) not in self._excluded:
            territory = self.territory(j, seat)
            self._excluded[seat, j] = frozenset(
                members
                for smaller in self.redundant[seat]
                if smaller >> j & 1
                for members in territory.iter_sets(smaller | self.least[j])
            )
        return self._excluded[seat, j]

    def count_sets(self, seat: int, j: int, containing: int = 0) -> int:
        """Number of sets of a territory that node j may have and that contain some nodes."""
        excluded = self.excluded(seat, j)
        ways = self.territory(j, seat).count(containing | self.least[j])
        return ways - sum(containing & ~members == 0 for members in excluded)

    def iter_sets(self, seat: int, j: int) -> Iterator[int]:
        """Iterate over the sets of a territory that node j may have, in a fixed order."""
        excluded = self.excluded(seat, j)
        sets = self.territory(j, seat).iter_sets(self.least[j])
        return (members for members in sets if members not in excluded) if excluded else sets

    @cached_property
    def is_empty(self) -> bool:
        """Whether no choice of sets gives a member: then every graph has a redundant entry."""
        if not self.redundant and self.groups is None:
            return False
        pairs = [(j, s) for j, row in enumerate(self.weights) for s in row]
        return bool((matched_seats(pairs, len(self.territories)) < 0).any())

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The finest partition, in the order of the smallest node of each block."""
        p = len(self.territories)
        if p == 0:
            return ()
        # Reversing a cycle preserves all sets, excluded or not, so cycles stay inside blocks.
        pairs = [(j, s) for j in range(p) for s in self._within_reach(j)]
        # An entry is in a perfect matching only if it lies inside a strong component of the matrix
        # with one perfect matching on its diagonal.
        seat_of = matched_seats(pairs, p)
        if (seat_of < 0).any():
            # No member respects the knowledge: one block cannot be filled.
            return (self._block(tuple(range(p)), tuple(range(p))),)
        node_at = {seat: j for j, seat in enumerate(seat_of.tolist())}
        fills = [0] * p
        for j, seat in pairs:
            fills[j] |= 1 << node_at[seat]
        groups = [tuple(bits(members)) for members in dict.fromkeys(strong_components(fills))]
        return tuple(
            self._block(group, tuple(sorted(int(seat_of[j]) for j in group))) for group in groups
        )

    def _within_reach(self, j: int) -> set[int]:
        """The territories that node j may use: those with a set for it, excluded or not.

        For reducible members, those below them too.
        """
        seats = {s for s in self._seats_with[j] if self.territory(j, s).count(self.least[j])}
        if self.reducible:
            return {below for s in seats for below in chain_below(s, self.below)}
        return seats

    @cached_property
    def _seats_with(self) -> list[list[int]]:
        """For every node, the territories of its group that have an anchor with it."""
        found: list[list[int]] = [[] for _ in self.territories]
        for seat, territory in enumerate(self.territories):
            for j in bits(territory.elements):
                if self.may_take(seat, j):
                    found[j].append(seat)
        return found

    def may_take(self, seat: int, j: int) -> bool:
        """Whether a territory belongs to the group of node j."""
        return self.groups is None or self.groups[0][j] == self.groups[1][seat]

    def _block(self, nodes: tuple[int, ...], seats: tuple[int, ...]) -> Block:
        position = {seat: n for n, seat in enumerate(seats)}
        if not self.reducible:
            return Block(nodes, seats, position, (None,) * len(seats))

        def first_inside(seat: int | None) -> int | None:
            while seat is not None and seat not in position:
                seat = self.below[seat]
            return None if seat is None else position[seat]

        entry = {
            seat: inside
            for seat in sorted({seat for j in nodes for seat in self.weights[j]})
            if (inside := first_inside(seat)) is not None
        }
        return Block(nodes, seats, entry, tuple(first_inside(self.below[s]) for s in seats))

    def count(self, block: Block, changed: Mapping[int, Mapping[int, int]] | None = None) -> int:
        """Number of ways to fill a block, with the weights of some nodes changed."""
        rows: list[dict[int, int]] = []
        for j in block.nodes:
            row: dict[int, int] = {}
            for seat, ways in (changed or {}).get(j, self.weights[j]).items():
                if seat in block.entry:
                    row[block.entry[seat]] = row.get(block.entry[seat], 0) + ways
            rows.append(row)
        return count_fillings(rows, block.below, self.max_states)

    def iter_columns(self) -> Iterator[tuple[int, ...]]:
        """Iterate over all members as columns, in a fixed order, with constant memory."""
        # Blocks with only one filling come first, and are filled once.
        blocks = sorted(self.blocks, key=lambda b: len(list(islice(self.iter_block(b), 2))))
        columns = [0] * len(self.territories)
        walks: list[Iterator[tuple[int, ...]]] = []
        while True:
            if len(walks) < len(blocks):
                walks.append(iter(self._fillings(blocks[len(walks)])))
            else:
                yield tuple(columns)
            while walks and (filling := next(walks[-1], ())) == ():
                walks.pop()
            if not walks:
                return
            for j, column in zip(blocks[len(walks) - 1].nodes, filling, strict=True):
                columns[j] = column

    def _fillings(self, block: Block) -> Iterable[tuple[int, ...]]:
        """The fillings of a block: kept if there are few, generated if there are many."""
        if block.nodes not in self._kept:
            listed = tuple(islice(self.iter_block(block), _MOST_KEPT + 1))
            self._kept[block.nodes] = listed if len(listed) <= _MOST_KEPT else ()
        return self._kept[block.nodes] or self.iter_block(block)

    def iter_block(self, block: Block) -> Iterator[tuple[int, ...]]:
        """Iterate over the fillings of a block, each as one column for each of its nodes."""
        last = len(block.nodes) - 1
        seats_of = [sorted(set(self.weights[j]).intersection(block.entry)) for j in block.nodes]
        reach = [
            union(1 << n for seat in seats for n in chain_below(block.entry[seat], block.below))
            for seats in seats_of
        ]
        kept: dict[tuple[int, int], tuple[int, ...]] = {}

        def sets_of(j: int, seat: int) -> Iterable[int]:
            # Sets of one territory that contain one node: kept if few, recomputed if many.
            if self.weights[j][seat] > _KEPT_SETS:
                return self.iter_sets(seat, j)
            if (j, seat) not in kept:
                kept[j, seat] = tuple(self.iter_sets(seat, j))
            return kept[j, seat]

        @lru_cache(maxsize=1 << 16)
        def choices(n: int, filled: int) -> tuple[tuple[int, int], ...]:
            """Seats for node n, with the places filled then, that can be completed."""
            allowed = _completable(reach[n:], (1 << len(reach)) - 1 & ~filled)
            found = []
            for seat in seats_of[n]:
                place: int | None = block.entry[seat]
                while place is not None and filled >> place & 1:
                    place = block.below[place]
                if place is not None and allowed >> place & 1:
                    found.append((seat, filled | 1 << place))
            return tuple(found)

        def options(n: int, filled: int) -> Iterator[tuple[int, int]]:
            for seat, after in choices(n, filled):
                for members in sets_of(block.nodes[n], seat):
                    yield members, after

        # Depth first with an explicit stack: a block may exceed Python's recursion limit.
        columns = [0] * len(block.nodes)
        stack = [options(0, 0)]
        while stack:
            n = len(stack) - 1
            if n == last:
                for columns[n], _ in stack.pop():
                    yield tuple(columns)
                continue
            following = next(stack[n], None)
            if following is None:
                stack.pop()
            else:
                columns[n] = following[0]
                stack.append(options(n + 1, following[1]))


def matched_seats(pairs: Sequence[tuple[int, int]], n_nodes: int) -> NDArray[np.int32]:
    """Match every node with a different seat among these pairs of a node and a seat; -1 if none."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    # Older versions of scipy accept no other index type.
    nodes, seats = np.array(pairs, dtype=np.int32).reshape(-1, 2).T
    taken = coo_array((np.ones(len(nodes)), (nodes, seats)), shape=(n_nodes, n_nodes)).tocsr()
    return np.asarray(maximum_bipartite_matching(taken, perm_type="column"))


def _completable(reach: Sequence[int], free: int) -> int:
    """The free places that the first node may take so that the others fill the rest."""
    place_of = completions(reach, free)
    if place_of is None:
        return 0
    # It may take its own place, or one whose node can move on, in turn, up to that place.
    allowed = frontier = 1 << place_of[0]
    while frontier:
        frontier = ~allowed & union(
            1 << place_of[node] for node in range(1, len(reach)) if reach[node] & allowed
        )
        allowed |= frontier
    return allowed
