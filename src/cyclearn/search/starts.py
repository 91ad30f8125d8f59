"""Where searches start, how many starts there are, and how they share the cores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from time import monotonic

import numpy as np
from joblib import effective_n_jobs

from cyclearn.errors import InputError
from cyclearn.graphs import DirectedGraph, random_graph
from cyclearn.models import Moments
from cyclearn.random_state import RandomState, generator
from cyclearn.search.auto_search import Annealing
from cyclearn.search.local_search import SearchRun, SearchStatus, SearchStep, Strategy
from cyclearn.search.problem import SearchProblem
from cyclearn.search.score import Adjacency

Start = DirectedGraph | Sequence[DirectedGraph] | None

# The default search starts again until this many starts have come to the best score, and at most
# so often. Few variables have near ties that one start in two misses, and starts cost little. Many
# have so many near ties that starts hardly ever agree.
_FEW_VARIABLES, _MANY_VARIABLES = 7, 50
_FEW_AGREE, _FEW_STARTS = 5, 12
_AGREE, _STARTS = 2, 4
_MANY_STARTS = 2
# The first start is a quick one; those that are to confirm or to improve on it take longer.
_FURTHER = Annealing()
_FIRST = replace(
    _FURTHER,
    acyclic_proposals=_FURTHER.acyclic_proposals // 2,
    region_proposals=_FURTHER.region_proposals // 2,
)
# Seconds until other processes work: they start, and load compiled code.
_WORKERS_BEGIN = 5.0
# Scores per sample closer than this are one score.
_SAME_SCORE = 1e-6


def starting_graphs(
    start: Start,
    n_starts: int,
    moments: Moments,
    problem: SearchProblem,
    random_state: RandomState,
) -> list[Adjacency]:
    """Starting graphs that respect knowledge and limits."""
    if start is None:
        p = moments.n_variables
        given = [DirectedGraph(problem.required, moments.names)]
        rng = generator(random_state)
        for _ in range(n_starts - 1):
            drawn = random_graph(p, max_component=1, random_state=rng).adjacency
            kept = drawn & problem.allowed
            # A random start takes no edge that a limit on parents or edges would refuse.
            kept[:, kept.sum(axis=0) > problem.limits.max_parents] = False
            if kept.sum() > problem.limits.max_edges:
                kept[:] = False
            given.append(DirectedGraph(kept | problem.required, moments.names))
    else:
        given = [start] if isinstance(start, DirectedGraph) else list(start)
        if not all(isinstance(graph, DirectedGraph) for graph in given):
            raise InputError(f"start is {start!r}; give a DirectedGraph or a list of them")
        if not given:
            raise InputError("start is an empty list; give at least one graph")
        given = [graph.reordered(moments.names) for graph in given]
    return [_checked_start(graph, problem) for graph in given]


def _checked_start(graph: DirectedGraph, problem: SearchProblem) -> Adjacency:
    adjacency = graph.adjacency | problem.required
    for i, j in np.argwhere(adjacency & ~problem.allowed):
        raise InputError(
            f"the start has the edge {graph.names[i]} -> {graph.names[j]}, which the knowledge "
            "forbids"
        )
    whole = DirectedGraph(adjacency, graph.names)
    for name, value, limit in (
        ("max_component", max(map(len, whole.component_indices)), problem.limits.max_component),
        ("max_parents", int(adjacency.sum(axis=0).max()), problem.limits.max_parents),
        ("max_edges", whole.n_edges, problem.limits.max_edges),
    ):
        if value > limit:
            raise InputError(
                f"the start, with the required edges, breaks {name}: {value} is more than {limit}"
            )
    return np.ascontiguousarray(adjacency, dtype=np.uint8)


def run_all(
    problem: SearchProblem,
    starts: list[Adjacency],
    strategy: Strategy,
    n_jobs: int | None,
    on_step: Callable[[SearchStep], None] | None,
) -> list[SearchRun]:
    """Local searches, one from each start."""
    if len(starts) == 1 or n_jobs in (None, 1):
        return [problem.run(start, strategy, on_step) for start in starts]
    from joblib import Parallel, delayed

    calls = [delayed(problem.run)(start, strategy) for start in starts]
    return list(Parallel(n_jobs=n_jobs)(calls))


def run_auto(
    problem: SearchProblem,
    starts: list[Adjacency],
    is_default: bool,
    n_starts: int | None,
    random_state: RandomState,
    n_jobs: int | None,
    on_step: Callable[[SearchStep], None] | None,
) -> list[SearchRun]:
    """Independent starts of the default search, each with a seed of its own.

    From given graphs, one each. From the default one ``n_starts``, or as many as it takes until
    some agree, the first of them shorter; starts that ran ahead of that on other cores do not
    count. With a time limit the first runs in this process: others take seconds to begin.
    """
    p = len(problem.correlation)
    needed, most = (_FEW_AGREE, _FEW_STARTS) if p <= _FEW_VARIABLES else (_AGREE, _STARTS)
    if p > _MANY_VARIABLES:
        most = _MANY_STARTS
    if not is_default:
        needed = most = len(starts)
    elif n_starts is not None:
        needed = most = n_starts
    rng = generator(0 if random_state is None else random_state)
    seeds = rng.integers(2**62, size=most).tolist()
    starts = starts * most if is_default else starts
    efforts = [_FIRST if is_default else _FURTHER] + [_FURTHER] * (most - 1)
    calls = [
        (start, is_default, seed, effort)
        for start, seed, effort in zip(starts, seeds, efforts, strict=True)
    ]
    at_once = min(effective_n_jobs(n_jobs), most)
    runs: list[SearchRun] = []
    while len(runs) < most:
        is_first = not runs and problem.deadline is not None
        n_next = 1 if is_first or _is_soon(problem.deadline) else at_once
        for run in _run_some(problem, calls[len(runs) : len(runs) + n_next], on_step):
            runs.append(run)
            if n_agreeing(runs) >= needed:
                return runs
        if any(run.status is SearchStatus.TIME_LIMIT for run in runs):
            break
    return runs


def _is_soon(deadline: float | None) -> bool:
    """Whether other processes would hardly have begun by then."""
    return deadline is not None and deadline - monotonic() < _WORKERS_BEGIN


def _run_some(
    problem: SearchProblem,
    calls: list[tuple[Adjacency, bool, int, Annealing]],
    on_step: Callable[[SearchStep], None] | None,
) -> list[SearchRun]:
    if len(calls) == 1:
        return [problem.run_auto(*calls[0], on_step)]
    from joblib import Parallel, delayed

    return list(Parallel(n_jobs=len(calls))(delayed(problem.run_auto)(*call) for call in calls))


def n_agreeing(runs: list[SearchRun]) -> int:
    """How many runs came to the best score of all."""
    best = min(run.score for run in runs)
    return sum(run.score <= best + _SAME_SCORE for run in runs)
