"""The start graphs of searches, and how several starts share the cores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cyclearn.foundation import InputError, is_asked_to_stop, waiting
from cyclearn.graphs import DirectedGraph, random_graph
from cyclearn.search.problem import SearchProblem
from cyclearn.search.runs import Adjacency, Budget, OnStep, SearchRun, Solution


@dataclass(frozen=True)
class SearchCall:
    """What a method needs besides the problem.

    ``starts`` are the start graphs, None for the method's own; ``n_starts`` is their number.
    """

    seed: int
    budget: Budget
    starts: tuple[DirectedGraph, ...] | None = None
    n_starts: int | None = None
    n_jobs: int | None = None
    on_step: OnStep | None = None

    def told_of(self, runs: Sequence[SearchRun]) -> OnStep | None:
        """Reports the further steps of a start to the caller."""
        on_step = self.on_step
        if on_step is None:
            return None
        before = len(runs), len(Solution(tuple(runs)).agreeing) if runs else 0
        return lambda step: on_step(replace(step, start=before[0] + 1, agreeing=before[1]))


def starting_graphs(
    problem: SearchProblem, starts: Sequence[DirectedGraph] | None, n_starts: int, seed: int
) -> list[Adjacency]:
    """Start graphs that respect knowledge and limits: as given, or empty and then random."""
    if starts is not None:
        given = [graph.reordered(problem.names) for graph in starts]
    else:
        given = [DirectedGraph(problem.required, problem.names)]
        rng = np.random.default_rng(seed)
        for _ in range(n_starts - 1):
            drawn = random_graph(problem.n_variables, max_component=1, random_state=rng).adjacency
            kept = drawn & problem.allowed
            # A random start has no edge that would violate a limit on parents or edges.
            kept[:, kept.sum(axis=0) > problem.limits.max_parents] = False
            if kept.sum() > problem.limits.max_edges:
                kept[:] = False
            given.append(DirectedGraph(kept | problem.required, problem.names))
    return [_checked_start(graph, problem) for graph in given]


def _checked_start(graph: DirectedGraph, problem: SearchProblem) -> Adjacency:
    adjacency = graph.adjacency | problem.required
    for i, j in np.argwhere(adjacency & ~problem.allowed):
        raise InputError(
            f"the start graph has the edge {graph.names[i]} -> {graph.names[j]}, which the "
            "knowledge forbids"
        )
    whole = DirectedGraph(adjacency, graph.names)
    for name, value, limit in (
        ("max_component", max(map(len, whole.component_indices)), problem.limits.max_component),
        ("max_parents", int(adjacency.sum(axis=0).max()), problem.limits.max_parents),
        ("max_edges", whole.n_edges, problem.limits.max_edges),
    ):
        if value > limit:
            raise InputError(
                f"the start with the required edges violates {name}={limit}: it needs {value}; "
                "raise the limit, or omit edges"
            )
    return np.ascontiguousarray(adjacency, dtype=np.uint8)


def run_calls(
    run: Callable[..., SearchRun],
    calls: Sequence[tuple[Any, ...]],
    *,
    n_jobs: int | None,
    on_step: OnStep | None,
) -> Iterator[SearchRun]:
    """One run for each call: in this process, with its steps reported, or in other processes.

    There are fewer runs after an interrupt that requests the best graph so far.
    """
    if len(calls) == 1 or n_jobs in (None, 1):
        for call in calls:
            yield run(*call, on_step)
            if is_asked_to_stop():
                return
        return
    from joblib import Parallel, delayed

    with waiting():
        work = (delayed(run)(*call) for call in calls)
        yield from Parallel(n_jobs=n_jobs, return_as="generator")(work)
