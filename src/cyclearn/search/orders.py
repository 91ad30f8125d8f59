"""The best acyclic graph by a search over orders of the variables."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cyclearn.errors import InputError
from cyclearn.graphs import DirectedGraph
from cyclearn.search.local_search import SearchStatus
from cyclearn.search.score import Adjacency

if TYPE_CHECKING:
    from cyclearn._kernels.order_search import Ordered

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

# Seconds between two looks at the clock.
_SLICE = 0.05
_FIRST_SLICE = 100


@dataclass(frozen=True)
class AcyclicRun:
    """The best acyclic graph found: ``adjacency[i, j]`` is one when i → j.

    ``value`` is its score per sample and without constants, that of ``GraphScore``;
    ``n_evaluations`` the number of parent sets fitted; ``ended`` why the search ended.
    """

    adjacency: Adjacency
    value: float
    n_evaluations: int
    ended: SearchStatus


def best_acyclic(
    correlation: Floats,
    penalty: float,
    allowed: Mask,
    required: Mask,
    max_parents: int,
    max_edges: int,
    *,
    seed: int,
    effort: int = 20,
    max_evaluations: int | None = None,
    deadline: float | None = None,
    n_near: int = 3,
) -> AcyclicRun:
    p = len(correlation)
    first = _first_order(correlation, required)
    o = _ordered(
        correlation[np.ix_(first, first)],
        penalty,
        allowed[np.ix_(first, first)],
        required[np.ix_(first, first)],
        max_parents,
        seed,
    )
    ended = _run(o, effort * p, max_evaluations, deadline, n_near)
    A = np.zeros((p, p), dtype=np.uint8)
    for v in range(p):
        A[first[o.parents[v, : o.n_parents[v]]], first[v]] = 1
    return AcyclicRun(A, float(o.values.sum()), int(o.progress[1]), ended)


def _run(o, max_exchanges, max_evaluations, deadline, n_near) -> SearchStatus:
    from cyclearn._kernels.order_search import FITTED, IN_EXCHANGE, search_orders, settle

    most = 2**62 if max_evaluations is None else max_evaluations
    size = _FIRST_SLICE
    while True:
        until = most if deadline is None else min(most, int(o.progress[FITTED]) + size)
        started = monotonic()
        is_done = search_orders(o, until, max_exchanges, n_near)
        if is_done:
            return SearchStatus.LOCAL_OPTIMUM
        now = monotonic()
        if now - started < _SLICE / 2:
            size *= 2
        elif now - started > _SLICE:
            size = max(1, size // 2)
        ended = None
        if o.progress[FITTED] >= most:
            ended = SearchStatus.MAX_EVALUATIONS
        elif deadline is not None and now > deadline:
            ended = SearchStatus.TIME_LIMIT
        if ended:
            if o.progress[IN_EXCHANGE]:
                settle(o)
            return ended


def _first_order(correlation: Floats, required: Mask) -> NDArray[np.int64]:
    # Sums of sorted numbers: the same whatever the order of the columns.
    strength = np.sort(correlation**2, axis=0).sum(axis=0)
    rank = np.argsort(-strength, kind="stable")
    if not required.any():
        return rank
    raise NotImplementedError


def _ordered(S, penalty, allowed, required, max_parents, seed) -> Ordered:
    from cyclearn._kernels.order_search import Ordered
    from cyclearn._kernels.parent_sets import least_share, new_factor

    p = len(S)
    most = max(min(max_parents, p - 1), int(required.sum(axis=0).max()), 1)
    may = np.ascontiguousarray(allowed.T, dtype=np.uint8)
    np.fill_diagonal(may, 0)
    return Ordered(
        S=np.ascontiguousarray(S, dtype=np.float64),
        may=may,
        required=np.ascontiguousarray(required.T, dtype=np.uint8),
        penalty=float(penalty),
        share=least_share(penalty),
        order=np.arange(p),
        position=np.arange(p),
        n_parents=np.zeros(p, np.int64),
        parents=np.zeros((p, most), np.int64),
        values=np.zeros(p),
        shares=np.zeros((p, p)),
        is_open=np.zeros(p, np.uint8),
        is_saved=np.zeros(p, np.uint8),
        saved_order=np.arange(p),
        saved_n_parents=np.zeros(p, np.int64),
        saved_parents=np.zeros((p, most), np.int64),
        saved_values=np.zeros(p),
        saved_shares=np.zeros((p, p)),
        totals=np.full(1, np.inf),
        progress=np.zeros(4, np.int64),
        random=np.array([seed ^ 88172645463325252], dtype=np.uint64),
        delta=np.zeros(p),
        kept=np.zeros(p + 1, np.int64),
        factor=new_factor(p, most),
    )
