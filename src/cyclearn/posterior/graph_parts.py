"""Components from which whole graphs are assembled, as one proposal of a chain.

With few variables, all parent sets of a single node can be weighted, and so can the feedback loops
that chains have visited; for resamples, only those that graphs are likely to have are weighted. A
whole graph is drawn from such parts at once, however far it is from the current graph, so that
chains do not get stuck in one of several structures that differ in many edges.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cyclearn.foundation.arrays import BoolArray, FloatArray, IntArray
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


@dataclass(frozen=True)
class _Components:
    """Components: their keys, node sets, columns and log weights, an entry or a row for each."""

    keys: NDArray[np.uint64]
    nodes: IntArray
    columns: IntArray
    logs: FloatArray

    def __getitem__(self, chosen: IntArray | BoolArray | slice) -> _Components:
        return _Components(
            self.keys[chosen], self.nodes[chosen], self.columns[chosen], self.logs[chosen]
        )

    def __len__(self) -> int:
        return len(self.keys)

    def __add__(self, other: _Components) -> _Components:
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return _Components(*(np.concatenate(pair) for pair in pairs))

    @classmethod
    def of(cls, met: LoopsMet) -> _Components:
        """The loops that a chain met."""
        n = int(met.size[0])
        columns = met.columns[:n]
        return cls(met.keys[:n], _bits(columns > 0), columns, met.logs[:n])


class PartsList:
    """All single nodes with all parent sets, and the most promising known loops."""

    def __init__(
        self, problem: SearchProblem, weigh: Callable[[IntArray, IntArray], FloatArray]
    ) -> None:
        """``weigh`` gives log weights, see :meth:`GraphChain.weigh`."""
        p, Z = problem.n_variables, problem.score().Z
        is_in = (np.arange(1 << p)[:, None] >> np.arange(p) & 1).astype(bool)
        allowed, required = problem.allowed.T[:, None], problem.required.T[:, None]
        node, parents = np.nonzero(
            ~(is_in & ~allowed).any(axis=2)
            & ~(required & ~is_in).any(axis=2)
            & (is_in.sum(axis=1) <= problem.limits.max_parents)
        )
        keys = Z[node, node] ^ np.bitwise_xor.reduce(Z.T[node], axis=1, where=is_in[parents])
        columns = np.where(np.arange(p) == node[:, None], parents[:, None], 0)
        self._single = _Components(keys, 1 << node, columns, weigh(1 << node, columns))
        # The best that each node could be as a single node.
        self._best = np.full(p, -np.inf)
        np.maximum.at(self._best, node, self._single.logs)
        self._loops = self._single[:0]

    def learn(self, met: list[LoopsMet]) -> None:
        """Add loops; if there are too many, keep those with the most weight beside single nodes."""
        loops = sum(map(_Components.of, met), start=self._loops)
        loops = loops[np.unique(loops.keys, return_index=True)[1]]
        promise = loops.logs - np.where(loops.columns > 0, self._best, 0.0).sum(axis=1)
        self._loops = loops[np.argsort(-promise, kind="stable")[: EFFORT.most_loops]]

    def parts(self, tilts: FloatArray, most_loops: int | None = None) -> Parts:
        """The parts with tilts and sums; if ``most_loops`` is given, only those likely to be drawn.

        These are at most this many loops, the ones that most graphs have.
        """
        from cyclearn._kernels.assembled_graphs import part_shares

        every, ordered = self._packed(tilts, self._single, self._loops)
        if most_loops is None:
            return every
        shares, n = part_shares(every) - every.leading[-1], len(self._single)
        single, loops = ordered[:n], ordered[n:]
        is_likely = (shares[:n] > np.log(EFFORT.least_share)) | ~single.columns.any(axis=1)
        first = np.argsort(-shares[n:], kind="stable")[:most_loops]
        likely, _ = self._packed(tilts, single[is_likely], loops[first])
        # With required edges, these parts may not make a whole graph.
        return likely if np.isfinite(likely.leading[-1]) else every

    def _packed(
        self, tilts: FloatArray, single: _Components, loops: _Components
    ) -> tuple[Parts, _Components]:
        """The parts, and the components in their order there."""
        from cyclearn._kernels.assembled_graphs import Parts, sum_parts, table_of

        p = len(self._best)
        distinct, first = np.unique(loops.nodes, return_index=True)
        chosen = distinct[np.argsort(first)][: EFFORT.most_node_sets - p]
        found = single + loops[np.isin(loops.nodes, chosen)]
        # Single nodes first, then loops by the best loop on the same nodes: draws search them in
        # this order.
        sets = np.concatenate([1 << np.arange(p), chosen])
        place = np.empty(1 << p, dtype=np.int64)
        place[sets] = np.arange(len(sets))
        found = found[np.lexsort((-found.logs, place[found.nodes]))]
        parts = Parts(
            sets=sets,
            starts=np.searchsorted(place[found.nodes], np.arange(len(sets) + 1)),
            totals=np.empty((len(sets), 1 << p)),
            outside=np.bitwise_or.reduce(found.columns, axis=1) & ~found.nodes,
            logs=found.logs + _features(found.columns) @ tilts,
            columns=found.columns,
            tilts=tilts,
            leading=np.empty(1 << p),
            table=table_of(found.keys),
        )
        sum_parts(parts)
        return parts, found


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


def _bits(is_in: BoolArray) -> IntArray:
    """Sets of nodes as the bits of integers."""
    return np.asarray(is_in @ (1 << np.arange(is_in.shape[1])))


def _features(columns: IntArray) -> FloatArray:
    """Sizes of parts: nodes beyond the first, and edges."""
    n_nodes = np.maximum(1, (columns > 0).sum(axis=1))
    return np.column_stack([n_nodes - 1.0, np.bitwise_count(columns).sum(axis=1)])
