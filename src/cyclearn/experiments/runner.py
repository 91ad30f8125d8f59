"""Run the instances of a study that are not in its results file yet: here or on a cluster."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter

from cyclearn.experiments.results_file import ResultsFile
from cyclearn.experiments.study import Output, Study, Task
from cyclearn.foundation.arguments import processes
from cyclearn.foundation.errors import InputError, LimitError
from cyclearn.foundation.interruption import ended_quietly
from cyclearn.foundation.json_input import short

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
