"""The second part of Assumption 1: no graph with as few edges has a proper subset of constraints.

For an irreducible graph G* the assumption says: if H(G) ⊆ H(G*) and |E(G)| ≤ |E(G*)|, then
H(G) = H(G*), with H the set of all hard constraints. Two cases are proved here.

- **No parameter in excess**: dim Θ(G*) = |E(G*)| + p. H(G) ⊆ H(G*) means that the closure of Θ(G)
  contains that of Θ(G*), so dim Θ(G) ≥ dim Θ(G*). But dim Θ(G) ≤ |E(G)| + p ≤ |E(G*)| + p. So the
  dimensions agree, one irreducible closed set lies in the other, and they are equal. ∎
- **Full dimension**: then H(G*) is empty, and so is every H(G) inside it. ∎

Every irreducible graph of up to four nodes is of one of the two kinds. From five nodes on the
assumption can fail: an irreducible graph of as many edges as pairs of nodes, but not of full
dimension, has a constraint, while the complete acyclic graph has as many edges and none. Here
"irreducible" is what rotations and the rules of
:mod:`cyclearn.classes.column_rules` leave; that no other edge is redundant is not
proved. For other graphs the assumption is neither proved nor refuted.
"""

from __future__ import annotations

from dataclasses import dataclass

from cyclearn.classes.equivalence_class import EquivalenceClass
from cyclearn.graphs.directed_graph import DirectedGraph
from cyclearn.graphs.graph_input import as_graph


@dataclass(frozen=True)
class AssumptionCheck:
    """Whether the second part of Assumption 1 holds; None if this is not known."""

    holds: bool | None
    reason: str


def check_assumption_one(graph: DirectedGraph) -> AssumptionCheck:
    """Check the second part of Assumption 1 for a graph, reduced by rotations and rules first.

    The first part, generalised faithfulness, concerns a distribution:
    :func:`cyclearn.identifiability.is_faithful`.

    Examples
    --------
    >>> check = check_assumption_one(DirectedGraph.from_edges([("a", "b"), ("b", "c")]))
    >>> check.holds, check.reason
    (True, 'dimension 5 = 2 edges + 3 nodes: no parameter is in excess')
    """
    graph = as_graph(graph)
    p, dimension = graph.n_nodes, graph.dimension()
    n_edges = EquivalenceClass(graph).rotation_classes[0].n_edges
    if dimension == n_edges + p:
        reason = f"dimension {dimension} = {n_edges} edges + {p} nodes: no parameter is in excess"
        return AssumptionCheck(True, reason)
    if dimension == p * (p + 1) // 2:
        return AssumptionCheck(True, f"full dimension {dimension}: there is no hard constraint")
    if n_edges >= p * (p - 1) // 2:
        return AssumptionCheck(
            False,
            f"dimension {dimension} is not full, so there is a hard constraint; the complete "
            f"acyclic graph has none and no more than these {n_edges} edges",
        )
    excess = n_edges + p - dimension
    return AssumptionCheck(
        None,
        f"{n_edges} edges and {p} nodes make {excess} more parameters than the dimension "
        f"{dimension}, which is not full: a graph of larger dimension with as few edges is not "
        "excluded",
    )
