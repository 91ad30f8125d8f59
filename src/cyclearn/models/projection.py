"""The distribution on a graph closest to a given one, and whether one is within a bound."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cyclearn.data.moments import Moments, name_order
from cyclearn.foundation.arrays import FloatArray
from cyclearn.foundation.random_state import RandomState
from cyclearn.graphs.directed_graph import DirectedGraph
from cyclearn.models.components import (
    component_columns,
    component_starts,
    fit_components,
    run_components,
)
from cyclearn.models.fit_status import FitStatus
from cyclearn.models.linear_gaussian import LinearGaussianModel
from cyclearn.models.maximum_likelihood import alternatives, assemble, worst_status

# More than for a fit, because a distance is wrong when its best optimum is missed.
PROJECTION_STARTS = 20


@dataclass(frozen=True, eq=False)
class Projection:
    """Closest distribution on a graph and how far it is.

    ``kl_divergence`` is KL(given ‖ model) in nats. With the status AT_INFINITY it is an infimum
    that no parameters on the graph reach. ``alternatives`` are other parameter sets of the same
    distance.
    """

    graph: DirectedGraph
    model: LinearGaussianModel
    kl_divergence: float
    status: FitStatus
    alternatives: tuple[LinearGaussianModel, ...]


def project(
    graph: DirectedGraph,
    model: LinearGaussianModel | Moments,
    *,
    n_starts: int = PROJECTION_STARTS,
    tolerance: float = 1e-10,
    max_iterations: int = 1000,
    random_state: RandomState = 0,
) -> Projection:
    """Distribution on the graph with the smallest KL divergence from a given one.

    Minimising KL(P ‖ P_{B,Ω}) over the parameters on a graph is maximum likelihood with the
    covariance of P in place of the sample covariance, so the same solver serves.

    Parameters
    ----------
    graph : DirectedGraph
    model : LinearGaussianModel or Moments
        The given distribution; variables are matched with nodes by name.
    n_starts : int
        More than for a fit, because a distance is wrong when its best optimum is missed.
    tolerance, max_iterations, random_state
        As in :func:`cyclearn.models.fit`.

    Examples
    --------
    >>> m = LinearGaussianModel([[0, 0.5], [0, 0]], [1.0, 1.0], ["a", "b"])
    >>> turned = project(DirectedGraph.from_edges([("b", "a")], ["a", "b"]), m)
    >>> bool(turned.kl_divergence < 1e-12)
    True
    """
    if isinstance(model, Moments):
        moments = model.aligned_to(graph.names)
    else:
        # The number of samples plays no part; any number above p asks for a regular covariance.
        moments = Moments(
            model.covariance, len(model.names) + 2, mean=model.mean, names=model.names
        ).aligned_to(graph.names)
    R = moments.correlation
    components = fit_components(
        graph,
        R,
        order=name_order(graph.names, False),
        n_starts=n_starts,
        tolerance=tolerance,
        max_iterations=max_iterations,
        random_state=random_state,
    )
    value = sum(component.value for component in components)
    divergence = value - 0.5 * float(np.linalg.slogdet(R)[1])
    return Projection(
        graph,
        assemble(graph, components, moments.scale, moments.mean),
        max(float(divergence), 0.0),
        worst_status(components),
        alternatives(graph, components, moments.scale, moments.mean),
    )


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
