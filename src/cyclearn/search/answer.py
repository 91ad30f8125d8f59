"""From the best graphs of a search to the answer: the member shown, and the classes that tie.

The member that represents a class, and the class shown among several with the same score, are
chosen by structure (:mod:`cyclearn.classes.canonical_member`), not by where the search happened to
end.

Different classes can share a set of distributions of positive measure (quasi equivalence,
Definition 9): a 3-cycle and a complete acyclic graph on three nodes, for example. No score
distinguishes them there. They are searched for by replacing the edges among three nodes by the same
number of other edges, in the members of every class already known. Graphs with the same columns,
assigned to different nodes, belong to one class and have one score, which is computed once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial, reduce
from heapq import heappop, heappush
from itertools import islice
from operator import xor

import numpy as np

from cyclearn.classes import EquivalenceClass
from cyclearn.classes.canonical_member import Order, canonical_member, canonical_order
from cyclearn.classes.seating import Seating
from cyclearn.classes.territories import Territory, territories
from cyclearn.foundation import Deadline, InputError, LimitError, has_passed
from cyclearn.foundation.arrays import BoolArray
from cyclearn.graphs import DirectedGraph
from cyclearn.graphs.bitsets import bits, columns_to_support, union
from cyclearn.search.local_scores import LocalScores
from cyclearn.search.problem import SearchProblem
from cyclearn.search.redrawn_triples import Pair, redrawn_pairs, toggled
from cyclearn.search.runs import Adjacency, Budget, SearchStatus, Solution
from cyclearn.search.score import GraphScore
from cyclearn.search.search_effort import SIZES, LocalEffort, TieEffort
from cyclearn.search.tied_graphs import tied_graphs

_EFFORT = TieEffort()


@dataclass(frozen=True)
class Answer:
    """The graph shown, and one graph for each other class with the same score.

    With interventions, every other graph with the same score.

    ``is_cut`` means that there may be more of these, because a limit ended the search for them.
    Names are sorted.
    """

    graph: DirectedGraph
    ties: tuple[DirectedGraph, ...]
    is_cut: bool


def answer(
    problem: SearchProblem, solution: Solution, budget: Budget, end: Deadline = None
) -> Answer:
    """The answer from the runs of a method.

    Ties are searched for until the budget's time is over, and not at all if it ended the search.
    With very many variables, the member shown is also chosen only before the ``end``.
    """
    if not np.isfinite(solution.best.score):
        raise InputError(
            "no stable structure was found from the start given; allow unstable ones with "
            "stable=False, or start elsewhere"
        )

    is_cut = solution.ended_early or solution.best.status is SearchStatus.MAX_EVALUATIONS

    def is_over() -> bool:
        return bool(is_cut) or budget.ended(0) is not None

    if problem.experiments is not None:
        (first, *others), has_more = tied_graphs(problem, solution, _EFFORT, is_over)
        return Answer(first, tuple(others[: _EFFORT.max_classes]), has_more)
    as_found = Answer(DirectedGraph(solution.best.best.astype(bool), problem.names), (), True)
    if problem.n_variables > SIZES.very_many and has_passed(end):
        return as_found
    largest = problem.score().largest_component(solution.best.best)
    if solution.ended_early is not None and largest > LocalEffort.max_component:
        # There is no time to determine which members are stable.
        return as_found
    ties = _Ties(problem, solution.best.best)
    for run in solution.agreeing:
        ties.take(DirectedGraph(run.best.astype(bool), problem.names))
    if not ties.found:
        # There are too many members to find one that respects knowledge and limits.
        return as_found
    # The distribution sets of acyclic graphs are closed and irreducible: if two of the same
    # dimension share a set of positive measure, they are equal, and so are the classes.
    if problem.limits.max_component > 1:
        ties.close(is_over)
    first, *others = [graph for _, graph in sorted(ties.found, key=lambda each: each[0])]
    return Answer(first, tuple(others[: _EFFORT.max_classes]), ties.is_cut)


def shown_member(
    problem: SearchProblem, score: GraphScore, whole: EquivalenceClass
) -> DirectedGraph | None:
    """The member that represents a class, if one respects knowledge and limits.

    If required edges leave no irreducible member, or none of them has a stable fit, it is a
    reducible member with the fewest edges.
    """
    admits = partial(problem.admits_component, score)
    masks = problem.allowed, problem.required
    reducible = (
        Seating(each.territories, reducible=True).respecting(*masks)
        for each in whole.rotation_classes
    )
    for parts in (whole.irreducible_seatings(*masks), reducible):
        try:
            members = [canonical_member(part, admits) for part in parts]
        except LimitError:
            # There are even more reducible members, and the first ones are the same.
            return None
        found = [columns for columns in members if columns is not None]
        if found:
            first = min(found, key=lambda columns: canonical_order(range(len(columns)), columns))
            return DirectedGraph.from_columns(first, problem.names)
    return None


class _Ties:
    """Classes with the best score, each with the member that represents it.

    The class that comes first by the rule is searched first. A neighbour differs from some member
    in the edges among three nodes, whose number is the same; so the relation is symmetric.
    """

    def __init__(self, problem: SearchProblem, best: Adjacency) -> None:
        self.found: list[tuple[Order, DirectedGraph]] = []
        self.is_cut = False
        self._problem = problem
        self._score = problem.score()
        self._best = self._score.thorough_value(best)
        self._classes: set[tuple[Territory, ...]] = set()
        self._class_of: dict[DirectedGraph, EquivalenceClass] = {}
        self._waiting: list[tuple[Order, DirectedGraph]] = []
        # Whether graphs tie, by their columns; graphs that were examined are not examined again.
        self._ties: dict[int, bool] = {}
        self._work = 0.0

    def take(self, graph: DirectedGraph) -> None:
        """Add the class of a graph, if it is new and has an admissible member."""
        if territories(graph.columns) in self._classes:
            return
        whole = EquivalenceClass(graph)
        self._classes |= {each.territories for each in whole.rotation_classes}
        member = shown_member(self._problem, self._score, whole)
        if member is not None:
            self._class_of[member] = whole
            entry = (canonical_order(range(member.n_nodes), member.columns), member)
            self.found.append(entry)
            heappush(self._waiting, entry)

    def close(self, is_over: Callable[[], bool]) -> None:
        """Examine every class's neighbours, until none is new or a limit is reached."""
        self.is_cut = is_over()
        while self._waiting and not self.is_cut:
            _, member = heappop(self._waiting)
            masks = self._problem.allowed, self._problem.required
            for columns, near in members_by_block(member, self._class_of[member], *masks):
                for redrawn in self._tied_with(columns, near, is_over):
                    self.take(DirectedGraph(redrawn.astype(bool), member.names))
                if self.is_cut:
                    break

    def _tied_with(
        self, columns: list[int], near: int, is_over: Callable[[], bool]
    ) -> Iterator[Adjacency]:
        """Permitted graphs with other edges among three nodes, one of them near, that tie."""
        A = columns_to_support(columns).astype(np.uint8)
        np.fill_diagonal(A, 0)
        scores = LocalScores(self._problem, self._score, A)
        known = ColumnKeys(self._score.Z.diagonal().tolist(), columns)
        for pairs in filter(None, redrawn_pairs(A, near)):
            self.is_cut = (
                is_over()
                or len(self.found) > _EFFORT.max_classes
                or self._work > _EFFORT.max_scored
            )
            if self.is_cut:
                return
            key = known.changed(pairs)
            if key not in self._ties:
                self._ties[key] = scores.are_tied(pairs, self._best)
                self._work += _EFFORT.cost_of(scores.largest_component(pairs), self._score.n_fits)
            if self._ties[key] and scores.is_permitted(pairs):
                self._ties[key] = False
                yield toggled(A, pairs)


def members_by_block(
    member: DirectedGraph, whole: EquivalenceClass, allowed: BoolArray, required: BoolArray
) -> Iterator[tuple[list[int], int]]:
    """Members that differ from a given one in one block, and the nodes concerned.

    The columns of a block move inside its territories. Edges replaced elsewhere do not change these
    columns, and give the same class however the block is filled.
    """
    everywhere = (1 << member.n_nodes) - 1
    for each in whole.rotation_classes:
        seating = Seating(each.territories, reducible=False).respecting(allowed, required)
        first = list(member.columns)
        if each.territories != territories(member.columns):
            # The first member in the order of listing represents a class that is not shown.
            fillings = [next(seating.iter_block(block), None) for block in seating.blocks]
            for block, filling in zip(seating.blocks, fillings, strict=True):
                for j, column in zip(block.nodes, filling or (), strict=bool(filling)):
                    first[j] = column
        yield first, everywhere
        for block in seating.blocks:
            near = union(seating.territories[seat].elements for seat in block.seats)
            for filling in islice(seating.iter_block(block), _EFFORT.max_members):
                columns = list(first)
                for j, column in zip(block.nodes, filling, strict=True):
                    columns[j] = column
                if columns != first:
                    yield columns, near


class ColumnKeys:
    """Numbers that identify graphs by their columns, regardless of the nodes these belong to.

    The key of a column mixes the keys of its rows; the sum over columns ignores their order.
    """

    def __init__(self, row_keys: list[int], columns: list[int]) -> None:
        self._row_keys = row_keys
        self._columns = [reduce(xor, (row_keys[i] for i in bits(column)), 0) for column in columns]
        self._hashes = [hash((column,)) for column in self._columns]
        self._key = sum(self._hashes)

    def changed(self, pairs: list[Pair]) -> int:
        """The key of the graph with some edges changed."""
        after: dict[int, int] = {}
        for i, j in pairs:
            after[j] = after.get(j, self._columns[j]) ^ self._row_keys[i]
        key = self._key
        for j, column in after.items():
            key += hash((column,)) - self._hashes[j]
        return key
