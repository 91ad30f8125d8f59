"""Chains run in rounds until they agree.

In a round the proposals of all chains are fixed, and the round is a valid sample. It determines the
proposals of the next round, which is twice as long, and only the last round is used. A round that
is nearly good enough continues instead. If probabilities are means over resamples of the data,
every batch of a chain has a different resample, so that agreement and effective size include the
variation between chains and between resamples.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import cycle, islice
from time import perf_counter

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray

from cyclearn.foundation.arrays import FloatArray, IntArray
from cyclearn.foundation.deadlines import now
from cyclearn.foundation.errors import InputError
from cyclearn.posterior.chain import ComponentMemory, GraphChain
from cyclearn.posterior.chain_record import Batch, ChainRecord
from cyclearn.posterior.graph_parts import PartsList
from cyclearn.posterior.learned_proposals import Proposals
from cyclearn.posterior.sample_quality import LARGEST_R_HAT, SampleQuality
from cyclearn.posterior.sampler_effort import EFFORT
from cyclearn.search.auto_search import AutoSearch
from cyclearn.search.problem import SearchProblem
from cyclearn.search.progress import OnProgress, Progress
from cyclearn.search.runs import Budget
from cyclearn.search.starts import SearchCall

# The problem for the resample with a given number.
Resamples = Callable[[int], SearchProblem]

# With more variables, records would take gigabytes, and a step a hundredth of a second.
_LARGEST_PROBLEM = 300


@dataclass(frozen=True, eq=False)
class GraphSample:
    """Sampled graphs, and the share of steps with each edge.

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
        Whether the time limit ended the chains before they agreed.
    n_resamples : int
        Number of resamples over which shares are averaged; 0 without resamples.
    """

    graphs: NDArray[np.uint8]
    counts: IntArray
    edges: FloatArray
    both: FloatArray
    quality: SampleQuality
    n_steps: int
    is_cut: bool
    n_resamples: int


@dataclass(frozen=True)
class SampleSize:
    """The goal: graphs to keep, chains, effective size, and maximum steps of each chain.

    Up to twice as many graphs are kept.
    """

    n_samples: int
    n_chains: int
    effective_size: int
    max_steps: int


def check_number_of_variables(p: int) -> None:
    """Raise if there are too many variables for chains over graphs."""
    if p > _LARGEST_PROBLEM:
        raise InputError(
            f"there are {p:,} variables, more than the maximum of {_LARGEST_PROBLEM} for a "
            "posterior (memory grows with the number of pairs): use fewer variables, or a "
            "bootstrap"
        )


@dataclass
class _Round:
    """Steps of all chains with the same proposals.

    A batch of a chain keeps ``n_kept`` graphs, ``stride`` steps apart. With ``resamples`` each
    batch has its own resample of the data, and begins with steps that are discarded.
    """

    n_kept: int
    stride: int
    records: list[ChainRecord]
    resamples: Resamples | None = None
    n_batches: int = 0
    n_steps: int = 0

    @classmethod
    def of(cls, size: SampleSize, batch_steps: int, resamples: Resamples | None = None) -> _Round:
        """A round without any steps so far."""
        n_kept = min(batch_steps, -(-size.n_samples // (size.n_chains * EFFORT.n_batches)))
        if resamples is not None:
            # In halves.
            n_kept = max(2, n_kept - n_kept % 2)
        records = [ChainRecord() for _ in range(size.n_chains)]
        return cls(n_kept, max(1, batch_steps // n_kept), records, resamples)

    @property
    def batch_steps(self) -> int:
        """Number of recorded steps of a batch."""
        return self.n_kept * self.stride

    @property
    def forgotten_steps(self) -> int:
        """Number of discarded steps of a batch."""
        return 0 if self.resamples is None else int(EFFORT.forgetting_share * self.batch_steps)

    @property
    def next_steps(self) -> int:
        """Number of steps until chains are compared again."""
        return EFFORT.n_compared * (self.batch_steps + self.forgotten_steps)

    @property
    def is_whole(self) -> bool:
        """Whether it is long enough for the next round to learn from it."""
        return len(self.records[0].batches) >= EFFORT.n_batches

    def add(self, done: list[list[Batch]]) -> int:
        """Add as many batches of all chains as every chain has; return their steps."""
        n_whole, n_before = min(map(len, done)), len(self.records[0].batches)
        n_steps = n_whole * (self.batch_steps + self.forgotten_steps)
        self.n_steps += n_steps
        self.n_batches += n_whole
        for record, batches in zip(self.records, done, strict=True):
            record.extend(batches[:n_whole])
        if len(self.records[0].batches) < n_before + n_whole:
            self.stride *= 2
        return n_steps

    @property
    def _shares(self) -> FloatArray:
        """Share of steps with each edge, by chain and batch."""
        return np.array([[batch.shares for batch in each.even] for each in self.records])

    @property
    def edges(self) -> FloatArray:
        """Edge probabilities."""
        return np.asarray(self._shares[:, :, 0].mean(axis=(0, 1)))

    @property
    def quality(self) -> SampleQuality:
        """Their quality; chains that drift do not agree."""
        found = SampleQuality.of(self._shares[:, :, 0])
        return replace(found, r_hat=np.full_like(found.r_hat, np.inf)) if self.drifts else found

    def progress(self, size: SampleSize) -> float:
        """The share of the requested sample that is complete; zero if chains disagree.

        Chains that have not left the result of the search agree with each other, and no edge seems
        uncertain: so without resamples they take a minimum number of steps.
        """
        r_hat, worth = self.quality.over(self.edges)
        least = min(EFFORT.least_steps * len(self.edges), size.max_steps)
        if self.resamples is not None:
            least = 1
        shares = worth / size.effective_size, self.n_steps / least
        return min(shares) if r_hat <= LARGEST_R_HAT else 0.0

    @property
    def drifts(self) -> bool:
        """Whether chains still depend on their start in each resample.

        Edges are then systematically more, or less, frequent in the second half of a batch than in
        the first.
        """
        if self.resamples is None:
            return False
        along = np.array([batch.drift for each in self.records for batch in each.even])
        error = along.std(axis=0, ddof=1) / np.sqrt(len(along))
        mean = np.abs(along.mean(axis=0))
        return bool(((mean > EFFORT.largest_drift) & (mean > 4 * error)).any())

    @property
    def graphs(self) -> NDArray[np.uint8]:
        """The graphs that were kept, shape (n, p, p)."""
        return _unpacked(self._kept, self.records[0].batches[0].shares.shape[-1])

    @property
    def _kept(self) -> list[bytes]:
        return [graph for each in self.records for batch in each.even for graph in batch.graphs]

    def sample(self, n_samples: int, n_steps: int, is_cut: bool) -> GraphSample:
        """The sample of the round."""
        both = self._shares[:, :, 1].mean(axis=(0, 1))
        kept = self._kept[:: max(1, len(self._kept) // n_samples)]
        # By count, then by edges, so that the order does not depend on the order of the chains.
        ordered = sorted(Counter(kept).items(), key=lambda item: (-item[1], item[0]))
        graphs = _unpacked([graph for graph, _ in ordered], len(both))
        counts = np.array([count for _, count in ordered], dtype=np.int64)
        n_resamples = 0 if self.resamples is None else self.n_batches * len(self.records)
        return GraphSample(
            graphs, counts, self.edges, both + both.T, self.quality, n_steps, is_cut, n_resamples
        )


@dataclass
class _Sampling:
    """Chains that run until the requested sample is reached."""

    chains: list[GraphChain]
    parts: PartsList | None
    seed: int
    deadline: float | None
    n_workers: int
    on_progress: OnProgress | None
    n_steps: int = 0
    begun: float = field(default_factory=perf_counter)

    def run(self, current: _Round, size: SampleSize) -> tuple[_Round, bool]:
        """The final round, and whether the time limit cut it short."""
        counted = current
        while True:
            self.n_steps += current.add(_run(self.chains, current, self.deadline, self.n_workers))
            if current.n_steps >= counted.n_steps:
                counted = current
            r_hat, worth = counted.quality.over(counted.edges)
            if self.on_progress is not None:
                told = Progress("posterior", perf_counter() - self.begun, r_hat=r_hat)
                wanted = size.effective_size
                self.on_progress(replace(told, done=worth, wanted=wanted, steps=self.n_steps))
            progress = counted.progress(size)
            is_cut = self.deadline is not None and now() > self.deadline and progress < 1
            n_left = size.max_steps - self.n_steps
            if progress >= 1 or is_cut or current.next_steps > n_left:
                return counted, is_cut
            # Continue this round if completing it takes no longer than the next one, or if there is
            # no time for that.
            longer = _Round.of(size, EFFORT.growth * current.batch_steps, current.resamples)
            is_near = progress >= 1 / (1 + EFFORT.growth)
            if current.is_whole and not is_near and 2 * longer.next_steps <= n_left:
                self.learn(current, longer)
                current = longer

    def learn(self, seen: _Round, following: _Round) -> None:
        """Set the proposals of all chains for the following round from the last one."""
        if self.parts is not None:
            self.parts.learn([chain.met for chain in self.chains])
        most = None
        if following.resamples is not None:
            most = EFFORT.loops_a_step * following.batch_steps
        proposals = Proposals.learned(
            seen.edges, seen.graphs, self.parts, most_loops=most, seed=self.seed
        )
        for chain in self.chains:
            chain.propose(proposals)


def sample_graphs(
    problem: SearchProblem,
    size: SampleSize,
    *,
    costs: FloatArray,
    seed: int,
    resamples: Resamples | None = None,
    deadline: float | None = None,
    n_jobs: int | None = None,
    on_progress: OnProgress | None = None,
) -> GraphSample:
    """Sample graphs with probability ∝ exp(−NLL − λ·|E| − costs of their feedback loops).

    ``costs`` are those of components, by their size. With ``resamples`` the probabilities are means
    over those given each of them. ``on_progress`` is called whenever chains are compared. Only the
    first batches begin after a deadline, by :func:`deadlines.now`.
    """
    n_workers = min(effective_n_jobs(n_jobs or 1), size.n_chains)
    chains = _start(problem, size, costs, seed, deadline, n_jobs, n_workers)
    is_small = problem.n_variables <= EFFORT.most_assembled
    parts = PartsList(problem, chains[0].weigh) if is_small else None
    sampling = _Sampling(chains, parts, seed, deadline, n_workers, on_progress)
    first = _Round.of(size, batch_steps=1)
    if resamples is None:
        counted, is_cut = sampling.run(first, size)
    else:
        most = max(1, int(EFFORT.learning_share * size.max_steps))
        enough = min(EFFORT.learning_size, size.effective_size)
        seen, was_cut = sampling.run(first, replace(size, effective_size=enough, max_steps=most))
        n_left = size.max_steps - sampling.n_steps
        steps = 2 if was_cut else _steps_a_resample(seen, n_left)
        resampled = _Round.of(size, steps, resamples)
        sampling.learn(seen, resampled)
        counted, is_cut = sampling.run(resampled, size)
        # With too few steps for an edge to change, no edge is uncertain.
        is_cut = is_cut or was_cut
    return counted.sample(size.n_samples, sampling.n_steps, is_cut)


def _steps_a_resample(seen: _Round, n_left: int) -> int:
    """Steps per resample, from the autocorrelation of the chains."""
    _, worth = seen.quality.over(seen.edges)
    an_independent_graph = seen.n_steps * len(seen.records) / worth
    p = len(seen.edges)
    wanted = min(int(EFFORT.resample_length * an_independent_graph), EFFORT.resample_steps * p)
    room = int(n_left / (EFFORT.n_batches * (1 + EFFORT.forgetting_share)))
    return min(max(wanted, p**2), max(room, 2))


def _start(
    problem: SearchProblem,
    size: SampleSize,
    costs: FloatArray,
    seed: int,
    deadline: float | None,
    n_jobs: int | None,
    n_workers: int,
) -> list[GraphChain]:
    """Chains near the result of a search, which may take half of the time before a deadline."""
    half = None if deadline is None else (now() + deadline) / 2
    call = SearchCall(seed=seed, budget=Budget(None, half), n_starts=1, n_jobs=n_jobs)
    solution = AutoSearch().solve(problem, call)
    if not np.isfinite(solution.best.score):
        raise InputError(
            "no stable graph that respects the knowledge and the limits was found; use "
            "stable=False to allow unstable graphs"
        )
    found = [run.best for run in solution.runs if np.isfinite(run.score)]
    starts = list(islice(cycle(found), size.n_chains))
    seeds = np.random.default_rng(seed).integers(1, 2**62, size=size.n_chains).tolist()
    memories = [ComponentMemory(problem.n_variables) for _ in range(n_workers)]
    chains = [
        GraphChain(problem, memories[k % n_workers], start, seed=its_seed, costs=costs)
        for k, (its_seed, start) in enumerate(zip(seeds, starts, strict=True))
    ]
    end = None if deadline is None else (now() + deadline) / 2
    for chain in chains:
        chain.wander(size.max_steps, end)
    return chains


def _run(
    chains: list[GraphChain], current: _Round, deadline: float | None, n_workers: int
) -> list[list[Batch]]:
    """The next batches of every chain; chains that share memory run in turn.

    After the deadline there are fewer batches, but at least some of a first round.
    """
    shares = [range(worker, len(chains), n_workers) for worker in range(n_workers)]
    is_first = current.n_steps == 0 and (current.batch_steps == 1 or current.resamples is not None)
    fewest = EFFORT.fewest_batches if is_first else 0
    # Compiled code releases the global lock, so threads are as fast as processes and share memory.
    # On a cluster, chains are returned from where they ran.
    done = Parallel(n_jobs=n_workers, prefer="threads")(
        delayed(_run_in_turn)(
            [chains[k] for k in share],
            replace(current, records=[]),
            [current.n_batches * len(chains) + k for k in share],
            len(chains),
            fewest,
            Budget(None, deadline),
        )
        for share in shares
    )
    batches: list[list[Batch]] = [[] for _ in chains]
    for share, (its_chains, its_batches) in zip(shares, done, strict=True):
        for k, chain, its in zip(share, its_chains, its_batches, strict=True):
            chains[k], batches[k] = chain, its
    return batches


def _run_in_turn(
    chains: list[GraphChain],
    current: _Round,
    numbers: list[int],
    step: int,
    fewest: int,
    budget: Budget,
) -> tuple[list[GraphChain], list[list[Batch]]]:
    """Batches of some chains; ``numbers`` are their next resamples, ``step`` apart."""
    batches: list[list[Batch]] = [[] for _ in chains]
    # One by one, so that Ctrl-C waits for only one of them, and chains advance equally.
    for turn in range(EFFORT.n_compared):
        if turn >= fewest and budget.ended(0):
            break
        for chain, number, its in zip(chains, numbers, batches, strict=True):
            if current.resamples is None:
                its += chain.run(1, current.n_kept, current.stride)
            else:
                chain.see(current.resamples(number + turn * step))
                chain.run(1, 1, current.forgotten_steps)
                halves = chain.run(2, current.n_kept // 2, current.stride)
                its.append(Batch.of_halves(*halves))
    return chains, batches


def _unpacked(graphs: list[bytes], p: int) -> NDArray[np.uint8]:
    packed = np.frombuffer(b"".join(graphs), dtype=np.uint8).reshape(len(graphs), -1)
    return np.unpackbits(packed, axis=1, count=p * p).reshape(-1, p, p)
