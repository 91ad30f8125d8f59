"""Counting the orientations of a chordal graph without new colliders, clique by clique.

Every such orientation starts with the nodes of some maximal clique, in some order. Counted by its
first clique in a rooted clique tree, an order counts only where none of its beginnings is a set
shared with the clique before, as it would be counted there already; what is left open after the
clique is counted by itself. The number of parts met is at most twice the number of cliques, so the
count is polynomial (clique picking: Wienöbst, Bannach and Liśkiewicz, AAAI 2021).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial

from cyclearn.graphs.bitsets import bits


def maximal_cliques(adjacent: Sequence[int], nodes: int) -> list[int]:
    """Maximal cliques of the chordal graph inside ``nodes``, as sets.

    Examples
    --------
    >>> [bin(clique) for clique in maximal_cliques([0b010, 0b101, 0b010], 0b111)]
    ['0b11', '0b110']
    """
    visited = 0
    cliques: list[int] = []
    while left := nodes & ~visited:
        # Most visited neighbours first: the reverse of such an order removes a clique at a time.
        v = max(bits(left), key=lambda w: (adjacent[w] & visited).bit_count())
        clique = adjacent[v] & visited | 1 << v
        cliques = [c for c in cliques if c & ~clique]
        cliques.append(clique)
        visited |= 1 << v
    return cliques


def rooted_cliques(adjacent: Sequence[int], nodes: int) -> list[tuple[int, tuple[int, ...]]]:
    """Maximal cliques, each with the sizes of the sets that must not begin it, ascending.

    These are the separators on the way from the root of a clique tree that lie inside the clique.
    """
    first, *left = maximal_cliques(adjacent, nodes)
    path: dict[int, tuple[int, ...]] = {first: ()}
    while left:
        # A spanning tree with the largest intersections is a clique tree.
        _, clique, before = max(
            ((c & placed).bit_count(), c, placed) for c in left for placed in path
        )
        left.remove(clique)
        path[clique] = (*path[before], clique & before)
    return [
        (clique, tuple(sorted({s.bit_count() for s in separators if s & ~clique == 0})))
        for clique, separators in path.items()
    ]


def n_orders_avoiding(size: int, beginnings: Sequence[int]) -> int:
    """Orders of a set none of whose beginnings is one of some nested subsets, given by size.

    Examples
    --------
    >>> n_orders_avoiding(3, ()), n_orders_avoiding(3, (1,)), n_orders_avoiding(3, (1, 2))
    (6, 4, 3)
    """
    # Orders are sorted out by the smallest of the subsets that begins them.
    avoiding: list[int] = []
    for subset in (*beginnings, size):
        count = factorial(subset)
        for smaller, ways in zip(beginnings, avoiding, strict=False):
            count -= ways * factorial(subset - smaller)
        avoiding.append(count)
    return avoiding[-1]
