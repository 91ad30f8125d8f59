"""Diagnostics of a fitted graph: effects, R², residuals, modification indices.

The definitions are lavaan's, so that its users find familiar numbers.
"""

from __future__ import annotations

from itertools import islice, pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cyclearn.foundation import InputError, nx, pd
from cyclearn.foundation.arrays import FloatArray
from cyclearn.graphs.directed_graph import DirectedGraph, Node

if TYPE_CHECKING:
    from cyclearn.models.fitted_model import FittedModel


# An edge that other edges can reproduce to within this share of its information has no index.
_REDUNDANT = 1e-8
# With more simple paths than anyone would read, none is listed.
_MOST_PATHS = 100


def r_squared(fitted: FittedModel) -> pd.Series:
    """Share of the variance of each variable that its causes explain: 1 − ω_j / Σ_jj.

    Negative if feedback reduces a variable's variance below that of its noise.
    """
    explained = 1 - fitted.noise_variances / fitted.covariance.diagonal()
    # Without parents R² is zero: rounding is not shown.
    explained[~fitted.graph.adjacency.any(axis=0) & (np.abs(explained) < 1e-9)] = 0.0
    found = pd.Series(explained, index=pd.Index(fitted.names, name="variable"), name="r_squared")
    return found.drop(list(fitted.exogenous))


def residual_correlations(fitted: FittedModel) -> pd.DataFrame:
    """Correlations of the data less those that the graph implies (lavaan's ``cor.bollen``)."""
    implied = fitted.covariance
    scale = np.sqrt(implied.diagonal())
    residuals = fitted.moments.correlation - implied / scale / scale[:, None]
    np.fill_diagonal(residuals, 0.0)
    # An exact fit leaves only rounding errors.
    residuals[np.abs(residuals) < 1e-12] = 0.0
    return pd.DataFrame(residuals, index=fitted.names, columns=list(fitted.names))


def modification_indices(fitted: FittedModel) -> pd.DataFrame:
    """How much each change of the graph would improve the fit, the largest improvement first.

    ``change`` is ``"add"``: add an edge; ``"reverse"``: reverse an edge;
    ``"correlate"``: let the noises of two variables correlate, as with a hidden common cause.
    ``index``: for additions the score test, about the decrease of −2 log-likelihood; for reversed
    edges the actual decrease after refitting. ``p_value``: of that, by chi-square with one degree
    of freedom, not corrected for the number of changes; reversing an edge has no test.
    ``expected``: about the weight, or the covariance, it would get; ``standardised``: the same in
    standard deviations (of noises, for a correlation). NaN if the other edges can reproduce the
    change. Like lavaan's ``modindices``, with its expected information; only available at an
    ordinary maximum.

    With g the gradient of the log-likelihood of one row, and I the expected information with the
    variances profiled out, index = n g² / (I_aa − I_ae I_ee⁻¹ I_ea), e the edges of the graph. For
    edges, and for the covariance of the noises i and j,

        g_ij = r_ij − M_ji,   r_ij = (S(I − B))_ij / ω_j,   M = (I − B)⁻¹
        I_(ij)(kl) = M_jk M_li + [j = l] (Σ_ik / ω_j − 2 M_ji M_jk)
        g_ij = ((I − B)ᵀS(I − B))_ij / ω_i ω_j
        I_(ij)(kl) = [j = l] M_ik / ω_j + [i = l] M_jk / ω_i,   I_(ij)(ij) = 1 / ω_i ω_j
    """
    from scipy.special import chdtrc

    if fitted.experiments is not None:
        raise InputError(
            "modification indices need a fit to one table, but this fit is to tables with "
            "interventions"
        )
    if fitted.observed is not None:
        raise InputError(
            "modification indices need complete rows, but this fit is to rows with missing "
            "values; fit the moments instead: cl.fit(graph, fitted.moments)"
        )
    names = np.array(fitted.names, dtype=object)
    edges, pairs, gradient, left = _score_tests(fitted)
    expected = gradient / left
    index = fitted.n_effective * gradient * expected
    (i, j), (k, l) = edges.T, pairs.T  # noqa: E741
    deviations, noise = np.sqrt(fitted.covariance.diagonal()), np.sqrt(fitted.noise_variances)
    units = np.concatenate([deviations[i] / deviations[j], 1 / noise[k] / noise[l]])
    turned, gains = _turned_edges(fitted)
    ends = names[np.concatenate([edges, pairs, turned])]
    nothing = np.full(len(turned), np.nan)
    table = pd.DataFrame(
        {
            "change": np.repeat(["add", "correlate", "reverse"], [len(i), len(k), len(turned)]),
            "source": ends[:, 0],
            "target": ends[:, 1],
            "index": np.concatenate([index, gains]),
            "p_value": np.concatenate([chdtrc(1, index), nothing]),
            "expected": np.concatenate([expected, nothing]),
            "standardised": np.concatenate([expected * units, nothing]),
        }
    )
    # Many indices differ only by rounding, which must not affect their order.
    rank = pd.Series([float(f"{value:.8g}") for value in table["index"]])
    ordered = table.loc[rank.sort_values(ascending=False, kind="stable").index]
    return ordered.reset_index(drop=True)


def _score_tests(
    fitted: FittedModel,
) -> tuple[NDArray[np.intp], NDArray[np.intp], FloatArray, FloatArray]:
    """Edges and pairs of noises that the graph lacks, each with its gradient and information.

    The information is conditional on the weights of the graph, NaN if nothing remains.
    """
    A, omega, sigma = fitted.graph.adjacency, fitted.noise_variances, fitted.covariance
    p, S = len(omega), fitted.moments.covariance
    C = np.eye(p) - fitted.B
    M = np.linalg.inv(C)
    present = ~fitted.moments.is_exogenous
    inside = np.argwhere(A)
    edges = np.argwhere(~A & ~np.eye(p, dtype=bool) & present)
    pairs = np.argwhere(np.triu(np.outer(present, present), 1))

    def information(a: NDArray[np.intp], b: NDArray[np.intp]) -> FloatArray:
        (i, j), (k, l) = a.T, b.T  # noqa: E741
        own = sigma[np.ix_(i, k)] / omega[j][:, None] - 2 * M[j, i][:, None] * M[np.ix_(j, k)]
        shared = np.where(j[:, None] == l, own, 0.0)
        return np.asarray(M[np.ix_(j, k)] * M[np.ix_(l, i)].T + shared)

    def through(a: NDArray[np.intp], b: NDArray[np.intp]) -> FloatArray:
        (i, j), (k, l) = a.T, b.T  # noqa: E741
        return np.where(j[:, None] == l, M[np.ix_(i, k)] / omega[j][:, None], 0.0)

    (i, j), (k, l) = edges.T, pairs.T  # noqa: E741
    by_edge, by_pair = S @ C / omega - M.T, C.T @ S @ C / np.outer(omega, omega)
    gradient = np.concatenate([by_edge[i, j], by_pair[k, l]])
    left = own = np.concatenate([sigma[i, i] / omega[j] - M[j, i] ** 2, 1 / omega[k] / omega[l]])
    if len(inside):
        noise = through(pairs, inside) + through(pairs[:, ::-1], inside)
        across = np.vstack([information(edges, inside), noise])
        solved = np.linalg.lstsq(information(inside, inside), across.T, rcond=1e-10)[0]
        left = own - np.einsum("ae,ea->a", across, solved)
    return edges, pairs, gradient, np.where(left > _REDUNDANT * np.abs(own), left, np.nan)


def _turned_edges(fitted: FittedModel) -> tuple[NDArray[np.intp], FloatArray]:
    """Reversed edges, and the decrease of −2 log-likelihood that each brings."""
    from cyclearn.models.maximum_likelihood import fit

    A, names = fitted.graph.adjacency, fitted.names
    edges = np.argwhere(A & ~A.T & ~fitted.moments.is_exogenous[:, None])
    before = fitted.log_likelihood / fitted.n_effective
    gains = np.empty(len(edges))
    for place, (i, j) in enumerate(edges):
        kept = [edge for edge in fitted.graph.edges if edge != (names[i], names[j])]
        turned = DirectedGraph.from_edges([*kept, (names[j], names[i])], names)
        after = fit(turned, fitted.moments)
        gains[place] = 2 * fitted.n_effective * (after.log_likelihood / after.n_effective - before)
    # Graphs that fit equally well differ by rounding.
    gains[np.abs(gains) < 1e-9 * fitted.n_effective] = 0.0
    return edges[:, ::-1], gains


def indirect_effects(
    fitted: FittedModel, source: Node, target: Node, level: float = 0.95
) -> pd.DataFrame:
    """The effect of one variable on another, over all paths and over each.

    The rows are ``total``: the entry of :meth:`total_effects`, all feedback included; ``direct``:
    the weight of the edge; ``indirect``: the rest; and every simple path of two or more edges, such
    as ``a -> b -> c``, with the product of its weights. Without feedback the paths add up to the
    indirect effect; with feedback an effect passes through them repeatedly. Columns are those of
    :meth:`summary`; standard errors by the delta method, NaN if the weights are not identified.

    Examples
    --------
    >>> from cyclearn import LinearGaussianModel, fit
    >>> chain = LinearGaussianModel([[0, 0.5, 0], [0, 0, 0.8], [0, 0, 0]], [1, 1, 1], list("abc"))
    >>> table = fit(chain.graph, chain.sample(10_000, random_state=0)).indirect_effects("a", "c")
    >>> table["estimate"].round(1)
    effect
    total          0.4
    direct         0.0
    indirect       0.4
    a -> b -> c    0.4
    Name: estimate, dtype: float64
    """
    from cyclearn.models.inference import moving, parameter_covariance, tested

    graph, B, names = fitted.graph, fitted.B, fitted.names
    s, t = graph.index(source), graph.index(target)
    if s == t:
        raise InputError(f"source and target are both {names[s]!r}; give two variables")
    M = fitted.total_effects().to_numpy()
    edges = np.argwhere(graph.adjacency)
    place = {(int(i), int(j)): k for k, (i, j) in enumerate(edges)}
    direct = np.zeros(len(edges))
    if (s, t) in place:
        direct[place[s, t]] = 1.0
    total = M[s, edges[:, 0]] * M[edges[:, 1], t]
    rows = {"total": (M[s, t], total), "direct": (B[s, t], direct)}
    rows["indirect"] = (M[s, t] - B[s, t], total - direct)
    adjacency = nx.from_numpy_array(graph.adjacency, create_using=nx.DiGraph)
    paths = islice(nx.all_simple_paths(adjacency, s, t), _MOST_PATHS + 1)
    for path in sorted(
        (path for path in paths if len(path) > 2), key=lambda path: (len(path), path)
    ):
        steps = list(pairwise(path))
        product = float(np.prod([B[step] for step in steps]))
        gradient = np.zeros(len(edges))
        for step in steps:
            gradient[place[step]] = np.prod([B[other] for other in steps if other != step])
        rows[" -> ".join(names[v] for v in path)] = (product, gradient)
    if len(rows) > _MOST_PATHS:
        rows = dict(islice(rows.items(), 3))
    estimates = np.array([estimate for estimate, _ in rows.values()])
    gradients = np.array([gradient for _, gradient in rows.values()])
    covariance, flat = parameter_covariance(fitted)
    m = len(edges)
    errors = np.sqrt(np.einsum("re,ef,rf->r", gradients, covariance[:m, :m], gradients))
    errors[(gradients[:, moving(flat)[:m]] != 0).any(axis=1)] = np.nan
    return pd.DataFrame(tested(estimates, errors, level), index=pd.Index(rows, name="effect"))
