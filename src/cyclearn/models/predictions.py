"""Means after an intervention, with intervals: the delta method on the observed information.

A variable that is *held* keeps its value regardless of its causes; one that is *shifted* is changed
by a constant and still responds to its causes. Either way the means of all variables change by δT,
where δ is the change of each intervened variable and T = (I − B)⁻¹ with the columns of held
variables set to zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cyclearn.foundation.arrays import BoolArray, FloatArray
from cyclearn.foundation.stability import is_stable_radius
from cyclearn.models.experiments import Experiments, shared_information
from cyclearn.models.linear_gaussian import LinearGaussianModel, spectral_radius
from cyclearn.models.sandwich import information_of

# Share of a gradient's length that may lie along directions without information.
_FLAT, _MOVES = 1e-10, 1e-6


@dataclass(frozen=True, eq=False)
class Prediction:
    """Means, their standard errors and standard deviations of the variables, each of shape (p,).

    All are NaN if there is no stable equilibrium; a standard error is NaN if the likelihood does
    not determine the weights that it depends on.
    """

    means: FloatArray
    errors: FloatArray
    deviations: FloatArray

    @property
    def settles(self) -> bool:
        """Whether the system has a stable equilibrium."""
        return not bool(np.isnan(self.means).any())


@dataclass(frozen=True, eq=False)
class EstimatedModel:
    """A maximum likelihood estimate and the data behind it: covariance S and effective rows n.

    ``mean_is_known`` says whether the mean of the model was estimated; ``given`` are the exogenous
    variables, whose means and covariances are those of the data.
    """

    model: LinearGaussianModel
    covariance: FloatArray
    n: float
    mean_is_known: bool = False
    given: tuple[int, ...] = ()

    @cached_property
    def edges(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Parents and children of all edges."""
        parents, children = np.nonzero(self.model.graph.adjacency)
        return parents, children

    @cached_property
    def weight_information(self) -> FloatArray:
        """Observed information of the weights for one row, the variances profiled out.

        −log|det(I − B)| contributes M_jk M_li for the edges i → j and k → l, M = (I − B)⁻¹; the
        quadratics contribute S_ik / ω_j where j = l, less 2 r_ij r_kj / ω_j² for the variance,
        r_j = S(e_j − b_j) the covariance of the noise with the parents.
        """
        model, m = self.model, len(self.edges[0])
        A = model.graph.adjacency
        info = information_of(self.covariance, A, model.B, model.noise_variances)
        across = info[:m, m:]
        return np.asarray(info[:m, :m] - across / info.diagonal()[m:] @ across.T)

    @cached_property
    def _spectrum(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        info = self.weight_information
        unit = np.sqrt(np.maximum(np.abs(info.diagonal()), np.finfo(float).tiny))
        values, vectors = np.linalg.eigh(info / unit / unit[:, None])
        return values, vectors, unit

    def variances_of(self, gradients: FloatArray) -> FloatArray:
        """Variances of functions of the weights, from their gradients in rows."""
        if gradients.shape[1] == 0:
            return np.zeros(len(gradients))
        values, vectors, unit = self._spectrum
        along = (gradients / unit) @ vectors
        flat = values <= _FLAT * max(float(values[-1]), 1.0)
        variances = (along[:, ~flat] ** 2 / values[~flat]).sum(axis=1) / self.n
        size = np.abs(along).max(axis=1, initial=0.0)
        moves = (np.abs(along[:, flat]) > _MOVES * size[:, None]).any(axis=1)
        return np.where(moves, np.nan, variances)

    def predict(self, held: Mapping[int, float], shifted: Mapping[int, float]) -> Prediction:
        """The distribution after holding variables at values and shifting others."""
        model, p = self.model, len(self.covariance)
        B, omega = model.B.copy(), model.noise_variances.copy()
        fixed = np.zeros(p, dtype=bool)
        fixed[list(held)] = True
        B[:, fixed] = 0
        omega[fixed] = 0
        if not is_stable_radius(spectral_radius(model.graph, B)):
            nothing = np.full(p, np.nan)
            return Prediction(nothing, nothing, nothing)
        T: FloatArray = np.asarray(np.linalg.inv(np.eye(p) - B), dtype=float)
        moved = np.zeros(p)
        for s, value in held.items():
            moved[s] = value - model.mean[s]
        for s, value in shifted.items():
            moved[s] = value
        change = moved @ T
        _, j = self.edges
        errors = self.variances_of(np.where(fixed[j], 0.0, self._away(change) * T[j].T))
        if not self.mean_is_known:
            errors = errors + self._errors_of_means(T, fixed)
        errors[fixed] = 0
        noise = np.diag(omega)
        free = [s for s in self.given if not fixed[s]]
        noise[np.ix_(free, free)] = self.covariance[np.ix_(free, free)]
        deviations = np.sqrt(np.maximum((T.T @ noise @ T).diagonal(), 0))
        return Prediction(model.mean + change, np.sqrt(errors), deviations)

    def _away(self, change: FloatArray) -> FloatArray:
        """For every edge, the distance of its parent from its mean in the rows of its child."""
        return change[self.edges[0]]

    def _errors_of_means(self, T: FloatArray, fixed: BoolArray) -> FloatArray:
        """Squared standard errors of means after an intervention due to estimated means."""
        if self.given:
            # Rows are independent given these, whose average is known: only intercepts are
            # estimated.
            free = ~fixed
            free[list(self.given)] = False
            return np.asarray(self.model.noise_variances[free] @ T[free] ** 2 / self.n)
        # The mean of the variable without the contributions of held variables.
        own = np.eye(len(T))
        own[fixed] -= T[fixed]
        return np.asarray(np.einsum("ij,ik,kj->j", own, self.covariance, own) / self.n)


@dataclass(frozen=True, eq=False)
class SharedEstimate(EstimatedModel):
    """An estimate from tables with interventions: each equation from its own rows.

    Given the weights, the intercept of a node is c_i = m_i − Σ_k B_ki m_k + δ_i, with m the means
    over the n_i rows in which it was not set, and δ_i an error of variance ω_i / n_i that the
    weights do not share.
    """

    experiments: Experiments = field(kw_only=True)

    @cached_property
    def weight_information(self) -> FloatArray:
        """Observed information of the weights for one row, the variances profiled out."""
        i, j = self.edges
        scale = self.experiments.scale
        B = self.model.B * scale[:, None] / scale
        info, _ = shared_information(self.experiments, B, np.column_stack([i, j]))
        m, unit = len(i), scale[i] / scale[j]
        across = info[:m, m:]
        own = info[:m, :m] - across / info.diagonal()[m:] @ across.T
        return np.asarray(own * np.outer(unit, unit) / self.n)

    def _away(self, change: FloatArray) -> FloatArray:
        i, j = self.edges
        return np.asarray((self.model.mean + change)[i] - self.experiments.means[j, i])

    def _errors_of_means(self, T: FloatArray, fixed: BoolArray) -> FloatArray:
        has_equation = ~self.experiments.is_set_everywhere
        free = ~fixed & has_equation
        rows = np.ones(len(T))
        first = self.experiments.at[:-1][has_equation]
        rows[has_equation] = self.experiments.weights[first] * self.n
        return np.asarray((self.model.noise_variances / rows)[free] @ T[free] ** 2)
