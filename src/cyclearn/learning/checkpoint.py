"""The file in which a bootstrap stores its resamples and from which it can continue."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cyclearn import __version__
from cyclearn.data.resampling import Resampler
from cyclearn.foundation.errors import InputError
from cyclearn.foundation.record_file import RecordFile, plain
from cyclearn.results.bootstrap_result import Resample


def checkpoint_file(path: Path) -> RecordFile:
    """The record file of a checkpoint."""
    return RecordFile(path, "checkpoint of bootstrap", "cyclearn.bootstrap-checkpoint/1")


class Checkpoint:
    """The checkpoint of one bootstrap: its stored resamples and its file."""

    def __init__(self, path: Path, resampler: Resampler, options: dict[str, Any]) -> None:
        self._file = checkpoint_file(path)
        self._n_nodes = len(resampler.names)
        self._header = plain(
            {
                "version": __version__,
                "data": resampler.digest(),
                "resampling": resampler.resampling,
                "options": options,
            }
        )

    def read(self) -> dict[int, Resample]:
        """The resamples stored so far; a missing or empty file is started.

        Raises
        ------
        InputError
            If the file is not a checkpoint, is damaged or was made with other settings. The file is
            not changed.
        """
        self._check(self._file.begin(self._header))
        found = (self._resample(record, line) for line, record in self._file.records())
        return {resample.number: resample for resample in found}

    def _check(self, header: dict[str, Any]) -> None:
        before, now = header.get("options"), self._header["options"]
        before = before if isinstance(before, dict) else {}
        changed = [key for key in sorted({*before, *now}) if before.get(key) != now.get(key)]
        others = ("data", "resampling", "version")
        changed += [key for key in others if header.get(key) != self._header[key]]
        if changed:
            raise InputError(
                f"the checkpoint {self._file.path} was made with other settings "
                f"({', '.join(changed)}); use the same settings, or name another file"
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
                f"line {line} of the checkpoint {self._file.path} is damaged; remove that line, or "
                "name another file"
            )
        return resample

    def add(self, resample: Resample) -> None:
        """Store one resample."""
        self._file.add(resample.to_dict())
