"""Proofs that two graphs of a class generate the same distributions: steps that can be replayed.

Rotations carry a graph to the member of its class of rotations at which a rule applies, the rule
leads to another class, and so on to the class of the other graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from cyclearn.classes.certificates import steps_into, steps_to_raised
from cyclearn.classes.rule_search import Columns, LinkedClasses, RuleLink, linked_classes
from cyclearn.classes.rule_steps import RuleStep
from cyclearn.classes.steps import GraphStep, ParentAddition
from cyclearn.classes.territories import reduced_columns, territories
from cyclearn.foundation.errors import LimitError
from cyclearn.graphs.directed_graph import DirectedGraph

ProofStep: TypeAlias = GraphStep | ParentAddition | RuleStep


@dataclass(frozen=True)
class ClassCertificate:
    """Steps of rotations and rules from ``first`` to a subgraph of ``second``, and back.

    Every step keeps the set of distributions, so that the first graph generates no more than the
    second, by ``forward``, and no less, by ``backward``.
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
                f"the search for steps from the second graph was cut by {linked.cut_by}"
            )
        return _steps(self.second, self.first, linked)

    def replayed(self) -> DirectedGraph:
        """The first graph after the steps forward: a subgraph of the second."""
        graph = self.first
        for step in self.forward:
            graph = step.apply(graph)
        return graph

    def explain(self) -> str:
        """The steps in words, numbered."""
        if not self.forward:
            return "no step needed"
        return "\n".join(
            f"{n}. {step.describe(self.first.names)}" for n, step in enumerate(self.forward, 1)
        )


def class_certificate(
    first: DirectedGraph, second: DirectedGraph, linked: LinkedClasses
) -> ClassCertificate:
    """Steps from one graph to another that the rules link to it."""
    return ClassCertificate(first, second, _steps(first, second, linked))


def _steps(
    first: DirectedGraph, second: DirectedGraph, linked: LinkedClasses
) -> tuple[ProofStep, ...]:
    graph, steps = first, list[ProofStep]()
    for link in linked.path_to(territories(second.columns)):
        seated, step = _seated(link, graph.names)
        steps += [*_steps_to(graph, seated, link), step]
        graph = step.apply(seated)
    goal = DirectedGraph.from_columns(reduced_columns(second.columns), second.names)
    return (*steps, *steps_into(graph, goal))


def _steps_to(
    graph: DirectedGraph, seated: DirectedGraph, link: RuleLink
) -> tuple[GraphStep | ParentAddition, ...]:
    """Rotations to the member at which the rule of a link applies."""
    if not link.use.raised:
        return steps_into(graph, seated)
    goal = dict(zip(link.source, link.columns, strict=True))
    raised = [link.source[s] for s in link.use.raised]
    return steps_to_raised(graph, seated, goal, link.source[link.use.mover], raised)


def _seated(link: RuleLink, names: tuple[str, ...]) -> tuple[DirectedGraph, RuleStep]:
    """A graph with the columns of a link, and the step on it."""
    use = link.use
    # Nodes that hold the column before and after need not move.
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
    """For every node a column that contains it, each column once; None where there is no way."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    p = len(columns)
    held = np.array([[c >> j & 1 for c in columns] for j in range(p)], dtype=np.int8)
    found = maximum_bipartite_matching(csr_array(held), perm_type="column")
    return None if (found < 0).any() else tuple(int(s) for s in found)
