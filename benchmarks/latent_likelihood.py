"""Latent correlations of ordinal columns by full information, to compare with those of pairs.

The latent values of each row are drawn given its levels and all its other values (Gibbs sampling),
and correlations follow their average: a stochastic approximation of the EM algorithm (Delyon,
Lavielle and Moulines 1999). Thresholds are those of the margins.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

# Sweeps over all columns before draws are averaged, and sweeps that are averaged.
N_BEFORE, N_AVERAGED = 50, 150
# In the tails, uniform numbers next to 0 and 1 have no finite quantile.
TAIL = 1e-15

Floats = NDArray[np.float64]


def correlations_of(S: Floats) -> Floats:
    scale = np.sqrt(S.diagonal())
    return S / np.outer(scale, scale)


def latent_correlations(table: pd.DataFrame, ordered: list[str], start: Floats) -> Floats:
    """Maximum likelihood correlations of a table in the order of its columns."""
    rng = np.random.default_rng(0)
    X = table.to_numpy(float)
    n, p = X.shape
    Z, lowest, highest = np.empty((n, p)), np.full((n, p), -8.0), np.full((n, p), 8.0)
    cut = [n for n, name in enumerate(table) if name in ordered]
    for k in range(p):
        if k not in cut:
            Z[:, k] = (X[:, k] - X[:, k].mean()) / X[:, k].std()
            continue
        levels, level = np.unique(X[:, k], return_inverse=True)
        shares = np.bincount(level, minlength=len(levels)) / n
        edges = np.concatenate([[0.0], shares.cumsum()[:-1], [1.0]])
        lowest[:, k], highest[:, k] = ndtri(edges)[level], ndtri(edges)[level + 1]
        Z[:, k] = ndtri((edges[level] + edges[level + 1]) / 2)
    R, average = start, np.zeros((p, p))
    for sweep in range(N_BEFORE + N_AVERAGED):
        K = np.linalg.inv(R)
        for k in cut:
            deviation = 1 / np.sqrt(K[k, k])
            mean = Z[:, k] - Z @ K[:, k] / K[k, k]
            below = ndtr((lowest[:, k] - mean) / deviation)
            above = ndtr((highest[:, k] - mean) / deviation)
            drawn = np.clip(below + (above - below) * rng.random(n), TAIL, 1 - TAIL)
            Z[:, k] = np.clip(
                mean + deviation * ndtri(drawn),
                np.maximum(lowest[:, k], -8.0),
                np.minimum(highest[:, k], 8.0),
            )
        products = Z.T @ Z / n
        if sweep < N_BEFORE:
            R = correlations_of(0.5 * R + 0.5 * correlations_of(products))
        else:
            average += (products - average) / (sweep - N_BEFORE + 1)
            R = correlations_of(average)
    return R
