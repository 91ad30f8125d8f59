"""Feedback groups from which chains put graphs together: how they are found and when they are used.

Some are looked for, before chains begin and between their rounds; others are met by chains on
their way.
"""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
from numpy.typing import NDArray

from cyclearn.deadlines import now
from cyclearn.learning.graph_chain import GraphChain
from cyclearn.learning.graph_parts import learn_groups, no_groups, single_nodes
from cyclearn.search.problem import SearchProblem

IntArray = NDArray[np.int64]

# A temperature at which chains come to many groups, and steps there.
_WARM, _WARM_STEPS = 1.5, 5_000
# Nodes of the cycles from which groups are looked for, how many of them at a time, and steps from
# each.
_CYCLE_SIZES = (2, 3)
_AT_A_TIME, _CLIMBING_STEPS = 40, 200
# Graphs drawn, of which all that differ in one edge are looked at: before the first round, as
# often as this, and after every round.
_FIRST_DRAWS, _FIRST_TIMES, _DRAWS = 150, 2, 100
# Places for the keys of groups that were looked at.
_PLACES = 1 << 17


class GroupSearch:
    """Looks for groups, and makes them parts of the chains' proposals."""

    def __init__(self, problem: SearchProblem, chains: list[GraphChain], seed: int) -> None:
        from cyclearn._kernels.group_search import Seen

        self._parts = single_nodes(problem, chains[0].weigh_single)
        self._found = no_groups(problem.n_variables)
        self._seen = Seen(np.zeros(1, dtype=np.int64), np.zeros(_PLACES, dtype=np.uint64))
        rng = np.random.default_rng(seed)
        self._state = rng.integers(1, 2**62, size=1, dtype=np.uint64)
        self._cycles = rng.permutation(_cycles(problem.n_variables))
        self._hand_out(chains)

    def begin(self, chains: list[GraphChain], end: float | None) -> None:
        """Look for groups before the first round; until an ``end``, if there is one."""
        for chain in chains:
            if end is None or now() < end:
                chain.wander(_WARM_STEPS, end, (_WARM,))
        self._learn(chains, at_once=True)
        for first in range(0, len(self._cycles), _AT_A_TIME):
            if end is None or now() < end:
                self._climb(chains[0], self._cycles[first : first + _AT_A_TIME])
        self._learn(chains, at_once=True)
        for _ in range(_FIRST_TIMES):
            if end is None or now() < end:
                self._look_near(chains[0], _FIRST_DRAWS)
                self._learn(chains, at_once=True)
        self._hand_out(chains)

    def go_on(self, chains: list[GraphChain], *, at_once: bool) -> None:
        """Look for more, and make parts of what was found and of the groups that chains have left.

        ``at_once``: of those that they are in, too.
        """
        self._cycles = np.roll(self._cycles, _AT_A_TIME, axis=0)
        self._climb(chains[0], self._cycles[:_AT_A_TIME])
        self._look_near(chains[0], _DRAWS)
        self._learn(chains, at_once=at_once)
        self._hand_out(chains)

    def _climb(self, chain: GraphChain, starts: IntArray) -> None:
        from cyclearn._kernels.group_search import climb

        climb(*chain.kernel_inputs(self._found), starts, _CLIMBING_STEPS, self._state)

    def _look_near(self, chain: GraphChain, n: int) -> None:
        from cyclearn._kernels.group_search import look_near

        look_near(*chain.kernel_inputs(self._found), n, self._seen, self._state)

    def _learn(self, chains: list[GraphChain], *, at_once: bool) -> None:
        # What was looked for does not hang on where chains are: there is nothing to be left.
        self._found.size[1] = self._found.size[0]
        learn_groups(self._parts, [self._found, *(c.met for c in chains)], at_once=at_once)

    def _hand_out(self, chains: list[GraphChain]) -> None:
        for chain in chains:
            chain.assemble_from(self._parts)


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
