"""The tables of an experiment: which variables are set from outside in each.

A perfect intervention sets a variable from outside: its equation, parents and noise are replaced by
values that do not depend on anything else in the system. With U the other variables of a table, it
tells the distribution of x_U given the targets, which is that of the matrix Σ_{i∈U} q_i q_iᵀ, where
q_i is column i of Q = (I − B)Ω^(−1/2).

Variables that are untargeted in the same tables form a *group*. The tables tell the sum of q_i q_iᵀ
over every group, and nothing else (the documentation, "Interventions").
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from cyclearn.foundation.errors import InputError
from cyclearn.foundation.json_input import short
from cyclearn.graphs.directed_graph import DirectedGraph, Node

# The targets of every table, by name or index; an empty list stands for observed data.
Interventions: TypeAlias = Sequence[Sequence[Node]]


@dataclass(frozen=True)
class InterventionDesign:
    """The targets of every table, as indices of nodes in ascending order.

    Examples
    --------
    >>> InterventionDesign(4, ((), (0,), (0, 1))).groups
    ((0,), (1,), (2, 3))
    """

    n_nodes: int
    tables: tuple[tuple[int, ...], ...]

    @cached_property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Nodes that are targeted in the same tables, those left out that always are."""
        together: dict[tuple[bool, ...], list[int]] = {}
        for j in range(self.n_nodes):
            together.setdefault(tuple(j in targets for targets in self.tables), []).append(j)
        return tuple(tuple(nodes) for where, nodes in together.items() if not all(where))

    @cached_property
    def always_targeted(self) -> tuple[int, ...]:
        """Nodes that every table sets from outside; nothing is told about what drives them."""
        free = {j for group in self.groups for j in group}
        return tuple(j for j in range(self.n_nodes) if j not in free)


def as_design(interventions: Interventions, graph: DirectedGraph) -> InterventionDesign:
    """The design that a list of targets for each table describes, checked.

    Examples
    --------
    >>> chain = DirectedGraph.from_edges([("a", "b"), ("b", "c")])
    >>> as_design([[], ["b"]], chain).tables
    ((), (1,))
    """
    if isinstance(interventions, str) or not isinstance(interventions, Iterable):
        raise InputError(
            f"interventions are {short(interventions)}; give the targets of every table, such as "
            "[[], ['a']], where [] stands for observed data"
        )
    tables = [_targets(targets, graph) for targets in interventions]
    if not tables:
        raise InputError("interventions are empty; give [[]] for observed data alone")
    return InterventionDesign(graph.n_nodes, tuple(tables))


def _targets(targets: Sequence[Node], graph: DirectedGraph) -> tuple[int, ...]:
    if isinstance(targets, str) or not isinstance(targets, Iterable):
        raise InputError(
            f"the targets of a table are {short(targets)}; give a list of names, such as ['a'], "
            "and [] for observed data"
        )
    found = [graph.index(target) for target in targets]
    if len(set(found)) < len(found):
        raise InputError(f"the targets {short(list(targets))} name a variable twice; name it once")
    if found and len(found) == graph.n_nodes:
        raise InputError(
            f"the targets {short(list(targets))} are all variables: such a table says nothing "
            "about the graph; leave it out"
        )
    return tuple(sorted(found))
