"""A search problem: data, knowledge, limits and score. It does not depend on the methods."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from cyclearn.data.tables import Tables
from cyclearn.foundation.arrays import BoolArray
from cyclearn.foundation.errors import InputError
from cyclearn.graphs import DirectedGraph
from cyclearn.graphs.bitsets import columns_to_support
from cyclearn.models.experiments import GroupedExperiments
from cyclearn.search.runs import Adjacency
from cyclearn.search.score import GraphScore, SearchLimits

# Per sample, more than any set of edges can gain.
_UNSTABLE = 1e3

Admit = Callable[[Adjacency], tuple[Adjacency | None, str | None]]


@dataclass(frozen=True, eq=False)
class SearchProblem:
    """The question which graph explains the tables best; can be sent to another process.

    Variables are in the order of their names (:attr:`Tables.order`), so that the order of the
    columns changes nothing. ``penalty`` is the penalty per edge, per sample.
    """

    tables: Tables
    penalty: float
    limits: SearchLimits
    allowed: BoolArray
    required: BoolArray
    stable: bool
    max_cycle_length: int | None

    @classmethod
    def of(
        cls,
        tables: Tables,
        penalty: float,
        *,
        allowed: BoolArray,
        required: BoolArray,
        limits: SearchLimits,
        stable: bool,
        max_cycle_length: int | None,
    ) -> SearchProblem:
        """The problem defined by checked options.

        ``penalty`` is for one edge on the scale of the log-likelihood; ``allowed`` and
        ``required`` say for each edge, in the order of the tables' columns, whether it may and
        must be there.
        """
        order, fewest = tables.order, tables.n_fewest
        if tables.design is not None:
            experiments = GroupedExperiments.of(tables)
            everywhere = experiments.is_set_everywhere
            fewest = int(experiments.n_rows[~everywhere].min())
            # A variable that is always a target has no parents that could be learned.
            allowed = _without_parents(tables, allowed, required, everywhere, _ALWAYS_SET)
        given = tables.tables[0].moments.is_exogenous
        allowed = _without_parents(tables, allowed, required, given, _EXOGENOUS)
        return cls(
            tables=tables.sorted(),
            penalty=penalty / tables.n_effective,
            # A node and its parents must stay below the number of samples, in every group.
            limits=replace(limits, max_parents=min(limits.max_parents, fewest - 2)),
            allowed=allowed[np.ix_(order, order)],
            required=required[np.ix_(order, order)],
            stable=stable,
            max_cycle_length=max_cycle_length,
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables, sorted."""
        return self.tables.names

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return self.tables.n_variables

    @property
    def has_knowledge(self) -> bool:
        """Whether some edge is required or forbidden."""
        p = self.n_variables
        return bool(self.required.any() or self.allowed.sum() < p * (p - 1))

    def score(self, *, is_walking: bool = False) -> GraphScore:
        """The score with its own memory.

        For a walk from graph to graph, components are penalised if their fit from one start is
        unstable and that of equivalent ones too: inadmissible graphs need not be visited.
        """
        unstable = _UNSTABLE if is_walking and self.stable else 0.0
        if self.experiments is not None:
            stack = self.experiments.covariances
        else:
            stack = np.array([table.moments.correlation for table in self.tables])
        return GraphScore(
            stack, self.penalty, self.limits, self.tables.shares, self.experiments, unstable
        )

    @cached_property
    def experiments(self) -> GroupedExperiments | None:
        """The sets of rows that the score of tables with interventions needs."""
        return None if self.tables.design is None else GroupedExperiments.of(self.tables)

    @property
    def constant(self) -> float:
        """From standardised values per sample to the negative log-likelihood of a sample."""
        tables, experiments = self.tables, self.experiments
        if experiments is not None:
            return experiments.log_constant / tables.n_effective
        # Exogenous variables have no term.
        present = ~tables.tables[0].moments.is_exogenous
        scales = [np.log(table.moments.scale[present]).sum() for table in tables]
        whole = 0.5 * int(present.sum()) * (np.log(2 * np.pi) + 1)
        return float(whole + tables.shares @ scales)

    def respects_knowledge(self, A: BoolArray | Adjacency) -> bool:
        """Whether a graph has all required edges and only allowed ones."""
        present = A.astype(bool)
        return not ((present & ~self.allowed) | (self.required & ~present)).any()

    def admits_component(
        self, score: GraphScore, nodes: tuple[int, ...], columns: tuple[int, ...]
    ) -> bool:
        """Whether limits and stability allow a strongly connected component."""
        if len(nodes) > self.limits.max_component:
            return False
        held = [0] * self.n_variables
        for j, column in zip(nodes, columns, strict=True):
            held[j] = column & ~(1 << j)
        A = columns_to_support(held).view(np.uint8)
        if self.max_cycle_length is not None and _has_longer_cycle(A, self.max_cycle_length):
            return False
        return not self.stable or score.is_stable_component(A, np.array(nodes))

    def admission(self, score: GraphScore) -> Admit:
        """Which graphs may be visited, and which equivalent graph replaces an unstable one."""

        def refusal(A: Adjacency) -> str | None:
            if self.max_cycle_length is not None and _has_longer_cycle(A, self.max_cycle_length):
                return "max_cycle_length"
            if self.stable and not score.is_stable(A):
                return "stable"
            return None

        def admit(A: Adjacency) -> tuple[Adjacency | None, str | None]:
            rule = refusal(A)
            if rule is None:
                return A, None
            # With interventions, reversing a cycle is not an equivalence.
            if rule == "stable" and self.experiments is None:
                turned = score.turned_to_damp(A)
                has_few = turned.sum(axis=0).max() <= self.limits.max_parents
                if has_few and self.respects_knowledge(turned) and refusal(turned) is None:
                    return turned, None
            return None, rule

        return admit


_EXOGENOUS = "is exogenous: nothing causes it; drop the edge"
_ALWAYS_SET = (
    "was intervened on in every table, so nothing can be learned about its parents; drop the edge, "
    "or add a table in which it was not intervened on"
)


def _without_parents(
    tables: Tables, allowed: BoolArray, required: BoolArray, nodes: BoolArray, why: str
) -> BoolArray:
    """The allowed edges without those into some nodes, none of which may be required."""
    for i, j in np.argwhere(required & nodes):
        a, b = tables.names[i], tables.names[j]
        raise InputError(f"the edge {a} -> {b} is required, but {b} {why}")
    return allowed & ~nodes


def _has_longer_cycle(A: Adjacency, max_length: int) -> bool:
    cycles = DirectedGraph(A.astype(bool)).simple_cycles()
    return any(len(cycle) > max_length for cycle in cycles)
