"""How well a graph fits: the test against the saturated model and the usual indices."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from cyclearn.foundation import Answer
from cyclearn.foundation.arrays import FloatArray

if TYPE_CHECKING:
    from cyclearn.models.fitted_model import FittedModel


# A likelihood ratio per sample below this is rounding, on which small p-values must not depend.
_ROUNDING = 1e-10


@dataclass(frozen=True, kw_only=True)
class FitIndices(Answer):
    """Fit indices with the definitions of lavaan (normal theory, divisor n, free means).

    They are the numbers of ``lavaan(..., likelihood = "normal", fixed.x = FALSE)`` for the same
    equations; a covariance matrix given to it needs ``sample.cov.rescale = FALSE``. Two things
    differ in a comparison. ``sem`` adds covariances among variables without parents and among
    variables without children, which a directed graph does not have, and its default conditions
    on the variables without parents, with another likelihood, count and baseline. And lavaan
    subtracts the number of parameters, whereas the degrees of freedom here subtract the dimension:
    p-value, RMSEA, CFI and TLI differ when parameters are not identified. Free means are not
    counted in AIC and BIC, as in lavaan (unless a mean structure is requested).

    ``scaling`` is one if rows are assumed Gaussian. Otherwise the chi-square of normal theory was
    divided by it (Satorra and Bentler, lavaan's ``chisq.scaled``), and RMSEA, CFI and TLI are those
    that lavaan calls robust.

    NaN marks what is unavailable; ``note`` says why.
    """

    log_likelihood: float
    saturated_log_likelihood: float = nan
    aic: float
    bic: float
    n_parameters: int
    dimension: int
    chi_square: float = nan
    degrees_of_freedom: int
    scaling: float = 1.0
    p_value: float = nan
    baseline_chi_square: float = nan
    baseline_degrees_of_freedom: int
    rmsea: float = nan
    cfi: float = nan
    tli: float = nan
    srmr: float = nan
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The indices by name."""
        return asdict(self)

    def __str__(self) -> str:
        lines = [
            f"  log-likelihood {self.log_likelihood:.4f}   AIC {self.aic:.4f}   BIC {self.bic:.4f}",
            f"  chi-square {self.chi_square:.4f} on {self.degrees_of_freedom} degrees of freedom, "
            f"p-value {self.p_value:.4g}"
            + (f" (rescaled by {self.scaling:.4g})" if self.scaling != 1 else ""),
            f"  RMSEA {self.rmsea:.4f}   CFI {self.cfi:.4f}   TLI {self.tli:.4f}   "
            f"SRMR {self.srmr:.4f}",
        ]
        return "\n".join([*lines, f"  {self.note}"] if self.note else lines)


def indices_of(fitted: FittedModel) -> FitIndices:
    """Likelihood-ratio test against the saturated model, RMSEA, CFI, TLI, SRMR.

    χ² is twice the log-likelihood gap to the saturated model; its degrees of freedom are
    p(p+1)/2 minus the generic dimension of the graph, not minus the number of parameters. The
    baseline of CFI and TLI is independence. RMSEA divides by n. SRMR averages the squared
    standardised residuals over the p(p+1)/2 variances and covariances. With exogenous variables the
    test is conditional on them: covariances among them are neither counted nor explained, as with
    lavaan's ``fixed.x``.
    """
    p, n = fitted.graph.n_nodes, fitted.n_effective
    # Exogenous variables have neither parameters nor a likelihood of their own.
    n_exogenous = len(fitted.exogenous)
    n_moments = (p * (p + 1) - n_exogenous * (n_exogenous + 1)) // 2
    dimension = fitted.graph.dimension() - n_exogenous
    df, baseline_df = n_moments - dimension, n_moments - (p - n_exogenous)
    found: dict[str, Any] = {}
    if fitted.experiments is not None:
        found["note"] = (
            "tables with interventions have no fit indices (no saturated model to compare with)"
        )
    else:
        R, scale = _saturated_correlation(fitted)
        residuals = R - fitted.covariance / np.outer(scale, scale)
        found["srmr"] = float(np.sqrt((np.tril(residuals) ** 2).sum() / (p * (p + 1) / 2)))
        if n > p:
            found |= _comparison(fitted, *_log_likelihoods(fitted, R, scale), df, baseline_df)
        else:
            found["note"] = (
                f"{n} samples of {p} variables: the saturated model has no maximum likelihood "
                "estimate, so the chi-square test, RMSEA, CFI and TLI are unavailable"
            )
    return FitIndices(
        log_likelihood=fitted.log_likelihood,
        aic=fitted.aic,
        bic=fitted.bic,
        n_parameters=fitted.n_parameters,
        dimension=dimension,
        degrees_of_freedom=df,
        baseline_degrees_of_freedom=baseline_df,
        **found,
    )


def _saturated_correlation(fitted: FittedModel) -> tuple[FloatArray, FloatArray]:
    """The saturated correlation matrix, and the standard deviations."""
    if fitted.observed is None:
        return fitted.moments.correlation, fitted.moments.scale
    S = fitted.observed.saturated_covariance
    scale = np.sqrt(S.diagonal())
    return S / np.outer(scale, scale), scale


def _log_likelihoods(fitted: FittedModel, R: FloatArray, scale: FloatArray) -> tuple[float, float]:
    """Log-likelihoods of the saturated model and of independence."""
    observed = fitted.observed
    if observed is not None:
        return observed.saturated_log_likelihood, observed.independent_log_likelihood
    is_exogenous = fitted.moments.is_exogenous
    n, present = fitted.n_effective, scale[~is_exogenous]
    constant = 0.5 * len(present) * (1 + np.log(2 * np.pi)) + np.log(present).sum()
    half_log_det = 0.5 * float(np.linalg.slogdet(R)[1])
    half_log_det -= 0.5 * float(np.linalg.slogdet(R[np.ix_(is_exogenous, is_exogenous)])[1])
    return float(-n * (half_log_det + constant)), float(-n * constant)


def _comparison(
    fitted: FittedModel, saturated: float, independent: float, df: int, baseline_df: int
) -> dict[str, Any]:
    """The indices that compare a fit with the saturated model and with independence."""
    from scipy.special import chdtrc

    n = fitted.n_effective
    chi_square = 2 * (saturated - fitted.log_likelihood)
    if chi_square < _ROUNDING * n:
        chi_square = 0.0
    baseline = max(2 * (saturated - independent), 0.0)
    # Expected statistics if the graph, or independence, is true.
    mean, baseline_mean = float(df), float(baseline_df)
    if (sandwich := fitted.sandwich) is not None and sandwich.trace > 0:
        mean, baseline_mean = sandwich.trace, sandwich.baseline_trace
    excess = max(chi_square - mean, 0.0)
    worst = max(excess, baseline - baseline_mean)
    found = {
        "saturated_log_likelihood": saturated,
        "chi_square": chi_square,
        "baseline_chi_square": baseline,
        "cfi": 1 - excess / worst if worst > 0 else 1.0,
        # One if the ratio does not exist, as in lavaan.
        "tli": 1.0
        if df == 0 or baseline == baseline_mean
        else 1 - (chi_square - mean) / df * baseline_df / (baseline - baseline_mean),
    }
    if df == 0:
        note = "the graph is saturated: it can generate every covariance, so nothing is tested"
        return found | {"rmsea": 0.0, "note": note}
    scaling = mean / df
    found["chi_square"] = chi_square / scaling
    found["rmsea"] = float(np.sqrt(max(chi_square - mean, 0.0) / df / n))
    return found | {"p_value": float(chdtrc(df, chi_square / scaling)), "scaling": scaling}
