"""Components from which whole graphs are assembled, as one proposal of a chain.

With few variables, all parent sets of a single node can be weighted, and so can the feedback loops
that chains have visited. A whole graph is drawn from such parts at once, however far it is from the
current graph, so that chains do not get stuck in one of several structures that differ in many
edges.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cyclearn.foundation.arrays import FloatArray, IntArray
from cyclearn.posterior.sampler_effort import EFFORT
from cyclearn.search.problem import SearchProblem

if TYPE_CHECKING:
    from cyclearn._kernels.assembled_graphs import LoopsMet, Parts


def no_loops(p: int) -> LoopsMet:
    """Memory for the loops that a chain visits, if it assembles graphs."""
    from cyclearn._kernels.assembled_graphs import LoopsMet

    n = EFFORT.most_loops if p <= EFFORT.most_assembled else 0
    return LoopsMet(
        size=np.zeros(1, dtype=np.int64),
        keys=np.zeros(n, dtype=np.uint64),
        columns=np.zeros((n, p), dtype=np.int64),
        logs=np.zeros(n),
        table=np.zeros(2 * n, dtype=np.uint64),
    )


def no_parts() -> Parts:
    """No parts to assemble."""
    from cyclearn._kernels.assembled_graphs import Parts

    ints, floats = np.zeros(0, dtype=np.int64), np.zeros(0)
    return Parts(
        sets=ints,
        starts=np.zeros(1, dtype=np.int64),
        totals=np.zeros((0, 0)),
        outside=ints,
        logs=floats,
        columns=np.zeros((0, 0), dtype=np.int64),
        tilts=np.zeros(2),
        leading=floats,
        table=np.zeros(1, dtype=np.uint64),
    )


class PartsList:
    """All single nodes with all parent sets, and the most promising known loops."""

    def __init__(
        self, problem: SearchProblem, weigh: Callable[[IntArray, IntArray], FloatArray]
    ) -> None:
        """``weigh`` gives log weights, see :meth:`GraphChain.weigh`."""
        p = problem.n_variables
        subsets, powers = np.arange(1 << p), 1 << np.arange(p)
        n_parents = (subsets[:, None] >> np.arange(p) & 1).sum(axis=1)
        allowed, required = powers @ problem.allowed, powers @ problem.required
        node, parents = np.nonzero(
            (subsets & ~allowed[:, None] == 0)
            & (required[:, None] & ~subsets == 0)
            & (n_parents <= problem.limits.max_parents)
        )
        self._single_columns = np.where(np.arange(p) == node[:, None], parents[:, None], 0)
        self._single_nodes = powers[node]
        self._single_logs = weigh(self._single_nodes, self._single_columns)
        # The best that each node could be as a single node.
        self._best = np.full(p, -np.inf)
        np.maximum.at(self._best, node, self._single_logs)
        self._keys = np.zeros(0, dtype=np.uint64)
        self._columns, self._logs = np.zeros((0, p), dtype=np.int64), np.zeros(0)

    def learn(self, met: list[LoopsMet]) -> None:
        """Add loops; if there are too many, keep those with the most weight beside single nodes."""
        pairs = [(each, int(each.size[0])) for each in met]
        keys = np.concatenate([self._keys, *(each.keys[:n] for each, n in pairs)])
        columns = np.concatenate([self._columns, *(each.columns[:n] for each, n in pairs)])
        logs = np.concatenate([self._logs, *(each.logs[:n] for each, n in pairs)])
        keys, first = np.unique(keys, return_index=True)
        columns, logs = columns[first], logs[first]
        promise = logs - np.where(columns > 0, self._best, 0.0).sum(axis=1)
        order = np.argsort(-promise, kind="stable")[: EFFORT.most_loops]
        self._keys, self._columns, self._logs = keys[order], columns[order], logs[order]

    def parts(self, tilts: FloatArray, most_loops: int = EFFORT.most_loops) -> Parts:
        """The parts with tilts and sums, from at most this many of the known loops.

        These are the loops that most graphs have, drawn from all parts.
        """
        from cyclearn._kernels.assembled_graphs import part_shares

        parts, loops = self._packed(tilts, np.arange(len(self._keys)))
        if len(loops) > most_loops:
            shares = part_shares(parts)[len(self._single_logs) :]
            first = np.argsort(-shares, kind="stable")[:most_loops]
            parts, _ = self._packed(tilts, loops[first])
        return parts

    def _packed(self, tilts: FloatArray, loops: IntArray) -> tuple[Parts, IntArray]:
        """The parts from some of the known loops, and these loops in their order there."""
        from cyclearn._kernels.assembled_graphs import Parts, sum_parts, table_of

        p = self._columns.shape[1]
        powers = 1 << np.arange(p)
        nodes = (self._columns[loops] > 0) @ powers
        distinct, first = np.unique(nodes, return_index=True)
        chosen = distinct[np.argsort(first)][: EFFORT.most_node_sets - p]
        loops = loops[np.isin(nodes, chosen)]
        columns = np.concatenate([self._single_columns, self._columns[loops]])
        logs = np.concatenate([self._single_logs, self._logs[loops]])
        nodes = np.concatenate([self._single_nodes, (self._columns[loops] > 0) @ powers])
        # Single nodes first, then loops by the best loop on the same nodes: draws search them in
        # this order.
        sets = np.concatenate([powers, chosen])
        place = np.empty(1 << p, dtype=np.int64)
        place[sets] = np.arange(len(sets))
        order = np.lexsort((-logs, place[nodes]))
        loops = loops[order[len(self._single_logs) :] - len(self._single_logs)]
        columns, logs, nodes = columns[order], logs[order], nodes[order]
        starts = np.searchsorted(place[nodes], np.arange(len(sets) + 1))
        parts = Parts(
            sets=sets,
            starts=starts,
            totals=np.empty((len(sets), 1 << p)),
            outside=np.bitwise_or.reduce(columns, axis=1) & ~nodes,
            logs=logs + _features(columns) @ tilts,
            columns=columns,
            tilts=tilts,
            leading=np.empty(1 << p),
            table=table_of(self._keys[loops]),
        )
        sum_parts(parts)
        return parts, loops


def weighed(parts: Parts, weigh: Callable[[IntArray, IntArray], FloatArray]) -> Parts:
    """The same parts with the weights of other data."""
    from cyclearn._kernels.assembled_graphs import sum_parts

    logs = weigh(np.repeat(parts.sets, np.diff(parts.starts)), parts.columns)
    found = parts._replace(
        logs=logs + _features(parts.columns) @ parts.tilts,
        totals=np.empty_like(parts.totals),
        leading=np.empty_like(parts.leading),
    )
    sum_parts(found)
    return found


def learned_tilts(graphs: NDArray[np.uint8]) -> FloatArray:
    """Tilts that compensate for the different numbers of orders of graphs.

    By least squares of the numbers of orders on the nodes of components beyond the first and on the
    edges, as logarithms.
    """
    from cyclearn._kernels.assembled_graphs import log_orders

    p = graphs.shape[1]
    distinct = np.unique((1 << np.arange(p)) @ graphs.astype(np.int64), axis=0)
    counted = np.array([log_orders(columns) for columns in distinct])
    n_edges = np.bitwise_count(distinct).sum(axis=1)
    features = np.column_stack([p - counted[:, 1], n_edges, np.ones(len(distinct))])
    return np.asarray(-np.linalg.lstsq(features, counted[:, 0])[0][:2])


def _features(columns: IntArray) -> FloatArray:
    """Sizes of parts: nodes beyond the first, and edges."""
    n_nodes = np.maximum(1, (columns > 0).sum(axis=1))
    return np.column_stack([n_nodes - 1.0, np.bitwise_count(columns).sum(axis=1)])
