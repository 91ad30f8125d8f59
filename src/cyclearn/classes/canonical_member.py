"""The member of a class that is shown, chosen by a structural rule, not by the search.

The first member is the one with the smallest feedback: the fewest nodes in cycles, then the fewest
edges inside strongly connected components. Ties are resolved by the smallest sorted list of edges
(source, target), nodes compared by their number. Only members with admissible components count:
those that respect limits and have a stable fit, for example.

The choice is made for each block separately (:mod:`cyclearn.classes.seating`), with the blocks that
the class has without knowledge. No cycle leaves such a block, because the matrix of the territories
that each node may use is block triangular; and every edge belongs to the block of its target, so
that the smallest list consists of the smallest lists of the blocks. The fillings of a block are
listed if there are few. The acyclic fillings of a large block need not be listed: they are the
orientations of one pattern, and the smallest list is found by orienting one undirected edge after
the other as the order prefers and applying Meek's rules. For the remaining case, large blocks whose
fillings all have cycles, the choice is among the first fillings in the order of listing, which also
depends only on the class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeAlias

import numpy as np

from cyclearn.classes.acyclic_members import first_orientation
from cyclearn.classes.class_statements import mutual_reach
from cyclearn.classes.seating import Block, Seating
from cyclearn.foundation.errors import LimitError
from cyclearn.graphs.bitsets import bits, union

# Nodes and columns of a strongly connected component, and whether it may be in the member shown.
Component: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]
Admits: TypeAlias = Callable[[tuple[int, ...], tuple[int, ...]], bool]

# Maximum number of fillings of a block to list and sort, and the number of entries of its columns
# above which it decreases with the square: there each takes milliseconds, and often none is stable.
_MAX_LISTED, _MANY_ENTRIES = 20_000, 100

Order = tuple[int, int, int, tuple[tuple[int, int], ...]]


def canonical_order(nodes: Sequence[int], columns: Sequence[int]) -> Order:
    """Sort key of members: edges, nodes in cycles, edges inside components, edge list.

    All irreducible members have the same number of edges; it matters among reducible ones.

    Examples
    --------
    >>> canonical_order((0, 1, 2), (0b011, 0b011, 0b110))
    (3, 2, 2, ((0, 1), (1, 0), (1, 2)))
    """
    edges = _edge_list(nodes, columns)
    return (len(edges), *_feedback(components_of(nodes, columns)), edges)


def canonical_member(seating: Seating, admits: Admits) -> tuple[int, ...] | None:
    """Columns of the first member whose components are all admissible; None if there is none.

    Raises LimitError if there are too many members to know.
    """
    columns = [0] * len(seating.territories)
    for block in Seating(seating.territories, reducible=seating.reducible).blocks:
        filling = _first_filling(seating, block, admits)
        if filling is None:
            return None
        for j, column in zip(block.nodes, filling, strict=True):
            columns[j] = column
    return tuple(columns)


def components_of(nodes: Sequence[int], columns: Sequence[int]) -> Iterator[Component]:
    """The components of two nodes or more among ``nodes``, each with its columns."""
    held = _cyclic_part(nodes, columns)
    inside = sum(1 << j for j, _ in held)
    reach = mutual_reach([j for j, _ in held], [column for _, column in held], inside)
    for first, partners in enumerate(reach):
        members = list(bits(partners))
        if len(members) > 1 and members[0] == first:
            yield tuple(held[n][0] for n in members), tuple(held[n][1] for n in members)


def _cyclic_part(nodes: Sequence[int], columns: Sequence[int]) -> list[tuple[int, int]]:
    """Nodes in cycles, or on paths between cycles; none in an acyclic graph.

    Nodes without parents are removed repeatedly, because they are not in cycles.
    """
    held = list(zip(nodes, columns, strict=True))
    n_before = -1
    while len(held) != n_before:
        n_before = len(held)
        inside = sum(1 << j for j, _ in held)
        held = [(j, column) for j, column in held if column & inside != 1 << j]
    return held


def _feedback(components: Iterable[Component]) -> tuple[int, int]:
    """Nodes in cycles, and edges inside components."""
    n_nodes = n_edges = 0
    for members, held in components:
        inside = sum(1 << j for j in members)
        n_nodes += len(members)
        n_edges += sum((column & inside).bit_count() - 1 for column in held)
    return n_nodes, n_edges


def _first_filling(seating: Seating, block: Block, admits: Admits) -> tuple[int, ...] | None:
    fillings = seating.iter_block(block)
    listed = list(islice(fillings, 1))
    n_entries = sum(column.bit_count() for filling in listed for column in filling)
    most = int(_MAX_LISTED / max(1.0, n_entries / _MANY_ENTRIES) ** 2)
    listed += islice(fillings, most)
    if len(listed) > most and not seating.reducible:
        acyclic = _first_acyclic(seating, block, listed[0])
        if acyclic is not None:
            return acyclic
    position = {j: n for n, j in enumerate(block.nodes)}
    # The nodes of components depend on the columns, not on their assignment to nodes.
    members_of: dict[tuple[int, ...], list[tuple[int, ...]]] = {}

    def components(columns: tuple[int, ...]) -> Iterator[Component]:
        key = tuple(sorted(columns))
        if key not in members_of:
            members_of[key] = [members for members, _ in components_of(block.nodes, columns)]
        for members in members_of[key]:
            yield members, tuple(columns[position[j]] for j in members)

    def order(columns: tuple[int, ...]) -> tuple[int, int, int, bytes]:
        n_entries = sum(column.bit_count() for column in columns)
        return (n_entries, *_feedback(components(columns)), _edge_order(block.nodes, columns))

    for columns in sorted(listed, key=order):
        if all(admits(*component) for component in components(columns)):
            return columns
    if len(listed) > most:
        raise LimitError(f"no member is admissible among the first {most} fillings of a block")
    return None


def _edge_list(nodes: Sequence[int], columns: Sequence[int]) -> tuple[tuple[int, int], ...]:
    edges = [(i, j) for j, c in zip(nodes, columns, strict=True) for i in bits(c) if i != j]
    return tuple(sorted(edges))


def _edge_order(nodes: Sequence[int], columns: Sequence[int]) -> bytes:
    """Sorts graphs of as many edges as their edge lists do, in a tenth of the time.

    The first list is that of the graph with an edge where, row by row, it is the first to differ.
    """
    held = [c & ~(1 << j) for j, c in sorted(zip(nodes, columns, strict=True))]
    size = -(-max(1, *(c.bit_length() for c in held)) // 8)
    packed = np.frombuffer(b"".join(c.to_bytes(size, "little") for c in held), dtype=np.uint8)
    edges = np.unpackbits(packed.reshape(len(held), size), axis=1, bitorder="little")
    return np.packbits(edges.T == 0).tobytes()


def _first_acyclic(
    seating: Seating, block: Block, filling: tuple[int, ...]
) -> tuple[int, ...] | None:
    """The acyclic filling with the smallest edge list, if there is one.

    Nodes outside the block that occur in its columns come first and are all adjacent, so that they
    neither separate nodes nor create colliders.
    """
    inner = sum(1 << j for j in block.nodes)
    near = union(seating.territories[seat].elements for seat in block.seats)
    given = list(bits(near & ~inner))
    nodes = [*given, *block.nodes]
    position = {j: n for n, j in enumerate(nodes)}

    def local(members: int) -> int:
        return sum(1 << position[i] for i in bits(members & near))

    columns = [(1 << n + 1) - 1 for n in range(len(given))] + [local(c) for c in filling]
    least = columns[: len(given)] + [local(seating.least[j]) for j in block.nodes]
    most = columns[: len(given)] + [local(seating.most[j]) for j in block.nodes]
    # Edges are tried in the order of the original numbers of the nodes.
    order = sorted(range(len(nodes)), key=nodes.__getitem__)
    found = first_orientation(columns, least, most, order)
    if found is None:
        return None
    chosen = tuple(sum(1 << nodes[n] for n in bits(column)) for column in found[len(given) :])
    # Territories of one size are disjoint, so a column belongs to at most one of them.
    held = sorted(s for c in chosen for s in block.seats if c in seating.territories[s])
    return chosen if held == sorted(block.seats) else None
