"""The effective sample size of a table whose rows are autocorrelated.

With autocorrelations ρ(k) the variance of a sample covariance is that of n / (1 + 2 Σ ρ(k)²)
independent rows (Bartlett, for two columns with the same autocorrelation). Sorting makes
independent rows resemble their neighbours, so what sorted columns explain is removed first
(:mod:`cyclearn.data.sorted_rows`). Removing it makes neighbours differ, so only positive
autocorrelations are then evidence of dependence; negative ones count only if nothing was removed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from cyclearn.data.sorted_rows import Order
from cyclearn.foundation.arrays import BoolArray, FloatArray
from cyclearn.foundation.errors import InputError

# The effective sample size as requested.
EffectiveRows = float | Literal["auto", "all"]
# How the effective sample size was determined; for several tables, the first reason that applies.
Counting = Literal[
    "memory", "number", "weights", "subjects", "all", "unchecked", "few", "independent"
]
COUNTINGS: tuple[Counting, ...] = get_args(Counting)

# With fewer rows no test has power, and large correlations arise by chance.
TESTED_ROWS = 30
# Lags of the test for dependence; the first few show it.
TEST_LAGS = 10
# Probability of a false alarm for independent rows in large tables; twice that in small ones.
_FALSE_ALARMS = 0.005
# Lost information below which no warning about dependence is given.
_EFFECTIVE_SHARE = 0.8


@dataclass(frozen=True, eq=False)
class Memory:
    """The autocorrelation of the rows.

    ``is_dependent`` marks columns whose autocorrelation is significant and matters;
    ``inflations`` is the number of rows per effective row if there are such columns, and NaN for
    columns that the rows are sorted by.
    """

    n_rows: int
    inflations: FloatArray
    is_dependent: BoolArray

    @classmethod
    def of(cls, X: FloatArray) -> Memory:
        """The autocorrelation of complete rows, shape (n, p); not measured if there are few.

        Examples
        --------
        An autocorrelation of 0.8 leaves n (1 − 0.64) / (1 + 0.64) effective rows, about a fifth:

        >>> rng = np.random.default_rng(0)
        >>> X = np.zeros((5_000, 3))
        >>> for t in range(1, 5_000):
        ...     X[t] = 0.8 * X[t - 1] + rng.standard_normal(3)
        >>> 900 < Memory.of(X).n_effective < 1_300
        True
        >>> independent = rng.standard_normal((500, 3))
        >>> Memory.of(independent[independent[:, 0].argsort()]).n_effective
        500.0
        """
        n, p = X.shape
        inflations, is_dependent = np.full(p, np.nan), np.zeros(p, dtype=bool)
        if n >= TESTED_ROWS:
            scale = X.std(axis=0)
            X = np.subtract(X, X.mean(axis=0), order="F")
            X /= np.where(scale > 0, scale, 1)
            order = Order.of(X)
            # One column at a time: copies of a long table would take most of the memory.
            chances = {}
            for j in np.flatnonzero(~order.is_sorted).tolist():
                left = order.residuals(X[:, [j]])[:, 0]
                # Columns that sorted columns determine are sorted too.
                if left.std() > 1e-6:
                    chances[j] = _chance(left)
            if any(chance < _FALSE_ALARMS / len(chances) for chance in chances.values()):
                for j, chance in chances.items():
                    correlations = autocorrelations(order.residuals(X[:, [j]]))[:, 0]
                    if order.explains:
                        correlations = np.maximum(correlations, 0)
                    inflations[j] = _inflation(correlations)
                    is_alarmed = chance < _FALSE_ALARMS / len(chances)
                    is_dependent[j] = is_alarmed and inflations[j] > 1 / _EFFECTIVE_SHARE
        return cls(n, inflations, is_dependent)

    @property
    def n_effective(self) -> float:
        """The effective sample size: the number of rows if they are independent."""
        if not self.is_dependent.any():
            return float(self.n_rows)
        return self.n_rows / float(np.nanmedian(self.inflations))


def row_weight(asked: EffectiveRows, n: int, memory: Memory | None) -> tuple[float, Counting]:
    """The weight of a row relative to independent rows, and the reason; moments have no row order.

    Raises
    ------
    InputError
        If the requested number exceeds the number of rows.
    """
    if not isinstance(asked, str):
        if asked > n:
            raise InputError(
                f"n_effective is {asked:g}, and there are {n} rows; it cannot exceed that number"
            )
        return asked / n, "number"
    if asked == "all":
        return 1.0, "all"
    if memory is None:
        return 1.0, "unchecked"
    if n < TESTED_ROWS:
        return 1.0, "few"
    weight = memory.n_effective / n
    return weight, "memory" if weight < 1 else "independent"


def rows_in_words(
    n: int, n_effective: float, counting: Counting, *, has_ordered: bool = False
) -> str:
    """State the effective sample size and the reason for it.

    Examples
    --------
    >>> rows_in_words(500, 500, "independent")
    'All 500 rows count: neighbouring rows do not resemble each other.'
    """
    whys = {
        "memory": "because neighbouring rows resemble each other",
        "number": "as requested",
        "weights": "because their weights differ",
        "subjects": "because the mean of each subject was removed",
    }
    ordinal = "because ordinal columns carry less information than numeric ones"
    if counting in whys:
        why = whys[counting] + f", and {ordinal}" * (has_ordered and counting == "memory")
    elif round(n_effective) < n and has_ordered:
        why = ordinal
    elif round(n_effective) < n:
        why = "because values are missing"
    else:
        reasons = {
            "all": "as requested",
            "unchecked": "the rows could not be checked because only moments were given",
            "few": f"fewer than {TESTED_ROWS} are not checked",
            "independent": "neighbouring rows do not resemble each other",
        }
        return f"All {n} rows count: {reasons[counting]}."
    return f"{n} rows, counted as {n_effective:.0f} {why}."


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


def _inflation(correlations: FloatArray) -> float:
    """Rows per effective row of a column, 1 + 2 Σ ρ(k)².

    The sum ends at the first lag that exceeds six times the sum so far (Sokal's window): it
    includes all of the autocorrelation and little noise, of which each lag adds 1/n.
    """
    sums = 1 + 2 * np.cumsum(correlations[1:] ** 2)
    enough = np.arange(1, len(correlations)) >= 6 * sums
    return float(sums[enough.argmax() if enough.any() else -1])


def _chance(x: FloatArray) -> float:
    """p-value of the autocorrelation of a column if rows were independent.

    Σ xₜ xₜ₊ₖ / √(Σ xₜ² xₜ₊ₖ²) is standard normal without autocorrelation, even if the variance
    changes along the rows, as it does in sorted tables. The squares of the positive ones among K
    have the distribution of χ² with j degrees of freedom, j binomial with K and ½.
    """
    # This avoids scipy.stats, which takes more than a second to load.
    from scipy.special import binom, chdtrc

    # With few rows the test has the right level only for few lags.
    n_lags = min(TEST_LAGS, len(x) // 10)
    statistic = 0.0
    squares = x * x
    for lag in range(1, n_lags + 1):
        product, scale = x[:-lag] @ x[lag:], squares[:-lag] @ squares[lag:]
        statistic += float(np.maximum(product, 0) ** 2 / scale)
    degrees = np.arange(1, n_lags + 1)
    return float((binom(n_lags, degrees) / 2**n_lags * chdtrc(degrees, statistic)).sum())
