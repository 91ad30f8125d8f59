"""Proofs that graphs of a class generate the same distributions: steps that can be replayed.

Rotations carry a graph to the member of its class of rotations at which a rule applies, the rule
leads to another class, and so on to the class of the other graph. Each application of a rule is a
step that checks its own preconditions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any, TypeAlias

from cyclearn.classes.chordal_growth import SearchBudget, Seated, exchangeable_nodes, iter_growths
from cyclearn.classes.column_rules import Rule
from cyclearn.classes.equivalence import steps_into
from cyclearn.classes.rule_search import Columns, LinkedClasses, RuleLink, linked_classes
from cyclearn.classes.seating import matched_seats
from cyclearn.classes.steps import GraphStep
from cyclearn.classes.territories import reduced_columns, territories
from cyclearn.foundation import Answer, InputError, LimitError
from cyclearn.graphs.bitsets import bits, union
from cyclearn.graphs.directed_graph import DirectedGraph

# Far more than one application of a rule needs.
_EFFORT = 1_000_000


@dataclass(frozen=True)
class RuleStep:
    """Change the column of ``node`` from ``before`` to ``after``, as a rule allows.

    The columns of the nodes ``witness`` allow this, with the core D = ``core``. Then node j takes
    the column of node ``order[j]``, so that the diagonal is full again. Sets are integers whose
    bits are nodes.
    """

    rule: Rule
    core: int
    witness: tuple[int, ...]
    node: int
    before: int
    after: int
    order: tuple[int, ...]

    def apply(self, graph: DirectedGraph) -> DirectedGraph:
        """The graph after the step."""
        columns = list(graph.columns)
        if sorted(self.order) != list(range(len(columns))) or columns[self.node] != self.before:
            raise InputError(
                f"the graph does not have the column for: {self.describe(graph.names)}"
            )
        witness = [columns[v] for v in self.witness]
        if self.node in self.witness or not is_allowed(
            self.rule, self.core, witness, self.before, self.after
        ):
            raise InputError(f"the graph does not allow this: {self.describe(graph.names)}")
        columns[self.node] = self.after
        reordered = [columns[v] for v in self.order]
        if not all(column >> j & 1 for j, column in enumerate(reordered)):
            raise InputError(f"the order {self.order} leaves a gap in the diagonal")
        return DirectedGraph.from_columns(reordered, graph.names)

    def inverse(self) -> RuleStep:
        """The step that undoes this one."""
        place = {v: j for j, v in enumerate(self.order)}
        return replace(
            self,
            witness=tuple(place[v] for v in self.witness),
            node=place[self.node],
            before=self.after,
            after=self.before,
            order=tuple(place[v] for v in range(len(self.order))),
        )

    def describe(self, names: Sequence[str]) -> str:
        """The step in words, with columns as sets of names."""
        return (
            f"{self.rule.name.lower()} rule: the column of {names[self.node]}, "
            f"{_set(self.before, names)}, becomes {_set(self.after, names)}, by the columns of "
            + ", ".join(names[v] for v in self.witness)
        )

    def to_dict(self, names: Sequence[str]) -> dict[str, object]:
        """The rule and the sets as lists of names."""
        return {
            "rule": self.rule.name.lower(),
            "core": [names[v] for v in bits(self.core)],
            "witness": [names[v] for v in self.witness],
            "node": names[self.node],
            "before": [names[v] for v in bits(self.before)],
            "after": [names[v] for v in bits(self.after)],
            "order": [names[v] for v in self.order],
        }


def _set(members: int, names: Sequence[str]) -> str:
    return "{" + ", ".join(names[v] for v in bits(members)) + "}"


def is_allowed(rule: Rule, core: int, witness: Sequence[int], before: int, after: int) -> bool:
    """Whether these columns around a core allow another column to change ``before`` to ``after``.

    Examples
    --------
    >>> is_allowed(Rule.BLOCK, 0, [0b0011, 0b1100, 0b1111], 0b0001, 0b0100)
    True
    >>> is_allowed(Rule.BLOCK, 0, [0b0011, 0b1100, 0b0111], 0b0001, 0b1000)
    True
    >>> is_allowed(Rule.SCALING, 0b1000, [0b1011, 0b1110], 0b1001, 0b1000)
    False
    """
    if any(core & ~column for column in (*witness, before, after)):
        return False
    if rule is Rule.FACET:
        return _facets_allow(core, witness, before, after)
    columns = [(n, column ^ core) for n, column in enumerate(witness)]
    ends = before ^ core, after ^ core
    if rule is Rule.SUBSTITUTION:
        return all(end.bit_count() == 1 for end in ends) and any(
            not (ends[0] | ends[1]) & ~nodes
            for nodes in exchangeable_nodes([c for _, c in columns], SearchBudget(_EFFORT))
        )
    for n, W in columns:
        rest = [column for column in columns if column[0] != n]
        if rule is Rule.SCALING and _scaling_allows(rest, W, ends):
            return True
        if rule is Rule.BLOCK and _block_allows(rest, W, ends):
            return True
    return False


def _scaling_allows(rest: Sequence[Seated], W: int, ends: tuple[int, int]) -> bool:
    node = ends[0] | ends[1]
    return (
        0 in ends
        and node.bit_count() == 1
        and any(
            not (W | node) & ~growth.nodes and growth.has_scaling(W)
            for growth in iter_growths(rest, SearchBudget(_EFFORT))
        )
    )


def _block_allows(rest: Sequence[Seated], W: int, ends: tuple[int, int]) -> bool:
    if ends[0].bit_count() != 1 or ends[1].bit_count() != 1:
        return False
    for first in iter_growths(rest, SearchBudget(_EFFORT)):
        inner, outer = W & first.nodes, W & ~first.nodes
        if not ends[0] & first.nodes or ends[1] & first.nodes:
            continue
        if not inner or not outer or not first.is_clique(inner):
            continue
        left = [(n, c) for n, c in rest if not first.uses(n) and not c & first.nodes]
        if any(
            ends[1] & second.nodes and second.is_clique(outer)
            for second in iter_growths(left, SearchBudget(_EFFORT))
        ):
            return True
    return False


def _facets_allow(core: int, witness: Sequence[int], before: int, after: int) -> bool:
    whole = union((core, *witness))
    facets = {whole ^ (1 << v) for v in bits(whole & ~core)}
    return (
        len(facets) >= 2
        and len(witness) == len(facets)
        and set(witness) == facets
        and all(column & ~whole == 0 and column != whole for column in (before, after))
    )


ProofStep: TypeAlias = GraphStep | RuleStep


@dataclass(frozen=True)
class ClassCertificate(Answer):
    """Steps of rotations and rules from ``first`` to a subgraph of ``second``, and back.

    Every step preserves the set of distributions, so ``forward`` shows that the second graph
    generates all distributions of the first, and ``backward`` the converse.
    """

    first: DirectedGraph
    second: DirectedGraph
    forward: tuple[ProofStep, ...]

    @cached_property
    def backward(self) -> tuple[ProofStep, ...]:
        """Steps from the second graph to a subgraph of the first."""
        linked = linked_classes(territories(self.second.columns))
        if territories(self.first.columns) not in linked.links:
            raise LimitError(
                f"the search for steps from the second graph was stopped by {linked.cut_by}"
            )
        return _steps(self.second, self.first, linked)

    def replayed(self) -> DirectedGraph:
        """The first graph after the steps forward: a subgraph of the second."""
        return reduce(lambda graph, step: step.apply(graph), self.forward, self.first)

    def explain(self) -> str:
        """The steps in words, numbered."""
        if not self.forward:
            return "no step needed"
        return "\n".join(
            f"{n}. {step.describe(self.first.names)}" for n, step in enumerate(self.forward, 1)
        )

    __str__ = explain

    def to_dict(self) -> dict[str, Any]:
        """The two graphs and the steps in words, as plain values for JSON."""
        return {
            "first": self.first.to_dict(),
            "second": self.second.to_dict(),
            "steps": [step.describe(self.first.names) for step in self.forward],
        }


def class_certificate(
    first: DirectedGraph, second: DirectedGraph, linked: LinkedClasses
) -> ClassCertificate:
    """Steps from one graph to another to which rules link it."""
    return ClassCertificate(first, second, _steps(first, second, linked))


def _steps(
    first: DirectedGraph, second: DirectedGraph, linked: LinkedClasses
) -> tuple[ProofStep, ...]:
    graph, steps = first, list[ProofStep]()
    for link in linked.path_to(territories(second.columns)):
        seated, step = _seated(link, graph.names)
        goal = dict(zip(link.source, link.columns, strict=True))
        raised = {link.source[link.use.mover]: [link.source[s] for s in link.use.raised]}
        into = steps_into(graph, seated, goal, raised if link.use.raised else None)
        steps += [*into, step]
        graph = step.apply(seated)
    reduced = DirectedGraph.from_columns(reduced_columns(second.columns), second.names)
    return (*steps, *steps_into(graph, reduced))


def _seated(link: RuleLink, names: tuple[str, ...]) -> tuple[DirectedGraph, RuleStep]:
    """A graph with the columns of a link, and the step to apply."""
    use = link.use
    # Nodes that have the column before and after need not move.
    both = list(link.columns)
    both[use.mover] &= use.after
    seat_of = _matching(both)
    if seat_of is None:
        seat_of = _matching(link.columns)
    assert seat_of is not None
    node_of = {s: j for j, s in enumerate(seat_of)}
    columns = [link.columns[s] for s in seat_of]
    after = [link.columns_after[s] for s in seat_of]
    order = _matching(after) if not after[node_of[use.mover]] >> node_of[use.mover] & 1 else None
    step = RuleStep(
        use.rule,
        use.core,
        tuple(node_of[s] for s, _ in use.witness),
        node_of[use.mover],
        use.before,
        use.after,
        tuple(range(len(columns))) if order is None else order,
    )
    return DirectedGraph.from_columns(columns, names), step


def _matching(columns: Sequence[int] | Columns) -> tuple[int, ...] | None:
    """Assign every node a column that contains it, each column once; None if this is impossible."""
    p = len(columns)
    pairs = [(j, s) for j in range(p) for s, column in enumerate(columns) if column >> j & 1]
    found = matched_seats(pairs, p)
    return None if (found < 0).any() else tuple(found.tolist())
