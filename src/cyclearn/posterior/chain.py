"""One Markov chain over graphs.

The chain visits a graph with probability proportional to exp(−NLL − λ·|E| − costs of its feedback
loops), over the graphs that knowledge, limits and stability admit. How it proposes the next graph
is fixed while it runs; between runs it may receive what other chains have learned, and continue
with other data.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cyclearn.foundation.arrays import FloatArray, IntArray
from cyclearn.foundation.deadlines import now
from cyclearn.posterior.chain_record import Batch
from cyclearn.posterior.graph_parts import no_loops, weighed
from cyclearn.posterior.learned_proposals import Proposals
from cyclearn.posterior.sampler_effort import EFFORT
from cyclearn.search.problem import SearchProblem
from cyclearn.search.runs import Adjacency
from cyclearn.search.score import GraphScore

if TYPE_CHECKING:
    from cyclearn._kernels.component_scores import Scored
    from cyclearn._kernels.graph_chain import ChainRules


class ComponentMemory:
    """Values of components, shared by chains that run one after the other."""

    def __init__(self, n_variables: int) -> None:
        self._n_variables, size = n_variables, EFFORT.component_places
        self.values = np.zeros(size, dtype=np.uint64), np.empty(size)
        self.verdicts = np.zeros(size, dtype=np.uint64), np.empty(size, np.uint8)
        # The starts of ``fit``, so that admissibility is decided by the fits that it would find.
        self.normals = np.random.default_rng(0).standard_normal(20 * n_variables**2)

    def __reduce__(self) -> tuple[type[ComponentMemory], tuple[int]]:
        # Not sent to other machines: that would take longer than computing it again.
        return ComponentMemory, (self._n_variables,)


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
    ) -> None:
        from cyclearn._kernels.admissible_components import Admission
        from cyclearn._kernels.graph_chain import ASSEMBLE, enter
        from cyclearn._kernels.proposals import new_walk

        score = self._score_by(problem)
        self.memory = memory
        p = problem.n_variables
        self._unit = 1 / problem.tables.n_effective
        self._costs = self._unit * (np.zeros(p + 1) if costs is None else costs)
        self.accepted = np.zeros(ASSEMBLE + 1, dtype=np.int64)
        rules = np.array([(problem.max_cycle_length or p), problem.stable], dtype=np.int64)
        data = self._S, self._shares, self._targeted, self._pooled
        self._admission = Admission(*data, memory.normals, *memory.verdicts, rules)
        self._largest = score.largest_component(start)
        self.graph = start.copy()
        self._walk = new_walk(p, seed)
        self.propose(Proposals.alike(p))
        enter(self._scored(), self._walk, self._rules)

    def propose(self, proposals: Proposals) -> None:
        """Set the proposals for the next steps, and clear the loops noted so far."""
        self.proposals = proposals
        self.met = no_loops(self._problem.n_variables)
        self._rules = self._rules_at(1.0)

    def see(self, problem: SearchProblem) -> None:
        """Continue with other data for the same problem.

        The first data still decide which graphs are admissible, so that the chain is at one of
        them. If graphs are assembled, it starts at one assembled for these data.
        """
        from cyclearn._kernels.assembled_graphs import draw_graph
        from cyclearn._kernels.graph_chain import enter

        self._score_by(problem)
        self.memory.values[0][:] = 0
        if len(self.proposals.parts.sets):
            parts = weighed(self.proposals.parts, self.weigh)
            self.proposals = replace(self.proposals, parts=parts)
            columns = np.zeros(problem.n_variables, dtype=np.int64)
            draw_graph(self._walk.state, parts, columns)
            graph = (columns >> np.arange(len(columns))[:, None] & 1).astype(np.uint8)
            if graph.sum() <= problem.limits.max_edges:
                self.graph = graph
        self._rules = self._rules_at(1.0)
        enter(self._scored(), self._walk, self._rules)

    def _score_by(self, problem: SearchProblem) -> GraphScore:
        """Use a problem's data, without the memory of its score, which need not be sent along."""
        self._problem, score = problem, problem.score()
        self._S, self._shares, self._keys = score.S, score.shares, score.Z
        self._targeted, self._pooled = score.targeted, score.pooled
        return score

    def weigh(self, sets: IntArray, columns: IntArray) -> FloatArray:
        """Log weights of components, given by their nodes and the parents of every node as bits."""
        from cyclearn._kernels.assembled_graphs import part_values

        p = self._problem.n_variables
        room = self._scored()._replace(A=np.zeros((p, p), dtype=np.uint8))
        values = part_values(room, sets, columns)
        prices = self._costs[np.bitwise_count(sets)]
        prices = prices + self._problem.penalty * np.bitwise_count(columns).sum(axis=1)
        return np.asarray(-(values + prices) / self._unit)

    def wander(self, max_steps: int, end: float | None = None) -> None:
        """Cool down from high temperatures several times; stop at the ``end``.

        This takes at most a fifth of the permitted steps, or one cycle of temperatures.
        """
        p, temperatures = self._problem.n_variables, EFFORT.warm_temperatures
        if p <= EFFORT.most_assembled:
            temperatures = EFFORT.hot_temperatures
            a_turn = len(temperatures) * EFFORT.hot_steps * p
            is_plain = self._problem.experiments is None
            n_turns = EFFORT.hot_turns if is_plain else EFFORT.intervened_turns
            temperatures *= min(max(max_steps // (5 * a_turn), 1), n_turns)
        for temperature in temperatures:
            if end is None or now() < end:
                self._rules = self._rules_at(temperature)
                self._take(1, 1, EFFORT.hot_steps * p, temperature)
        self._rules = self._rules_at(1.0)

    def run(self, n_batches: int, n_kept: int, stride: int) -> list[Batch]:
        """Take steps in batches, and keep the same number of graphs from each.

        Kept graphs are ``stride`` steps apart.
        """
        occupancy, graphs = self._take(n_batches, n_kept, stride)
        packed = np.packbits(graphs.reshape(n_batches * n_kept, -1), axis=1)
        return [
            Batch(counts / (n_kept * stride), [bits.tobytes() for bits in kept])
            for counts, kept in zip(occupancy, np.split(packed, n_batches), strict=True)
        ]

    def _take(
        self, n_batches: int, n_kept: int, stride: int, temperature: float = 1.0
    ) -> tuple[IntArray, NDArray[np.uint8]]:
        """The number of steps with each edge, by batch, and the graphs that were kept."""
        from cyclearn._kernels.graph_chain import run_chain

        p = self._problem.n_variables
        occupancy = np.zeros((n_batches, 2, p, p), dtype=np.int64)
        graphs = np.empty((n_batches * n_kept, p, p), dtype=np.uint8)
        run_chain(
            self._scored(),
            self._walk,
            self._admission,
            self._rules,
            temperature * self._unit,
            stride,
            occupancy,
            graphs,
            self.accepted,
        )
        return occupancy, graphs

    def _scored(self) -> Scored:
        from cyclearn._kernels.component_scores import Scored, Warm

        none = np.empty((0, 0, 0))
        return Scored(
            self._S,
            self._shares,
            self._targeted,
            self._pooled,
            self.graph,
            self._keys,
            *self.memory.values,
            np.zeros(1, dtype=np.int64),
            Warm(none, none, np.empty(0, dtype=np.uint8)),
        )

    def _rules_at(self, temperature: float) -> ChainRules:
        """The permitted proposals; while hot, without large components and assembled graphs.

        Fitting large components would take most of the time, and the weights of parts are for
        temperature one.
        """
        from cyclearn._kernels.graph_chain import ChainRules

        problem, proposals = self._problem, self.proposals
        max_component, shares = problem.limits.max_component, np.array(EFFORT.proposal_shares)
        if temperature > 1:
            max_component = min(max_component, max(EFFORT.hot_component, self._largest))
        if temperature > 1 or not len(proposals.parts.sets):
            shares[-1] = 0
        if len(proposals.jumps.starts) == 1:
            shares[-2] = 0
        limits = [max_component, problem.limits.max_parents, problem.limits.max_edges]
        return ChainRules(
            problem.allowed.astype(np.uint8),
            (~problem.required).astype(np.uint8),
            np.array(limits, dtype=np.int64),
            proposals.pair_weights,
            proposals.jumps,
            proposals.parts,
            self.met,
            np.cumsum(shares) / shares.sum(),
            problem.penalty,
            self._costs,
            self._unit,
            EFFORT.noted_loss * self._unit,
        )
