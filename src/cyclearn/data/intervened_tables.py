"""Tables in which some variables were intervened on: read, checked, and brought together.

Targets are given beside a list of tables, one list of names for each, or as a column of one table
that names the targets of each row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cyclearn.data.checks import check_treated, given_exogenous
from cyclearn.data.data_warnings import DataWarning
from cyclearn.data.effective_rows import EffectiveRows, Memory, row_weight
from cyclearn.data.grouped_tables import aligned_moments, labelled_rows, named_tables
from cyclearn.data.input_checks import check_finite
from cyclearn.data.missing_values import Treated
from cyclearn.data.moments import Moments
from cyclearn.data.rows import Rows
from cyclearn.data.table_files import as_rows
from cyclearn.data.tables import Design, Table, Tables
from cyclearn.foundation.arrays import BoolArray, FloatArray
from cyclearn.foundation.errors import InputError
from cyclearn.foundation.json_input import short

# Targets of each table, or the name of a column with the targets of each row.
Interventions = str | tuple[tuple[str, ...], ...]
# In place of a column: nobody recorded the targets.
UNKNOWN = "unknown"


def checked_interventions(interventions: Any) -> Interventions | None:
    """Targets as plain values: the name of a column, or tuples of names."""
    if interventions is None or isinstance(interventions, str):
        return interventions
    if not isinstance(interventions, Sequence):
        # Nor a mapping: it would be taken in its own order, whatever the order of the tables.
        raise InputError(
            f"interventions is {short(interventions)}; give a list of targets for each table, in "
            "the order of the tables, such as [[], ['a']], or the name of a column"
        )
    checked = []
    for targets in interventions:
        names = [targets] if isinstance(targets, str) else targets
        if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
            raise InputError(
                f"the targets of a table are {short(targets)}; give a list of names, empty where "
                "nothing was set"
            )
        checked.append(tuple(names))
    return tuple(checked)


def intervened_tables(
    parts: Sequence[Any],
    targets: Sequence[tuple[str, ...]],
    design: Design,
    n_effective: EffectiveRows,
    *,
    exogenous: Sequence[str] = (),
    by_column: bool = False,
) -> Tables:
    """Tables that share their weights, with the targets of each, and the warnings about them.

    The memory of rows is that of variables that varied by themselves in their table.

    ``by_column`` says that the targets came from a column, so that errors name them and not the
    number of a table.

    Raises
    ------
    InputError
        Naming the table: other columns, targets that do not exist, one row, everything set, a
        column that is constant where nobody set it, moments without a mean where intercepts are
        shared.
    """
    places = [
        f"the rows with targets {', '.join(own) or 'none'}" if by_column else f"table {number}"
        for number, own in enumerate(targets, 1)
    ]
    tables = pooled_tables(parts, targets, design, places, exogenous)
    names = [
        ", ".join(own) or "observed" if by_column else str(number)
        for number, own in enumerate(targets, 1)
    ]
    counted, warnings = [], list[DataWarning]()
    for name, place, table in zip(names, places, tables, strict=True):
        try:
            own, found = _counted(table, n_effective)
        except InputError as error:
            raise InputError(f"{place}: {error}") from None
        counted.append(own)
        warnings += [each.in_group(name) for each in found]
    return Tables(tuple(counted), design, _most_concerned(warnings))


def unknown_tables(
    data: Any,
    groups: str | None,
    design: Design,
    n_effective: EffectiveRows,
    exogenous: Sequence[str] = (),
) -> Tables:
    """Tables whose targets are to be learned, by name, none of them so far."""
    named = named_tables(data, groups)
    if named is None or len(named) < 2:
        raise InputError(
            "unknown targets are told by differences between tables, and there is one; give a list "
            "of tables, or groups, the column that tells them apart"
        )
    read = intervened_tables(
        list(named.values()), [()] * len(named), design, n_effective, exogenous=exogenous
    )
    pairs = zip(read, named, strict=True)
    return replace(read, tables=tuple(replace(table, group=name) for table, name in pairs))


def pooled_tables(
    parts: Sequence[Any],
    targets: Sequence[tuple[str, ...]],
    design: Design,
    places: Sequence[str] | None = None,
    exogenous: Sequence[str] = (),
) -> Tables:
    """The same without warnings; errors name one of ``places``."""
    read: list[Table] = []
    for place, part, own in zip(places or ["a table"] * len(parts), parts, targets, strict=True):
        try:
            rows, moments = _moments(part, design)
            moments = moments.given(exogenous)
            if read:
                order = moments.names
                moments = aligned_moments(moments, read[0].moments)
                rows = None if rows is None else rows[:, [order.index(n) for n in moments.names]]
            read.append(Table(moments, float(moments.n_samples), targets=own, rows=rows))
            _check_targets(own, moments, design)
        except InputError as error:  # noqa: PERF203 - once at most
            raise InputError(f"{place}: {error}") from None
    tables = Tables(tuple(read), design)
    _check_columns(tables)
    return tables


def _counted(table: Table, n_effective: EffectiveRows) -> tuple[Table, tuple[DataWarning, ...]]:
    """The table with its effective sample size, and what checks find in it.

    Only variables that varied by themselves are looked at.
    """
    moments, rows, n = table.moments, table.rows, table.moments.n_samples
    is_set = [name in table.targets for name in moments.names]
    is_free = (moments.covariance.diagonal() > 0) & ~np.array(is_set)
    own = None if rows is None else _free_columns(moments, rows, is_free)
    memory = None if own is None else Memory.of(given_exogenous(own)[1])
    weight, counting = row_weight(n_effective, n, memory)
    size = max(n * weight, 2.0)
    counted = replace(table, n_effective=size, row_weight=weight, counting=counting)
    if own is None or not (is_free & ~moments.is_exogenous).any() or n <= is_free.sum() + 1:
        return counted, ()
    return counted, check_treated(own, memory, n_counted=None if counting == "all" else size)


def _free_columns(moments: Moments, rows: FloatArray, is_free: BoolArray) -> Treated:
    """The columns that varied by themselves, as a table."""
    X, names = rows[:, is_free], tuple(np.array(moments.names)[is_free].tolist())
    given = tuple(name for name in moments.exogenous if name in names)
    S = moments.covariance[np.ix_(is_free, is_free)]
    own = Moments._unchecked(S, len(X), None, names, False, given)
    return Treated(own, float(len(X)), X, None, X)


def _most_concerned(warnings: Sequence[DataWarning]) -> tuple[DataWarning, ...]:
    """One warning of each code: that about the table with the most columns that it concerns."""
    found: dict[str, DataWarning] = {}
    for warning in warnings:
        known = found.get(warning.code)
        if known is None or len(warning.columns) > len(known.columns):
            found[warning.code] = warning
    return tuple(found.values())


def targeted_parts(
    data: Any, interventions: Interventions
) -> tuple[list[Any], list[tuple[str, ...]]]:
    """The tables one by one, and the targets of each."""
    if isinstance(interventions, str):
        return _by_column(data, interventions)
    return _by_table(data, interventions)


def _by_table(data: Any, targets: tuple[tuple[str, ...], ...]) -> tuple[list[Any], list[Any]]:
    named = named_tables(data)
    parts = [data] if named is None else list(named.values())
    if len(parts) != len(targets):
        raise InputError(
            f"there are {len(parts)} tables and interventions of {len(targets)}; give one list of "
            "targets for each table, empty where nothing was set"
        )
    return parts, list(targets)


def _by_column(data: Any, column: str) -> tuple[list[Any], list[tuple[str, ...]]]:
    frame = labelled_rows(data, [column], "interventions")
    labels = frame[column].map(_parsed)
    rows = frame.drop(columns=column)
    parts = {targets: rows[labels == targets] for targets in sorted(set(labels))}
    return list(parts.values()), list(parts)


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
                "these Moments have no mean, and shifts of means count where intercepts are "
                "shared; give the mean, or intercepts='table'"
            )
        return None, data
    rows = Rows.of(data)
    X = rows.values
    check_finite(X, "data", rows.names)
    if len(X) < 2:
        raise InputError(f"it has {len(X)} rows; a table needs at least 2")
    mean = X.mean(axis=0)
    centred = X - mean
    S = centred.T @ centred / len(X)
    return X, Moments._unchecked(S, len(X), mean, rows.names, rows.is_unnamed)


def _check_targets(targets: tuple[str, ...], moments: Moments, design: Design) -> None:
    unknown = [name for name in targets if name not in moments.names]
    if unknown:
        raise InputError(
            f"the target {unknown[0]!r} is no variable; there are {', '.join(moments.names[:10])}"
            + f" and {len(moments.names) - 10} more" * (len(moments.names) > 10)
        )
    if design.intervention_kind == "perfect" and {*targets, *moments.exogenous} == set(
        moments.names
    ):
        raise InputError(
            "every variable was set or is exogenous, so that it says nothing; leave it out"
        )


def _check_columns(tables: Tables) -> None:
    """No column is constant where it was not set."""
    for i, name in enumerate(tables.names):
        free = [table for table in tables if name not in table.targets]
        values = [(t.moments.covariance[i, i], t.moments) for t in free or tables]
        spread = max(variance for variance, _ in values)
        means = [0.0 if m.mean is None else m.mean[i] for _, m in values]
        largest = max(map(abs, means), default=0.0)
        # Different constants are a spread too.
        if max(spread, np.ptp(means) ** 2) <= (1e-13 * largest) ** 2:
            where = "where it was not set" if free else "and set everywhere"
            raise InputError(f"column {name!r} is constant {where}; drop it, or add rows")


def target_mask(tables: Tables) -> BoolArray:
    """Which variables were set in which table, shape (tables, p)."""
    return np.array([[name in table.targets for name in tables.names] for table in tables])
