"""The life of a job: queued, running, stopped with a partial result, or lost."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import time
from typing import Any

from cyclearn.app.pool import TaskError, WorkerLostError, WorkerPool
from cyclearn.app.workspace import ENDED, Job, Kind, State, Workspace, read_json
from cyclearn.foundation.errors import InputError

# Quick kinds of jobs, which do not wait for searches.
_QUICK = ("effects", "compare")
# Kinds whose partial results are kept, and the file that exists if there are any.
_KEEPS = ("learn", "bootstrap")
_KEPT = "kept.json"
# Seconds in which a page draws an answer.
_DRAWING = 2.0
_LOST = "The process ended unexpectedly: it was killed, or there was not enough memory."


class Jobs:
    """The jobs of a workspace, including the ones that run in this program.

    Long jobs are queued for ``work``; ``quick`` handles jobs that the user waits for.
    """

    def __init__(self, workspace: Workspace, work: WorkerPool, quick: WorkerPool) -> None:
        self._workspace = workspace
        self._work, self._quick = work, quick
        self._running: dict[str, asyncio.Task[None]] = {}
        # Tables as they were read for a search, until it ends. Not in the workspace, which may
        # come from anyone: loading them can run code.
        self._read: TemporaryDirectory[str] | None = None

    def start(self, kind: Kind, table: str, request: dict[str, Any], of: str | None = None) -> Job:
        """Queue a job, which starts when a worker is free."""
        job = self._workspace.add_job(kind, table, request, of)
        self._launch(job, self._run(job, kind))
        return job

    def stop(self, name: str) -> Job:
        """End a job and keep what it has found so far."""
        job = self._workspace.job(name)
        if job.state not in ("running", "lost") or job.kind not in _KEEPS:
            raise InputError(f"this job cannot be stopped: it is {job.state}")
        if not self.can_keep(job):
            raise InputError("there is no result to keep yet; cancel the job, or wait")
        job = self._saved(job, "stopping")
        self._launch(job, self._run(job, f"keep_{job.kind}", self._running.pop(name, None)))
        return job

    def cancel(self, name: str) -> Job:
        """End a job and discard it."""
        job = self._workspace.job(name)
        if job.has_ended:
            return job
        running = self._running.pop(name, None)
        if running is not None:
            running.cancel()
        return self._saved(job, "cancelled")

    async def close(self) -> None:
        """End all running jobs; the workspace reports it when it is opened again."""
        tasks = list(self._running.values())
        self._running.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._read is not None:
            self._read.cleanup()

    def can_keep(self, job: Job) -> bool:
        """Whether stopping would keep a partial result."""
        return (self._workspace.job_folder(job.id) / _KEPT).is_file()

    def progress(self, job: Job, all_jobs: list[Job]) -> dict[str, Any]:
        """The progress of a job: its place in the queue, or its time, phase and best score."""
        if job.state == "waiting":
            queue = [each.id for each in all_jobs if each.state == "waiting"]
            return {"place": 1 + queue.index(job.id), "queue": len(queue)}
        found: dict[str, Any] = read_json(
            self._workspace.job_folder(job.id) / "progress.json", default={}
        )
        return found | {"seconds": None if job.begun is None else int(time() - job.begun)}

    def _launch(self, job: Job, run: Any) -> None:
        self._running[job.id] = asyncio.ensure_future(run)

    async def _run(self, job: Job, task: str, before: asyncio.Task[None] | None = None) -> None:
        if before is not None:
            before.cancel()
            await asyncio.gather(before, return_exceptions=True)
            if self._workspace.job(job.id).state == "done":
                # It ended before it could be stopped.
                return
        keeps = task.startswith("keep_")
        arguments = {
            "folder": str(self._workspace.job_folder(job.id)),
            "table": str(self._workspace.table_folder(job.table)),
            "of": None if job.of is None else str(self._workspace.job_folder(job.of)),
            "request": job.request,
            "kept_tables": str(self._tables_of(job)),
        }

        def begun() -> None:
            nonlocal job
            job = replace(job, begun=time())
            self._saved(job, "running")

        is_quick = keeps or job.kind in _QUICK
        pool = self._quick if is_quick else self._work
        try:
            answer = await pool.run(task, arguments, None if keeps else begun)
        except TaskError as error:
            self._saved(job, "failed", str(error))
        except WorkerLostError:
            self._saved(job, "lost", _LOST)
        else:
            self._saved(replace(job, is_kept=keeps), "done")
            if job.request.get("probabilities") and answer.get("takes_probabilities"):
                self.start("posterior", job.table, job.request | {"brief": True}, job.id)
        self._running.pop(job.id, None)
        # Not while the page draws the answer.
        asyncio.get_running_loop().call_later(_DRAWING, self._work.prepare)

    def _tables_of(self, job: Job) -> Path:
        self._read = self._read or TemporaryDirectory(prefix="cyclearn-")
        return Path(self._read.name) / job.id

    def _saved(self, job: Job, state: State, message: str = "") -> Job:
        ended = time() if state in ENDED else None
        if ended is not None and state != "lost":
            self._tables_of(job).unlink(missing_ok=True)
        return self._workspace.save(replace(job, state=state, message=message, ended=ended))
