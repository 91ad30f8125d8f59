"""Limits of the application, and the errors about them."""

from __future__ import annotations

from dataclasses import dataclass

from cyclearn.foundation.errors import InputError

# File formats whose content is no larger than the file, or that state their size.
OPENED = (".csv", ".tsv", ".txt", ".dat", ".tab", ".parquet", ".feather", ".dta", ".xlsx")
# Maximum length of a message, because names may be of any length.
_LONGEST = 2_000


def words_of(error: Exception) -> str:
    """The message of an error, shortened if it is long."""
    words = str(error)
    return words if len(words) <= _LONGEST else f"{words[: _LONGEST - 2]} …"


@dataclass(frozen=True)
class Limits:
    """The largest file, table and search that the application accepts.

    ``max_seconds`` applies to requests that the page waits for, such as opening a table; searches
    have no limit.
    """

    max_bytes: int = 100_000_000
    max_rows: int = 1_000_000
    max_columns: int = 1_000
    max_variables: int = 200
    max_members: int = 200
    max_seconds: float = 300.0

    def check_shape(self, rows: int, columns: int) -> None:
        """Raise for a table with too many rows or columns."""
        if rows > self.max_rows or columns > self.max_columns:
            raise InputError(
                f"it has {rows:,} rows and {columns:,} columns; the application allows at most "
                f"{self.max_rows:,} rows and {self.max_columns:,} columns: remove some, or use "
                "the command line (cyclearn learn)"
            )

    def too_large(self, name: str) -> str:
        """The reason for refusing a file before it is read."""
        return (
            f"{name} has more than {self.max_bytes:,} bytes, the maximum of the application; "
            "remove rows or columns, or use the command line (cyclearn learn)"
        )
