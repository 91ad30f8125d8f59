"""Feedback loops of a few nodes, fitted before chains run.

Chains assemble graphs from the loops that they have visited. A loop far from the visited graphs
would be missing, however probable it is. So cycles of two to four nodes, and pairs of two-cycles
that share a node, are fitted beforehand, each with the most probable additional edges into its
nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, permutations

import numpy as np

from cyclearn.foundation.arrays import FloatArray, IntArray
from cyclearn.posterior.sampler_effort import EFFORT
from cyclearn.search.problem import SearchProblem

# Log weights of components, from their nodes and the parents of every node, as bits.
Weigh = Callable[[IntArray, IntArray], FloatArray]


def small_loops(problem: SearchProblem, weigh: Weigh, singles: IntArray) -> IntArray:
    """The parents of every node in each loop, as bits, zero for other nodes; shape (n, p).

    ``singles`` are the most probable parents of each node outside loops.
    """
    p = problem.n_variables
    powers = 1 << np.arange(p)
    cycles = np.array(list(_cycles(p, problem.limits.max_component)), dtype=np.int64)
    cycles = cycles.reshape(-1, p)
    cycles = cycles[(cycles & ~(powers @ problem.allowed) == 0).all(axis=1)]
    is_in = cycles > 0
    nodes = is_in @ powers
    held = np.where(is_in, cycles | powers @ problem.required, 0)
    columns = np.where(is_in, held | singles & ~nodes[:, None], 0)
    columns = np.where(_has_room(problem, columns), columns, held)
    fits = _has_room(problem, columns).all(axis=1)
    nodes, held, columns = nodes[fits], held[fits], columns[fits]
    alone = weigh(powers, np.diag(singles))
    promise = weigh(nodes, columns) - is_in[fits] @ alone
    best = np.argsort(-promise, kind="stable")[: EFFORT.small_loops]
    loops = np.unique(_climb(problem, weigh, held[best], columns[best]), axis=0)
    score = problem.score()

    def is_admitted(loop: IntArray) -> bool:
        nodes = np.flatnonzero(loop).tolist()
        return problem.admits_component(score, tuple(nodes), tuple(loop[nodes].tolist()))

    return np.asarray(loops[np.fromiter(map(is_admitted, loops), dtype=bool)])


def _cycles(p: int, max_component: int) -> Iterator[IntArray]:
    """Cycles, and pairs of two-cycles that share a node."""
    most = min(max_component, p)
    for size in range(2, min(4, most) + 1):
        for first, *others in combinations(range(p), size):
            for order in permutations(others):
                yield _columns(p, list(zip((first, *order), (*order, first), strict=True)))
    for nodes in combinations(range(p), 3 if most >= 3 else p + 1):
        for shared in nodes:
            pairs = [(shared, v) for v in nodes if v != shared]
            yield _columns(p, [*pairs, *((j, i) for i, j in pairs)])


def _columns(p: int, edges: list[tuple[int, int]]) -> IntArray:
    columns = np.zeros(p, dtype=np.int64)
    for i, j in edges:
        columns[j] |= 1 << i
    return columns


def _has_room(problem: SearchProblem, columns: IntArray) -> np.ndarray:
    return np.asarray(np.bitwise_count(columns) <= problem.limits.max_parents)


def _climb(problem: SearchProblem, weigh: Weigh, held: IntArray, columns: IntArray) -> IntArray:
    """Toggle the most helpful edge into each loop, until none helps; keep ``held``."""
    p = problem.n_variables
    powers = 1 << np.arange(p)
    nodes, columns = (columns > 0) @ powers, columns.copy()
    logs, climbing = weigh(nodes, columns), np.arange(len(columns))
    while climbing.size:
        is_free = held[climbing][:, :, None] >> np.arange(p) & 1 == 0
        is_target = (columns[climbing] > 0)[:, :, None]
        which, target, source = np.nonzero(is_free & is_target & problem.allowed.T)
        which = climbing[which]
        changed = columns[which]
        changed[np.arange(len(which)), target] ^= powers[source]
        fits = _has_room(problem, changed).all(axis=1)
        which, changed = which[fits], changed[fits]
        found = weigh(nodes[which], changed)
        order = np.lexsort((-found, which))
        climbing, first = np.unique(which[order], return_index=True)
        best = order[first]
        # A smaller gain is rounding.
        gains = found[best] > logs[climbing] + 1e-9
        climbing, best = climbing[gains], best[gains]
        columns[climbing], logs[climbing] = changed[best], found[best]
    return columns
