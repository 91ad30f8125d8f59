"""The equivalence class of a graph: listing, counting, comparing and tabulating its members."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from typing import Any, overload

import numpy as np

from cyclearn.classes.acyclic_members import AcyclicMembers
from cyclearn.classes.class_certificate import ClassCertificate, class_certificate
from cyclearn.classes.class_statements import FeedbackPairs, feedback_pairs
from cyclearn.classes.graph_class import ClassOptions, GraphClass
from cyclearn.classes.interventional_class import InterventionalClass, Interventions, as_design
from cyclearn.classes.rotation_class import RotationClass
from cyclearn.classes.seating import Seating
from cyclearn.foundation import Axes, Deadline, InputError, takes_options
from cyclearn.foundation.arguments import items
from cyclearn.foundation.arrays import BoolArray
from cyclearn.graphs.directed_graph import DirectedGraph, Node
from cyclearn.graphs.graph_input import as_graph


class EquivalenceClass(GraphClass):
    """All graphs proved to generate the same distributions; made by :func:`equivalence_class`.

    A union of classes of rotations (Theorem 1), the ``rotation_classes``, which further rules prove
    to generate the same distributions. Those with the fewest edges come first. Iteration yields the
    members in a fixed order that does not depend on the member the class was made from. Only
    irreducible members, unless made with ``reducible=True``. Immutable.
    """

    reducible: bool

    @takes_options(ClassOptions)
    def __init__(self, graph: DirectedGraph, **options: Any) -> None:
        self._write(graph, ClassOptions.of(options))

    @property
    def _groups(self) -> tuple[tuple[int, ...], ...]:
        return (tuple(range(len(self.names))),)

    @property
    def rotation_classes(self) -> tuple[RotationClass, ...]:
        """The classes of rotations that make up this one, those with the fewest edges first.

        A class among several may have no irreducible member; it is still included.
        """
        return self._rotation_classes[0]

    def irreducible_seatings(
        self, allowed: BoolArray | None = None, required: BoolArray | None = None
    ) -> list[Seating]:
        """The irreducible members that respect knowledge, as seatings with the fewest edges first.

        ``allowed`` and ``required`` say for each edge whether it may and must be there.
        """
        return [
            part.respecting(allowed, required)
            for each in self.rotation_classes
            for part in each.seatings
        ]

    @cached_property
    def seatings(self) -> list[Seating]:
        """Which nodes can use which territories; the members in disjoint parts."""
        if not self.reducible:
            return [seating for each in self.rotation_classes for seating in each.seatings]
        return [
            Seating(each.territories, reducible=True, max_states=self.max_states)
            for each in self.rotation_classes
        ]

    @property
    def cut_by(self) -> str | None:
        """The limit that stopped the search for further classes; None if it was completed."""
        return self._linked[0].cut_by

    @property
    def n_edges(self) -> tuple[int, int]:
        """The fewest and the most edges of an irreducible member.

        They differ if a rule drops an edge that another member needs.
        """
        edges = [c.n_edges for c in self.rotation_classes if c.seatings]
        return edges[0], edges[-1]

    def iter_acyclic(self) -> Iterator[DirectedGraph]:
        """Iterate over the acyclic members, if there are any."""
        for columns in self._acyclic.iter_columns():
            yield DirectedGraph.from_columns(columns, self.names)

    @property
    def n_acyclic(self) -> int:
        """Number of acyclic members, exact, without listing them, in polynomial time."""
        return self._acyclic.count()

    @cached_property
    def _acyclic(self) -> AcyclicMembers:
        # Any member suffices: all have the same d-separations.
        return AcyclicMembers(self.graph.columns, self._has_key)

    def certificate(self, graph: DirectedGraph) -> ClassCertificate:
        """The proof that a graph of the class generates the same distributions.

        Steps of rotations and of rules from the graph that the class was made from to a subgraph
        of ``graph``, each of which can be applied separately.

        Raises
        ------
        InputError
            If the graph is not in the class.

        Examples
        --------
        >>> a = DirectedGraph.from_edges([(0, 1), (3, 2), (0, 3), (1, 3), (2, 3)])
        >>> b = DirectedGraph.from_edges([(2, 3), (1, 0), (0, 1), (2, 1), (3, 1)])
        >>> proof = equivalence_class(a).certificate(b)
        >>> proof.replayed() == b
        True
        >>> print(proof.explain())
        1. block rule: the column of X1, {X1}, becomes {X3}, by the columns of X2, X3, X4
        """
        graph = graph.reordered(self.names)
        if graph not in self:
            raise InputError(
                "the graph is not in the class; rules and rotations do not link it to this one"
            )
        return class_certificate(self.graph, graph, self._linked[0])

    @cached_property
    def _by_name(self) -> EquivalenceClass:
        """The same class with the nodes in the order of their names."""
        names = tuple(sorted(self.names))
        if names == self.names:
            return self
        return EquivalenceClass(self.graph.reordered(names), **self.options.given())

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw what all members share; see :func:`cyclearn.drawing.plots.plot_class`."""
        from cyclearn.drawing.plots import plot_class

        return plot_class(self, ax)

    def feedback_pairs(
        self, max_fillings: int = 20_000, deadline: Deadline = None
    ) -> FeedbackPairs:
        """Which pairs of nodes lie on a common cycle in some member, and which in every one."""
        found = [feedback_pairs(seating, max_fillings, deadline) for seating in self.seatings]
        return FeedbackPairs(
            np.logical_or.reduce([pairs.some for pairs in found]),
            np.logical_and.reduce([pairs.every for pairs in found]),
            all(pairs.is_exact for pairs in found),
        )

    def _identity(self) -> tuple[object, ...]:
        return *super()._identity(), self.reducible

    def __reduce__(self) -> tuple[Any, ...]:
        # Counts are not sent along; they can be computed again.
        return partial(EquivalenceClass, **self.options.given()), (self.graph,)

    def __repr__(self) -> str:
        kind = "members" if self.reducible else "irreducible members"
        fewest, most = self.n_edges
        edges = f"{fewest} edges each" if fewest == most else f"{fewest} to {most} edges"
        return f"EquivalenceClass({self._size_in_words()} {kind}, {edges})"


@overload
def equivalence_class(
    graph: DirectedGraph | str,
    *,
    interventions: None = None,
    exogenous: tuple[()] = (),
    **options: Any,
) -> EquivalenceClass: ...
@overload
def equivalence_class(
    graph: DirectedGraph | str,
    *,
    interventions: Interventions | None = None,
    exogenous: Sequence[Node] = (),
    **options: Any,
) -> EquivalenceClass | InterventionalClass: ...
@takes_options(ClassOptions)
def equivalence_class(
    graph: DirectedGraph | str,
    *,
    interventions: Interventions | None = None,
    exogenous: Sequence[Node] = (),
    **options: Any,
) -> EquivalenceClass | InterventionalClass:
    """The class of all graphs that are proved to generate the same distributions.

    With ``interventions``, those that generate the same distributions in every table of a list of
    experiments, with the same weights in all: an :class:`InterventionalClass`.

    Parameters
    ----------
    graph : DirectedGraph, or a text of edges such as ``"a -> b, b -> c"``
        Any member; a reducible graph is accepted too.
    interventions : sequence of sequences of str or int, optional
        The whole design: for every table the variables that were intervened on (perfect
        interventions), ``[]`` for observed data. ``[[], ["a"]]`` is observed data and a table in
        which ``a`` was set. Without ``[]`` there is no observed table.
    exogenous : sequence of str or int, optional
        Exogenous variables, with any covariance. Nothing causes them, and rotations act only on the
        columns of the other variables: the class is that of a design in which they are intervened
        on in every table, and edges into them are ignored.
    rules : {"all", "rotations"}, default "all"
        Whether to search for further graphs with the rules beyond rotations, or only with rotations
        (the class of the paper). ``completeness`` says whether there may be others.
    reducible : bool, default False
        Whether members with redundant edges are listed and counted too.
    max_states : int, default 300,000
        Maximum number of intermediate results of an exact count in memory; counts that need more
        raise LimitError. Listing members needs none.
    max_classes : int, default 256
        Maximum number of classes of rotations to join; ``completeness`` says if this limit stopped
        the search.

    Examples
    --------
    The paper's example on four nodes:

    >>> g = DirectedGraph.from_edges([(0, 2), (2, 1), (1, 3), (3, 0), (3, 2)])
    >>> c = equivalence_class(g)
    >>> c.size, equivalence_class(g, reducible=True).size, c.n_acyclic
    (8, 10, 0)
    >>> table = c.edge_table().set_index(["a", "b"])
    >>> table.loc[("X2", "X4"), "verdict"], table.loc[("X3", "X4"), "verdict"]
    ('direction differs', 'in some')

    Here rotations link four graphs, and all have the loop X3 ⇄ X4. The rules find four more with
    the same distributions, and those do not have it:

    >>> g = DirectedGraph.from_edges([(0, 1), (3, 2), (0, 3), (1, 3), (2, 3)])
    >>> equivalence_class(g, rules="rotations").size, equivalence_class(g).size
    (4, 8)
    >>> print(equivalence_class(g).completeness.value)
    all graphs with these distributions are members, proved

    An intervention determines what observational data leave open: the class of a chain has three
    graphs, and intervening on one end leaves only the chain or the two others.

    >>> chain = DirectedGraph.from_edges([("a", "b"), ("b", "c")])
    >>> equivalence_class(chain).size, equivalence_class(chain, interventions=[[], ["a"]]).size
    (3, 1)
    >>> equivalence_class(chain, interventions=[[], ["c"]]).size
    2

    Knowing that nothing causes a variable has the same effect:

    >>> equivalence_class(chain, exogenous=["a"]).size
    1
    """
    graph = as_graph(graph)
    given = [graph.index(each) for each in items("exogenous", exogenous, "a list of names")]
    if given:
        design = as_design([[]] if interventions is None else interventions, graph)
        interventions = [tuple({*targets, *given}) for targets in design.tables]
    if interventions is not None:
        return InterventionalClass(graph, interventions, **options)
    return EquivalenceClass(graph, **options)
