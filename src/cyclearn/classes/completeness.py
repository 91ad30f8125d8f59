"""Whether a class is known to hold all graphs with its distributions.

Rotations and rules prove that graphs generate the same distributions. That no other graph does is
another matter. Two facts settle it for small graphs.

**Few nodes.** All pairs of classes on up to five nodes have been compared: any two that neither
rotations nor the rules link differ, by a proof.

**Parts.** Let the graph fall into parts that no edge joins. A graph with the same distributions has
the same largest columns (the documentation, "Beyond the theorem"), so it falls into the same parts.
The distributions of a part are those of the whole in which all other variables are independent of
everything. So each part of the one graph generates the distributions of the same part of the
other, and the class of the whole is complete if those of its parts are.
"""

from __future__ import annotations

from collections import Counter
from enum import Enum
from typing import TYPE_CHECKING

from cyclearn.classes.rule_search import LinkedClasses

if TYPE_CHECKING:
    from cyclearn.graphs.directed_graph import DirectedGraph

# All pairs of classes on so many nodes have been told apart or proved equal.
_NODES_SETTLED = 5


class Completeness(Enum):
    """Whether a class holds all graphs with its distributions; the value is a sentence."""

    PROVED = "all graphs with these distributions are members, proved"
    CONJECTURED = (
        "all graphs that rotations and rules were found to link are members; that no others "
        "generate these distributions is a conjecture"
    )
    CUT = "a limit cut the search; further graphs may generate the same distributions"
    ROTATIONS = (
        "all graphs that rotations link are members, as asked; further rules were not searched"
    )


def completeness(graph: DirectedGraph, linked: LinkedClasses) -> Completeness:
    """What is known about a class that the rules were searched for."""
    if linked.cut_by is not None:
        return Completeness.CUT
    if max(_sizes_of_parts(graph), default=0) <= _NODES_SETTLED:
        return Completeness.PROVED
    return Completeness.CONJECTURED


def _sizes_of_parts(graph: DirectedGraph) -> list[int]:
    """Numbers of nodes of the parts that no edge joins."""
    from scipy.sparse.csgraph import connected_components

    _, part = connected_components(graph.adjacency, directed=False)
    return list(Counter(part.tolist()).values())
