"""How many independent rows a table is worth, when rows resemble the rows before them.

With autocorrelations ρ(k) the variance of a sample covariance is that of n / (1 + 2 Σ ρ(k)²)
independent rows (Bartlett, for two columns with the same memory).
"""

from __future__ import annotations

import numpy as np

from cyclearn.foundation.arrays import BoolArray, FloatArray

# Chance that independent rows raise a false alarm.
_FALSE_ALARMS = 0.01
# Lags of the test for dependence; memory shows in the first few.
_TEST_LAGS = 10
# With fewer rows the test has no power, and chance makes large correlations.
_TESTED_ROWS = 30
# Lost information below which dependence is not worth a word.
_EFFECTIVE_SHARE = 0.8


def autocorrelations(X: FloatArray, max_lag: int | None = None) -> FloatArray:
    """Autocorrelations of every column at lags 0, 1, …, shape (lags + 1, p).

    The divisor is n at every lag, as usual for time series; a quarter of the rows by default.

    Examples
    --------
    >>> autocorrelations(np.array([[1.0], [-1.0], [1.0], [-1.0]]), max_lag=1).ravel().round(6)
    array([ 1.  , -0.75])
    """
    n = len(X)
    lags = max(n // 4, 1) if max_lag is None else max_lag
    # Padded with zeros, so that the end of a column does not meet its beginning.
    spectrum = np.fft.rfft(X - X.mean(axis=0), n=2 * n, axis=0)
    power = spectrum.real**2 + spectrum.imag**2
    covariances = np.fft.irfft(power, n=2 * n, axis=0)[: lags + 1]
    return np.asarray(covariances / covariances[0])


def inflations(correlations: FloatArray) -> FloatArray:
    """Rows over effective rows of every column, 1 + 2 Σ ρ(k)², shape (p,).

    Summed up to the first lag that exceeds six times the sum so far (Sokal's window): all of the
    memory, little of the noise, each lag of which adds 1/n.
    """
    sums = 1 + 2 * np.cumsum(correlations[1:] ** 2, axis=0)
    lags = np.arange(1, len(correlations))[:, None]
    enough = lags >= 6 * sums
    first = np.where(enough.any(axis=0), enough.argmax(axis=0), len(sums) - 1)
    return np.asarray(sums[first, np.arange(sums.shape[1])])


def dependent_columns(correlations: FloatArray, n: int) -> BoolArray:
    """Which columns have a memory that the test of Ljung and Box sees and that matters."""
    # Not scipy.stats, which takes more than a second to load.
    from scipy.special import chdtrc

    p = correlations.shape[1]
    if n < _TESTED_ROWS:
        return np.zeros(p, dtype=bool)
    # With few rows the test keeps its level only for few lags.
    lags = np.arange(1, min(_TEST_LAGS, n // 10) + 1)
    statistic = n * (n + 2) * (correlations[lags] ** 2 / (n - lags)[:, None]).sum(axis=0)
    alarmed = chdtrc(len(lags), statistic) < _FALSE_ALARMS / p
    return np.asarray(alarmed & (inflations(correlations) > 1 / _EFFECTIVE_SHARE))


def effective_rows(X: FloatArray) -> float:
    """The number of independent rows that the rows of X are worth: all where none are dependent.

    Examples
    --------
    A memory of 0.8 from row to row leaves n (1 − 0.64) / (1 + 0.64), about a fifth:

    >>> rng = np.random.default_rng(0)
    >>> X = np.zeros((5_000, 3))
    >>> for t in range(1, 5_000):
    ...     X[t] = 0.8 * X[t - 1] + rng.standard_normal(3)
    >>> 900 < effective_rows(X) < 1_300
    True
    >>> effective_rows(rng.standard_normal((500, 3)))
    500.0
    """
    return worth_of_rows(autocorrelations(X), len(X))


def worth_of_rows(correlations: FloatArray, n: int) -> float:
    """The same for n rows whose autocorrelations are known."""
    if not dependent_columns(correlations, n).any():
        return float(n)
    return n / float(np.median(inflations(correlations)))
