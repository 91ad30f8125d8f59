"""Slow, obvious twins of proposals and annealing: sets of edges, whole scores, Python integers."""

from __future__ import annotations

import math

import numpy as np

from cyclearn import DirectedGraph

_WORD = 2**64


class Bits:
    """The generator called xorshift*, in Python's integers."""

    def __init__(self, state: int) -> None:
        self.state = state

    def draw(self) -> int:
        x = self.state
        x ^= x >> 12
        x = (x ^ (x << 25)) % _WORD
        x ^= x >> 27
        self.state = x
        return x * 2685821657736338717 % _WORD

    def below(self, n: int) -> int:
        return (self.draw() >> 33) % n

    def uniform(self) -> float:
        return ((self.draw() >> 11) + 1) / 9007199254740993.0


def component_of(adjacency: np.ndarray) -> list[int]:
    """The first node of every node's strongly connected component."""
    first = list(range(len(adjacency)))
    for nodes in DirectedGraph(adjacency).component_indices:
        for v in nodes:
            first[v] = min(nodes)
    return first


def _column(adjacency, j):
    return {j, *np.flatnonzero(adjacency[:, j]).tolist()}


def _changed_column(adjacency, j, column):
    """The entries to toggle so that {j} and its parents become ``column``, which holds j."""
    return {(i, j) for i in (_column(adjacency, j) ^ (column | {j}))}


def _some_parent(adjacency, bits, nodes, j):
    parents = [i for i in nodes if adjacency[i, j]]
    return parents[bits.below(len(parents))] if parents else None


def exchange(adjacency, bits, nodes, j, k):
    """k gets the union of both columns, j the union but one; they differ in one node before."""
    mine, other = _column(adjacency, j), _column(adjacency, k)
    if len(mine ^ other) != 1:
        return set()
    dropped = _some_parent(adjacency, bits, nodes, j)
    if dropped is None:
        return set()
    union = mine | other
    return _changed_column(adjacency, j, union - {dropped}) | _changed_column(adjacency, k, union)


def turned_cycle(adjacency, bits, j):
    """A random walk against the edges of the component until it meets itself; turn that cycle."""
    first = component_of(adjacency)
    walk, v = [], j
    while v not in walk:
        walk.append(v)
        parents = [i for i in np.flatnonzero(adjacency[:, v]).tolist() if first[i] == first[v]]
        if not parents:
            return set()
        v = parents[bits.below(len(parents))]
    cycle = walk[walk.index(v) :]
    toggles = set()
    for node, parent in zip(cycle, cycle[1:] + cycle[:1], strict=True):
        toggles |= _changed_column(adjacency, parent, _column(adjacency, node))
    return toggles


def propose(adjacency, bits, nodes):
    """The kind of a proposal and the entries that it toggles."""
    kind = bits.below(100)
    j = nodes[bits.below(len(nodes))]
    i = nodes[bits.below(len(nodes))]
    if kind < 30:
        return "toggle", {(i, j)} if i != j else set()
    if kind < 80:
        i = _some_parent(adjacency, bits, nodes, j)
        if i is None:
            return "none", set()
        k = nodes[bits.below(len(nodes))]
        if kind < 38:
            return "delete", {(i, j)}
        if kind < 55:
            return "reverse", {(i, j)} if adjacency[j, i] else {(i, j), (j, i)}
        if kind < 61:
            is_free = k not in (i, j) and not adjacency[k, j]
            return "other source", {(i, j), (k, j)} if is_free else set()
        if kind < 67:
            is_free = k not in (i, j) and not adjacency[i, k]
            return "other target", {(i, j), (i, k)} if is_free else set()
        if kind < 73:
            return "exchange", exchange(adjacency, bits, nodes, j, i)
        return "exchange", exchange(adjacency, bits, nodes, i, j)
    if kind < 86:
        return "turn", turned_cycle(adjacency, bits, j)
    toggles = set()
    if kind < 90:
        a = _some_parent(adjacency, bits, nodes, j)
        if a is not None and i not in (a, j):
            for u, v in ((a, j), (i, j), (i, a)):
                if adjacency[u, v] != adjacency[v, u] and bits.below(3) < 2:
                    toggles ^= {(u, v), (v, u)}
        return "triangle", toggles
    k = _some_parent(adjacency, bits, nodes, j)
    if k is None or k == i or i == j:
        return "none", set()
    for u, v in ((i, j), (j, i), (i, k), (k, i), (j, k), (k, j)):
        if bits.below(5) < 2:
            toggles ^= {(u, v)}
    return "redraw", toggles


def anneal(adjacency, bits, nodes, value, *, max_component, temperatures, n_proposals):
    """Where the walk ends, the best graph, and the changes of score to both.

    ``value`` is the score of a whole graph.
    """
    A = best = adjacency.copy()
    start = current = lowest = value(A)
    cooling = (temperatures[1] / temperatures[0]) ** (1 / n_proposals)
    temperature = temperatures[0]
    for _ in range(n_proposals):
        temperature *= cooling
        _, toggles = propose(A, bits, nodes)
        if not toggles:
            continue
        level = -temperature * math.log(bits.uniform())
        changed = A.copy()
        for u, v in toggles:
            changed[u, v] = not changed[u, v]
        if max(map(len, DirectedGraph(changed).component_indices)) > max_component:
            continue
        if value(changed) - current <= level:
            A, current = changed, value(changed)
            if current < lowest - 1e-11:
                best, lowest = A, current
    return A, current - start, best, lowest - start
