"""Columns that a change of variables makes those of a chordal graph.

Let every column that has a node z have the node i too, and let W be one of them. Adding r times row
z to row i keeps the columns as they are, and for the right r the vector on W loses its entry at i.
So with F° for the columns with W ∖ {i} in place of W, and Tᵣ for the change of rows,

    S(F) is the closure of the union of all Tᵣ S(F°) Tᵣᵀ,

and if F and G lose an entry in this way, with the same z and i, then S(F°) = S(G°) gives
S(F) = S(G). One such *substitution* may follow another. Where they end in the columns of a perfect
orientation of a connected chordal graph, a further column {v} does the same as {w}, for any nodes
v and w of it: for the columns at the end, hence for those at the start, unless v or w is one of
the nodes z, for then {z} would have to have i.

The block rule is a case of this: {1, 2}, {3, 4}, {1, 2, 3, 4} become {1, 2}, {3, 4}, {2, 4}.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cyclearn.classes.chordal_growth import is_perfect_orientation
from cyclearn.classes.search_budget import SearchBudget
from cyclearn.graphs.bitsets import bits


def exchangeable_nodes(columns: Sequence[int], budget: SearchBudget) -> list[int]:
    """Sets of nodes such that a further column {v} does the same as {w} for all v and w of one.

    One column less than nodes is needed; the sets that lie in no other one of them are returned.

    Examples
    --------
    >>> [bin(nodes) for nodes in exchangeable_nodes((0b0011, 0b1100, 0b1111), SearchBudget(1000))]
    ['0b111', '0b1011', '0b1101', '0b1110']
    """
    union = 0
    for column in columns:
        union |= column
    if union.bit_count() != len(columns) + 1:
        return []
    found: set[int] = set()
    start = tuple(sorted(columns)), 0
    waiting, seen = [start], {start}
    while waiting:
        current, used = waiting.pop()
        if not budget.spend(len(columns)):
            break
        free = union & ~used
        if any(free & ~larger == 0 for larger in found):
            continue
        if is_perfect_orientation(current):
            found.add(free)
            continue
        for z, smaller in _iter_substitutions(current, union):
            after = smaller, used | 1 << z
            if after not in seen and (union & ~after[1]).bit_count() >= 2:
                seen.add(after)
                waiting.append(after)
    return sorted(f for f in found if not any(f != g and f & ~g == 0 for g in found))


def _iter_substitutions(
    columns: tuple[int, ...], union: int
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """A node z, and the columns after one of those with z has lost a node that all of them have."""
    for z in bits(union):
        having = [n for n, column in enumerate(columns) if column >> z & 1]
        common = union & ~(1 << z)
        for n in having:
            common &= columns[n]
        for n in having:
            # A pair would become a single node, which no column of a chordal graph is.
            if columns[n].bit_count() > 2:
                for i in bits(common):
                    yield z, tuple(sorted((*columns[:n], columns[n] ^ (1 << i), *columns[n + 1 :])))
