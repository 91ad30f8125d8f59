"""Rivals of a learned graph: without feedback, with hidden common causes, with smaller loops.

Differences of scores are evidence on whether a loop is real or due to a missing variable.
:func:`evidence` says in words how strong they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from cyclearn.foundation import Answer, count_of, nx, pd
from cyclearn.foundation.arguments import whole
from cyclearn.graphs.directed_graph import DirectedGraph, Edge

if TYPE_CHECKING:
    from cyclearn.results.result import LearnResult

RivalKind = Literal["without feedback", "hidden causes", "smaller loops", "without the loop"]
Evidence = Literal["no evidence", "weak evidence", "strong evidence"]

# Differences of scores above which evidence is weak and strong: odds of 20 and of 150 to one, two
# thresholds of Kass and Raftery (1995), who call evidence above them strong and very strong. The
# words used here are one step weaker, because the graphs compared are the best of very many
# (rivals.md).
WEAK, STRONG = 3.0, 5.0
BOUNDARIES = (
    f"A difference of scores below {WEAK:g} is not evidence; from {WEAK:g} to {STRONG:g} the "
    f"evidence is weak, and above {STRONG:g} it is strong (thresholds of Kass and Raftery, 1995: "
    "odds of 20 and 150 to one)."
)


def evidence(difference: float) -> Evidence:
    """The strength of evidence of a difference of scores, in either direction.

    Examples
    --------
    >>> evidence(1.5), evidence(-4), evidence(12)
    ('no evidence', 'weak evidence', 'strong evidence')
    """
    size = abs(difference)
    if size < WEAK:
        return "no evidence"
    return "weak evidence" if size < STRONG else "strong evidence"


@dataclass(frozen=True)
class Rival(Answer):
    """Another graph for the same data, and its score relative to the learned one.

    Attributes
    ----------
    kind : {"without feedback", "hidden causes", "smaller loops", "without the loop"}
        The restriction on the rival.
    graph : DirectedGraph
        The best graph found under that restriction.
    pairs : tuple of pairs
        Pairs with a hidden common cause: their noise terms are correlated.
    score : float
        Negative log-likelihood + λ·(edges + pairs).
    difference : float
        Its score minus that of the learned graph; positive if the rival is worse.
    added, removed : tuple of edges
        The edges that only the rival has, and those that only the learned graph has.
    loops : tuple of tuples
        The feedback loops of the learned graph that the rival lacks.
    is_cut : bool
        Whether the limit on fits ended the search for hidden causes.
    """

    kind: RivalKind
    graph: DirectedGraph
    pairs: tuple[Edge, ...]
    score: float
    difference: float
    added: tuple[Edge, ...]
    removed: tuple[Edge, ...]
    loops: tuple[tuple[str, ...], ...]
    is_cut: bool = False

    @property
    def title(self) -> str:
        """Its kind, and the loop if there are several."""
        if self.kind != "without the loop":
            return self.kind
        return f"{self.kind} among {', '.join(self.loops[0])}"

    @property
    def evidence(self) -> Evidence:
        """The strength of the evidence, for the learned graph or, if negative, for the rival."""
        return evidence(self.difference)

    @property
    def hidden(self) -> tuple[tuple[str, ...], ...]:
        """The hidden common causes, each as the variables it affects: all joined by pairs."""
        return tuple(sorted(tuple(sorted(each)) for each in nx.find_cliques(nx.Graph(self.pairs))))

    @property
    def in_words(self) -> str:
        """The conclusion in one sentence."""
        if self.kind == "hidden causes" and not self.pairs:
            without = " without feedback" if self.loops else ""
            return f"No hidden common cause improves the graph{without}."
        size = f"{abs(self.difference):.1f}"
        compared = "as good" if size == "0.0" else f"worse by {size}"
        if self.difference < 0:
            compared = compared.replace("worse", "better")
        return f"{self._what} the best graph found is {compared}: {self.evidence} {self._for_what}."

    @property
    def changes_in_words(self) -> str:
        """The edges that change."""
        parts = [
            f"{verb} {', '.join(f'{a} -> {b}' for a, b in edges)}"
            for verb, edges in (("adds", self.added), ("removes", self.removed))
            if edges
        ]
        return "; ".join(parts) or "changes no edge"

    @property
    def _what(self) -> str:
        if self.kind == "hidden causes":
            causes = [f"{', '.join(some)} and {last}" for *some, last in self.hidden]
            what = "a hidden common cause" if len(causes) == 1 else "hidden common causes"
            instead = " instead of feedback" if self.loops else ""
            return f"With {what} of {'; of '.join(causes)}{instead}"
        if self.kind == "smaller loops":
            return "With smaller loops"
        return f"W{self.title[1:]}"

    @property
    def _for_what(self) -> str:
        is_clearly_better = self.difference < 0 and self.evidence != "no evidence"
        if self.pairs and (is_clearly_better or not self.loops):
            hidden = "a hidden cause" if len(self.hidden) == 1 else "hidden causes"
            return f"for {hidden}" if self.difference else f"for or against {hidden}"
        what = "the loop" if len(self.loops) == 1 else "the loops"
        if self.kind == "smaller loops":
            what = f"a loop of {count_of(max(map(len, self.loops)), 'variable')}"
        return f"{'against' if is_clearly_better else 'for'} {what}"

    def to_dict(self) -> dict[str, Any]:
        """The rival as plain values, for JSON."""
        record = super().to_dict()
        words = {"evidence": self.evidence, "in_words": self.in_words}
        return {"hidden_causes": record.pop("pairs"), **record, **words}


@dataclass(frozen=True)
class Rivals(Answer):
    """The rivals of a learned graph; ``print`` explains them, :meth:`to_frame` has numbers.

    Attributes
    ----------
    without_feedback : Rival or None
        The best graph found without feedback; None if the learned graph has no feedback, or if
        knowledge requires it.
    hidden_causes : Rival or None
        The best graph found without feedback and with a few hidden common causes, if these improve
        the score; None if knowledge requires feedback, and with interventions.
    smaller_loops : Rival or None
        The best graph found whose largest loop is smaller; None if that graph has no feedback.
    without_loop : tuple of Rival
        For each feedback loop the best graph found without it; see ``LearnResult.loop_rivals``.
    notes : tuple of str
        What was not compared, and why.
    """

    without_feedback: Rival | None
    hidden_causes: Rival | None
    smaller_loops: Rival | None
    without_loop: tuple[Rival, ...]
    notes: tuple[str, ...]

    def __iter__(self) -> Iterator[Rival]:
        """All rivals; those without one loop only if there are several loops."""
        of_one = self.without_loop if len(self.without_loop) > 1 else ()
        every = (self.without_feedback, *of_one, self.hidden_causes, self.smaller_loops)
        return (each for each in every if each is not None)

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    def sentences(self) -> list[str]:
        """Conclusions, the edges that change, and what was not compared."""
        found = list(self)
        lines = [each.in_words for each in found]
        if not any(each.loops for each in found) and not self.notes:
            lines.insert(0, "The graph has no feedback, so there is nothing to compare.")
        shown = [each for each in found if each.pairs or each.kind != "hidden causes"]
        lines += [f"Edges, {each.title}: {each.changes_in_words}." for each in shown]
        if any(each.is_cut for each in found):
            lines.append("The search for hidden causes reached its limit on fits.")
        return [*lines, *self.notes, *([BOUNDARIES] if shown else [])]

    def to_frame(self) -> pd.DataFrame:
        """One row for each rival."""
        rows = [
            (
                each.title,
                each.difference,
                each.evidence,
                each.score,
                each.graph.n_edges,
                ", ".join(f"{a} <-> {b}" for a, b in each.pairs),
                ", ".join(f"{a} -> {b}" for a, b in each.added),
                ", ".join(f"{a} -> {b}" for a, b in each.removed),
            )
            for each in self
        ]
        columns = ["rival", "difference", "evidence", "score", "edges", "hidden_causes"]
        return pd.DataFrame(rows, columns=[*columns, "added", "removed"])

    def to_dict(self) -> dict[str, Any]:
        """The rivals as plain values, for JSON."""
        return {"rivals": [each.to_dict() for each in self], "notes": list(self.notes)}


def find_rivals(result: LearnResult, *, max_pairs: int = 3) -> Rivals:
    """Compare the learned graph with others: a loop may be due to a missing variable.

    Three searches, with the data, penalty, knowledge and limits of the result: for the best graph
    without feedback; for the best without feedback and with hidden common causes, if these improve
    the score; and for the best whose largest loop is smaller. A hidden common cause of two
    variables is a correlation of their noise terms; it replaces the edge between them and has the
    same penalty. If the learned graph has no feedback, only hidden causes are searched for.

    Parameters
    ----------
    max_pairs : int
        Maximum number of pairs with a hidden common cause; a hidden cause of three variables is
        three pairs.

    Returns
    -------
    Rivals
        ``print`` explains what the differences of scores mean.

    Examples
    --------
    >>> from cyclearn import LinearGaussianModel, learn
    >>> truth = LinearGaussianModel(
    ...     [[0, 0.8, 0, 0], [0, 0, 0.7, 0], [0, 0.6, 0, 0], [0, 0, 0.8, 0]], [1, 1, 1, 1]
    ... )
    >>> found = learn(truth.sample(5_000, random_state=0)).rivals()
    >>> print(found.without_feedback.in_words)
    Without feedback the best graph found is worse by 5.1: strong evidence for the loop.
    """
    from cyclearn.results.rival_search import RivalSearch

    whole("max_pairs", max_pairs, 0)
    search = RivalSearch(result)
    notes = []
    if search.loops and search.without_feedback is None:
        notes.append("Knowledge requires feedback, so there is no graph without it.")
    if result.experiments is not None:
        notes.append("Hidden causes cannot be compared for tables with interventions.")
    return Rivals(
        search.without_feedback,
        search.hidden_causes(max_pairs),
        search.smaller_loops(),
        search.without_loops(),
        tuple(notes),
    )
