"""The result of ``fit``, for one table or for groups: inference is computed on demand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from cyclearn.data.effective_rows import Counting, rows_in_words
from cyclearn.data.moments import Moments
from cyclearn.foundation import Answer, Axes, InputError, finite, given_in_words, pd, significant
from cyclearn.foundation.arguments import between
from cyclearn.foundation.arrays import FloatArray, IntArray
from cyclearn.graphs.directed_graph import DirectedGraph
from cyclearn.models import diagnostics, inference
from cyclearn.models.components import ComponentFit
from cyclearn.models.fit_indices import indices_of
from cyclearn.models.fit_status import SEVERITY, FitStatus
from cyclearn.models.linear_gaussian import LinearGaussianModel

if TYPE_CHECKING:
    from cyclearn.models.experiments import Experiments
    from cyclearn.models.observed_fit import ObservedLikelihood
    from cyclearn.models.sandwich import Sandwich


@dataclass(frozen=True, eq=False, repr=False)
class FittedModel(Answer):
    """Maximum likelihood estimate on a graph, with inference computed on first use.

    Attributes
    ----------
    graph : DirectedGraph
    model : LinearGaussianModel
        The estimate; a stable one when the solutions of equal likelihood include one.
    moments : Moments
        The fitted data, in the order of the nodes. The likelihood is conditional on the
        ``exogenous`` variables.
    log_likelihood : float
    status : FitStatus
        The outcome of the fit; its value is a sentence with the remedy.
    alternatives : tuple of LinearGaussianModel
        Other parameter sets on the same graph with the same likelihood, each differing from
        the estimate in one component.
    components : tuple of ComponentFit
        Single nodes together, then each component: value, gradient norm, iterations.
    n_effective : float
        The effective sample size, used in likelihood and standard errors.
    counting : str
        How it was determined; ``rows_in_words`` is a sentence about it.
    observed : ObservedLikelihood or None
        The likelihood of rows with missing values, if there were any; ``moments`` are then the
        moments expected of complete rows under the estimate.
    experiments : Experiments or None
        Tables with interventions, if there were any; ``moments`` are then those of all rows.
    sandwich : Sandwich or None
        The robust covariance of the estimates, if rows are not assumed Gaussian.
    """

    graph: DirectedGraph
    model: LinearGaussianModel
    moments: Moments
    log_likelihood: float
    status: FitStatus
    alternatives: tuple[LinearGaussianModel, ...]
    components: tuple[ComponentFit, ...]
    n_effective: float
    counting: Counting = "all"
    observed: ObservedLikelihood | None = None
    experiments: Experiments | None = None
    sandwich: Sandwich | None = None

    def observed_by(self, likelihood: ObservedLikelihood) -> FittedModel:
        """The same estimate, obtained from rows with missing cells."""
        return replace(
            self,
            observed=likelihood,
            log_likelihood=likelihood.log_likelihood,
            n_effective=likelihood.weight * self.n_samples,
            status=self.status if likelihood.converged else FitStatus.ITERATION_LIMIT,
        )

    @property
    def errors_in_words(self) -> str:
        """Why standard errors and the test of fit are robust; empty if they are not."""
        if self.sandwich is None:
            return ""
        test = "" if np.isnan(self.sandwich.trace) else ", and the chi-square is rescaled"
        if self.ordered:
            return "Standard errors are from the covariance of the latent correlations" + test
        return "Standard errors are robust: they do not assume Gaussian rows (sandwich)" + test

    @property
    def rows_in_words(self) -> str:
        """A sentence on the effective sample size and the reason for it."""
        return rows_in_words(
            self.n_samples, self.n_effective, self.counting, has_ordered=bool(self.moments.ordered)
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
        """Weights in standard deviations of the effect per standard deviation of the cause, (p, p).

        The standard deviations are those implied by the model, as in lavaan's ``std.all``.
        """
        scale = np.sqrt(self.covariance.diagonal())
        return np.asarray(self.B * scale[:, None] / scale)

    @property
    def exogenous(self) -> tuple[str, ...]:
        """Exogenous variables; with ``lags``, the lagged ones too."""
        return self.moments.exogenous

    @property
    def ordered(self) -> tuple[str, ...]:
        """Ordinal variables: weights refer to the underlying normal variables."""
        return self.moments.ordered

    @property
    def covariance(self) -> FloatArray:
        """Covariance that the estimate implies, shape (p, p).

        The covariance of exogenous variables is that of the data.
        """
        if not self.exogenous:
            return self.model.covariance
        given = np.ix_(self.moments.is_exogenous, self.moments.is_exogenous)
        noise = np.diag(self.noise_variances)
        noise[given] = self.moments.covariance[given]
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

    def intervention_residuals(self) -> pd.DataFrame:
        """Deviations of the means of tables from the model, in standard errors.

        One row for each table, labelled by its targets; NaN for the targets. Many values beyond ±3
        suggest that the response to strong interventions is not linear: try ``margins="log"`` or
        ``"rank"``, or weaker interventions.
        """
        from cyclearn.models.experiments import mean_residuals

        design = None if self.experiments is None else self.experiments.tables.design
        if self.experiments is None or (design and design.intercepts == "table"):
            raise InputError("intervention residuals need interventions with shared intercepts")
        left = mean_residuals(self.experiments, self.B, self.noise_variances)
        targets = [", ".join(table.targets) or "none" for table in self.experiments.tables]
        return pd.DataFrame(left, index=pd.Index(targets, name="targets"), columns=self.names)

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return self.moments.n_samples

    @property
    def n_parameters(self) -> int:
        """Number of edges plus number of nodes, |E| + p.

        With interventions, a variable that was always a target has no noise variance, and a
        variable whose noise was changed has several. Exogenous variables have none.
        """
        if self.experiments is not None:
            return self.graph.n_edges + len(self.experiments.which)
        return self.graph.n_edges + self.graph.n_nodes - len(self.exogenous)

    @property
    def aic(self) -> float:
        """−2 log-likelihood + 2 (|E| + p)."""
        return -2 * self.log_likelihood + 2 * self.n_parameters

    @property
    def bic(self) -> float:
        """−2 log-likelihood + log n · (|E| + p), with n the effective number of rows."""
        return float(-2 * self.log_likelihood + np.log(self.n_effective) * self.n_parameters)

    errors = cached_property(inference.parameter_errors)

    @property
    def standard_errors(self) -> FloatArray:
        """Standard errors of B, shape (p, p); NaN if there is no edge or no standard error."""
        return self.errors.B

    @property
    def robust_standard_errors(self) -> FloatArray:
        """Sandwich standard errors; equal to ``standard_errors`` if these are robust."""
        if self.sandwich is None:
            raise InputError("these standard errors assume Gaussian rows; fit with se='robust'")
        return self.errors.B

    @property
    def noise_variance_errors(self) -> FloatArray:
        """Standard errors of the noise variances, shape (p,)."""
        return self.errors.noise_variances

    @property
    def not_identified(self) -> tuple[str, ...]:
        """Parameters that the likelihood does not determine, as ``a -> b`` and ``var(a)``."""
        return self.errors.not_identified

    fit_indices = cached_property(indices_of)
    confidence_intervals = inference.confidence_intervals
    summary = inference.summary

    @property
    def r_squared(self) -> pd.Series:
        """Share of each variance that the causes explain: see :mod:`cyclearn.models.diagnostics`.

        Negative if feedback reduces a variable's variance below that of its noise.
        """
        return diagnostics.r_squared(self)

    residual_correlations = diagnostics.residual_correlations
    modification_indices = diagnostics.modification_indices
    indirect_effects = diagnostics.indirect_effects

    def total_effects(self) -> pd.DataFrame:
        """Effects summed over all paths; see :meth:`LinearGaussianModel.total_effects`."""
        return self.model.total_effects()

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """Everything a report needs as plain values for JSON; None for what does not exist."""
        table = self.summary(level)
        parameters = [
            {"parameter": name, **finite(row)}
            for name, row in table.to_dict(orient="index").items()
        ]
        return {
            **_outcome(self),
            "spectral_radius": self.model.spectral_radius,
            "model": self.model.to_dict(),
            "level": level,
            "parameters": parameters,
            "not_identified": list(self.not_identified),
            "standard_errors": "standard" if self.sandwich is None else "robust",
            "fit_indices": finite(self.fit_indices.to_dict()),
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
        """The output of ``print``, with confidence intervals of this level.

        Raises
        ------
        InputError
            If the level is not strictly between 0 and 1.
        """
        lines = [repr(self), f"  {self.status.value}", f"  {self.rows_in_words}"]
        lines += [f"  {words}" for words in given_in_words(self.exogenous, self.moments.levels)]
        lines += [f"  {self.errors_in_words}."] * (self.sandwich is not None)
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


def _total(name: str, meaning: str) -> Any:
    """A property of groups: the sum of that of their models."""

    def total(groups: FittedGroups) -> Any:
        return sum(getattr(model, name) for model in groups.models.values())

    return property(total, doc=meaning)


@dataclass(frozen=True, eq=False, repr=False)
class FittedGroups(Answer):
    """Maximum likelihood estimates of one graph, with separate weights and noise in each group.

    Attributes
    ----------
    graph : DirectedGraph
    models : mapping from str to FittedModel
        The estimate of each group, in the order in which groups were given.
    """

    graph: DirectedGraph
    models: Mapping[str, FittedModel]

    def __post_init__(self) -> None:
        object.__setattr__(self, "models", MappingProxyType(dict(self.models)))

    def __reduce__(self) -> tuple[Any, ...]:
        return FittedGroups, (self.graph, dict(self.models))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables."""
        return self.graph.names

    log_likelihood = _total("log_likelihood", "Log-likelihood of all groups together.")
    n_samples = _total("n_samples", "Number of rows, of all groups together.")
    n_effective = _total("n_effective", "Effective sample size of all groups together.")
    n_parameters = _total("n_parameters", "Number of edges plus number of nodes, in every group.")
    aic = _total("aic", "−2 log-likelihood + 2 · number of parameters.")
    bic = _total("bic", "Sum of the BIC of the groups, each with its own number of rows.")

    @property
    def status(self) -> FitStatus:
        """The most serious outcome of any group."""
        return max((model.status for model in self.models.values()), key=SEVERITY.__getitem__)

    @property
    def converged(self) -> bool:
        """Whether the parameters of every group are a maximum to within the tolerance."""
        return all(model.converged for model in self.models.values())

    @property
    def is_stable(self) -> bool:
        """Whether the estimate of every group is stable."""
        return all(model.is_stable for model in self.models.values())

    def weights_by_group(self, alpha: float = 0.05) -> pd.DataFrame:
        """Weights and standard errors by group, and a test of which weights differ.

        One row for each edge. Columns are in three parts: ``table["weight"]`` and
        ``table["std_error"]`` have a column for each group; ``table["test"]`` has Wald's statistic
        ``chi_square`` of equal weights in all groups, its degrees of freedom ``df``, ``p_value``,
        ``p_holm``, which is corrected for the number of edges by Holm's method, and ``differs``:
        whether that is below ``alpha``.

        Groups in which a weight has no standard error are omitted from its test. The test is
        conditional on the graph; weights are compared in the units of the data.
        """
        from scipy.special import chdtrc

        between("alpha", alpha, 0, 1, 0.05)
        edges = np.argwhere(self.graph.adjacency)
        i, j = edges[:, 0], edges[:, 1]
        fits = self.models.values()
        weights = np.array([model.B[i, j] for model in fits])
        errors = np.array([model.standard_errors[i, j] for model in fits])
        statistic, df = _wald(weights, errors)
        p_values = np.where(df > 0, chdtrc(np.maximum(df, 1), statistic), np.nan)
        adjusted = holm(p_values)
        columns = [(part, name) for part in ("weight", "std_error") for name in self.models]
        test = [statistic, df, p_values, adjusted, adjusted < alpha]
        tested = [("test", n) for n in ("chi_square", "df", "p_value", "p_holm", "differs")]
        labels = inference.parameter_labels(self.names, edges, ())
        return pd.DataFrame(
            dict(zip([*columns, *tested], [*weights, *errors, *test], strict=True)),
            index=pd.Index(labels, name="edge"),
            columns=pd.MultiIndex.from_tuples([*columns, *tested], names=["part", "group"]),
        )

    @property
    def fit_indices(self) -> pd.DataFrame:
        """Fit indices, one row for each group; see :class:`cyclearn.models.FitIndices`."""
        rows = {name: model.fit_indices.to_dict() for name, model in self.models.items()}
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("group")

    def summary(self, level: float = 0.95) -> pd.DataFrame:
        """Parameters of every group: estimate, standard error, z, p-value, interval."""
        parts = {name: model.summary(level) for name, model in self.models.items()}
        return pd.concat(parts, names=["group", "parameter"])

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """Everything a report needs as plain values for JSON; None for what does not exist."""
        test = self.weights_by_group()["test"].astype(object)
        tests = test.where(test.notna(), None).to_dict(orient="index")
        return {
            **_outcome(self),
            "log_likelihood": self.log_likelihood,
            "bic": self.bic,
            "differences": [{"edge": edge, **row} for edge, row in tests.items()],
            "groups": {name: model.to_dict(level) for name, model in self.models.items()},
        }

    def __repr__(self) -> str:
        return (
            f"FittedGroups({len(self.models)} groups, {self.graph.n_nodes} variables, "
            f"{self.graph.n_edges} edges, log-likelihood {self.log_likelihood:.6g}, "
            f"BIC {self.bic:.6g}, {self.status.name})"
        )

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, level: float = 0.95) -> str:
        """The output of ``print``: weights by group and the test, then every group."""
        lines = [repr(self), f"  {self.status.value}", *self.weights_in_words()]
        for name, model in self.models.items():
            lines += [f"Group {name}:", model.to_text(level)]
        return "\n".join(lines)

    def weights_in_words(self) -> list[str]:
        """One line for each edge: its weight in every group, marked if they differ."""
        if not self.graph.n_edges:
            return []
        table = self.weights_by_group()
        return [
            f"  {edge}  "
            + "  ".join(f"{weight:+.3f}" for weight in table.loc[edge, "weight"])
            + ("  (differs)" if table.loc[edge, ("test", "differs")] else "")
            for edge in table.index
        ]


def _outcome(fitted: FittedModel | FittedGroups) -> dict[str, Any]:
    """How a fit ended, and with how many rows, as plain values."""
    return {
        "schema": 1,
        "status": fitted.status.name,
        "message": fitted.status.value,
        "converged": fitted.converged,
        "stable": fitted.is_stable,
        "n_samples": fitted.n_samples,
        "n_effective": fitted.n_effective,
    }


def _wald(weights: FloatArray, errors: FloatArray) -> tuple[FloatArray, IntArray]:
    """Wald's χ² of equal weights over groups (rows), and its degrees of freedom."""
    known = np.isfinite(errors) & (errors > 0)
    precision = np.where(known, 1 / np.where(known, errors, 1.0) ** 2, 0.0)
    total = precision.sum(axis=0)
    mean = (precision * weights).sum(axis=0) / np.where(total > 0, total, 1.0)
    statistic = (precision * (weights - mean) ** 2).sum(axis=0)
    df = np.maximum(known.sum(axis=0) - 1, 0)
    return np.where(df > 0, statistic, np.nan), df


def holm(p_values: FloatArray) -> FloatArray:
    """p-values corrected for multiple testing by Holm's method; NaNs do not count as tests.

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, np.nan, 0.03]))
    array([0.03, 0.06,  nan, 0.06])
    """
    adjusted = np.full(len(p_values), np.nan)
    order = np.argsort(p_values)[: int(np.isfinite(p_values).sum())]
    times = len(order) - np.arange(len(order))
    adjusted[order] = np.minimum(np.maximum.accumulate(p_values[order] * times), 1.0)
    return adjusted
