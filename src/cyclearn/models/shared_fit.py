"""Maximum likelihood on a graph for tables with interventions, which share their weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cyclearn.foundation.errors import InputError
from cyclearn.foundation.random_state import RandomState
from cyclearn.graphs.directed_graph import DirectedGraph
from cyclearn.models.component_columns import ComponentColumns, component_columns
from cyclearn.models.component_runs import ComponentRuns
from cyclearn.models.component_solutions import (
    CollinearError,
    ComponentFit,
    ComponentSolution,
    component_fit,
    distinct_runs,
    fit_component_solutions,
    fit_starts,
    generic_deficiency,
    solution_preference,
)
from cyclearn.models.experiments import Experiments
from cyclearn.models.fit_status import FitStatus

FloatArray = NDArray[np.float64]

# The gain in log-likelihood per sample that a further Newton step would promise.
_TOLERANCE = 1e-12


def fit_shared_components(
    graph: DirectedGraph, experiments: Experiments, order: tuple[int, ...], options: dict[str, Any]
) -> tuple[ComponentFit, ...]:
    """Fit every component: single nodes one by one, then each larger one."""
    singles, loops = component_columns(graph, order)
    nodes = [] if singles is None else singles.nodes.tolist()
    alone = [ComponentColumns.of(graph.adjacency, [node], order) for node in nodes]
    return tuple(fit_shared(experiments, columns, **options) for columns in (*alone, *loops))


def fit_shared(
    experiments: Experiments,
    columns: ComponentColumns,
    *,
    n_starts: int | None,
    max_iterations: int,
    random_state: RandomState,
    tolerance: float = 1e-9,
) -> ComponentFit:
    """Fit one component, or a single node, to all tables; its value is for a sample of all."""
    nodes = columns.nodes
    if len(nodes) == 1:
        n_terms = int(experiments.at[nodes[0] + 1] - experiments.at[nodes[0]])
        if n_terms < 2:
            return _least_squares(experiments, columns, n_terms)
        # Several variances of one equation: the weighted sum of logarithms has few optima.
        n_starts = 1 if n_starts is None else n_starts
    elif not experiments.is_special[nodes].any():
        return fit_component_solutions(
            experiments.matrices[0],
            columns,
            n_starts=n_starts,
            tolerance=tolerance,
            max_iterations=max_iterations,
            random_state=random_state,
        )
    runs = _runs(experiments, columns, fit_starts(columns, n_starts, random_state), max_iterations)
    return _solutions(experiments, runs)


def _least_squares(
    experiments: Experiments, columns: ComponentColumns, n_terms: int
) -> ComponentFit:
    """A single node with one set of rows; without any it has no equation, and its own variance."""
    from cyclearn._kernels.component_fit import fit_nodes

    node = int(columns.nodes[0])
    if n_terms == 0:
        # What it was set to: there is no noise to speak of.
        variance = experiments.matrices[0][node, node]
        solution = ComponentSolution(np.empty(0), np.array([variance]), 0.0)
        return ComponentFit(columns, 0.0, 0.0, 0, FitStatus.CONVERGED, (solution,), 0)
    S = experiments.first_matrix(node)
    values, b = fit_nodes(S, columns.nodes, columns.offsets, columns.parents)
    if not np.isfinite(values).all():
        raise CollinearError(node)
    weight = float(experiments.weights[experiments.at[node]])
    solution = ComponentSolution(b, np.exp(2 * values), 0.0)
    value = weight * float(values.sum())
    return ComponentFit(columns, value, 0.0, 0, FitStatus.CONVERGED, (solution,), 0)


def _runs(
    experiments: Experiments, columns: ComponentColumns, starts: FloatArray, max_iterations: int
) -> ComponentRuns:
    """Run from regressions, from every start, and from the best with its gain inverted."""
    from cyclearn._kernels.component_optima import inverted_gain
    from cyclearn._kernels.shared_weights import fit_shared_component, half_regression

    def run(start: FloatArray) -> Any:
        return fit_shared_component(
            experiments.pooled,
            experiments.shares,
            experiments.targeted,
            columns.nodes,
            columns.offsets,
            columns.parents,
            start,
            _TOLERANCE,
            max_iterations,
        )

    regressed = half_regression(experiments.pooled, columns.nodes, columns.offsets, columns.parents)
    found = [run(np.ascontiguousarray(start)) for start in (regressed, *starts)]
    if len(columns.nodes) > 1:
        best = min(found, key=lambda each: each[0])
        found.append(run(inverted_gain(columns.nodes, columns.parents, best[1])))
    values, coefficients, gains, iterations, codes = zip(*found, strict=True)
    return ComponentRuns(
        columns,
        np.array(values),
        np.array(coefficients),
        np.array(gains),
        np.array(iterations, dtype=np.int64),
        np.array(codes, dtype=np.int64),
    )


def _solutions(experiments: Experiments, runs: ComponentRuns) -> ComponentFit:
    from cyclearn._kernels import component_fit as kernel

    columns = runs.columns
    best, distinct = distinct_runs(runs)
    code = runs.codes[best]
    if code == kernel.COLLINEAR:
        raise CollinearError(int(columns.nodes[0]))
    solutions = [_solution(experiments, columns, b) for b in runs.coefficients[distinct]]
    solutions.sort(key=solution_preference)
    status = {
        kernel.CONVERGED: FitStatus.CONVERGED,
        kernel.AT_INFINITY: FitStatus.AT_INFINITY,
        kernel.ITERATION_LIMIT: FitStatus.ITERATION_LIMIT,
    }.get(int(code))
    n_flat = 0
    if status is None:
        n_flat = max(generic_deficiency(columns), 1)
        is_generic = generic_deficiency(columns) > 0
        status = FitStatus.NOT_IDENTIFIED if is_generic else FitStatus.BOUNDARY
    return component_fit(runs, best, solutions, status, n_flat)


def _solution(
    experiments: Experiments, columns: ComponentColumns, b: FloatArray
) -> ComponentSolution:
    """Variances of the ordinary noise, and the largest radius of any system of the tables."""
    k = len(columns.nodes)
    variances = np.empty(k)
    for i, node in enumerate(columns.nodes.tolist()):
        own = slice(columns.offsets[i], columns.offsets[i + 1])
        S = experiments.first_matrix(node)
        index = np.append(columns.parents[own], node)
        q = np.append(-b[own], 1.0)
        variances[i] = q @ S[np.ix_(index, index)] @ q
    B = np.zeros((k, k))
    B[columns.ends[0], columns.ends[1]] = b[columns.inside]
    return ComponentSolution(b, variances, experiments.largest_radius(B, columns.nodes))


def shared_log_likelihood(experiments: Experiments, components: tuple[ComponentFit, ...]) -> float:
    """Log-likelihood of all untargeted values, given those that were set."""
    value = sum(component.value for component in components)
    n_rows = experiments.n_rows
    constant = float(n_rows @ (0.5 * (1 + np.log(2 * np.pi)) + np.log(experiments.scale)))
    return -(experiments.tables.n_samples * value + constant)


def observed_mean(experiments: Experiments, B: FloatArray) -> FloatArray:
    """The mean of the system that nobody touches, from the intercepts of its equations."""
    means = experiments.means
    everywhere = experiments.is_set_everywhere
    intercepts = means.diagonal() - (means * B.T).sum(axis=1)
    intercepts = np.where(everywhere, experiments.moments.mean, intercepts)
    return np.asarray(np.linalg.solve(np.eye(len(B)) - B.T, intercepts))


def check_rows(graph: DirectedGraph, experiments: Experiments) -> None:
    """Every node has rows enough for its parents, and none where it was always set."""
    for j, name in enumerate(graph.names):
        n_parents = graph.columns[j].bit_count() - 1
        if experiments.is_set_everywhere[j]:
            if n_parents:
                raise InputError(
                    f"{name!r} was set in every table, so that nothing is known about its parents; "
                    "remove the edges into it, or add a table in which it was not set"
                )
        elif experiments.n_rows[j] < n_parents + 2:
            raise InputError(
                f"{name!r} has {n_parents} parents and was not set in "
                f"{experiments.n_rows[j]:.0f} rows; these must be at least two more than the "
                "parents: drop parents or add rows"
            )
