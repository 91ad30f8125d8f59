"""Random sample covariances of Gaussian rows with a given covariance."""

from __future__ import annotations

import numpy as np

from cyclearn.data.moments import Moments
from cyclearn.foundation.arrays import FloatArray


def draw_moments(moments: Moments, n_effective: float, generator: np.random.Generator) -> Moments:
    """Draw the moments of a sample of Gaussian rows with a given covariance.

    Examples
    --------
    >>> given = Moments([[1.0, 0.5], [0.5, 1.0]], 100)
    >>> drawn = draw_moments(given, 100, np.random.default_rng(0))
    >>> drawn.n_samples, bool(abs(drawn.covariance - given.covariance).max() < 0.5)
    (100, True)
    """
    drawn = draw_covariance(moments, n_effective, generator)
    names = None if moments.has_default_names else moments.names
    return Moments(drawn, moments.n_samples, moments.mean, names, moments.exogenous, moments.levels)


def draw_covariance(
    moments: Moments, n_effective: float, generator: np.random.Generator
) -> FloatArray:
    """Draw their covariance; constant columns stay constant."""
    from scipy.stats import wishart

    S, p, df = moments.covariance, moments.n_variables, max(round(n_effective) - 1, 1)
    if df >= p and (S.diagonal() > 0).all():
        drawn = wishart.rvs(df, S, random_state=generator)
        return np.asarray(drawn, dtype=float).reshape(p, p) / (df + 1)
    # Fewer draws than variables, or constant ones: the matrix is singular, and so may S be.
    values, vectors = np.linalg.eigh(S)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    Z = generator.standard_normal((df, p)) @ root.T
    return np.asarray(Z.T @ Z / (df + 1))
