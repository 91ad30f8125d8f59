"""A file that stores long work part by part, so that it can be continued.

A file of JSON lines: the first describes the run, each other line is a finished part. Several
processes may append to it. Lines are never changed or removed: an incomplete last line is skipped,
and its part is computed again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cyclearn.foundation.errors import InputError
from cyclearn.foundation.files import why, write_new

# Maximum length of the first line, enough for much knowledge.
_LONGEST = 100_000_000


@dataclass(frozen=True)
class RecordFile:
    """A file with its path, its description for messages, and the schema of its header."""

    path: Path
    what: str
    schema: str

    def header(self) -> dict[str, Any]:
        """The first line; empty if the file is missing or empty.

        Raises
        ------
        InputError
            If the file is something else. It is not read further.
        """
        try:
            with self.path.open("rb") as file:
                line = file.readline(_LONGEST)
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise InputError(f"cannot use the {self.what} {self.path}: {why(error)}") from None
        found = _value(line) if line else {}
        if line and not (isinstance(found, dict) and found.get("schema") == self.schema):
            raise InputError(f"{self.path} is not a {self.what}; name another file")
        return found

    def begin(self, header: Mapping[str, Any]) -> dict[str, Any]:
        """Return the header of the file; write this one if there is none."""
        wanted = plain({"schema": self.schema, **header})
        try:
            # Atomically, so that only one of several processes creates the file.
            if write_new(self.path, _line(wanted)):
                return wanted
        except OSError as error:
            raise InputError(f"cannot use the {self.what} {self.path}: {why(error)}") from None
        found = self.header()
        if not found:
            self.add(wanted)
        return found or wanted

    def records(self) -> Iterator[tuple[int, Any]]:
        """Iterate over the records with their line numbers."""
        header = self.header()
        with self.path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                # Two processes that found an empty file may both have written its header.
                value = _value(line) if number > 1 else None
                if value is not None and value != header:
                    yield number, value

    def add(self, record: Mapping[str, Any]) -> None:
        """Append one record, which is on the disk when this returns."""
        line = _line(record)
        try:
            with self.path.open("ab+") as file:
                if file.tell() and not _ends_a_line(file):
                    line = b"\n" + line
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise InputError(f"cannot write the {self.what} {self.path}: {why(error)}") from None


def plain(record: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a record to plain values."""
    found: dict[str, Any] = json.loads(_line(record))
    return found


def _line(record: Mapping[str, Any]) -> bytes:
    return json.dumps(record, default=_number).encode() + b"\n"


def _number(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} has no plain form")


def _value(line: bytes) -> Any:
    """The value of a line; None if it is incomplete."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _ends_a_line(file: Any) -> bool:
    file.seek(-1, os.SEEK_END)
    return bool(file.read(1) == b"\n")
