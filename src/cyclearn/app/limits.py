"""How much the application takes, and the words in which it refuses more."""

from __future__ import annotations

from dataclasses import asdict, dataclass

# Kinds of file that are what their size says, or say themselves how large they are.
OPENED = (".csv", ".tsv", ".txt", ".dat", ".tab", ".parquet", ".feather", ".dta", ".xlsx")


@dataclass(frozen=True)
class Limits:
    """The largest file, table and search that the application takes.

    ``max_seconds`` is for what the page waits for, such as opening a table; a search may take as
    long as it likes.
    """

    max_bytes: int = 100_000_000
    max_rows: int = 1_000_000
    max_columns: int = 1_000
    max_variables: int = 200
    max_members: int = 200
    max_seconds: float = 300.0

    def to_dict(self) -> dict[str, float]:
        """The limits as plain values for JSON."""
        return asdict(self)

    def too_large(self, name: str) -> str:
        """Why a file is refused before it is read."""
        return (
            f"{name} has more than {self.max_bytes:,} bytes, the most that the application takes; "
            "leave out rows or columns, or use the command line (cyclearn learn)"
        )
