"""The linear Gaussian model with feedback: X = BᵀX + N, N ~ N(·, Ω), Ω diagonal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cyclearn.data.input_checks import as_float, checked_matrix, whole_number
from cyclearn.data.moments import Data, as_moments, checked_vector
from cyclearn.foundation import InputError, SavedAnswer, is_stable_radius, pd, short
from cyclearn.foundation.arrays import FloatArray
from cyclearn.foundation.option_values import checks_names
from cyclearn.foundation.random_state import RandomState, generator
from cyclearn.graphs.directed_graph import DirectedGraph, Node
from cyclearn.graphs.graph_input import checked_names

# How errors about wrong values begin.
_OF_VARIANCES = "the noise variances are", "the noise variances have", "the noise variance of"
_OF_MEANS = "the means are", "the means have", "the mean of"


@dataclass(frozen=True, eq=False)
class Intervention:
    """Distribution after fixing variables: mean of shape (p,), covariance of shape (p, p)."""

    mean: FloatArray
    covariance: FloatArray
    names: tuple[str, ...]

    @checks_names
    def sample(self, n: int, random_state: RandomState = None) -> pd.DataFrame:
        """Draw n independent samples, as a table; fixed variables are constant.

        Examples
        --------
        >>> m = LinearGaussianModel([[0, 0.5], [0, 0]], [1.0, 1.0])
        >>> m.do({"X1": 2.0}).sample(3, random_state=0)["X1"].tolist()
        [2.0, 2.0, 2.0]
        """
        n = whole_number("n", n, 1)
        free = np.flatnonzero(self.covariance.diagonal() > 0)
        rows = np.tile(self.mean, (n, 1))
        if len(free):
            factor = np.linalg.cholesky(self.covariance[np.ix_(free, free)])
            noise = generator(random_state).standard_normal((n, len(free)))
            rows[:, free] += noise @ factor.T
        return pd.DataFrame(rows, columns=list(self.names))


class LinearGaussianModel(SavedAnswer):
    """Weights and noise variances on a directed graph, which may have feedback loops.

    Parameters
    ----------
    B : array of shape (p, p)
        ``B[i, j]`` is the weight of i → j; the diagonal is zero and I − B is invertible.
    noise_variances : array of shape (p,)
        Positive variances of the independent noises, the diagonal of Ω.
    names : sequence of str, optional
        Names of the variables; ``X1, …, Xp`` by default.
    mean : array of shape (p,), optional
        Mean of X; zero by default.

    Examples
    --------
    >>> m = LinearGaussianModel([[0, 0.5], [0.5, 0]], [1.0, 1.0])
    >>> m.is_stable
    True
    >>> float(round(m.total_effects().loc["X1", "X2"], 3))
    0.667
    """

    B: FloatArray
    noise_variances: FloatArray
    names: tuple[str, ...]
    mean: FloatArray

    def __init__(
        self,
        B: ArrayLike,
        noise_variances: ArrayLike,
        names: Sequence[str] | None = None,
        mean: ArrayLike | None = None,
    ) -> None:
        if names is None and hasattr(B, "columns"):
            names = [str(name) for name in B.columns]
        weights = checked_matrix(B, "weight matrix B", names)
        p = len(weights)
        if weights.shape != (p, p):
            raise InputError(f"B must be square, but this one has shape {weights.shape}")
        labels = checked_names(names, p, "column")
        loops = np.flatnonzero(weights.diagonal())
        if loops.size:
            raise InputError(
                f"B has weight {weights[loops[0], loops[0]]:g} from {labels[loops[0]]!r} to "
                "itself; set the diagonal to zero"
            )
        variances = checked_vector(noise_variances, labels, _OF_VARIANCES)
        if not (variances > 0).all():
            j = int(np.flatnonzero(~(variances > 0))[0])
            raise InputError(
                f"the noise variance of {labels[j]!r} is {variances[j]:g}; it must be positive"
            )
        centre = np.zeros(p) if mean is None else checked_vector(mean, labels, _OF_MEANS)
        self._set(weights, variances, labels, centre)

    def _set(
        self, B: FloatArray, variances: FloatArray, names: tuple[str, ...], mean: FloatArray
    ) -> None:
        for key, value in (("B", B), ("noise_variances", variances), ("mean", mean)):
            value.flags.writeable = False
            # Immutable: attributes are set once here, bypassing the guard in __setattr__.
            object.__setattr__(self, key, value)
        object.__setattr__(self, "names", names)

    @classmethod
    def _unchecked(
        cls, B: FloatArray, variances: FloatArray, names: tuple[str, ...], mean: FloatArray
    ) -> LinearGaussianModel:
        """Model from new arrays that are known to be valid, for fits in a loop."""
        model = object.__new__(cls)
        model._set(B, variances, names, mean)
        return model

    @property
    def n_variables(self) -> int:
        """Number of variables, p."""
        return len(self.names)

    @cached_property
    def graph(self) -> DirectedGraph:
        """The graph of the nonzero weights."""
        return DirectedGraph(self.B != 0, self.names)

    @cached_property
    def _inverse(self) -> FloatArray:
        """(I − B)⁻¹."""
        try:
            return np.asarray(np.linalg.inv(np.eye(self.n_variables) - self.B), dtype=np.float64)
        except np.linalg.LinAlgError:
            raise InputError(
                "I − B is singular: a feedback loop has a gain of exactly 1, and no distribution "
                "satisfies the equations; change a weight on a cycle"
            ) from None

    @cached_property
    def covariance(self) -> FloatArray:
        """Σ = (I − B)⁻ᵀ Ω (I − B)⁻¹, shape (p, p)."""
        sigma = (self._inverse.T * self.noise_variances) @ self._inverse
        return (sigma + sigma.T) / 2

    @cached_property
    def precision(self) -> FloatArray:
        """Θ = Σ⁻¹ = (I − B) Ω⁻¹ (I − B)ᵀ, shape (p, p)."""
        C = np.eye(self.n_variables) - self.B
        return (C / self.noise_variances) @ C.T

    @cached_property
    def spectral_radius(self) -> float:
        """Largest modulus of an eigenvalue of B; zero without feedback."""
        return spectral_radius(self.graph, self.B)

    @property
    def is_stable(self) -> bool:
        """Whether feedback dies out: every eigenvalue of B has modulus below 1 − 10⁻⁵.

        Near the boundary, where rounding would decide, a model counts as unstable.
        """
        return is_stable_radius(self.spectral_radius)

    def log_likelihood(self, data: Data) -> float:
        """Log-likelihood of the data at the mean that maximises it.

        The mean does not depend on the structure, so it is maximised out:
        −n/2 [p log 2π + log|Σ| + tr(ΘS)], S the sample covariance with the divisor n.
        """
        moments = as_moments(data).aligned_to(self.names)
        C = np.eye(self.n_variables) - self.B
        log_det = 2 * np.linalg.slogdet(C)[1] - np.log(self.noise_variances).sum()
        trace = (np.einsum("ij,ik,kj->j", C, moments.covariance, C) / self.noise_variances).sum()
        constant = self.n_variables * np.log(2 * np.pi)
        return float(-0.5 * moments.n_samples * (constant - log_det + trace))

    @checks_names
    def sample(self, n: int, random_state: RandomState = None) -> pd.DataFrame:
        """Draw n independent samples, as a table with the names of the variables.

        Examples
        --------
        >>> m = LinearGaussianModel([[0, 0.5], [0, 0]], [1.0, 1.0])
        >>> m.sample(3, random_state=0).shape
        (3, 2)
        """
        n = whole_number("n", n, 1)
        noise = generator(random_state).standard_normal((n, self.n_variables))
        rows = self.mean + (noise * np.sqrt(self.noise_variances)) @ self._inverse
        return pd.DataFrame(rows, columns=list(self.names))

    def total_effects(self, *, allow_unstable: bool = False) -> pd.DataFrame:
        """Effects summed over all paths, (I − B)⁻¹ = I + B + B² + …, as a table.

        Entry (i, j) is the change of j per unit increase of the noise of i, all feedback included.
        The series converges only in a stable model; in an unstable one the change grows without
        limit and there is no total effect.

        Parameters
        ----------
        allow_unstable : bool
            Return the matrix (I − B)⁻¹ of an unstable model instead of raising.
        """
        if not allow_unstable:
            _require_stable(self.spectral_radius, "total effects do not exist")
        return pd.DataFrame(self._inverse.copy(), index=self.names, columns=list(self.names))

    def do(self, values: Mapping[Node, float], *, allow_unstable: bool = False) -> Intervention:
        """Distribution after an intervention that fixes variables.

        A fixed variable keeps its value regardless of its causes: its column of B and its noise are
        removed, and the remaining equations are solved.

        Parameters
        ----------
        values : mapping
            The fixed variables, by name or index, and their values.
        allow_unstable : bool
            Solve the equations even if the remaining system has no stable equilibrium.

        Returns
        -------
        Intervention
            ``mean`` of shape (p,), ``covariance`` of shape (p, p), ``names``.

        Examples
        --------
        >>> m = LinearGaussianModel([[0, 0.5], [0.5, 0]], [1.0, 1.0])
        >>> m.do({"X1": 2.0}).mean
        array([2., 1.])
        """
        B = self.B.copy()
        variances = self.noise_variances.copy()
        intercepts = self.mean - self.mean @ B
        for i, value in values_by_index(self.graph, values, "do").items():
            B[:, i] = 0
            variances[i] = 0
            intercepts[i] = value
        if not allow_unstable:
            _require_stable(spectral_radius(self.graph, B), "after do() there is no equilibrium")
        try:
            M = np.linalg.inv(np.eye(self.n_variables) - B)
        except np.linalg.LinAlgError:
            raise InputError("after do() no distribution satisfies the equations") from None
        return Intervention(intercepts @ M, (M.T * variances) @ M, self.names)

    def to_dict(self) -> dict[str, Any]:
        """Plain values: nodes, weighted edges, noise variances and means."""
        edges = [
            [self.names[i], self.names[j], float(self.B[i, j])] for i, j in np.argwhere(self.B)
        ]
        return {
            "schema": 1,
            "nodes": list(self.names),
            "edges": edges,
            "noise_variances": self.noise_variances.tolist(),
            "mean": self.mean.tolist(),
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> LinearGaussianModel:
        """Model from the values of :meth:`to_dict`."""
        needed = {"nodes", "edges", "noise_variances"}
        if not isinstance(record, Mapping) or not needed <= set(record):
            raise InputError(
                'a model is {"nodes": [...], "edges": [["a", "b", 0.5], ...], '
                '"noise_variances": [...]}'
            )
        if record.get("schema", 1) != 1:
            raise InputError(f"model schema {record['schema']!r} is unknown; this version reads 1")
        for key in sorted(needed):
            if not isinstance(record[key], (list, tuple)):
                raise InputError(f'"{key}" of a model is {short(record[key])}; give a list')
        for edge in record["edges"]:
            if not isinstance(edge, (list, tuple)) or len(edge) != 3:
                raise InputError(
                    f"{short(edge)} is not an edge of a model; give [from, to, weight]"
                )
            if isinstance(edge[2], bool) or not isinstance(edge[2], (int, float)):
                raise InputError(f"edge {short(edge)}: the weight is not a number")
        ends = [edge[:2] for edge in record["edges"]]
        graph = DirectedGraph.from_dict({"nodes": record["nodes"], "edges": ends})
        B = np.zeros((graph.n_nodes, graph.n_nodes))
        for a, b, weight in record["edges"]:
            B[graph.index(str(a)), graph.index(str(b))] = as_float(weight, "weight")
        return cls(B, record["noise_variances"], graph.names, record.get("mean"))

    def _key(self) -> tuple[Any, ...]:
        arrays = (self.B + 0.0, self.noise_variances, self.mean + 0.0)
        return (self.names, *(array.tobytes() for array in arrays))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LinearGaussianModel):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a LinearGaussianModel is immutable; {name!r} cannot be set")

    def __reduce__(self) -> tuple[Any, ...]:
        return LinearGaussianModel, (self.B, self.noise_variances, self.names, self.mean)

    def __repr__(self) -> str:
        kind = "stable" if self.is_stable else "unstable"
        n_edges = np.count_nonzero(self.B)
        return f"LinearGaussianModel({self.n_variables} variables, {n_edges} edges, {kind})"


def values_by_index(
    graph: DirectedGraph, values: Mapping[Node, float], what: str
) -> dict[int, float]:
    """Finite values of nodes, given by name or index; ``what`` is the operation, for errors."""
    if not isinstance(values, Mapping):
        raise InputError(f"{what} got {short(values)}; give values by name: {{'a': 1.0}}")
    found: dict[int, float] = {}
    for node, value in values.items():
        i = graph.index(node)
        found[i] = as_float(value, f"value for {what}({graph.names[i]})")
        if not np.isfinite(found[i]):
            raise InputError(f"{what}({graph.names[i]} = {value}): give a finite value")
    return found


def spectral_radius(graph: DirectedGraph, B: FloatArray) -> float:
    """Largest modulus of an eigenvalue of B, whose support lies in the graph.

    Computed component by component, so that it is exactly zero without feedback, where the
    eigenvalues of a nilpotent matrix would have visible rounding errors.
    """
    radius = 0.0
    for nodes in graph.component_indices:
        if len(nodes) > 1:
            block = B[np.ix_(nodes, nodes)]
            radius = max(radius, float(np.abs(np.linalg.eigvals(block)).max()))
    return radius


def _require_stable(radius: float, consequence: str) -> None:
    if not is_stable_radius(radius):
        raise InputError(
            f"the model is unstable (spectral radius {radius:.4g}, which must be below 1): "
            f"feedback grows without limit and {consequence}; use a stable parameter set on the "
            "same graph if there is one (FittedModel.alternatives), or pass allow_unstable=True "
            "for the algebraic answer"
        )
