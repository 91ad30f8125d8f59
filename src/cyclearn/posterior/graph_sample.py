"""Chains run in rounds, each making them longer by a sixth to a half, until they agree.

The first third of all steps, with few variables a fifth, is the way into the distribution and does
not count. What the rounds before have learned says which pairs the next one looks at most, and
which differences of graphs it proposes as one step; with few variables, from which components it
puts whole graphs together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle, islice
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray

from cyclearn.foundation.arrays import FloatArray, IntArray
from cyclearn.foundation.deadlines import now
from cyclearn.foundation.errors import InputError
from cyclearn.posterior.chain import ComponentMemory, GraphChain
from cyclearn.posterior.chain_record import MOST_BATCHES, Batch, ChainRecord
from cyclearn.posterior.component_search import GroupSearch
from cyclearn.posterior.graph_jumps import jumps_between, packed_jumps
from cyclearn.posterior.graph_parts import MOST_VARIABLES
from cyclearn.posterior.sample_quality import LARGEST_R_HAT, SampleQuality
from cyclearn.search.auto_search import AutoSearch
from cyclearn.search.problem import SearchProblem
from cyclearn.search.runs import Budget
from cyclearn.search.starts import SearchCall

# No more steps than these are asked of chains that agree.
_MOST_LEAST_STEPS = 100_000
# Steps at each high temperature before the first round, times the number of variables.
_HOT_STEPS = 100
# Share of the time left that the search for groups may take.
_SEARCH_SHARE = 0.1
# Steps to one graph of each chain, which show how many there is time for.
_TRIED_STEPS = 100
# Share of the time left that these may take; where a step takes long they are fewer.
_TRIED_SHARE = 0.1
# Share of the time left that the first round is made for: steps may take longer than these did, and
# what a round says about its edges takes some time as well.
_FIRST_SHARE = 0.6
# Batches of every chain without which there is nothing to return, whatever time they take.
_FEWEST_BATCHES = 12
# Share of proposals that look at any pair alike, however settled it seems.
_UNIFORM_SHARE = 0.25
# Chains that disagree after this many rounds get hotter copies.
_ROUNDS_BEFORE_TEMPERING = 14
_TEMPERATURES = (1.0, 1.5, 2.2)
# Records of more variables would take gigabytes, and steps a hundredth of a second.
_MOST_VARIABLES = 300


class _Pace(NamedTuple):
    """How fast chains get away from where they start, by what they can propose.

    ``first_steps`` are those of the first round for each chain, times the number of variables.
    Chains that all are still where the search ended agree with each other, and no edge seems open:
    so they take at least the ``least_steps``, times the number of variables; the share ``settling``
    of all steps does not count. ``n_searches`` look for graphs to start from. A round ends when a
    record has as many batches as one of the ``round_ends``; a full record is halved, and so on.
    """

    first_steps: int
    least_steps: int
    settling: float
    n_searches: int
    round_ends: tuple[int, ...]


# By small steps and jumps; and by whole graphs, which leaves any start at once.
_PACE = _Pace(1_000, 10_000, 1 / 3, 2, (48, 64, MOST_BATCHES))
_PACE_WITH_PARTS = _Pace(2_000, 5_000, 1 / 5, 1, (48, 56, 64, 80, MOST_BATCHES))


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
    counts: IntArray
    edges: FloatArray
    both: FloatArray
    quality: SampleQuality
    n_steps: int
    is_cut: bool


@dataclass(frozen=True)
class SampleSize:
    """What is wanted: graphs to keep, chains, effective size, and most steps of each chain.

    Up to twice as many graphs are kept.
    """

    n_samples: int
    n_chains: int
    effective_size: int
    max_steps: int


def check_number_of_variables(p: int) -> None:
    """Raise where there are too many variables for chains over their graphs."""
    if p > _MOST_VARIABLES:
        raise InputError(
            f"there are {p:,} variables; chains over their graphs are taken for {_MOST_VARIABLES} "
            "at most, since they keep the share of every edge in every batch: take fewer "
            "variables, or a bootstrap"
        )


def sample_graphs(
    problem: SearchProblem,
    size: SampleSize,
    *,
    costs: FloatArray,
    seed: int,
    deadline: float | None = None,
    n_jobs: int | None = None,
    on_round: Callable[[int, float, float], None] | None = None,
) -> GraphSample:
    """Sample graphs with probability proportional to exp(−NLL − λ·|E| − costs of their groups).

    ``costs`` are those of groups, by their size. ``on_round`` is called with the steps taken, the
    effective size and R̂ after every round. Of the time until a deadline, by
    :func:`deadlines.now`, searches may take half; the first round is then as short as it
    has to be.
    """
    p = problem.n_variables
    n_workers = min(effective_n_jobs(n_jobs or 1), size.n_chains)
    memories = [ComponentMemory(p) for _ in range(n_workers)]
    seeds = np.random.default_rng(seed).integers(1, 2**62, size=(2, size.n_chains)).tolist()
    half = None if deadline is None else (now() + deadline) / 2
    pace = _PACE_WITH_PARTS if p <= MOST_VARIABLES else _PACE
    least_steps = min(pace.least_steps * p, _MOST_LEAST_STEPS, size.max_steps)
    call = SearchCall(seed=seed, budget=Budget(None, half), n_starts=pace.n_searches, n_jobs=n_jobs)
    starts = _starts(problem, size.n_chains, call)
    chains = _chains(problem, memories, seeds[0], starts, costs)
    groups = GroupSearch(problem, chains, seed) if p <= MOST_VARIABLES else None
    walked = now()
    for number, chain in enumerate(chains, start=1):
        end = None
        if deadline is not None:
            # A third of what is left, in equal parts; at least the first look at the clock.
            end = walked + (deadline - walked) / 3 * number / len(chains)
        chain.wander(_HOT_STEPS * p, end)
    if groups is not None:
        end = None if deadline is None else now() + _SEARCH_SHARE * (deadline - now())
        groups.begin(chains, end)
    records = [ChainRecord(pace.settling) for _ in chains]
    # Graphs of a batch, so that the fewest batches that count have what is wanted.
    n_kept = -(-size.n_samples // (size.n_chains * pace.round_ends[0] * 2 // 3))
    stride = max(1, pace.first_steps * p // (pace.round_ends[0] * n_kept))
    if deadline is not None:
        # Fewer graphs and fewer steps between them, if these take too long; chains of one memory
        # run in turn.
        n_tried, part, tried = 0, 1, now()
        while n_tried < _TRIED_STEPS and now() - tried < _TRIED_SHARE * (deadline - tried):
            # More and more: with large components a single step may take a second.
            part = min(part, _TRIED_STEPS - n_tried)
            for chain in chains:
                chain.run(1, 1, part)
            n_tried, part = n_tried + part, 2 * part
        speed = len(chains) * n_tried / _TRIED_STEPS / max(now() - tried, 1e-9)
        in_turn = -(-size.n_chains // n_workers)
        possible = max(deadline - now(), 0.0) * _FIRST_SHARE * speed / in_turn / pace.round_ends[0]
        n_kept = max(1, min(n_kept, int(possible)))
        stride = max(1, min(stride, int(_TRIED_STEPS * possible / n_kept)))
    n_steps, n_rounds = 0, 0
    is_cut = is_tempered = False
    while True:
        n_done = len(records[0].batches)
        n_batches = min(end for end in pace.round_ends if end > n_done) - n_done
        if n_rounds and n_steps + n_batches * n_kept * stride > size.max_steps:
            break
        fewest = 0 if n_rounds else _FEWEST_BATCHES
        done = _run_round(chains, (n_batches, n_kept, stride), fewest, deadline, n_workers)
        n_whole = min(map(len, done))
        is_cut = n_whole < n_batches
        if is_cut and n_rounds:
            break
        # What was finished of a first round is all there is.
        n_steps, n_rounds = n_steps + n_whole * n_kept * stride, n_rounds + 1
        for record, batches in zip(records, done, strict=True):
            record.extend(batches[:n_whole])
        if len(records[0].batches) < n_done + n_whole:
            stride *= 2
        shares = np.array([[batch.shares[0] for batch in each.settled] for each in records])
        edges = shares.mean(axis=(0, 1))
        quality = SampleQuality.of(shares)
        r_hat, worth = quality.over(edges)
        if on_round is not None:
            on_round(n_steps, worth, r_hat)
        is_worth = r_hat <= LARGEST_R_HAT and worth >= size.effective_size
        if is_worth and n_steps >= least_steps:
            break
        is_cut = is_cut or (deadline is not None and now() > deadline)
        if is_cut:
            break
        if n_rounds >= _ROUNDS_BEFORE_TEMPERING and r_hat > LARGEST_R_HAT and not is_tempered:
            is_tempered = True
            starts = [chain.graph for chain in chains]
            before = chains
            chains = _chains(problem, memories, seeds[1], starts, costs, _TEMPERATURES)
            if groups is not None:
                groups.take_over(chains, before)
        if groups is not None:
            groups.go_on(chains, n_steps)
        _set_proposals(chains, records, edges, seed)
    both = np.mean([batch.shares[1] for each in records for batch in each.settled], axis=0)
    return _sample(_kept(records), p, edges, both, quality, n_steps, is_cut)


def _starts(problem: SearchProblem, n_chains: int, call: SearchCall) -> list[NDArray[np.uint8]]:
    """Where chains begin: what searches find."""
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
    costs: FloatArray,
    temperatures: tuple[float, ...] = (1.0,),
) -> list[GraphChain]:
    return [
        GraphChain(
            problem,
            memories[number % len(memories)],
            start,
            seed=seed,
            costs=costs,
            temperatures=temperatures,
        )
        for number, (seed, start) in enumerate(zip(seeds, starts, strict=True))
    ]


def _set_proposals(
    chains: list[GraphChain], records: list[ChainRecord], edges: FloatArray, seed: int
) -> None:
    """Let chains look most at what is open, and jump between graphs that were met."""
    jumps = packed_jumps([])
    if len(edges) > MOST_VARIABLES:
        jumps = jumps_between(_unpacked(_kept(records), len(edges)), seed=seed)
    for chain in chains:
        chain.set_proposals(_weights(edges), jumps)


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
    chains: list[GraphChain],
    size: tuple[int, int, int],
    fewest: int,
    deadline: float | None,
    n_workers: int,
) -> list[list[Batch]]:
    """Batches of every chain; chains of one memory in turn.

    ``size``: batches, graphs to keep of each, and steps from one graph to the next. When the time
    is up there are fewer batches, but not below the ``fewest``.
    """
    groups = [chains[worker::n_workers] for worker in range(n_workers)]
    # Compiled code lets go of the lock, so threads are as good as processes and share memory. On a
    # cluster, chains come back from where they were run.
    done = Parallel(n_jobs=n_workers, prefer="threads")(
        delayed(_run_in_turn)(group, size, fewest, Budget(None, deadline)) for group in groups
    )
    batches: list[list[Batch]] = [[] for _ in chains]
    for worker, (group, batches_of_group) in enumerate(done):
        chains[worker::n_workers] = group
        batches[worker::n_workers] = batches_of_group
    return batches


def _run_in_turn(
    chains: list[GraphChain], size: tuple[int, int, int], fewest: int, budget: Budget
) -> tuple[list[GraphChain], list[list[Batch]]]:
    n_batches, n_kept, stride = size
    batches: list[list[Batch]] = [[] for _ in chains]
    # One by one, so that Ctrl-C waits for one of them only, and that chains get equally far.
    for number in range(n_batches):
        if number >= fewest and budget.ended(0):
            break
        for chain, its_batches in zip(chains, batches, strict=True):
            its_batches += chain.run(1, n_kept, stride)
    return chains, batches


def _kept(records: list[ChainRecord]) -> list[bytes]:
    return [graph for record in records for batch in record.settled for graph in batch.graphs]


def _unpacked(graphs: list[bytes], p: int) -> NDArray[np.uint8]:
    packed = np.frombuffer(b"".join(graphs), dtype=np.uint8).reshape(len(graphs), -1)
    return np.unpackbits(packed, axis=1, count=p * p).reshape(-1, p, p)


def _sample(
    kept: list[bytes],
    p: int,
    edges: FloatArray,
    both: FloatArray,
    quality: SampleQuality,
    n_steps: int,
    is_cut: bool,
) -> GraphSample:
    # By count, then by edges: the order does not depend on which chain came first.
    ordered = sorted(Counter(kept).items(), key=lambda item: (-item[1], item[0]))
    graphs = _unpacked([graph for graph, _ in ordered], p)
    counts = np.array([count for _, count in ordered], dtype=np.int64)
    return GraphSample(graphs, counts, edges, both + both.T, quality, n_steps, is_cut)
