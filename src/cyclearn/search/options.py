"""The options of a search: one value that is checked once, passed on and recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import expm1, sqrt
from typing import Any, Literal

from cyclearn.data.data_warnings import DataWarning, LowPower, TooFewRows
from cyclearn.data.reading import Reading
from cyclearn.data.tables import Tables
from cyclearn.foundation import InputError, option, short
from cyclearn.foundation.arguments import at_least, flag, one_of, seconds, seed, whole
from cyclearn.foundation.random_state import RandomState
from cyclearn.graphs import DirectedGraph
from cyclearn.search.few_rows import FewRows, few_rows
from cyclearn.search.knowledge import Knowledge
from cyclearn.search.methods import SearchMethod, method_named
from cyclearn.search.penalty import DEFAULT_PENALTY, Penalty, edge_penalty
from cyclearn.search.problem import SearchProblem
from cyclearn.search.score import SearchLimits
from cyclearn.search.search_effort import Effort, MoveEffort

Method = Literal["auto", "exact", "tabu", "hill-climbing"]
Start = DirectedGraph | Sequence[DirectedGraph] | None
# Fewer rows than this are few: per group and variable.
_ROWS_PER_VARIABLE = 10
# A sample is too small if it cannot detect edges with at least this partial correlation.
_WEAKEST_EDGE = 0.3


def _penalty(_: str, value: Any) -> Any:
    # Reject wrong names now, not when a problem is built.
    number = edge_penalty(value, 2, 1)
    return value if isinstance(value, str) else number


def checked_knowledge(name: str, value: Any) -> Knowledge | None:
    """A Knowledge, also given as a mapping of its parts, or None."""
    if isinstance(value, Mapping):
        return Knowledge.from_dict(value)
    if not isinstance(value, Knowledge | None):
        raise InputError(f"{name} is {short(value)}; give a Knowledge, or a mapping of its parts")
    return value


def _starts(name: str, start: Start) -> tuple[DirectedGraph, ...] | None:
    if start is None:
        return None
    if isinstance(start, DirectedGraph):
        return (start,)
    if not isinstance(start, Sequence) or not all(isinstance(g, DirectedGraph) for g in start):
        raise InputError(f"{name} is {short(start)}; give a DirectedGraph or a list of them")
    if not start:
        raise InputError(f"{name} is an empty list; give at least one graph")
    return tuple(start)


@dataclass(frozen=True, kw_only=True)
class ProblemOptions(Reading):
    """What defines a problem: how tables are read, the penalty, and which graphs are admissible.

    A search and a posterior share these options; subclasses add their own.
    """

    penalty: Penalty = option(
        DEFAULT_PENALTY, "Penalty per edge: 'ebic 0.75', bic, '2 bic', or a number.", _penalty
    )
    knowledge: Knowledge | None = option(
        None, "JSON file: required, forbidden, tiers, exogenous.", checked_knowledge
    )
    stable: bool = option(True, "Allow only graphs with a stable fit.", flag)
    max_component: int | None = option(
        None, "Maximum number of variables in a feedback loop.", partial(at_least, least=1)
    )
    max_cycle_length: int | None = option(
        None, "Maximum number of variables in a cycle.", partial(at_least, least=1)
    )
    max_parents: int | None = option(None, "Maximum number of parents.", partial(at_least, least=0))
    max_edges: int | None = option(None, "Maximum number of edges.", partial(at_least, least=0))
    time_limit: float | None = option(None, "Maximum time in seconds.", seconds)
    random_state: RandomState = option(None, "Random seed.", lambda _, value: seed(value))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.knowledge is not None:
            # Variables that are exogenous by knowledge are read as exogenous.
            both = dict.fromkeys((*self.exogenous, *self.knowledge.exogenous))
            object.__setattr__(self, "exogenous", tuple(both))

    @property
    def seed(self) -> int:
        """The seed; by default a fixed one, so that results are reproducible."""
        return 0 if self.random_state is None else int(self.random_state)  # type: ignore[arg-type]

    @property
    def is_penalty_named(self) -> bool:
        """Whether the penalty is given by a rule; a number is used as it is."""
        return isinstance(self.penalty, str)

    def asked_penalty(self, tables: Tables, rows: float, n_groups: int) -> float:
        """The requested penalty per edge in one of ``n_groups`` groups of this size."""
        return edge_penalty(self.penalty, rows, tables.n_choices, n_groups)

    def evidence_left(self, tables: Tables) -> float:
        """The factor by which shrinkage of correlations reduces named penalties.

        Shrinking correlations by a share s leaves about (1 − s)² of every likelihood ratio,
        including those due to chance.
        """
        return tables.evidence_left

    def edge_penalty(self, tables: Tables) -> float:
        """The penalty per edge with these data, over all groups together.

        If a group has too few rows, a named penalty is at least the gain that chance can reach
        there. Tables that share their weights have one penalty, for all rows.
        """
        total = 0.0
        groups = _effective_sizes(tables)
        for rows, few in zip(groups, few_rows_of(tables), strict=True):
            asked = self.asked_penalty(tables, rows, len(groups))
            total += max(asked, few.price) if few is not None and self.is_penalty_named else asked
        return total * self.evidence_left(tables) if self.is_penalty_named else total

    def warnings(self, tables: Tables) -> tuple[DataWarning, ...]:
        """The warnings about the tables, and those about too few rows with these options."""
        found = [*tables.warnings, *self._low_power(tables)]
        groups = _effective_sizes(tables)
        names = tables.by_group
        limits = self._limits(tables)
        own = {name: None if getattr(self, name) is not None else limits[name] for name in limits}
        left = self.evidence_left(tables)
        for name, rows, few in zip(names, groups, few_rows_of(tables), strict=True):
            if few is not None:
                asked = self.asked_penalty(tables, rows, len(groups))
                warning = TooFewRows(
                    group=name,
                    n_effective=rows,
                    penalty=asked * left if self.is_penalty_named else asked,
                    noise=few.price * left,
                    is_raised=self.is_penalty_named,
                    max_parents=own["max_parents"],
                    max_component=own["max_component"],
                )
                found.append(warning)
        return tuple(found)

    def _low_power(self, tables: Tables) -> list[DataWarning]:
        """Whether rows are few, and the weakest edge that exceeds its penalty."""
        n, p = tables.n_effective, tables.n_variables
        # An edge gains n/2 · log 1/(1 − r²), less if correlations were shrunk.
        left = n * tables.evidence_left
        weakest = sqrt(-expm1(-2 * self.edge_penalty(tables) / left)) if left else 1.0
        n_weights = p * len(_effective_sizes(tables))
        if n >= _ROWS_PER_VARIABLE * n_weights and weakest <= _WEAKEST_EDGE:
            return []
        return [LowPower(n_rows=tables.n_samples, n_effective=n, n_variables=p, weakest=weakest)]

    @property
    def is_graph_given(self) -> bool:
        """Whether edges are required, and therefore not determined by the data."""
        return self.knowledge is not None and bool(self.knowledge.required)

    def _limits(self, tables: Tables) -> dict[str, int | None]:
        """Maximum number of parents, and of variables in a loop: as given, or for few rows.

        With as many parents as rows no penalty is sufficient, so the limits apply with any penalty.
        """
        limits = {"max_parents": self.max_parents, "max_component": self.max_component}
        few = [each for each in few_rows_of(tables) if each is not None]
        if few and not self.is_graph_given:
            fewest = min(few, key=lambda each: each.max_parents)
            limits = {
                name: getattr(fewest, name) if given is None else given
                for name, given in limits.items()
            }
        return limits

    def problem(self, tables: Tables, *, virtual_edges: bool = True) -> SearchProblem:
        """The search problem for these data and options."""
        allowed, required = (self.knowledge or Knowledge()).masks(tables.names)
        p, given = tables.n_variables, self._limits(tables)
        limits = SearchLimits(
            max_component=given["max_component"] or p,
            max_parents=p if given["max_parents"] is None else given["max_parents"],
            max_edges=p * p if self.max_edges is None else self.max_edges,
            max_virtual_cycle=min(p, MoveEffort.virtual_cycle) if virtual_edges and p > 2 else 0,
        )
        return SearchProblem.of(
            tables.without_rows(),
            self.edge_penalty(tables),
            allowed=allowed,
            required=required,
            limits=limits,
            stable=self.stable,
            max_cycle_length=self.max_cycle_length,
        )


@dataclass(frozen=True, kw_only=True)
class SearchOptions(ProblemOptions):
    """How data are read and searched; :func:`cyclearn.learn` takes these as keywords.

    Options are checked and stored as plain values: a generator as a seed drawn from it, a single
    start graph as a tuple of one. How tables are read is described in :class:`cyclearn.Reading`.

    Parameters
    ----------
    method : {"auto", "exact", "tabu", "hill-climbing"}
        ``"auto"`` searches over orders for the best acyclic graph, climbs from it with cyclic
        moves, and anneals region by region until no change improves the score. ``"exact"`` finds
        the globally best graph of few variables and certifies it (``result.certificate``).
        ``"tabu"`` and ``"hill-climbing"`` are the local searches of the paper, whose moves add,
        delete or reverse an edge or are those of the virtual-edge operator.
    penalty : "ebic 0.75", "bic", a multiple such as "2 bic", or a number
        The penalty per edge (:func:`cyclearn.search.penalty.edge_penalty` has all names). The
        default, ``"ebic 0.75"``, is ½ log n + 1.5 log p: that of BIC, plus a term that grows with
        the number of possible edges. With several groups, ½ log n is added for each, with its own
        number of rows.
    knowledge : Knowledge, optional
        Required and forbidden edges, tiers and exogenous variables; never violated.
    start : DirectedGraph or several, optional
        The start graph; by default the graph without edges.
    n_starts : int, optional
        Independent starts: one for the local searches, whose further starts are random graphs;
        with ``"auto"``, by default, until two of at most four reach the same best score; five of at
        most twelve with up to 7 variables, and two starts with more than 200.
        ``result.n_starts_agreeing`` says how many agreed.
    effort : {"default", "high"}
        ``"high"`` makes ``"auto"`` continue until twice as many starts agree, with at most four
        times as many starts; these begin with the default ones, so the score is never worse.
    virtual_edges : bool
        Whether to use the virtual-edge operator.
    first_improvement : bool
        Take the first improving move instead of the best one.
    tabu_length, patience : int
        A tabu search does not revisit the last ``tabu_length`` graphs, and ends after ``patience``
        moves without a new best graph. The paper used lengths 5 and 10, and patience 5; 10 and 10
        get stuck less often.
    stable : bool
        Visit only graphs for which some maximum likelihood parameter set is stable, in every group;
        if a move leads to an unstable graph, equivalent graphs with a cycle reversed are tried
        instead.
    max_component, max_cycle_length, max_parents, max_edges : int, optional
        Limits on the graph: nodes in a strongly connected component, nodes in a cycle, parents of
        a node, edges. ``"tabu"`` and ``"hill-climbing"`` enter components of at most 15 nodes, or
        as large as the start's, unless ``max_component`` is larger; ``result.limits`` says if this
        limit was reached.
    max_evaluations : int, optional
        Limit on the number of component fits for each start; keeps results reproducible. It is
        checked between moves, so the last move may exceed it.
    time_limit : float, optional
        Limit in seconds, without the time for compilation; results may then differ between runs,
        and report it. The time to read the table counts, but at least half of the limit is left
        for the search, and ``"auto"`` always finds a first graph. Resamples and a posterior each
        have the same limit again.
    random_state : int, Generator or None
        For annealing and for random starts; None uses a fixed seed, so results are reproducible.
        From a generator, a seed is drawn and recorded with the result.

    Examples
    --------
    >>> SearchOptions(penalty="2 bic", max_parents=3).given()
    {'penalty': '2 bic', 'max_parents': 3}
    >>> print(SearchOptions(method="exact", lags=1).call("learn", "data"))
    cl.learn(data, lags=1, method='exact')
    """

    method: Method = option("auto", "Search; exact for few variables.", lambda _, value: value)
    start: Start = option(None, "Graph file to start from.", _starts)
    n_starts: int | None = option(
        None, "Independent starts; auto: until enough agree.", partial(at_least, least=1)
    )
    effort: Effort = option(
        "default",
        "How long auto searches: default or high.",
        partial(one_of, words=("default", "high")),
    )
    virtual_edges: bool = option(True, "Use the virtual-edge operator.", flag)
    first_improvement: bool = option(False, "Take the first improving move, not the best.", flag)
    tabu_length: int = option(10, "Recent graphs not to revisit (tabu).", partial(whole, least=0))
    patience: int = option(10, "Moves without a new best (tabu).", partial(whole, least=1))
    max_evaluations: int | None = option(
        None, "Maximum number of fits; keeps runs reproducible.", partial(at_least, least=1)
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.start is not None and self.n_starts is not None:
            raise InputError("start already gives the starts, one per graph; omit n_starts")
        has_starts = self.start is not None or self.n_starts is not None
        if self.effort == "high" and (self.method != "auto" or has_starts):
            raise InputError(
                "effort='high' sets the number of starts of method='auto'; omit it, or omit "
                "method, start and n_starts"
            )
        self.solver()

    def solver(self) -> SearchMethod:
        """The method, with its own options."""
        return method_named(self.method, {name: getattr(self, name) for name in self.names()})

    @property
    def starts(self) -> tuple[DirectedGraph, ...] | None:
        """The start graphs, if any were given."""
        return self.start  # type: ignore[return-value]

    @property
    def is_graph_given(self) -> bool:
        """Whether the user chose edges, as required or in a start graph."""
        return self.start is not None or super().is_graph_given

    def problem(self, tables: Tables, *, virtual_edges: bool | None = None) -> SearchProblem:
        """The search problem for these data and options."""
        own = self.virtual_edges if virtual_edges is None else virtual_edges
        return super().problem(tables, virtual_edges=own)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> SearchOptions:
        """The options from the values of :meth:`to_dict`."""
        options = dict(record)
        if options.get("knowledge") is not None:
            options["knowledge"] = Knowledge.from_dict(options["knowledge"])
        if options.get("start") is not None:
            if not isinstance(options["start"], list):
                raise InputError(f"start is {short(options['start'])}; give a list of graphs")
            options["start"] = [DirectedGraph.from_dict(each) for each in options["start"]]
        return cls.of(options)


def few_rows_of(tables: Tables) -> tuple[FewRows | None, ...]:
    """The limits for groups with too few rows; one entry for tables that share weights."""
    return tuple(few_rows(rows, tables.n_variables) for rows in _effective_sizes(tables))


def _effective_sizes(tables: Tables) -> tuple[float, ...]:
    """The effective sample size of every group; of tables that share their weights, together."""
    return tuple(own.n_effective for own in tables.by_group.values())
