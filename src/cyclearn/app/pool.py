"""Worker processes: several at a time, one ready in advance, each kept for further tasks.

A task goes to a worker that has done one of its kind and has loaded what it needs. A worker
receives one line of JSON and answers with one. It ends when its standard input closes, so that no
worker outlives the server. It does not import modules from the current folder, so that files next
to the data are not executed.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

# An empty entry in the path means the current folder.
_WORK = (
    "import sys; sys.path[:] = filter(None, sys.path)\n"
    "from cyclearn.app.worker import main; main({})"
)
# Niceness of long work, so that it yields to work that the user waits for.
_BACKGROUND = 10
# The matrices are small: on a busy machine, threads of one process wait for each other a hundred
# times as long as they compute.
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
# Maximum length of an answer line; long content is stored in files.
_LONGEST = 2**26


class TaskError(Exception):
    """The task was refused, with a message for the user; ``is_defect`` if it is a bug."""

    def __init__(self, message: str, *, is_defect: bool = False) -> None:
        super().__init__(message)
        self.is_defect = is_defect


class WorkerLostError(Exception):
    """The process ended during a task: killed, or out of memory."""


@dataclass(frozen=True, eq=False)
class Worker:
    """One process, the pipe to it, and the kinds of tasks that it was given."""

    process: asyncio.subprocess.Process
    tasks: set[str] = field(default_factory=set)

    @classmethod
    async def start(cls, niceness: int = 0) -> Worker:
        """A new process, which loads the library at once."""
        return cls(
            await asyncio.create_subprocess_exec(
                sys.executable,
                "-c",
                _WORK.format(niceness),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                limit=_LONGEST,
                env=_ONE_THREAD | dict(os.environ),
                # Ctrl-C in the terminal is meant for the server, which ends its workers.
                start_new_session=True,
            )
        )

    @property
    def is_alive(self) -> bool:
        """Whether the process runs."""
        return self.process.returncode is None

    async def ask(self, task: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Run a task."""
        inlet, outlet = self.process.stdin, self.process.stdout
        assert inlet is not None
        assert outlet is not None
        self.tasks.add(task)
        try:
            inlet.write(json.dumps({"task": task, "arguments": arguments}).encode() + b"\n")
            await inlet.drain()
            line = await outlet.readline()
        except ConnectionError:
            line = b""
        if not line:
            await self.process.wait()
            raise WorkerLostError
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise TaskError(answer["error"], is_defect=answer["is_defect"])
        return answer

    async def end(self) -> None:
        """End the process, even during a task."""
        if self.is_alive:
            self.process.kill()
        await self.process.wait()


class WorkerPool:
    """At most ``size`` workers; further tasks wait in the order of their requests.

    Workers of a pool ``in_background`` have low priority.
    """

    def __init__(self, size: int | None = None, *, in_background: bool = False) -> None:
        self.size = size or max(2, os.cpu_count() or 1)
        self._niceness = _BACKGROUND if in_background else 0
        self._idle: list[Worker] = []
        self._free = asyncio.Semaphore(self.size)
        self._starting: asyncio.Task[None] | None = None
        self._is_closed = False

    def prepare(self) -> None:
        """Start a worker in advance, if the pool is not full and at most one is ready."""
        if self._is_closed or len(self._idle) > 1 or self._starting or self._free.locked():
            return
        self._starting = asyncio.ensure_future(self._prepare())

    async def _prepare(self) -> None:
        try:
            self._idle.append(await Worker.start(self._niceness))
        finally:
            self._starting = None

    async def run(
        self, task: str, arguments: dict[str, Any], on_start: Callable[[], None] | None = None
    ) -> dict[str, Any]:
        """Run a task in a worker; cancelling it ends the worker.

        Raises
        ------
        TaskError, WorkerLostError
        """
        async with self._free:
            worker = await self._take(task)
            is_whole = False
            try:
                if on_start is not None:
                    on_start()
                answer = await worker.ask(task, arguments)
                is_whole = True
                return answer
            except TaskError:
                is_whole = True
                raise
            finally:
                if is_whole and worker.is_alive and not self._is_closed:
                    self._idle.append(worker)
                else:
                    await asyncio.shield(worker.end())

    async def _take(self, task: str) -> Worker:
        if self._starting is not None and not self._idle:
            await asyncio.shield(self._starting)
        self._idle = [worker for worker in self._idle if worker.is_alive]
        if not self._idle:
            return await Worker.start(self._niceness)
        # If none has done such a task, the one idle longest: the last may still be loading modules.
        found = next((each for each in self._idle if task in each.tasks), self._idle[0])
        self._idle.remove(found)
        return found

    async def close(self) -> None:
        """End all idle workers; busy ones end with their tasks."""
        self._is_closed = True
        if self._starting is not None:
            await asyncio.shield(self._starting)
        while self._idle:
            await self._idle.pop().end()
