"""A file that keeps long work part by part, so that it can be continued.

A file of lines of JSON: the first says what is being run, each other one is a part, written when it
was done. Several processes may add to it. No line is ever changed or taken off: one that an
interruption cut short is skipped, and its part is done again.
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

# Bytes of a first line, enough for much knowledge.
_LONGEST = 100_000_000


@dataclass(frozen=True)
class RecordFile:
    """The file at a path, what it is called in messages, and the schema that its header names."""

    path: Path
    what: str
    schema: str

    def header(self) -> dict[str, Any]:
        """The first line; empty where there is no file, or nothing in it.

        Raises
        ------
        InputError
            Where the file is something else. It is not read further.
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
        """The header of the file, which is this one where there was none."""
        wanted = plain({"schema": self.schema, **header})
        try:
            # Whole or not at all, so that of several that begin one file only one does.
            if write_new(self.path, _line(wanted)):
                return wanted
        except OSError as error:
            raise InputError(f"cannot use the {self.what} {self.path}: {why(error)}") from None
        found = self.header()
        if not found:
            self.add(wanted)
        return found or wanted

    def records(self) -> Iterator[tuple[int, Any]]:
        """Stream the records, each with the number of its line."""
        header = self.header()
        with self.path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                # Two that found an empty file may both have written its header.
                value = _value(line) if number > 1 else None
                if value is not None and value != header:
                    yield number, value

    def add(self, record: Mapping[str, Any]) -> None:
        """Keep one record, on the disk when this returns."""
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
    """A record as it is read back."""
    found: dict[str, Any] = json.loads(_line(record))
    return found


def _line(record: Mapping[str, Any]) -> bytes:
    return json.dumps(record, default=_number).encode() + b"\n"


def _number(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} has no plain form")


def _value(line: bytes) -> Any:
    """The value of a line; None where it was cut short."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _ends_a_line(file: Any) -> bool:
    file.seek(-1, os.SEEK_END)
    return bool(file.read(1) == b"\n")
