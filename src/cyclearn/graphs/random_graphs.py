"""Random directed graphs by the generator of the paper's experiments."""

from __future__ import annotations

import numpy as np

from cyclearn.foundation.arguments import at_least, whole
from cyclearn.foundation.option_values import checks_names
from cyclearn.foundation.random_state import RandomState, generator
from cyclearn.graphs.bitsets import bits, columns_to_support, reached
from cyclearn.graphs.directed_graph import DirectedGraph
from cyclearn.graphs.graph_input import check_number_of_nodes


@checks_names
def random_graph(
    n_nodes: int,
    max_degree: int = 4,
    max_component: int | None = None,
    max_cycle_length: int | None = None,
    random_state: RandomState = None,
) -> DirectedGraph:
    """Random directed graph, cycles included.

    Every node draws a limit on its degree uniformly from 1 to ``max_degree``; a degree counts
    edges in and out. Nodes are visited in order and propose edges to the others in random order,
    each in a random direction, until the limit is reached. An edge that would violate one of the
    other limits is dropped. The paper's experiments use degree 4 and components of at most 5, 5 and
    10 nodes for graphs of 5, 20 and 50.

    Parameters
    ----------
    n_nodes : int
        Number of nodes, p.
    max_degree : int, default 4
        Largest number of edges at a node; i ⇄ j counts two at both.
    max_component : int, optional
        Largest number of nodes in a strongly connected component.
    max_cycle_length : int, optional
        Largest number of nodes in a simple cycle.
    random_state : int, numpy Generator or None
        Seed or source of randomness.

    Examples
    --------
    >>> random_graph(5, max_component=3, random_state=1).n_nodes
    5
    """
    whole("n_nodes", n_nodes, 0)
    whole("max_degree", max_degree, 1)
    at_least("max_component", max_component, 1)
    at_least("max_cycle_length", max_cycle_length, 1)
    check_number_of_nodes(n_nodes)
    rng = generator(random_state)
    limit = rng.integers(1, max_degree, size=n_nodes, endpoint=True)
    degree = np.zeros(n_nodes, dtype=int)
    children = [0] * n_nodes
    for i in range(n_nodes):
        for j in rng.permutation(n_nodes).tolist():
            if degree[i] >= limit[i]:
                break
            source, target = (i, j) if rng.random() < 0.5 else (j, i)
            if i == j or degree[j] >= limit[j] or children[source] >> target & 1:
                continue
            if _allowed(children, source, target, max_component, max_cycle_length):
                children[source] |= 1 << target
                degree[i] += 1
                degree[j] += 1
    return DirectedGraph(columns_to_support(children).T)


def _allowed(
    children: list[int],
    source: int,
    target: int,
    max_component: int | None,
    max_cycle_length: int | None,
) -> bool:
    """Whether source → target may be added."""
    below = reached(children, 1 << target)
    if not below >> source & 1:
        return True
    # The new component consists of nodes below the target and above the source.
    component = sum(1 << v for v in bits(below) if reached(children, 1 << v) >> source & 1)
    if max_component is not None and component.bit_count() > max_component:
        return False
    return max_cycle_length is None or not _has_longer_path(
        children, target, source, component, max_cycle_length
    )


def _has_longer_path(
    children: list[int], start: int, goal: int, unvisited: int, max_nodes: int
) -> bool:
    """Whether a simple path from start to goal has more than ``max_nodes`` nodes."""
    unvisited &= ~(1 << start)
    if start == goal:
        return max_nodes < 1
    return any(
        _has_longer_path(children, v, goal, unvisited, max_nodes - 1)
        for v in bits(children[start] & unvisited)
    )
