"""How well a graph fits: the test against the saturated model and the usual indices."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from cyclearn.models.fitted_model import FittedModel


# A likelihood ratio per sample below this is rounding; small p-values would hang on it.
_ROUNDING = 1e-10


@dataclass(frozen=True)
class FitIndices:
    """Fit indices with the definitions of lavaan (normal theory, divisor n, free means).

    They are the numbers of ``lavaan(..., likelihood = "normal", fixed.x = FALSE)`` for the same
    equations; a covariance matrix given to it needs ``sample.cov.rescale = FALSE``. Two things
    differ in a comparison. ``sem`` adds covariances among variables without parents and among
    variables without children, which a directed graph does not have, and its default conditions
    on the variables without parents, with another likelihood, count and baseline. And lavaan
    subtracts the number of parameters where the degrees of freedom here subtract the dimension:
    p-value, RMSEA, CFI and TLI differ when parameters are not identified. Free means are not
    counted in AIC and BIC, here as there (unless a mean structure is asked for).

    NaN marks what is unavailable; ``note`` says why.
    """

    log_likelihood: float
    saturated_log_likelihood: float
    aic: float
    bic: float
    n_parameters: int
    dimension: int
    chi_square: float
    degrees_of_freedom: int
    p_value: float
    baseline_chi_square: float
    baseline_degrees_of_freedom: int
    rmsea: float
    cfi: float
    tli: float
    srmr: float
    note: str

    def to_dict(self) -> dict[str, Any]:
        """The indices by name."""
        return asdict(self)

    def __str__(self) -> str:
        lines = [
            f"  log-likelihood {self.log_likelihood:.4f}   AIC {self.aic:.4f}   BIC {self.bic:.4f}",
            f"  chi-square {self.chi_square:.4f} on {self.degrees_of_freedom} degrees of freedom, "
            f"p-value {self.p_value:.4g}",
            f"  RMSEA {self.rmsea:.4f}   CFI {self.cfi:.4f}   TLI {self.tli:.4f}   "
            f"SRMR {self.srmr:.4f}",
        ]
        return "\n".join([*lines, f"  {self.note}"] if self.note else lines)


def fit_indices(fitted: FittedModel) -> FitIndices:
    """Indices of a fit.

    χ² is twice the log-likelihood gap to the saturated model; its degrees of freedom are
    p(p+1)/2 minus the generic dimension of the graph, not minus the number of parameters. The
    baseline of CFI and TLI is independence. RMSEA divides by n. SRMR averages the squared
    standardised residuals over the p(p+1)/2 variances and covariances. With variables that are
    taken as given, all of these are of the others given them: covariances among the former are
    neither counted nor explained.
    """
    from scipy.special import chdtrc

    p, n = fitted.graph.n_nodes, fitted.n_effective
    # What is taken as given has neither parameters nor a likelihood of its own.
    is_past = fitted.moments.is_past
    n_past = int(is_past.sum())
    given = n_past * (n_past + 1) // 2
    R, scale = fitted.moments.correlation, fitted.moments.scale
    observed = fitted.observed
    if observed is not None:
        S = observed.saturated_covariance
        scale = np.sqrt(S.diagonal())
        R = S / np.outer(scale, scale)
    dimension = fitted.graph.dimension() - n_past
    n_moments = p * (p + 1) // 2 - given
    df = n_moments - dimension
    baseline_df = n_moments - (p - n_past)
    constant = 0.5 * (p - n_past) * (1 + np.log(2 * np.pi)) + np.log(scale[~is_past]).sum()
    residuals = R - fitted.covariance / np.outer(scale, scale)
    srmr = float(np.sqrt((np.tril(residuals) ** 2).sum() / n_moments))
    saturated = chi_square = p_value = baseline = rmsea = cfi = tli = np.nan
    note = ""
    if fitted.experiments is not None:
        srmr = np.nan
        note = "tables with interventions have no fit indices: nothing is compared with them"
    elif n <= p:
        note = (
            f"{n} samples of {p} variables: the saturated model has no maximum likelihood "
            "estimate, so the chi-square test, RMSEA, CFI and TLI are unavailable"
        )
    else:
        half_log_det = 0.5 * float(np.linalg.slogdet(R)[1])
        half_log_det -= 0.5 * float(np.linalg.slogdet(R[np.ix_(is_past, is_past)])[1])
        saturated = -n * (half_log_det + constant)
        independent = -n * constant
        if observed is not None:
            saturated = observed.saturated_log_likelihood
            independent = observed.independent_log_likelihood
        chi_square = 2 * (saturated - fitted.log_likelihood)
        if chi_square < _ROUNDING * n:
            chi_square = 0.0
        baseline = max(2 * (saturated - independent), 0.0)
        p_value = float(chdtrc(df, chi_square)) if df > 0 else np.nan
        rmsea = float(np.sqrt(max(chi_square / df - 1, 0.0) / n)) if df > 0 else 0.0
        excess = max(chi_square - df, 0.0)
        worst = max(excess, baseline - baseline_df)
        cfi = 1 - excess / worst if worst > 0 else 1.0
        tli = _tucker_lewis(chi_square, df, baseline, baseline_df)
        if df == 0:
            note = "the graph is saturated: it can make every covariance, nothing is tested"
    return FitIndices(
        log_likelihood=fitted.log_likelihood,
        saturated_log_likelihood=float(saturated),
        aic=fitted.aic,
        bic=fitted.bic,
        n_parameters=fitted.n_parameters,
        dimension=dimension,
        chi_square=float(chi_square),
        degrees_of_freedom=df,
        p_value=p_value,
        baseline_chi_square=float(baseline),
        baseline_degrees_of_freedom=baseline_df,
        rmsea=float(rmsea),
        cfi=float(cfi),
        tli=float(tli),
        srmr=srmr,
        note=note,
    )


def _tucker_lewis(chi_square: float, df: int, baseline: float, baseline_df: int) -> float:
    # One where the ratio does not exist, as in lavaan.
    if df == 0 or baseline == baseline_df:
        return 1.0
    ratio = baseline / baseline_df
    return (ratio - chi_square / df) / (ratio - 1)
