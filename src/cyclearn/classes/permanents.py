"""Exact permanents of integer matrices that are sparse or repetitive, as those of classes are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import gcd, prod

from cyclearn.foundation.errors import LimitError

Matrix = Sequence[Sequence[int]]


def permanent(matrix: Matrix, max_states: int = 300_000) -> int:
    """Permanent of a square matrix of non-negative integers, exact.

    A dynamic programme over the columns, whose state is how many rows of each kind are left; rows
    that are multiples of each other are of one kind. The transposed matrix has the same permanent
    and is tried where the number of states gets out of hand.

    Examples
    --------
    >>> permanent([[1, 1], [1, 1]]), permanent([[1, 2], [3, 4]])
    (2, 10)
    """
    transposed = [list(column) for column in zip(*matrix, strict=True)]
    for budget in (min(2_000, max_states), max_states):
        for rows in (matrix, transposed):
            value = _sweep(rows, budget)
            if value is not None:
                return value
    raise LimitError(
        f"a block of {len(matrix)} nodes is too entangled to be counted with {max_states} states; "
        "raise max_states, or list members one by one"
    )


def _sweep(rows: Matrix, max_states: int) -> int | None:
    """The permanent, or None when more than ``max_states`` states are needed."""
    scales = [gcd(*row) or 1 for row in rows]
    kinds = Counter(
        tuple(value // scale for value in row) for row, scale in zip(rows, scales, strict=True)
    )
    values = list(kinds)
    width = max(kinds.values(), default=0).bit_length()
    mask = (1 << width) - 1
    order = _column_order(values, len(rows))
    last_use = [
        max((position for position, column in enumerate(order) if row[column]), default=-1)
        for row in values
    ]
    # A state packs the numbers of rows left, one field of ``width`` bits for each kind.
    start = sum(kinds[row] << (width * kind) for kind, row in enumerate(values))
    states = {start: 1}
    for position, column in enumerate(order):
        users = [(width * k, row[column]) for k, row in enumerate(values) if row[column]]
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


def _column_order(rows: Sequence[Sequence[int]], n_columns: int) -> list[int]:
    """Columns in an order that keeps few kinds of rows begun and not finished."""
    users = [{k for k, row in enumerate(rows) if row[column]} for column in range(n_columns)]
    remaining = set(range(n_columns))
    begun: set[int] = set()
    order: list[int] = []
    while remaining:
        column = min(remaining, key=lambda c: (len(users[c] - begun), c))
        remaining.remove(column)
        begun |= users[column]
        order.append(column)
    return order
