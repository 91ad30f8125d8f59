"""The acyclic members of a class: a Markov equivalence class of DAGs, streamed and counted.

Distribution equivalent graphs have the same d-separations, so every acyclic member has the
adjacencies and the unshielded colliders that any member shows in its d-separations; and DAGs with
equal adjacencies and unshielded colliders are equivalent (Proposition 1). So one acyclic member is
found by orienting that pattern, or there is none. The others reverse edges that the essential graph
leaves undirected: its undirected components are chordal and are oriented independently. Listing
chooses the only source of each component, then the sources of what is still undirected; counting
chooses cliques.

Every orientation of a chordal graph without new colliders starts with the nodes of some maximal
clique, in some order. Orders are counted by their first clique in a rooted clique tree: an order
counts only if it does not begin with a set shared with the preceding clique, where it would be
counted already. What is still undirected after the clique is counted separately. There are at most
twice as many such parts as cliques, so the count is polynomial (clique picking: Wienöbst, Bannach
and Liśkiewicz, AAAI 2021).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from math import factorial

from cyclearn.classes.territories import Territory, territories
from cyclearn.graphs.bitsets import ancestor_sets, bits, reached, union
from cyclearn.graphs.separation import p_adjacencies


class AcyclicMembers:
    """The DAGs of the class of ``columns``; ``has_key`` says whether territories belong to it."""

    def __init__(
        self, columns: Sequence[int], has_key: Callable[[tuple[Territory, ...]], bool]
    ) -> None:
        adjacent, parents = _pattern(columns)
        dag = _consistent_extension(adjacent, parents)
        self.exist = dag is not None and has_key(territories(dag))
        self._adjacent, self._parents = adjacent, _closed_by_meek(adjacent, parents)
        self._open = tuple(
            adjacent[v] & ~self._parents[v] & ~_children(self._parents, v)
            for v in range(len(columns))
        )
        self._counted: dict[int, int] = {}

    def count(self) -> int:
        """Number of acyclic members."""
        if not self.exist:
            # What stays undirected need not be chordal then, and counting it could take too long.
            return 0
        total = 1
        for nodes in self._components((1 << len(self._open)) - 1):
            total *= self._count(nodes)
        return total

    def iter_columns(self) -> Iterator[tuple[int, ...]]:
        """Iterate over the acyclic members as columns, in a fixed order."""
        if self.exist:
            start = tuple(parents | 1 << v for v, parents in enumerate(self._parents))
            yield from self._orient_all(start, self._components((1 << len(start)) - 1))

    def _orient_all(
        self, columns: tuple[int, ...], components: Sequence[int]
    ) -> Iterator[tuple[int, ...]]:
        if not components:
            yield columns
            return
        first, *others = components
        for source in bits(first):
            parents, left_open = self._root(first, 1 << source)
            rooted = tuple(column | parents.get(v, 0) for v, column in enumerate(columns))
            yield from self._orient_all(rooted, [*left_open, *others])

    def _count(self, nodes: int) -> int:
        """Orientations of an undirected part, by the clique they start with."""
        if nodes not in self._counted:
            total = 0
            for clique, beginnings in rooted_cliques(self._open, nodes):
                ways = n_orders_avoiding(clique.bit_count(), beginnings)
                for part in self._root(nodes, clique)[1]:
                    ways *= self._count(part)
                total += ways
            self._counted[nodes] = total
        return self._counted[nodes]

    def _root(self, nodes: int, first: int) -> tuple[dict[int, int], list[int]]:
        """Parents implied when the clique ``first`` comes first, and what stays undirected."""
        parents = dict.fromkeys(bits(nodes), 0)
        left_open: list[int] = []
        reached = level = first
        while level:
            following = union(self._open[v] for v in bits(level)) & nodes & ~reached
            for v in bits(following):
                parents[v] = self._open[v] & level
            # Inside a level y → z follows when some x → y is not adjacent to z.
            changed = True
            while changed:
                changed = False
                for y in bits(following):
                    for z in bits(self._open[y] & following & ~parents[y]):
                        if not parents[z] >> y & 1 and parents[y] & ~self._open[z] & ~(1 << z):
                            parents[z] |= 1 << y
                            changed = True
            left_open += self._components(following, parents)
            reached |= following
            level = following
        return parents, left_open

    def _components(self, nodes: int, parents: dict[int, int] | None = None) -> list[int]:
        """Connected parts of two or more nodes of the undirected edges inside ``nodes``."""
        still_open = [0] * len(self._open)
        for v in bits(nodes):
            towards = (parents or {}).get(v, 0)
            for w in bits(self._open[v] & nodes & ~towards):
                if not (parents or {}).get(w, 0) >> v & 1:
                    still_open[v] |= 1 << w
        parts = []
        while nodes:
            part = reached(still_open, nodes & -nodes)
            nodes &= ~part
            if part & (part - 1):
                parts.append(part)
        return parts


def _pattern(columns: Sequence[int]) -> tuple[tuple[int, ...], list[int]]:
    """Adjacencies, and the parents in unshielded colliders, that the d-separations show."""
    ancestors = ancestor_sets(columns)
    adjacent = p_adjacencies(columns, ancestors)
    parents = [0] * len(columns)
    for c, neighbours in enumerate(adjacent):
        for a, b in combinations(bits(neighbours), 2):
            unshielded = not adjacent[a] >> b & 1
            if unshielded and not (ancestors[a] | ancestors[b]) >> c & 1:
                parents[c] |= 1 << a | 1 << b
    return adjacent, parents


def _children(parents: Sequence[int], v: int) -> int:
    return sum(1 << w for w, above in enumerate(parents) if above >> v & 1)


def _closed_by_meek(adjacent: Sequence[int], start: Sequence[int]) -> list[int]:
    """Parents after the orientation rules that keep colliders and acyclicity (Meek's 1 to 4).

    The fourth applies only if knowledge has oriented edges.
    """
    parents = list(start)
    changed = True
    while changed:
        changed = False
        for b, neighbours in enumerate(adjacent):
            for a in bits(neighbours):
                if parents[a] >> b & 1 or parents[b] >> a & 1:
                    continue
                chained = parents[a] & ~adjacent[b]
                around = any(parents[b] >> c & 1 for c in bits(_children(parents, a)))
                undirected = adjacent[a] & ~parents[a] & ~_children(parents, a)
                forked = any(
                    not adjacent[c] >> d & 1
                    for c, d in combinations(bits(undirected & parents[b]), 2)
                )
                crossed = any(
                    parents[d] & undirected & ~adjacent[b] for d in bits(parents[b] & adjacent[a])
                )
                if chained or around or forked or crossed:
                    parents[b] |= 1 << a
                    changed = True
    return parents


def first_orientation(
    columns: Sequence[int], least: Sequence[int], most: Sequence[int], order: Sequence[int]
) -> tuple[int, ...] | None:
    """Columns of the first acyclic graph that is Markov equivalent to ``columns``.

    Column j contains ``least[j]`` and is contained in ``most[j]``. Edges are oriented one by one,
    from the node that comes first in ``order``. None if no such graph exists; the caller checks
    whether the graph is in the class of ``columns``.
    """
    adjacent, parents = _pattern(columns)
    for b, neighbours in enumerate(adjacent):
        if least[b] & ~neighbours & ~(1 << b):
            return None
        parents[b] |= least[b] & neighbours
        for a in bits(neighbours & ~most[b]):
            parents[a] |= 1 << b
    parents = _closed_by_meek(adjacent, parents)
    for a in order:
        for b in order:
            if adjacent[a] >> b & 1 and not (parents[a] >> b | parents[b] >> a) & 1:
                parents[b] |= 1 << a
                parents = _closed_by_meek(adjacent, parents)
    if any(parents[a] >> b & 1 for b, above in enumerate(parents) for a in bits(above)):
        return None
    return _consistent_extension(adjacent, parents)


def _consistent_extension(
    adjacent: Sequence[int], parents: Sequence[int]
) -> tuple[int, ...] | None:
    """Columns of a DAG with these adjacencies and colliders (Dor and Tarsi), or None."""
    columns = [above | 1 << v for v, above in enumerate(parents)]
    remaining = (1 << len(columns)) - 1
    while remaining:
        for v in bits(remaining):
            children = _children(parents, v) & remaining
            around = adjacent[v] & remaining
            undirected = around & ~parents[v]
            if not children and all(
                around & ~adjacent[w] & ~(1 << w) == 0 for w in bits(undirected)
            ):
                columns[v] |= undirected
                remaining ^= 1 << v
                break
        else:
            return None
    return tuple(columns)


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
        # Maximum cardinality search: the reverse of its order removes one clique at a time.
        v = max(bits(left), key=lambda w: (adjacent[w] & visited).bit_count())
        clique = adjacent[v] & visited | 1 << v
        cliques = [c for c in cliques if c & ~clique]
        cliques.append(clique)
        visited |= 1 << v
    return cliques


def rooted_cliques(adjacent: Sequence[int], nodes: int) -> list[tuple[int, tuple[int, ...]]]:
    """Maximal cliques, each with the ascending sizes of the sets that it must not begin with.

    These are the separators inside the clique on the path from the root of a clique tree.
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
    """Number of orders of a set that do not begin with any of some nested subsets, given by size.

    Examples
    --------
    >>> n_orders_avoiding(3, ()), n_orders_avoiding(3, (1,)), n_orders_avoiding(3, (1, 2))
    (6, 4, 3)
    """
    # Subtract the orders by the smallest of the subsets that they begin with.
    avoiding: list[int] = []
    for subset in (*beginnings, size):
        count = factorial(subset)
        for smaller, ways in zip(beginnings, avoiding, strict=False):
            count -= ways * factorial(subset - smaller)
        avoiding.append(count)
    return avoiding[-1]
