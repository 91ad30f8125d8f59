"""The data of an analysis: a list of tables, usually just one.

Everything that is learned or fitted starts from here. A table is known by its mean and covariance;
its rows, their number, the effective sample size, the group, the variables that were intervened on
and how missing values were treated belong to it. :class:`cyclearn.Reading` makes them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from cyclearn.data.data_warnings import DataWarning
from cyclearn.data.effective_rows import COUNTINGS, Counting, rows_in_words
from cyclearn.data.grouped_tables import aligned_moments, naming_group
from cyclearn.data.lagged_rows import past_of
from cyclearn.data.missing_values import Holes
from cyclearn.data.moments import Levels, Moments, name_order
from cyclearn.foundation.arrays import FloatArray
from cyclearn.foundation.errors import InputError

# Kinds of interventions, and whether tables share their intercepts.
InterventionKind = Literal["perfect", "noise", "shift"]
Intercepts = Literal["shared", "table"]


@dataclass(frozen=True)
class Design:
    """How interventions affect their targets, and whether tables share their intercepts.

    ``intervention_kind`` is ``"perfect"``: a target is cut off from its parents; ``"noise"``: it
    keeps them, with a different noise variance and intercept; or ``"shift"``: it keeps them and its
    noise, with a different intercept; or one of these for every table. ``intercepts`` are
    ``"shared"`` by all tables, or each ``"table"`` has its own. ``is_grouped`` says that tables
    share them, and weights, only within their group.
    """

    intervention_kind: InterventionKind | tuple[InterventionKind, ...] = "perfect"
    intercepts: Intercepts = "shared"
    is_grouped: bool = False


@dataclass(frozen=True, eq=False)
class Table:
    """One table.

    Attributes
    ----------
    moments : Moments
        Mean, covariance and number of rows.
    n_effective : float
        The effective sample size, in likelihood and penalty alike; the number of rows where these
        are independent.
    group : str
        Name of the group, in which weights and noise are the same.
    targets : tuple of str
        Variables that were intervened on.
    kind : str
        The kind of intervention, see :class:`Design`.
    holes : Holes or None
        The missing cells, if there are any.
    shrinkage : float
        The share by which shrinkage reduced all correlations.
    row_weight : float
        The weight of one row relative to independent ones, apart from missing cells.
    counting : str
        How the effective sample size was determined.
    rows : array or None
        The rows, with margins treated and the rest as it was given, in the order of the variables;
        None if there are only moments, or if rows are no longer needed.
    weights : array or None
        The survey weights of the rows.
    is_robust : bool
        Whether standard errors do not assume Gaussian rows.
    """

    moments: Moments
    n_effective: float
    group: str = ""
    targets: tuple[str, ...] = ()
    kind: InterventionKind = "perfect"
    holes: Holes | None = None
    shrinkage: float = 0.0
    row_weight: float = 1.0
    counting: Counting = "all"
    rows: FloatArray | None = None
    weights: FloatArray | None = None
    is_robust: bool = False


@dataclass(frozen=True, eq=False)
class Tables:
    """Tables of the same variables, in the same order; made by :class:`cyclearn.Reading`.

    Each is a group with its own weights, unless a ``design`` describes interventions: then the
    tables of a group share their weights. ``warnings`` are the problems found in the rows.
    """

    tables: tuple[Table, ...]
    design: Design | None = None
    warnings: tuple[DataWarning, ...] = ()

    def __iter__(self) -> Iterator[Table]:
        return iter(self.tables)

    def __len__(self) -> int:
        return len(self.tables)

    @property
    def only(self) -> Table:
        """The table, if there is only one."""
        if len(self.tables) != 1:
            raise InputError(f"there are {len(self.tables)} tables, but this needs a single table")
        return self.tables[0]

    @classmethod
    def of_groups(cls, groups: Mapping[str, Tables]) -> Tables:
        """The tables of each group, by name; variables are in the order of the first."""
        first = next(iter(groups.values()))
        joined: list[Table] = []
        warnings: list[DataWarning] = []
        for name, tables in groups.items():
            for table in tables:
                with naming_group(name):
                    moments = aligned_moments(table.moments, first.tables[0].moments)
                own = replace(table, group=name)
                joined.append(_with_columns(own, moments, table.moments.names))
            warnings += [each.in_group(name) for each in tables.warnings]
        design = None if first.design is None else replace(first.design, is_grouped=True)
        return cls(tuple(joined), design, tuple(warnings))

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of the groups; one empty name if no groups were given."""
        return tuple(dict.fromkeys(table.group for table in self.tables))

    @property
    def is_grouped(self) -> bool:
        """Whether there are groups, each with its own weights."""
        return self.groups != ("",) and (self.design is None or self.design.is_grouped)

    @property
    def by_group(self) -> dict[str, Tables]:
        """The tables of each group by its name; without groups, all of them."""
        if not self.is_grouped:
            return {"": self}
        design = None if self.design is None else replace(self.design, is_grouped=False)
        found: dict[str, tuple[Table, ...]] = {}
        for table in self.tables:
            found[table.group] = (*found.get(table.group, ()), replace(table, group=""))
        return {name: Tables(own, design) for name, own in found.items()}

    @property
    def targets_by_group(self) -> list[list[tuple[str, ...]]]:
        """The targets of every table, group by group."""
        return [[table.targets for table in own] for own in self.by_group.values()]

    @property
    def is_perfect(self) -> bool:
        """Whether all interventions, if there are any, cut targets off from their parents."""
        return all(table.kind == "perfect" or not table.targets for table in self.tables)

    @property
    def shares(self) -> FloatArray:
        """The share of each table in the total effective sample size."""
        return np.array([table.n_effective for table in self.tables]) / self.n_effective

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables."""
        return self.tables[0].moments.names

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.names)

    @property
    def exogenous(self) -> tuple[str, ...]:
        """Exogenous variables."""
        return self.tables[0].moments.exogenous

    @property
    def ordered(self) -> tuple[str, ...]:
        """Ordinal variables, whose moments are those of the underlying normal variables."""
        return self.tables[0].moments.ordered

    @property
    def levels(self) -> Levels:
        """The levels of ordinal variables, in order, and their shares in the first table."""
        return self.tables[0].moments.levels

    @property
    def n_choices(self) -> float:
        """Number of variables without exogenous ones that allows about as many possible edges."""
        n_present = self.n_variables - len(self.exogenous)
        return float(np.sqrt(n_present * self.n_variables)) if self.exogenous else self.n_variables

    @property
    def n_samples(self) -> int:
        """Number of rows, of all tables together."""
        return sum(table.moments.n_samples for table in self.tables)

    @property
    def n_fewest(self) -> int:
        """Number of rows of the smallest table."""
        return min(table.moments.n_samples for table in self.tables)

    @property
    def n_effective(self) -> float:
        """The effective sample size of all tables together."""
        return sum(table.n_effective for table in self.tables)

    @property
    def counting(self) -> Counting:
        """How the effective sample size was determined."""
        return min((table.counting for table in self.tables), key=COUNTINGS.index)

    @property
    def rows_in_words(self) -> str:
        """One sentence on the effective sample size and the reason for it."""
        has_ordered = bool(self.ordered)
        return rows_in_words(
            self.n_samples, self.n_effective, self.counting, has_ordered=has_ordered
        )

    @property
    def evidence_left(self) -> float:
        """The factor by which shrinkage reduces every likelihood ratio."""
        return float(self.shares @ [(1 - table.shrinkage) ** 2 for table in self.tables])

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The variables in the order of their names, by code point; unnamed ones by number."""
        return name_order(self.names, self._is_unnamed)

    def sorted(self) -> Tables:
        """The same tables with the variables in :attr:`order`."""
        if self.order == tuple(range(self.n_variables)):
            return self
        return self.aligned_to(tuple(self.names[j] for j in self.order))

    def aligned_to(self, names: tuple[str, ...]) -> Tables:
        """The same tables with the variables in the order of ``names``."""
        old = names if self._is_unnamed else self.names
        renamed = dict(zip(self.names, names, strict=True)) if self._is_unnamed else {}
        aligned = []
        for table in self:
            targets = tuple(renamed.get(name, name) for name in table.targets)
            moments = table.moments.aligned_to(names)
            aligned.append(_with_columns(replace(table, targets=targets), moments, old))
        return replace(self, tables=tuple(aligned))

    def without_rows(self) -> Tables:
        """The same tables with only their moments: small enough to send to other processes."""
        return replace(
            self, tables=tuple(replace(table, rows=None, weights=None) for table in self)
        )

    @property
    def _is_unnamed(self) -> bool:
        return self.tables[0].moments.has_default_names


def _with_columns(table: Table, moments: Moments, names: tuple[str, ...]) -> Table:
    """The table with other moments; ``names`` are those of its variables so far, in their order."""
    rows = table.rows
    if rows is not None:
        # Rows have no lagged columns.
        past = past_of(moments.names, len(names) // rows.shape[1] - 1)
        before, after = ([n for n in each if n not in past] for each in (names, moments.names))
        rows = rows[:, [before.index(name) for name in after]]
    return replace(table, moments=moments, rows=rows)
