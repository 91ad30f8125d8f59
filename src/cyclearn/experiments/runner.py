"""Run the instances of a study that are missing in its results file, locally or on a cluster.

The results of a study are one file with a line for each finished instance. A run can be killed at
any moment: written instances are kept, and the one in progress is lost.
"""

from __future__ import annotations

import asyncio
import json
import os
import platform
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import date
from functools import partial
from operator import itemgetter
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd

from cyclearn import __version__
from cyclearn.experiments.study import Output, Study, Task
from cyclearn.foundation import InputError, LimitError, ended_quietly, short
from cyclearn.foundation.arguments import processes
from cyclearn.foundation.record_file import RecordFile, plain

# Seconds to wait for an answer of the scheduler.
_ANSWER = 10


# An instance, its outputs, and the seconds it took.
Finished = tuple[Task, list[Output], float]


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
    """Run a study, or the rest of it, into one file.

    Each instance has its own seed and runs on one core, so the results depend neither on ``n_jobs``
    nor on the order nor on interruptions. A line is written when an instance finishes.

    Parameters
    ----------
    study : Study
    path : path
        The results file; a file with some results of the same configuration is continued.
    n_instances : int, optional
        Instances of every setting; all by default.
    n_jobs : int
        Processes on this machine.
    scheduler : str, optional
        Address of a Dask scheduler to run on instead, such as ``tcp://127.0.0.1:8786``.
    must_be_new : bool
        Refuse a file that has results.
    on_progress : callable, optional
        Called with the number of finished instances and the total number.

    Raises
    ------
    InputError
        If the file was made with another configuration.
    """
    processes(n_jobs)
    results = ResultsFile(path)
    tasks = study.tasks(n_instances)
    results.open(study.configuration, must_be_new=must_be_new)
    known = results.finished()
    left = [task for task in tasks if task not in known]
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
        for finished in stream:
            results.add(*finished)
            done += 1
            if on_progress is not None:
                on_progress(done, len(tasks))
    return results


def run_task(study: Study, task: Task) -> Finished:
    """Run one instance on one core."""
    from threadpoolctl import threadpool_limits

    begun = perf_counter()
    # The order of summation affects the last digits, so libraries always use one thread.
    try:
        with threadpool_limits(limits=1):
            outputs = study.run(task)
    except (InputError, LimitError) as error:
        raise type(error)(f"instance {task.instance} of {task.setting!r}: {error}") from error
    return task, outputs, perf_counter() - begun


def _run_here(study: Study, tasks: Sequence[Task], n_jobs: int) -> Generator[Finished, None, None]:
    from concurrent.futures.process import BrokenProcessPool

    from joblib import Parallel, delayed

    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)
    try:
        yield from parallel(delayed(run_task)(study, task) for task in tasks)
    except BrokenProcessPool:
        raise LimitError(
            "a process was killed, perhaps because memory ran out; finished instances are in "
            "the file, and the same command continues, if necessary with fewer jobs"
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
        # A client would retry forever; one connection shows whether anything answers.
        asyncio.run(_greet(address))
        client = Client(address, timeout=_ANSWER)
    except Exception as error:
        # The answer of another protocol can cause any error, even fill memory.
        reason = short(str(error) or "no answer in time")
        raise InputError(
            f"no Dask scheduler answers at {address!r} ({reason}); start one with dask scheduler "
            "and workers with dask worker ADDRESS"
        ) from None
    with client:
        # The scheduler reassigns the instances of a lost worker.
        futures = client.map(partial(run_task, study), tasks, pure=False)
        try:
            for future in as_completed(futures):
                yield future.result()
                # The worker need not keep results that are in the file.
                future.release()
        except (CancelledError, CommClosedError, KilledWorker) as error:
            reason = (
                "one instance ended several workers, perhaps because memory ran out"
                if isinstance(error, KilledWorker)
                else f"the connection to the scheduler at {address} was lost"
            )
            raise LimitError(
                f"{reason}; finished instances are in the file, and the same command continues"
            ) from None


class ResultsFile:
    """Configuration and results of one study in one file of lines of JSON."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self._file = RecordFile(self.path, "results file of an experiment", "cyclearn.experiment/1")

    def open(self, configuration: Mapping[str, Any], *, must_be_new: bool = False) -> None:
        """Start the file, or check that it holds the same configuration.

        A file without finished instances is overwritten.

        Raises
        ------
        InputError
            If the file has another configuration, with the differences.
        """
        wanted = plain(configuration)
        header = {"configuration": wanted, "environment": _environment()}
        held = self._file.begin(header).get("configuration", {})
        if held != wanted and not self.finished():
            self._file.path.unlink()
            held = self._file.begin(header).get("configuration", {})
        if must_be_new and self.finished():
            raise InputError(f"{self.path} has results already; name a new file or continue it")
        differing = [
            f"{name} is {held.get(name, 'absent')} there and {wanted.get(name, 'absent')} here"
            for name in sorted({*held, *wanted})
            if held.get(name) != wanted.get(name)
        ]
        if differing:
            raise InputError(
                f"{self.path} contains a run with another configuration: "
                f"{'; '.join(differing)}; use the same options to continue it, or name another "
                "file"
            )

    def _header(self) -> dict[str, Any]:
        if not self.path.is_file():
            raise InputError(f"there is no results file {self.path}; run an experiment first")
        return self._file.header()

    @property
    def configuration(self) -> dict[str, Any]:
        """The configuration that the results were made with."""
        found = self._header().get("configuration")
        if not (isinstance(found, dict) and isinstance(found.get("study"), str)):
            raise InputError(
                f"{self.path} names no study; it is not a results file of an experiment"
            )
        return found

    @property
    def environment(self) -> dict[str, str]:
        """When and with which versions the run was started."""
        return dict(self._header().get("environment", {}))

    def finished(self) -> set[Task]:
        """The instances whose results are in the file."""
        return set(self._instances())

    def _instances(self) -> dict[Task, dict[str, Any]]:
        self._header()
        found: dict[Task, dict[str, Any]] = {}
        for line, record in self._file.records():
            with self._refusing_damage(line):
                # A second process on the same file may have been faster, with the same results.
                found.setdefault(Task(record["setting"], record["instance"]), record)
        return found

    @contextmanager
    def _refusing_damage(self, line: int | None = None) -> Iterator[None]:
        where = self.path if line is None else f"line {line} of {self.path}"
        try:
            yield
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise InputError(
                f"{where} is damaged ({short(str(error))}); run the study into a new file"
            ) from None

    def add(self, task: Task, outputs: Sequence[Output], seconds: float) -> None:
        """Write the results of one instance atomically."""
        parts = [asdict(output) for output in outputs]
        self._file.add(asdict(task) | {"seconds": seconds, "outputs": parts})

    def table(self, *, timings: bool = False) -> pd.DataFrame:
        """All outputs, one per row, in a fixed order; the same for the same configuration.

        With ``timings``, also a column of seconds, which varies.
        """
        instances = self._instances()
        with self._refusing_damage():
            rows = [
                _row(task, output, timings)
                for task, record in sorted(instances.items())
                for output in sorted(record["outputs"], key=itemgetter("number", "method"))
            ]
        return pd.DataFrame(rows)

    def total_seconds(self) -> float:
        """Total time of all instances."""
        return float(sum(record["seconds"] for record in self._instances().values()))


def _row(task: Task, output: dict[str, Any], timings: bool) -> dict[str, Any]:
    """One output as a row of a table, checked: names and plain values."""
    named = {**asdict(task), "number": output["number"], "method": output["method"]}
    measures = output["measures"]
    if not (isinstance(task.setting, str) and isinstance(output["method"], str)):
        raise ValueError("a setting or a method is not a name")
    if {*named} & {*measures} or any(isinstance(v, (list, dict)) for v in measures.values()):
        raise ValueError("the measures are not plain values")
    # Lone surrogates cannot be written to a table.
    json.dumps(measures, ensure_ascii=False).encode()
    return {**named, **measures, **({"seconds": output["seconds"]} if timings else {})}


def _environment() -> dict[str, str]:
    return {
        "date": date.today().isoformat(),
        "cyclearn": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "system": f"{platform.system()} {platform.machine()}",
        "cores": str(os.cpu_count()),
    }
