"""Where a fitted graph falls short: explained variance, residual correlations, edges left out.

Definitions are those of lavaan, so that its users find the numbers they know.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cyclearn.foundation.arrays import FloatArray
from cyclearn.foundation.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from cyclearn.models.fitted_model import FittedModel


# An edge that the others can imitate to within this share of its information has no index.
_REDUNDANT = 1e-8


def r_squared(fitted: FittedModel) -> pd.Series:
    """Share of the variance of each variable that its causes explain: 1 − ω_j / Σ_jj.

    Negative where feedback damps a variable below the variance of its own noise.
    """
    import pandas as pd

    explained = 1 - fitted.noise_variances / fitted.covariance.diagonal()
    # No parents, no explanation: rounding is not shown.
    explained[~fitted.graph.adjacency.any(axis=0) & (np.abs(explained) < 1e-9)] = 0.0
    found = pd.Series(explained, index=pd.Index(fitted.names, name="variable"), name="r_squared")
    return found.drop(list(fitted.exogenous))


def residual_correlations(fitted: FittedModel) -> pd.DataFrame:
    """Correlations of the data less those that the graph implies (lavaan's ``cor.bollen``)."""
    import pandas as pd

    implied = fitted.covariance
    scale = np.sqrt(implied.diagonal())
    residuals = fitted.moments.correlation - implied / scale / scale[:, None]
    np.fill_diagonal(residuals, 0.0)
    # What is fitted exactly leaves nothing but rounding.
    residuals[np.abs(residuals) < 1e-12] = 0.0
    return pd.DataFrame(residuals, index=fitted.names, columns=list(fitted.names))


def modification_indices(fitted: FittedModel) -> pd.DataFrame:
    """How much the fit would gain from each edge that was left out, the largest first.

    ``index``: the score test of the edge, about what −2 log-likelihood would fall by with it;
    ``p_value``: of that, by chi-square with one degree of freedom, without correction for the
    number of edges on offer; ``expected``: about the weight it would get; ``standardised``: the
    same in standard deviations. NaN where the other edges can imitate it. As lavaan's
    ``modindices``, with its expected information; at an ordinary maximum only.

    With g the gradient of the log-likelihood of one row, and I the expected information with the
    variances profiled out, index = n g² / (I_aa − I_ae I_ee⁻¹ I_ea), e the edges of the graph:

        g_ij = r_ij − M_ji,   r_ij = (S(I − B))_ij / ω_j,   M = (I − B)⁻¹
        I_(ij)(kl) = M_jk M_li + [j = l] (Σ_ik / ω_j − 2 M_ji M_jk)
    """
    import pandas as pd
    from scipy.special import chdtrc

    if fitted.experiments is not None:
        raise InputError(
            "modification indices are for one table, and this fit is of tables with interventions"
        )
    if fitted.observed is not None:
        raise InputError(
            "modification indices take complete rows, and this fit is of rows with missing values; "
            "fit the moments: cl.fit(graph, fitted.moments)"
        )
    A, omega, sigma = fitted.graph.adjacency, fitted.noise_variances, fitted.covariance
    p, n = len(omega), fitted.n_effective
    C = np.eye(p) - fitted.B
    M = np.linalg.inv(C)
    inside = np.argwhere(A)
    outside = np.argwhere(~A & ~np.eye(p, dtype=bool) & ~fitted.moments.is_exogenous)
    gradient = (fitted.moments.covariance @ C) / omega - M.T

    def information(a: NDArray[np.intp], b: NDArray[np.intp]) -> FloatArray:
        (i, j), (k, l) = a.T, b.T  # noqa: E741
        own = sigma[np.ix_(i, k)] / omega[j][:, None] - 2 * M[j, i][:, None] * M[np.ix_(j, k)]
        shared = np.where(j[:, None] == l, own, 0.0)
        return np.asarray(M[np.ix_(j, k)] * M[np.ix_(l, i)].T + shared)

    i, j = outside.T
    own = M[j, i] ** 2 + sigma[i, i] / omega[j] - 2 * M[j, i] ** 2
    left = own
    if len(inside):
        across = information(outside, inside)
        solved = np.linalg.lstsq(information(inside, inside), across.T, rcond=1e-10)[0]
        left = own - np.einsum("ae,ea->a", across, solved)
    left = np.where(left > _REDUNDANT * np.abs(own), left, np.nan)
    expected = gradient[i, j] / left
    index = n * gradient[i, j] * expected
    scale = np.sqrt(sigma.diagonal())
    names = fitted.names
    table = pd.DataFrame(
        {
            "source": [names[a] for a in i],
            "target": [names[b] for b in j],
            "index": index,
            "p_value": chdtrc(1, index),
            "expected": expected,
            "standardised": expected * scale[i] / scale[j],
        }
    )
    # Many indices are equal but for rounding, which must not order them.
    rank = pd.Series([float(f"{value:.8g}") for value in index])
    ordered = table.loc[rank.sort_values(ascending=False, kind="stable").index]
    return ordered.reset_index(drop=True)
