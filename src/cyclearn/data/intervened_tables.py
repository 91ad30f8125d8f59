"""Tables with interventions: read, checked and combined.

Targets are given as one list of names for each table, or as a column of one table that names the
targets of each row; or row i of a table is the experiment with target i.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cyclearn.data.checks import check_treated, given_exogenous
from cyclearn.data.data_warnings import DataWarning
from cyclearn.data.effective_rows import EffectiveRows, Memory, row_weight
from cyclearn.data.grouped_tables import aligned_moments, labelled_rows, named_tables
from cyclearn.data.input_checks import check_finite
from cyclearn.data.margins import Margins, with_margins
from cyclearn.data.missing_values import Treated
from cyclearn.data.moments import Moments
from cyclearn.data.rows import Rows
from cyclearn.data.table_files import as_rows
from cyclearn.data.tables import Design, InterventionKind, Table, Tables
from cyclearn.foundation import InputError, listed, pd, short
from cyclearn.foundation.arrays import BoolArray, FloatArray

# Targets of each table, or the name of a column with the targets of each row.
Targets = str | tuple[tuple[str, ...], ...]
# The same for all groups, or for each by its name.
Interventions = Targets | dict[str, Targets]
# Instead of targets: row i of the table is an experiment whose target is column i; or
# the targets were not recorded.
ROWS, UNKNOWN = "rows", "unknown"


def checked_interventions(interventions: Any) -> Interventions | None:
    """Targets as plain values: the name of a column, or tuples of names, or these by group."""
    if isinstance(interventions, Mapping) and interventions:
        for group, own in interventions.items():
            is_list = isinstance(own, Sequence) and not isinstance(own, str)
            if is_list and (not own or any(isinstance(each, str) for each in own)):
                raise InputError(
                    f"interventions of the group {short(group)} are {short(own)}; give a list of "
                    "targets for each of its tables, such as [[], ['a']]; for tables that share "
                    "weights, give one list of these, in the order of the tables"
                )
        return {str(group): checked_targets(own) for group, own in interventions.items()}
    return None if interventions is None else checked_targets(interventions)


def checked_targets(interventions: Any) -> Targets:
    """Targets of the tables of one group as plain values."""
    if isinstance(interventions, str):
        return interventions
    if not isinstance(interventions, Sequence):
        raise InputError(
            f"interventions is {short(interventions)}; give a list of targets for each table, in "
            "the order of the tables, such as [[], ['a']], or the name of a column; or map the "
            "names of groups to these"
        )
    checked = []
    for targets in interventions:
        names = [targets] if isinstance(targets, str) else targets
        if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
            raise InputError(
                f"the targets of a table are {short(targets)}; give a list of names, empty if "
                "nothing was intervened on"
            )
        checked.append(tuple(names))
    return tuple(checked)


@dataclass(frozen=True)
class Part:
    """Rows of one experiment as given, with its targets and the kind of intervention.

    ``number`` is the number of its table, or 0 if targets came from rows; errors then name the
    targets.
    """

    data: Any
    targets: tuple[str, ...]
    kind: InterventionKind
    number: int = 0

    @property
    def name(self) -> str:
        """Its name in warnings."""
        return str(self.number) if self.number else ", ".join(self.targets) or "observed"

    @property
    def place(self) -> str:
        """Its name in errors."""
        if self.number:
            return f"table {self.number}"
        return f"the rows with targets {', '.join(self.targets) or 'none'}"


def intervened_tables(
    parts: Sequence[Part],
    design: Design,
    n_effective: EffectiveRows,
    exogenous: Sequence[str] = (),
    margins: Margins = "raw",
) -> Tables:
    """Tables that share their weights, with the targets of each, and the warnings about them.

    Autocorrelation is measured on variables without interventions. Ranks are those among all rows.

    Raises
    ------
    InputError
        With the name of the table: if columns differ, a target does not exist, one row carries no
        information, all variables are targets, a column is constant without an intervention, or
        moments have no mean although intercepts are shared.
    """
    tables = Tables(tuple(_read(parts, design, exogenous)), design)
    if margins != "raw":
        tables = _with_margins(tables, margins)
    check_columns(tables)
    counted, warnings = [], list[DataWarning]()
    for part, table in zip(parts, tables, strict=True):
        try:
            own, found = _counted(table, n_effective)
        except InputError as error:
            raise InputError(f"{part.place}: {error}") from None
        counted.append(own)
        warnings += [each.in_group(part.name) for each in found]
    return Tables(tuple(counted), design, _most_concerned(warnings))


def unknown_tables(
    data: Any,
    groups: str | None,
    design: Design,
    n_effective: EffectiveRows,
    exogenous: Sequence[str] = (),
    margins: Margins = "raw",
) -> Tables:
    """Tables whose targets are to be learned, by name, none of them so far.

    Each needs more rows than there are variables: in fewer, a target with many parents would fit
    exactly, with unbounded likelihood.
    """
    named = named_tables(data, groups)
    if named is None or len(named) < 2:
        raise InputError(
            "unknown targets are learned from differences between tables, but only one table was "
            "given; give a list of tables, or the column that identifies them (groups)"
        )
    parts = [Part(own, (), "noise", number) for number, own in enumerate(named.values(), 1)]
    read = intervened_tables(parts, design, n_effective, exogenous, margins)
    for part, table in zip(parts, read, strict=True):
        if (n := table.moments.n_samples) <= read.n_variables:
            raise InputError(
                f"{part.place} has {n} rows for {read.n_variables} variables, and to learn its "
                "targets takes more rows than variables; add rows, or give the targets"
            )
    pairs = zip(read, named, strict=True)
    return replace(read, tables=tuple(replace(table, group=name) for table, name in pairs))


def _read(parts: Sequence[Part], design: Design, exogenous: Sequence[str]) -> list[Table]:
    read: list[Table] = []
    for part in parts:
        try:
            rows, moments = _moments(part.data, design)
            moments = moments.given(exogenous)
            if read:
                order = moments.names
                moments = aligned_moments(moments, read[0].moments)
                rows = None if rows is None else rows[:, [order.index(n) for n in moments.names]]
            size = float(moments.n_samples)
            read.append(Table(moments, size, targets=part.targets, kind=part.kind, rows=rows))
            _check_targets(read[-1])
            _check_row(read[-1], design)
        except InputError as error:  # noqa: PERF203 - once at most
            raise InputError(f"{part.place}: {error}") from None
    return read


def _with_margins(tables: Tables, margins: Margins) -> Tables:
    """The tables with columns treated, all rows together."""
    rows = [table.rows for table in tables if table.rows is not None]
    if len(rows) < len(tables):
        raise InputError(
            f"margins={margins!r} needs the rows, but some data are Moments, which have no rows; "
            "pass the tables"
        )
    together = with_margins(Rows(np.concatenate(rows), tables.names, False), margins).values
    ends = np.cumsum([len(each) for each in rows])[:-1]
    treated = [
        replace(table, moments=moments_like(table.moments, own), rows=own)
        for table, own in zip(tables, np.split(together, ends), strict=True)
    ]
    return replace(tables, tables=tuple(treated))


def moments_like(moments: Moments, rows: FloatArray) -> Moments:
    """Check the mean and covariance of another table of the same variables."""
    mean = rows.mean(axis=0)
    centred = rows - mean
    return moments._changed(
        covariance=centred.T @ centred / len(rows), n_samples=len(rows), mean=mean
    )


def _counted(table: Table, n_effective: EffectiveRows) -> tuple[Table, tuple[DataWarning, ...]]:
    """The table with its effective sample size, and the warnings about it.

    Only variables without interventions are examined.
    """
    moments, rows, n = table.moments, table.rows, table.moments.n_samples
    is_set = [name in table.targets for name in moments.names]
    is_free = (moments.covariance.diagonal() > 0) & ~np.array(is_set)
    own = None if rows is None else _free_columns(moments, rows, is_free)
    memory = None if own is None else Memory.of(given_exogenous(own)[1])
    weight, counting = row_weight(n_effective, n, memory)
    size = max(n * weight, min(n, 2.0))
    counted = replace(table, n_effective=size, row_weight=weight, counting=counting)
    if own is None or not (is_free & ~moments.is_exogenous).any() or n <= is_free.sum() + 1:
        return counted, ()
    n_counted = None if counting == "all" else size
    found = check_treated(own, memory, n_counted=n_counted, not_with_ordered=("interventions",))
    return counted, found


def _free_columns(moments: Moments, rows: FloatArray, is_free: BoolArray) -> Treated:
    """The columns without interventions, as a table."""
    X, names = rows[:, is_free], tuple(np.array(moments.names)[is_free].tolist())
    given = tuple(name for name in moments.exogenous if name in names)
    S = moments.covariance[np.ix_(is_free, is_free)]
    own = Moments._unchecked(S, len(X), None, names, False, given)
    return Treated(own, float(len(X)), X, None, X)


def _most_concerned(warnings: Sequence[DataWarning]) -> tuple[DataWarning, ...]:
    """One warning per code: the one about the table in which it concerns the most columns."""
    found: dict[str, DataWarning] = {}
    for warning in warnings:
        known = found.get(warning.code)
        if known is None or len(warning.columns) > len(known.columns):
            found[warning.code] = warning
    return tuple(found.values())


def grouped_parts(
    data: Any,
    groups: str | None,
    interventions: Interventions,
    kind: InterventionKind | tuple[InterventionKind, ...] = "perfect",
) -> dict[str, list[Part]]:
    """The parts of each group: by a column of every table, or by the names in a mapping."""
    if isinstance(interventions, Mapping):
        named = dict(data) if isinstance(data, Mapping) else named_tables(data, groups)
        if named is None or {*map(str, named)} != {*interventions}:
            raise InputError(
                f"interventions are given for the groups {', '.join(interventions)}, but the data "
                f"have {', '.join(map(str, named or ['no groups']))}; map the same names to the "
                "tables of each group, or name the column of groups"
            )
        return {
            str(name): targeted_parts(own, interventions[str(name)], kind)
            for name, own in named.items()
        }
    found: dict[str, list[Part]] = {}
    if isinstance(interventions, str):
        for name, own in (named_tables(data, groups) or {}).items():
            found[name] = targeted_parts(own, interventions, kind)
        return found
    for part in targeted_parts(data, interventions, kind):
        for name, own in (named_tables(part.data, groups) or {}).items():
            found.setdefault(name, []).append(replace(part, data=own))
    return dict(sorted(found.items()))


def targeted_parts(
    data: Any,
    interventions: Targets,
    kind: InterventionKind | tuple[InterventionKind, ...] = "perfect",
) -> list[Part]:
    """The tables one by one, with their targets and the kind of intervention."""
    if isinstance(interventions, str) and interventions != ROWS:
        if not isinstance(kind, str):
            raise InputError("targets come from a column; give one intervention_kind for all rows")
        frame = labelled_rows(data, [interventions], "interventions")
        labels = frame[interventions].map(_parsed)
        rows = frame.drop(columns=interventions)
        return [Part(rows[labels == each], each, kind) for each in sorted(set(labels))]
    named = named_tables(data)
    tables = [data] if named is None else list(named.values())
    if isinstance(interventions, str):
        # The other tables are observational.
        interventions = ((ROWS,), *[()] * (len(tables) - 1))
    kinds = (kind,) * len(tables) if isinstance(kind, str) else kind
    for what, given in (("interventions", interventions), ("intervention_kind", kinds)):
        if len(tables) != len(given):
            raise InputError(
                f"there are {len(tables)} tables and {what} of {len(given)}; give one list of "
                "targets for each table, empty if nothing was intervened on, and one kind for "
                "all or one for each table"
            )
    parts: list[Part] = []
    for number, each in enumerate(zip(tables, interventions, kinds, strict=True), 1):
        if each[1] == (ROWS,):
            parts += _row_by_row(each[0], each[2])
        else:
            parts.append(Part(*each, number))
    return parts


def _row_by_row(data: Any, kind: InterventionKind) -> list[Part]:
    """The rows of a matrix whose row i is the experiment with column i as its target.

    Rows that are labelled by their targets may be in another order than the columns.
    """
    given = as_rows(data)
    if hasattr(given, "columns") and set(given.index) == set(given.columns):
        given = given.loc[list(given.columns)]
    rows = Rows.of(given)
    n, p = rows.values.shape
    if n != p:
        raise InputError(
            f"interventions are 'rows', row i for column i, and there are {n} rows and {p} "
            "columns; give the other rows as separate tables, or use a column of targets"
        )
    table = rows.values if rows.is_unnamed else pd.DataFrame(rows.values, columns=list(rows.names))
    return [Part(table[i : i + 1], (name,), kind) for i, name in enumerate(rows.names)]


def _parsed(cell: Any) -> tuple[str, ...]:
    """The targets that a cell names; several are separated by commas or semicolons."""
    if cell is None or cell != cell:
        return ()
    names = str(cell).replace(";", ",").split(",")
    return tuple(sorted({name.strip() for name in names if name.strip()}))


def _moments(data: Any, design: Design) -> tuple[FloatArray | None, Moments]:
    """The rows of a table, their mean and covariance; columns may be constant."""
    data = as_rows(data)
    if isinstance(data, Moments):
        if data.mean is None and design.intercepts == "shared":
            raise InputError(
                "these Moments have no mean, but with shared intercepts shifts of means count; "
                "give the mean, or use intercepts='table'"
            )
        return None, data
    rows = Rows.of(data)
    X = rows.values
    check_finite(X, "data", rows.names)
    if not len(X):
        raise InputError("it contains no rows")
    mean = X.mean(axis=0)
    centred = X - mean
    S = centred.T @ centred / len(X)
    return X, Moments._unchecked(S, len(X), mean, rows.names, rows.is_unnamed)


def _check_row(table: Table, design: Design) -> None:
    """A table with one row must share something with other rows."""
    if table.kind == "shift" and design.intercepts == "table":
        raise InputError(
            "intervention_kind='shift' changes an intercept, but here every table has its own; "
            "use intercepts='shared'"
        )
    if table.moments.n_samples > 1:
        return
    if design.intercepts == "table" or (table.targets and table.kind == "noise"):
        own = "an intercept" if design.intercepts == "table" else "a noise variance"
        raise InputError(
            f"it has 1 row, which {own} of its own fits exactly, so it carries no information; "
            "use intervention_kind 'perfect' or 'shift' with intercepts='shared', or add rows"
        )


def _check_targets(table: Table) -> None:
    targets, moments = table.targets, table.moments
    unknown = [name for name in targets if name not in moments.names]
    if unknown:
        raise InputError(
            f"target {unknown[0]!r} is not a variable; the variables are {listed(moments.names)}"
        )
    if table.kind == "perfect" and {*targets, *moments.exogenous} == set(moments.names):
        raise InputError(
            "every variable is a target or exogenous, so it carries no information; omit it"
        )


def check_columns(tables: Tables) -> None:
    """Raise if a column is constant in the tables where it was not a target."""
    for i, name in enumerate(tables.names):
        free = [table for table in tables if name not in table.targets]
        values = [(t.moments.covariance[i, i], t.moments) for t in free or tables]
        spread = max(variance for variance, _ in values)
        means = [0.0 if m.mean is None else m.mean[i] for _, m in values]
        largest = max(map(abs, means), default=0.0)
        # Constants that differ between tables are variation too.
        if max(spread, np.ptp(means) ** 2) <= (1e-13 * largest) ** 2:
            where = "where it was not a target" if free else "and a target in every table"
            raise InputError(f"column {name!r} is constant {where}; drop it, or add rows")


def target_mask(tables: Tables) -> BoolArray:
    """Which variables were intervened on in which table, shape (tables, p)."""
    return np.array([[name in table.targets for name in tables.names] for table in tables])
