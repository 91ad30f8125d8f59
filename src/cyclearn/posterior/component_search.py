"""Feedback groups from which chains put graphs together: how they are found and when they are used.

Some are looked for, before chains begin and between their rounds; others are met by chains on
their way.
"""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np

from cyclearn.foundation.arrays import IntArray
from cyclearn.foundation.deadlines import now
from cyclearn.posterior.chain import GraphChain
from cyclearn.posterior.graph_parts import learn_groups, no_groups, single_nodes
from cyclearn.search.problem import SearchProblem

# A temperature at which chains come to many groups, and steps there.
_WARM, _WARM_STEPS = 1.5, 1_500
# Nodes of the cycles from which groups are looked for first, and steps from each.
_CYCLE_SIZES, _CYCLE_STEPS = (2, 3), 100
# Then from groups that were found: how many at a time, steps from each, and how often; after every
# round once.
_AT_A_TIME, _CLIMBING_STEPS, _CLIMBS = 40, 400, 10
# Graphs drawn, of which all that differ in one edge are looked at: before the first round, as
# often as this, and after every round.
_FIRST_DRAWS, _FIRST_TIMES, _DRAWS = 150, 2, 100
# Steps that chains may be outside of parts: at least so many, and this share of all they took, so
# that in the long run nothing is cut short.
_LEAST_PATIENCE, _PATIENCE_SHARE = 400, 1 / 200
# Times the steps after which groups were looked for last.
_MANY_MORE = 1.3
# Places for the keys of groups that were looked at.
_PLACES = 1 << 17


class GroupSearch:
    """Looks for groups, and makes them parts of the chains' proposals."""

    def __init__(self, problem: SearchProblem, chains: list[GraphChain], seed: int) -> None:
        from cyclearn._kernels.group_search import SearchMemory, Seen

        self._parts = single_nodes(problem, chains[0].weigh_single)
        self._found = no_groups(problem.n_variables)
        self._memory = SearchMemory(
            *(Seen(np.zeros(1, np.int64), np.zeros(_PLACES, np.uint64)) for _ in range(2))
        )
        rng = np.random.default_rng(seed)
        self._state = rng.integers(1, 2**62, size=1, dtype=np.uint64)
        self._rng, self._patience, self._looked_after = rng, _LEAST_PATIENCE, 0
        self._hand_out(chains)

    def begin(self, chains: list[GraphChain], end: float | None) -> None:
        """Look for groups before the first round; until an ``end``, if there is one."""
        for chain in chains:
            if end is None or now() < end:
                chain.wander(_WARM_STEPS, end, (_WARM,))
        self._learn(chains)
        cycles = self._rng.permutation(_cycles(chains[0].graph.shape[0]))
        for first in range(0, len(cycles), _AT_A_TIME):
            if end is None or now() < end:
                self._climb(chains[0], cycles[first : first + _AT_A_TIME], _CYCLE_STEPS)
        self._learn(chains)
        for _ in range(_CLIMBS):
            if end is None or now() < end:
                self._climb_on(chains[0])
        self._learn(chains)
        for _ in range(_FIRST_TIMES):
            if end is None or now() < end:
                self._look_near(chains[0], _FIRST_DRAWS)
                self._learn(chains)
        self._hand_out(chains)

    def go_on(self, chains: list[GraphChain], n_steps: int) -> None:
        """Look for more, and make parts of what was found and of the groups that chains met.

        ``n_steps`` are those that each chain took so far; not again before there are many more.
        """
        if n_steps < _MANY_MORE * self._looked_after:
            return
        self._looked_after = n_steps
        self._patience = max(_LEAST_PATIENCE, int(_PATIENCE_SHARE * n_steps))
        self._climb_on(chains[0])
        self._look_near(chains[0], _DRAWS)
        self._learn(chains)
        self._hand_out(chains)

    def take_over(self, chains: list[GraphChain], before: list[GraphChain]) -> None:
        """Let chains go on with what others ``before`` them have met."""
        for chain, old in zip(chains, before, strict=True):
            chain.met = old.met
        self._hand_out(chains)

    def _climb_on(self, chain: GraphChain) -> None:
        n = int(self._found.size[0])
        if n:
            starts = self._found.columns[self._rng.integers(n, size=_AT_A_TIME)]
            self._climb(chain, starts, _CLIMBING_STEPS)

    def _climb(self, chain: GraphChain, starts: IntArray, n_steps: int) -> None:
        from cyclearn._kernels.group_search import climb

        climb(*chain.kernel_inputs(self._found), self._memory, starts, n_steps, self._state)

    def _look_near(self, chain: GraphChain, n: int) -> None:
        from cyclearn._kernels.group_search import look_near

        look_near(*chain.kernel_inputs(self._found), self._memory, n, self._state)

    def _learn(self, chains: list[GraphChain]) -> None:
        learn_groups(self._parts, [self._found, *(c.met for c in chains)])

    def _hand_out(self, chains: list[GraphChain]) -> None:
        for chain in chains:
            chain.assemble_from(self._parts, self._patience)


def _cycles(p: int) -> IntArray:
    """The columns of all cycles of a few nodes and nothing else."""
    rows = []
    for size in _CYCLE_SIZES:
        for first, *others in combinations(range(p), size):
            for order in permutations(others):
                columns = np.zeros(p, dtype=np.int64)
                columns[[*order, first]] = 1 << np.array([first, *order])
                rows.append(columns)
    return np.array(rows, dtype=np.int64).reshape(-1, p)
