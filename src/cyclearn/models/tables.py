"""The data of an analysis: a list of tables, of which one is the usual case.

Everything that is learned or fitted starts from here. A table is known by its mean and covariance;
the number of rows, the number of independent rows they are worth, its group, the variables that
were set from outside, and how missing values were treated belong to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from cyclearn.errors import InputError
from cyclearn.models.moments import Data, Moments, as_moments, name_order


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
        How missing values were treated.
    """

    moments: Moments
    n_effective: float
    group: str = ""
    targets: tuple[str, ...] = ()
    missing: str = "error"


@dataclass(frozen=True, eq=False)
class Tables:
    """Tables of the same variables, in the same order; made by :func:`as_tables`."""

    tables: tuple[Table, ...]

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

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables."""
        return self.tables[0].moments.names

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.names)

    @property
    def n_samples(self) -> int:
        """Number of rows, of all tables together."""
        return sum(table.moments.n_samples for table in self.tables)

    @property
    def n_effective(self) -> float:
        """How many independent rows there are, in all tables together."""
        return sum(table.n_effective for table in self.tables)

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The variables in the order of their names, by code point; unnamed ones by number."""
        return name_order(self.names, self.tables[0].moments.has_default_names)

    def sorted(self) -> Tables:
        """The same tables with the variables in :attr:`order`."""
        if self.order == tuple(range(self.n_variables)):
            return self
        names = tuple(self.names[j] for j in self.order)
        return Tables(
            tuple(replace(table, moments=table.moments.aligned_to(names)) for table in self)
        )


def as_tables(data: Data | Tables) -> Tables:
    """Tables of what functions on data accept."""
    if isinstance(data, Tables):
        return data
    moments = as_moments(data)
    return Tables((Table(moments, float(moments.n_samples)),))
