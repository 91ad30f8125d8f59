"""The state of the application as a folder that can be opened again.

::

    workspace.json          what the folder is
    tables/t1/              table.csv as it was uploaded, table.json what was found in it,
                            sample.json some rows, draft.json what was last chosen on the page
    jobs/j1/                job.json the request and its outcome, progress.json,
                            result.json in the library's own format, view.json what the page shows

The server alone writes ``job.json``; workers write the files of the job that they run.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args

from cyclearn import __version__
from cyclearn.foundation.errors import InputError
from cyclearn.foundation.files import why
from cyclearn.foundation.json_input import finite

Kind = Literal["learn", "effects", "bootstrap", "posterior", "experiment", "compare"]
KINDS: tuple[Kind, ...] = get_args(Kind)
State = Literal["waiting", "running", "stopping", "done", "failed", "lost", "cancelled"]
ENDED: frozenset[State] = frozenset({"done", "failed", "lost", "cancelled"})

_SCHEMA = "cyclearn.workspace/1"
_PRIVATE = 0o700


@dataclass(frozen=True)
class Job:
    """One job: the request and its outcome.

    Attributes
    ----------
    id : str
    kind : {"learn", "effects", "bootstrap", "posterior", "experiment", "compare"}
    table : str
        The table it uses.
    request : dict
        The request: the columns, the options, and further arguments of its kind.
    of : str or None
        The learned graph it refers to.
    state : str
    message : str
        Why it failed.
    is_kept : bool
        Whether it was stopped and its partial result was kept.
    begun, ended : float or None
        Times at which work on it began and ended, in seconds since the epoch.
    name, note : str
        Name and note given by the user.
    is_removed : bool
        Whether it was removed; it can be restored until the program starts again.
    look : dict
        How the page shows it: positions of nodes, layout, folded loops, the user's own graph.
    """

    id: str
    kind: Kind
    table: str
    request: dict[str, Any] = field(default_factory=dict)
    of: str | None = None
    state: State = "waiting"
    message: str = ""
    is_kept: bool = False
    begun: float | None = None
    ended: float | None = None
    name: str = ""
    note: str = ""
    is_removed: bool = False
    look: dict[str, Any] = field(default_factory=dict)

    @property
    def has_ended(self) -> bool:
        """Whether it has ended."""
        return self.state in ENDED


@dataclass(frozen=True)
class Workspace:
    """The folder, and the paths in it."""

    folder: Path

    @classmethod
    def open(cls, folder: str | Path) -> Workspace:
        """The workspace in a folder, which is created if there is none.

        Raises
        ------
        InputError
            If the folder contains other files.
        """
        place = Path(folder).absolute()
        try:
            place.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
            mark = place / "workspace.json"
            if not mark.exists():
                if any(place.iterdir()):
                    raise InputError(
                        f"{place} contains other files and is not a workspace; name an empty or "
                        "a new folder"
                    )
                write_json(mark, {"schema": _SCHEMA, "version": __version__})
            elif read_json(mark).get("schema") != _SCHEMA:
                raise InputError(
                    f"{mark} does not belong to a workspace that this version can open"
                )
            # Other users of this machine cannot read the tables.
            place.chmod(_PRIVATE)
            for part in ("tables", "jobs"):
                (place / part).mkdir(mode=_PRIVATE, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot use {place} as a workspace: {why(error)}") from None
        return cls(place)

    def new_folder(self, part: Literal["tables", "jobs"]) -> Path:
        """An empty folder for another table or job, with the next number."""
        number = 1 + max(map(_number, (self.folder / part).iterdir()), default=0)
        while True:
            place = self.folder / part / f"{part[0]}{number}"
            try:
                place.mkdir(mode=_PRIVATE)
            except FileExistsError:
                number += 1
            else:
                return place

    def table_folder(self, name: str) -> Path:
        """The folder of an existing table."""
        return self._there("tables", name, "table")

    def job_folder(self, name: str) -> Path:
        """The folder of an existing job."""
        return self._there("jobs", name, "result")

    def _there(self, part: str, name: str, what: str) -> Path:
        place = self.folder / part / name
        # Names come from requests, so only valid identifiers reach the file system.
        if not re.fullmatch(f"{part[0]}[0-9]{{1,18}}", name):
            raise InputError(f"there is no {what} {name[:40]!r}")
        # While a table is read for the first time, there is no information about it.
        if not (place / f"{part.removesuffix('s')}.json").is_file():
            raise InputError(f"there is no {what} {name!r} in this workspace")
        return place

    def tables(self) -> list[dict[str, Any]]:
        """Information about every table, in the order in which they were opened."""
        return [read_json(place / "table.json") for place in self._folders("tables", "table.json")]

    def table(self, name: str) -> dict[str, Any]:
        """Information about one table."""
        found: dict[str, Any] = read_json(self.table_folder(name) / "table.json")
        return found

    def jobs(self) -> list[Job]:
        """All jobs, in the order of the requests."""
        return [_job(read_json(p / "job.json")) for p in self._folders("jobs", "job.json")]

    def job(self, name: str) -> Job:
        """One job."""
        return _job(read_json(self.job_folder(name) / "job.json"))

    def add_job(self, kind: Kind, table: str, request: dict[str, Any], of: str | None) -> Job:
        """Record a new job in the queue."""
        job = Job(self.new_folder("jobs").name, kind, table, request, of)
        self.save(job)
        return job

    def save(self, job: Job) -> Job:
        """Save the outcome of a job."""
        write_json(self.folder / "jobs" / job.id / "job.json", asdict(job))
        return job

    def tidy(self) -> None:
        """Delete removed jobs, and mark jobs that were running when the program ended."""
        for job in self.jobs():
            if job.is_removed:
                shutil.rmtree(self.job_folder(job.id), ignore_errors=True)
                continue
            if not job.has_ended:
                words = "The program ended while this was running. Start it again."
                self.save(replace(job, state="lost", message=words))

    def _folders(self, part: str, needed: str) -> list[Path]:
        found = [place for place in (self.folder / part).iterdir() if (place / needed).is_file()]
        return sorted(found, key=_number)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the workspace against other programs while the block runs."""
        with open(self.folder / "lock", "a+b") as file:
            try:
                _lock(file.fileno())
            except OSError:
                raise InputError(
                    f"the workspace {self.folder} is open in another cyclearn app; use that "
                    "one, stop it, or choose another folder with --workspace"
                ) from None
            yield


def _lock(number: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(number, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _number(place: Path) -> int:
    return int(place.name[1:]) if place.name[1:].isdigit() else 0


def _job(record: dict[str, Any]) -> Job:
    known = {each.name for each in fields(Job)}
    return Job(**{name: value for name, value in record.items() if name in known})


def write_json(path: Path, value: Any) -> None:
    """Write a value atomically, without waiting for the disk."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_text(json.dumps(finite(value), ensure_ascii=False, allow_nan=False), "utf-8")
    os.replace(beside, path)


def read_json(path: Path, default: Any = None) -> Any:
    """The value in a file; the default if there is no file and one is given."""
    try:
        return json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        if default is None:
            raise
        return default
