"""Draws of the data: rows with replacement, half of the rows, or a covariance; and what they gave.

Draw r depends on the seed and on r alone, so that any process may make it at any time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from math import ceil
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cyclearn.data import Moments, as_moments
from cyclearn.data.grouped_tables import SeveralData, named_tables, naming_group
from cyclearn.data.input_checks import numeric_matrix
from cyclearn.data.intervened_tables import intervened_tables, targeted_parts
from cyclearn.data.lagged_rows import with_past
from cyclearn.data.margins import Margins, with_margins
from cyclearn.data.missing_values import Missing
from cyclearn.data.parametric_draws import draw_moments
from cyclearn.data.shrinkage import Covariance
from cyclearn.data.table_files import as_rows
from cyclearn.data.tables import Design, Table, Tables, as_tables
from cyclearn.foundation.errors import InputError
from cyclearn.foundation.json_input import short
from cyclearn.search.options import SearchOptions

Kind = Literal["rows", "blocks", "half", "parametric", "groups"]

# A draw with a constant or collinear column is thrown away and made again, this often at most.
_MAX_REDRAWS = 50
# Neighbours in a block, in units of the rows that are worth one independent row: several times as
# long as the memory.
_BLOCK_LENGTH = 3


@dataclass(frozen=True, eq=False)
class Resampler:
    """Source of resamples of a table (``rows``) or of moments."""

    moments: Moments
    rows: NDArray[np.float64] | None
    kind: Kind
    seed: int
    n_effective: float
    missing: Missing = "error"
    margins: Margins = "raw"
    covariance: Covariance = "sample"
    shrinkage: float = 0.0

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables."""
        return self.moments.names

    def given(self) -> Tables:
        """What is drawn from, as a search would take it."""
        return self._tables(self.moments)

    @property
    def worth(self) -> float | None:
        """Independent rows that a resample is worth; None where that is all of them.

        Resamples are worth what the data are worth, whatever the draw looks like.
        """
        if self.n_effective >= self.moments.n_samples:
            return None
        return max((0.5 if self.kind == "half" else 1.0) * self.n_effective, 2.0)

    def _tables(self, moments: Moments) -> Tables:
        worth = moments.n_samples if self.worth is None else self.worth
        return Tables((Table(moments, float(worth), shrinkage=self.shrinkage),))

    def draw_tables(self, number: int) -> tuple[Tables, int, int]:
        """As :meth:`draw`, as a search would take it."""
        moments, search_seed, redraws = self.draw(number)
        return self._tables(moments), search_seed, redraws

    def draw(self, number: int) -> tuple[Moments, int, int]:
        """Moments of one resample, a seed for its search, and how many draws were thrown away."""
        generator = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(number,)))
        search_seed = int(generator.integers(2**31))
        for redraws in range(_MAX_REDRAWS + 1):
            try:
                return self._moments(generator), search_seed, redraws
            except InputError as error:  # noqa: PERF203 - a refused draw is rare
                refused = error
        raise InputError(
            f"{_MAX_REDRAWS} resamples in a row could not be used ({refused}); the data have too "
            "few different rows for a bootstrap of rows: pass Moments for a parametric one"
        )

    def _moments(self, generator: np.random.Generator) -> Moments:
        given = self.moments
        names = None if given.has_default_names else given.names
        n = given.n_samples
        if self.rows is None:
            return draw_moments(given, self.n_effective, generator)
        if self.kind == "half":
            chosen = generator.permutation(n)[: n // 2]
        elif self.kind == "blocks":
            length = min(ceil(_BLOCK_LENGTH * n / self.n_effective), n)
            starts = generator.integers(n - length + 1, size=-(-n // length))
            chosen = (starts[:, None] + np.arange(length)).ravel()[:n]
        else:
            chosen = generator.integers(n, size=n)
        rows: Any = self.rows[chosen]
        if self.missing == "error" and self.margins == "raw" and self.covariance == "sample":
            return as_moments(rows, names).given(given.past)
        if names is not None:
            import pandas as pd

            rows = pd.DataFrame(rows, columns=list(names))
        tables = as_tables(
            rows, missing=self.missing, margins=self.margins, covariance=self.covariance
        )
        return tables.only.moments.given(given.past)

    def digest(self) -> str:
        """A fingerprint of what is drawn from."""
        source = self.moments.covariance if self.rows is None else self.rows
        state = sha256(np.ascontiguousarray(source).tobytes())
        state.update(repr((source.shape, self.moments.n_samples, self.moments.names)).encode())
        return state.hexdigest()


@dataclass(frozen=True, eq=False)
class GroupedResampler:
    """Source of resamples of several groups: of the rows within each, or of the groups."""

    parts: Mapping[str, Resampler]
    kind: Kind
    seed: int

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables."""
        return self.given().names

    @property
    def worth(self) -> None:
        """Every group has a worth of its own."""
        return

    def given(self) -> Tables:
        """What is drawn from, as a search would take it."""
        return Tables.of_groups({name: part.given() for name, part in self.parts.items()})

    def draw_tables(self, number: int) -> tuple[Tables, int, int]:
        """One resample, a seed for its search, and how many draws were thrown away."""
        if self.kind == "groups":
            return self._drawn_groups(number)
        drawn = {name: part.draw_tables(number) for name, part in self.parts.items()}
        first = next(iter(drawn.values()))
        tables = Tables.of_groups({name: each[0] for name, each in drawn.items()})
        return tables, first[1], sum(each[2] for each in drawn.values())

    def _drawn_groups(self, number: int) -> tuple[Tables, int, int]:
        generator = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(number,)))
        search_seed = int(generator.integers(2**31))
        names = list(self.parts)
        chosen = generator.integers(len(names), size=len(names)).tolist()
        drawn = {f"{n}. {names[k]}": self.parts[names[k]].given() for n, k in enumerate(chosen, 1)}
        return Tables.of_groups(drawn), search_seed, 0

    def digest(self) -> str:
        """A fingerprint of what is drawn from."""
        each = [(name, part.digest()) for name, part in self.parts.items()]
        return sha256(repr(each).encode()).hexdigest()


@dataclass(frozen=True, eq=False)
class TargetedResampler:
    """Source of resamples of tables with interventions: rows are drawn within each table."""

    parts: tuple[Any, ...]
    targets: tuple[tuple[str, ...], ...]
    design: Design
    seed: int
    kind: Kind = "rows"

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables."""
        return self.given().names

    @property
    def worth(self) -> None:
        """All rows count."""
        return

    def given(self) -> Tables:
        """What is drawn from, as a search would take it."""
        return intervened_tables(list(self.parts), self.targets, self.design)

    def draw_tables(self, number: int) -> tuple[Tables, int, int]:
        """One resample, a seed for its search, and how many draws were thrown away."""
        generator = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(number,)))
        search_seed = int(generator.integers(2**31))
        drawn = [part.iloc[generator.integers(len(part), size=len(part))] for part in self.parts]
        return intervened_tables(drawn, self.targets, self.design), search_seed, 0

    def digest(self) -> str:
        """A fingerprint of what is drawn from."""
        state = sha256(repr((self.targets, self.names)).encode())
        for part in self.parts:
            state.update(np.ascontiguousarray(part.to_numpy(dtype=float)).tobytes())
        return state.hexdigest()


AnyResampler = Resampler | GroupedResampler | TargetedResampler


def _targeted_resampler(
    data: Any, kind: Kind | None, seed: int, options: SearchOptions
) -> TargetedResampler:
    import pandas as pd

    # What does not go together is refused here.
    options.tables(data)
    parts, targets = targeted_parts(data, options.interventions)
    parts = [as_rows(part) for part in parts]
    if kind not in (None, "rows") or any(isinstance(part, Moments) for part in parts):
        raise InputError(
            "with interventions rows are drawn within each table: give rows, and kind='rows'"
        )
    frames = tuple(pd.DataFrame(part) for part in parts)
    design = Design(options.kind, options.intercepts)
    return TargetedResampler(frames, tuple(targets), design, seed)


def make_resampler(
    data: SeveralData, kind: Kind | None, seed: int, options: SearchOptions | None = None
) -> AnyResampler:
    """Resampler of data; of several groups, one that draws within each, or draws groups."""
    options = SearchOptions() if options is None else options
    if options.interventions is not None:
        return _targeted_resampler(data, kind, seed, options)
    named = named_tables(data, options.groups, in_order=options.lags > 0)
    if named is None:
        if kind == "groups":
            raise InputError("kind is 'groups', and there is one table; give several, or groups=…")
        return table_resampler(data, kind, seed, options)
    parts = {}
    for place, (name, each) in enumerate(named.items()):
        within = None if kind == "groups" else kind
        # Every group has a seed of its own, so that rows of different groups are drawn apart.
        own = int(np.random.SeedSequence(seed, spawn_key=(0, place)).generate_state(1)[0])
        with naming_group(name):
            parts[name] = table_resampler(each, within, own, options)
    kinds = {part.kind for part in parts.values()}
    if kind is None and len(kinds) > 1:
        raise InputError(
            f"groups would be drawn in different ways ({', '.join(sorted(kinds))}); give kind"
        )
    return GroupedResampler(parts, kind or kinds.pop(), seed)


def table_resampler(data: Any, kind: Kind | None, seed: int, options: SearchOptions) -> Resampler:
    """Resampler of one table; rows where there are rows, by default with replacement.

    Rows that are worth fewer independent ones, by the ``n_effective`` of the options, are drawn in
    blocks of neighbours by default.
    """
    options = options.replaced(groups=None)
    data = as_rows(data)
    table = options.tables(data).only
    moments, worth = table.moments, table.n_effective
    if isinstance(data, Moments):
        if kind not in (None, "parametric"):
            raise InputError(
                f"kind is {kind!r} and the data are Moments, which have no rows; pass the table, "
                "or kind='parametric'"
            )
        return Resampler(data, None, "parametric", seed, worth)
    if kind not in (None, "rows", "blocks", "half", "parametric"):
        raise InputError(
            f"kind is {short(kind)}; give 'rows', 'blocks', 'half' or 'parametric', and 'groups' "
            "where there are several"
        )
    if kind == "parametric":
        return Resampler(moments, None, "parametric", seed, worth, shrinkage=table.shrinkage)
    if kind == "half" and moments.n_samples < 6:
        raise InputError(
            f"there are {moments.n_samples} rows; halves of them are too few: use kind='rows'"
        )
    if kind is None:
        # Holes leave fewer rows as well, which is no reason for blocks.
        kind = "rows" if options.n_effective is None else "blocks"
        if worth == moments.n_samples:
            kind = "rows"
    margins = options.margins
    if options.lags:
        # Given their past, rows are independent: each is drawn together with its past.
        data, margins = with_past(with_margins(data, margins), options.lags), "raw"
    rows = numeric_matrix(data, "data")
    is_hole = np.isnan(rows)
    # Rows that are not used are not drawn.
    unused = is_hole.any(axis=1) if options.missing == "rows" else is_hole.all(axis=1)
    rows = rows[~unused] if is_hole.any() else rows
    missing: Missing = "error" if options.missing == "rows" else options.missing
    return Resampler(
        *(moments, rows, kind, seed, worth, missing, margins, options.covariance, table.shrinkage)
    )
