"""Maximum likelihood on a graph from rows with holes, and its information.

The observed-data likelihood of the graph's own model is maximised by EM: given the current
distribution, the expected mean and covariance of complete rows; given these, the ordinary fit of
the graph, started where it was. (Full information maximum likelihood, ``missing = "fiml"`` in
lavaan.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cyclearn.data.observed_rows import ObservedRows

FloatArray = NDArray[np.float64]

# Step of the central differences, on standardised parameters: errors of the square and of
# rounding are about the same.
_STEP = 1e-5


@dataclass(frozen=True, eq=False)
class ObservedLikelihood:
    """What inference needs of the likelihood of rows with missing cells, for a fit on a graph.

    Attributes
    ----------
    log_likelihood, saturated_log_likelihood, independent_log_likelihood : float
        Of the observed cells: at the estimate, at the best mean and covariance of all, and without
        any edge.
    saturated_covariance : array of shape (p, p)
        The best covariance of all, in the units of the data.
    information : array
        Observed information of all rows: weights of the edges in row-major order, noise variances,
        means; on the standardised scale.
    scale : array of shape (p,)
        Standard deviations of what was observed, the unit of that scale.
    converged : bool
    weight : float
        What a row counts for, where rows depend on each other.
    """

    log_likelihood: float
    saturated_log_likelihood: float
    independent_log_likelihood: float
    saturated_covariance: FloatArray
    information: FloatArray
    scale: FloatArray
    converged: bool
    weight: float = 1.0

    def weighted(self, weight: float) -> ObservedLikelihood:
        """The same with every row counted by a weight."""
        return replace(
            self,
            log_likelihood=weight * self.log_likelihood,
            saturated_log_likelihood=weight * self.saturated_log_likelihood,
            independent_log_likelihood=weight * self.independent_log_likelihood,
            information=weight * self.information,
            weight=weight * self.weight,
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            each.name: getattr(self, each.name).tolist()
            if isinstance(getattr(self, each.name), np.ndarray)
            else getattr(self, each.name)
            for each in fields(self)
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> ObservedLikelihood:
        """What :meth:`to_dict` gave."""
        arrays = ("saturated_covariance", "information", "scale")
        return cls(**{**record, **{name: np.array(record[name], dtype=float) for name in arrays}})


@dataclass(frozen=True, eq=False)
class ObservedEstimate:
    """An estimate on a graph beside the rows that it was made of, columns in the order of nodes.

    ``B``, ``noise_variances`` and ``mean`` are on the standardised scale of ``data``.
    """

    data: ObservedRows
    B: FloatArray
    noise_variances: FloatArray
    mean: FloatArray

    def likelihood(self, A: NDArray[np.bool_], *, converged: bool) -> ObservedLikelihood:
        """What inference needs, where A is the adjacency of the graph."""
        C = np.eye(len(self.mean)) - self.B
        at_estimate, _ = self.data.expected(self.mean, C / self.noise_variances @ C.T)
        best = self.data.saturated()
        parents, children = (each.astype(np.int64) for each in np.nonzero(A))
        return ObservedLikelihood(
            at_estimate.log_likelihood,
            best.log_likelihood,
            self.data.independent_log_likelihood(),
            best.covariance * np.outer(self.data.scale, self.data.scale),
            self._information(parents, children),
            self.data.scale,
            converged,
        )

    def _information(self, parents: NDArray[np.int64], children: NDArray[np.int64]) -> FloatArray:
        """Observed information: weights of these edges, noise variances, means.

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
        return np.asarray((hessian + hessian.T) / 2)

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
