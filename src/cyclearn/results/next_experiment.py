"""Which variable to set next: what each experiment would leave open, and how many rows it needs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from math import comb, inf
from typing import TYPE_CHECKING, Any

import numpy as np

from cyclearn.classes.graph_class import GraphClass
from cyclearn.classes.interventional_class import InterventionDesign, group_territories
from cyclearn.classes.rule_search import ClassKey, linked_classes
from cyclearn.foundation.answers import Answer
from cyclearn.foundation.arguments import at_least, between, check_state, whole
from cyclearn.foundation.arrays import FloatArray
from cyclearn.foundation.errors import InputError, LimitError
from cyclearn.foundation.json_input import short
from cyclearn.foundation.random_state import RandomState
from cyclearn.graphs.directed_graph import DirectedGraph, Node
from cyclearn.identifiability.settling_rows import Rival, rows_to_settle, scaled_columns
from cyclearn.models import FittedModel, LinearGaussianModel
from cyclearn.results.open_graphs import Listed, OpenGraphs, list_open
from cyclearn.search.members import Member

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from cyclearn.results.result import LearnResult

_MAX_CANDIDATES = 1000
# Above it, another answer is not worth an experiment.
_SURE = 0.95
# Fits that tie differ by less than this, in standard units.
_SAME = 1e-3


@dataclass(frozen=True)
class Candidate:
    """One experiment: what it would leave of the graphs that are open.

    Attributes
    ----------
    targets : tuple of str
    n_classes : int
        Classes of graphs that it tells apart, among the graphs looked at.
    expected_left : float
        Graphs left on average, if each that is open is as likely as any other.
    largest_left : int
        Graphs left in the worst case, among those looked at.
    rows : float
        Rows with which the true graph wins as often as asked, whichever of those looked at it is;
        NaN where nothing was to be predicted, infinite where no number suffices beside the
        observed rows.
    rows_typical : float
        The median over the graphs looked at instead of the largest.
    probability_left : float
        Of the graphs of the posterior, of all classes, the probability of those that stay together
        with the true one, on average; NaN without a posterior.
    """

    targets: tuple[str, ...]
    n_classes: int
    expected_left: float
    largest_left: int
    rows: float = float("nan")
    rows_typical: float = float("nan")
    probability_left: float = float("nan")

    def preference(self) -> tuple[float, float, float, float]:
        """What comes first: rounded, so that the order never hangs on the last bit of a sum."""
        rows = inf if np.isnan(self.rows) else _rounded(self.rows)
        left = 1.0 if np.isnan(self.probability_left) else round(self.probability_left, 9)
        return left, round(self.expected_left, 9), self.largest_left, rows

    def numbers(self) -> dict[str, float]:
        """What a table says of it; rows with two digits, since a prediction has no more."""
        known = {"probability_left": self.probability_left}
        return {
            "classes": self.n_classes,
            "expected_left": self.expected_left,
            "largest_left": self.largest_left,
            "rows": _rounded(self.rows),
            "rows_typical": _rounded(self.rows_typical),
        } | ({} if np.isnan(self.probability_left) else known)


@dataclass(frozen=True, eq=False)
class NextExperiment(Answer):
    """Candidate experiments, the best first; made by :func:`next_experiment`.

    Attributes
    ----------
    candidates : tuple of Candidate
        Least probability left first, where there is a posterior; then fewest graphs left on
        average, fewest in the worst case, fewest rows.
    graphs : tuple of DirectedGraph
        The graphs that are open and were looked at, as often as they were drawn.
    size : int or None
        Number of graphs that are open, None where they cannot be counted.
    selection : {"all", "sampled", "first"}
        Whether all of them were looked at, some drawn at random, or the first of the list.
    tables : tuple of tuple of str
        The targets of the tables that are already there; the empty one stands for observed data.
    confidence : float
        How often the true graph is to win with the rows predicted.
    n_observed : float
        Observed rows that the prediction counts on; infinite where their distribution is known.
    n_truths : int
        Largest number of graphs that the prediction of rows took to be true, one after another.
    n_unstable : int
        Graphs that fit equally well and are not counted as open, because with these data their
        feedback would grow without limit.
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

    @property
    def best(self) -> Candidate:
        """The first of the candidates."""
        return self.candidates[0]

    @property
    def is_settled(self) -> bool:
        """Whether only one graph is open, and no other is probable."""
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
        """The graphs looked at, in the classes that an experiment tells apart, largest first."""
        design = _design(self.graphs[0], self.tables, _as_targets(targets, self.graphs[0]))
        classes: dict[object, list[DirectedGraph]] = {}
        for graph in dict.fromkeys(self.graphs):
            classes.setdefault(_class_key(graph, design), []).append(graph)
        return tuple(map(tuple, sorted(classes.values(), key=len, reverse=True)))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw what is left; see :func:`cyclearn.drawing.next_experiment_plot.plot_candidates`."""
        from cyclearn.drawing.next_experiment_plot import plot_candidates

        return plot_candidates(self, ax)

    def in_words(self) -> str:
        """The advice in a sentence or two."""
        if self.is_settled:
            return settled_in_words(self.n_unstable)
        return " ".join(filter(None, [self._within_class(), self._over_posterior()]))

    def _over_posterior(self) -> str:
        """What the best experiment leaves of the probability, where that is known."""
        best = self.best
        if np.isnan(best.probability_left):
            return ""
        return (
            f"Over all graphs of the posterior, setting {' and '.join(best.targets)} leaves "
            f"{best.probability_left:.0%} of the probability on average."
        )

    def _within_class(self) -> str:
        if len(set(self.graphs)) == 1 and self.selection == "all":
            return settled_in_words(self.n_unstable)
        of = "an unknown number of" if self.size is None else f"{self.size:,}"
        others = (
            f" ({self.n_unstable:,} more fit equally well, but their feedback would grow without "
            "limit)"
            if self.n_unstable
            else ""
        )
        looked = {
            "all": f"{of} graphs are open{others}.",
            "sampled": f"{of} graphs are open; {len(self.graphs)} drawn at random were looked at.",
            "first": f"{of} graphs are open; the first {len(self.graphs)} were looked at, which "
            "are no fair sample.",
        }[self.selection]
        best = self.best
        if best.n_classes == 1:
            return f"{looked} None of these experiments tells any of them apart."
        words = (
            f"{looked} Setting {' and '.join(best.targets)} leaves "
            f"{best.expected_left:.3g} on average and {best.largest_left} at most."
        )
        if np.isfinite(best.rows):
            share = f"{self.confidence:.0%}"
            words += (
                f" About {_rounded(best.rows):,.0f} rows let the true one win in {share} of repeats"
            )
            words += (
                f" (typically {_rounded(best.rows_typical):,.0f})."
                if best.rows_typical < best.rows
                else "."
            )
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
            "candidates": [
                {"targets": list(c.targets)} | {k: _or_none(v) for k, v in c.numbers().items()}
                for c in self.candidates
            ],
        }

    def __str__(self) -> str:
        if self.is_settled:
            return self.in_words()
        return f"{self.in_words()}\n{self.table.round(2).to_string(index=False)}"

    def __repr__(self) -> str:
        return f"NextExperiment({len(self.candidates)} candidates, best {self.best.targets!r})"


def settled_in_words(n_unstable: int) -> str:
    """That no experiment is needed, and what that rests on.

    Examples
    --------
    >>> settled_in_words(0)
    'The learned class has one graph: within it there is nothing left to settle.'
    """
    if not n_unstable:
        return "The learned class has one graph: within it there is nothing left to settle."
    return (
        f"Only one graph of the learned class is open: of {n_unstable + 1:,} that fit equally well "
        "it alone is stable with these data. If a shock to the system dies out, there is nothing "
        "left to settle within the class."
    )


def class_in_doubt(result: LearnResult) -> str:
    """How probable the learned class is, where a posterior says so; otherwise nothing."""
    if result.posterior is None or not result.posterior.is_determined:
        return ""
    classes = result.posterior.classes()
    graph = result.graph.reordered(result.posterior.names)
    share = sum(each.probability for each in classes if graph in each.equivalence_class)
    return (
        f"All of this is given the learned class. Its probability is {share:.2f}; the sample has "
        f"graphs of {len(classes):,} classes."
    )


def _rounded(rows: float) -> float:
    return float(f"{np.ceil(rows):.2g}") if np.isfinite(rows) else rows


def _or_none(value: float) -> float | None:
    return value if np.isfinite(value) else None


def next_experiment(
    result_or_class: OpenGraphs,
    targets: Iterable[Sequence[Node] | Node] | None = None,
    size: int = 1,
    model: LinearGaussianModel | FittedModel | None = None,
    *,
    confidence: float = 0.9,
    max_members: int = 200,
    max_truths: int = 6,
    max_predicted: int | None = None,
    random_state: RandomState = 0,
) -> NextExperiment:
    """What each possible experiment would settle, and how many rows it would need.

    An experiment sets some variables from outside (perfect interventions). The graphs that are
    open fall into classes that it tells apart, by the theorem on interventions; how many are left
    depends on which of them is true.

    Parameters
    ----------
    result_or_class : LearnResult, EquivalenceClass, InterventionalClass or DirectedGraph
        The graphs that are open: those of a result are the members of its class and of the classes
        that tie with it that respect the knowledge; a graph stands for its class. With a model,
        those without a stable fit are left out. Where a result has a posterior whose chains agree,
        experiments are ranked by what they leave of the probability over all of its graphs. A
        class under interventions says which tables are already there; otherwise it is observed
        data alone.
    targets : list of targets, optional
        The experiments that can be done: names, or lists of names to be set together. By default
        all sets of ``size`` variables.
    size : int
        How many variables an experiment sets.
    model : LinearGaussianModel or FittedModel, optional
        Weights, to predict how many rows an experiment needs; those of a result by default. A
        fitted model counts on as many observed rows as it was fitted to, any other on a known
        observed distribution.
    confidence : float
        How often the true graph is to have the best likelihood (with ½ log n for each edge).
    max_members : int
        More graphs than this are sampled, and the result says so.
    max_truths : int
        How many classes of graphs are taken to be true, one after another, for the rows; those
        with the most members.
    max_predicted : int, optional
        Rows are predicted for so many candidates, those that leave the fewest graphs; by default
        for all.
    random_state : int, Generator or None
        For the sample.

    Returns
    -------
    NextExperiment

    Notes
    -----
    Rows are predicted for targets that are set at random, independently, with the variances that
    they have in observed data; wider ones need fewer rows. The prediction is the divergence of the
    true graph from its nearest rivals, minimised over their weights with both tables, against the
    spread of the log-likelihood ratio.

    Examples
    --------
    >>> chain = DirectedGraph.from_edges([("a", "b"), ("b", "c"), ("c", "d")])
    >>> advice = next_experiment(chain)
    >>> advice.table[["targets", "classes", "expected_left", "largest_left"]]
      targets  classes  expected_left  largest_left
    0       b        3            1.5             2
    1       c        3            1.5             2
    2       a        2            2.5             3
    3       d        2            2.5             3
    >>> print(advice.in_words())
    4 graphs are open. Setting b leaves 1.5 on average and 2 at most.
    """
    whole("max_members", max_members, 2)
    whole("max_truths", max_truths, 1)
    at_least("max_predicted", max_predicted, 0)
    between("confidence", confidence, 0.5, 1, 0.9)
    check_state(random_state)
    if model is not None and not isinstance(model, (LinearGaussianModel, FittedModel)):
        raise InputError(
            f"the model is of type {type(model).__name__}; give a LinearGaussianModel or what fit "
            "returned"
        )
    found = list_open(result_or_class, model, max_members, random_state)
    graph = found.members[0].graph
    probable = _probable(result_or_class, max_members)
    judged = [_judged(found, probable, chosen) for chosen in _candidates(graph, targets, size)]
    judged.sort(key=lambda each: each[0].preference())
    candidates = [
        _with_rows(candidate, classes, found, max_truths, confidence)
        if max_predicted is None or n < max_predicted
        else candidate
        for n, (candidate, classes) in enumerate(judged)
    ]
    candidates.sort(key=Candidate.preference)
    return NextExperiment(
        tuple(candidates),
        tuple(member.graph for member in found.members for _ in range(member.times)),
        found.size,
        found.selection,
        tuple(tuple(graph.names[j] for j in table) for table in found.tables),
        confidence,
        found.n_observed,
        max_truths,
        found.n_unstable,
    )


def _candidates(
    graph: DirectedGraph, targets: Iterable[Sequence[Node] | Node] | None, size: int
) -> list[tuple[int, ...]]:
    if targets is not None:
        if isinstance(targets, str) or not isinstance(targets, Iterable):
            raise InputError(
                f"targets are {short(targets)}; give a list of experiments, such as ['a', 'b'] or "
                "[['a', 'b'], ['c']]"
            )
        chosen = list(dict.fromkeys(_as_targets(each, graph) for each in targets))
        if not chosen:
            raise InputError("targets are empty; name at least one experiment")
        return chosen
    whole("size", size, 1)
    if size >= graph.n_nodes:
        raise InputError(
            f"size is {size}, and there are {graph.n_nodes} variables; an experiment leaves at "
            "least one of them alone"
        )
    if comb(graph.n_nodes, size) > _MAX_CANDIDATES:
        raise LimitError(
            f"{comb(graph.n_nodes, size):,} sets of {size} variables are more than "
            f"{_MAX_CANDIDATES:,}; name the experiments that can be done with targets="
        )
    return list(combinations(range(graph.n_nodes), size))


def _as_targets(targets: Sequence[Node] | Node, graph: DirectedGraph) -> tuple[int, ...]:
    several = (
        [targets] if not isinstance(targets, Iterable) or isinstance(targets, str) else targets
    )
    found = sorted({graph.index(target) for target in several})
    if not 0 < len(found) < graph.n_nodes:
        raise InputError(
            f"the targets {short(targets)} are {'all' if found else 'no'} variables; an experiment "
            "sets some and leaves others alone"
        )
    return tuple(found)


def _design(
    graph: DirectedGraph, tables: Sequence[Sequence[Node]], targets: tuple[int, ...]
) -> InterventionDesign:
    known = tuple(tuple(sorted(graph.index(t) for t in table)) for table in tables)
    return InterventionDesign(graph.n_nodes, (*known, targets))


def _class_key(graph: DirectedGraph, design: InterventionDesign) -> tuple[ClassKey, ...]:
    """Equal for two graphs exactly if the design is not known to tell them apart."""
    return tuple(map(_first_linked, group_territories(graph, design)))


@lru_cache(maxsize=1 << 14)
def _first_linked(key: ClassKey) -> ClassKey:
    """One class of rotations for all that the rules link."""
    return min(linked_classes(key).links)


def _probable(given: OpenGraphs, max_members: int) -> list[tuple[DirectedGraph, float]]:
    """The most probable graphs of a posterior with their probabilities; none without it."""
    if isinstance(given, (GraphClass, DirectedGraph)) or given.posterior is None:
        return []
    found = given.posterior
    if not found.is_determined:
        return []
    order = np.argsort(-found.weights, kind="stable")[:max_members]
    names = given.graph.names
    return [
        (
            DirectedGraph(found.adjacencies[k].astype(bool), found.names).reordered(names),
            float(found.weights[k]),
        )
        for k in order
    ]


def _probability_left(
    probable: list[tuple[DirectedGraph, float]], design: InterventionDesign
) -> float:
    """Of the graphs listed, the probability that stays with the true one, on average."""
    if not probable:
        return float("nan")
    shares: dict[object, float] = {}
    for graph, weight in probable:
        key = _class_key(graph, design)
        shares[key] = shares.get(key, 0.0) + weight
    each = np.array(list(shares.values()))
    return float((each**2).sum() / each.sum() ** 2)


def _judged(
    found: Listed, probable: list[tuple[DirectedGraph, float]], targets: tuple[int, ...]
) -> tuple[Candidate, list[list[Member]]]:
    """An experiment, and the classes of graphs that it tells apart."""
    graph = found.members[0].graph
    design = _design(graph, found.tables, targets)
    classes: dict[object, list[Member]] = {}
    for member in found.members:
        classes.setdefault(_class_key(member.graph, design), []).append(member)
    if found.has_ties:
        classes = _joined_where_equal(classes, targets)
    counts = np.array([sum(m.times for m in members) for members in classes.values()])
    n = int(counts.sum())
    if found.selection == "all" or found.size is None or n < 2:
        expected = float((counts**2).sum() / n)
    else:
        # The share of pairs that stay together, without the pairs of a graph with itself.
        together = float((counts * (counts - 1)).sum()) / (n * (n - 1))
        expected = 1 + (found.size - 1) * together
    names = tuple(graph.names[j] for j in targets)
    left = _probability_left(probable, design)
    most = int(counts.max())
    candidate = Candidate(names, len(classes), expected, most, probability_left=left)
    return candidate, list(classes.values())


def _joined_where_equal(
    classes: dict[object, list[Member]], targets: tuple[int, ...]
) -> dict[object, list[Member]]:
    """Classes whose parameters for these data give the same experiment.

    Different classes that tie generate the distribution at hand both. The theorem says that an
    experiment can tell them apart, but not that it does so here.
    """
    joined: dict[object, list[Member]] = {}
    seen: list[tuple[object, list[FloatArray]]] = []
    for key, members in classes.items():
        told = [_told(model, targets) for member in members for model in member.models]
        same = next(
            (
                other
                for other, known in seen
                if any(np.allclose(a, b, rtol=_SAME, atol=_SAME) for a in told for b in known)
            ),
            key,
        )
        joined.setdefault(same, []).extend(members)
        seen.append((same, told))
    return joined


def _told(model: LinearGaussianModel, targets: tuple[int, ...]) -> FloatArray:
    """The experiment's matrix Σ q qᵀ over the untargeted, for variables of unit variance."""
    free = [j for j in range(model.n_variables) if j not in targets]
    Q = scaled_columns(model)[:, free] * np.sqrt(model.covariance.diagonal())[:, None]
    return np.asarray(Q @ Q.T)


def _with_rows(
    candidate: Candidate,
    classes: Sequence[Sequence[Member]],
    found: Listed,
    max_truths: int,
    confidence: float,
) -> Candidate:
    """With the rows for the worst and for the typical truth, where they can be predicted."""
    if not found.has_model or len(classes) < 2:
        return candidate
    targets = _as_targets(candidate.targets, classes[0][0].graph)
    # Members of a class make the same tables, so one of them stands for all.
    ordered = sorted(classes, key=lambda members: -sum(m.times for m in members))
    rivals = [Rival(members[0].graph, members[0].models) for members in ordered]
    needed = [
        rows_to_settle(
            truth.models[0],
            [rival for rival in rivals if rival is not truth],
            targets,
            n_observed=found.n_observed,
            confidence=confidence,
        )
        for truth in rivals[:max_truths]
    ]
    needed = [rows for rows in needed if not np.isnan(rows)]
    if not needed:
        return candidate
    return replace(candidate, rows=max(needed), rows_typical=float(np.median(needed)))
