"""The result of ``fit``: estimates at once, inference when it is asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from cyclearn.data.moments import Moments
from cyclearn.foundation.arrays import FloatArray
from cyclearn.foundation.readable import significant
from cyclearn.graphs.directed_graph import DirectedGraph
from cyclearn.models.components import ComponentFit
from cyclearn.models.fit_status import FitStatus
from cyclearn.models.linear_gaussian import LinearGaussianModel

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from cyclearn.models.experiments import Experiments
    from cyclearn.models.fit_indices import FitIndices
    from cyclearn.models.inference import ParameterErrors
    from cyclearn.models.observed_fit import ObservedLikelihood


@dataclass(frozen=True, eq=False, repr=False)
class FittedModel:
    """Maximum likelihood estimate on a graph, with inference computed on first use.

    Attributes
    ----------
    graph : DirectedGraph
    model : LinearGaussianModel
        The estimate; a stable one when the solutions of equal likelihood include one.
    moments : Moments
        What was fitted, in the order of the nodes. With ``lags``, the likelihood is that of the
        present variables given ``past``.
    log_likelihood : float
    status : FitStatus
        What became of the fit; its value is a sentence with the remedy.
    alternatives : tuple of LinearGaussianModel
        Other parameter sets on the same graph with the same likelihood, each differing from
        the estimate in one component.
    components : tuple of ComponentFit
        Single nodes together, then each component: value, gradient norm, iterations.
    n_effective : float
        How many independent rows the data count for, in likelihood and standard errors.
    observed : ObservedLikelihood or None
        The likelihood of rows with missing values, where these were fitted; ``moments`` are then
        those of complete rows as the estimate expects them.
    experiments : Experiments or None
        Tables with interventions, where these were fitted; ``moments`` are then those of all rows.
    """

    graph: DirectedGraph
    model: LinearGaussianModel
    moments: Moments
    log_likelihood: float
    status: FitStatus
    alternatives: tuple[LinearGaussianModel, ...]
    components: tuple[ComponentFit, ...]
    n_effective: float
    observed: ObservedLikelihood | None = None
    experiments: Experiments | None = None

    def observed_by(self, likelihood: ObservedLikelihood) -> FittedModel:
        """The same estimate, as that of rows with missing cells."""
        return replace(
            self,
            observed=likelihood,
            log_likelihood=likelihood.log_likelihood,
            n_effective=likelihood.weight * self.n_samples,
            status=self.status if likelihood.converged else FitStatus.ITERATION_LIMIT,
        )

    @property
    def converged(self) -> bool:
        """Whether the parameters are a maximum to within the tolerance."""
        return self.status.is_converged

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables."""
        return self.graph.names

    @property
    def B(self) -> FloatArray:
        """``B[i, j]`` is the estimated weight of i → j, shape (p, p)."""
        return self.model.B

    @property
    def noise_variances(self) -> FloatArray:
        """Estimated noise variances, shape (p,)."""
        return self.model.noise_variances

    @property
    def standardised_weights(self) -> FloatArray:
        """Weights in standard deviations of effect for one of cause, shape (p, p).

        The deviations are those that the model implies, as in lavaan's ``std.all``.
        """
        scale = np.sqrt(self.covariance.diagonal())
        return np.asarray(self.B * scale[:, None] / scale)

    @property
    def past(self) -> tuple[str, ...]:
        """Variables that are taken as given: those of rows before, with ``lags``."""
        return self.moments.past

    @property
    def covariance(self) -> FloatArray:
        """Covariance that the estimate implies, shape (p, p); that of the past is the data's."""
        if not self.past:
            return self.model.covariance
        is_past = self.moments.is_past
        noise = np.diag(self.noise_variances)
        noise[np.ix_(is_past, is_past)] = self.moments.covariance[np.ix_(is_past, is_past)]
        M = np.linalg.inv(np.eye(len(noise)) - self.B)
        return np.asarray(M.T @ noise @ M)

    @property
    def is_stable(self) -> bool:
        """Whether every eigenvalue of the estimated B has modulus below one.

        With interventions, also without the edges into the targets of each table.
        """
        if self.experiments is not None:
            return self.experiments.is_stable(self.B)
        return self.model.is_stable

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return self.moments.n_samples

    @property
    def n_parameters(self) -> int:
        """Number of edges plus number of nodes, |E| + p.

        With interventions, of noise variances: none of a variable that was always set, several of
        one whose noise was changed. Variables of the past have none.
        """
        if self.experiments is not None:
            return self.graph.n_edges + len(self.experiments.which)
        return self.graph.n_edges + self.graph.n_nodes - len(self.past)

    @property
    def aic(self) -> float:
        """−2 log-likelihood + 2 (|E| + p)."""
        return -2 * self.log_likelihood + 2 * self.n_parameters

    @property
    def bic(self) -> float:
        """−2 log-likelihood + log n · (|E| + p), with n the effective number of rows."""
        return float(-2 * self.log_likelihood + np.log(self.n_effective) * self.n_parameters)

    @cached_property
    def errors(self) -> ParameterErrors:
        """Standard errors of all parameters and the names of those not identified."""
        from cyclearn.models.inference import parameter_errors

        return parameter_errors(self)

    @property
    def standard_errors(self) -> FloatArray:
        """Standard errors of B, shape (p, p); NaN where there is no edge or none exists."""
        return self.errors.B

    @property
    def noise_variance_errors(self) -> FloatArray:
        """Standard errors of the noise variances, shape (p,)."""
        return self.errors.noise_variances

    @property
    def not_identified(self) -> tuple[str, ...]:
        """Parameters that the likelihood does not determine, as ``a -> b`` and ``var(a)``."""
        return self.errors.not_identified

    def confidence_intervals(self, level: float = 0.95) -> pd.DataFrame:
        """Wald intervals, estimate ± z · standard error: columns ``lower`` and ``upper``."""
        from cyclearn.models.inference import confidence_intervals

        return confidence_intervals(self, level)

    @cached_property
    def fit_indices(self) -> FitIndices:
        """Likelihood-ratio test against the saturated model, RMSEA, CFI, TLI, SRMR."""
        from cyclearn.models.fit_indices import fit_indices

        return fit_indices(self)

    def summary(self, level: float = 0.95, *, standardised: bool = False) -> pd.DataFrame:
        """Table of the parameters: estimate, standard error, z, p-value, interval.

        ``standardised``: weights in standard deviations of effect for one of cause, variances as
        shares of the variance, standard errors and intervals on the same scales, taken as given.
        """
        from cyclearn.models.inference import summary

        return summary(self, level, standardised=standardised)

    @property
    def r_squared(self) -> pd.Series:
        """Share of each variance that the causes explain: see :mod:`cyclearn.models.diagnostics`.

        Negative where feedback damps a variable below the variance of its own noise.
        """
        from cyclearn.models.diagnostics import r_squared

        return r_squared(self)

    def residual_correlations(self) -> pd.DataFrame:
        """Correlations of the data less those that the estimate implies, as in lavaan."""
        from cyclearn.models.diagnostics import residual_correlations

        return residual_correlations(self)

    def modification_indices(self) -> pd.DataFrame:
        """How much the fit would gain from each edge that was left out, as in lavaan.

        See :func:`cyclearn.models.diagnostics.modification_indices`.
        """
        from cyclearn.models.diagnostics import modification_indices

        return modification_indices(self)

    def total_effects(self) -> pd.DataFrame:
        """Effects summed over all paths; see :meth:`LinearGaussianModel.total_effects`."""
        return self.model.total_effects()

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """Everything a report needs as plain values for JSON; what does not exist is None."""
        table = self.summary(level)
        parameters = [
            {"parameter": name, **{key: _or_none(value) for key, value in row.items()}}
            for name, row in table.to_dict(orient="index").items()
        ]
        indices = self.fit_indices.to_dict()
        return {
            "schema": 1,
            "status": self.status.name,
            "message": self.status.value,
            "converged": self.converged,
            "stable": self.is_stable,
            "spectral_radius": self.model.spectral_radius,
            "n_samples": self.n_samples,
            "n_effective": self.n_effective,
            "model": self.model.to_dict(),
            "level": level,
            "parameters": parameters,
            "not_identified": list(self.not_identified),
            "fit_indices": {key: _or_none(value) for key, value in indices.items()},
            "alternatives": [model.to_dict() for model in self.alternatives],
        }

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw the graph with its weights; see :func:`cyclearn.drawing.plots.plot_fit`."""
        from cyclearn.drawing.plots import plot_fit

        return plot_fit(self, ax, **options)

    def to_dot(self) -> str:
        """The graph with its weights in DOT, the language of graphviz; negative ones dashed."""
        looks: dict[tuple[str, str], dict[str, object]] = {}
        for a, b in self.graph.edges:
            weight = float(self.B[self.graph.index(a), self.graph.index(b)])
            looks[a, b] = {"label": f"{weight:.3g}"}
            if weight < 0:
                looks[a, b]["style"] = "dashed"
        return self.graph.to_dot(looks)

    def __repr__(self) -> str:
        return (
            f"FittedModel({self.graph.n_nodes} variables, {self.graph.n_edges} edges, "
            f"log-likelihood {self.log_likelihood:.6g}, BIC {self.bic:.6g}, {self.status.name})"
        )

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, level: float = 0.95, *, standardised: bool = False) -> str:
        """What ``print`` shows, with confidence intervals of this level.

        Raises
        ------
        InputError
            For a level that is not strictly between 0 and 1.
        """
        lines = [repr(self), f"  {self.status.value}"]
        if not self.is_stable:
            lines.append(f"  unstable: spectral radius {self.model.spectral_radius:.4g}")
        if self.alternatives:
            lines.append(
                f"  {len(self.alternatives)} other parameter set(s) with the same likelihood"
            )
        table = self.summary(level, standardised=standardised)
        shown = table.to_string(
            float_format=lambda value: significant(value, 4),
            formatters={"z": "{:.2f}".format, "p_value": "{:.4f}".format},
            na_rep="",
        )
        return "\n".join([*lines, str(self.fit_indices), shown])


def _or_none(value: Any) -> Any:
    return None if isinstance(value, float) and not np.isfinite(value) else value
