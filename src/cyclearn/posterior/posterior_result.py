"""The result of :func:`cyclearn.posterior`: probabilities of statements about the graph."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cyclearn.classes import (
    EquivalenceClass,
    InterventionalClass,
    equivalence_class,
    finest_design,
)
from cyclearn.data import DataWarning, Moments
from cyclearn.data.data_warnings import UnfinishedSample, warnings_of
from cyclearn.data.table_records import table_of, table_record
from cyclearn.data.tables import Design, Intercepts, Tables
from cyclearn.foundation.answers import SavedAnswer
from cyclearn.foundation.arguments import share
from cyclearn.foundation.arrays import BoolArray, FloatArray
from cyclearn.foundation.errors import InputError
from cyclearn.foundation.files import check_schema
from cyclearn.foundation.json_input import finite, short
from cyclearn.foundation.option_values import checks_names
from cyclearn.graphs import DirectedGraph
from cyclearn.graphs.directed_graph import Node
from cyclearn.posterior.posterior_effects import PosteriorEffects, draw_effects, systematic
from cyclearn.posterior.sample_quality import LARGEST_R_HAT, SampleQuality

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_SCHEMA = "cyclearn.Posterior/5"
_SHOWN = 30


class ClassProbability(NamedTuple):
    """The probability of a class, given the data."""

    probability: float
    equivalence_class: EquivalenceClass | InterventionalClass


@dataclass(frozen=True, eq=False)
class Posterior(SavedAnswer):
    """A sample of graphs in proportion to their probability, given the data.

    Probabilities account for both the equivalence of graphs and the limited data: an edge in every
    member of a class is at least as probable as that class. If the chains do not agree
    (:attr:`is_determined`), there are no probabilities: tables contain NaN, and methods that need
    probabilities raise an error.

    Attributes
    ----------
    names : tuple of str
    adjacencies : uint8 array of shape (n, p, p)
        The distinct graphs of the sample, the most frequent first.
    weights : array of shape (n,)
        Their shares of the sample; they sum to one.
    n_samples : int
        Number of graphs drawn.
    share_left : float
        Share of the effective size that remains after reweighting for a prior over classes; one
        without reweighting.
    edges, both : arrays of shape (p, p)
        Share of the steps of the chains with i → j, and with i → j together with j → i: their
        probabilities, if the chains agree.
    quality : SampleQuality
        R̂ and effective size for each edge.
    wanted_size : int
        The requested effective size.
    tables : Tables
        The data, as moments.
    penalty : float
        λ, the penalty per edge.
    options : mapping
        The options of the sample, as plain values.
    n_steps : int
        Number of steps of each chain, including those before the last round.
    is_cut : bool
        Whether the time limit ended the chains before they agreed.
    n_resamples : int
        Number of resamples over which probabilities are averaged; 0 for the plain posterior.
    is_parametric : bool
        Whether the resamples were drawn from the covariance, because there are no rows.
    warnings : tuple of DataWarning
        Warnings about the data.
    """

    names: tuple[str, ...]
    adjacencies: NDArray[np.uint8]
    weights: FloatArray
    n_samples: int
    share_left: float
    edges: FloatArray
    both: FloatArray
    quality: SampleQuality
    wanted_size: int
    tables: Tables
    penalty: float
    options: Mapping[str, Any]
    n_steps: int
    is_cut: bool
    n_resamples: int
    is_parametric: bool
    warnings: tuple[DataWarning, ...] = ()

    @property
    def moments(self) -> Moments:
        """Mean and covariance of the data, if there is one table."""
        if self.tables.is_grouped:
            raise InputError(
                f"there are {len(self.tables)} groups; choose one of ``tables``: "
                f"{', '.join(self.tables.groups)}"
            )
        return self.tables.only.moments

    @property
    def n_effective(self) -> tuple[float, ...]:
        """Effective sample size of each table."""
        return tuple(table.n_effective for table in self.tables)

    @cached_property
    def graphs(self) -> tuple[DirectedGraph, ...]:
        """The distinct graphs of the sample, in the order of ``weights``."""
        return tuple(DirectedGraph(A.astype(bool), self.names) for A in self.adjacencies)

    @property
    def effective_size(self) -> float:
        """Effective number of independent graphs in the sample, for the least certain edge.

        Only edges with a probability between 0.05 and 0.95 count; if there is none, this is the
        number of samples.
        """
        size = self._worst[1]
        return (size if np.isfinite(size) else self.n_samples) * self.share_left

    @property
    def r_hat(self) -> float:
        """Disagreement of the chains: the largest R̂ of an edge, over the same edges."""
        return self._worst[0]

    @property
    def _worst(self) -> tuple[float, float]:
        return self.quality.over(self.edges)

    @property
    def is_determined(self) -> bool:
        """Whether the chains agree (R̂ ≤ 1.05), so that probabilities are available.

        Chains that were stopped before any edge changed do not count as agreeing.
        """
        r_hat, size = self._worst
        return r_hat <= LARGEST_R_HAT and not (self.is_cut and np.isinf(size))

    @property
    def converged(self) -> bool:
        """Whether the chains agree and the effective size reaches the requested one."""
        is_worth = self._worst[1] * self.share_left >= self.wanted_size
        return self.is_determined and is_worth and not self.is_cut

    def check_determined(self) -> None:
        """Raise if the chains do not agree."""
        if not self.is_determined:
            assert self.warning is not None
            raise InputError(str(self.warning))

    def edge_probabilities(self) -> pd.DataFrame:
        """Probability of each edge: row i, column j for i → j."""
        return self._frame(self.edges)

    def adjacency_probabilities(self) -> pd.DataFrame:
        """Probability that two variables are adjacent, in either direction or both."""
        return self._frame(self.edges + self.edges.T - self.both)

    def ancestor_probabilities(self) -> pd.DataFrame:
        """Probability that a directed path leads from row i to column j; zero on the diagonal."""
        shares = np.tensordot(self.weights, self._reach, axes=1)
        np.fill_diagonal(shares, 0.0)
        return self._frame(shares)

    def feedback_probabilities(self) -> pd.DataFrame:
        """Probability that two variables are in one feedback loop: on a common directed cycle.

        On the diagonal: the probability that a variable is in any feedback loop.
        """
        mutual = self._reach & self._reach.transpose(0, 2, 1)
        return self._frame(np.tensordot(self.weights, mutual, axes=1))

    def loop_probability(self, variables: Sequence[Node]) -> float:
        """Probability that all of these variables are in one feedback loop."""
        chosen = [self.graphs[0].index(variable) for variable in variables]
        mutual = self._reach & self._reach.transpose(0, 2, 1)
        holds = mutual[:, chosen[0], chosen].all(axis=1)
        return float(self.weights[holds].sum()) if self.is_determined else np.nan

    @cached_property
    def _reach(self) -> BoolArray:
        """Whether a directed path leads from i to j in each graph, shape (n, p, p)."""
        reach = self.adjacencies.astype(np.float32)
        length = 1
        while length < len(self.names):
            reach = np.minimum(reach + reach @ reach, 1.0)
            length *= 2
        return reach > 0

    def _frame(self, values: FloatArray) -> pd.DataFrame:
        import pandas as pd

        values = values if self.is_determined else np.full_like(values, np.nan)
        return pd.DataFrame(values, index=list(self.names), columns=list(self.names))

    def probability(self, statement: Callable[[DirectedGraph], bool]) -> float:
        """Probability of a statement, given as a function of a graph; NaN if not determined.

        Examples
        --------
        >>> from cyclearn import LinearGaussianModel, posterior
        >>> model = LinearGaussianModel([[0, 0, 0.8], [0, 0, 0.8], [0, 0, 0]], [1, 1, 1])
        >>> found = posterior(model.sample(500, random_state=0), n_samples=400)
        >>> found.probability(lambda graph: graph.n_edges >= 2) > 0.99
        True
        """
        if not callable(statement):
            raise InputError(
                f"the statement is {short(statement)}; give a function of a graph, such as "
                "lambda graph: graph.is_acyclic"
            )
        holds = np.array([bool(statement(graph)) for graph in self.graphs])
        return float(self.weights[holds].sum()) if self.is_determined else np.nan

    def classes(self) -> list[ClassProbability]:
        """The equivalence classes of the sampled graphs, the most probable first.

        With perfect interventions, these are the interventional classes; with groups, if the
        interventions of one group distinguish all that those of the others do.
        """
        self.check_determined()
        return list(self._classes)

    @cached_property
    def _classes(self) -> tuple[ClassProbability, ...]:
        shares: dict[EquivalenceClass | InterventionalClass, float] = {}
        for graph, weight in zip(self.graphs, self.weights.tolist(), strict=True):
            its_class = class_given(graph, self.tables)
            shares[its_class] = shares.get(its_class, 0.0) + weight
        found = [ClassProbability(share, each) for each, share in shares.items()]
        return tuple(sorted(found, key=lambda each: -each.probability))

    def graph(self, threshold: float = 0.5) -> DirectedGraph:
        """The averaged graph: the edges with a probability of at least ``threshold``.

        ``graph.components`` gives the feedback loops that these edges form together;
        :meth:`feedback_probabilities` gives the probability of each loop.
        """
        least = share("threshold", threshold, 0, 1)
        self.check_determined()
        return DirectedGraph(self.edges >= least, self.names)

    @checks_names
    def effects(
        self,
        source: Node,
        target: Node,
        *,
        group: str | None = None,
        n_draws: int = 500,
        random_state: int = 0,
    ) -> PosteriorEffects:
        """The total effect of one variable on another, over graphs and parameters together.

        If there are groups, ``group`` names one.
        """
        self.check_determined()
        first = self.graphs[0]
        i, j = first.index(source), first.index(target)
        if i == j:
            raise InputError(f"source and target are both {self.names[i]!r}; give two variables")
        tables = self._tables_of(group)
        return draw_effects(
            self.graphs, self.weights, tables, i, j, n_draws=n_draws, seed=random_state
        )

    def _tables_of(self, group: str | None) -> Tables:
        """The tables of a group, or all tables if they share their weights."""
        found = self.tables.by_group
        if group is None and not self.tables.is_grouped:
            return self.tables
        if group is None or group not in found:
            raise InputError(f"group is {short(group)}; give one of {', '.join(map(repr, found))}")
        return found[group]

    def edge_table(self) -> pd.DataFrame:
        """Edges in rows, the most probable first.

        Columns: the ``probability`` of the edge; that the two variables are ``adjacent``, in any
        direction; and that both are in one ``feedback`` loop. Edges below 0.01 are omitted.
        """
        import pandas as pd

        edges = self.edge_probabilities().to_numpy()
        joined, loops = self.adjacency_probabilities(), self.feedback_probabilities()
        rows = [
            (self.names[i], self.names[j], edges[i, j], joined.iat[i, j], loops.iat[i, j])
            for i, j in np.argwhere(edges >= 0.01).tolist()
        ]
        columns = ["source", "target", "probability", "adjacent", "feedback"]
        table = pd.DataFrame(rows, columns=columns)
        return table.sort_values("probability", ascending=False, kind="stable", ignore_index=True)

    def to_arviz(self) -> Any:
        """The sample for arviz: ``edge`` is one for each edge i → j of each graph.

        The graphs come in one chain and in random order, so arviz cannot assess mixing; use the
        attributes ``r_hat`` and ``effective_size`` instead.

        Raises
        ------
        InputError
            If arviz is not installed, or if the chains do not agree.
        """
        self.check_determined()
        try:
            import arviz
        except ImportError:
            raise InputError("to_arviz needs arviz; install it: pip install arviz") from None
        drawn = systematic(self.weights, self.n_samples, seed=0)
        drawn = np.random.default_rng(0).permutation(drawn)
        groups: dict[str, Any] = {"posterior": {"edge": self.adjacencies[drawn][np.newaxis]}}
        labels: dict[str, Any] = {
            "coords": {"source": list(self.names), "target": list(self.names)},
            "dims": {"edge": ["source", "target"]},
        }
        # Before its version 1, arviz took groups by keyword.
        is_old = hasattr(arviz, "InferenceData")
        found = arviz.from_dict(**groups, **labels) if is_old else arviz.from_dict(groups, **labels)
        found["posterior"].attrs |= {
            "r_hat": self.r_hat,
            "effective_size": self.effective_size,
            "n_chains": self.options["n_chains"],
        }
        return found

    def plot(self, ax: Axes | None = None, *, threshold: float = 0.5) -> Axes:
        """Draw the probable edges; see :func:`cyclearn.drawing.plots.plot_posterior`."""
        from cyclearn.drawing.plots import plot_posterior

        return plot_posterior(self, ax, threshold=threshold)

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values for JSON; graphs as bits, row by row."""
        p = len(self.names)
        packed = np.packbits(self.adjacencies.reshape(-1, p * p), axis=1)
        return {
            "schema": _SCHEMA,
            "names": list(self.names),
            "graphs": [base64.b64encode(bits.tobytes()).decode("ascii") for bits in packed],
            "weights": self.weights.tolist(),
            "n_samples": self.n_samples,
            "share_left": self.share_left,
            "edges": self.edges.tolist(),
            "both": self.both.tolist(),
            "r_hat": finite(self.quality.r_hat.tolist()),
            "effective_size": finite(self.quality.effective_size.tolist()),
            "wanted_size": self.wanted_size,
            "converged": self.converged,
            "tables": [table_record(table) for table in self.tables],
            "intercepts": None if self.tables.design is None else self.tables.design.intercepts,
            "penalty": self.penalty,
            "options": dict(self.options),
            "n_steps": self.n_steps,
            "is_cut": self.is_cut,
            "n_resamples": self.n_resamples,
            "is_parametric": self.is_parametric,
            "warnings": [warning.to_dict() for warning in self.warnings],
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Posterior:
        """The result from the values of :meth:`to_dict`."""
        check_schema(record, _SCHEMA, "posterior")
        try:
            p = len(record["names"])
            bits = [np.frombuffer(base64.b64decode(each), np.uint8) for each in record["graphs"]]
            graphs = np.unpackbits(np.stack(bits), axis=1, count=p * p)
            edges, both, r_hat, size = (
                _square(record[name], p) for name in ("edges", "both", "r_hat", "effective_size")
            )
            weights = np.array(record["weights"], dtype=float)
            if weights.shape != (len(graphs),):
                raise ValueError(f"{weights.size} weights for {len(graphs)} graphs")
            return cls(
                names=tuple(record["names"]),
                adjacencies=graphs.reshape(-1, p, p),
                weights=weights,
                n_samples=int(record["n_samples"]),
                share_left=float(record["share_left"]),
                edges=edges,
                both=both,
                quality=SampleQuality(r_hat, size),
                wanted_size=int(record["wanted_size"]),
                tables=_tables(record["tables"], record["intercepts"]),
                penalty=float(record["penalty"]),
                options=dict(record["options"]),
                n_steps=int(record["n_steps"]),
                is_cut=bool(record["is_cut"]),
                n_resamples=int(record["n_resamples"]),
                is_parametric=bool(record["is_parametric"]),
                warnings=warnings_of(record["warnings"]),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(
                f"the posterior is damaged ({type(error).__name__}: {error}); sample it again"
            ) from None

    def __str__(self) -> str:
        lines = [
            f"Posterior over graphs: {len(self.names)} variables, {self._rows}; penalty per "
            f"edge {self.penalty:.2f}.",
            f"{self.n_samples} graphs from {self.options['n_chains']} chains of {self.n_steps:,} "
            f"steps, {len(self.weights)} of them different; effective sample size "
            f"{self.effective_size:.0f}, R̂ {self.r_hat:.3f}.",
        ]
        if self.n_resamples:
            lines.append(f"Probabilities are means over {self._resamples_in_words}.")
        if self.warning is not None:
            lines.append(f"Warning: {self.warning}")
        if not self.is_determined:
            return "\n".join(lines)
        best = self.classes()
        lines.append(
            f"{len(best)} equivalence classes; the most probable: "
            + ", ".join(f"{each.probability:.2f}" for each in best[:5])
        )
        lines.append("Probabilities, given these data:")
        table = self.edge_table()
        lines.append(table.head(_SHOWN).round(3).to_string(index=False))
        if len(table) > _SHOWN:
            lines.append(f"… {len(table) - _SHOWN} more (see edge_table)")
        lines += [f"Warning: {warning}" for warning in self.warnings]
        return "\n".join(lines)

    @property
    def _rows(self) -> str:
        """The number of rows in words."""
        n, worth = self.tables.n_samples, self.tables.n_effective
        words = f"{n} samples"
        if worth < n:
            words += f", effective sample size {worth:.0f}"
        many = f"{len(self.tables.groups)} groups"
        if self.tables.design is not None:
            within = f" within each of {many}" if self.tables.is_grouped else ""
            return f"{words}, in {len(self.tables)} tables that share their weights{within}"
        return f"{words}, in {many}" if self.tables.is_grouped else words

    @property
    def _resamples_in_words(self) -> str:
        if self.is_parametric:
            return (
                f"{self.n_resamples} draws of the covariance matrix; without rows, these do not "
                "show misfit of all graphs"
            )
        words = f"{self.n_resamples} resamples of the rows"
        if self.tables.design is not None and self.tables.n_fewest == 1:
            words += ", tables of one row with random weights instead"
        return words

    @property
    def warning(self) -> UnfinishedSample | None:
        """The warning about the sample, or None."""
        if self.converged:
            return None
        return UnfinishedSample(
            is_out_of_time=self.is_cut,
            chains_agree=self.is_determined,
            effective_size=float(self.effective_size),
            wanted_size=self.wanted_size,
            r_hat=float(self.r_hat),
            largest_r_hat=LARGEST_R_HAT,
        )

    def __repr__(self) -> str:
        return (
            f"Posterior({len(self.names)} variables, {self.n_samples} graphs, effective sample "
            f"size {self.effective_size:.0f})"
        )


def class_given(graph: DirectedGraph, tables: Tables) -> EquivalenceClass | InterventionalClass:
    """The class of a graph; the interventional class if all interventions are perfect.

    That of observational tables for other kinds, and for groups without a finest design: they
    distinguish at least as much.
    """
    is_known = tables.design is not None and tables.is_perfect
    targets = finest_design(tables.targets_by_group, graph) if is_known else None
    if targets is None:
        return EquivalenceClass(graph)
    return equivalence_class(graph, interventions=targets, exogenous=tables.exogenous)


def _tables(records: list[Mapping[str, Any]], intercepts: Intercepts | None) -> Tables:
    """The tables of a record, with a design if it has intercepts."""
    tables = tuple(table_of(each, is_designed=intercepts is not None) for each in records)
    if intercepts is None:
        return Tables(tables)
    kinds = tuple(table.kind for table in tables)
    kind = kinds[0] if len(set(kinds)) == 1 else kinds
    return Tables(tables, Design(kind, intercepts, tables[0].group != ""))


def _square(rows: list[list[float | None]], p: int) -> FloatArray:
    """A p × p matrix, with infinity for missing values."""
    matrix = np.array([[np.inf if v is None else v for v in row] for row in rows], dtype=float)
    if matrix.shape != (p, p):
        raise ValueError(f"a matrix of shape {matrix.shape} for {p} variables")
    return matrix
