"""Every rule that keeps a distribution set, one step at a time, written from the statements.

A graph is here the sorted tuple of its columns, each an integer whose bits are rows. Nothing is
shared with the library: no territories, no growing, no budget.
"""

from collections import deque
from functools import cache
from itertools import combinations, permutations, product

import networkx as nx


def nodes_of(column):
    return [v for v in range(column.bit_length()) if column >> v & 1]


def union(columns):
    found = 0
    for column in columns:
        found |= column
    return found


def pairs_inside(columns):
    return {pair for column in columns for pair in combinations(nodes_of(column), 2)}


def is_chordal_orientation(columns):
    """Whether these are the columns of a connected chordal graph without that of its root.

    Taken apart from the end: the last node is in its own column alone, with a clique of others.
    """
    if len(columns) == 0 or len(nodes_of(union(columns))) != len(columns) + 1:
        return False
    if len(columns) == 1:
        return columns[0].bit_count() == 2
    for n, column in enumerate(columns):
        rest = columns[:n] + columns[n + 1 :]
        for u in nodes_of(column & ~union(rest)):
            clique = column ^ (1 << u)
            known = pairs_inside(rest)
            if (
                clique
                and clique & ~union(rest) == 0
                and all(pair in known for pair in combinations(nodes_of(clique), 2))
                and is_chordal_orientation(rest)
            ):
                return True
    return False


def scaling(residuals):
    """Nodes v such that the column {v} adds nothing to these columns."""
    found = 0
    for k in range(2, len(residuals)):
        for chosen in combinations(range(len(residuals)), k):
            orientation = [residuals[n] for n in chosen]
            if not is_chordal_orientation(orientation):
                continue
            known = pairs_inside(orientation)
            for n, W in enumerate(residuals):
                if n in chosen or W & ~union(orientation):
                    continue
                missing = nx.Graph()
                missing.add_nodes_from(nodes_of(W))
                missing.add_edges_from(
                    pair for pair in combinations(nodes_of(W), 2) if pair not in known
                )
                parts = [missing.subgraph(c) for c in nx.connected_components(missing)]
                if any(nx.is_bipartite(part) for part in parts):
                    found |= union(orientation)
    return found


def blocks(residuals):
    """Pairs (V1, V2) such that the column of a node of one does what that of the other does."""
    found = set()
    orientations = [
        (set(chosen), [residuals[n] for n in chosen])
        for k in range(1, len(residuals))
        for chosen in combinations(range(len(residuals)), k)
        if is_chordal_orientation([residuals[n] for n in chosen])
    ]
    for (one, first), (two, second) in permutations(orientations, 2):
        V1, V2 = union(first), union(second)
        if one & two or V1 & V2:
            continue
        for n, W in enumerate(residuals):
            if n in one | two or W & ~(V1 | V2) or not W & V1 or not W & V2:
                continue
            if all(
                set(combinations(nodes_of(W & V), 2)) <= pairs_inside(columns)
                for V, columns in ((V1, first), (V2, second))
            ):
                found.add((V1, V2))
    return found


@cache
def dissolves(columns, kept):
    """Whether substitutions, none by a node of ``kept``, lead to a chordal orientation.

    A substitution takes i out of one column with z, where all columns with z have i.
    """
    if is_chordal_orientation(list(columns)):
        return True
    for z in nodes_of(union(columns) & ~kept):
        having = [n for n, column in enumerate(columns) if column >> z & 1]
        for i in nodes_of(union(columns) & ~(1 << z)):
            if all(columns[n] >> i & 1 for n in having):
                for n in having:
                    smaller = (*columns[:n], columns[n] ^ (1 << i), *columns[n + 1 :])
                    if columns[n].bit_count() > 2 and dissolves(smaller, kept):
                        return True
    return False


def substitutions(residuals, v):
    """Nodes w such that the column {w} does what {v} does, by substitutions in some columns.

    Three columns are left to the block rule, and nodes of one column only to rotations.
    """
    return {
        w
        for k in range(4, len(residuals) + 1)
        for chosen in combinations(residuals, k)
        if union(chosen).bit_count() == k + 1 and union(chosen) >> v & 1
        if all(sum(c >> u & 1 for c in chosen) > 1 for u in nodes_of(union(chosen)))
        for w in nodes_of(union(chosen))
        if dissolves(tuple(sorted(chosen)), 1 << v | 1 << w)
    }


def rule_steps(columns):
    """Multisets that one use of the block, scaling, facet or substitution rule makes."""
    for n, column in enumerate(columns):
        rest = columns[:n] + columns[n + 1 :]
        targets = set()
        for core in {column, *(column ^ (1 << v) for v in nodes_of(column))}:
            above = [c ^ core for c in rest if core & ~c == 0 and (c ^ core).bit_count() >= 2]
            if len(above) < 3:
                continue
            absorbed = scaling(above)
            if column == core:
                targets |= {core | 1 << v for v in nodes_of(absorbed)}
            elif (column ^ core) & absorbed:
                targets.add(core)
            if column != core:
                for here, there in blocks(above):
                    if (column ^ core) & here:
                        targets |= {core | 1 << v for v in nodes_of(there)}
                (v,) = nodes_of(column ^ core)
                targets |= {core | 1 << w for w in substitutions(above, v)}
        targets |= facet_targets(rest, column)
        for target in targets:
            if target:
                yield tuple(sorted((*rest, target)))


def facet_targets(rest, column):
    targets = set()
    for k in range(3, len(rest) + 1):
        for facets in combinations(rest, k):
            whole, core = union(facets), -1
            for facet in facets:
                core &= facet
            V = nodes_of(whole & ~core)
            if len(V) != k or set(facets) != {whole ^ (1 << v) for v in V}:
                continue
            if core & ~column == 0 and column & ~whole == 0 and column != whole:
                targets |= {column ^ (1 << v) for v in V if column ^ (1 << v) != whole}
    return targets


def rotations(columns):
    """Multisets that one exchange or reduction makes."""
    for (m, S), (n, T) in permutations(enumerate(columns), 2):
        # Equal, or T is S without one element.
        if T & ~S == 0 and (S ^ T).bit_count() <= 1:
            others = [c for k, c in enumerate(columns) if k not in (m, n)]
            for v in nodes_of(S):
                if S ^ (1 << v):
                    yield tuple(sorted((*others, S, S ^ (1 << v))))


def additions(columns):
    """Multisets of which one reduction makes this one."""
    for (m, S), (n, T) in permutations(enumerate(columns), 2):
        if T & ~S == 0 and (S ^ T).bit_count() == 1:
            yield tuple(sorted((*(c for k, c in enumerate(columns) if k not in (m, n)), S, S)))


def orbit(columns):
    """All multisets that rotations and rules link to one."""
    start = tuple(sorted(columns))
    found = {start}
    queue = deque(found)
    while queue:
        current = queue.popleft()
        for step in (rotations, additions, rule_steps):
            for other in step(current):
                if other not in found:
                    found.add(other)
                    queue.append(other)
    return found


def seatings(columns):
    """The graphs with these columns: every order with a full diagonal."""
    return {
        order for order in permutations(columns) if all(c >> j & 1 for j, c in enumerate(order))
    }


def members(columns):
    """All graphs of the class as tuples of columns by node, and those without redundant edges."""
    everything = {order for multiset in orbit(columns) for order in seatings(multiset)}
    irreducible = {graph for graph in everything if not has_smaller(graph, everything)}
    return everything, irreducible


def has_smaller(graph, everything):
    """Whether a proper subgraph is among the graphs; every subgraph is looked at."""
    choices = []
    for j, column in enumerate(graph):
        others = nodes_of(column ^ (1 << j))
        choices.append(
            [
                1 << j | sum(1 << v for v in kept)
                for k in range(len(others) + 1)
                for kept in combinations(others, k)
            ]
        )
    return any(smaller != graph and smaller in everything for smaller in product(*choices))
