"""Jobs from the first request to the last state: run, stopped with what they had, dropped, lost."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from cyclearn.app.pool import TaskError, WorkerLostError, WorkerPool
from cyclearn.app.workspace import Job, Kind, State, Workspace, read_json
from cyclearn.foundation.errors import InputError

# Kinds whose unfinished work is worth something, and the file that says that there is some.
_KEEPS = ("learn", "bootstrap")
_KEPT = "kept.json"
_LOST = (
    "The process that did this ended unexpectedly: it was killed, or there was not enough memory."
)


class Jobs:
    """The jobs of a workspace, and those of them that run in this program."""

    def __init__(self, workspace: Workspace, pool: WorkerPool) -> None:
        self._workspace = workspace
        self._pool = pool
        self._running: dict[str, asyncio.Task[None]] = {}

    def start(self, kind: Kind, table: str, request: dict[str, Any], of: str | None = None) -> Job:
        """Ask for one more job; it begins when a worker is free."""
        job = self._workspace.add_job(kind, table, request, of)
        self._launch(job, self._run(job, kind))
        return job

    def stop(self, name: str) -> Job:
        """End a job and keep what it has found so far."""
        job = self._workspace.job(name)
        if job.state not in ("running", "lost") or job.kind not in _KEEPS:
            raise InputError(f"this cannot be stopped now: it is {job.state}")
        if not self.can_keep(job):
            raise InputError("nothing has been found yet that could be kept; cancel it, or wait")
        job = self._saved(job, "stopping")
        before = self._running.pop(name, None)
        self._launch(job, self._run(job, f"keep_{job.kind}", before))
        return job

    def cancel(self, name: str) -> Job:
        """End a job and drop it."""
        job = self._workspace.job(name)
        if job.has_ended:
            return job
        running = self._running.pop(name, None)
        if running is not None:
            running.cancel()
        return self._saved(job, "cancelled")

    async def close(self) -> None:
        """End everything that runs; the workspace says so when it is opened again."""
        tasks = list(self._running.values())
        self._running.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def can_keep(self, job: Job) -> bool:
        """Whether a stop would keep anything."""
        return (self._workspace.job_folder(job.id) / _KEPT).is_file()

    def progress(self, job: Job) -> dict[str, Any]:
        """How far a job has come."""
        found: dict[str, Any] = read_json(
            self._workspace.job_folder(job.id) / "progress.json", default={}
        )
        return found

    def _launch(self, job: Job, run: Any) -> None:
        self._running[job.id] = asyncio.ensure_future(run)

    async def _run(self, job: Job, task: str, before: asyncio.Task[None] | None = None) -> None:
        if before is not None:
            before.cancel()
            await asyncio.gather(before, return_exceptions=True)
            if self._workspace.job(job.id).state == "done":
                # It was faster than the wish to stop it.
                return
        keeps = task.startswith("keep_")
        arguments = {
            "folder": str(self._workspace.job_folder(job.id)),
            "table": str(self._workspace.table_folder(job.table)),
            "of": None if job.of is None else str(self._workspace.job_folder(job.of)),
            "request": job.request,
        }

        def begun() -> None:
            if not keeps:
                self._saved(job, "running")

        try:
            await self._pool.run(task, arguments, urgent=keeps, on_start=begun)
        except TaskError as error:
            self._saved(job, "failed", str(error))
        except WorkerLostError:
            self._saved(job, "lost", _LOST)
        else:
            self._saved(replace(job, is_kept=keeps), "done")
        self._running.pop(job.id, None)

    def _saved(self, job: Job, state: State, message: str = "") -> Job:
        return self._workspace.save(replace(job, state=state, message=message))
