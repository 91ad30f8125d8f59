"""Whether a graph comes within a given KL divergence of a distribution, at the least cost.

The divergence is a sum over strongly connected components, and of each the best conceivable value
is known before any fit: what the component would reach if it could generate every distribution of
its nodes given its outside parents. Often that alone says no; otherwise the first start that gets
below the bound says yes, and only a no that rests on fits needs all starts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cyclearn.graphs.directed_graph import DirectedGraph
from cyclearn.models.component_solutions import (
    ComponentColumns,
    component_columns,
    component_starts,
)
from cyclearn.models.projection import PROJECTION_STARTS

FloatArray = NDArray[np.float64]

# A component this near to what is conceivable is not fitted again.
_REACHED = 1e-9
# The first start alone, then a few, then all: most answers need only the first.
_STAGES = (1, 5)


def is_within(
    graph: DirectedGraph,
    correlation: FloatArray,
    bound: float,
    *,
    n_starts: int = PROJECTION_STARTS,
    tolerance: float = 1e-10,
    max_iterations: int = 1000,
) -> bool:
    """Whether the projection on the graph has a KL divergence below ``bound``.

    Parameters
    ----------
    graph : DirectedGraph
    correlation : array of shape (p, p)
        Correlation matrix of the given distribution, in the order of the graph's nodes.
    bound : float
    n_starts, tolerance, max_iterations
        As in :func:`cyclearn.project`.

    Examples
    --------
    >>> chain = DirectedGraph.from_edges([("a", "b")])
    >>> R = np.array([[1.0, 0.5], [0.5, 1.0]])
    >>> is_within(chain, R, 1e-9), is_within(DirectedGraph(np.zeros((2, 2))), R, 0.1)
    (True, False)
    """
    from cyclearn._kernels.component_fit import fit_nodes
    from cyclearn._kernels.component_optima import fit_component_from_starts

    singles, loops = component_columns(graph)
    known = -0.5 * float(np.linalg.slogdet(correlation)[1])
    if singles is not None:
        values, _ = fit_nodes(correlation, singles.nodes, singles.offsets, singles.parents)
        known += float(values.sum())
    least = [_least_value(correlation, columns) for columns in loops]
    if known + sum(least) >= bound:
        return False
    best = [np.inf] * len(loops)
    done = 0
    for stage in (*(s for s in _STAGES if s < n_starts), n_starts):
        for n, columns in enumerate(loops):
            if best[n] - least[n] < _REACHED:
                continue
            starts = component_starts(0, n_starts, len(columns.parents))[done:stage]
            values = fit_component_from_starts(
                correlation,
                columns.nodes,
                columns.offsets,
                columns.parents,
                starts,
                tolerance,
                max_iterations,
            )[0]
            best[n] = min(best[n], float(values.min()))
        if known + sum(best) < bound:
            return True
        done = stage
    return False


def _least_value(R: FloatArray, columns: ComponentColumns) -> float:
    """Half the log determinant of the covariance of a component given its outside parents."""
    outside = np.unique(columns.parents[~columns.inside])
    both = np.concatenate([columns.nodes, outside])
    value = np.linalg.slogdet(R[np.ix_(both, both)])[1]
    if len(outside):
        value -= np.linalg.slogdet(R[np.ix_(outside, outside)])[1]
    return 0.5 * float(value)
