"""How good a sample of graphs is: agreement of the chains, and effective size.

Both are computed from the share of steps with each edge in equal batches of the chains, so they use
every step, not only the kept graphs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cyclearn.foundation.arrays import FloatArray, IntArray

# Edges with a probability outside this range need no more steps. The lower limit is smaller than
# 0.05, because chains that have rarely visited the graphs with an edge underestimate its
# probability.
UNSETTLED = (0.03, 0.97)
LARGEST_R_HAT = 1.05


class SamplingWarning(UserWarning):
    """The chains of a posterior do not agree."""


@dataclass(frozen=True, eq=False)
class SampleQuality:
    """Quality for each edge, shape (p, p).

    Attributes
    ----------
    r_hat : array
        Potential scale reduction (Gelman and Rubin), each chain cut in two: √(1 + variance of the
        means of the halves / mean variance within halves). One if chains agree.
    effective_size : array
        Number of independent graphs that would give the probability of the edge as precisely: its
        variance P(1 − P) over the squared standard error. The latter comes from the means of
        batches and their autocorrelation (the initial positive sequence of Geyer, over all chains
        as in Vehtari and others), so chains that disagree count as only a few draws.
    """

    r_hat: FloatArray
    effective_size: FloatArray

    @classmethod
    def of(cls, batches: FloatArray) -> SampleQuality:
        """Compute from shares of steps, shape (chains, an even number of batches, p, p).

        Examples
        --------
        >>> drawn = np.random.default_rng(0).random((4, 50, 1, 1, 100)) < 0.3
        >>> quality = SampleQuality.of(drawn.mean(axis=-1))
        >>> bool(15_000 < quality.effective_size[0, 0] < 27_000 and quality.r_hat[0, 0] < 1.01)
        True
        """
        n_chains, n_batches = batches.shape[:2]
        share = batches.mean(axis=(0, 1))
        r_hat, size = np.ones_like(share), np.full_like(share, np.nan)
        # With many variables, most edges never occurred.
        is_open = (share > 0) & (share < 1)
        share, batches = share[is_open], batches[:, :, is_open]
        halves = batches.reshape(2 * n_chains, n_batches // 2, -1).mean(axis=1)
        inside = (halves * (1 - halves)).mean(axis=0)
        between = halves.var(axis=0, ddof=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(between > 0, between / inside, 0.0)
            size[is_open] = share * (1 - share) / _squared_error(batches)
        r_hat[is_open] = np.sqrt(1 + ratio)
        return cls(r_hat, size)

    def reordered(self, places: IntArray) -> SampleQuality:
        """The same with the variables in another order."""
        grid = np.ix_(places, places)
        return SampleQuality(self.r_hat[grid], self.effective_size[grid])

    def over(self, probabilities: FloatArray) -> tuple[float, float]:
        """The largest R̂ and the smallest effective size of the unsettled edges.

        Without any, one and infinity.
        """
        low, high = UNSETTLED
        # R̂ = ∞ if one chain always and another never has the edge.
        unsettled = (probabilities >= low) & (probabilities <= high)
        if not unsettled.any():
            return 1.0, np.inf
        return float(self.r_hat[unsettled].max()), float(self.effective_size[unsettled].min())


def _squared_error(batches: FloatArray) -> FloatArray:
    """Squared standard error of the mean of all batches, shape (chains, batches, ...)."""
    n_chains, n_batches = batches.shape[:2]
    means = batches.mean(axis=1, keepdims=True)
    around = batches - means
    within = (around**2).sum(axis=(0, 1)) / (n_chains * (n_batches - 1))
    variance = within * (n_batches - 1) / n_batches + means[:, 0].var(axis=0, ddof=1)

    def correlation(lag: int) -> FloatArray:
        together = (around[:, : n_batches - lag] * around[:, lag:]).sum(axis=1).mean(axis=0)
        return np.asarray(1 - (within - together / n_batches) / variance)

    # In theory, sums of two neighbours are positive and decrease; from the first that is not, they
    # are noise.
    length = np.zeros_like(variance)
    last = np.full_like(variance, np.inf)
    for lag in range(0, n_batches - 1, 2):
        pair = (1.0 if lag == 0 else correlation(lag)) + correlation(lag + 1)
        last = np.where(last > 0, np.minimum(last, pair), 0.0)
        if not (last > 0).any():
            break
        length += np.maximum(last, 0.0)
    return np.asarray(variance * np.maximum(2 * length - 1, 1.0) / (n_chains * n_batches))
