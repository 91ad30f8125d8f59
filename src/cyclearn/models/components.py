"""Strongly connected components: their columns, fits from several starts, distinct solutions.

The negative log-likelihood is a sum over strongly connected components. For each component a lower
bound is known before any fit: the value that it would reach if it could generate every distribution
of its nodes given its outside parents. A fit runs every start, because solutions of equal
likelihood are part of its result. A distance only needs the smallest value: a component that has
reached its bound is not fitted again, and the search ends with the first sum that is small enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations, islice

import numpy as np

from cyclearn.foundation import InputError, is_stable_radius
from cyclearn.foundation.arrays import BoolArray, FloatArray, IntArray
from cyclearn.foundation.random_state import RandomState, generator
from cyclearn.graphs.directed_graph import DirectedGraph
from cyclearn.models.fit_status import SEVERITY, FitStatus
from cyclearn.models.linear_gaussian import LinearGaussianModel


@dataclass(frozen=True, eq=False)
class ComponentColumns:
    """The columns of one component: nodes, and their parents column by column.

    ``children`` is the child of every edge, aligned with ``parents``; ``inside`` marks the
    edges within the component, and ``ends`` are the places of these in it, shape (2, ·).
    """

    nodes: IntArray
    offsets: IntArray
    parents: IntArray
    children: IntArray
    inside: BoolArray
    ends: IntArray

    @classmethod
    def of(
        cls, adjacency: BoolArray, nodes: Sequence[int], order: Sequence[int] | None = None
    ) -> ComponentColumns:
        """Columns of these nodes; parents may lie outside.

        Nodes and parents are in ``order``, ascending by default: sums and starts then do not
        depend on the order of the columns of a table.
        """
        walked = np.arange(len(adjacency)) if order is None else np.array(order)
        member = np.zeros(len(adjacency), dtype=bool)
        member[list(nodes)] = True
        index = np.ascontiguousarray(walked[member[walked]], dtype=np.int64)
        places, found = np.nonzero(adjacency.T[np.ix_(index, walked)])
        # nonzero gives strided views, for which the kernels would be compiled a second time.
        places, parents = np.ascontiguousarray(places), np.ascontiguousarray(walked[found])
        offsets = np.zeros(len(index) + 1, dtype=np.int64)
        np.cumsum(np.bincount(places, minlength=len(index)), out=offsets[1:])
        place_of = np.full(len(adjacency), -1, dtype=np.int64)
        place_of[index] = np.arange(len(index))
        inside = place_of[parents] >= 0
        ends = np.stack([place_of[parents[inside]], places[inside]])
        return cls(index, offsets, parents, index[places], inside, ends)

    @property
    def layout(self) -> tuple[IntArray, IntArray, IntArray]:
        """Nodes, offsets and parents, as arguments of kernels."""
        return self.nodes, self.offsets, self.parents

    def spectral_radius(self, coefficients: FloatArray) -> float:
        """Largest modulus of an eigenvalue of B restricted to the component."""
        k = len(self.nodes)
        weights = coefficients[self.inside]
        if len(weights) == k:
            # A single cycle: the eigenvalues are the k-th roots of its gain.
            return float(np.abs(np.prod(weights)) ** (1 / k))
        B = np.zeros((k, k))
        B[self.ends[0], self.ends[1]] = weights
        return float(np.abs(np.linalg.eigvals(B)).max())


@lru_cache(maxsize=128)
def component_columns(
    graph: DirectedGraph, order: tuple[int, ...] | None = None
) -> tuple[ComponentColumns | None, tuple[ComponentColumns, ...]]:
    """Columns of the single nodes together (None without any), and of each larger component.

    Nodes and parents are in ``order``, ascending by default.
    """
    singles = [nodes[0] for nodes in graph.component_indices if len(nodes) == 1]
    loops = [nodes for nodes in graph.component_indices if len(nodes) > 1]
    return (
        ComponentColumns.of(graph.adjacency, singles, order) if singles else None,
        tuple(ComponentColumns.of(graph.adjacency, nodes, order) for nodes in loops),
    )


@dataclass(frozen=True, eq=False)
class ComponentRuns:
    """Results of all runs of one component: arrays with an entry or a row for every run."""

    columns: ComponentColumns
    values: FloatArray
    coefficients: FloatArray
    gradient_norms: FloatArray
    iterations: IntArray
    codes: IntArray

    @classmethod
    def of(
        cls,
        R: FloatArray,
        columns: ComponentColumns,
        starts: FloatArray,
        tolerance: float,
        max_iterations: int,
    ) -> ComponentRuns:
        """Run from every row of ``starts``, and once more from the best with its gain inverted."""
        from cyclearn._kernels.component_optima import fit_component_from_starts

        found = fit_component_from_starts(R, *columns.layout, starts, tolerance, max_iterations)
        return cls(columns, *found)


def least_value(R: FloatArray, columns: ComponentColumns) -> float:
    """Half the log determinant of the covariance of a component given its outside parents."""
    outside = np.unique(columns.parents[~columns.inside])
    both = np.concatenate([columns.nodes, outside])
    value = np.linalg.slogdet(R[np.ix_(both, both)])[1]
    if len(outside):
        value -= np.linalg.slogdet(R[np.ix_(outside, outside)])[1]
    return 0.5 * float(value)


# Negative log-likelihoods per sample that differ by less belong to the same maximum.
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
    """The fit of one component.

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

    A graph's distribution is composed of those of its components given their outside parents, so
    this is the deficiency of the graph that keeps only the edges into the component.
    """
    members = np.union1d(columns.nodes, columns.parents)
    adjacency = np.zeros((len(members), len(members)), dtype=bool)
    parents, children = (np.searchsorted(members, v) for v in (columns.parents, columns.children))
    adjacency[parents, children] = True
    graph = DirectedGraph(adjacency)
    return graph.n_edges + graph.n_nodes - graph.dimension()


@dataclass(frozen=True)
class FitOptions:
    """How a component is fitted; see :func:`cyclearn.fit`."""

    n_starts: int | None = None
    tolerance: float = 1e-9
    max_iterations: int = 1000
    random_state: RandomState = 0


USUAL = FitOptions()


def fit_component_solutions(
    R: FloatArray, columns: ComponentColumns, options: FitOptions = USUAL
) -> ComponentFit:
    """Fit one component of two nodes or more to the correlation matrix R."""
    starts = fit_starts(columns, options.n_starts, options.random_state)
    runs = ComponentRuns.of(R, columns, starts, options.tolerance, options.max_iterations)
    return solutions_of(R, runs)


# Sets of edges that are omitted in turn; a loop of three nodes has 41.
_MOST_LEFT_OUT = 200


def _stable_if_possible(R: FloatArray, found: ComponentFit, options: FitOptions) -> ComponentFit:
    """Move the fit to a stable solution, if a continuum of solutions has one with zero weights.

    Redundant edges can be omitted without loss; trial and error finds them.
    """
    is_stable = is_stable_radius(found.solutions[0].spectral_radius)
    if found.status is not FitStatus.NOT_IDENTIFIED or is_stable:
        return found
    columns, p = found.columns, len(R)
    n_edges = len(columns.parents)
    sets = (c for k in range(1, found.n_flat + 1) for c in combinations(range(n_edges), k))
    for dropped in islice(sets, _MOST_LEFT_OUT):
        kept = np.delete(np.arange(n_edges), dropped)
        A = np.zeros((p, p), dtype=bool)
        A[columns.parents[kept], columns.children[kept]] = True
        order = tuple(columns.nodes.tolist())
        order += tuple(j for j in range(p) if j not in order)
        fits = fit_components(DirectedGraph(A), R, options, order, is_final=False)
        if worst_status(fits) not in (FitStatus.CONVERGED, FitStatus.NOT_IDENTIFIED):
            continue
        B, variances = parameters_of([(each, each.solutions[0]) for each in fits], p)
        b = B[columns.parents, columns.children]
        radius = columns.spectral_radius(b)
        # Nodes outside the component have no parents here and contribute nothing.
        value = sum(each.value for each in fits)
        if is_stable_radius(radius) and value <= found.value + _SAME_VALUE:
            solution = ComponentSolution(b, variances[columns.nodes], radius)
            return replace(found, solutions=(solution,))
    return found


def fit_components(
    graph: DirectedGraph,
    R: FloatArray,
    options: FitOptions,
    order: tuple[int, ...] | None = None,
    *,
    is_final: bool = True,
) -> tuple[ComponentFit, ...]:
    """Fit every component to the correlation matrix R, causes before effects.

    All single nodes form one component fit, the first. Nodes are processed in ``order``. A final
    fit is stable whenever possible.
    """
    singles, loops = component_columns(graph, order)
    fits = [] if singles is None else [fit_single_nodes(R, singles)]
    for columns in loops:
        found = fit_component_solutions(R, columns, options)
        fits.append(_stable_if_possible(R, found, options) if is_final else found)
    return tuple(fits)


def fit_single_nodes(R: FloatArray, columns: ComponentColumns) -> ComponentFit:
    """Least squares of every node on its parents."""
    from cyclearn._kernels.component_fit import fit_nodes

    values, b = fit_nodes(R, *columns.layout)
    if not np.isfinite(values).all():
        raise CollinearError(int(columns.nodes[~np.isfinite(values)][0]))
    solution = ComponentSolution(b, np.exp(2 * values), 0.0)
    return ComponentFit(columns, float(values.sum()), 0.0, 0, FitStatus.CONVERGED, (solution,), 0)


def fit_starts(
    columns: ComponentColumns, n_starts: int | None, random_state: RandomState
) -> FloatArray:
    """Starts of a fit: the requested number, by default more for larger components."""
    if n_starts is None:
        n_starts = min(max(4, 2 * len(columns.nodes) - 4), 20)
    return component_starts(random_state, n_starts, len(columns.parents))


def solutions_of(R: FloatArray, runs: ComponentRuns) -> ComponentFit:
    """The distinct solutions among the runs of a component that reach its best value."""
    from cyclearn._kernels.component_information import residuals

    columns = runs.columns

    def solution(b: FloatArray) -> ComponentSolution:
        variances = residuals(R, *columns.layout, b)[1]
        return ComponentSolution(b, variances, columns.spectral_radius(b))

    def n_flat(best: ComponentSolution, code: int) -> int:  # noqa: ARG001 - as for several tables
        return n_flat_directions(R, columns, best)

    return best_fit(R, runs, solution, n_flat)


def best_fit(
    R: FloatArray,
    runs: ComponentRuns,
    solution: Callable[[FloatArray], ComponentSolution],
    n_flat: Callable[[ComponentSolution, int], int],
) -> ComponentFit:
    """The fit of the best run, with one solution for each distinct point that reaches its value.

    ``n_flat`` counts the directions without information, from the preferred solution and the status
    code of its run.
    """
    from cyclearn._kernels import component_fit as kernel
    from cyclearn._kernels.component_optima import select_optima

    best, distinct = select_optima(runs.values, runs.coefficients, runs.codes, _SAME_VALUE)
    code = int(runs.codes[best])
    if code == kernel.COLLINEAR:
        raise_collinear(R, runs.columns)
    solutions = sorted(map(solution, runs.coefficients[distinct]), key=solution_preference)
    status, flat = FitStatus.CONVERGED, 0
    if code == kernel.AT_INFINITY:
        status = FitStatus.AT_INFINITY
    elif code == kernel.ITERATION_LIMIT:
        status = FitStatus.ITERATION_LIMIT
    elif flat := n_flat(solutions[0], code):
        is_generic = flat <= generic_deficiency(runs.columns)
        status = FitStatus.NOT_IDENTIFIED if is_generic else FitStatus.BOUNDARY
    if status is not FitStatus.CONVERGED:
        # A continuum of solutions, two that coincide, or points on the way to infinity are not
        # alternatives.
        solutions = solutions[:1]
    return ComponentFit(
        runs.columns,
        float(runs.values[best]),
        float(runs.gradient_norms[best]),
        int(runs.iterations[best]),
        status,
        tuple(solutions),
        flat,
    )


def parameters_of(
    chosen: Iterable[tuple[ComponentFit, ComponentSolution]], p: int
) -> tuple[FloatArray, FloatArray]:
    """Weights of shape (p, p) and noise variances of shape (p,) of chosen solutions."""
    B, variances = np.zeros((p, p)), np.empty(p)
    for fitted, solution in chosen:
        columns = fitted.columns
        B[columns.parents, columns.children] = solution.coefficients
        variances[columns.nodes] = solution.noise_variances
    return B, variances


def models_of(
    graph: DirectedGraph,
    components: Sequence[ComponentFit],
    scale: FloatArray,
    mean: FloatArray | None = None,
) -> tuple[LinearGaussianModel, ...]:
    """Models of equal likelihood on the scale of the data, that of the preferred solutions first.

    Each of the others differs from it in one component.
    """
    best = [(each, each.solutions[0]) for each in components]
    others = [
        [*best[:c], (component, solution), *best[c + 1 :]]
        for c, component in enumerate(components)
        for solution in component.solutions[1:]
    ]
    centre = np.zeros(graph.n_nodes) if mean is None else mean
    found = []
    for chosen in (best, *others):
        B, variances = parameters_of(chosen, graph.n_nodes)
        B, variances = B * scale / scale[:, None], variances * scale**2
        found.append(LinearGaussianModel._unchecked(B, variances, graph.names, centre))
    return tuple(found)


def worst_status(components: Sequence[ComponentFit]) -> FitStatus:
    """The most serious status of any component."""
    return max((c.status for c in components), key=SEVERITY.__getitem__)


def solution_preference(solution: ComponentSolution) -> tuple[float, tuple[float, ...]]:
    """The solution with the smallest spectral radius comes first; ties go to the larger numbers.

    Rounded, because mirrored solutions have the same radius up to the last digit.
    """
    radius = round(solution.spectral_radius, 6)
    return radius, tuple((-solution.coefficients.round(6)).tolist())


def flat_directions(
    R: FloatArray, columns: ComponentColumns, solution: ComponentSolution
) -> FloatArray:
    """Directions in parameter space that do not change the distribution, shape (N, n_flat).

    The null space of the Fisher information; edges in the order of ``columns.parents``, then
    the variances. The largest entry of every direction is one in units of the standard error
    that the parameter would have if all others were known.
    """
    info, blocks = _information(R, columns, solution)
    # The usual case, which only takes a factorisation: no eigenvalue is near zero.
    # Imported here: opening a table does not need it.
    from scipy.linalg import lapack

    if lapack.dpotrf(info - _FLAT * blocks)[1] == 0:
        return np.empty((len(info), 0))
    eigenvalues, directions, failed = lapack.dsygvd(info, blocks)
    if failed:
        # A column near the limit of rounding: scale the parameters one by one.
        eigenvalues, directions, _ = lapack.dsygvd(info, np.diag(info.diagonal()))
    directions = directions[:, eigenvalues < _FLAT] * np.sqrt(info.diagonal())[:, None]
    return np.asarray(directions / np.abs(directions).max(axis=0))


def n_flat_directions(R: FloatArray, columns: ComponentColumns, solution: ComponentSolution) -> int:
    """The number of flat directions alone, in a hundredth of the time.

    By Sylvester's law of inertia it is the number of negative pivots; a pivot of two rows has one
    positive and one negative eigenvalue.
    """
    # Imported here: opening a table does not need it.
    from scipy.linalg import lapack

    info, blocks = _information(R, columns, solution)
    factor, pivots, _ = lapack.dsytrf(info - _FLAT * blocks)
    return int((factor.diagonal()[pivots > 0] < 0).sum() + (pivots < 0).sum() // 2)


def _information(
    R: FloatArray, columns: ComponentColumns, solution: ComponentSolution
) -> tuple[FloatArray, FloatArray]:
    """The Fisher information, and its blocks of single columns.

    Flat directions are judged relative to these: collinear parents, which make one column
    ill-conditioned, leave no trace, and small eigenvalues come from the coupling of columns.
    """
    from cyclearn._kernels.component_information import expected_information

    b, variances = solution.coefficients, solution.noise_variances
    info = expected_information(R, *columns.layout, b, variances)
    owner = np.concatenate([columns.children, columns.nodes])
    return info, np.where(owner[:, None] == owner, info, 0.0)


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
    # Creating a generator takes as long as fitting three components.
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
