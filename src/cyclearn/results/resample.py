"""The graph that was learned from one resample of the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Resample:
    """The graph learned from one resample.

    ``redraws`` counts draws thrown away because a column was constant or collinear in them;
    ``limits`` names the limits that the search met; ``error`` says why there is no graph.
    """

    number: int
    edges: tuple[tuple[int, int], ...]
    redraws: int = 0
    limits: tuple[str, ...] = ()
    error: str | None = None

    @property
    def is_cut(self) -> bool:
        """Whether time ended the search before it was done."""
        return "time_limit" in self.limits

    def to_dict(self) -> dict[str, Any]:
        """The resample as plain values."""
        record: dict[str, Any] = {"number": self.number, "edges": [list(e) for e in self.edges]}
        if self.redraws:
            record["redraws"] = self.redraws
        if self.limits:
            record["limits"] = list(self.limits)
        if self.error is not None:
            record["error"] = self.error
        return record

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Resample:
        """The resample that :meth:`to_dict` gave."""
        return cls(
            int(record["number"]),
            tuple((int(i), int(j)) for i, j in record["edges"]),
            int(record.get("redraws", 0)),
            tuple(record.get("limits", ())),
            record.get("error"),
        )
