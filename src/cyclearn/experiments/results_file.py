"""One SQLite file for the results of a study: a transaction for each instance that finishes.

A run that is killed at any moment leaves the instances that were committed, and nothing of the one
in progress; SQLite sees to that.
"""

from __future__ import annotations

import json
import os
import platform
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cyclearn import __version__
from cyclearn.experiments.study import Output, Task
from cyclearn.foundation.errors import InputError
from cyclearn.foundation.json_input import short

if TYPE_CHECKING:
    import pandas as pd

_SCHEMA = (
    "CREATE TABLE configuration (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE environment (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE instances (setting TEXT, instance INTEGER, seconds REAL NOT NULL, "
    "PRIMARY KEY (setting, instance))",
    "CREATE TABLE outputs (setting TEXT, instance INTEGER, number INTEGER, method TEXT, "
    "measures TEXT NOT NULL, seconds REAL NOT NULL, "
    "PRIMARY KEY (setting, instance, number, method))",
)
_TABLES_OF = "SELECT coalesce(sql, '') FROM sqlite_master WHERE name NOT LIKE 'sqlite_autoindex%'"
# How long one process waits for another that writes.
_TIMEOUT = 60.0


class ResultsFile:
    """Configuration and results of one study in one SQLite file."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)

    @contextmanager
    def _connected(self, *, may_be_new: bool = False) -> Iterator[sqlite3.Connection]:
        if not may_be_new and not self.path.is_file():
            raise InputError(f"there is no results file {self.path}; run an experiment first")
        if not self.path.parent.is_dir():
            raise InputError(
                f"there is no folder {self.path.parent} for the results; make it first"
            )
        try:
            with closing(sqlite3.connect(self.path, timeout=_TIMEOUT)) as connection, connection:
                yield connection
        except sqlite3.DatabaseError as error:
            raise InputError(
                f"cannot use {self.path} for results: {error}; name a results file or a new file"
            ) from None

    def open(self, configuration: Mapping[str, Any], *, must_be_new: bool = False) -> None:
        """Start the file, or check that it holds the same configuration.

        A file in which no instance has finished is started anew.

        Raises
        ------
        InputError
            Where the file holds another configuration, with what differs.
        """
        wanted = {name: _as_json(value) for name, value in configuration.items()}
        with self._connected(may_be_new=True) as connection:
            # One process at a time starts a file.
            connection.execute("BEGIN IMMEDIATE")
            held_tables = [sql for (sql,) in connection.execute(_TABLES_OF)]
            if not held_tables:
                for statement in _SCHEMA:
                    connection.execute(statement)
            elif sorted(held_tables) != sorted(_SCHEMA):
                raise InputError(
                    f"{self.path} is a database of something else; name a results file or a new "
                    "file"
                )
            if not connection.execute("SELECT 1 FROM instances").fetchone():
                for table, rows in (("configuration", wanted), ("environment", _environment())):
                    connection.execute(f"DELETE FROM {table}")
                    connection.executemany(f"INSERT INTO {table} VALUES (?, ?)", rows.items())
                return
            if must_be_new:
                raise InputError(f"{self.path} has results already; name a new file or continue it")
            held = dict(connection.execute("SELECT name, value FROM configuration"))
        differing = [
            f"{name} is {held.get(name, 'absent')} there and {wanted.get(name, 'absent')} here"
            for name in sorted({*held, *wanted})
            if held.get(name) != wanted.get(name)
        ]
        if differing:
            raise InputError(
                f"{self.path} holds a run with another configuration: {'; '.join(differing)}; give "
                "the same options to continue it, or name another file"
            )

    @property
    def configuration(self) -> dict[str, Any]:
        """The configuration that the results were made with."""
        pairs = self._pairs("configuration")
        try:
            found = {str(name): json.loads(value) for name, value in pairs}
        except (ValueError, TypeError, RecursionError) as error:
            raise InputError(f"the configuration in {self.path} is damaged: {error}") from None
        if not isinstance(found.get("study"), str):
            raise InputError(f"{self.path} names no study; it is no results file of an experiment")
        return found

    @property
    def environment(self) -> dict[str, str]:
        """When and with what the run was started."""
        return dict(self._pairs("environment"))

    def _pairs(self, table: str) -> list[tuple[str, str]]:
        with self._connected() as connection:
            return connection.execute(f"SELECT name, value FROM {table} ORDER BY name").fetchall()

    def finished(self) -> set[Task]:
        """The instances whose results are in the file."""
        with self._connected() as connection:
            rows = connection.execute("SELECT setting, instance FROM instances")
            return {Task(*row) for row in rows}

    def add(self, task: Task, outputs: Sequence[Output], seconds: float) -> None:
        """Write the results of one instance, all or nothing."""
        with self._connected() as connection:
            # A second process on the same file may have been faster; its results are the same.
            connection.execute(
                "INSERT OR IGNORE INTO instances VALUES (?, ?, ?)",
                (task.setting, task.instance, seconds),
            )
            connection.executemany(
                "INSERT OR IGNORE INTO outputs VALUES (?, ?, ?, ?, ?, ?)",
                [
                    (
                        task.setting,
                        task.instance,
                        output.number,
                        output.method,
                        _as_json(output.measures),
                        output.seconds,
                    )
                    for output in outputs
                ],
            )

    def table(self, *, timings: bool = False) -> pd.DataFrame:
        """All outputs, one a row, in a fixed order; the same for the same configuration.

        With ``timings``, a column of seconds more, which is not.
        """
        import pandas as pd

        with self._connected() as connection:
            rows = connection.execute(
                "SELECT setting, instance, number, method, measures, seconds FROM outputs "
                "ORDER BY setting, instance, number, method"
            ).fetchall()
        records = []
        for setting, instance, number, method, measures, seconds in rows:
            record = {"setting": setting, "instance": instance, "number": number, "method": method}
            record |= self._measures(record, measures)
            records.append(record | {"seconds": seconds} if timings else record)
        return pd.DataFrame(records)

    def _measures(self, record: dict[str, Any], text: Any) -> dict[str, Any]:
        """The measures of one output, checked: names and plain values."""
        try:
            measures = json.loads(text)
            is_sound = isinstance(record["setting"], str) and isinstance(record["method"], str)
            is_sound = is_sound and not any(isinstance(v, (list, dict)) for v in measures.values())
            is_sound = is_sound and not {*measures} & {*record}
            # Halves of characters cannot be put into a table.
            _as_json(measures).encode()
        except (ValueError, TypeError, AttributeError, RecursionError):
            is_sound = False
        if not is_sound:
            raise InputError(
                f"output {record['number']} of instance {record['instance']} of "
                f"{short(record['setting'])} in {self.path} is damaged; run the study into a new "
                "file"
            )
        return dict(measures)

    def total_seconds(self) -> float:
        """Time of all instances together."""
        with self._connected() as connection:
            found = connection.execute("SELECT total(seconds) FROM instances").fetchone()[0]
        return float(found)


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} has no plain form")


def _environment() -> dict[str, str]:
    return {
        "date": date.today().isoformat(),
        "cyclearn": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "system": f"{platform.system()} {platform.machine()}",
        "cores": str(os.cpu_count()),
    }
