"""From the best graphs that a search met to the answer: the member shown, and the classes that tie.

Which member of a class is shown, and which of several classes with the same score, is decided by
structure (:mod:`cyclearn.classes.canonical_member`), not by where the search happened to stand.

Different classes can share a set of distributions of positive measure (quasi equivalence,
Definition 9): a 3-cycle and a complete acyclic graph on three nodes, for example. No score tells
them apart there. They are looked for by drawing the edges among three nodes anew, as many as
there were, in the members of every class already known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from heapq import heappop, heappush
from itertools import islice

import numpy as np

from cyclearn.classes import EquivalenceClass
from cyclearn.classes.canonical_member import Order, canonical_member, canonical_order
from cyclearn.classes.seating import Seating
from cyclearn.classes.territories import Territory, territories
from cyclearn.errors import InputError
from cyclearn.graphs import DirectedGraph
from cyclearn.graphs.bitsets import columns_to_support
from cyclearn.search.local_scores import LocalScores
from cyclearn.search.problem import SearchProblem
from cyclearn.search.redrawn_triples import redrawn_pairs, toggled
from cyclearn.search.runs import Adjacency, Budget, Solution
from cyclearn.search.score import GraphScore
from cyclearn.search.tied_graphs import tied_graphs

MAX_CLASSES = 100
# Graphs looked at for ties, and fillings of one block of a class that they are drawn from.
_MAX_REDRAWN = 20_000
_MAX_FILLINGS = 500


@dataclass(frozen=True)
class Answer:
    """The graph that is shown, and one graph for each other class whose score ties with it.

    With interventions, every other graph whose score ties.

    ``is_cut`` says that there may be more of these, since a limit ended the search for them. Names
    are sorted.
    """

    graph: DirectedGraph
    ties: tuple[DirectedGraph, ...]
    is_cut: bool


def answer(problem: SearchProblem, solution: Solution, budget: Budget) -> Answer:
    """The answer that the runs of a method lead to.

    Ties are looked for while the budget's time lasts, and not at all where it cut the search.
    """
    if not np.isfinite(solution.best.score):
        raise InputError(
            "no stable structure was found from the start given; allow unstable ones with "
            "stable=False, or start elsewhere"
        )

    def is_over() -> bool:
        return solution.ended_early is not None or budget.ended(0) is not None

    if problem.experiments is not None:
        (first, *others), is_cut = tied_graphs(problem, solution, MAX_CLASSES, is_over)
        return Answer(first, tuple(others[:MAX_CLASSES]), is_cut)
    ties = _Ties(problem, solution.best.best)
    for run in solution.agreeing:
        ties.take(DirectedGraph(run.best.astype(bool), problem.names))
    if not ties.found:
        # The members that keep to knowledge and limits are too many to be searched for one.
        return Answer(DirectedGraph(solution.best.best.astype(bool), problem.names), (), True)
    ties.close(is_over)
    first, *others = [graph for _, graph in sorted(ties.found, key=lambda each: each[0])]
    return Answer(first, tuple(others[:MAX_CLASSES]), ties.is_cut)


def shown_member(
    problem: SearchProblem, score: GraphScore, whole: EquivalenceClass
) -> DirectedGraph | None:
    """The member that stands for a class, if one keeps to knowledge and limits.

    Where required edges leave no irreducible member, or none of them has a stable fit, it is a
    reducible one with the fewest edges.
    """
    admits = partial(problem.admits_component, score)
    masks = problem.allowed, problem.required
    reducible = (
        Seating.respecting(each.territories, *masks, reducible=True)
        for each in whole.rotation_classes
    )
    for parts in (whole.irreducible_seatings(*masks), reducible):
        members = [canonical_member(part, admits) for part in parts]
        found = [columns for columns in members if columns is not None]
        if found:
            first = min(found, key=lambda columns: canonical_order(range(len(columns)), columns))
            return DirectedGraph.from_columns(first, problem.names)
    return None


class _Ties:
    """Classes whose score is the best, each with the member that stands for it.

    The class that comes first by the rule is looked around in first. A neighbour differs from some
    member in the edges among three nodes, and has as many; so if one class is a neighbour of
    another, that one is a neighbour of the first.
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
        self._seen: set[int] = set()

    def take(self, graph: DirectedGraph) -> None:
        """Add the class of a graph, if it is new and has a member that may be shown."""
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
        """Look around in every class, until there is no new one or a limit is reached."""
        while self._waiting and not self.is_cut:
            _, member = heappop(self._waiting)
            for columns in self._members(member):
                self.is_cut = (
                    is_over() or len(self.found) > MAX_CLASSES or len(self._seen) > _MAX_REDRAWN
                )
                if self.is_cut:
                    break
                for redrawn in self._tied_with(columns):
                    self.take(DirectedGraph(redrawn.astype(bool), member.names))

    def _members(self, member: DirectedGraph) -> Iterator[list[int]]:
        """Members that differ from the one shown in one block, itself included."""
        yield list(member.columns)
        masks = self._problem.allowed, self._problem.required
        for each in self._class_of[member].rotation_classes:
            seating = Seating.respecting(each.territories, *masks)
            first = list(member.columns)
            if each.territories != territories(member.columns):
                # The first member in the order of listing stands for a class that is not shown.
                fillings = [next(seating.iter_block(block), None) for block in seating.blocks]
                for block, filling in zip(seating.blocks, fillings, strict=True):
                    for j, column in zip(block.nodes, filling or (), strict=bool(filling)):
                        first[j] = column
            for block in seating.blocks:
                for filling in islice(seating.iter_block(block), _MAX_FILLINGS):
                    columns = list(first)
                    for j, column in zip(block.nodes, filling, strict=True):
                        columns[j] = column
                    yield columns

    def _tied_with(self, columns: list[int]) -> Iterator[Adjacency]:
        """Graphs with other edges among three nodes, not looked at before, whose score ties."""
        A = columns_to_support(columns).astype(np.uint8)
        np.fill_diagonal(A, 0)
        scores = LocalScores(self._problem, self._score, A)
        key = self._score.key(A)
        for pairs in redrawn_pairs(A):
            its_key = key
            for pair in pairs:
                its_key ^= int(self._score.Z[pair])
            if pairs and its_key not in self._seen:
                self._seen.add(its_key)
                if scores.are_tied(pairs, self._best):
                    yield toggled(A, pairs)
