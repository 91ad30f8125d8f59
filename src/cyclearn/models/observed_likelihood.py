"""Maximum likelihood on a graph from rows with holes, and its information.

The observed-data likelihood of the graph's own model is maximised by EM: given the current
distribution, the expected mean and covariance of complete rows; given these, the ordinary fit of
the graph, started where it was. (Full information maximum likelihood, ``missing = "fiml"`` in
lavaan.)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cyclearn.data.observed_rows import ObservedRows, Saturated

FloatArray = NDArray[np.float64]

# Step of the central differences, on standardised parameters: errors of the square and of
# rounding are about the same.
_STEP = 1e-5


@dataclass(frozen=True, eq=False)
class ObservedLikelihood:
    """The likelihood of rows with holes, for a fit on a graph; columns in the order of its nodes.

    Attributes
    ----------
    data : ObservedRows
    B, noise_variances, mean : arrays
        The estimate, on the standardised scale of ``data``.
    log_likelihood : float
        Of the observed cells, at the estimate.
    iterations : int
    converged : bool
    weight : float
        What a row counts for, where rows depend on each other.
    """

    data: ObservedRows
    B: FloatArray
    noise_variances: FloatArray
    mean: FloatArray
    log_likelihood: float
    iterations: int
    converged: bool
    weight: float = 1.0

    @property
    def weighted_log_likelihood(self) -> float:
        """Log-likelihood of the estimate, rows counted for what they are worth."""
        return self.weight * self.log_likelihood

    @cached_property
    def saturated(self) -> Saturated:
        """The best mean and covariance of all."""
        return self.data.saturated()

    @property
    def saturated_log_likelihood(self) -> float:
        """Weighted log-likelihood of the best mean and covariance of all."""
        return self.weight * self.saturated.log_likelihood

    @property
    def independent_log_likelihood(self) -> float:
        """Weighted log-likelihood without any edge."""
        return self.weight * self.data.independent_log_likelihood()

    def information(self, parents: NDArray[np.int64], children: NDArray[np.int64]) -> FloatArray:
        """Observed information of all rows: weights of these edges, noise variances, means.

        The negative Hessian, by central differences of the exact gradient.
        """
        m, p = len(parents), len(self.mean)
        parameters = np.concatenate([self.B[parents, children], self.noise_variances, self.mean])
        steps = np.full(len(parameters), _STEP)
        steps[m : m + p] *= self.noise_variances
        hessian = np.empty((len(parameters), len(parameters)))
        for a in range(len(parameters)):
            sides = []
            for sign in (1.0, -1.0):
                moved = parameters.copy()
                moved[a] += sign * steps[a]
                sides.append(self._gradient(moved, parents, children))
            hessian[a] = (sides[1] - sides[0]) / (2 * steps[a])
        return self.weight * (hessian + hessian.T) / 2

    def _gradient(
        self, parameters: FloatArray, parents: NDArray[np.int64], children: NDArray[np.int64]
    ) -> FloatArray:
        """Gradient of the observed log-likelihood: that of complete rows, as expected (Fisher)."""
        m, p, n = len(parents), len(self.mean), self.data.n_rows
        C = np.eye(p)
        C[parents, children] -= parameters[:m]
        omega, mean = parameters[m : m + p], parameters[m + p :]
        K = C / omega @ C.T
        expected, _ = self.data.expected(mean, K)
        shift = expected.mean - mean
        S = expected.covariance + np.outer(shift, shift)
        SC = S @ C
        by_weight = SC / omega - np.linalg.inv(C).T
        by_variance = 0.5 * ((C * SC).sum(axis=0) / omega - 1) / omega
        return n * np.concatenate([by_weight[parents, children], by_variance, K @ shift])
