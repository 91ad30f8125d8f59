"""The result of :func:`cyclearn.learn`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from cyclearn.classes import (
    EquivalenceClass,
    InterventionalClass,
    equivalence_class,
    finest_design,
)
from cyclearn.data import DataWarning
from cyclearn.data.grouped_tables import SeveralData
from cyclearn.data.intervened_tables import target_mask
from cyclearn.data.lagged_rows import past_of
from cyclearn.data.tables import Tables
from cyclearn.foundation import Axes, InputError, SavedAnswer, nx, pd, save, short
from cyclearn.foundation.arguments import check_state, whole
from cyclearn.foundation.option_values import checks_names
from cyclearn.foundation.random_state import RandomState
from cyclearn.graphs.directed_graph import DirectedGraph, Node
from cyclearn.graphs.formats import networkx_graph
from cyclearn.models import FittedGroups, FittedModel
from cyclearn.models.experiments import GroupedExperiments
from cyclearn.posterior.posterior_result import Posterior
from cyclearn.results import edge_rows as about_edges
from cyclearn.results.bootstrap_result import BootstrapResult
from cyclearn.results.class_effects import ClassEffects, effects_over
from cyclearn.results.hidden_causes import hidden_cause_table, hidden_causes
from cyclearn.results.member_ranking_result import MemberRanking
from cyclearn.results.result_record import plain_values, read_values
from cyclearn.results.result_text import result_html, result_text
from cyclearn.results.rivals import Rival, find_rivals
from cyclearn.results.target_rows import TargetRow, target_rows
from cyclearn.results.trace import SearchCost, TracedMove
from cyclearn.results.what_if import what_if
from cyclearn.search.exact import Certificate
from cyclearn.search.knowledge import Knowledge
from cyclearn.search.members import MemberList, fitted_members, list_members
from cyclearn.search.options import SearchOptions, checked_knowledge
from cyclearn.search.over_time import lag_weights, within_graph
from cyclearn.search.runs import SearchStatus
from cyclearn.search.unknown_targets import TargetSearch, with_targets


@dataclass(frozen=True, eq=False)
class LearnResult(SavedAnswer):
    """A learned graph with its fitted model, and how it was found.

    Attributes
    ----------
    graph : DirectedGraph
        One member of the learned equivalence class, chosen by structure (see
        :func:`cyclearn.learn`).
    fitted : FittedModel or FittedGroups
        Its maximum likelihood fit, the same as :func:`cyclearn.fit` gives for these data:
        ``model``, or ``models`` for several groups.
    tables : Tables
        The moments of the data, with their effective sample size.
    score : float
        Negative log-likelihood + λ·|E|; smaller is better. Learned targets add λ for each parameter
        that they free.
    penalty : float
        λ, the penalty per edge, over all groups together.
    status : SearchStatus
        Why the search ended; its value is a sentence.
    limits : tuple of str
        Limits that excluded moves or ended the search.
    alternatives : tuple of DirectedGraph
        One graph for each other class whose score ties with the best (within 1e-8 per sample): the
        score cannot distinguish them on these data. The search for them redraws the edges among
        three nodes at a time, so the list may be incomplete.
    has_more_alternatives : bool
        Whether more than 100 classes tie, so that some are not listed.
    moves : tuple of TracedMove
        The moves of the best start; ``trace`` is the same as a table.
    cost : SearchCost
        Moves, evaluations and seconds, over all starts.
    n_starts_agreeing : pair of int
        How many starts reached the best score, and how many there were.
    options : SearchOptions
        The options of the search.
    certificate : Certificate or None
        The certificate of an exact search.
    bootstrap : BootstrapResult or None
        Frequencies over resamples, if requested.
    posterior : Posterior or None
        Probabilities of edges, given the data, if requested.
    warnings : tuple of DataWarning
        The warnings of :func:`cyclearn.check_data`, and how too few rows were handled.
    """

    graph: DirectedGraph
    fitted: FittedModel | FittedGroups
    tables: Tables
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
    posterior: Posterior | None = None
    warnings: tuple[DataWarning, ...] = ()

    @property
    def model(self) -> FittedModel:
        """The fit: weights, standard errors, fit indices.

        With several groups each has its own model, in ``models``.
        """
        models = self.models
        if len(models) > 1:
            names = ", ".join(map(repr, list(models)[:5]))
            raise InputError(
                f"there are {len(models)} groups, each with its own model; use "
                "result.models[name], or group=name (--group), where names are "
                f"{names}{', …' * (len(models) > 5)}"
            )
        (model,) = models.values()
        return model

    @property
    def models(self) -> Mapping[str, FittedModel]:
        """The fit of every group by name; for one table without groups the name is ``""``."""
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

    @cached_property
    def experiments(self) -> GroupedExperiments | None:
        """The tables with interventions, if there were any."""
        return None if self.tables.design is None else GroupedExperiments.of(self.tables)

    @property
    def lags(self) -> int:
        """Number of preceding rows that may affect a row."""
        return self.options.lags

    @property
    def past(self) -> tuple[str, ...]:
        """The lagged variables, which are exogenous; none without ``lags``."""
        return past_of(self.graph.names, self.lags)

    @property
    def exogenous(self) -> tuple[str, ...]:
        """Exogenous variables: those of the options, and the lagged ones."""
        return self.tables.exogenous

    @property
    def knowledge(self) -> Knowledge | None:
        """The background knowledge of the options, with all exogenous variables."""
        return Knowledge.given(self.options.knowledge, self.exogenous)

    @property
    def within_graph(self) -> DirectedGraph:
        """The graph of the edges within a row; without ``lags``, all of it."""
        return within_graph(self.graph, self.past)

    def lag_weights(self, lag: int, *, group: str | None = None) -> pd.DataFrame:
        """Weights of causes ``lag`` rows earlier; 0 is within a row."""
        return lag_weights(self.model_of(group), lag, self.lags)

    @cached_property
    def equivalence_class(self) -> EquivalenceClass | InterventionalClass:
        """All graphs that generate the same distributions as the learned one.

        With perfect interventions, the graphs that generate the same distributions in every table,
        of which there are fewer. With exogenous variables, the same conditional distributions given
        these.
        """
        if self.experiments is None:
            return equivalence_class(self.graph, exogenous=self.exogenous)
        if not self.experiments.tables.is_perfect:
            raise InputError(
                "the class is defined for perfect interventions only, and these are of kind "
                f"{self.options.intervention_kind!r}; the graphs with the same score are "
                "result.graph and result.alternatives, and the class for observational data is "
                "cl.equivalence_class(result.graph)"
            )
        targets = finest_design(self.tables.targets_by_group, self.graph)
        if targets is None:
            raise InputError(
                "the interventions of no group distinguish all graphs that those of the other "
                "groups do, so the class cannot be listed; the graphs with the same score are "
                "result.graph and result.alternatives"
            )
        return equivalence_class(self.graph, interventions=targets, exogenous=self.exogenous)

    @cached_property
    def verdicts(self) -> tuple[about_edges.PairVerdict, ...]:
        """What all graphs that fit equally well agree on, pair by pair.

        These are the members of the class, and of the classes that tie with it, that respect the
        knowledge. With interventions, the graph and its alternatives themselves.
        """
        if self.experiments is not None:
            return about_edges.graph_verdicts((self.graph, *self.alternatives))
        return about_edges.pair_verdicts((self.graph, *self.alternatives), self.knowledge)

    @property
    def n_equally_good(self) -> int | None:
        """Number of graphs that the verdicts cover; None if they could not be counted."""
        counts = self.verdicts[0].counts if self.verdicts else (1,)
        return None if counts is None else sum(counts)

    @cached_property
    def edge_rows(self) -> tuple[about_edges.EdgeRow, ...]:
        """What is known about each edge: weight, verdict, probability; see :meth:`edge_table`."""
        return about_edges.edge_rows(self)

    def edge_table(self) -> pd.DataFrame:
        """One row for each edge of any graph that fits equally well, the graph shown first.

        ``weight``, ``std_error`` and ``standardised`` are those of the graph shown (``in_graph``).
        ``verdict`` says whether the graphs that fit equally well agree: the edge is *in every
        equally good graph*, *in some*, or its *direction differs*; ``n_graphs`` how many have it.
        The probability of the edge, given these data, is a different question: ``probability``
        answers it if there is a posterior, and ``resamples`` if there is a bootstrap.
        """
        return about_edges.edge_table(self.edge_rows)

    @property
    def targets(self) -> dict[str, tuple[str, ...]]:
        """Targets of each table with interventions, learned or given, by its name or number.

        With groups, by the name of the group and the number of the table among all.
        """
        named = enumerate(self.tables if self.tables.design is not None else (), 1)
        return {
            f"{table.group} {number}" if self.groups else table.group or str(number): table.targets
            for number, table in named
        }

    @property
    def target_cost(self) -> float:
        """The amount that learned targets add to the score."""
        if not self.options.is_unknown:
            return 0.0
        search = TargetSearch(self.tables, self.penalty, self.options.stable)
        return search.cost(target_mask(self.tables))

    @cached_property
    def target_rows(self) -> tuple[TargetRow, ...]:
        """What is known about each learned target; see :meth:`target_table`."""
        return target_rows(self)

    def target_table(self) -> pd.DataFrame:
        """One row for each variable and table, if targets were learned.

        ``probability`` is that of being a ``target``, conditional on the graph shown and all other
        targets; it comes from the difference of scores with and without it. ``variance_ratio`` and
        ``shift`` compare its noise with that in tables where it is not a target. ``or_rather``
        lists its parents in its feedback loop: reversing a cycle swaps their noise terms, and only
        stability excludes this.
        """
        return pd.DataFrame(map(vars, self.target_rows))

    @property
    def trace(self) -> pd.DataFrame:
        """The moves of the search as a table: kind, edges changed, change of score, score."""
        return pd.DataFrame(
            [(m.kind, m.describe(), m.change, m.score, m.is_best) for m in self.moves],
            columns=["kind", "move", "change", "score", "is_best"],
        )

    @checks_names
    def effects(
        self,
        source: Node,
        target: Node,
        *,
        group: str | None = None,
        knowledge: Knowledge | None = None,
        max_members: int = 500,
        random_state: RandomState = 0,
    ) -> ClassEffects:
        """Effects of one variable on another under all graphs that fit equally well.

        The knowledge of the search applies here too, unless ``knowledge`` replaces it. With several
        groups, ``group`` selects the weights; ``max_members`` and ``random_state`` are those of
        :func:`cyclearn.class_effects`.
        """
        names, index = self.graph.names, self.graph.index
        source, target = names[index(source)], names[index(target)]
        listed = self.listed(group, knowledge, max_members=max_members, random_state=random_state)
        return effects_over(listed, source, target)

    @checks_names
    def listed(
        self,
        group: str | None = None,
        knowledge: Knowledge | None = None,
        *,
        max_members: int = 500,
        random_state: RandomState = 0,
    ) -> MemberList:
        """The graphs that fit equally well, each with its stable fits (in one of several groups).

        With interventions, the graph and its alternatives themselves.
        """
        graphs, moments = (self.graph, *self.alternatives), self.model_of(group).moments
        whole("max_members", max_members, 1)
        check_state(random_state)
        known = checked_knowledge("knowledge", knowledge) or self.knowledge
        if self.experiments is not None:
            own = self.tables.by_group[group or ""].aligned_to(self.graph.names)
            return fitted_members(graphs, own, known)
        return list_members(
            graphs, moments, known, max_members=max_members, random_state=random_state
        )

    def effects_by_group(self, source: Node, target: Node, **options: Any) -> pd.DataFrame:
        """The smallest and the largest total effect in every group, over all graphs that fit."""
        found = {
            name: self.effects(source, target, group=name, **options).interval
            for name in self.models
        }
        table = pd.DataFrame.from_dict(found, orient="index", columns=["smallest", "largest"])
        return table.rename_axis("group")

    def model_of(self, group: str | None) -> FittedModel:
        """The fit of a group; without a name, the fit of the only table."""
        if group is None:
            return self.model
        if not isinstance(group, str) or group not in self.models:
            names = ", ".join(map(short, self.groups[:10]))
            which = f"the groups are {names}" if names else "the result has no groups; omit group"
            raise InputError(f"group is {short(group)}; {which}")
        return self.models[group]

    def rank_members(
        self,
        data: SeveralData,
        *,
        level: float = 0.01,
        stable_only: bool = False,
        max_fillings: int = 500,
    ) -> MemberRanking:
        """The members of the class, ranked by the shape of the noise.

        The members fit the covariance equally well. If the noise is not Gaussian, the residuals of
        the true member are independent, and those of the others are mixtures, which are closer to
        Gaussian. Every member, with every parameter set, is therefore scored by the likelihood of
        its residuals under a smooth density fitted to each. Classes that tie with the learned one
        are included; members that contradict the knowledge are not. Groups have their own weights
        and noise shapes, and all of them count; with interventions, a node's noise comes from the
        rows without an intervention on it.

        Parameters
        ----------
        data : DataFrame, array of shape (n, p) or path, or several
            The rows that the result was learned from, without missing values; the result itself
            stores only means and covariances.
        level : float
            Maximum probability of an answer if the noise is Gaussian: the level of a test
            (D'Agostino and Pearson's statistics, summed) of the residuals of the member shown. It
            is exact for any number of rows, because the sum is compared with that of Gaussian rows
            with the same means and covariances.
        stable_only : bool
            Omit parameter sets that are not stable. A reversed cycle with the inverse gain ties
            exactly, so only stability can exclude it.
        max_fillings : int
            Maximum number of graphs of one block of the class to examine; the result says if there
            are more.

        Examples
        --------
        >>> import numpy as np
        >>> from cyclearn import learn
        >>> rng = np.random.default_rng(0)
        >>> cause, noise = rng.laplace(size=(2, 2000))
        >>> data = np.column_stack([cause, 0.6 * cause + noise])
        >>> ranking = learn(data).rank_members(data)
        >>> ranking.best.graph.edges, ranking.is_clear
        ((('X1', 'X2'),), True)
        """
        from cyclearn.results.member_ranking import rank_members

        if self.lags:
            raise InputError("members cannot be ranked for a result with lags; learn without lags")
        if ordinal := self.tables.ordered:
            raise InputError(
                "members are ranked by the shape of the noise, but the noise of ordinal columns "
                f"is assumed Gaussian; learn with continuous={list(ordinal)!r}"
            )
        if self.options.margins != "raw":
            raise InputError(
                f"the result was learned with margins={self.options.margins!r}, which changes the "
                "shape of every column; to rank by shape, learn with margins='raw'"
            )
        graphs = {self.graph: None} | dict.fromkeys(self.alternatives)
        known = self.tables.targets_by_group
        if self.tables.design and self.tables.is_perfect and finest_design(known, self.graph):
            graphs |= dict.fromkeys(self.equivalence_class.members(max_fillings).graphs)
        tables = self.options.reading.replaced(missing="error", covariance="sample").tables(data)
        if tables.groups != self.tables.groups:
            raise InputError(
                f"the groups of these rows are {', '.join(tables.groups) or 'none'}, and those of "
                f"the result are {', '.join(self.groups) or 'none'}; pass the rows that the "
                "result was learned from"
            )
        if self.options.is_unknown:
            tables = with_targets(tables.aligned_to(self.graph.names), target_mask(self.tables))
        return rank_members(
            tuple(graphs),
            tables,
            [each.model for each in self.models.values()],
            knowledge=self.knowledge,
            level=level,
            stable_only=stable_only,
            max_fillings=max_fillings,
        )

    do = what_if
    rivals = find_rivals

    @cached_property
    def loop_rivals(self) -> tuple[Rival, ...]:
        """For each feedback loop the best graph found without it, in the order of the components.

        For one loop among several, this is the better of two graphs: the best without any feedback,
        and the best that gives new causes to the variables of the loop (among these and variables
        that they do not affect) and keeps everything else. A loop that knowledge requires has no
        rival and is omitted.
        """
        from cyclearn.results.rival_search import RivalSearch

        return RivalSearch(self).without_loops()

    def hidden_causes(self, *, max_members: int = 20) -> pd.DataFrame:
        """Whether hidden common causes explain the data as well as edges, pair by pair.

        For each pair that is adjacent in the graph, or in another graph that fits equally well (at
        most ``max_members`` of them), a hidden common cause replaces the edges of the pair. It has
        the penalty of one edge; edges into the two that become superfluous are removed.

        Returns
        -------
        pandas.DataFrame
            The pair ``a``, ``b``; its ``edges``; the ``verdict``, *edge fits better*, *hidden
            cause fits better* or *cannot be told apart*, which is the usual case and evidence for
            neither; the ``difference`` of scores, below zero if the hidden cause is better,
            undecided below log 10 either way; and the edges that become ``superfluous``.
        """
        return hidden_cause_table(hidden_causes(self, max_members=max_members))

    def report(self, path: str | Path, *, data: SeveralData | None = None, **options: Any) -> Path:
        """Write an HTML page about the result that needs no network.

        Parameters
        ----------
        path : str or Path
        data : DataFrame, array of shape (n, p) or path, optional
            The rows, for warnings about them; a result stores only means and covariances.
        **options
            Options of :func:`cyclearn.report.report_html`.
        """
        from cyclearn.report.page import write_report

        return write_report(self, path, data=data, **options)

    def to_networkx(self) -> nx.DiGraph:
        """The graph as a networkx ``DiGraph``: weights, verdicts and probabilities on its edges."""
        return networkx_graph(self.graph, about_edges.edge_attributes(self.edge_rows))

    def export(self, path: str | Path, **options: Any) -> Path:
        """Write the result in the format given by the suffix of the file.

        See :func:`cyclearn.report.exports.export`: JSON, tables, graphs for other programs,
        models for lavaan and dagitty, LaTeX, pictures, the report.
        """
        from cyclearn.report.exports import export

        return export(self, path, **options)

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw the learned graph with its weights and what is known about each edge.

        ``labels``, ``standardised`` and ``group`` are those of
        :func:`cyclearn.drawing.plots.plot_result`.
        """
        from cyclearn.drawing.plots import plot_result

        return plot_result(self, ax, **options)

    to_dict = plain_values

    def to_json(self, *, timings: bool = False) -> str:
        """The result as JSON."""
        return json.dumps(self.to_dict(timings=timings), ensure_ascii=False, indent=1)

    def save(self, path: str | Path) -> Path:
        """Write the result, with details of the run, to a ``.json`` file for :func:`cyclearn.load`.

        The file contains means and covariances, not the rows.
        """
        return save(self.to_dict(timings=True), path)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> LearnResult:
        """The result from the values of :meth:`to_dict`."""
        return cls(**read_values(record))

    def __eq__(self, other: object) -> bool:
        """Equal if the JSON forms are equal, which include everything except times."""
        if not isinstance(other, LearnResult):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    to_text = result_text

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"LearnResult({self.graph!r}, score={self.score:.3f}, status={self.status.name})"

    _repr_html_ = result_html
