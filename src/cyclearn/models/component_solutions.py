"""The best parameter sets of one component: several starts, distinct solutions, their status."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from cyclearn.foundation.errors import InputError
from cyclearn.foundation.random_state import RandomState, generator
from cyclearn.graphs.directed_graph import DirectedGraph
from cyclearn.models.component_columns import ComponentColumns
from cyclearn.models.component_runs import ComponentRuns, run_components
from cyclearn.models.fit_status import FitStatus

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# Negative log-likelihoods per sample closer than this are one maximum reached twice.
_SAME_VALUE = 1e-8
# Eigenvalues of the whitened Fisher information below this count as zero. Where
# two solutions of a cycle meet, the eigenvalue is about the square of the distance to there.
_FLAT = 1e-6


@dataclass(frozen=True)
class ComponentSolution:
    """One maximum of a component's likelihood, on the standardised scale."""

    coefficients: FloatArray
    noise_variances: FloatArray
    spectral_radius: float


@dataclass(frozen=True)
class ComponentFit:
    """How one component was fitted.

    ``value`` is the negative log-likelihood per sample on the standardised scale, without
    constants; ``solutions`` are the distinct parameter sets that reach it, the preferred one
    first; ``n_flat`` counts directions in which the likelihood does not change.
    """

    columns: ComponentColumns
    value: float
    gradient_norm: float
    iterations: int
    status: FitStatus
    solutions: tuple[ComponentSolution, ...]
    n_flat: int


def generic_deficiency(columns: ComponentColumns) -> int:
    """Parameters of a component in excess of its generic dimension.

    A graph's distribution is made of those of its components given their outside parents, so
    this is the deficiency of the graph that keeps only the edges into the component.
    """
    members = np.union1d(columns.nodes, columns.parents)
    adjacency = np.zeros((len(members), len(members)), dtype=bool)
    parents, children = (np.searchsorted(members, v) for v in (columns.parents, columns.children))
    adjacency[parents, children] = True
    graph = DirectedGraph(adjacency)
    return graph.n_edges + graph.n_nodes - graph.dimension()


def fit_component_solutions(
    R: FloatArray,
    columns: ComponentColumns,
    *,
    n_starts: int | None,
    tolerance: float,
    max_iterations: int,
    random_state: RandomState,
) -> ComponentFit:
    """Fit one component of two nodes or more to the correlation matrix R."""
    (runs,) = run_components(
        R,
        [columns],
        [fit_starts(columns, n_starts, random_state)],
        tolerance=tolerance,
        max_iterations=max_iterations,
    )
    return solutions_of(R, runs)


def fit_starts(
    columns: ComponentColumns, n_starts: int | None, random_state: RandomState
) -> FloatArray:
    """Starts of a fit: as many as asked for, by default more for larger components."""
    if n_starts is None:
        n_starts = min(max(4, 2 * len(columns.nodes) - 4), 20)
    return component_starts(random_state, n_starts, len(columns.parents))


def distinct_runs(runs: ComponentRuns) -> tuple[int, IntArray]:
    """The best run, and one for each distinct point that reaches its value."""
    from cyclearn._kernels.component_optima import select_optima

    return select_optima(runs.values, runs.coefficients, runs.codes, _SAME_VALUE)


def solutions_of(R: FloatArray, runs: ComponentRuns) -> ComponentFit:
    """The distinct solutions among the runs of a component that reach its best value."""
    from cyclearn._kernels import component_fit as kernel
    from cyclearn._kernels.component_information import residuals

    columns = runs.columns
    nodes, offsets, parents = columns.nodes, columns.offsets, columns.parents
    best, distinct = distinct_runs(runs)
    code = runs.codes[best]
    if code == kernel.COLLINEAR:
        raise_collinear(R, columns)
    solutions = [
        ComponentSolution(
            b,
            residuals(R, nodes, offsets, parents, b)[1],
            columns.spectral_radius(b),
        )
        for b in runs.coefficients[distinct]
    ]
    solutions.sort(key=solution_preference)
    status, n_flat = FitStatus.CONVERGED, 0
    if code == kernel.AT_INFINITY:
        status = FitStatus.AT_INFINITY
    elif code == kernel.ITERATION_LIMIT:
        status = FitStatus.ITERATION_LIMIT
    else:
        status, n_flat = _curvature(R, columns, solutions[0])
    return component_fit(runs, best, solutions, status, n_flat)


def component_fit(
    runs: ComponentRuns,
    best: int,
    solutions: list[ComponentSolution],
    status: FitStatus,
    n_flat: int,
) -> ComponentFit:
    """The fit of the best run, with its solutions in the order of preference."""
    if status is not FitStatus.CONVERGED:
        # A continuum of solutions, two that have met, or points on the way to infinity: none of
        # them are alternatives.
        solutions = solutions[:1]
    return ComponentFit(
        runs.columns,
        float(runs.values[best]),
        float(runs.gradient_norms[best]),
        int(runs.iterations[best]),
        status,
        tuple(solutions),
        n_flat,
    )


def solution_preference(solution: ComponentSolution) -> tuple[float, tuple[float, ...]]:
    """The solution whose feedback dies out fastest comes first, of equal ones the larger numbers.

    Rounded, since solutions that mirror each other have one radius up to the last digit.
    """
    radius = round(solution.spectral_radius, 6)
    return radius, tuple((-solution.coefficients.round(6)).tolist())


def flat_directions(
    R: FloatArray, columns: ComponentColumns, solution: ComponentSolution
) -> FloatArray:
    """Directions in parameter space that leave the distribution as it is, shape (N, n_flat).

    The null space of the Fisher information; edges in the order of ``columns.parents``, then
    the variances. The largest entry of every direction is one in units of the standard error
    that the parameter would have if all others were known.
    """
    from cyclearn._kernels.component_information import expected_information

    nodes, offsets, parents = columns.nodes, columns.offsets, columns.parents
    b, variances = solution.coefficients, solution.noise_variances
    info = expected_information(R, nodes, offsets, parents, b, variances)
    # Relative to the blocks of single columns: collinear parents, which make one column
    # ill-conditioned, leave no trace, and small eigenvalues come from the coupling of columns.
    blocks = np.where(columns.same_column, info, 0.0)
    # The usual case at the price of a factorisation: no eigenvalue is near zero.
    # Loaded here: a table that is only opened needs none of it.
    from scipy.linalg import lapack

    if lapack.dpotrf(info - _FLAT * blocks)[1] == 0:
        return np.empty((len(info), 0))
    eigenvalues, directions, failed = lapack.dsygvd(info, blocks)
    if failed:
        # A column at the limit of rounding: scale the parameters one by one.
        eigenvalues, directions, _ = lapack.dsygvd(info, np.diag(info.diagonal()))
    directions = directions[:, eigenvalues < _FLAT] * np.sqrt(info.diagonal())[:, None]
    return np.asarray(directions / np.abs(directions).max(axis=0))


def _curvature(
    R: FloatArray, columns: ComponentColumns, solution: ComponentSolution
) -> tuple[FitStatus, int]:
    n_flat = flat_directions(R, columns, solution).shape[1]
    if n_flat == 0:
        return FitStatus.CONVERGED, 0
    if n_flat > generic_deficiency(columns):
        return FitStatus.BOUNDARY, n_flat
    return FitStatus.NOT_IDENTIFIED, n_flat


def component_starts(random_state: RandomState, n_starts: int, n_edges: int) -> FloatArray:
    """Zero, then random coefficients, shape (n_starts, n_edges).

    Large coefficients make good starts: further optima tend to lie where the gain of a cycle
    exceeds one. On graphs that did not generate the data, zero alone missed the best optimum in
    a quarter of the components of four or five nodes, zero and two of these in one of forty.
    """
    if isinstance(random_state, int):
        return _seeded_starts(random_state, n_starts, n_edges)
    starts = np.zeros((n_starts, n_edges))
    starts[1:] = 3 * generator(random_state).standard_normal((n_starts - 1, n_edges))
    return starts


@lru_cache(maxsize=256)
def _seeded_starts(seed: int, n_starts: int, n_edges: int) -> FloatArray:
    # Making a generator costs as much as fitting three components.
    return component_starts(np.random.default_rng(seed), n_starts, n_edges)


def raise_collinear(R: FloatArray, columns: ComponentColumns) -> None:
    """Raise for the first node that is collinear with its parents."""
    from cyclearn._kernels.component_fit import node_score

    for i, node in enumerate(columns.nodes):
        parents = columns.parents[columns.offsets[i] : columns.offsets[i + 1]]
        if not np.isfinite(node_score(R, node, parents)):
            raise CollinearError(int(node))
    raise CollinearError(int(columns.nodes[0]))


class CollinearError(InputError):
    """A node is an exact linear function of its parents in the sample."""

    def __init__(self, node: int) -> None:
        super().__init__(f"node {node} is an exact linear function of its parents")
        self.node = node
