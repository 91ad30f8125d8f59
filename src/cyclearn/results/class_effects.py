"""The effect of one variable on another in every graph that the data cannot distinguish.

The members of a class fit equally well but imply different effects. The effects under the maximum
likelihood parameters of each member are the set that the data cannot narrow down: IDA (Maathuis,
Kalisch and Bühlmann 2009), with feedback.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cyclearn.classes import EquivalenceClass
from cyclearn.data.moments import Data, as_moments
from cyclearn.foundation import Answer, Axes, InputError, edges_in_words, is_stable_radius, pd
from cyclearn.foundation.arguments import check_state, whole
from cyclearn.foundation.arrays import FloatArray
from cyclearn.foundation.option_values import checks_names
from cyclearn.foundation.random_state import RandomState
from cyclearn.graphs.directed_graph import DirectedGraph, Node
from cyclearn.models.linear_gaussian import LinearGaussianModel, spectral_radius
from cyclearn.search.knowledge import Knowledge
from cyclearn.search.members import MemberList, list_members

# Effects that differ by less than this share of the largest are equal.
_SAME = 1e-6


@dataclass(frozen=True, eq=False)
class MemberEffect:
    """The effect under one stable parameter set of one member of the class.

    Attributes
    ----------
    graph : DirectedGraph
    model : LinearGaussianModel
        Its maximum likelihood parameters.
    weight : float
        Share of this member among those that agree with the knowledge; divided by the number of its
        stable parameter sets.
    total_effect : float
        Change of the target per unit increase of the source's noise, feedback on the source
        included: the entry of (I − B)⁻¹.
    do_effect : float
        Change of the target per unit increase of the value at which the source is held; NaN if the
        system has no equilibrium when the source is held.
    """

    graph: DirectedGraph
    model: LinearGaussianModel
    weight: float
    total_effect: float
    do_effect: float


@dataclass(frozen=True, eq=False)
class ClassEffects(Answer):
    """The effects of one variable on another over a class; made by :func:`class_effects`.

    Attributes
    ----------
    source, target : str
    effects : tuple of MemberEffect
    listed : MemberList
        The members that were examined (all, or a random sample) and those omitted.
    """

    source: str
    target: str
    effects: tuple[MemberEffect, ...]
    listed: MemberList

    @property
    def n_stable(self) -> int:
        """Number of members with an effect in the result, counted as often as drawn."""
        return sum(member.times for member in self.listed.members if member.is_stable)

    @property
    def table(self) -> pd.DataFrame:
        """One row for each stable parameter set, with its effects and the edges in words."""
        return pd.DataFrame(
            [
                (e.weight, e.total_effect, e.do_effect, edges_in_words(e.graph.edges))
                for e in self.effects
            ],
            columns=["weight", "total_effect", "do_effect", "edges"],
        )

    @property
    def distinct(self) -> pd.DataFrame:
        """The distinct effects in ascending order, each with its share of the weight."""
        table = self.table.drop(columns="edges").rename(columns={"weight": "share"})
        effects = table[["total_effect", "do_effect"]]
        step = _SAME * max(float(effects.abs().max().max()), 1e-300) if len(table) else 1.0
        # Adding zero turns minus zero into zero.
        rounded = [(effects[column] / step).round() + 0.0 for column in effects]
        groups = table.groupby(rounded, dropna=False)
        found = groups.agg({"total_effect": "first", "do_effect": "first", "share": "sum"})
        found["share"] /= found["share"].sum()
        return found.reset_index(drop=True)

    @property
    def interval(self) -> tuple[float, float]:
        """The smallest and the largest total effect; NaN if there is none."""
        values = [e.total_effect for e in self.effects]
        return (min(values), max(values)) if values else (np.nan, np.nan)

    def do(self, value: float) -> pd.DataFrame:
        """The predicted target when the source is held at ``value``.

        One row for each stable parameter set: its ``weight``, the ``mean`` and the standard
        deviation ``sd`` of the target; NaN if the system has no equilibrium.
        """
        rows = []
        for effect in self.effects:
            mean = sd = np.nan
            if not np.isnan(effect.do_effect):
                after = effect.model.do({self.source: value})
                i, j = after.names.index(self.source), after.names.index(self.target)
                T = np.linalg.inv(np.eye(len(after.names)) - _held(effect.model, i))
                S = self.listed.shared_variation.copy()
                S[i] = S[:, i] = 0
                mean, sd = after.mean[j], np.sqrt(after.covariance[j, j] + T[:, j] @ S @ T[:, j])
            rows.append((effect.weight, mean, sd))
        return pd.DataFrame(rows, columns=["weight", "mean", "sd"])

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the effects; see :func:`cyclearn.drawing.effect_plot.plot_effects`."""
        from cyclearn.drawing.effect_plot import plot_effects

        return plot_effects(self, ax)

    def to_dict(self) -> dict[str, Any]:
        """The distinct effects and the number of graphs with each, as plain values for JSON."""
        return {
            "source": self.source,
            "target": self.target,
            "effects": self.distinct.to_dict(orient="records"),
            "n_graphs": self.listed.size,
            "n_looked_at": self.listed.n_looked_at,
            "n_stable": self.n_stable,
            "selection": self.listed.selection,
        }

    def __str__(self) -> str:
        listed = self.listed
        of = "an unknown number" if listed.size is None else listed.size
        looked = {
            "all": f"all {listed.n_looked_at} graphs that fit equally well",
            "sampled": f"{listed.n_looked_at} graphs drawn at random from {of}",
            "first": f"the first {listed.n_looked_at} graphs listed of {of}, which are not a "
            "random sample",
        }[listed.selection]
        what = f"Effect of {self.source} on {self.target}, given the learned class"
        lines = [f"{what}, over {looked}."]
        for count, what in (
            (listed.n_faulty("unstable"), "without a stable best fit"),
            (listed.n_faulty("degenerate"), "whose likelihood has no maximum"),
            (listed.n_excluded, "that contradict the knowledge"),
        ):
            if count:
                lines.append(f"Omitted: {count} {what}.")
        if not self.effects:
            return "\n".join([*lines, "No graph remains, so the effect is unknown."])
        lines.append(self.distinct.round(4).to_string(index=False))
        lines.append(
            f"Change of {self.target} if {self.source} is shifted by one unit and responds to "
            "feedback\n(total_effect), or is held one unit higher (do_effect); share of the graphs."
        )
        return "\n".join(lines)


@checks_names
def class_effects(
    graph: DirectedGraph | EquivalenceClass,
    data: Data,
    source: Node,
    target: Node,
    *,
    knowledge: Knowledge | None = None,
    max_members: int = 500,
    ties: Sequence[DirectedGraph] = (),
    random_state: RandomState = 0,
) -> ClassEffects:
    """Effects of one variable on another over all stable members of a class.

    Every member has its maximum likelihood parameters, including those of
    ``FittedModel.alternatives`` if there are several sets. Only stable sets count, because total
    effects do not exist in an unstable system.

    Parameters
    ----------
    graph : DirectedGraph or EquivalenceClass
        Any member, or the class.
    data : DataFrame, array of shape (n, p), path or Moments
    source, target : str or int
    knowledge : Knowledge, optional
        Members that contradict it are omitted. If all do and the given graph does not, only that
        graph is used: it has a required edge that rotations show to be redundant.
    ties : sequence of DirectedGraph
        Graphs of other classes that fit equally well; their members count too.
    max_members : int
        A larger class is sampled: this many members are drawn, each with equal probability, and
        the result reports it.
    random_state : int, Generator or None
        For the sample.

    Returns
    -------
    ClassEffects

    Examples
    --------
    Three chains generate the same distributions; in two of them a has no effect on c:

    >>> from cyclearn.data import Moments
    >>> model = LinearGaussianModel([[0, 0.5, 0], [0, 0, 0.5], [0, 0, 0]], [1, 1, 1], list("abc"))
    >>> data = Moments(model.covariance, 100, names=list("abc"))
    >>> class_effects(model.graph, data, "a", "c").distinct.round(3)
       total_effect  do_effect  share
    0          0.00       0.00  0.667
    1          0.25       0.25  0.333
    """
    whole("max_members", max_members, 1)
    check_state(random_state)
    member = graph.representative if isinstance(graph, EquivalenceClass) else graph
    names = member.names
    exogenous = () if knowledge is None else knowledge.exogenous
    moments = as_moments(data).aligned_to(names).given(exogenous)
    i, j = member.index(source), member.index(target)
    listed = list_members(
        (graph, *ties), moments, knowledge, max_members=max_members, random_state=random_state
    )
    return effects_over(listed, names[i], names[j])


def effects_over(listed: MemberList, source: str, target: str) -> ClassEffects:
    """Effects of one variable on another over members that have been fitted."""
    if source == target:
        raise InputError(f"source and target are both {source!r}; give two variables")
    n_looked_at = listed.n_looked_at
    effects = tuple(
        MemberEffect(
            member.graph,
            model,
            member.times / n_looked_at / len(member.models),
            *_effects(model, model.names.index(source), model.names.index(target)),
        )
        for member in listed.members
        for model in member.models
    )
    return ClassEffects(source, target, effects, listed)


def _effects(model: LinearGaussianModel, i: int, j: int) -> tuple[float, float]:
    total = float(model.total_effects().iat[i, j])
    held = _held(model, i)
    if not is_stable_radius(spectral_radius(model.graph, held)):
        return total, np.nan
    return total, float(np.linalg.inv(np.eye(len(held)) - held)[i, j])


def _held(model: LinearGaussianModel, i: int) -> FloatArray:
    """The weights when a variable is held at a value."""
    held = model.B.copy()
    held[:, i] = 0
    return held
