"""Sets of nodes as Python integers: bit i is one when node i belongs to the set.

The columns of a support are such sets, {j} ∪ parents(j). Integers have no size limit, hash and
compare in one instruction for small graphs, and ``int.bit_count`` is the size of the set.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from operator import or_

import numpy as np

from cyclearn.foundation.arrays import BoolArray


def bits(members: int) -> Iterator[int]:
    """Iterate over the elements of a set in ascending order."""
    while members:
        lowest = members & -members
        yield lowest.bit_length() - 1
        members ^= lowest


def union(sets: Iterable[int]) -> int:
    """The union of the sets."""
    return reduce(or_, sets, 0)


def support_to_columns(support: BoolArray) -> tuple[int, ...]:
    """Columns of a binary matrix, each as a set of rows."""
    packed = np.packbits(support, axis=0, bitorder="little")
    return tuple(int.from_bytes(packed[:, j].tobytes(), "little") for j in range(support.shape[1]))


def columns_to_support(columns: Sequence[int]) -> BoolArray:
    """Square binary matrix with these columns."""
    p = len(columns)
    packed = b"".join(column.to_bytes(-(-p // 8), "little") for column in columns)
    rows = np.frombuffer(packed, dtype=np.uint8).reshape(p, -(-p // 8))
    unpacked = np.unpackbits(rows, axis=1, count=p, bitorder="little")
    return np.ascontiguousarray(unpacked.T).view(np.bool_)


def reached(neighbours: Sequence[int], nodes: int) -> int:
    """The set of nodes and of all nodes reachable from them.

    Examples
    --------
    >>> bin(reached([0b010, 0b100, 0b000], 0b010))
    '0b110'
    """
    found = frontier = nodes
    while frontier:
        following = 0
        for node in bits(frontier):
            following |= neighbours[node]
        frontier = following & ~found
        found |= frontier
    return found


def strong_components(neighbours: Sequence[int]) -> list[int]:
    """For each node, the set of nodes with which it lies on a cycle, and itself.

    The direction of the edges does not matter for the components.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    ends = [other for members in neighbours for other in bits(members)]
    # Older versions of scipy accept no other index type.
    starts = np.cumsum([0, *(members.bit_count() for members in neighbours)], dtype=np.int32)
    shape = (len(neighbours), len(neighbours))
    edges = csr_array((np.ones(len(ends)), np.array(ends, dtype=np.int32), starts), shape=shape)
    return nodes_alike(connected_components(edges, connection="strong")[1].tolist())


def ancestor_sets(columns: Sequence[int]) -> tuple[int, ...]:
    """For each node j, the set of its ancestors, including j: the transitive closure."""
    closure = list(columns)
    for k in range(len(closure)):
        above = closure[k]
        for j, ancestors in enumerate(closure):
            if ancestors >> k & 1:
                closure[j] = ancestors | above
    return tuple(closure)


def nodes_alike(labels: Sequence[int]) -> list[int]:
    """For each node, the set of nodes with the same label.

    With sets of ancestors as labels these are the strong components.
    """
    members: dict[int, int] = {}
    for node, label in enumerate(labels):
        members[label] = members.get(label, 0) | 1 << node
    return [members[label] for label in labels]
