"""Whether a graph comes within a given KL divergence of a distribution, at the least cost.

Often the best conceivable values of the components alone say no; otherwise the first start that
gets below the bound says yes, and only a no that rests on fits needs all starts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cyclearn.graphs.directed_graph import DirectedGraph
from cyclearn.models.component_columns import component_columns
from cyclearn.models.component_runs import run_components
from cyclearn.models.component_solutions import component_starts
from cyclearn.models.projection import PROJECTION_STARTS

FloatArray = NDArray[np.float64]

# A component this near to what is conceivable is not fitted again.
_CLOSE = 1e-9


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

    singles, loops = component_columns(graph)
    known = -0.5 * float(np.linalg.slogdet(correlation)[1])
    if singles is not None:
        values, _ = fit_nodes(correlation, singles.nodes, singles.offsets, singles.parents)
        known += float(values.sum())
    runs = run_components(
        correlation,
        loops,
        [component_starts(0, n_starts, len(columns.parents)) for columns in loops],
        tolerance=tolerance,
        max_iterations=max_iterations,
        bound=bound - known,
        close=_CLOSE,
    )
    return known + sum(run.least for run in runs) < bound
