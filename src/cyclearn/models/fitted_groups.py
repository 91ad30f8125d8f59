"""One graph fitted to several groups: a model for each, and which weights differ between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from cyclearn.foundation.arguments import between
from cyclearn.foundation.arrays import FloatArray, IntArray
from cyclearn.graphs.directed_graph import DirectedGraph
from cyclearn.models.fit_status import SEVERITY, FitStatus
from cyclearn.models.fitted_model import FittedModel

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class FittedGroups:
    """Maximum likelihood estimates of one graph, with weights and noise of its own in each group.

    Attributes
    ----------
    graph : DirectedGraph
    models : mapping from str to FittedModel
        The estimate of each group, in the order in which groups were given.
    """

    graph: DirectedGraph
    models: Mapping[str, FittedModel]

    def __post_init__(self) -> None:
        object.__setattr__(self, "models", MappingProxyType(dict(self.models)))

    def __reduce__(self) -> tuple[Any, ...]:
        return FittedGroups, (self.graph, dict(self.models))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables."""
        return self.graph.names

    @property
    def log_likelihood(self) -> float:
        """Log-likelihood of all groups together."""
        return sum(model.log_likelihood for model in self.models.values())

    @property
    def n_samples(self) -> int:
        """Number of rows, of all groups together."""
        return sum(model.n_samples for model in self.models.values())

    @property
    def n_effective(self) -> float:
        """How many independent rows all groups together count for."""
        return sum(model.n_effective for model in self.models.values())

    @property
    def n_parameters(self) -> int:
        """Number of edges plus number of nodes, in every group."""
        return sum(model.n_parameters for model in self.models.values())

    @property
    def aic(self) -> float:
        """−2 log-likelihood + 2 · number of parameters."""
        return sum(model.aic for model in self.models.values())

    @property
    def bic(self) -> float:
        """Sum of the BIC of the groups, each with its own number of rows."""
        return sum(model.bic for model in self.models.values())

    @property
    def status(self) -> FitStatus:
        """The most serious outcome of any group."""
        return max((model.status for model in self.models.values()), key=SEVERITY.__getitem__)

    @property
    def converged(self) -> bool:
        """Whether the parameters of every group are a maximum to within the tolerance."""
        return all(model.converged for model in self.models.values())

    @property
    def is_stable(self) -> bool:
        """Whether the estimate of every group is stable."""
        return all(model.is_stable for model in self.models.values())

    def weights_by_group(self, alpha: float = 0.05) -> pd.DataFrame:
        """Weights and standard errors by group, and a test of which weights differ.

        One row for each edge. Columns are in three parts: ``table["weight"]`` and
        ``table["std_error"]`` have a column for each group; ``table["test"]`` has Wald's statistic
        ``chi_square`` of equal weights in all groups, its degrees of freedom ``df``, ``p_value``,
        ``p_holm``, which is corrected for the number of edges by Holm's method, and ``differs``:
        whether that is below ``alpha``.

        Groups in which a weight has no standard error are left out of its test. The test takes the
        graph as given; weights are compared in the units of the data.
        """
        import pandas as pd
        from scipy.special import chdtrc

        between("alpha", alpha, 0, 1, 0.05)
        edges = np.argwhere(self.graph.adjacency)
        i, j = edges[:, 0], edges[:, 1]
        fits = self.models.values()
        weights = np.array([model.B[i, j] for model in fits])
        errors = np.array([model.standard_errors[i, j] for model in fits])
        statistic, df = _wald(weights, errors)
        p_values = np.where(df > 0, chdtrc(np.maximum(df, 1), statistic), np.nan)
        adjusted = holm(p_values)
        columns = [(part, name) for part in ("weight", "std_error") for name in self.models]
        test = [statistic, df, p_values, adjusted, adjusted < alpha]
        tested = [("test", n) for n in ("chi_square", "df", "p_value", "p_holm", "differs")]
        names = self.names
        return pd.DataFrame(
            dict(zip([*columns, *tested], [*weights, *errors, *test], strict=True)),
            index=pd.Index([f"{names[a]} -> {names[b]}" for a, b in edges], name="edge"),
            columns=pd.MultiIndex.from_tuples([*columns, *tested], names=["part", "group"]),
        )

    @property
    def fit_indices(self) -> pd.DataFrame:
        """Fit indices, one row for each group; see :class:`cyclearn.models.FitIndices`."""
        import pandas as pd

        rows = {name: model.fit_indices.to_dict() for name, model in self.models.items()}
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("group")

    def summary(self, level: float = 0.95) -> pd.DataFrame:
        """Parameters of every group: estimate, standard error, z, p-value, interval."""
        import pandas as pd

        parts = {name: model.summary(level) for name, model in self.models.items()}
        return pd.concat(parts, names=["group", "parameter"])

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """Everything a report needs as plain values for JSON; what does not exist is None."""
        test = self.weights_by_group()["test"].astype(object)
        tests = test.where(test.notna(), None).to_dict(orient="index")
        return {
            "schema": 1,
            "status": self.status.name,
            "message": self.status.value,
            "converged": self.converged,
            "stable": self.is_stable,
            "n_samples": self.n_samples,
            "n_effective": self.n_effective,
            "log_likelihood": self.log_likelihood,
            "bic": self.bic,
            "differences": [{"edge": edge, **row} for edge, row in tests.items()],
            "groups": {name: model.to_dict(level) for name, model in self.models.items()},
        }

    def __repr__(self) -> str:
        return (
            f"FittedGroups({len(self.models)} groups, {self.graph.n_nodes} variables, "
            f"{self.graph.n_edges} edges, log-likelihood {self.log_likelihood:.6g}, "
            f"BIC {self.bic:.6g}, {self.status.name})"
        )

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, level: float = 0.95) -> str:
        """What ``print`` shows: weights by group and the test, then every group."""
        lines = [repr(self), f"  {self.status.value}", *self.weights_in_words()]
        for name, model in self.models.items():
            lines += [f"Group {name}:", model.to_text(level)]
        return "\n".join(lines)

    def weights_in_words(self) -> list[str]:
        """One line for each edge: its weight in every group, marked where they differ."""
        if not self.graph.n_edges:
            return []
        table = self.weights_by_group()
        return [
            f"  {edge}  "
            + "  ".join(f"{weight:+.3f}" for weight in table.loc[edge, "weight"])
            + ("  (differs)" if table.loc[edge, ("test", "differs")] else "")
            for edge in table.index
        ]


def _wald(weights: FloatArray, errors: FloatArray) -> tuple[FloatArray, IntArray]:
    """Wald's χ² of equal weights over groups (rows), and its degrees of freedom."""
    known = np.isfinite(errors) & (errors > 0)
    precision = np.where(known, 1 / np.where(known, errors, 1.0) ** 2, 0.0)
    total = precision.sum(axis=0)
    mean = (precision * weights).sum(axis=0) / np.where(total > 0, total, 1.0)
    statistic = (precision * (weights - mean) ** 2).sum(axis=0)
    df = np.maximum(known.sum(axis=0) - 1, 0)
    return np.where(df > 0, statistic, np.nan), df


def holm(p_values: FloatArray) -> FloatArray:
    """p-values corrected for their number by Holm's method; NaN are no tests.

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, np.nan, 0.03]))
    array([0.03, 0.06,  nan, 0.06])
    """
    adjusted = np.full(len(p_values), np.nan)
    order = np.argsort(p_values)[: int(np.isfinite(p_values).sum())]
    times = len(order) - np.arange(len(order))
    adjusted[order] = np.minimum(np.maximum.accumulate(p_values[order] * times), 1.0)
    return adjusted
