"""Run the instances of a study that are not in its results file yet: here or on a cluster.

The results of a study are one SQLite file: a transaction for each instance that finishes. A run
that is killed at any moment leaves the instances that were committed, and nothing of the one in
progress; SQLite sees to that.
"""

from __future__ import annotations

import asyncio
import json
import os
import platform
import sqlite3
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from cyclearn import __version__
from cyclearn.experiments.study import Output, Study, Task
from cyclearn.foundation.arguments import processes
from cyclearn.foundation.errors import InputError, LimitError
from cyclearn.foundation.interruption import ended_quietly
from cyclearn.foundation.json_input import short

if TYPE_CHECKING:
    import pandas as pd


# Seconds to wait for the scheduler of a cluster to answer.
_ANSWER = 10


@dataclass(frozen=True)
class Finished:
    """The outputs of one instance and the seconds it took."""

    task: Task
    outputs: list[Output]
    seconds: float


def run_study(
    study: Study,
    path: Path | str,
    *,
    n_instances: int | None = None,
    n_jobs: int = 1,
    scheduler: str | None = None,
    must_be_new: bool = False,
    on_progress: Callable[[int, int], None] | None = None,
) -> ResultsFile:
    """Run a study, or what is left of it, into one SQLite file.

    Each instance has a seed of its own and runs on one core, so the results depend neither on
    ``n_jobs`` nor on the order nor on interruptions. A row is written as each instance finishes.

    Parameters
    ----------
    study : Study
    path : path
        The results file; a file with some results of the same configuration is continued.
    n_instances : int, optional
        Instances of every setting; all there are by default.
    n_jobs : int
        Processes on this machine.
    scheduler : str, optional
        Address of a Dask scheduler to run on instead, such as ``tcp://127.0.0.1:8786``.
    must_be_new : bool
        Refuse a file that has results.
    on_progress : callable, optional
        Called with the number of finished instances and the number of all.

    Raises
    ------
    InputError
        If the file was made with another configuration.
    """
    processes(n_jobs)
    results = ResultsFile(path)
    tasks = study.tasks(n_instances)
    results.open(study.configuration, must_be_new=must_be_new)
    finished = results.finished()
    left = [task for task in tasks if task not in finished]
    done = len(tasks) - len(left)
    if on_progress is not None:
        on_progress(done, len(tasks))
    if not left:
        return results
    stream = (
        _run_here(study, left, n_jobs)
        if scheduler is None
        else _run_on_cluster(study, left, scheduler)
    )
    with ended_quietly(stream):
        for instance in stream:
            results.add(instance.task, instance.outputs, instance.seconds)
            done += 1
            if on_progress is not None:
                on_progress(done, len(tasks))
    return results


def run_task(study: Study, task: Task) -> Finished:
    """Run one instance on one core."""
    from threadpoolctl import threadpool_limits

    begun = perf_counter()
    # Sums in another order have other last digits, so libraries get one thread everywhere.
    try:
        with threadpool_limits(limits=1):
            outputs = study.run(task)
    except (InputError, LimitError) as error:
        raise type(error)(f"instance {task.instance} of {task.setting!r}: {error}") from error
    return Finished(task, outputs, perf_counter() - begun)


def _run_here(study: Study, tasks: Sequence[Task], n_jobs: int) -> Generator[Finished, None, None]:
    from concurrent.futures.process import BrokenProcessPool

    from joblib import Parallel, delayed

    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)
    try:
        yield from parallel(delayed(run_task)(study, task) for task in tasks)
    except BrokenProcessPool:
        raise LimitError(
            "a process was ended from outside, for want of memory perhaps; what had finished is in "
            "the file, and the same command, with fewer jobs if need be, continues"
        ) from None


async def _greet(address: str) -> None:
    """Connect to a scheduler as a client would, within a fixed time."""
    from distributed.comm import connect

    comm = await asyncio.wait_for(connect(address, timeout=_ANSWER), timeout=_ANSWER + 1)
    await comm.close()


def _run_on_cluster(
    study: Study, tasks: Sequence[Task], address: str
) -> Generator[Finished, None, None]:
    try:
        from distributed import CancelledError, Client, KilledWorker, as_completed
        from distributed.comm import CommClosedError
    except ImportError:
        raise InputError(
            "a run on a cluster needs the package distributed: install cyclearn[cluster], or run "
            "without a scheduler"
        ) from None
    try:
        # A client asks again and again; one question says whether anybody answers.
        asyncio.run(_greet(address))
        client = Client(address, timeout=_ANSWER)
    except Exception as error:
        # What a port that speaks something else says can break anything, even fill the memory.
        reason = short(str(error) or "no answer in time")
        raise InputError(
            f"no Dask scheduler answers at {address!r} ({reason}); start one with dask scheduler "
            "and workers with dask worker ADDRESS"
        ) from None
    with client:
        # Instances of a lost worker are given to the others by the scheduler.
        futures = client.map(partial(run_task, study), tasks, pure=False)
        try:
            for future in as_completed(futures):
                yield future.result()
                # The worker may forget what is in the file.
                future.release()
        except (CancelledError, CommClosedError, KilledWorker) as error:
            reason = (
                "one instance ended several workers, for want of memory perhaps"
                if isinstance(error, KilledWorker)
                else f"the scheduler at {address} went away"
            )
            raise LimitError(
                f"{reason}; what had finished is in the file, and the same command continues"
            ) from None


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
