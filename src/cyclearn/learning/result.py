"""What :func:`cyclearn.learn` returns."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from cyclearn.classes import EquivalenceClass, InterventionalClass
from cyclearn.classes.equivalence_class import equivalence_class
from cyclearn.errors import InputError, LimitError
from cyclearn.graphs import DirectedGraph
from cyclearn.graphs.directed_graph import Node
from cyclearn.learning.bootstrap_result import BootstrapResult
from cyclearn.learning.class_effects import ClassEffects, class_effects, effects_over
from cyclearn.learning.members import fitted_members
from cyclearn.learning.options import SearchOptions
from cyclearn.learning.trace import TracedMove
from cyclearn.learning.verdicts import PairVerdict, graph_verdicts, pair_verdicts
from cyclearn.models import DataWarning, FittedGroups, FittedModel, Moments, fit
from cyclearn.models.experiments import Experiments
from cyclearn.models.input_checks import default_names
from cyclearn.models.tables import Design, Table, Tables, as_tables
from cyclearn.search.exact import Certificate
from cyclearn.search.runs import SearchStatus

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from matplotlib.axes import Axes

    from cyclearn.models.grouped_tables import SeveralData

_SCHEMA = "cyclearn.LearnResult/2"


@dataclass(frozen=True)
class SearchCost:
    """What a search cost: moves taken, components fitted, moves refused; seconds of wall time."""

    n_moves: int
    n_evaluations: int
    n_refused: int
    seconds: float = field(compare=False)


@dataclass(frozen=True, eq=False)
class LearnResult:
    """A learned graph with its fitted model, and how it was found.

    Attributes
    ----------
    graph : DirectedGraph
        The member of the learned class that a rule of structure chooses (see
        :func:`cyclearn.learn`).
    fitted : FittedModel or FittedGroups
        Its maximum likelihood fit, what :func:`cyclearn.fit` gives for the same data: ``model``,
        or ``models`` of several groups.
    score : float
        Negative log-likelihood + λ·|E|; smaller is better.
    penalty : float
        λ, what one edge costs, in all groups together.
    status : SearchStatus
        Why the search ended; its value is a sentence.
    limits : tuple of str
        Limits that kept moves away or ended the search.
    alternatives : tuple of DirectedGraph
        One graph for each other class whose score ties with the best (within 1e-8 a sample): no
        score can tell them apart on these data. Found by drawing the edges among three nodes
        anew, so the list need not be complete.
    has_more_alternatives : bool
        Whether more than 100 classes tie, and the rest was left.
    moves : tuple of TracedMove
        The moves of the best start; ``trace`` is the same as a table.
    cost : SearchCost
        Moves, evaluations and seconds, over all starts.
    n_starts_agreeing : pair of int
        How many starts came to the best score, and how many there were.
    options : SearchOptions
        The options of the search.
    certificate : Certificate or None
        What an exact search went through.
    bootstrap : BootstrapResult or None
        Frequencies over resamples, where they were asked for.
    warnings : tuple of DataWarning
        What :func:`cyclearn.check_data` found about the data, and what was done about too few rows.
    """

    graph: DirectedGraph
    fitted: FittedModel | FittedGroups
    score: float
    penalty: float
    status: SearchStatus
    limits: tuple[str, ...]
    alternatives: tuple[DirectedGraph, ...]
    has_more_alternatives: bool
    moves: tuple[TracedMove, ...]
    cost: SearchCost
    n_starts_agreeing: tuple[int, int]
    options: SearchOptions
    certificate: Certificate | None = None
    bootstrap: BootstrapResult | None = None
    warnings: tuple[DataWarning, ...] = ()

    @property
    def model(self) -> FittedModel:
        """The fit: weights, standard errors, fit indices.

        Several groups have a model each, in ``models``; which one is meant must then be said.
        """
        models = self.models
        if len(models) > 1:
            names = ", ".join(map(repr, list(models)[:5]))
            raise InputError(
                f"there are {len(models)} groups, each with a model of its own: "
                f"result.models[name], with name one of {names}{', …' * (len(models) > 5)}"
            )
        (model,) = models.values()
        return model

    @property
    def models(self) -> Mapping[str, FittedModel]:
        """The fit of every group by name; that of one table without groups has the name ``""``."""
        return self.fitted.models if isinstance(self.fitted, FittedGroups) else {"": self.fitted}

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of the groups; none for one table."""
        return tuple(self.models) if isinstance(self.fitted, FittedGroups) else ()

    def weights_by_group(self, alpha: float = 0.05) -> pd.DataFrame:
        """Weights by group, and which differ; see :meth:`FittedGroups.weights_by_group`."""
        if not isinstance(self.fitted, FittedGroups):
            raise InputError("there are no groups; learn from several tables, or with groups=…")
        return self.fitted.weights_by_group(alpha)

    @property
    def experiments(self) -> Experiments | None:
        """The tables with interventions that were learned from, if any were."""
        return self.fitted.experiments if isinstance(self.fitted, FittedModel) else None

    @cached_property
    def equivalence_class(self) -> EquivalenceClass:
        """All graphs that generate the same distributions as the learned one.

        Interventions tell some of these apart; see :attr:`interventional_class`.
        """
        if self.experiments is not None:
            raise InputError(
                "interventions tell graphs of one class apart; see result.interventional_class, "
                "and cl.equivalence_class(result.graph) for the class without interventions"
            )
        return EquivalenceClass(self.graph)

    @cached_property
    def interventional_class(self) -> InterventionalClass:
        """All graphs that generate the same distributions in every table, for any weights.

        With perfect interventions only; see :func:`cyclearn.equivalence_class`. The graphs whose
        score ties on these very tables are ``graph`` and ``alternatives``.
        """
        if self.experiments is None or self.options.kind != "perfect":
            raise InputError(
                "the class under interventions takes tables with perfect interventions; without "
                "them there is result.equivalence_class"
            )
        design = [list(table.targets) for table in self.experiments.tables]
        return equivalence_class(self.graph, interventions=design)

    @cached_property
    def verdicts(self) -> tuple[PairVerdict, ...]:
        """What all graphs that fit equally well agree on, pair by pair.

        These are the members of the class, and of the classes that tie with it, that respect the
        knowledge. With interventions, the graph and its alternatives themselves.
        """
        if self.experiments is not None:
            return graph_verdicts((self.graph, *self.alternatives))
        return pair_verdicts((self.graph, *self.alternatives), self.options.knowledge)

    @property
    def trace(self) -> pd.DataFrame:
        """The moves of the search as a table: kind, edges changed, change of score, score."""
        import pandas as pd

        return pd.DataFrame(
            [(m.kind, m.describe(), m.change, m.score, m.is_best) for m in self.moves],
            columns=["kind", "move", "change", "score", "is_best"],
        )

    def effects(
        self, source: Node, target: Node, *, group: str | None = None, **options: Any
    ) -> ClassEffects:
        """Effects of one variable on another under all graphs that fit equally well.

        Knowledge given to the search holds here too; options as of
        :func:`cyclearn.class_effects`. Of several groups, ``group`` names the one whose weights
        count.
        """
        if self.experiments is not None:
            listed = fitted_members((self.graph, *self.alternatives), self.experiments.tables)
            i, j = self.graph.index(source), self.graph.index(target)
            return effects_over(listed, self.graph.names[i], self.graph.names[j])
        own = {"knowledge": self.options.knowledge, "ties": self.alternatives}
        moments = self._model_of(group).moments
        return class_effects(self.graph, moments, source, target, **(own | options))

    def effects_by_group(self, source: Node, target: Node, **options: Any) -> pd.DataFrame:
        """The smallest and the largest total effect in every group, over all graphs that fit."""
        import pandas as pd

        found = {
            name: self.effects(source, target, group=name, **options).interval
            for name in self.models
        }
        table = pd.DataFrame.from_dict(found, orient="index", columns=["smallest", "largest"])
        return table.rename_axis("group")

    def _model_of(self, group: str | None) -> FittedModel:
        if group is None:
            return self.model
        if group not in self.models:
            names = ", ".join(map(repr, self.groups)) or "none"
            raise InputError(f"group is {group!r}; groups are {names}")
        return self.models[group]

    def report(self, path: str | Path, *, data: SeveralData | None = None, **options: Any) -> Path:
        """Write a page of HTML about the result that opens without a network.

        Parameters
        ----------
        path : str or Path
        data : DataFrame, array of shape (n, p) or path, optional
            The rows, for warnings about them: a result keeps only means and covariances.
        **options
            As of :func:`cyclearn.report.report_html`.
        """
        from cyclearn.report.page import write_report

        return write_report(self, path, data=data, **options)

    def plot(
        self, ax: Axes | None = None, *, labels: bool | None = None, group: str | None = None
    ) -> Axes:
        """Draw the learned graph with its weights; see :func:`cyclearn.drawing.plots.plot_fit`.

        Of several groups, ``group`` names the one whose weights are drawn.
        """
        from cyclearn.drawing.plots import plot_fit

        return plot_fit(self._model_of(group), ax, labels=labels)

    def to_dict(self, *, timings: bool = False) -> dict[str, Any]:
        """The result as plain values; how the run went, which may differ, only when asked for.

        With ``timings`` there is also ``run``: moves, evaluations, agreeing starts and seconds.
        """
        certificate = None
        moments = {
            name: _moments_record(model.moments, model.n_effective)
            for name, model in self.models.items()
        }
        if self.certificate is not None:
            certificate = self.certificate.to_dict(timings=timings)
        record = {
            "schema": _SCHEMA,
            "graph": self.graph.to_dict(),
            "score": self.score,
            "penalty": self.penalty,
            "status": self.status.name,
            "limits": list(self.limits),
            "alternatives": [graph.to_dict() for graph in self.alternatives],
            "has_more_alternatives": self.has_more_alternatives,
            "options": self.options.to_dict(),
            "certificate": certificate,
            "warnings": [asdict(warning) for warning in self.warnings],
            "bootstrap": None if self.bootstrap is None else self.bootstrap.to_dict(),
            "model": self.fitted.to_dict(),
            "moments": moments if self.groups else moments[""],
            "tables": None if self.experiments is None else _tables_record(self.experiments.tables),
        }
        if timings:
            record["run"] = {
                "starts": list(self.n_starts_agreeing),
                "cost": asdict(self.cost),
                "trace": [move.to_dict() for move in self.moves],
            }
        return record

    def to_json(self, *, timings: bool = False) -> str:
        """The result as JSON."""
        return json.dumps(self.to_dict(timings=timings), ensure_ascii=False, indent=1)

    @classmethod
    def from_json(cls, text: str) -> LearnResult:
        """The result that :meth:`to_json` wrote; the model is fitted again from its moments."""
        try:
            record = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InputError(f"not valid JSON: {error}") from None
        if not isinstance(record, dict) or record.get("schema") != _SCHEMA:
            raise InputError(f"not a result of learn; its schema would be {_SCHEMA!r}")
        try:
            return cls._from_dict(record)
        except InputError as error:
            raise InputError(f"the result is damaged: {error}") from None
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            raise InputError(
                f"the result is damaged ({type(error).__name__}: {error}); learn it again"
            ) from None

    @classmethod
    def _from_dict(cls, record: Mapping[str, Any]) -> LearnResult:
        graph = DirectedGraph.from_dict(record["graph"])
        tables = _tables_of(record["moments"])
        options = SearchOptions.from_dict(record["options"])
        if record.get("tables") is not None:
            tables = _intervened_tables_of(record["tables"], options)
        certificate, resampled = record["certificate"], record["bootstrap"]
        run = record.get("run") or {"starts": (0, 0), "cost": {}, "trace": ()}
        unknown = {"n_moves": 0, "n_evaluations": 0, "n_refused": 0, "seconds": np.nan}
        return cls(
            graph=graph,
            fitted=fit(graph, tables),
            score=float(record["score"]),
            penalty=float(record["penalty"]),
            status=SearchStatus[record["status"]],
            limits=tuple(map(str, record["limits"])),
            alternatives=tuple(map(DirectedGraph.from_dict, record["alternatives"])),
            has_more_alternatives=bool(record["has_more_alternatives"]),
            moves=tuple(map(TracedMove.from_dict, run["trace"])),
            cost=SearchCost(**(unknown | run["cost"])),
            n_starts_agreeing=(int(run["starts"][0]), int(run["starts"][1])),
            options=options,
            certificate=Certificate(**certificate) if certificate else None,
            bootstrap=BootstrapResult.from_dict(resampled) if resampled else None,
            warnings=tuple(
                DataWarning(**(each | {"columns": tuple(each["columns"])}))
                for each in record.get("warnings", ())
            ),
        )

    def __eq__(self, other: object) -> bool:
        """Equal when the JSON forms are: everything but the time it took."""
        if not isinstance(other, LearnResult):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        graph, fitted = self.graph, self.fitted
        loops = [", ".join(nodes) for nodes in graph.components if len(nodes) > 1]
        if isinstance(fitted, FittedGroups):
            edges = fitted.weights_in_words()
        else:
            pairs = zip(graph.edges, fitted.B[graph.adjacency], strict=True)
            edges = [f"  {a} -> {b}  {weight:+.3f}" for (a, b), weight in pairs]
        lines = [
            f"{graph.n_nodes} variables, {self._rows_in_words()}: {graph.n_edges} edges, "
            f"score {self.score:.2f}, BIC {fitted.bic:.2f}",
            "Feedback among: " + "; ".join(loops) if loops else "No feedback.",
            *edges,
            self._class_in_words(),
            *self._ties_in_words(),
            f"Ended: {self.status.value}.",
        ]
        if self.limits:
            lines.append("Limits reached: " + ", ".join(self.limits) + ".")
        agreeing, starts = self.n_starts_agreeing
        if starts > 1 and agreeing < 2:
            lines.append(f"Of {starts} starts only one came to this score: it may not be the best.")
        if self.options.margins == "rank":
            lines.append("Weights and effects are on the scale of normal scores of ranks.")
        lines += [f"Mind: {warning.message}" for warning in self.warnings]
        return "\n".join(lines)

    def _class_in_words(self) -> str:
        if self.experiments is not None:
            others = len(self.alternatives)
            if not others:
                return "No other graph was found that fits these tables as well."
            more = " at least" * self.has_more_alternatives
            return f"{others}{more} other graph{'s' * (others > 1)} fit as well (see alternatives)."
        try:
            size = self.equivalence_class.size
        except LimitError:
            return "The graphs that fit equally well are too many to be counted."
        if size == 1:
            return "No other graph generates the same distributions."
        return f"{size} graphs generate the same distributions (see equivalence_class)."

    def _rows_in_words(self) -> str:
        n, worth = self.fitted.n_samples, self.fitted.n_effective
        words = f"{n} samples" if worth == n else f"{n} samples worth {worth:.0f} independent ones"
        if self.experiments is not None:
            return f"{words} in {len(self.experiments.tables)} tables with interventions"
        return f"{words} in {len(self.groups)} groups" if self.groups else words

    def _ties_in_words(self) -> list[str]:
        if not self.alternatives or self.experiments is not None:
            return []
        many = (
            f"more than {len(self.alternatives)}"
            if self.has_more_alternatives
            else (f"{len(self.alternatives)}")
        )
        other = "another class fits" if many == "1" else f"{many} other classes fit"
        return [f"Exactly tied: {other} these data as well (see alternatives)."]

    def __repr__(self) -> str:
        return f"LearnResult({self.graph!r}, score={self.score:.3f}, status={self.status.name})"

    def _repr_html_(self) -> str:
        table = self.fitted.summary().to_html(border=0, float_format=lambda x: f"{x:.3f}")
        first, *others = str(self).splitlines()
        about = "".join(f"<br>{escape(line)}" for line in others if not line.startswith("  "))
        return f"<div><p><b>{escape(first)}</b>{about}</p>{table}</div>"


def _moments_record(moments: Moments, n_effective: float) -> dict[str, Any]:
    return {
        "covariance": moments.covariance.tolist(),
        "n_samples": moments.n_samples,
        "n_effective": n_effective,
        "mean": None if moments.mean is None else moments.mean.tolist(),
        "names": None if moments.has_default_names else list(moments.names),
    }


def _tables_record(tables: Tables) -> list[dict[str, Any]]:
    """Every table with what was set in it."""
    return [
        {**_moments_record(t.moments, t.n_effective), "targets": list(t.targets)} for t in tables
    ]


def _intervened_tables_of(record: Sequence[Any], options: SearchOptions) -> Tables:
    tables = []
    for each in record:
        names = each["names"] or default_names(len(each["covariance"]))
        mean = each["mean"]
        moments = Moments._unchecked(
            np.array(each["covariance"], dtype=float),
            int(each["n_samples"]),
            None if mean is None else np.array(mean, dtype=float),
            tuple(names),
            each["names"] is None,
        )
        tables.append(Table(moments, float(moments.n_samples), targets=tuple(each["targets"])))
    return Tables(tuple(tables), Design(options.kind, options.intercepts))


def _tables_of(record: Mapping[str, Any]) -> Tables:
    """The moments of one table, or of every group by name."""
    if "covariance" in record:
        rows = dict(record)
        n_effective = rows.pop("n_effective")
        return as_tables(Moments(**rows), n_effective=n_effective)
    return Tables.of_groups({name: _tables_of(rows) for name, rows in record.items()})
