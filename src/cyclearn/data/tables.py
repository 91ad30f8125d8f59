"""The data of an analysis: a list of tables, of which one is the usual case.

Everything that is learned or fitted starts from here. A table is known by its mean and covariance;
the number of rows, the number of independent rows they are worth, its group, the variables that
were set from outside, and how missing values were treated belong to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cyclearn.data.effective_rows import effective_rows
from cyclearn.data.grouped_tables import (
    SeveralData,
    aligned_moments,
    named_tables,
    naming_group,
)
from cyclearn.data.lagged_rows import checked_lags, with_past
from cyclearn.data.margins import Margins, checked_margins, with_margins
from cyclearn.data.missing_values import (
    Holes,
    Missing,
    Treated,
    checked_treatment,
    labelled,
    treat_missing,
)
from cyclearn.data.moments import Moments, name_order
from cyclearn.data.shrinkage import Covariance, checked_covariance_estimate, shrunk
from cyclearn.data.table_files import as_rows
from cyclearn.foundation.arguments import one_of
from cyclearn.foundation.errors import InputError
from cyclearn.foundation.json_input import short

FloatArray = NDArray[np.float64]
# How many independent rows data are worth: all, a number, or as the memory of the columns says.
EffectiveRows = float | Literal["auto"] | None
# What an intervention does to its targets, and whose intercepts are whose.
Kind = Literal["perfect", "noise"]
Intercepts = Literal["shared", "table"]


@dataclass(frozen=True)
class Design:
    """How the targets of tables were set, and whose intercepts are whose.

    ``kind`` is ``"perfect"``: a target is set from outside; or ``"noise"``: it keeps its parents
    and has noise and intercept of its own. ``intercepts`` are ``"shared"`` by all tables, or each
    ``"table"`` has its own.
    """

    kind: Kind = "perfect"
    intercepts: Intercepts = "shared"

    def __post_init__(self) -> None:
        for name, known in (("kind", ("perfect", "noise")), ("intercepts", ("shared", "table"))):
            one_of(name, getattr(self, name), known)


@dataclass(frozen=True, eq=False)
class Table:
    """One table.

    Attributes
    ----------
    moments : Moments
        Mean, covariance and number of rows.
    n_effective : float
        How many independent rows it is worth, in likelihood and penalty alike; the number of rows
        where these are independent.
    group : str
        Name of the group, in which weights and noise are the same.
    targets : tuple of str
        Variables that were set from outside.
    missing : str
        How missing values are treated.
    holes : Holes or None
        What was missing, if anything.
    shrinkage : float
        The share of all correlations that a shrunk covariance took away.
    """

    moments: Moments
    n_effective: float
    group: str = ""
    targets: tuple[str, ...] = ()
    missing: str = "error"
    holes: Holes | None = None
    shrinkage: float = 0.0


@dataclass(frozen=True, eq=False)
class Tables:
    """Tables of the same variables, in the same order; made by :func:`as_tables`.

    They are groups, each with weights of its own, unless ``design`` says how variables were set
    from outside: then weights are shared.
    """

    tables: tuple[Table, ...]
    design: Design | None = None

    def __iter__(self) -> Iterator[Table]:
        return iter(self.tables)

    def __len__(self) -> int:
        return len(self.tables)

    @property
    def only(self) -> Table:
        """The table, where there is just one."""
        if len(self.tables) != 1:
            raise InputError(f"there are {len(self.tables)} tables, and this takes one")
        return self.tables[0]

    @classmethod
    def of_groups(cls, groups: Mapping[str, Tables]) -> Tables:
        """One table for each group, by name; variables stand as in the first."""
        first = next(iter(groups.values())).only.moments
        joined = []
        for name, tables in groups.items():
            table = tables.only
            with naming_group(name):
                moments = aligned_moments(table.moments, first)
            joined.append(replace(table, moments=moments, group=name))
        return cls(tuple(joined))

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of the groups; one without a name where no groups were given."""
        return tuple(table.group for table in self.tables)

    @property
    def is_grouped(self) -> bool:
        """Whether the tables are groups, each with weights of its own."""
        return self.design is None and self.groups != ("",)

    @property
    def shares(self) -> FloatArray:
        """The share of all independent rows that each table has."""
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
    def past(self) -> tuple[str, ...]:
        """Variables that are taken as given: those of rows before."""
        return self.tables[0].moments.past

    @property
    def n_choices(self) -> float:
        """As many variables without a past have about as many edges on offer as these."""
        n_present = self.n_variables - len(self.past)
        return float(np.sqrt(n_present * self.n_variables)) if self.past else self.n_variables

    @property
    def n_samples(self) -> int:
        """Number of rows, of all tables together."""
        return sum(table.moments.n_samples for table in self.tables)

    @property
    def n_fewest(self) -> int:
        """Number of rows of the table that has the fewest."""
        return min(table.moments.n_samples for table in self.tables)

    @property
    def n_effective(self) -> float:
        """How many independent rows there are, in all tables together."""
        return sum(table.n_effective for table in self.tables)

    @property
    def evidence_left(self) -> float:
        """The share of every likelihood ratio that shrunk covariances leave."""
        return float(self.shares @ [(1 - table.shrinkage) ** 2 for table in self.tables])

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The variables in the order of their names, by code point; unnamed ones by number."""
        return name_order(self.names, self._is_unnamed)

    def sorted(self) -> Tables:
        """The same tables with the variables in :attr:`order`."""
        if self.order == tuple(range(self.n_variables)):
            return self
        names = tuple(self.names[j] for j in self.order)
        return self.aligned_to(names)

    def aligned_to(self, names: tuple[str, ...]) -> Tables:
        """The same tables with the variables in the order of ``names``."""
        renamed = dict(zip(self.names, names, strict=True)) if self._is_unnamed else {}
        return replace(
            self,
            tables=tuple(
                replace(
                    table,
                    moments=table.moments.aligned_to(names),
                    targets=tuple(renamed.get(name, name) for name in table.targets),
                )
                for table in self
            ),
        )

    @property
    def _is_unnamed(self) -> bool:
        return self.tables[0].moments.has_default_names


def treated_data(
    data: Any,
    *,
    missing: Missing,
    margins: Margins,
    lags: int = 0,
    covariance: Covariance = "sample",
) -> Treated:
    """Data with margins, past and missing values treated, and the rows as they were given."""
    if isinstance(data, Treated):
        return data
    treated = _treated(data, missing=missing, margins=margins, lags=lags)
    if checked_covariance_estimate(covariance) == "shrunk":
        return shrunk(treated, missing)
    return treated


def _treated(data: Any, *, missing: Missing, margins: Margins, lags: int) -> Treated:
    missing, margins, lags = (
        checked_treatment(missing),
        checked_margins(margins),
        checked_lags(lags),
    )
    data = as_rows(data)
    if isinstance(data, Moments):
        if margins != "raw":
            raise InputError(
                f"margins={margins!r} looks at the rows, and the data are Moments, which have "
                "none; pass the table"
            )
        if lags:
            with_past(data, lags)
        return Treated(data, float(data.n_samples), np.empty((0, 0)), None)
    rows = with_margins(data, margins)
    if not lags:
        return replace(treat_missing(rows, missing), raw=labelled(data)[0])
    if missing not in ("error", "rows"):
        raise InputError(
            f"missing={missing!r} does not go together with lags, which ask for rows with a whole "
            "past; use missing='rows'"
        )
    rows = with_past(rows, lags)
    treated = treat_missing(rows, missing)
    past = rows.columns[rows.shape[1] // (lags + 1) :].tolist()
    return replace(treated, moments=treated.moments.given(past), raw=labelled(data)[0])


def as_tables(
    data: SeveralData | Tables | Treated,
    *,
    groups: str | None = None,
    n_effective: EffectiveRows = None,
    missing: Missing = "error",
    margins: Margins = "raw",
    lags: int = 0,
    covariance: Covariance = "sample",
) -> Tables:
    """Tables of what functions on data accept.

    Parameters
    ----------
    data : DataFrame, array of shape (n, p), path, Moments or Tables
        Or several of these, in a list or a mapping: one for each group.
    groups : str, optional
        The column of one table that names the group of each row.
    n_effective : number, "auto" or None
        How many independent rows the data, or each group of them, are worth: all by default, a
        number, or ``"auto"`` for an estimate from the memory of the columns, which takes the rows
        themselves.
    missing : {"error", "em", "rows", "pairwise"}
        What is done about missing values; with holes, pairs of columns count for the rows in which
        both were observed (see :mod:`cyclearn.data.missing_values`).
    margins : {"raw", "rank"}
        Columns as they are, or normal scores of their ranks.
    lags : int
        Rows before each row that are taken as given beside it; never those of another group.
    covariance : {"sample", "shrunk"}
        That of the rows, or with correlations made smaller (:mod:`cyclearn.data.shrinkage`).
    """
    if isinstance(data, Tables):
        return data
    if n_effective is not None and not isinstance(n_effective, str):
        n_effective = checked_effective_rows(n_effective)
    named = None
    if not isinstance(data, Treated):
        named = named_tables(data, groups, in_order=lags > 0)
    if named is not None:
        parts = {}
        for name, each in named.items():
            with naming_group(name):
                parts[name] = as_tables(
                    each,
                    n_effective=n_effective,
                    missing=missing,
                    margins=margins,
                    lags=lags,
                    covariance=covariance,
                )
        return Tables.of_groups(parts)
    treated = treated_data(data, missing=missing, margins=margins, lags=lags, covariance=covariance)
    if n_effective == "auto" and treated.raw is None:
        raise InputError(
            "n_effective='auto' looks at the rows, and the data are Moments, which have none; "
            "pass the table, or a number"
        )
    if n_effective == "auto" and treated.moments.past:
        raise InputError(
            "n_effective='auto' does not go together with lags: given their past, all rows count; "
            "leave one of the two out, or give a number"
        )
    moments = treated.moments
    n = moments.n_samples
    if n_effective is None:
        worth = treated.n_effective
    elif n_effective == "auto":
        # The share that the holes leave of the rows that the memory of the columns leaves.
        worth = effective_rows(treated.filled) * treated.n_effective / n
    else:
        worth = checked_effective_rows(n_effective)
        if worth > n:
            raise InputError(
                f"n_effective is {worth:g}, and there are {n} rows; rows are worth no more "
                "than themselves"
            )
    table = Table(
        moments,
        max(worth, 2.0),
        missing=missing,
        holes=treated.holes,
        shrinkage=treated.shrinkage,
    )
    return Tables((table,))


def checked_effective_rows(n_effective: object) -> float:
    """A number of effective rows, at least two."""
    if (
        isinstance(n_effective, bool)
        or not isinstance(n_effective, Real)
        or not 2 <= float(n_effective) < inf
    ):
        raise InputError(
            f"n_effective is {short(n_effective)}; give 'auto', a number of rows of at least 2, or "
            "None"
        )
    return float(n_effective)
