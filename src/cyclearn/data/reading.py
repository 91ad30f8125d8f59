"""How data are read: one value that every function on data shares.

``Reading(...).tables(data)`` is the only way from user input to tables for learning.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from numbers import Real
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from cyclearn.data import intervened_tables
from cyclearn.data.categories import with_indicators
from cyclearn.data.checks import check_treated, given_exogenous, ordinal_columns
from cyclearn.data.data_warnings import (
    DataWarning,
    DependentRows,
    NonnormalColumns,
    OrdinalColumns,
    TextsAsNumbers,
)
from cyclearn.data.effective_rows import EffectiveRows, Memory, row_weight
from cyclearn.data.grouped_tables import SeveralData, named_tables, naming_group
from cyclearn.data.input_checks import names_among, numeric_matrix
from cyclearn.data.lagged_rows import with_past
from cyclearn.data.margins import Margins, with_margins
from cyclearn.data.missing_values import TREATMENTS, Missing, Treated, treat_missing
from cyclearn.data.moments import Moments, read_moments
from cyclearn.data.ordinal_columns import with_latent_correlations, with_numbers
from cyclearn.data.rows import Rows, row_column
from cyclearn.data.shrinkage import Covariance, shrunk
from cyclearn.data.table_files import as_rows, tetrad_matrix
from cyclearn.data.tables import Design, Intercepts, InterventionKind, Table, Tables
from cyclearn.foundation import InputError, Options, option, short, takes_options
from cyclearn.foundation.arguments import names_in, one_of, whole

Errors = Literal["auto", "standard", "robust"]

# A variance needs at least this many effective rows.
_FEWEST = 2


def _column(name: str, value: Any) -> str | None:
    if not isinstance(value, str | None):
        raise InputError(f"{name} is {short(value)}; give the name of a column")
    return value


def _kinds(name: str, value: Any) -> InterventionKind | tuple[InterventionKind, ...]:
    """The kind of the interventions: one word, or one for each table."""
    if isinstance(value, (list, tuple)):
        return tuple(_kinds(name, each) for each in value)  # type: ignore[misc]
    return one_of(name, value, get_args(InterventionKind))  # type: ignore[return-value]


def checked_effective_rows(name: str, value: Any) -> EffectiveRows:
    """An effective sample size: a keyword, or a number of at least two."""
    if isinstance(value, str) and value in ("auto", "all"):
        return value  # type: ignore[return-value]
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not _FEWEST <= float(value) < inf:
        raise InputError(
            f"{name} is {short(value)}; give 'auto', 'all', or a number of rows of at least "
            f"{_FEWEST}"
        )
    return float(value)


@dataclass(frozen=True, kw_only=True)
class Reading(Options):
    """How tables are read; ``learn``, ``fit``, ``posterior`` and others take these as keywords.

    Parameters
    ----------
    groups : str, optional
        The column of one table that names the group of each row. Groups share the graph, and each
        has its own weights and noise.
    interventions : list of lists of str, or str, optional
        Targets of each table of a list: variables that were intervened on there, none where the
        system was only observed. Or the column of one table that names the targets of each row,
        separated by commas. Weights are then shared over tables. ``"rows"``, for all or in place of
        a table's targets: row i of the (first) table is an experiment with column i as its target,
        as in a knockout screen; further tables were observed. Or ``"unknown"``: targets are
        learned with the graph, from several tables, also by ``groups``; they keep their parents.
        With known targets, ``groups`` is a column of every table, and weights are shared only over
        the tables of a group. A mapping from names of groups has the targets of each group, whose
        tables are given by a mapping from the same names, or by ``groups``.
    intervention_kind : {"perfect", "noise", "shift"}, or one for each table
        ``"perfect"``: targets are cut off from their parents; ``"noise"``: they keep their parents,
        but have a different noise variance and intercept; ``"shift"``: only their intercept
        differs. Tables of one row can be perfect or shifted.
    intercepts : {"shared", "table"}
        With interventions: whether differences of means between tables count. Shared intercepts use
        them, but turn differences between batches into edges.
    n_effective : "auto", "all" or a number
        The effective sample size of each table, in likelihood and penalty together. By default
        autocorrelation of the columns reduces it; what exogenous variables and columns that the
        rows are sorted by explain is removed first. Without autocorrelation, below 30 rows and for
        Moments it is the number of rows, and so it is with ``"all"``.
    missing : {"error", "em", "rows", "pairwise"}
        How missing values are treated: refuse them; use maximum likelihood (EM); use complete
        rows only; or take each covariance from the rows that have both columns. With ``"em"`` and
        ``"pairwise"`` the effective sample size of a search is the harmonic mean, over pairs of
        columns, of the rows in which both were observed.
    margins : {"raw", "log", "rank"}
        Columns as they are, their logarithms, or normal scores of their ranks, which outliers and
        monotone transformations hardly change; weights and effects are then on that scale. With
        interventions ranks are those among the rows of all tables of a group.
    lags : int
        Rows are a time series, in order: each may also depend on this many preceding rows, which
        become columns such as ``gdp[t-1]``, never across groups. The past is exogenous.
    exogenous : list of str
        Variables to condition on, like lavaan's ``fixed.x``: nothing causes them, their
        covariance is free and not penalised, and likelihood, test of fit and class are those of
        the other variables given these. Their distribution is arbitrary: indicators of a season,
        for example.
    categories : list of str
        Nominal columns of one table, which nothing in the table causes: each becomes exogenous
        indicators, such as ``land=fr``. The alternative for a nominal column is ``groups``.
    ordered : list of str
        Ordinal columns: numbers with few levels, booleans, texts of two values, ordered categories.
        Each is treated as an underlying normal variable that was cut at thresholds. Learning uses
        the correlations of these variables (polychoric and polyserial), and weights and effects are
        on their scale. The effective sample size is that of plain rows whose correlations gain as
        much by chance, on average over all pairs; standard errors are from the covariance of these
        correlations. Booleans, two texts, and two to seven whole numbers are recognised as ordinal,
        and a warning says so. They are not if other options need plain rows or if the correlations
        are jointly impossible, which a warning says too.
    continuous : list of str
        Columns with few values that are measurements.
    weights : str, optional
        The column of survey weights, such as the number of people that a row represents: mean and
        covariance are weighted. The effective sample size is Kish's, (Σw)² / Σw².
    within : str, optional
        The column that names the subject of each row, in a panel: each subject's mean is removed,
        so constant differences between subjects have no influence (fixed effects). The effective
        sample size is the number of rows minus the number of subjects plus one.
    se : {"auto", "standard", "robust"}
        Standard errors and test of fit: those of Gaussian rows, or the sandwich of Huber and White
        and the chi-square of Satorra and Bentler (lavaan's ``"MLR"`` and ``"MLM"``). The default is
        robust if columns are clearly not Gaussian, which a warning says, and with ordinal columns.
        Robust errors need rows, and exclude ranks, lags, shrinkage, interventions and, without
        ordinal columns, pairwise covariances.
    covariance : {"sample", "shrunk"}
        The sample covariance, or that of Ledoit and Wolf, which shrinks all correlations, more so
        with few rows; the result says by how much.

    Examples
    --------
    >>> tables = Reading(margins="rank").tables(np.random.default_rng(0).normal(size=(50, 2)))
    >>> tables.n_samples, tables.names, tables.warnings
    (50, ('X1', 'X2'), ())
    """

    groups: str | None = option(
        None, "Column that names the group of each row: one graph, weights by group.", _column
    )
    interventions: intervened_tables.Interventions | None = option(
        None,
        "Column of intervention targets, separated by commas; or unknown, or rows (knockouts).",
        lambda _, value: intervened_tables.checked_interventions(value),
    )
    intervention_kind: InterventionKind | tuple[InterventionKind, ...] = option(
        "perfect",
        "Whether targets lose their causes, or keep them with other noise or a shift.",
        _kinds,
    )
    intercepts: Intercepts = option(
        "shared",
        "With interventions: shared intercepts, so that differences of means count, or one for "
        "each table.",
        partial(one_of, words=("shared", "table")),
    )
    n_effective: EffectiveRows = option(
        "auto", "Effective sample size: auto, all, or a number.", checked_effective_rows
    )
    missing: Missing = option(
        "error",
        "Missing values: error, maximum likelihood, complete rows, or pairwise.",
        partial(
            one_of,
            words=TREATMENTS,
            remedy="'error', 'em' (maximum likelihood), 'rows' (complete rows only) or 'pairwise'",
        ),
    )
    margins: Margins = option(
        "raw",
        "Columns as they are, their logarithms, or normal scores of their ranks.",
        partial(
            one_of,
            words=("raw", "log", "rank"),
            remedy="'raw' (columns as they are), 'log' or 'rank' (normal scores of ranks)",
        ),
    )
    lags: int = option(
        0, "Number of preceding rows (in time) that may affect a row.", partial(whole, least=0)
    )
    exogenous: Sequence[str] = option(
        (), "Exogenous columns, which nothing causes, separated by commas.", names_in
    )
    categories: Sequence[str] = option(
        (), "Nominal columns, which become exogenous indicators, separated by commas.", names_in
    )
    ordered: Sequence[str] = option((), "Ordinal columns, separated by commas.", names_in)
    continuous: Sequence[str] = option(
        (), "Columns with few values that are measurements, separated by commas.", names_in
    )
    weights: str | None = option(None, "Column of survey weights.", _column)
    within: str | None = option(
        None, "Column of subjects; each subject's mean is removed from its rows.", _column
    )
    se: Errors = option(
        "auto",
        "Standard errors and test: Gaussian or robust; by default, chosen from the data.",
        partial(one_of, words=("auto", "standard", "robust")),
    )
    covariance: Covariance = option(
        "sample",
        "Sample covariance, or shrunk (Ledoit and Wolf).",
        partial(
            one_of, words=("sample", "shrunk"), remedy="'sample' or 'shrunk' (Ledoit and Wolf)"
        ),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.lags and self.missing not in ("error", "rows"):
            raise InputError(
                f"missing={self.missing!r} cannot be combined with lags, which need complete "
                "preceding rows; use missing='rows'"
            )
        if self.covariance == "shrunk" and self.missing not in ("error", "rows"):
            raise InputError(
                f"covariance='shrunk' needs complete rows, but missing is {self.missing!r}; use "
                "missing='rows'"
            )
        others = {"margins": ("log", "rank"), "covariance": ("shrunk",), "missing": ("em",)}
        for name, words in others.items():
            word = getattr(self, name)
            if self.ordered and word in words:
                raise InputError(
                    f"{name}={word!r} cannot be combined with ordered columns, whose correlations "
                    "are estimated pair by pair; omit one of them"
                )
        if both := [name for name in self.ordered if name in self.continuous]:
            raise InputError(f"{both[0]!r} is both ordered and continuous; omit one of them")
        if self.ordered and self.lags:
            raise InputError("lags cannot be combined with ordered columns; omit one of them")
        if self.weights and self.within:
            raise InputError("weights cannot be combined with within; omit one of them")
        for name in ("weights", "within", "se"):
            refused = self._not_with_rows("em" if name == "se" else "")
            if name == "se" and self.ordered:
                refused = ""
            if refused and getattr(self, name) not in (None, "auto", "standard"):
                raise InputError(
                    f"{name}={getattr(self, name)!r} cannot be combined with "
                    f"{refused}={getattr(self, refused)!r}; omit one of them"
                )
        if self.interventions is not None:
            for name in ("missing", "lags", "ordered", "categories", "covariance"):
                if name in self.given():
                    raise InputError(
                        f"{name}={getattr(self, name)!r} cannot be combined with interventions; "
                        "omit one of them"
                    )

    def _not_with_rows(self, besides: str = "") -> str:
        """An option that rules out the covariance of plain rows; empty if there is none."""
        return next(self._ruling_out(besides), "")

    def _ruling_out(self, besides: str) -> Iterator[str]:
        taken: dict[str, tuple[Any, ...]] = {
            "missing": ("error", "rows", "pairwise" if besides == "ordered" else besides),
            "margins": ("raw",),
            "covariance": ("sample",),
            "lags": (0,),
            "ordered": ((), self.ordered if besides == "ordered" else ()),
            "interventions": (None,),
        }
        return (name for name, words in taken.items() if getattr(self, name) not in words)

    @property
    def _not_with_ordered(self) -> tuple[str, ...]:
        """The options in use that cannot be combined with ordinal columns."""
        rows = (name for name in ("weights", "within") if getattr(self, name))
        return (*rows, *self._ruling_out("ordered"))

    @property
    def reading(self) -> Reading:
        """Only the options of reading."""
        return Reading(**{name: getattr(self, name) for name in Reading.names()})

    @property
    def is_unknown(self) -> bool:
        """Whether the targets are unknown and will be learned."""
        return self.interventions == intervened_tables.UNKNOWN

    @property
    def design(self) -> Design:
        """The kind of the interventions; unknown targets are found from the noise only."""
        kind = "noise" if self.is_unknown else self.intervention_kind
        is_grouped = self.groups is not None or isinstance(self.interventions, dict)
        return Design(kind, self.intercepts, is_grouped and not self.is_unknown)

    def tables(self, data: SeveralData | Tables) -> Tables:
        """Read the tables and check them; tables that were read already are returned.

        Parameters
        ----------
        data : DataFrame, array of shape (n, p), path or Moments
            Or several of these, in a list or a mapping from names.
        """
        if isinstance(data, Tables):
            return data
        given = self.interventions
        targets = given.values() if isinstance(given, dict) else [given]
        texts = (*self.categories, *self.ordered, self.groups, self.within, *targets)
        words = intervened_tables.ROWS, intervened_tables.UNKNOWN
        labels = [name for name in texts if isinstance(name, str) and name not in words]
        if isinstance(data, (str, Path)) and labels and tetrad_matrix(data) is None:
            data = as_rows(data, labels)
        if self.categories:
            frame, reading = self.with_indicators(as_rows(data))
            return reading.tables(frame)
        if self.interventions is not None:
            options = self.design, self.n_effective, self.exogenous, self.margins
            if self.is_unknown:
                tables = intervened_tables.unknown_tables(data, self.groups, *options)
            elif self.groups is None and not isinstance(self.interventions, dict):
                parts = intervened_tables.targeted_parts(
                    data, self.interventions, self.intervention_kind
                )
                tables = intervened_tables.intervened_tables(parts, *options)
            else:
                of_groups = {}
                for name, own in intervened_tables.grouped_parts(
                    data, self.groups, self.interventions, self.intervention_kind
                ).items():
                    with naming_group(name):
                        of_groups[name] = intervened_tables.intervened_tables(own, *options)
                tables = Tables.of_groups(of_groups)
            return replace(tables, warnings=self._possible(tables.warnings))
        named = named_tables(data, self.groups, in_order=self.lags > 0)
        if named is None:
            return self._one(data)
        read = {}
        opened = {name: _opened(each) for name, each in named.items()}
        rows = [self._rows(each) for each in opened.values() if not isinstance(each, Moments)]
        # Ordinal columns are ordinal in every group.
        found = [set(self._recognised(each)) for each in rows]
        everywhere = tuple(sorted(set.intersection(*found))) if found else ()
        for name, each in opened.items():
            with naming_group(name):
                read[name] = self._one(each, everywhere)
        return Tables.of_groups(read)

    def with_indicators(self, table: Any) -> tuple[Any, Reading]:
        """The table with indicators in place of categories, and how that is read."""
        if not self.categories:
            return table, self.reading
        frame, given = with_indicators(table, self.categories)
        return frame, self.reading.replaced(categories=(), exogenous=(*self.exogenous, *given))

    def _one(self, data: Any, recognised: tuple[str, ...] | None = None) -> Tables:
        data = _opened(data)
        if isinstance(data, Moments):
            treated, rows, recognised = self._given(data), None, ()
        else:
            given = self._rows(data)
            found = self._recognised(given) if recognised is None else recognised
            treated, given, recognised = self._with_levels(given, found)
            rows = with_margins(given, self.margins)
            if self.within:
                rows = rows.with_values(treated.filled)
        memory = None if treated.raw is None else Memory.of(given_exogenous(treated)[1])
        weight, counting = row_weight(self.n_effective, treated.moments.n_samples, memory)
        size = (
            treated.n_effective * weight if isinstance(self.n_effective, str) else self.n_effective
        )
        size = max(size, float(_FEWEST))
        if counting not in ("memory", "number") and (self.weights or self.within):
            counting = "weights" if self.weights else "subjects"
        n_counted = None if self.n_effective == "all" else size
        warnings = check_treated(
            treated, memory, self.margins, n_counted, self.continuous, self._not_with_ordered
        )
        if recognised:
            warnings = (*warnings, OrdinalColumns(columns=recognised, is_taken=True))
        texts = {} if rows is None else rows.texts
        coded = {name: texts[name] for name in texts if name not in treated.moments.ordered}
        if coded:
            warnings = (*warnings, TextsAsNumbers(columns=tuple(coded), texts=(*coded.values(),)))
        is_clear = any(isinstance(each, NonnormalColumns) for each in warnings)
        # Latent correlations have no other covariance than that of the rows.
        can_be = is_clear and not self._not_with_rows("em")
        is_robust = self.se == "robust" or (
            self.se == "auto" and (bool(treated.moments.ordered) or can_be)
        )
        warnings = tuple(
            replace(each, is_robust=is_robust) if isinstance(each, NonnormalColumns) else each
            for each in warnings
        )
        table = Table(
            treated.moments,
            size,
            row_weight=weight,
            counting=counting,
            holes=treated.holes,
            shrinkage=treated.shrinkage,
            rows=None if rows is None else rows.values,
            weights=None if rows is None else rows.weights,
            is_robust=is_robust,
        )
        return Tables((table,), warnings=self._possible(warnings))

    def _possible(self, warnings: Sequence[DataWarning]) -> tuple[DataWarning, ...]:
        """The warnings, without remedies that these options rule out."""
        can_rank, can_lag = self._accepts(margins="rank"), self._accepts(lags=1)
        changed: list[DataWarning] = []
        for each in warnings:
            if isinstance(each, NonnormalColumns):
                each = replace(each, can_rank=can_rank)
            elif isinstance(each, DependentRows):
                each = replace(each, can_lag=can_lag)
            changed.append(each)
        return tuple(changed)

    def _accepts(self, **changes: Any) -> bool:
        try:
            self.replaced(**changes)
        except InputError:
            return False
        return True

    def _rows(self, data: Any) -> Rows:
        """The rows, with their weights and subjects."""
        weights = subjects = None
        if self.weights:
            data, column = row_column(data, self.weights, "weights")
            weights = numeric_matrix(column.to_frame(), "data", [self.weights])[:, 0]
            if not (weights > 0).all() or not np.isfinite(weights).all():
                raise InputError(
                    f"column {self.weights!r} has weights that are not positive; drop those rows"
                )
        if self.within:
            data, column = row_column(data, self.within, "within")
            subjects = np.unique(column.astype(str), return_inverse=True)[1]
        rows = Rows.of(with_numbers(data, self.ordered)).given(self.exogenous)
        return replace(rows.with_ordered(self.ordered), weights=weights, subjects=subjects)

    def _recognised(self, rows: Rows) -> tuple[str, ...]:
        """Columns recognised as ordinal although they were not named."""
        names_among("continuous", self.continuous, rows.names)
        if self._not_with_ordered:
            return ()
        return ordinal_columns(rows, (*self.ordered, *self.continuous))

    def _with_levels(
        self, rows: Rows, recognised: tuple[str, ...]
    ) -> tuple[Treated, Rows, tuple[str, ...]]:
        """Treated rows, with columns recognised as ordinal where the options permit."""
        shrinkage = 0.0
        if recognised:
            given = rows.with_ordered((*rows.ordered, *recognised))
            with suppress(InputError):
                treated = self.treated(given)
                if not (shrinkage := treated.repaired):
                    return replace(treated, raw=rows.values), given, recognised
        treated = self.treated(with_margins(rows, self.margins))
        raw = treated.filled if self.within else rows.values
        return replace(treated, raw=raw, avoided=shrinkage), rows, ()

    def _given(self, moments: Moments) -> Treated:
        """Moments, whose rows cannot be transformed or selected."""
        names = ("margins", "lags", "covariance", "ordered", "continuous", "weights", "within")
        for name in (*names, *(["se"] if self.se == "robust" else [])):
            if name in self.given():
                raise InputError(
                    f"{name}={getattr(self, name)!r} needs the rows, but the data are a covariance "
                    "matrix (Moments, which have no rows); pass the table"
                )
        given = moments.given(self.exogenous)
        return Treated(given, float(given.n_samples), np.empty((0, 0)), None)

    def treated(self, rows: Rows, is_counted: bool = True) -> Treated:
        """Rows with lagged columns and treated missing values, and their moments.

        Unless it ``is_counted``, ordinal columns do not reduce the effective sample size.
        """
        if self.lags:
            rows = with_past(rows, self.lags)
        treated = treat_missing(rows, self.missing)
        if rows.ordered:
            return with_latent_correlations(treated, rows, is_counted)
        return shrunk(treated) if self.covariance == "shrunk" else treated


def _opened(data: Any) -> Any:
    """Rows or moments from a table, an array or a file."""
    if isinstance(data, (str, Path)) and tetrad_matrix(data) is not None:
        return read_moments(data)
    return as_rows(data)


@takes_options(Reading)
def as_tables(data: SeveralData | Tables, **reading: Any) -> Tables:
    """Read tables from anything that functions on data accept; keywords as in :class:`Reading`."""
    return Reading.of(reading).tables(data)
