"""The distribution on a graph closest to a given one, and whether one is within a bound."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from cyclearn.data.moments import Moments, name_order
from cyclearn.foundation.answers import Answer
from cyclearn.foundation.arrays import FloatArray
from cyclearn.foundation.option_values import checks_names
from cyclearn.foundation.random_state import RandomState
from cyclearn.graphs.directed_graph import DirectedGraph
from cyclearn.graphs.graph_input import as_graph
from cyclearn.models import components
from cyclearn.models.fit_status import FitStatus
from cyclearn.models.linear_gaussian import LinearGaussianModel

# More than for a fit, because a distance is wrong when its best optimum is missed.
PROJECTION_STARTS = 20


@dataclass(frozen=True, eq=False)
class Projection(Answer):
    """Closest distribution on a graph and its divergence.

    ``kl_divergence`` is KL(given ‖ model) in nats. With the status AT_INFINITY it is an infimum
    that no parameters on the graph reach. ``alternatives`` are other parameter sets of the same
    distance.
    """

    graph: DirectedGraph
    model: LinearGaussianModel
    kl_divergence: float
    status: FitStatus
    alternatives: tuple[LinearGaussianModel, ...]

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values for JSON."""
        return {
            "kl_divergence": self.kl_divergence,
            "status": self.status.name,
            "message": self.status.value,
            "model": self.model.to_dict(),
            "alternatives": [model.to_dict() for model in self.alternatives],
        }


@checks_names
def project(
    graph: DirectedGraph | str,
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
    graph = as_graph(graph)
    moments = moments_of(model, graph.names)
    R = moments.correlation
    options = components.FitOptions(n_starts, tolerance, max_iterations, random_state)
    fits = components.fit_components(graph, R, options, name_order(graph.names, False))
    value = sum(component.value for component in fits)
    divergence = value - 0.5 * float(np.linalg.slogdet(R)[1])
    closest, *alternatives = components.models_of(graph, fits, moments.scale, moments.mean)
    return Projection(
        graph,
        closest,
        max(float(divergence), 0.0),
        components.worst_status(fits),
        tuple(alternatives),
    )


def moments_of(distribution: LinearGaussianModel | Moments, names: tuple[str, ...]) -> Moments:
    """Mean and covariance of a distribution, the variables in the order of ``names``."""
    if isinstance(distribution, LinearGaussianModel):
        # The number of samples has no influence; any number above p requires a regular covariance.
        n_samples = distribution.n_variables + 2
        distribution = Moments(
            distribution.covariance, n_samples, distribution.mean, distribution.names
        )
    return distribution.aligned_to(names)


# Usually the first start suffices, so it is tried alone; each further stage has five times as many.
_GROWTH = 5


def nearest_weights(
    graph: DirectedGraph,
    R: FloatArray,
    starts: Callable[[components.ComponentColumns], FloatArray],
    *,
    tolerance: float,
    max_iterations: int,
    close: float,
    bound: float | None = None,
) -> tuple[float, FloatArray]:
    """Smallest KL divergence found from the correlation matrix R to the graph, and B there.

    The divergence is a sum over components. Starts are tried in stages, and a component within
    ``close`` of its lower bound is not run again. A ``bound`` ends all stages once the divergence
    is below it, and prevents all runs if it cannot be: then the result is infinite.
    """
    from cyclearn._kernels.component_fit import fit_nodes

    singles, loops = components.component_columns(graph)
    known = -0.5 * float(np.linalg.slogdet(R)[1])
    B = np.zeros_like(R)
    if singles is not None:
        values, weights = fit_nodes(R, *singles.layout)
        known += float(values.sum())
        B[singles.parents, singles.children] = weights
    least = [components.least_value(R, columns) for columns in loops]
    best = [np.inf] * len(loops)
    if bound is not None and known + sum(least) >= bound:
        return np.inf, B
    rows = [starts(columns) for columns in loops]
    stages = [max(map(len, rows), default=0)]
    while stages[0] > 1:
        stages.insert(0, (stages[0] - 1) // _GROWTH + 1)
    for first, last in pairwise([0, *stages]):
        for n, columns in enumerate(loops):
            if best[n] - least[n] < close:
                continue
            runs = components.ComponentRuns.of(
                R, columns, rows[n][first:last], tolerance, max_iterations
            )
            if runs.values.min() < best[n]:
                best[n] = float(runs.values.min())
                B[columns.parents, columns.children] = runs.coefficients[runs.values.argmin()]
        if bound is not None and known + sum(best) < bound:
            break
    return known + sum(best), B


# A component this close to its lower bound is not fitted again.
_CLOSE = 1e-9


def is_within(graph: DirectedGraph, correlation: FloatArray, bound: float) -> bool:
    """Whether the projection on the graph has a KL divergence below ``bound``.

    Parameters
    ----------
    graph : DirectedGraph
    correlation : array of shape (p, p)
        Correlation matrix of the given distribution, in the order of the graph's nodes.
    bound : float

    Examples
    --------
    >>> chain = DirectedGraph.from_edges([("a", "b")])
    >>> R = np.array([[1.0, 0.5], [0.5, 1.0]])
    >>> is_within(chain, R, 1e-9), is_within(DirectedGraph(np.zeros((2, 2))), R, 0.1)
    (True, False)
    """
    divergence, _ = nearest_weights(
        graph,
        correlation,
        lambda columns: components.component_starts(0, PROJECTION_STARTS, len(columns.parents)),
        tolerance=1e-10,
        max_iterations=1000,
        close=_CLOSE,
        bound=bound,
    )
    return divergence < bound
