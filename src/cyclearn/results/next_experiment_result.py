"""Candidates for the next experiment: what each would leave open, as values and in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from cyclearn.classes.interventional_class import InterventionDesign, class_key
from cyclearn.foundation.answers import Answer
from cyclearn.foundation.errors import InputError
from cyclearn.foundation.json_input import short
from cyclearn.graphs.directed_graph import DirectedGraph, Node

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from cyclearn.results.result import LearnResult

_COLUMNS = {
    "classes": "sets of graphs that the experiment distinguishes",
    "expected_left": "graphs that remain, on average",
    "largest_left": "graphs that remain, at most",
    "rows": "number with which the true graph, whichever it is, has the best likelihood in "
    "{confidence:.0%} of repeats (inf: no number suffices)",
    "rows_typical": "the median over the graphs",
    "probability_left": "posterior probability that remains, on average",
    "wins": "how often the true graph has the best likelihood with the requested rows",
}
_WINS = "With {}, the true graph has the best likelihood in {:.0%} of repeats"
# If one graph is left with at least this ``probability_left``, no experiment is proposed.
_SURE = 0.95


@dataclass(frozen=True)
class Candidate:
    """One experiment, and which of the open graphs it would leave.

    Attributes
    ----------
    targets : tuple of str
    n_classes : int
        Classes of graphs that it distinguishes, among the graphs examined.
    expected_left : float
        Graphs left on average, if all open graphs are equally likely.
    largest_left : int
        Graphs left in the worst case, among the graphs examined.
    rows : float
        Rows with which the true graph wins with the requested probability, whichever of the graphs
        examined it is; NaN if rows were not to be predicted, infinite if no number suffices in
        addition to the observed rows.
    rows_typical : float
        The median over the graphs examined instead of the maximum.
    probability_left : float
        Average posterior probability, over graphs of all classes, of the graphs that the experiment
        does not distinguish from the true one; NaN without a posterior.
    wins : float
        How often the true graph has the best score with the requested number of rows, on average
        over the graphs examined; NaN if no number was given.
    """

    targets: tuple[str, ...]
    n_classes: int
    expected_left: float
    largest_left: int
    rows: float = float("nan")
    rows_typical: float = float("nan")
    probability_left: float = float("nan")
    wins: float = float("nan")

    @property
    def left(self) -> tuple[float, float, int]:
        """Probability and graphs left, rounded so that the last bit does not affect the order."""
        left = 1.0 if np.isnan(self.probability_left) else round(self.probability_left, 9)
        return left, round(self.expected_left, 9), self.largest_left

    def preference(self) -> tuple[float, float, float, int, float]:
        """Sort key: finds the true graph most often, then leaves least, then needs fewest rows."""
        finds = 0.0 if np.isnan(self.wins) else round(self.wins / self.expected_left, 9)
        return -finds, *self.left, inf if np.isnan(self.rows) else _rounded(self.rows)

    def numbers(self) -> dict[str, float]:
        """Its row of the table; predicted rows with two digits, because no more are accurate."""
        known = {"probability_left": self.probability_left, "wins": self.wins}
        return {
            "classes": self.n_classes,
            "expected_left": self.expected_left,
            "largest_left": self.largest_left,
            "rows": _rounded(self.rows),
            "rows_typical": _rounded(self.rows_typical),
        } | {name: value for name, value in known.items() if not np.isnan(value)}

    def to_dict(self) -> dict[str, Any]:
        """Targets and numbers as plain values; unknown numbers are None."""
        numbers = {k: v if np.isfinite(v) else None for k, v in self.numbers().items()}
        return {"targets": list(self.targets)} | numbers


@dataclass(frozen=True, eq=False)
class NextExperiment(Answer):
    """Candidate experiments, the best first; made by :func:`next_experiment`.

    Attributes
    ----------
    candidates : tuple of Candidate
        Least probability left first, if there is a posterior; then fewest graphs left on
        average, fewest in the worst case, fewest rows.
    graphs : tuple of DirectedGraph
        The open graphs that were examined, each as often as it was drawn.
    size : int or None
        Number of open graphs; None if they cannot be counted.
    selection : {"all", "sampled", "first"}
        Whether all of them were examined, a random sample, or the first of the list.
    tables : tuple of tuple of str
        The targets of the existing tables; an empty tuple means observed data.
    confidence : float
        Probability that the true graph has the best score with the predicted rows.
    n_observed : float
        Observed rows that the prediction assumes; infinite if their distribution is known.
    n_truths : int
        Maximum number of graphs that the prediction of rows took to be true, one after another.
    n_unstable : int
        Graphs that fit equally well and are not counted as open, because with these data their
        feedback would grow without limit.
    batch : tuple of Candidate
        Experiments to do together, if several were requested: each with what it leaves after the
        previous ones. There are fewer than requested if a further one would change nothing.
    rows : int or None
        The requested number of rows of each experiment, if one was given.
    """

    candidates: tuple[Candidate, ...]
    graphs: tuple[DirectedGraph, ...]
    size: int | None
    selection: str
    tables: tuple[tuple[str, ...], ...]
    confidence: float
    n_observed: float
    n_truths: int
    n_unstable: int = 0
    batch: tuple[Candidate, ...] = ()
    rows: int | None = None

    @property
    def best(self) -> Candidate:
        """The first of the candidates."""
        return self.candidates[0]

    @property
    def is_settled(self) -> bool:
        """Whether only one graph is open, and no other graph is probable."""
        is_one = len(set(self.graphs)) == 1 and self.selection == "all"
        return is_one and not self.best.probability_left < _SURE

    @property
    def table(self) -> pd.DataFrame:
        """One row for each candidate: its targets and what :class:`Candidate` says."""
        import pandas as pd

        return pd.DataFrame(
            [(", ".join(c.targets), *c.numbers().values()) for c in self.candidates],
            columns=["targets", *self.candidates[0].numbers()],
        )

    def left(self, targets: Sequence[Node] | Node) -> tuple[tuple[DirectedGraph, ...], ...]:
        """The graphs examined, in the classes that an experiment distinguishes, largest first."""
        graph = self.graphs[0]
        known = [tuple(sorted(map(graph.index, table))) for table in self.tables]
        design = InterventionDesign(graph.n_nodes, (*known, as_targets(targets, graph)))
        classes: dict[object, list[DirectedGraph]] = {}
        for graph in dict.fromkeys(self.graphs):
            classes.setdefault(class_key(graph, design), []).append(graph)
        return tuple(map(tuple, sorted(classes.values(), key=len, reverse=True)))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw what is left; see :func:`cyclearn.drawing.next_experiment_plot.plot_candidates`."""
        from cyclearn.drawing.next_experiment_plot import plot_candidates

        return plot_candidates(self, ax)

    def in_words(self) -> str:
        """The advice in one or two sentences."""
        if self.is_settled:
            return settled_in_words(self.n_unstable)
        words = [self._within_class(), self._over_posterior(), self._together()]
        return " ".join(filter(None, words))

    def _together(self) -> str:
        """A sentence on what a batch leaves."""
        if not self.batch:
            return ""
        last, each = self.batch[-1], [" and ".join(one.targets) for one in self.batch]
        if len(each) == 1:
            return "A further experiment would not reduce this."
        left = f"{last.expected_left:.3g} on average and {last.largest_left} at most"
        if not np.isnan(last.probability_left):
            left += f", and {last.probability_left:.0%} of the probability"
        return f"Together, experiments on {'; '.join(each)} leave {left}."

    def _over_posterior(self) -> str:
        """A sentence on the probability that the best experiment leaves, if it is known."""
        best = self.best
        if np.isnan(best.probability_left):
            return ""
        return (
            f"Over all graphs of the posterior, intervening on {' and '.join(best.targets)} "
            f"leaves {best.probability_left:.0%} of the probability on average."
        )

    def _within_class(self) -> str:
        if len(set(self.graphs)) == 1 and self.selection == "all":
            return settled_in_words(self.n_unstable)
        of = "an unknown number of" if self.size is None else f"{self.size:,}"
        n = self.n_unstable
        more = f" ({n:,} more fit equally well, but their feedback would grow without limit)"
        others = more * (n > 0)
        looked = {
            "all": f"{of} graphs remain{others}.",
            "sampled": f"{of} graphs remain; {len(self.graphs)} drawn at random were examined.",
            "first": f"{of} graphs remain; the first {len(self.graphs)} were examined, which are "
            "not a random sample.",
        }[self.selection]
        best = self.best
        if best.n_classes == 1:
            return f"{looked} None of these experiments distinguishes any of them."
        words = (
            f"{looked} Intervening on {' and '.join(best.targets)} leaves "
            f"{best.expected_left:.3g} on average and {best.largest_left} at most."
        )
        if np.isfinite(best.wins):
            rows = f"{self.rows} row" + "s" * (self.rows != 1)
            words += f" {_WINS.format(rows, best.wins)}."
        if np.isfinite(best.rows):
            words += " " + _WINS.format(f"{_rounded(best.rows):,.0f} rows", self.confidence)
            if best.rows_typical < best.rows:
                words += f" (typically {_rounded(best.rows_typical):,.0f})"
            words += "."
        return words

    def to_dict(self) -> dict[str, Any]:
        """Everything but the graphs as plain values, ready for JSON."""
        return {
            "size": self.size,
            "n_looked_at": len(self.graphs),
            "selection": self.selection,
            "tables": [list(targets) for targets in self.tables],
            "confidence": self.confidence,
            "n_observed": None if self.n_observed == inf else self.n_observed,
            "n_truths": self.n_truths,
            "n_unstable": self.n_unstable,
            "rows": self.rows,
            "candidates": [c.to_dict() for c in self.candidates],
            "batch": [c.to_dict() for c in self.batch],
        }

    def __str__(self) -> str:
        if self.is_settled:
            return self.in_words()
        table = self.table.dropna(axis="columns", how="all").round(2)
        about = "\n".join(f"{k}: {v}" for k, v in _COLUMNS.items() if k in table.columns)
        about = about.format(confidence=self.confidence)
        return f"{self.in_words()}\n{table.to_string(index=False)}\n{about}"

    def __repr__(self) -> str:
        return f"NextExperiment({len(self.candidates)} candidates, best {self.best.targets!r})"


def settled_in_words(n_unstable: int) -> str:
    """State that no experiment is needed, and why.

    Examples
    --------
    >>> settled_in_words(0)
    'The class has one graph, so no experiment is needed within it.'
    """
    if not n_unstable:
        return "The class has one graph, so no experiment is needed within it."
    return (
        f"Only one graph of the class remains: of {n_unstable + 1:,} that fit equally "
        "well, it alone is stable with these data. If a shock to the system dies out, no "
        "experiment is needed within the class."
    )


def class_in_doubt(result: LearnResult) -> str:
    """The probability of the learned class, if there is a posterior; otherwise nothing."""
    if result.posterior is None or not result.posterior.is_determined:
        return ""
    classes = result.posterior.classes()
    graph = result.graph.reordered(result.posterior.names)
    share = sum(each.probability for each in classes if graph in each.equivalence_class)
    return (
        f"These numbers are conditional on the learned class. Its probability is {share:.2f}; the "
        f"sample contains graphs of {len(classes):,} classes."
    )


def _rounded(rows: float) -> float:
    return float(f"{np.ceil(rows):.2g}") if np.isfinite(rows) else rows


def as_targets(targets: Sequence[Node] | Node, graph: DirectedGraph) -> tuple[int, ...]:
    """Positions of the targets of an experiment."""
    several = (
        [targets] if not isinstance(targets, Iterable) or isinstance(targets, str) else targets
    )
    found = sorted({graph.index(target) for target in several})
    if not 0 < len(found) < graph.n_nodes:
        raise InputError(
            f"the targets {short(targets)} contain {'all' if found else 'no'} variables; an "
            "experiment must intervene on some variables and leave others free"
        )
    return tuple(found)
