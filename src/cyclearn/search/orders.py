"""The best acyclic graph, by a search over orders of the variables.

Finding a node's best parents among the nodes before it is a small problem, so that an order
represents the best of many graphs, and a step between orders many changes of edges.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from cyclearn._kernels.typed_numbers import ROUNDING
from cyclearn.foundation import InputError, has_passed, is_asked_to_stop, now, nx
from cyclearn.foundation.arrays import BoolArray, FloatArray, IntArray
from cyclearn.search.runs import Adjacency, Budget, SearchStatus
from cyclearn.search.score import GraphScore
from cyclearn.search.search_effort import OrderEffort

if TYPE_CHECKING:
    from cyclearn._kernels.order_search import Ordered


_EFFORT = OrderEffort()
# Spreads the bits of small seeds (the golden ratio, as in splitmix64).
_SPREAD = 0x9E3779B97F4A7C15


@dataclass(frozen=True)
class AcyclicRun:
    """The best acyclic graph found: ``adjacency[i, j]`` is one when i → j.

    ``value`` is its score per sample without constants, as ``GraphScore.value`` has it: the sum
    over nodes of ½ log residual variance, plus the penalty for every edge. ``n_evaluations`` is
    the number of parent sets fitted, ``ended`` why the search ended.
    """

    adjacency: Adjacency
    value: float
    n_evaluations: int
    ended: SearchStatus


def best_acyclic(
    score: GraphScore,
    allowed: BoolArray,
    required: BoolArray,
    *,
    seed: int,
    n_exchanges: int,
    budget: Budget,
) -> AcyclicRun:
    """The acyclic graph with the smallest score that a search over orders finds.

    Variables are inserted one by one where the score is best, then moved until no move of one
    variable improves the graph, which takes milliseconds to seconds. Then ``n_exchanges`` times per
    variable, a few variables near each other exchange places, and the moves around them are
    repeated. Internally, variables are numbered by their correlations, so the order of the columns
    matters only for ties. It needs the memory of a few correlation matrices.

    Parameters
    ----------
    score : GraphScore
        For one table, including limits on parents and edges. If the best graph has more edges than
        permitted, the weakest are removed.
    allowed, required : boolean arrays, shape (p, p)
        Entry (i, j) is about the edge i → j; required edges are allowed and have no cycle.
    seed : int
        The same seed, the same graph.
    n_exchanges : int
        Exchanges per variable; zero for the first local optimum.
    budget : Budget
        The approximate number of parent sets to fit; variables that were not reached have only
        required parents. Also when to stop, but not before every variable has its first parents,
        which takes a fraction of a second with 1,000 variables.

    Returns
    -------
    AcyclicRun

    Raises
    ------
    InputError
        If required edges close a cycle.

    Examples
    --------
    >>> from cyclearn.search.score import SearchLimits
    >>> S = np.array([[1.0, 0.6, 0.0], [0.6, 1.0, 0.5], [0.0, 0.5, 1.0]])
    >>> free, none = ~np.eye(3, dtype=bool), np.zeros((3, 3), dtype=bool)
    >>> score = GraphScore(S, 0.01, SearchLimits(3, 2, 6, 0))
    >>> best_acyclic(score, free, none, seed=0, n_exchanges=10, budget=Budget()).adjacency
    array([[0, 1, 0],
           [0, 0, 0],
           [0, 1, 0]], dtype=uint8)
    """
    correlation, penalty = score.S[0], score.penalty
    max_parents, max_edges = score.limits.max_parents, score.limits.max_edges
    first = _first_order(correlation, required)
    inside = np.ix_(first, first)
    S = np.ascontiguousarray(correlation[inside])
    must = required[inside]
    most_parents = max(1, min(max_parents, len(S) - 1), int(must.sum(axis=0).max(initial=0)))
    may = allowed[inside] & ~np.eye(len(S), dtype=bool)
    if max_parents == 0:
        may &= must
    problem = _Problem(S, penalty, may, must, most_parents, seed)
    run = problem.search(n_exchanges * len(S), budget)
    if run.adjacency.sum() > max_edges:
        pruned, level = _pruned(run.adjacency, S, must, max_edges)
        n_evaluations, ended = run.n_evaluations, run.ended
        # With the gain of its weakest edge as the penalty, the search finds this few edges.
        sparser = replace(problem, penalty=max(penalty, level))
        again = sparser.search(n_exchanges * len(S), budget)
        candidates = [pruned, _pruned(again.adjacency, S, must, max_edges)[0]]
        values = [_value(A, S, penalty) for A in candidates]
        best = int(values[1] < values[0] - ROUNDING)
        if ended is SearchStatus.LOCAL_OPTIMUM:
            ended = again.ended
        n_evaluations += again.n_evaluations
        run = AcyclicRun(candidates[best], values[best], n_evaluations, ended)
    adjacency = np.zeros_like(run.adjacency)
    adjacency[inside] = run.adjacency
    return replace(run, adjacency=adjacency)


@dataclass(frozen=True)
class _Problem:
    """The order in which variables are inserted."""

    S: FloatArray
    penalty: float
    may: BoolArray
    required: BoolArray
    max_parents: int
    seed: int

    def search(self, n_exchanges: int, budget: Budget) -> AcyclicRun:
        """Search in slices and check the clock after each, which does not change the result."""
        from cyclearn._kernels import order_search as kernel

        o = self._start()
        p = len(self.S)
        most, deadline = budget.evaluations_left(0), budget.deadline
        size, ended = 1, None
        while ended is None:
            fitted, started = int(o.progress[kernel.FITTED]), now()
            is_done = kernel.search_orders(o, min(most, fitted + size), n_exchanges, _EFFORT.n_near)
            size = size * 2 if now() - started < _EFFORT.slice_seconds else max(1, size // 2)
            if is_done:
                ended = SearchStatus.LOCAL_OPTIMUM
            elif o.progress[kernel.FITTED] >= most:
                ended = SearchStatus.MAX_EVALUATIONS
            elif has_passed(deadline) and o.progress[kernel.PLACED] == p:
                # A graph without parents for most nodes would be worse than a late answer.
                ended = SearchStatus.TIME_LIMIT
            elif is_asked_to_stop():
                ended = SearchStatus.INTERRUPTED
        if o.progress[kernel.IN_EXCHANGE]:
            kernel.settle(o)
        adjacency = self.required.astype(np.uint8)
        for v in range(p):
            adjacency[o.parents[v, : o.n_parents[v]], v] = 1
        # Required parents may be collinear, also for a node that was not inserted yet.
        is_whole = adjacency.sum() == o.n_parents.sum()
        value = float(o.values.sum()) if is_whole else _value(adjacency, self.S, self.penalty)
        return AcyclicRun(adjacency, value, int(o.progress[kernel.FITTED]), ended)

    def _start(self) -> Ordered:
        from cyclearn._kernels.order_search import Ordered
        from cyclearn._kernels.parent_sets import least_share, new_factor

        p, most = len(self.S), self.max_parents
        return Ordered(
            S=self.S,
            may=np.ascontiguousarray(self.may.T, dtype=np.uint8),
            required=np.ascontiguousarray(self.required.T, dtype=np.uint8),
            penalty=float(self.penalty),
            share=least_share(float(self.penalty)),
            cutoff=_EFFORT.cutoff * float(self.penalty),
            order=np.arange(p),
            position=np.arange(p),
            n_parents=np.zeros(p, np.int64),
            parents=np.zeros((p, most), np.int64),
            values=np.zeros(p),
            pays=np.zeros((p, p), np.uint8),
            is_open=np.zeros(p, np.uint8),
            is_saved=np.zeros(p, np.uint8),
            saved_order=np.arange(p),
            saved_n_parents=np.zeros(p, np.int64),
            saved_parents=np.zeros((p, most), np.int64),
            saved_values=np.zeros(p),
            saved_pays=np.zeros((p, p), np.uint8),
            best=np.full(1, np.inf),
            progress=np.zeros(5, np.int64),
            # An odd number times an odd one: never zero, where the generator would stay.
            random=np.array([(2 * self.seed + 1) * _SPREAD % 2**64], dtype=np.uint64),
            mark=np.zeros(p, np.uint8),
            kept=np.zeros(p + 1, np.int64),
            factor=new_factor(p, most),
            own=new_factor(p, most),
        )


def _first_order(correlation: FloatArray, required: BoolArray) -> IntArray:
    """The variables by strength of correlation, the parents of required edges first."""
    # Sums of sorted numbers do not depend on the order of the columns.
    strength = np.sort(correlation**2, axis=0).sum(axis=0).round(9)
    by_strength = np.argsort(-strength, kind="stable")
    if not required.any():
        return by_strength

    rank = np.argsort(by_strength)
    graph = nx.from_numpy_array(required, create_using=nx.DiGraph)
    if not nx.is_directed_acyclic_graph(graph):
        cycle = " → ".join(str(i) for i, _ in nx.find_cycle(graph))
        raise InputError(
            f"required edges close a cycle through the variables {cycle}; an acyclic graph cannot "
            "contain them all: remove one, or search over graphs with cycles"
        )
    return np.array(list(nx.lexicographical_topological_sort(graph, key=lambda v: rank[v])))


def _losses(
    v: int, A: Adjacency, S: FloatArray, required: BoolArray
) -> tuple[IntArray, FloatArray, float]:
    """Parents of v, the increase of ½ log residual variance without each, and that value."""
    parents = np.flatnonzero(A[:, v])
    inverse = np.linalg.pinv(S[np.ix_(parents, parents)])
    coefficients = inverse @ S[parents, v]
    residual = max(float(S[v, v] - S[parents, v] @ coefficients), 1e-300)
    losses = 0.5 * np.log1p(coefficients**2 / (np.diagonal(inverse) * residual))
    losses[required[parents, v]] = np.inf
    return parents, losses, 0.5 * float(np.log(residual))


def _value(A: Adjacency, S: FloatArray, penalty: float) -> float:
    free = np.zeros(A.shape, dtype=bool)
    return sum(_losses(v, A, S, free)[2] for v in range(len(A))) + penalty * int(A.sum())


def _pruned(
    A: Adjacency, S: FloatArray, required: BoolArray, max_edges: int
) -> tuple[Adjacency, float]:
    """The graph without its weakest edges, and the largest loss that was taken."""
    A = A.copy()
    level = 0.0
    weakest = [_losses(v, A, S, required) for v in range(len(A))]
    for _ in range(max(0, int(A.sum()) - max_edges)):
        v = int(np.argmin([losses.min(initial=np.inf) for _, losses, _ in weakest]))
        parents, losses, _ = weakest[v]
        if not losses.size or np.isinf(losses.min()):
            break
        level = max(level, float(losses.min()))
        A[parents[losses.argmin()], v] = 0
        weakest[v] = _losses(v, A, S, required)
    return A, level
