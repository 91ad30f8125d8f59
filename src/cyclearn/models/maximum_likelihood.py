"""``fit``: the maximum likelihood estimate on any directed graph, component by component."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any, overload

import numpy as np

from cyclearn.data.grouped_tables import SeveralData, naming_group
from cyclearn.data.moments import Moments, name_order
from cyclearn.data.reading import Reading
from cyclearn.data.tables import Table, Tables
from cyclearn.foundation import InputError, pd, takes_options
from cyclearn.foundation.arguments import at_least, check_state, share, whole
from cyclearn.foundation.arrays import FloatArray
from cyclearn.foundation.random_state import RandomState
from cyclearn.graphs.directed_graph import DirectedGraph
from cyclearn.graphs.graph_input import as_graph
from cyclearn.models import components
from cyclearn.models.experiments import Experiments, check_rows, fit_shared, observed_mean
from cyclearn.models.fitted_model import FittedGroups, FittedModel
from cyclearn.models.linear_gaussian import LinearGaussianModel
from cyclearn.models.observed_fit import fit_rows_with_holes
from cyclearn.models.sandwich import sandwich_of


@overload
def fit(
    graph: DirectedGraph | str,
    data: pd.DataFrame | FloatArray | str | Path | Moments,
    *,
    groups: None = None,
    **options: Any,
) -> FittedModel: ...
@overload
def fit(graph: DirectedGraph | str, data: Any, **options: Any) -> FittedModel | FittedGroups: ...


@takes_options(Reading)
def fit(
    graph: DirectedGraph | str,
    data: SeveralData | Tables,
    *,
    n_starts: int | None = None,
    tolerance: float = 1e-9,
    max_iterations: int = 1000,
    random_state: RandomState = 0,
    **reading: Any,
) -> FittedModel | FittedGroups:
    """Maximum likelihood estimate of the linear Gaussian model on a directed graph.

    The likelihood splits over strongly connected components given their outside parents.
    Single nodes are least squares; a component is fitted by exact block coordinate steps with a
    Newton finish, from several starts, because the problem is not convex and may have several
    solutions of equal likelihood. Of these a stable one is preferred; the others are the
    ``alternatives`` of the result. Only the covariance of the data is used.

    Parameters
    ----------
    graph : DirectedGraph or str
        As text it is ``"a -> b, b -> c"``.
    data : DataFrame, array of shape (n, p), path or Moments
        Columns are matched with nodes by name, or by position if they have no names. A list of
        tables, or a mapping from names to tables, gives groups: they share the graph, and each has
        its own weights and noise.
    n_starts : int, optional
        Number of starts for each component of k ≥ 2 nodes: first zero, then random ones; one more
        inverts the gain of the cycles of the best. By default 2k − 4, limited to 4 to 20.
    tolerance : float
        Largest entry of the gradient at convergence, in coordinates of unit curvature.
    max_iterations : int
        Limit on sweeps and Newton steps from one start.
    random_state : int, Generator, RandomState or None
        For the random starts.
    **reading
        How the data are read: the fields of :class:`cyclearn.Reading`. The effective sample size
        is used in likelihood and standard errors. With ``missing="em"`` the likelihood of the
        observed cells is maximised (full information maximum likelihood). With ``lags`` the graph
        may have nodes such as ``gdp[t-1]``. Exogenous variables have no causes; those that the
        graph lacks are assumed to have no effects.

    Returns
    -------
    FittedModel or FittedGroups
        FittedGroups if there are groups; its ``models`` are by name.

    Raises
    ------
    InputError
        If the data cannot be used (see :func:`cyclearn.data.as_moments`), if names do not match, or
        if a node has too many parents for the number of samples.

    Examples
    --------
    >>> from cyclearn import LinearGaussianModel
    >>> g = DirectedGraph.from_edges([("a", "b"), ("b", "c"), ("c", "b")])
    >>> truth = LinearGaussianModel([[0, 0.7, 0], [0, 0, 0.5], [0, -0.4, 0]], [1, 1, 1], g.names)
    >>> fit(g, truth.sample(10_000, random_state=0)).B.round(1)
    array([[ 0. ,  0.7,  0. ],
           [ 0. ,  0. ,  0.5],
           [ 0. , -0.4,  0. ]])
    """
    if isinstance(data, DirectedGraph) or (isinstance(data, str) and "->" in data):
        raise InputError("the graph comes first, then the data: cl.fit(graph, data)")
    graph = as_graph(graph, "first argument of fit, the graph,")
    at_least("n_starts", n_starts, 1)
    whole("max_iterations", max_iterations, 1)
    share("tolerance", tolerance, 0, 1)
    check_state(random_state)
    checked = Reading.of(reading)
    if checked.is_unknown:
        raise InputError(
            "fit needs known targets: use learn to find them, then pass them to fit, "
            "interventions=list(result.targets.values()), intervention_kind='noise'"
        )
    tables = checked.tables(data)
    options = components.FitOptions(n_starts, tolerance, max_iterations, random_state)
    # Add a node for every exogenous variable.
    absent = [name for name in tables.exogenous if name not in graph.names]
    graph = DirectedGraph.from_edges(graph.edges, [*graph.names, *absent]) if absent else graph
    _check_exogenous(graph, tables.exogenous)
    models = {}
    for name, own in tables.by_group.items():
        with naming_group(name):
            if own.design is not None:
                models[name] = _fit_shared(graph, own, options)
            else:
                models[name] = _fit_table(graph, own.only, options)
    return FittedGroups(graph, models) if tables.is_grouped else models[""]


def _fit_shared(
    graph: DirectedGraph, tables: Tables, options: components.FitOptions
) -> FittedModel:
    order = name_order(graph.names, tables.tables[0].moments.has_default_names)
    experiments = Experiments.of(tables.aligned_to(graph.names))
    check_rows(graph, experiments)
    # Single nodes one by one, then each larger component.
    singles, loops = components.component_columns(graph, order)
    nodes = [] if singles is None else singles.nodes.tolist()
    alone = [components.ComponentColumns.of(graph.adjacency, [node], order) for node in nodes]
    with _naming_collinear_nodes(graph):
        fits = tuple(fit_shared(experiments, each, options) for each in (*alone, *loops))
    # The likelihood of all values without interventions, given those that were set.
    value, scale = sum(each.value for each in fits), experiments.scale
    constant = float(experiments.n_effective @ (0.5 * (1 + np.log(2 * np.pi)) + np.log(scale)))
    log_likelihood = -(tables.n_effective * value + constant)
    mean = observed_mean(experiments, components.models_of(graph, fits, scale)[0].B)
    models = components.models_of(graph, fits, scale, mean)
    found = _fitted(graph, models, experiments.moments, fits, log_likelihood, tables)
    return replace(found, experiments=experiments)


def _fit_table(graph: DirectedGraph, table: Table, options: components.FitOptions) -> FittedModel:
    order = name_order(graph.names, table.moments.has_default_names)
    moments = table.moments.aligned_to(graph.names)
    if table.holes is not None and table.holes.treatment == "em" and table.rows is not None:
        return _fit_observed(graph, table, order, options)
    _check_sample_size(graph, moments)
    with _naming_collinear_nodes(graph):
        fits = components.fit_components(graph, moments.correlation, options, order)
    # Exogenous variables have no parents; only their scale enters.
    present = ~moments.is_exogenous
    value = sum(component.value for component in fits) + np.log(moments.scale[present]).sum()
    constant = 0.5 * int(present.sum()) * (1 + np.log(2 * np.pi))
    log_likelihood = float(-table.n_effective * (value + constant))
    models = components.models_of(graph, fits, moments.scale, moments.mean)
    fitted = _fitted(graph, models, moments, fits, log_likelihood, table)
    if not table.is_robust or table.rows is None or not fitted.converged:
        return fitted
    rows, weights = Tables((table,)).aligned_to(graph.names).only.rows, table.weights
    assert rows is not None
    # Latent correlations are estimated pair by pair, from all rows that were not omitted.
    is_pairwise = table.holes is not None and table.holes.treatment == "pairwise"
    kept = ~(np.all if is_pairwise else np.any)(np.isnan(rows), axis=1)
    own = None if weights is None else weights[kept]
    found = sandwich_of(fitted, rows[kept], own)
    if moments.ordered:
        # Only the likelihood uses a smaller effective sample size.
        found = found.scaled(table.n_effective / (table.row_weight * len(rows[kept])))
    return replace(fitted, sandwich=found)


def _fit_observed(
    graph: DirectedGraph, table: Table, order: tuple[int, ...], options: components.FitOptions
) -> FittedModel:
    """The fit to rows with missing cells; its effective sample size depends on these."""
    rows = Tables((table,)).aligned_to(graph.names).only.rows
    assert rows is not None
    rows = rows[~np.isnan(rows).all(axis=1)]
    given = table.moments.exogenous
    # A free covariance is equivalent to all edges of some order among them.
    joined = DirectedGraph.from_edges([*graph.edges, *combinations(given, 2)], graph.names)
    with _naming_collinear_nodes(graph):
        moments, likelihood = fit_rows_with_holes(
            joined, rows, options, order=order, is_robust=table.is_robust
        )
    if given:
        moments = moments.given(given)
        likelihood = likelihood.given(graph, joined, moments)
    complete = Table(moments, table.row_weight * len(rows), counting=table.counting)
    expected = _fit_table(graph, complete, options)
    # The likelihood itself accounts for missing cells.
    found = expected.observed_by(likelihood.weighted(table.row_weight))
    return replace(found, sandwich=likelihood.sandwich if found.converged else None)


def _fitted(
    graph: DirectedGraph,
    models: tuple[LinearGaussianModel, ...],
    moments: Moments,
    fits: tuple[components.ComponentFit, ...],
    log_likelihood: float,
    rows: Table | Tables,
) -> FittedModel:
    """The fit with the first of the models as its estimate; the others are alternatives."""
    return FittedModel(
        graph,
        models[0],
        moments,
        log_likelihood,
        components.worst_status(fits),
        models[1:],
        fits,
        rows.n_effective,
        rows.counting,
    )


@contextmanager
def _naming_collinear_nodes(graph: DirectedGraph) -> Iterator[None]:
    try:
        yield
    except components.CollinearError as error:
        name = graph.names[error.node]
        raise InputError(
            f"{name!r} is an exact linear function of its parents "
            f"{', '.join(graph.parents(name))} in these data; drop a parent or add samples"
        ) from None


def _check_exogenous(graph: DirectedGraph, exogenous: tuple[str, ...]) -> None:
    for source, target in graph.edges:
        if target in exogenous:
            raise InputError(
                f"the graph has {source} -> {target}, but {target} is exogenous: nothing causes "
                "it; drop the edge"
            )


def _check_sample_size(graph: DirectedGraph, moments: Moments) -> None:
    n = moments.n_samples
    sizes = [column.bit_count() for column in graph.columns]
    if max(sizes) >= n:
        node = int(np.argmax(sizes))
        raise InputError(
            f"{graph.names[node]!r} has {sizes[node] - 1} parents, but there are only {n} "
            "samples; there must be more samples than a node and its parents together: drop "
            "parents or add samples"
        )
