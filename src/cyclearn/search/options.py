"""The options of a search: one value, checked once, that travels, is recorded and read again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from cyclearn.data.checks import DataWarning, check_treated
from cyclearn.data.grouped_tables import SeveralData, named_tables, naming_group
from cyclearn.data.intervened_tables import checked_interventions, tables_with_interventions
from cyclearn.data.lagged_rows import checked_lags
from cyclearn.data.margins import Margins, checked_margins
from cyclearn.data.missing_values import Missing, Treated, checked_treatment
from cyclearn.data.shrinkage import Covariance, checked_covariance_estimate
from cyclearn.data.tables import (
    Design,
    EffectiveRows,
    Intercepts,
    Kind,
    Tables,
    as_tables,
    checked_effective_rows,
    treated_data,
)
from cyclearn.foundation.arguments import at_least, flag, seconds, seed
from cyclearn.foundation.errors import InputError
from cyclearn.foundation.json_input import short
from cyclearn.foundation.random_state import RandomState
from cyclearn.graphs import DirectedGraph
from cyclearn.search.few_rows import FewRows, few_rows
from cyclearn.search.knowledge import Knowledge
from cyclearn.search.methods import SearchMethod, method_named
from cyclearn.search.penalty import DEFAULT_PENALTY, Penalty, edge_penalty
from cyclearn.search.problem import SearchProblem
from cyclearn.search.score import SearchLimits

Method = Literal["auto", "exact", "tabu", "hill-climbing"]
Start = DirectedGraph | Sequence[DirectedGraph] | None


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """How to search; the parameters of :func:`cyclearn.learn` have the same names and defaults.

    What is given is checked and kept as a plain value: a generator as the seed drawn from it, one
    starting graph as a tuple of one.

    Examples
    --------
    >>> SearchOptions(penalty="2 bic", max_parents=3).given()
    {'penalty': '2 bic', 'max_parents': 3}
    """

    method: Method = "auto"
    penalty: Penalty = DEFAULT_PENALTY
    groups: str | None = None
    interventions: Any = None
    kind: Kind = "perfect"
    intercepts: Intercepts = "shared"
    n_effective: EffectiveRows = None
    missing: Missing = "error"
    margins: Margins = "raw"
    lags: int = 0
    covariance: Covariance = "sample"
    knowledge: Knowledge | None = None
    start: Start = None
    n_starts: int | None = None
    virtual_edges: bool = True
    first_improvement: bool = False
    tabu_length: int = 10
    patience: int = 10
    stable: bool = True
    max_component: int | None = None
    max_cycle_length: int | None = None
    max_parents: int | None = None
    max_edges: int | None = None
    max_evaluations: int | None = None
    time_limit: float | None = None
    random_state: RandomState = None

    def __post_init__(self) -> None:
        least = {"n_starts": 1, "tabu_length": 0, "patience": 1, "max_evaluations": 1}
        least |= {"max_component": 1, "max_cycle_length": 1, "max_parents": 0, "max_edges": 0}
        checked: dict[str, Any] = {
            name: at_least(name, getattr(self, name), number) for name, number in least.items()
        }
        for name in ("virtual_edges", "first_improvement", "stable"):
            checked[name] = flag(name, getattr(self, name))
        for name in ("tabu_length", "patience"):
            if checked[name] is None:
                raise InputError(f"{name} is None; give a whole number")
        if self.n_effective is not None and not _is_auto(self.n_effective):
            checked["n_effective"] = checked_effective_rows(self.n_effective)
        if not isinstance(self.groups, str | None):
            raise InputError(f"groups is {short(self.groups)}; give the name of a column")
        checked["interventions"] = checked_interventions(self.interventions)
        Design(self.kind, self.intercepts)
        checked["missing"] = checked_treatment(self.missing)
        checked["margins"] = checked_margins(self.margins)
        checked["lags"] = checked_lags(self.lags)
        checked["covariance"] = checked_covariance_estimate(self.covariance)
        checked["time_limit"] = seconds("time_limit", self.time_limit)
        checked["random_state"] = seed(self.random_state)
        checked["start"] = _starts(self.start)
        if not isinstance(self.penalty, str):
            checked["penalty"] = edge_penalty(self.penalty, 2, 1)
        if not isinstance(self.knowledge, Knowledge | None):
            raise InputError(f"knowledge is {short(self.knowledge)}; give a Knowledge")
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        if self.start is not None and self.n_starts is not None:
            raise InputError("start gives the starts, one each; drop n_starts")
        # Wrong names are refused now, not when a problem is at hand.
        edge_penalty(self.penalty, 2, 1)
        self.solver()

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The names of all options."""
        return tuple(each.name for each in fields(cls))

    @classmethod
    def among(cls, arguments: Mapping[str, Any]) -> SearchOptions:
        """The options among the arguments of a function, whatever else is there."""
        return cls(**{name: arguments[name] for name in cls.names() if name in arguments})

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> SearchOptions:
        """Options by name, all of which must exist."""
        for name in options:
            if name not in cls.names():
                raise InputError(
                    f"{name!r} is no option of a search; there are {', '.join(cls.names())}"
                )
        return cls(**options)

    def solver(self) -> SearchMethod:
        """The method, with its own options."""
        return method_named(self.method, {name: getattr(self, name) for name in self.names()})

    @property
    def starts(self) -> tuple[DirectedGraph, ...] | None:
        """Graphs to start from, if any were given."""
        return self.start  # type: ignore[return-value]

    @property
    def seed(self) -> int:
        """The seed; without one, a fixed one, so that results repeat."""
        return 0 if self.random_state is None else int(self.random_state)  # type: ignore[arg-type]

    def tables(self, data: SeveralData | Tables | Treated) -> Tables:
        """The data, read as these options say."""
        if self.interventions is not None:
            return tables_with_interventions(
                data,
                self.interventions,
                Design(self.kind, self.intercepts),
                groups=self.groups,
                n_effective=self.n_effective,
                missing=self.missing,
                margins=self.margins,
                lags=self.lags,
                covariance=self.covariance,
            )
        return as_tables(
            data,
            groups=self.groups,
            n_effective=self.n_effective,
            missing=self.missing,
            margins=self.margins,
            lags=self.lags,
            covariance=self.covariance,
        )

    def edge_penalty(self, tables: Tables) -> float:
        """What one edge costs with these data, which is paid in every group.

        Correlations that were shrunk by a share s leave (1 − s)² of every likelihood ratio, those
        of chance included, and of a price by name as much.
        """
        full = self.full_price(tables)
        return full * tables.evidence_left if self.is_price_named else full

    def full_price(self, tables: Tables) -> float:
        """What one edge costs in all groups, whatever was shrunk.

        Where a group has too few rows, at least what chance reaches there. Tables that share their
        weights pay once, for all rows.
        """
        total = 0.0
        paid = _rows_paid_for(tables)
        for rows, few in zip(paid, few_rows_of(tables), strict=True):
            named = edge_penalty(self.penalty, rows, tables.n_choices, len(paid))
            total += max(named, few.price) if few is not None and self.is_price_named else named
        return total

    @property
    def is_price_named(self) -> bool:
        """Whether an edge costs what a rule says; a number is left alone."""
        return isinstance(self.penalty, str)

    def warnings(self, tables: Tables) -> tuple[DataWarning, ...]:
        """What these options add to what the data have to say."""
        found = []
        paid = _rows_paid_for(tables)
        names = tables.groups if len(paid) == len(tables) else ("",)
        limits = self._limits(tables)
        own = {name: None if getattr(self, name) is not None else limits[name] for name in limits}
        for name, rows, few in zip(names, paid, few_rows_of(tables), strict=True):
            if few is not None:
                named = edge_penalty(self.penalty, rows, tables.n_choices, len(paid))
                if self.is_price_named:
                    named *= tables.evidence_left
                said = few.cheaper(tables.evidence_left).warning(
                    rows, named, is_raised=self.is_price_named, **own
                )
                found.append(said.in_group(name))
        return tuple(found)

    def _limits(self, tables: Tables) -> dict[str, int | None]:
        """Most parents and members of a feedback group: as given, or as few rows ask for.

        With as many parents as rows no price makes a search sound, so the limits hold whatever an
        edge costs. What is required or started from has been decided by somebody who knows.
        """
        limits = {"max_parents": self.max_parents, "max_component": self.max_component}
        few = [each for each in few_rows_of(tables) if each is not None]
        is_decided = self.start is not None or (
            self.knowledge is not None and self.knowledge.required
        )
        if few and not is_decided:
            fewest = min(few, key=lambda each: each.max_parents)
            limits = {
                name: getattr(fewest, name) if given is None else given
                for name, given in limits.items()
            }
        return limits

    def problem(self, tables: Tables) -> SearchProblem:
        """The problem that data pose with these options."""
        allowed, required = (self.knowledge or Knowledge()).masks(tables.names)
        limits = {"max_edges": self.max_edges, **self._limits(tables)}
        return SearchProblem.of(
            tables,
            self.edge_penalty(tables),
            allowed=allowed,
            required=required,
            limits=SearchLimits.of(tables.n_variables, self.virtual_edges, **limits),
            stable=self.stable,
            max_cycle_length=self.max_cycle_length,
        )

    def given(self) -> dict[str, Any]:
        """The options that differ from the defaults."""
        return {
            each.name: getattr(self, each.name)
            for each in fields(self)
            if getattr(self, each.name) != each.default
        }

    def replaced(self, **changes: Any) -> SearchOptions:
        """The same options with some changed."""
        return replace(self, **changes)

    def call(self, *more: str) -> str:
        """The call of ``learn`` with these options, as Python.

        Examples
        --------
        >>> print(SearchOptions(method="exact", penalty="2 bic").call())
        cl.learn(data, method='exact', penalty='2 bic')
        """
        given = [f"{name}={_as_python(value)}" for name, value in self.given().items()]
        return f"cl.learn({', '.join(['data', *given, *more])})"

    def to_dict(self) -> dict[str, Any]:
        """All options as plain values for JSON."""
        record = {name: getattr(self, name) for name in self.names()}
        if self.knowledge is not None:
            record["knowledge"] = self.knowledge.to_dict()
        if self.starts is not None:
            record["start"] = [graph.to_dict() for graph in self.starts]
        if isinstance(self.interventions, tuple):
            record["interventions"] = [list(targets) for targets in self.interventions]
        return record

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> SearchOptions:
        """The options that :meth:`to_dict` gave."""
        options = dict(record)
        if options.get("knowledge") is not None:
            options["knowledge"] = Knowledge.from_dict(options["knowledge"])
        if options.get("start") is not None:
            if not isinstance(options["start"], list):
                raise InputError(f"start is {short(options['start'])}; give a list of graphs")
            options["start"] = [DirectedGraph.from_dict(each) for each in options["start"]]
        return cls.of(options)


def _is_auto(n_effective: object) -> bool:
    return isinstance(n_effective, str) and n_effective == "auto"


def few_rows_of(tables: Tables) -> tuple[FewRows | None, ...]:
    """What applies in each group with too few rows; once for tables that share their weights."""
    return tuple(few_rows(rows, tables.n_variables) for rows in _rows_paid_for(tables))


def _rows_paid_for(tables: Tables) -> tuple[float, ...]:
    """Independent rows by which each edge is paid for: those of every group, or all together."""
    if tables.design is not None:
        return (tables.n_effective,)
    return tuple(table.n_effective for table in tables)


def _starts(start: Start) -> tuple[DirectedGraph, ...] | None:
    if start is None:
        return None
    if isinstance(start, DirectedGraph):
        return (start,)
    if not isinstance(start, Sequence) or not all(isinstance(g, DirectedGraph) for g in start):
        raise InputError(f"start is {short(start)}; give a DirectedGraph or a list of them")
    if not start:
        raise InputError("start is an empty list; give at least one graph")
    return tuple(start)


def _as_python(value: Any) -> str:
    if isinstance(value, Knowledge):
        return f"cl.Knowledge.from_dict({value.to_dict()!r})"
    if isinstance(value, tuple) and all(isinstance(each, tuple) for each in value):
        return repr([list(each) for each in value])
    if isinstance(value, tuple):
        graphs = [f"cl.DirectedGraph.from_dict({graph.to_dict()!r})" for graph in value]
        return graphs[0] if len(graphs) == 1 else f"[{', '.join(graphs)}]"
    return repr(value)


def read_tables(
    options: SearchOptions, data: SeveralData | Tables
) -> tuple[Tables, tuple[DataWarning, ...]]:
    """The tables, and what there is to mind about each; nothing about tables that were read."""
    if isinstance(data, Tables):
        return data, ()
    if options.interventions is not None:
        return options.tables(data), ()
    named = named_tables(data, options.groups, in_order=options.lags > 0)
    alone = options.replaced(groups=None)
    parts, found = {}, list[DataWarning]()
    for name, each in ({"": data} if named is None else named).items():
        with naming_group(name):
            treated = treated_data(
                each,
                missing=options.missing,
                margins=options.margins,
                lags=options.lags,
                covariance=options.covariance,
            )
            parts[name] = alone.tables(treated)
            warnings = check_treated(treated, options.margins)
        found += [warning.in_group(name) for warning in warnings]
    return (parts[""] if named is None else Tables.of_groups(parts)), tuple(found)
