"""Distribution equivalence of two graphs, as far as rotations decide it (Theorems 1 and 2)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from cyclearn.classes.certificates import steps_into
from cyclearn.classes.steps import GraphStep, replay
from cyclearn.classes.territories import Territory, reduced_columns, territories
from cyclearn.graphs.bitsets import bits
from cyclearn.graphs.directed_graph import DirectedGraph
from cyclearn.graphs.graph_input import checked_graph


@dataclass(frozen=True)
class Equivalence:
    """The answer of :func:`equivalent`: true when rotations link the two graphs.

    ``forward`` holds graph steps from ``first`` to a subgraph of ``second``, ``backward`` the
    way back; both are ``None`` where the answer is negative. Replaying them is a proof that the
    two graphs generate the same distributions.
    """

    first: DirectedGraph
    second: DirectedGraph
    first_territories: tuple[Territory, ...]
    second_territories: tuple[Territory, ...]

    def __bool__(self) -> bool:
        return self.first_territories == self.second_territories

    @cached_property
    def forward(self) -> tuple[GraphStep, ...] | None:
        """Steps from the first graph to a subgraph of the second."""
        return steps_into(self.first, _reduced(self.second)) if self else None

    @cached_property
    def backward(self) -> tuple[GraphStep, ...] | None:
        """Steps from the second graph to a subgraph of the first."""
        return steps_into(self.second, _reduced(self.first)) if self else None

    @property
    def reason(self) -> str:
        """Why the answer is what it is, in one sentence."""
        if self:
            return "The reduced graphs have the same territories, so graph steps link them."
        sizes = [
            Counter(t.size for t in held)
            for held in (self.first_territories, self.second_territories)
        ]
        if sizes[0] != sizes[1]:
            edges = [sum((s - 1) * n for s, n in counted.items()) for counted in sizes]
            if edges[0] != edges[1]:
                return (
                    f"The reduced graphs have {edges[0]} and {edges[1]} edges; "
                    "rotations keep the number of edges of a reduced graph."
                )
            return (
                f"The numbers of parents in the reduced graphs differ: {_in_words(sizes[0])} "
                f"against {_in_words(sizes[1])}; rotations keep them."
            )
        apart = min(set(self.first_territories) ^ set(self.second_territories))
        where, other = "first", "second"
        if apart not in self.first_territories:
            where, other = other, where
        return (
            f"In all graphs equivalent to the {where}, one node together with its parents is "
            f"{self._territory_in_words(apart)}; no node of the {other} is bound to just that."
        )

    def explain(self) -> str:
        """The answer in words, with the steps or with what a negative answer means."""
        if not self:
            dimensions = self.first.dimension(), self.second.dimension()
            if dimensions[0] != dimensions[1]:
                return (
                    f"Not equivalent. {self.reason}\nThe distribution sets have dimensions "
                    f"{dimensions[0]} and {dimensions[1]}, so they differ."
                )
            return (
                f"Not equivalent by rotations. {self.reason}\n"
                "No sequence of parent reductions, parent exchanges and cycle reversions leads "
                "from one graph into the other. That alone does not prove that they generate "
                "different distributions: rare pairs (the smallest have 4 nodes) generate the "
                "same ones although no rotations link them."
            )
        lines = ["Equivalent: both graphs generate the same distributions."]
        for title, start, goal, steps in (
            ("From the first graph into the second", self.first, self.second, self.forward),
            ("From the second graph into the first", self.second, self.first, self.backward),
        ):
            assert steps is not None
            lines.append(
                f"{title}, {len(steps)} step{'s' * (len(steps) != 1)}:"
                if steps
                else f"{title}: no step needed."
            )
            lines += [
                f"  {n}. {step.describe(start.names)}" for n, step in enumerate(steps, start=1)
            ]
            missing = goal.n_edges - replay(start, steps).n_edges
            if missing:
                lines.append(f"  A subgraph: {missing} edges of the goal are redundant.")
        return "\n".join(lines)

    def _territory_in_words(self, territory: Territory) -> str:
        sets = [
            "{" + ", ".join(self.first.names[v] for v in bits(anchor)) + "}"
            for anchor in territory.anchors
        ]
        if len(sets) == 1 and territory.anchors[0].bit_count() == territory.size:
            return sets[0]
        return f"{territory.size} of the nodes of " + " or ".join(sets)

    def __repr__(self) -> str:
        return f"Equivalence({bool(self)}: {self.reason})"


def _reduced(graph: DirectedGraph) -> DirectedGraph:
    """The graph as far as rotations reduce it."""
    return DirectedGraph.from_columns(reduced_columns(graph.columns), graph.names)


def _in_words(sizes: Counter[int]) -> str:
    return ", ".join(f"{n} with {size - 1}" for size, n in sorted(sizes.items()))


def equivalent(g: DirectedGraph, h: DirectedGraph) -> Equivalence:
    """Whether rotations prove that two graphs generate the same distributions.

    This is the relation of Theorems 1 and 2, decided without enumeration by comparing the
    territories of the reduced graphs.

    A positive answer is a proof and carries the steps. A negative answer says that no rotations
    link the graphs. The paper's "only if" would make it a proof of difference, but that direction
    fails: see the first example. Graphs of different :meth:`~DirectedGraph.dimension`, or that
    are not :func:`~cyclearn.markov_equivalent`, do differ; :func:`~cyclearn.compare` goes on from
    there with further rules and invariants, and says what is proved.

    Parameters
    ----------
    g, h : DirectedGraph
        Graphs on the same nodes; the order of the nodes may differ.

    Returns
    -------
    Equivalence
        True or false in conditions, with ``forward``, ``backward``, ``reason``, ``explain()``.

    Examples
    --------
    No rotations link these two, yet both generate every Θ whose block Θ[{1,2},{3,4}] has rank at
    most one, and nothing else:

    >>> a = DirectedGraph.from_edges([(0, 1), (3, 2), (0, 3), (1, 3), (2, 3)])
    >>> b = DirectedGraph.from_edges([(2, 3), (1, 0), (0, 1), (2, 1), (3, 1)])
    >>> bool(equivalent(a, b)), a.dimension() == b.dimension()
    (False, True)

    A 3-cycle can be turned:

    >>> cycle = DirectedGraph.from_edges([("a", "b"), ("b", "c"), ("c", "a")])
    >>> turned = DirectedGraph.from_edges([("a", "c"), ("c", "b"), ("b", "a")])
    >>> print(equivalent(cycle, turned).explain())
    Equivalent: both graphs generate the same distributions.
    From the first graph into the second, 1 step:
      1. reverse cycle a -> b -> c -> a
    From the second graph into the first, 1 step:
      1. reverse cycle a -> c -> b -> a

    See Also
    --------
    cyclearn.equivalence_class : all graphs that are equivalent to one.
    cyclearn.compare : what is known beyond rotations.
    """
    checked_graph(g, "first graph")
    checked_graph(h, "second graph")
    h = h.reordered(g.names)
    return Equivalence(g, h, territories(g.columns), territories(h.columns))
