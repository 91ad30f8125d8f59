"""Chains run in rounds, each twice as long as the last, until they agree.

Only the last round counts: all before it, half of all steps, is the way into the distribution. What
a round has learned about the edges says which pairs the next looks at most. A round keeps as many
graphs as any other, however long it is, so memory does not grow with the number of steps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle, islice
from time import monotonic

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray

from cyclearn.errors import InputError
from cyclearn.learning.graph_chain import ComponentMemory, GraphChain
from cyclearn.learning.sample_quality import LARGEST_R_HAT, SampleQuality
from cyclearn.search.auto_search import AutoSearch
from cyclearn.search.problem import SearchProblem
from cyclearn.search.runs import Budget
from cyclearn.search.starts import SearchCall

FloatArray = NDArray[np.float64]

# Steps of the first round for each chain, times the number of variables.
_FIRST_STEPS = 1_000
_N_BATCHES = 50
# Share of proposals that look at any pair alike, however settled it seems.
_UNIFORM_SHARE = 0.25
# Chains that disagree after this many rounds get hotter copies.
_ROUNDS_BEFORE_TEMPERING = 4
_TEMPERATURES = (1.0, 1.5, 2.2)


@dataclass(frozen=True, eq=False)
class GraphSample:
    """Graphs drawn, and the time that edges were there.

    Attributes
    ----------
    graphs : uint8 array of shape (n, p, p)
        The distinct graphs, the most frequent first.
    counts : int array of shape (n,)
    edges, both : arrays of shape (p, p)
        Share of the steps with i → j; with both i → j and j → i.
    quality : SampleQuality
    n_steps : int
        Steps of each chain in all rounds together.
    is_cut : bool
        Whether the time limit came before the chains agreed.
    """

    graphs: NDArray[np.uint8]
    counts: NDArray[np.int64]
    edges: FloatArray
    both: FloatArray
    quality: SampleQuality
    n_steps: int
    is_cut: bool


@dataclass(frozen=True)
class SampleSize:
    """What is wanted: graphs to keep, chains, effective size, and most steps of each chain.

    Graphs are kept in multiples of 50 for each chain.
    """

    n_samples: int
    n_chains: int
    effective_size: int
    max_steps: int


@dataclass(frozen=True, eq=False)
class _Round:
    """What one chain did: graphs kept, shares of time by batch, shape (batches, 2, p, p)."""

    graphs: list[bytes]
    batches: FloatArray


def sample_graphs(
    problem: SearchProblem,
    size: SampleSize,
    *,
    seed: int,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    on_round: Callable[[int, float, float], None] | None = None,
) -> GraphSample:
    """Sample graphs with probability proportional to exp(−NLL − λ·|E|).

    ``on_round`` is called with the steps taken, the effective size and R̂ after every round.
    """
    deadline = None if time_limit is None else monotonic() + time_limit
    p = problem.n_variables
    n_workers = min(effective_n_jobs(n_jobs or 1), size.n_chains)
    memories = [ComponentMemory(p) for _ in range(n_workers)]
    seeds = np.random.default_rng(seed).integers(1, 2**62, size=(2, size.n_chains)).tolist()
    starts = _starts(problem, size.n_chains, seed, deadline, n_jobs)
    chains = _chains(problem, memories, seeds[0], starts)
    n_steps, n_rounds, length = 0, 0, max(_FIRST_STEPS * p, 4 * _N_BATCHES)
    is_tempered = False
    while True:
        # The first round is short, and without it there is nothing to return.
        rounds = _run_round(chains, length, size, deadline if n_rounds else None, n_workers)
        if rounds is not None:
            n_steps, n_rounds, found = n_steps + length, n_rounds + 1, rounds
            batches = np.stack([each.batches for each in found])
            edges = batches[:, :, 0].mean(axis=(0, 1))
            quality = SampleQuality.of(batches[:, :, 0])
            r_hat, worth = quality.over(edges)
            if on_round is not None:
                on_round(n_steps, worth, r_hat)
            if r_hat <= LARGEST_R_HAT and worth >= size.effective_size:
                break
        if rounds is None or n_steps + 2 * length > size.max_steps:
            break
        if n_rounds >= _ROUNDS_BEFORE_TEMPERING and r_hat > LARGEST_R_HAT and not is_tempered:
            is_tempered = True
            starts = [chain.graph for chain in chains]
            chains = _chains(problem, memories, seeds[1], starts, _TEMPERATURES)
        for chain in chains:
            chain.set_weights(_weights(edges))
        length *= 2
    both = batches[:, :, 1].mean(axis=(0, 1))
    return _sample(found, p, edges, both, quality, n_steps, rounds is None)


def _starts(
    problem: SearchProblem, n_chains: int, seed: int, deadline: float | None, n_jobs: int | None
) -> list[NDArray[np.uint8]]:
    """Where chains begin: a search of its own for each."""
    call = SearchCall(seed=seed, budget=Budget(None, deadline), n_starts=n_chains, n_jobs=n_jobs)
    solution = AutoSearch().solve(problem, call)
    if not np.isfinite(solution.best.score):
        raise InputError(
            "no stable structure that keeps to the knowledge and the limits was found; allow "
            "unstable ones with stable=False"
        )
    # With a time limit there may be fewer searches than chains, and some without an admitted graph.
    found = [run.best for run in solution.runs if np.isfinite(run.score)]
    return list(islice(cycle(found), n_chains))


def _chains(
    problem: SearchProblem,
    memories: list[ComponentMemory],
    seeds: list[int],
    starts: list[NDArray[np.uint8]],
    temperatures: tuple[float, ...] = (1.0,),
) -> list[GraphChain]:
    return [
        GraphChain(
            problem,
            memories[number % len(memories)],
            start,
            seed=seed,
            temperatures=temperatures,
        )
        for number, (seed, start) in enumerate(zip(seeds, starts, strict=True))
    ]


def _weights(edges: FloatArray) -> FloatArray:
    """Pairs of which least is settled are looked at most."""
    p = len(edges)
    open_ = edges * (1 - edges)
    open_ = open_ + open_.T
    alike = np.full((p, p), 1 / (p * (p - 1)))
    if open_.sum() == 0:
        return alike
    return np.asarray(_UNIFORM_SHARE * alike + (1 - _UNIFORM_SHARE) * open_ / open_.sum())


def _run_round(
    chains: list[GraphChain], length: int, size: SampleSize, deadline: float | None, n_workers: int
) -> list[_Round] | None:
    """One round of every chain, or None when the time was up; chains of one memory in turn."""
    groups = [chains[worker::n_workers] for worker in range(n_workers)]
    # Compiled code lets go of the lock, so threads are as good as processes and share memory.
    done = Parallel(n_jobs=n_workers, require="sharedmem")(
        delayed(_run_in_turn)(group, length, size, deadline) for group in groups
    )
    if any(each is None for group in done for each in group):
        return None
    return [done[number % n_workers][number // n_workers] for number in range(len(chains))]


def _run_in_turn(
    chains: list[GraphChain], length: int, size: SampleSize, deadline: float | None
) -> list[_Round | None]:
    return [
        _run_chain(chain, length, size.n_samples // size.n_chains, deadline) for chain in chains
    ]


def _run_chain(
    chain: GraphChain, length: int, n_kept: int, deadline: float | None
) -> _Round | None:
    p = len(chain.graph)
    a_batch = max(1, n_kept // _N_BATCHES)
    n_blocks = _N_BATCHES * a_batch
    occupancy = np.zeros((_N_BATCHES, 2, p, p), dtype=np.int64)
    graphs = []
    n_steps = max(1, length // n_blocks)
    for block in range(n_blocks):
        if deadline is not None and monotonic() > deadline:
            return None
        occupancy[block // a_batch] += chain.run(n_steps)
        graphs.append(np.packbits(chain.graph).tobytes())
    return _Round(graphs, occupancy / (a_batch * n_steps))


def _sample(
    rounds: list[_Round],
    p: int,
    edges: FloatArray,
    both: FloatArray,
    quality: SampleQuality,
    n_steps: int,
    is_cut: bool,
) -> GraphSample:
    counted = Counter(graph for each in rounds for graph in each.graphs)
    # By count, then by edges: the order does not depend on which chain came first.
    ordered = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    packed = np.array([np.frombuffer(graph, dtype=np.uint8) for graph, _ in ordered])
    graphs = np.unpackbits(packed, axis=1, count=p * p).reshape(-1, p, p)
    counts = np.array([count for _, count in ordered], dtype=np.int64)
    return GraphSample(graphs, counts, edges, both + both.T, quality, n_steps, is_cut)
