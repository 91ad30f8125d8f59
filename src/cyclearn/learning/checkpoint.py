"""The file in which a bootstrap keeps its resamples, and from which it goes on.

A file of lines: the first says what is being run, each other one is a resample, written when it was
done. Nothing in the file is ever changed or taken off: a line that an interruption cut short is
skipped, and its resample is learned again.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from cyclearn import __version__
from cyclearn.data.resampling import Resampler
from cyclearn.foundation.errors import InputError
from cyclearn.foundation.files import why, write_new
from cyclearn.results.bootstrap_result import Resample

_SCHEMA = "cyclearn.bootstrap-checkpoint/1"
# Bytes of a first line, with room for much knowledge.
_LONGEST = 100_000_000


def check_checkpoint(path: Path) -> None:
    """Refuse a file that is no checkpoint, before there is anything to be kept in it."""
    try:
        with path.open("rb") as file:
            header = file.readline(_LONGEST)
    except FileNotFoundError:
        return
    except OSError as error:
        raise InputError(f"cannot use the checkpoint {path}: {why(error)}") from None
    if header:
        _header(header, path)


class Checkpoint:
    """The checkpoint of one bootstrap: what was kept of it, and where more is kept."""

    def __init__(self, path: Path, resampler: Resampler, options: dict[str, Any]) -> None:
        self._path = path
        self._n_nodes = len(resampler.names)
        self._header = {
            "schema": _SCHEMA,
            "version": __version__,
            "data": resampler.digest(),
            "resampling": resampler.resampling,
            "options": json.loads(json.dumps(options)),
        }

    def read(self) -> dict[int, Resample]:
        """The resamples kept so far; a file that is not there, or empty, is begun.

        Raises
        ------
        InputError
            Where the file is no checkpoint, is damaged or was made with other settings. It is left
            as it is.
        """
        first = json.dumps(self._header).encode() + b"\n"
        try:
            # Whole or not at all, so that of several that begin one file only one does.
            if write_new(self._path, first):
                return {}
            with self._path.open("rb") as file:
                header = file.readline(_LONGEST)
                # What is no checkpoint may be large, and is not read further.
                if header:
                    self._check(header)
                lines = file.read().split(b"\n")
        except OSError as error:
            raise InputError(f"cannot use the checkpoint {self._path}: {why(error)}") from None
        if not header:
            self._write(self._header)
            return {}
        found = {}
        for number, line in enumerate(lines, start=2):
            # Two that found an empty file may both have written what is being run.
            record = _record(line)
            if record is not None and record != self._header:
                resample = self._resample(record, number)
                found[resample.number] = resample
        return found

    def _check(self, line: bytes) -> None:
        header = _header(line, self._path)
        if header == self._header:
            return
        before, now = header.get("options"), self._header["options"]
        before = before if isinstance(before, dict) else {}
        changed = [key for key in sorted({*before, *now}) if before.get(key) != now.get(key)]
        others = ("data", "resampling", "version")
        changed += [key for key in others if header.get(key) != self._header[key]]
        raise InputError(
            f"the checkpoint {self._path} was made with other settings ({', '.join(changed)}); "
            "give the same, or name another file"
        )

    def _resample(self, record: Any, line: int) -> Resample:
        try:
            resample = Resample.from_dict(record)
            is_sound = resample.number >= 0 and all(
                i != j and min(i, j) >= 0 and max(i, j) < self._n_nodes for i, j in resample.edges
            )
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
            is_sound = False
        if not is_sound:
            raise InputError(
                f"line {line} of the checkpoint {self._path} is damaged; remove that line, or name "
                "another file"
            )
        return resample

    def add(self, resample: Resample) -> None:
        """Keep one resample."""
        self._write(resample.to_dict())

    def _write(self, record: dict[str, Any]) -> None:
        line = json.dumps(record).encode() + b"\n"
        try:
            with self._path.open("ab+") as file:
                if file.tell() and not _ends_a_line(file):
                    line = b"\n" + line
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise InputError(f"cannot write the checkpoint {self._path}: {why(error)}") from None


def _header(line: bytes, path: Path) -> dict[str, Any]:
    header = _record(line)
    if not isinstance(header, dict) or header.get("schema") != _SCHEMA:
        raise InputError(f"{path} is not a checkpoint of bootstrap; name another file")
    return header


def _record(line: bytes) -> Any:
    """The value of a line; None where it was cut short."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _ends_a_line(file: Any) -> bool:
    file.seek(-1, os.SEEK_END)
    return bool(file.read(1) == b"\n")
