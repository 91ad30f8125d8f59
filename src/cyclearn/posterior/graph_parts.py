"""Components from which whole graphs are put together, as one proposal of a chain.

With few variables all parent sets of a single node can be weighed, and so can the feedback groups
that are found, each with its edges. What such parts make together is drawn at once, however
far it is from where a chain stands, so that chains do not stick between structures that differ in
many edges.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from cyclearn.foundation.arrays import FloatArray, IntArray
from cyclearn.search.problem import SearchProblem

if TYPE_CHECKING:
    from cyclearn._kernels.layered_parts import GroupsMet, Parts

Number = TypeVar("Number", np.int64, np.float64)

# With more variables the sets of nodes are too many.
MOST_VARIABLES = 12
# Feedback groups there is room for, and their node sets times all sets of nodes.
_MOST_GROUPS, _MOST_TOTALS = 10_000, 1 << 19
# Places for the keys of groups, more than twice as many.
_PLACES = 1 << 15
# Groups below exp of this are not worth being parts, relative to all graphs.
_LEAST_OUTLOOK = -13.0


def single_nodes(
    problem: SearchProblem, weigh: Callable[[IntArray, IntArray], FloatArray]
) -> Parts:
    """Every node with every set of parents that knowledge and limits permit.

    ``weigh`` gives the log weights of nodes with parents, these as bits of whole numbers.
    """
    from cyclearn._kernels.layered_parts import Parts, sum_parts

    p = problem.n_variables
    subsets, powers = np.arange(1 << p), 1 << np.arange(p)
    n_parents = (subsets[:, None] >> np.arange(p) & 1).sum(axis=1)
    allowed, required = powers @ problem.allowed, powers @ problem.required
    node, parents = np.nonzero(
        (subsets & ~allowed[:, None] == 0)
        & (required[:, None] & ~subsets == 0)
        & (n_parents <= problem.limits.max_parents)
    )
    logs = weigh(node, parents)
    order = np.lexsort((-logs, node))
    node, parents, logs = node[order], parents[order], logs[order]
    totals = np.full((p, 1 << p), -np.inf)
    totals[node, parents] = logs
    for v in range(p):
        # As logarithms: with many rows a node without parents may weigh exp(−5000).
        halves = totals.reshape(p, 1 << (p - v - 1), 2, 1 << v)
        np.logaddexp(halves[:, :, 0], halves[:, :, 1], out=halves[:, :, 1])
    n_sets = min(_MOST_TOTALS >> p, 1 << p)
    n_parts = len(node) + _MOST_GROUPS
    place_of = np.full(1 << p, -1)
    place_of[powers] = np.arange(p)
    is_followed = np.diff(node, append=p) == 0
    parts = Parts(
        size=np.array([p, len(node)]),
        sets=_padded(powers, n_sets),
        heads=_padded(np.searchsorted(node, np.arange(p)), n_sets),
        next_sets=np.full(n_sets, -1),
        totals=_padded(totals, n_sets),
        follows=_padded(np.where(is_followed, np.arange(1, len(node) + 1), -1), n_parts),
        columns=_padded(np.where(np.arange(p) == node[:, None], parents[:, None], 0), n_parts),
        outside=_padded(parents, n_parts),
        logs=_padded(logs, n_parts),
        known=np.zeros(_PLACES, dtype=np.uint64),
        first_sets=np.arange(p),
        place_of=place_of,
        codes=(subsets[:, None] >> np.arange(p) & 1) @ 3 ** np.arange(p),
        leading=np.zeros(1 << p),
        trailing=np.zeros(1 << p),
        is_open=np.zeros(1 << p, dtype=np.uint8),
        first=np.zeros(1 << p),
        following=np.zeros(3**p),
    )
    sum_parts(parts)
    return parts


def no_parts() -> Parts:
    """Nothing to put together."""
    from cyclearn._kernels.layered_parts import Parts

    ints, floats = np.zeros(0, dtype=np.int64), np.zeros(0)
    keys, table = np.zeros(0, dtype=np.uint64), np.zeros((0, 0))
    return Parts(
        size=np.zeros(2, dtype=np.int64),
        sets=ints,
        heads=ints,
        next_sets=ints,
        totals=table,
        follows=ints,
        columns=np.zeros((0, 0), dtype=np.int64),
        outside=ints,
        logs=floats,
        known=keys,
        first_sets=ints,
        place_of=ints,
        codes=ints,
        leading=floats,
        trailing=floats,
        is_open=np.zeros(0, dtype=np.uint8),
        first=floats,
        following=floats,
    )


def no_groups(p: int) -> GroupsMet:
    """Room for the groups that a chain meets, if it can put graphs together from them."""
    from cyclearn._kernels.layered_parts import GroupsMet

    room, places = (_MOST_GROUPS, _PLACES) if p <= MOST_VARIABLES else (0, 0)
    return GroupsMet(
        size=np.zeros(1, dtype=np.int64),
        keys=np.zeros(room, dtype=np.uint64),
        columns=np.zeros((room, p), dtype=np.int64),
        logs=np.zeros(room),
        known=np.zeros(places, dtype=np.uint64),
        must=np.zeros(room, dtype=np.uint8),
    )


def learn_groups(parts: Parts, met: list[GroupsMet]) -> None:
    """Make parts of groups that were met, if they are worth it or a chain got lost in them."""
    from cyclearn._kernels.layered_parts import add_parts

    columns, keys, logs, must = (
        np.concatenate([getattr(each, name)[: each.size[0]] for each in met])
        for name in ("columns", "keys", "logs", "must")
    )
    keys, first, places = np.unique(keys, return_index=True, return_inverse=True)
    is_lost_in = np.zeros(len(keys), dtype=np.uint8)
    np.maximum.at(is_lost_in, places, must)
    add_parts(parts, columns[first], keys, logs[first], is_lost_in, _LEAST_OUTLOOK)


def has_room(parts: Parts, met: GroupsMet) -> bool:
    """Whether all that a chain meets can become parts."""
    n_sets, n_parts = parts.size
    return bool(
        n_sets < len(parts.sets) and n_parts < len(parts.logs) and met.size[0] < len(met.logs)
    )


def _padded(array: NDArray[Number], length: int) -> NDArray[Number]:
    """With room up to a length."""
    room = np.zeros((length, *array.shape[1:]), dtype=array.dtype)
    room[: len(array)] = array
    return room
