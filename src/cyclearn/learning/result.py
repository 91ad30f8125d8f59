"""What :func:`cyclearn.learn` returns."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from cyclearn.classes import EquivalenceClass
from cyclearn.errors import InputError, LimitError
from cyclearn.graphs import DirectedGraph
from cyclearn.graphs.directed_graph import Node
from cyclearn.learning.bootstrap_result import BootstrapResult
from cyclearn.learning.class_effects import ClassEffects, class_effects
from cyclearn.learning.knowledge import Knowledge
from cyclearn.models import FittedModel, Moments, fit
from cyclearn.search.alternatives import MAX_CLASSES, Alternative, tied_graphs
from cyclearn.search.exact import Certificate
from cyclearn.search.local_search import SearchStatus
from cyclearn.search.problem import SearchProblem

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from matplotlib.axes import Axes

    from cyclearn.models.moments import Data

_SCHEMA = "cyclearn.LearnResult/1"


@dataclass(frozen=True)
class TracedMove:
    """One move of the search: the edges it changed and what it did to the score."""

    added: tuple[tuple[str, str], ...]
    removed: tuple[tuple[str, str], ...]
    change: float
    score: float
    is_best: bool
    is_annealed: bool = False

    @property
    def kind(self) -> str:
        """Add, delete, reverse, the virtual-edge operator, or annealing of many edges."""
        if self.is_annealed:
            return "annealing"
        if len(self.added) == 1 and not self.removed:
            return "add"
        if len(self.removed) == 1 and not self.added:
            return "delete"
        if len(self.added) == len(self.removed) == 1 and self.added[0] == self.removed[0][::-1]:
            return "reverse"
        return "virtual edge"

    def describe(self) -> str:
        """The move in words."""
        parts = [f"-{a} -> {b}" for a, b in self.removed] + [f"+{a} -> {b}" for a, b in self.added]
        return ", ".join(parts)


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
        One member of the learned class.
    model : FittedModel
        Its maximum likelihood fit: weights, standard errors, fit indices.
    score : float
        Negative log-likelihood + λ·|E|; smaller is better.
    penalty : float
        λ, what one edge costs.
    status : SearchStatus
        Why the search ended; its value is a sentence.
    limits : tuple of str
        Limits that kept moves away or ended the search.
    moves : tuple of TracedMove
        The moves of the best start; ``trace`` is the same as a table.
    cost : SearchCost
        Moves, evaluations and seconds, over all starts.
    n_starts_agreeing : pair of int
        How many starts came to the best score, and how many there were.
    options : mapping
        The options of the search.
    certificate : Certificate or None
        What an exact search went through.
    bootstrap : BootstrapResult or None
        Frequencies over resamples, where they were asked for.
    """

    graph: DirectedGraph
    model: FittedModel
    score: float
    penalty: float
    status: SearchStatus
    limits: tuple[str, ...]
    moves: tuple[TracedMove, ...]
    cost: SearchCost
    n_starts_agreeing: tuple[int, int]
    options: Mapping[str, Any]
    certificate: Certificate | None = None
    bootstrap: BootstrapResult | None = None

    @cached_property
    def equivalence_class(self) -> EquivalenceClass:
        """All graphs that generate the same distributions as the learned one."""
        return EquivalenceClass(self.graph)

    @cached_property
    def alternatives(self) -> tuple[Alternative, ...]:
        """Graphs of other classes whose score ties with the best, best first.

        A tie is a difference of less than 1e-6 per sample; one graph stands for each class. Found
        by drawing the edges among three nodes anew, so the list need not be complete; where there
        are more than 100, the rest is left with a warning.
        """
        moments, options = self.model.moments, self.options
        limits = ("stable", "virtual_edges", "max_component", "max_cycle_length", "max_parents")
        problem = SearchProblem.of(
            moments,
            self.penalty,
            Knowledge.from_dict(options["knowledge"] or {}).masks(moments.names),
            max_edges=options["max_edges"],
            **{name: options[name] for name in limits},
        )
        tied, is_cut = tied_graphs(problem, self.graph)
        if is_cut:
            warnings.warn(
                f"more than {MAX_CLASSES} classes of graphs tie with the result; alternatives "
                "lists the first found",
                stacklevel=2,
            )
        return tuple(Alternative(graph, moments.n_samples * excess) for excess, graph in tied)

    @property
    def trace(self) -> pd.DataFrame:
        """The moves of the search as a table: kind, edges changed, change of score, score."""
        import pandas as pd

        return pd.DataFrame(
            [(m.kind, m.describe(), m.change, m.score, m.is_best) for m in self.moves],
            columns=["kind", "move", "change", "score", "is_best"],
        )

    def effects(self, source: Node, target: Node, **options: Any) -> ClassEffects:
        """Effects of one variable on another under all graphs that fit equally well.

        Knowledge given to the search holds here too; options as of
        :func:`cyclearn.class_effects`.
        """
        record = self.options["knowledge"]
        options.setdefault("knowledge", None if record is None else Knowledge.from_dict(record))
        return class_effects(self.graph, self.model.moments, source, target, **options)

    def report(self, path: str | Path, *, data: Data | None = None, **options: Any) -> Path:
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

    def plot(self, ax: Axes | None = None, *, labels: bool | None = None) -> Axes:
        """Draw the learned graph with its weights; see :func:`cyclearn.drawing.plots.plot_fit`."""
        from cyclearn.drawing.plots import plot_fit

        return plot_fit(self.model, ax, labels=labels)

    def to_dict(self, *, timings: bool = False) -> dict[str, Any]:
        """The result as plain values; seconds only when asked for."""
        moments = self.model.moments
        cost = {"moves": self.cost.n_moves, "evaluations": self.cost.n_evaluations}
        return {
            "schema": _SCHEMA,
            "graph": self.graph.to_dict(),
            "score": self.score,
            "penalty": self.penalty,
            "status": self.status.name,
            "limits": list(self.limits),
            "starts": list(self.n_starts_agreeing),
            "cost": cost
            | {"refused": self.cost.n_refused}
            | ({"seconds": self.cost.seconds} if timings else {}),
            "options": dict(self.options),
            "certificate": None if self.certificate is None else asdict(self.certificate),
            "bootstrap": None if self.bootstrap is None else self.bootstrap.to_dict(),
            "trace": [
                {
                    "added": [list(e) for e in m.added],
                    "removed": [list(e) for e in m.removed],
                    "change": m.change,
                    "score": m.score,
                    "is_best": m.is_best,
                    "is_annealed": m.is_annealed,
                }
                for m in self.moves
            ],
            "model": self.model.to_dict(),
            "moments": {
                "covariance": moments.covariance.tolist(),
                "n_samples": moments.n_samples,
                "mean": None if moments.mean is None else moments.mean.tolist(),
                "names": list(moments.names),
            },
        }

    def to_json(self, *, timings: bool = False) -> str:
        """The result as JSON."""
        return json.dumps(self.to_dict(timings=timings), ensure_ascii=False, indent=1)

    @classmethod
    def from_json(cls, text: str) -> LearnResult:
        """The result that :meth:`to_json` wrote; the model is fitted again from its moments."""
        try:
            record = json.loads(text)
        except json.JSONDecodeError as error:
            raise InputError(f"not valid JSON: {error}") from None
        if not isinstance(record, dict) or record.get("schema") != _SCHEMA:
            raise InputError(f"not a result of learn; its schema would be {_SCHEMA!r}")
        graph = DirectedGraph.from_dict(record["graph"])
        model = fit(graph, Moments(**record["moments"]))
        edges = [
            [tuple((a, b) for a, b in move[part]) for part in ("added", "removed")]
            for move in record["trace"]
        ]
        moves = tuple(
            TracedMove(
                added,
                removed,
                move["change"],
                move["score"],
                move["is_best"],
                move.get("is_annealed", False),
            )
            for (added, removed), move in zip(edges, record["trace"], strict=True)
        )
        cost = record["cost"]
        certificate = record.get("certificate")
        resampled = record.get("bootstrap")
        return cls(
            graph=graph,
            model=model,
            score=record["score"],
            penalty=record["penalty"],
            status=SearchStatus[record["status"]],
            limits=tuple(record["limits"]),
            moves=moves,
            cost=SearchCost(
                cost["moves"], cost["evaluations"], cost["refused"], cost.get("seconds", np.nan)
            ),
            n_starts_agreeing=(record["starts"][0], record["starts"][1]),
            options=record["options"],
            certificate=Certificate(**certificate) if certificate else None,
            bootstrap=BootstrapResult.from_dict(resampled) if resampled else None,
        )

    def __eq__(self, other: object) -> bool:
        """Equal when the JSON forms are: everything but the time it took."""
        if not isinstance(other, LearnResult):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        graph, model = self.graph, self.model
        loops = [", ".join(nodes) for nodes in graph.components if len(nodes) > 1]
        edges = [
            f"  {a} -> {b}  {model.B[graph.index(a), graph.index(b)]:+.3f}" for a, b in graph.edges
        ]
        lines = [
            f"{graph.n_nodes} variables, {model.n_samples} samples: {graph.n_edges} edges, "
            f"score {self.score:.2f}, BIC {model.bic:.2f}",
            "Feedback among: " + "; ".join(loops) if loops else "No feedback.",
            *edges,
            self._class_in_words(),
            f"Ended: {self.status.value}.",
        ]
        if self.limits:
            lines.append("Limits reached: " + ", ".join(self.limits) + ".")
        return "\n".join(lines)

    def _class_in_words(self) -> str:
        try:
            size = self.equivalence_class.size
        except LimitError:
            return "The graphs that fit equally well are too many to be counted."
        if size == 1:
            return "No other graph generates the same distributions."
        return f"{size} graphs generate the same distributions (see equivalence_class)."

    def __repr__(self) -> str:
        return f"LearnResult({self.graph!r}, score={self.score:.3f}, status={self.status.name})"

    def _repr_html_(self) -> str:
        table = self.model.summary().to_html(border=0, float_format=lambda x: f"{x:.3f}")
        first, *others = str(self).splitlines()
        about = "".join(f"<br>{escape(line)}" for line in others if not line.startswith("  "))
        return f"<div><p><b>{escape(first)}</b>{about}</p>{table}</div>"
