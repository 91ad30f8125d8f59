"""One Markov chain over graphs, with hotter copies of itself beside it where it would stick.

The chain visits a graph with probability proportional to exp(−NLL − λ·|E| − costs of its groups),
over the graphs that knowledge, limits and stability admit. A copy at temperature T takes the T-th
part of the exponent; neighbours on the ladder of temperatures exchange their graphs now and then
with the probability that keeps all of them right (parallel tempering).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cyclearn.foundation.arrays import FloatArray, IntArray
from cyclearn.foundation.deadlines import now
from cyclearn.posterior.chain_record import Batch
from cyclearn.posterior.graph_jumps import packed_jumps
from cyclearn.posterior.graph_parts import MOST_VARIABLES, has_room, no_groups, no_parts
from cyclearn.search.problem import SearchProblem
from cyclearn.search.runs import Adjacency

if TYPE_CHECKING:
    from cyclearn._kernels.admissible_components import Admission
    from cyclearn._kernels.assembled_graphs import Draws
    from cyclearn._kernels.balanced_moves import Jumps, PairWeights
    from cyclearn._kernels.component_scores import Scored
    from cyclearn._kernels.graph_chain import ChainRules
    from cyclearn._kernels.layered_parts import GroupsMet, Parts
    from cyclearn._kernels.proposals import Walk


# Shares of the kinds of proposals, in the order of the kernel: toggle one and both; swap parents
# and children; exchange parents and reverse a cycle; turn an edge and toggle, swap or toggle two;
# turn some of three; redraw three.
_LOCAL_KINDS = (24, 12, 6, 6, 12, 5, 12, 6, 6, 6, 5)
# Jump; or, where graphs can be put together, do that, which leads everywhere that jumps lead.
_JUMPING, _ASSEMBLING = (*_LOCAL_KINDS, 60, 0), (*_LOCAL_KINDS, 0, 12)
# Graphs that are drawn together for a chain.
_DRAWN_AT_ONCE = 1_000
# Places for components that were met; more variables make more of them.
_FEW_VARIABLES, _SMALL_TABLE, _LARGE_TABLE = 10, 1 << 18, 1 << 20
# Hot copies and searches for groups leave large components to the cold chain: fitting them would
# take most of the time.
_HOT_COMPONENT = 5
# Temperatures on the way from a start to where a chain begins.
_WANDERING = (2.0, 1.4)
# Steps until a chain that has little time first looks at the clock.
_FIRST_STEPS = 50
# Seconds between two looks, about.
_LOOKS_AT_CLOCK = 0.01


class ComponentMemory:
    """Values and verdicts of components, which chains that run one after the other share."""

    def __init__(self, n_variables: int) -> None:
        size = _SMALL_TABLE if n_variables <= _FEW_VARIABLES else _LARGE_TABLE
        self.values = np.zeros(size, dtype=np.uint64), np.empty(size)
        self.verdicts = np.zeros(size, dtype=np.uint64), np.empty(size, np.uint8)
        # The starts of ``fit``: graphs are admitted by the fits that it would find.
        self.normals = np.random.default_rng(0).standard_normal(20 * n_variables**2)


@dataclass
class _Copy:
    """A graph at one temperature: arrays that the kernel writes to."""

    A: Adjacency
    walk: Walk
    temperature: float
    max_component: int
    draws: Draws
    rules: ChainRules | None = None

    def energy(self, penalty: float) -> float:
        """The score per sample, summed afresh."""
        first, values = self.walk.first, self.walk.values
        leads = first == np.arange(len(first))
        return float(values[leads].sum()) + penalty * int(self.A.sum())


class GraphChain:
    """A chain; ``run`` takes steps, counts edges and keeps graphs.

    ``costs`` are those of components, by their size.

    Examples
    --------
    >>> from cyclearn.search.options import SearchOptions
    >>> from cyclearn.data import Moments
    >>> from cyclearn.data.reading import as_tables
    >>> tables = as_tables(Moments([[1.0, 0.5], [0.5, 1.0]], 100))
    >>> problem = SearchOptions().problem(tables)
    >>> chain = GraphChain(problem, ComponentMemory(2), np.zeros((2, 2), np.uint8), seed=1)
    >>> batch, = chain.run(n_batches=1, n_kept=10, stride=100)
    >>> bool(batch.shares[0].sum() > 0.9), len(batch.graphs)
    (True, 10)
    """

    def __init__(
        self,
        problem: SearchProblem,
        memory: ComponentMemory,
        start: Adjacency,
        *,
        seed: int,
        costs: FloatArray | None = None,
        temperatures: tuple[float, ...] = (1.0,),
    ) -> None:
        from cyclearn._kernels.admissible_components import Admission
        from cyclearn._kernels.graph_chain import ASSEMBLE
        from cyclearn._kernels.proposals import new_walk

        self._problem = problem
        self.memory = memory
        p = problem.n_variables
        self._unit = 1 / problem.tables.n_effective
        self._costs = self._unit * (np.zeros(p + 1) if costs is None else costs)
        score = problem.score()
        self._S, self._shares, self._keys = score.S, score.shares, score.Z
        self._targeted, self._pooled = score.targeted, score.pooled
        self._rng = np.random.default_rng(seed)
        self.accepted = np.zeros(ASSEMBLE + 1, dtype=np.int64)
        self.n_swaps = np.zeros((max(1, len(temperatures) - 1), 2), dtype=np.int64)
        longest = problem.max_cycle_length or p
        rules = np.array([longest, problem.stable], dtype=np.int64)
        self._admission = Admission(memory.normals, *memory.verdicts, rules)
        most = problem.limits.max_component
        largest = score.largest_component(start)
        self._copies = [
            _Copy(
                start.copy(),
                new_walk(p, int(self._rng.integers(1, 2**62))),
                temperature,
                most if temperature == 1.0 else min(most, max(_HOT_COMPONENT, largest)),
                _no_draws(p),
            )
            for temperature in temperatures
        ]
        self.parts, self.met, self._patience = no_parts(), no_groups(p), 0
        self.set_proposals(np.ones((p, p)), packed_jumps([]))
        for copy in self._copies:
            self._batches(copy, 1, 1, 0)

    @property
    def graph(self) -> Adjacency:
        """Where the chain is."""
        return self._copies[0].A

    def weigh_single(self, nodes: IntArray, parents: IntArray) -> FloatArray:
        """Log weights of single nodes with their parents, these as bits of whole numbers."""
        from cyclearn._kernels.assembled_graphs import single_values

        p = self._problem.n_variables
        values = single_values(self._scored(np.zeros((p, p), dtype=np.uint8)), nodes, parents)
        n_parents = (parents[:, None] >> np.arange(p) & 1).sum(axis=1)
        prices = self._costs[1] + self._problem.penalty * n_parents
        return np.asarray(-(values + prices) / self._unit)

    def kernel_inputs(self, met: GroupsMet) -> tuple[Scored, Admission, ChainRules]:
        """What a search for small groups needs, to note them in ``met``; the graph is room."""
        rules = self._copies[0].rules
        if rules is None:
            raise AssertionError("a round begins by making the rules")
        largest = min(_HOT_COMPONENT, self._copies[0].max_component)
        limits = np.array([largest, *rules.limits[1:]])
        rules = rules._replace(limits=limits, parts=self.parts, met=met)
        return self._scored(np.zeros_like(self.graph)), self._admission, rules

    def set_proposals(self, weights: FloatArray, jumps: Jumps) -> None:
        """Say how often pairs of nodes are looked at, by symmetric weights, and what to jump."""
        from cyclearn._kernels.balanced_moves import PairWeights

        weights = np.where(np.eye(len(weights), dtype=bool), 0.0, weights)
        pairs, rows = weights.ravel().cumsum(), weights.cumsum(axis=1)
        pair_weights = PairWeights(pairs / pairs[-1], rows / rows[:, -1:])
        for copy in self._copies:
            copy.rules = self._rules(copy, pair_weights, jumps)
        self._set_kinds()

    def assemble_from(self, parts: Parts, patience: int = 0) -> None:
        """Propose whole graphs too, put together from parts.

        Not in hot copies, since parts have the weights of the chain itself. A chain that has been
        outside of parts for more steps than its ``patience`` goes on from a graph drawn from them;
        zero: it may be there as long as it likes, as it may where there is no room for more parts.
        """
        self.parts = parts
        self._patience = patience if has_room(parts, self.met) else 0
        # What was drawn was drawn from other parts.
        draws = self._copies[0].draws
        draws.n_used[0] = len(draws.columns)
        for copy in self._copies:
            if copy.rules is not None:
                copy.rules = copy.rules._replace(parts=self.parts)
        self._set_kinds()

    def _set_kinds(self) -> None:
        cold = self._copies[0]
        if cold.rules is not None and len(self.parts.sets):
            kinds = _cumulative(_ASSEMBLING)
            cold.rules = cold.rules._replace(kinds=kinds, patience=self._patience)

    def wander(
        self,
        n_steps: int,
        end: float | None = None,
        temperatures: tuple[float, ...] = _WANDERING,
    ) -> None:
        """Walk away from the start at high temperatures, as many steps at each, and cool down.

        With an ``end`` (by :func:`deadlines.now`) there are as few steps as it takes, and
        no components that take long to fit.
        """
        cold = self._copies[0]
        n_taken = 0
        rules = cold.rules and cold.rules._replace(kinds=_cumulative(_JUMPING), patience=0)
        if end is not None and rules is not None:
            largest = max(_HOT_COMPONENT, int(np.bincount(cold.walk.first).max()))
            most = np.array([min(largest, cold.max_component), *rules.limits[1:]])
            rules = rules._replace(limits=most)
        for number, temperature in enumerate(temperatures, start=1):
            hot = replace(cold, temperature=temperature, rules=rules)
            part = n_steps if end is None else min(n_steps, _FIRST_STEPS)
            while part and n_taken < number * n_steps:
                part = min(part, number * n_steps - n_taken)
                begun = now()
                self._batches(hot, 1, 1, part)
                n_taken += part
                if end is not None:
                    is_quick = now() - begun < _LOOKS_AT_CLOCK
                    part = 0 if now() > end else 2 * part if is_quick else -(-part // 2)

    def run(self, n_batches: int, n_kept: int, stride: int) -> list[Batch]:
        """Take steps in batches, of each of which as many graphs are kept.

        From one graph that is kept to the next are ``stride`` steps; then neighbouring temperatures
        exchange their graphs.
        """
        cold, *hot = self._copies
        if not hot:
            occupancy, graphs = self._batches(cold, n_batches, n_kept, stride)
        else:
            parts = [self._tempered(cold, hot, stride) for _ in range(n_batches * n_kept)]
            p = self._problem.n_variables
            occupancy = np.array([each[0] for each in parts])
            occupancy = occupancy.reshape(n_batches, n_kept, 2, p, p).sum(axis=1)
            graphs = np.concatenate([each[1] for each in parts])
        packed = np.packbits(graphs.reshape(n_batches * n_kept, -1), axis=1)
        return [
            Batch(counts / (n_kept * stride), [bits.tobytes() for bits in kept])
            for counts, kept in zip(occupancy, np.split(packed, n_batches), strict=True)
        ]

    def _tempered(
        self, cold: _Copy, hot: list[_Copy], stride: int
    ) -> tuple[IntArray, NDArray[np.uint8]]:
        occupancy, graphs = self._batches(cold, 1, 1, stride)
        for copy in hot:
            self._batches(copy, 1, 1, stride)
        self._exchange_graphs()
        return occupancy[0], graphs

    def _exchange_graphs(self) -> None:
        penalty = self._problem.penalty
        for rung in range(len(self._copies) - 1):
            cold, hot = self._copies[rung : rung + 2]
            gain = cold.energy(penalty) - hot.energy(penalty)
            pressure = (1 / cold.temperature - 1 / hot.temperature) * gain / self._unit
            draw = np.log(self._rng.random())
            self.n_swaps[rung, 1] += 1
            sizes = np.bincount(cold.walk.first)
            if draw >= pressure or sizes.max() > hot.max_component:
                continue
            self.n_swaps[rung, 0] += 1
            arrays = (
                (cold.A, hot.A),
                (cold.walk.first, hot.walk.first),
                (cold.walk.values, hot.walk.values),
            )
            for mine, theirs in arrays:
                kept = mine.copy()
                mine[...] = theirs
                theirs[...] = kept

    def _batches(
        self, copy: _Copy, n_batches: int, n_kept: int, stride: int
    ) -> tuple[IntArray, NDArray[np.uint8]]:
        """Steps that each edge was there, by batch, and the graphs that were kept."""
        from cyclearn._kernels.graph_chain import run_chain

        p = self._problem.n_variables
        occupancy = np.zeros((n_batches, 2, p, p), dtype=np.int64)
        graphs = np.empty((n_batches * n_kept, p, p), dtype=np.uint8)
        if copy.rules is None:
            raise AssertionError("a round begins by making the rules")
        run_chain(
            self._scored(copy.A),
            copy.walk,
            self._admission,
            copy.rules,
            copy.temperature * self._unit,
            stride,
            occupancy,
            graphs,
            self.accepted,
        )
        return occupancy, graphs

    def _scored(self, A: Adjacency) -> Scored:
        from cyclearn._kernels.component_scores import Scored

        return Scored(
            self._S,
            self._shares,
            self._targeted,
            self._pooled,
            A,
            self._keys,
            *self.memory.values,
            np.zeros(1, dtype=np.int64),
        )

    def _rules(self, copy: _Copy, weights: PairWeights, jumps: Jumps) -> ChainRules:
        from cyclearn._kernels.graph_chain import ChainRules

        problem = self._problem
        limits = [copy.max_component, problem.limits.max_parents, problem.limits.max_edges]
        return ChainRules(
            problem.allowed.astype(np.uint8),
            (~problem.required).astype(np.uint8),
            np.array(limits, dtype=np.int64),
            weights,
            jumps,
            self.parts,
            self.met,
            copy.draws,
            0,
            _cumulative(_JUMPING),
            problem.penalty,
            self._costs,
            self._unit,
        )


def _no_draws(p: int) -> Draws:
    from cyclearn._kernels.assembled_graphs import Draws

    n = _DRAWN_AT_ONCE if p <= MOST_VARIABLES else 0
    none = np.zeros(1, dtype=np.int64)
    return Draws(np.zeros((n, p), dtype=np.int64), np.array([n]), none)


def _cumulative(shares: tuple[int, ...]) -> FloatArray:
    return np.cumsum(shares) / sum(shares)
