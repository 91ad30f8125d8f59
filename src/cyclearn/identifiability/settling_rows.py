"""The number of rows of an experiment that determines which of some graphs is true.

Observational data leave several graphs open. Under the true graph an experiment has a distribution
that the others cannot generate together with the observational one. With n₀ observed and n₁ new
rows, the best parameters of a rival leave a divergence

    D = min over its parameters of  n₀ KL(observed) + n₁ KL(experiment),

which is the mean of the difference of the two maximal log-likelihoods. The difference varies around
this mean like the log-ratio at these parameters, a linear function of the two sample covariances.
These are drawn at random. Fitting parameters adds a variance, the sum of sin² of the angles between
the tangent spaces of the two models. The true graph wins a draw if it beats all rivals in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, log
from typing import TypeAlias

import numpy as np

from cyclearn.foundation.arrays import BoolArray, FloatArray
from cyclearn.foundation.stability import is_stable_radius
from cyclearn.graphs.directed_graph import DirectedGraph
from cyclearn.models.linear_gaussian import LinearGaussianModel, spectral_radius

# Second moments of each table about the observed mean, and the nodes that keep their equations.
TableMoments: TypeAlias = list[tuple[FloatArray, list[int]]]

_MAX_ROWS = 10**9
_MAX_STEPS = 60
_CONVERGED = 1e-10
# Maximum number of rivals in a prediction; the others are further away.
_N_NEAREST = 5
_N_DRAWS = 1000


@dataclass(frozen=True, eq=False)
class Experiment:
    """Observed data and one experiment on a model that is taken to be true.

    The targets are set at random, independently, with their variances in observational data.
    """

    truth: LinearGaussianModel
    targets: tuple[int, ...]
    n_observed: float

    @cached_property
    def untargeted(self) -> list[int]:
        """The nodes that keep their equations."""
        return [j for j in range(self.truth.n_variables) if j not in self.targets]

    @cached_property
    def settles(self) -> bool:
        """Whether feedback dies out when the targets are held fixed."""
        B = self.truth.B.copy()
        B[:, list(self.targets)] = 0
        return is_stable_radius(spectral_radius(self.truth.graph, B))

    @cached_property
    def covariance(self) -> FloatArray:
        """Second moments of the experiment about the observed mean, shape (p, p)."""
        B = self.truth.B.copy()
        variances = self.truth.noise_variances.copy()
        for j in self.targets:
            B[:, j] = 0
            variances[j] = self.truth.covariance[j, j]
        M = np.linalg.inv(np.eye(len(B)) - B)
        return np.asarray((M.T * variances) @ M)

    @cached_property
    def columns(self) -> FloatArray:
        """Q = (I − B)Ω^(−1/2) of the truth."""
        return scaled_columns(self.truth)

    @cached_property
    def tables(self) -> TableMoments:
        """Observed data and the experiment."""
        everything = list(range(self.truth.n_variables))
        return [(self.truth.covariance, everything), (self.covariance, self.untargeted)]

    @cached_property
    def observed_deviations(self) -> FloatArray | None:
        """Sampling errors of the observed covariance; None if the distribution is known."""
        if self.n_observed == inf:
            return None
        return _deviations(self.truth.n_variables, self.n_observed, np.random.default_rng(0))


def scaled_columns(model: LinearGaussianModel) -> FloatArray:
    """Q = (I − B)Ω^(−1/2), shape (p, p)."""
    return np.asarray(
        (np.eye(model.n_variables) - model.B) / np.sqrt(model.noise_variances), dtype=np.float64
    )


def table_values(tables: TableMoments, Q: FloatArray) -> FloatArray:
    """Negative log-likelihood of a row of each table, without constants."""
    values = []
    for S, U in tables:
        quadratic = 0.5 * np.einsum("ij,ik,kj->", Q[:, U], S, Q[:, U])
        values.append(quadratic - np.linalg.slogdet(Q[np.ix_(U, U)])[1])
    return np.array(values)


def best_columns(
    tables: TableMoments, graph: DirectedGraph, start: FloatArray, counts: FloatArray
) -> FloatArray:
    """Q on a graph with the largest likelihood for tables with these numbers of rows.

    Newton steps with a ridge where the curvature is not positive, from a start with the right
    observed distribution.
    """
    rows, columns = np.nonzero(graph.support)
    weights = counts / counts.sum()

    def value(Q: FloatArray) -> float:
        return float(weights @ table_values(tables, Q))

    Q = start.copy()
    now = value(Q)
    for _ in range(_MAX_STEPS):
        gradient = np.zeros_like(Q)
        hessian = np.zeros((len(rows), len(rows)))
        for weight, (S, U) in zip(weights, tables, strict=True):
            M = np.zeros_like(Q)
            M[np.ix_(U, U)] = np.linalg.inv(Q[np.ix_(U, U)])
            free = np.zeros(len(Q), dtype=bool)
            free[U] = True
            gradient += weight * (np.where(free, S @ Q, 0.0) - M.T)
            same = (columns[:, None] == columns) & free[columns]
            hessian += weight * (
                np.where(same, S[np.ix_(rows, rows)], 0.0)
                + M[np.ix_(columns, rows)] * M[np.ix_(columns, rows)].T
            )
        g = gradient[rows, columns]
        eigenvalues, vectors = np.linalg.eigh(hessian)
        # Follow directions of negative curvature downhill, and ignore flat ones.
        size = np.abs(eigenvalues)
        keep = size > 1e-10 * size.max()
        step = np.zeros_like(Q)
        along = vectors[:, keep]
        step[rows, columns] = -along @ ((along.T @ g) / size[keep])
        decrease = -float(g @ step[rows, columns])
        if decrease < _CONVERGED:
            break
        length = 1.0
        while length > 1e-6:
            trial = Q + length * step
            there = value(trial)
            if there < now - 1e-4 * length * decrease:
                Q, now = trial, there
                break
            length /= 2
        else:
            break
    return Q


@dataclass(frozen=True, eq=False)
class Rival:
    """A graph that observational data leave open, with its parameter sets for these data."""

    graph: DirectedGraph
    models: tuple[LinearGaussianModel, ...]

    @cached_property
    def starts(self) -> list[FloatArray]:
        """Q of every parameter set."""
        return [scaled_columns(model) for model in self.models]


def rows_to_settle(
    truth: LinearGaussianModel,
    rivals: Sequence[Rival],
    targets: Sequence[int],
    *,
    n_observed: float,
    confidence: float = 0.9,
) -> float:
    """Number of rows with which the true graph beats all rivals with this probability.

    Parameters
    ----------
    truth : LinearGaussianModel
        The true graph with its weights.
    rivals : sequence of Rival
        Graphs that the experiment distinguishes from it, with parameters for the same observational
        data.
    targets : sequence of int
    n_observed : float
        Rows of observational data; infinite if their distribution is known.
    confidence : float

    Returns
    -------
    float
        At least two more than there are variables; infinite if no number of rows suffices in
        addition to the observational ones, NaN if the system has no equilibrium when the targets
        are held.
    """
    experiment = Experiment(truth, tuple(targets), n_observed)
    if not experiment.settles:
        return float("nan")
    races, gap = _races(experiment, rivals)
    lower = n = max(truth.n_variables + 2.0, 0.5 / max(gap, 1e-12))
    while n < _MAX_ROWS and _win_probability(races, n) < confidence:
        lower, n = n, 3 * n
    if n >= _MAX_ROWS:
        return inf
    for _ in range(4 if lower < n else 0):
        middle = (lower * n) ** 0.5
        if _win_probability(races, middle) < confidence:
            lower = middle
        else:
            n = middle
    return float(n)


def wins_with(
    n: int, truth: LinearGaussianModel, rivals: Sequence[Rival], targets: Sequence[int], n0: float
) -> float:
    """How often the true graph beats all rivals with n new rows, even one, and n0 observed rows.

    The result is zero if the system does not settle when the targets are held fixed: the experiment
    has no outcome.
    """
    experiment = Experiment(truth, tuple(targets), n0)
    return _win_probability(_races(experiment, rivals)[0], n) if experiment.settles else 0.0


def _races(experiment: Experiment, rivals: Sequence[Rival]) -> tuple[list[_Race], float]:
    """The nearest rivals, and the least loss per row of any rival at its observed fit."""
    at_truth = table_values(experiment.tables, experiment.columns)
    # At its observed fit a rival loses this much per new row: after fitting it cannot lose more.
    gaps = [
        min(table_values(experiment.tables, Q)[1] - at_truth[1] for Q in rival.starts)
        for rival in rivals
    ]
    nearest = sorted(range(len(rivals)), key=gaps.__getitem__)[:_N_NEAREST]
    return [_Race(experiment, rivals[k], at_truth) for k in nearest], min(gaps)


class _Race:
    """The truth against one rival, for growing numbers of rows."""

    def __init__(self, experiment: Experiment, rival: Rival, at_truth: FloatArray) -> None:
        self.experiment = experiment
        self.rival = rival
        self.at_truth = at_truth
        self.starts = list(rival.starts)

    def at(self, n: float) -> tuple[float, FloatArray, float]:
        """Mean of the difference of log-likelihoods, Q of the rival, variance of fitting."""
        experiment = self.experiment
        graph, n0 = self.rival.graph, experiment.n_observed
        counts = np.array([0.0 if n0 == inf else n0, n])
        if n0 != inf:
            self.starts = [best_columns(experiment.tables, graph, Q, counts) for Q in self.starts]
        values = [
            counts @ (table_values(experiment.tables, Q) - self.at_truth) for Q in self.starts
        ]
        best = int(np.argmin(values))
        mean, Q = float(values[best]), self.starts[best]
        if n0 == inf:
            # There is nothing to fit except the choice among parameter sets.
            return mean, Q, 0.0
        mean += 0.5 * log(n0 + n) * (graph.n_edges - experiment.truth.graph.n_edges)
        return mean, Q, _fitting_variance(experiment, Q, graph, counts)


def _win_probability(races: Sequence[_Race], n: float) -> float:
    """Probability that the true graph has the best score, over random sample covariances."""
    found = [race.at(n) for race in races]
    experiment = races[0].experiment
    # The same random numbers every time, so that the probability increases smoothly with the rows.
    rng = np.random.default_rng(1)
    difference = np.array([mean for mean, _, _ in found])[:, None] + np.sqrt(
        [[extra] for _, _, extra in found]
    ) * rng.standard_normal((len(found), _N_DRAWS))
    scatters = (experiment.observed_deviations, _deviations(experiment.truth.n_variables, n, rng))
    for scatter, (S, U) in zip(scatters, experiment.tables, strict=True):
        if scatter is None:
            continue
        own = experiment.columns[:, U] @ experiment.columns[:, U].T
        L = np.linalg.cholesky(S)
        for k, (_, Q, _) in enumerate(found):
            change = L.T @ (own - Q[:, U] @ Q[:, U].T) @ L
            difference[k] -= 0.5 * np.einsum("nij,ij->n", scatter, change)
    return float((difference > 0).all(axis=0).mean())


def _deviations(p: int, n: float, rng: np.random.Generator) -> FloatArray:
    """Draws of a Wishart matrix with n degrees of freedom minus its mean (Bartlett)."""
    if n < p:
        rows = rng.standard_normal((_N_DRAWS, int(n), p))
        return np.asarray(rows.transpose(0, 2, 1) @ rows - n * np.eye(p))
    root = np.tril(rng.standard_normal((_N_DRAWS, p, p)), -1)
    for i in range(p):
        root[:, i, i] = np.sqrt(rng.chisquare(n - i, _N_DRAWS))
    return np.asarray(root @ root.transpose(0, 2, 1) - n * np.eye(p))


def _fitting_variance(
    experiment: Experiment, Q: FloatArray, graph: DirectedGraph, counts: FloatArray
) -> float:
    """Sum of sin² of the angles between the tangent spaces of the truth and a rival."""
    true = _tangents(experiment, experiment.columns, experiment.truth.graph.support, counts)
    rival = _tangents(experiment, Q, graph.support, counts)
    cosines = np.linalg.svd(true.T @ rival, compute_uv=False)
    return float(len(cosines) - (cosines**2).sum())


def _tangents(
    experiment: Experiment, Q: FloatArray, support: BoolArray, counts: FloatArray
) -> FloatArray:
    """Orthonormal basis, in the metric of the Fisher information at the truth."""
    rows, columns = np.nonzero(support)
    parts = []
    for count, (S, U) in zip(counts, experiment.tables, strict=True):
        # The metric ½ tr(S dK S dK) is the sum of squares of Lᵀ dK L with S = LLᵀ, and dK is
        # e qᵀ + q eᵀ for an entry of column q.
        L = np.linalg.cholesky(S)
        outer = np.einsum("ki,kj->kij", L[rows], (L.T @ Q).T[columns])
        change = (outer + outer.transpose(0, 2, 1)) * np.isin(columns, U)[:, None, None]
        parts.append(np.sqrt(0.5 * count) * change.reshape(len(rows), -1))
    _, sizes, basis = np.linalg.svd(np.concatenate(parts, axis=1), full_matrices=False)
    return np.asarray(basis[sizes > 1e-9 * sizes.max()].T)
