"""Differences between visited graphs, which later rounds propose as a single step.

If the data leave several structures open that differ in many edges, single moves rarely lead from
one to another. Two visited graphs show a path: toggling the entries in which they differ leads from
one to the other and back, so such a proposal is symmetric. A difference is divided into unconnected
pieces, each of which is a proposal.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from cyclearn._kernels.balanced_moves import Jumps

_N_PAIRS = 600
_MOST_JUMPS = 256
# Smaller differences are covered by other proposals; larger ones are rarely accepted.
_FEWEST_ENTRIES, _MOST_ENTRIES = 3, 30

# Entries (i, j) that differ, each with its value in one of the two graphs.
Piece = tuple[tuple[int, int, bool], ...]


def jumps_between(graphs: NDArray[np.uint8], *, seed: int) -> Jumps:
    """The most frequent pieces of differences between random pairs of graphs, shape (n, p, p).

    Examples
    --------
    >>> A = np.zeros((2, 4, 4), dtype=np.uint8)
    >>> A[0, 0, 1] = A[0, 1, 2] = A[1, 1, 0] = A[1, 2, 3] = 1
    >>> jumps = jumps_between(A, seed=0)
    >>> jumps.entries.tolist()
    [[0, 1], [1, 0], [1, 2], [2, 3]]
    """
    rng = np.random.default_rng(seed)
    counted: Counter[Piece] = Counter()
    for a, b in rng.integers(len(graphs), size=(_N_PAIRS, 2)).tolist():
        for piece in _pieces(graphs[a], graphs[b]):
            if _FEWEST_ENTRIES <= len(piece) <= _MOST_ENTRIES:
                counted[piece] += 1
    # Among equally frequent pieces, the smaller applies to more graphs.
    ordered = sorted(counted, key=lambda piece: (-counted[piece], len(piece), piece))
    return packed_jumps(ordered[:_MOST_JUMPS])


def packed_jumps(pieces: list[Piece]) -> Jumps:
    """Pieces as the arrays of the kernel."""
    from cyclearn._kernels.balanced_moves import Jumps

    entries = [entry for piece in pieces for entry in piece]
    return Jumps(
        np.array([entry[:2] for entry in entries], dtype=np.int64).reshape(-1, 2),
        np.array([entry[2] for entry in entries], dtype=np.uint8),
        np.cumsum([0, *map(len, pieces)], dtype=np.int64),
    )


def _pieces(A: NDArray[np.uint8], B: NDArray[np.uint8]) -> set[Piece]:
    """Pieces of a difference: entries that share a node; and, finer, columns linked by an entry.

    The first entry of a piece is always recorded as absent, so that a piece does not depend on the
    order of the two graphs.
    """
    from networkx.utils import UnionFind

    # Rows and columns from flat positions: takes a tenth of the time of argwhere.
    entries = np.column_stack(np.divmod(np.flatnonzero(A != B), len(A))).tolist()
    columns = {j for _, j in entries}
    found = set()
    for is_fine in (False, True):
        joined = UnionFind(range(len(A)))
        for i, j in entries:
            if not is_fine or i in columns:
                joined.union(i, j)
        parts: dict[int, list[tuple[int, int, bool]]] = {}
        for i, j in entries:
            part = parts.setdefault(joined[j], [])
            is_turned = bool(A[tuple(part[0][:2])]) if part else bool(A[i, j])
            part.append((i, j, bool(A[i, j]) != is_turned))
        found |= {tuple(part) for part in parts.values()}
    return found
