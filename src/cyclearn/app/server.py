"""The server: a short API of JSON over the workspace, and the files of the page.

=======  =================================  ====================================================
method   path                               what it does
=======  =================================  ====================================================
GET      /api/state                         tables, jobs and their progress, limits
POST     /api/tables?name=NAME              open the file that is the body of the request
POST     /api/tables/example                open one of the examples, by ``name``
GET      /api/tables/T                      what was found in a table
POST     /api/tables/T/read                 read it again: ``missing_codes``, ``where``, …
PUT      /api/tables/T/draft                keep what was changed on the page
GET      /api/tables/T/file                 the file itself
POST     /api/jobs                          start a job: kind, table, of, request
GET      /api/jobs/J                        a job, and its view when it is done
GET      /api/jobs/J/sketch                 the best graph that a search has found so far
PUT      /api/jobs/J                        name it, note, remove or restore it, how it looks
POST     /api/jobs/J/stop                   end it, keep what it has found so far
POST     /api/jobs/J/cancel                 end it and discard it
POST     /api/jobs/J/members                graphs of a class that is too large for one list
GET      /api/jobs/J/files/NAME             a file to download
GET      /api/work                          everything in one file; ``tables=no`` omits rows
POST     /api/work                          open such a file, the body of the request
GET      /api/script?job=J                  the script that repeats it, or everything
POST     /api/link                          an address with which another browser can join
=======  =================================  ====================================================

An answer other than 200 has a message for people under ``error``.
"""

from __future__ import annotations

import asyncio
import json
import re
import secrets
import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict, replace
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from cyclearn import __version__
from cyclearn.app.guard import Guard
from cyclearn.app.jobs import Jobs
from cyclearn.app.limits import OPENED, Limits, words_of
from cyclearn.app.pool import TaskError, WorkerLostError, WorkerPool
from cyclearn.app.workspace import KINDS, Job, Workspace, read_json, write_json
from cyclearn.foundation.errors import InputError
from cyclearn.foundation.json_input import finite, short

Handler = Callable[[Request], Awaitable[Response]]
_TYPES = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
# Number of processes for jobs that the user waits for, in addition to those for long work.
_QUICK = 2
# Maximum number of bytes of a request that is not a file.
_MAX_REQUEST = 5_000_000
_MAX_DIGITS = 18
# Maximum number of characters in the name of a result, and in the note about it.
_MAX_NAME, _MAX_NOTE = 200, 20_000
# Requests of the page have far fewer levels; much deeper ones cannot be written as JSON.
_MAX_DEPTH = 50
# Parts of a job that the page does not request often.
_LONG = ("request", "look")
# Fields of a table that the page needs to list the tables.
_SHOWN = ("id", "name", "n_rows")
_ASSET = re.compile(r"[A-Za-z0-9_-]{1,80}\.[a-z]{1,8}")
_LOST = "The process ended unexpectedly; there may not be enough memory."


def make_app(
    workspace: Workspace,
    *,
    port: int,
    token: str,
    limits: Limits | None = None,
    pool: WorkerPool | None = None,
    table: Path | None = None,
) -> Starlette:
    """The application for one workspace, on one port, for every holder of the token.

    ``table`` is opened at the start.
    """
    tokens = {token}
    pool = pool or WorkerPool(in_background=True)
    server = Server(workspace, limits or Limits(), pool, tokens)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:  # noqa: ARG001 - as starlette calls it
        workspace.tidy()
        server.quick.prepare()
        if table is not None:
            server.opening = asyncio.ensure_future(server.open_first(table))
        try:
            yield
        finally:
            await server.close()

    routes = [Route("/", server.page), Route("/static/{name}", server.static)]
    for method, path, handler in server.api():
        routes.append(Route(path, _in_words(handler), methods=[method]))
    guard = Middleware(Guard, port=port, tokens=tokens)
    return Starlette(
        routes=routes,
        middleware=[guard],
        lifespan=lifespan,
        exception_handlers={HTTPException: _nothing_there},
    )


class Server:
    """The handlers of the API; everything that needs the library runs in workers."""

    def __init__(
        self, workspace: Workspace, limits: Limits, pool: WorkerPool, tokens: set[str]
    ) -> None:
        self._tokens = tokens
        self.work, self.quick = pool, WorkerPool(_QUICK)
        self._workspace = workspace
        self._limits = limits
        self._jobs = Jobs(workspace, self.work, self.quick)
        self.opening: asyncio.Task[None] | None = None
        self._first: str | None = None
        self._trouble = ""

    def api(self) -> list[tuple[str, str, Handler]]:
        """Method, path and handler of every request."""
        return [
            ("GET", "/api/state", self.state),
            ("POST", "/api/tables", self.upload),
            ("POST", "/api/tables/example", self.example),
            ("GET", "/api/tables/{table}", self.table),
            ("POST", "/api/tables/{table}/read", self.read_again),
            ("PUT", "/api/tables/{table}/draft", self.draft),
            ("GET", "/api/tables/{table}/file", self.table_file),
            ("POST", "/api/jobs", self.start),
            ("GET", "/api/jobs/{job}", self.job),
            ("PUT", "/api/jobs/{job}", self.change_job),
            ("GET", "/api/jobs/{job}/sketch", self.sketch),
            ("POST", "/api/jobs/{job}/stop", self.stop),
            ("POST", "/api/jobs/{job}/cancel", self.cancel),
            ("POST", "/api/jobs/{job}/members", self.members),
            ("GET", "/api/jobs/{job}/files/{name}", self.job_file),
            ("GET", "/api/script", self.script),
            ("GET", "/api/work", self.save_work),
            ("POST", "/api/work", self.open_work),
            ("POST", "/api/link", self.link),
        ]

    async def close(self) -> None:
        """End all work."""
        if self.opening is not None:
            self.opening.cancel()
        await self._jobs.close()
        for pool in (self.work, self.quick):
            await pool.close()

    async def open_first(self, path: Path) -> None:
        """Open the table that was named on the command line."""
        try:
            content = path.read_bytes()
            known = self._known(path.name, content)
            self._first = known or (await self._opened(path.name, content))["id"]
        except (InputError, TaskError, OSError) as error:
            self._trouble = str(error)
        except WorkerLostError:
            self._trouble = _LOST
        self.opening = None

    def _known(self, name: str, content: bytes) -> str | None:
        """The table that was opened before from the same file, if there is one."""
        for table in self._workspace.tables():
            file = self._workspace.table_folder(table["id"]) / table["file"]
            if table["name"] == name and file.read_bytes() == content:
                return str(table["id"])
        return None

    # The page

    async def page(self, request: Request) -> Response:  # noqa: ARG002 - as starlette calls it
        """The page."""
        return _asset("index.html")

    async def static(self, request: Request) -> Response:
        """Scripts and styles of the page, including the style of the report."""
        return _asset(request.path_params["name"])

    async def state(self, request: Request) -> Response:  # noqa: ARG002 - as starlette calls it
        """The tables and results, and the work in progress."""
        tables = [{key: each[key] for key in _SHOWN} for each in self._workspace.tables()]
        jobs = self._workspace.jobs()
        return _json(
            {
                "version": __version__,
                "workspace": str(self._workspace.folder),
                "limits": asdict(self._limits),
                "tables": tables,
                "opening": self.opening is not None,
                "first": self._first,
                "trouble": self._trouble,
                "jobs": [self._summary(job, jobs) for job in jobs],
            }
        )

    def _summary(self, job: Job, all_jobs: list[Job]) -> dict[str, Any]:
        record = {key: value for key, value in asdict(job).items() if key not in _LONG}
        if not job.has_ended:
            record["progress"] = self._jobs.progress(job, all_jobs)
        record["can_keep"] = self._jobs.can_keep(job)
        asked = job.request.get("options")
        # Knowledge can be long.
        kept = asked if isinstance(asked, dict) else {}
        record["options"] = {name: name == "knowledge" or kept[name] for name in kept}
        return record

    # Tables

    async def upload(self, request: Request) -> Response:
        """Open the file that is the body of the request."""
        name = _file_name(request.query_params.get("name", ""))
        most = self._limits.max_bytes
        content = await _body(request, most, self._limits.too_large(name))
        return _json(await self._opened(name, content))

    async def example(self, request: Request) -> Response:
        """Open one of the examples."""
        name = (await _given(request)).get("name", "market.csv")
        places = files("cyclearn").joinpath("app", "examples").iterdir()
        found = next((place for place in places if place.name == name), None)
        if found is None:
            raise InputError(f"there is no example {short(name)}")
        return _json(await self._opened(found.name, found.read_bytes()))

    async def table(self, request: Request) -> Response:
        """What was found in a table, and what was last chosen on the page."""
        name = request.path_params["table"]
        record, folder = self._workspace.table(name), self._workspace.table_folder(name)
        more = {
            part: read_json(folder / f"{part}.json", default={}) for part in ("sample", "draft")
        }
        return _json(record | more)

    async def read_again(self, request: Request) -> Response:
        """Read a table with other codes, conditions on its rows, or another sheet."""
        name = request.path_params["table"]
        record, given = self._workspace.table(name), await _given(request)
        folder = self._workspace.table_folder(name)
        # Columns are chosen in the draft, and all of them are shown.
        reading = {name: value for name, value in given.items() if name != "columns"}
        return _json(await self._read(folder, record["file"], record["name"], reading))

    async def draft(self, request: Request) -> Response:
        """Save changes made on the page; two windows can change different parts."""
        path = self._workspace.table_folder(request.path_params["table"]) / "draft.json"
        changes = await _given(request)
        write_json(path, _merged(read_json(path, default={}), changes))
        return _json({})

    async def table_file(self, request: Request) -> Response:
        """The file as it was uploaded."""
        name = request.path_params["table"]
        record = self._workspace.table(name)
        return _attachment(self._workspace.table_folder(name) / record["file"], record["name"])

    async def _opened(self, name: str, content: bytes) -> dict[str, Any]:
        suffix = PurePosixPath(name).suffix.lower()
        if suffix not in OPENED:
            raise InputError(
                f"{name} has a format that the application cannot open; it can open "
                f"{', '.join(OPENED)}. Unpack archives first."
            )
        if len(content) > self._limits.max_bytes:
            raise InputError(self._limits.too_large(name))
        folder = self._workspace.new_folder("tables")
        # The name of the upload is not used in the file system.
        (folder / f"table{suffix}").write_bytes(content)
        try:
            return await self._read(folder, f"table{suffix}", name, {})
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise

    async def _read(
        self, folder: Path, file: str, name: str, reading: dict[str, Any]
    ) -> dict[str, Any]:
        arguments = {"folder": str(folder), "file": file, "name": name, "reading": reading}
        await self._ask("open_table", arguments | {"limits": asdict(self._limits)})
        # A table that is opened will probably be learned from soon.
        self.work.prepare()
        self.quick.prepare()
        return self._workspace.table(folder.name)

    # Jobs

    async def start(self, request: Request) -> Response:
        """Start a job."""
        given = await _given(request)
        table, of = given.get("table"), given.get("of")
        kind = next((each for each in KINDS if each == given.get("kind")), None)
        if kind is None:
            raise InputError(f"{short(given.get('kind'))} is not a kind of job")
        if of is not None:
            learned = self._workspace.job(str(of))
            if learned.kind != "learn" or learned.state != "done":
                raise InputError("this needs a learned graph")
        elif kind != "learn":
            raise InputError(f"{kind} needs a learned graph; name one")
        self._workspace.table(str(table))
        what = given.get("request", {})
        if not isinstance(what, dict):
            raise InputError("request must be a JSON object")
        if of is not None:
            # A job about a graph uses the rows from which the graph was learned.
            table = learned.table
            same = {key: learned.request.get(key, {}) for key in ("reading", "options")}
            if kind == "learn" and "penalty" in what:
                same["options"] = same["options"] | {"penalty": what["penalty"]}
            what = what | same
        return _json(asdict(self._jobs.start(kind, str(table), what, of)))

    async def job(self, request: Request) -> Response:
        """A job, and the view of it for the page."""
        job = self._workspace.job(request.path_params["job"])
        view = self._workspace.job_folder(job.id) / "view.json"
        body = bytes(_json(asdict(job)).body)
        if job.state == "done":
            # Copy it as written: reading and writing a large view again takes half a second.
            body = body[:-1] + b', "view": ' + view.read_bytes() + b"}"
        return Response(body, media_type="application/json")

    async def change_job(self, request: Request) -> Response:
        """Name a job, add a note to it, remove or restore it."""
        given = await _given(request)
        job = self._workspace.job(request.path_params["job"])
        changes = {
            name: given.get(name, getattr(job, name))
            for name in ("name", "note", "is_removed", "look")
        }
        for name, form in (("is_removed", bool), ("look", dict)):
            if type(changes[name]) is not form:
                raise InputError(f"{name} cannot be {short(changes[name])}")
        for name, most in (("name", _MAX_NAME), ("note", _MAX_NOTE)):
            if not isinstance(changes[name], str) or len(changes[name]) > most:
                raise InputError(f"the {name} must be a string of at most {most:,} characters")
        if not job.has_ended:
            raise InputError("this job is not finished; wait, or cancel it first")
        return _json(asdict(self._workspace.save(replace(job, **changes))))

    async def sketch(self, request: Request) -> Response:
        """The best graph that a search has found so far."""
        place = self._workspace.job_folder(request.path_params["job"])
        found = read_json(place / "kept.json", default=[])
        if not isinstance(found, list) or not found:
            raise InputError("no graph has been found yet")
        return _json(found[0])

    async def stop(self, request: Request) -> Response:
        """End a job and keep what it has found."""
        return _json(asdict(self._jobs.stop(request.path_params["job"])))

    async def cancel(self, request: Request) -> Response:
        """End a job and discard everything that it found."""
        return _json(asdict(self._jobs.cancel(request.path_params["job"])))

    async def members(self, request: Request) -> Response:
        """Graphs of a large class from a position on that match the request."""
        job = self._done(request.path_params["job"])
        if job.kind != "learn":
            raise InputError("this needs a learned graph")
        folder = str(self._workspace.job_folder(job.id))
        asked = {"folder": folder, "request": await _given(request)}
        return _json(await self._ask("members_page", asked))

    async def job_file(self, request: Request) -> Response:
        """A file to download, created when it is first requested."""
        job, name = self._done(request.path_params["job"]), request.path_params["name"]
        folder = self._workspace.job_folder(job.id)
        if name != "result.json" or not (folder / name).is_file():
            arguments = {
                "folder": str(folder),
                "table": str(self._workspace.table_folder(job.table)),
                "kind": job.kind,
                "name": name,
                "request": job.request,
            }
            await self._ask("export", arguments)
        return _attachment(folder / name, name)

    async def script(self, request: Request) -> Response:
        """The script that repeats one result, or everything."""
        wanted = request.query_params.get("job")
        # A job, and the job that it refers to.
        job = None if wanted is None else self._done(wanted)
        jobs = None if job is None else [name for name in (job.of, job.id) if name is not None]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "repeat.py"
            arguments = {"folder": str(self._workspace.folder), "path": str(path), "jobs": jobs}
            await self._ask("write_script", arguments)
            content = path.read_bytes()
        return Response(content, headers=_named("repeat.py"), media_type="text/x-python")

    async def save_work(self, request: Request) -> Response:
        """Everything in one file, or everything except the rows of tables."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "work.cyclearn"
            has_rows = request.query_params.get("tables") != "no"
            arguments = {"folder": str(self._workspace.folder), "path": str(path)}
            await self._ask("save_work", arguments | {"has_rows": has_rows})
            content = path.read_bytes()
        return Response(content, headers=_named("work.cyclearn"), media_type="application/zip")

    async def open_work(self, request: Request) -> Response:
        """Open a file of saved work."""
        most = 2 * self._limits.max_bytes
        content = await _body(request, most, self._limits.too_large("the file"))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "work.cyclearn"
            path.write_bytes(content)
            arguments = {"folder": str(self._workspace.folder), "path": str(path)}
            await self._ask("open_work", arguments | {"limits": asdict(self._limits)})
        return _json({})

    async def link(self, request: Request) -> Response:
        """A one-time address for another browser."""
        token = secrets.token_urlsafe(24)
        self._tokens.add(token)
        return _json({"address": f"http://{request.headers['host']}/?token={token}"})

    def _done(self, name: str) -> Job:
        job = self._workspace.job(name)
        if job.state != "done":
            raise InputError(f"this job is not finished: it is {job.state}")
        return job

    async def _ask(self, task: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Run a task that the page waits for."""
        asked = self.quick.run(task, arguments)
        try:
            return await asyncio.wait_for(asked, self._limits.max_seconds)
        except asyncio.TimeoutError:
            raise InputError(
                f"this took more than {self._limits.max_seconds:.0f} seconds and was stopped; "
                "try fewer columns or rows"
            ) from None


def _in_words(handler: Handler) -> Handler:
    """Answer errors with messages for people."""

    async def answered(request: Request) -> Response:
        try:
            return await handler(request)
        except InputError as error:
            return _json({"error": words_of(error)}, 400)
        except TaskError as error:
            return _json({"error": words_of(error)}, 500 if error.is_defect else 400)
        except WorkerLostError:
            return _json({"error": _LOST}, 500)
        except OSError as error:
            return _json({"error": f"the workspace cannot be used: {error.strerror}"}, 500)
        except ClientDisconnect:
            return Response(status_code=400)
        except asyncio.CancelledError:
            # Ctrl-C does not wait for the request.
            return _json({"error": "The program has been stopped."}, 503)

    return answered


async def _nothing_there(request: Request, error: Exception) -> Response:
    """Answer a request for an unknown address or method."""
    status = error.status_code if isinstance(error, HTTPException) else 404
    words = (
        "this address does not accept this HTTP method"
        if status == 405
        else "there is no such address"
    )
    if f"{request.url.path}/".startswith("/api/"):
        return _json({"error": words}, status)
    return Response(f"{words}\n", status, media_type="text/plain")


async def _body(request: Request, most: int, refusal: str) -> bytes:
    """The body of a request, read only up to the limit."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > most:
            raise InputError(refusal)
        parts.append(part)
    return b"".join(parts)


async def _given(request: Request) -> dict[str, Any]:
    words = f"the request has more than {_MAX_REQUEST:,} bytes"
    body = await _body(request, _MAX_REQUEST, words)
    try:
        given = json.loads(body or b"{}", parse_int=_whole)
        # JSON can contain lone surrogates, which cannot be written to a file.
        json.dumps(given, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise InputError("the request is not valid JSON") from None
    if not isinstance(given, dict):
        raise InputError("the request is not a JSON object")
    _check_depth(given)
    return given


def _check_depth(given: dict[str, Any]) -> None:
    level: list[Any] = [given]
    for _ in range(_MAX_DEPTH):
        parts = (each.values() if isinstance(each, dict) else each for each in level)
        level = [part for each in parts for part in each if isinstance(part, (dict, list))]
        if not level:
            return
    raise InputError(f"the request is nested in more than {_MAX_DEPTH} levels")


def _whole(digits: str) -> int:
    """An integer small enough for every part of the library."""
    if len(digits) > _MAX_DIGITS:
        raise ValueError
    return int(digits)


def _file_name(name: str) -> str:
    """The last part of a name, without characters that file names cannot have."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    shown = "".join(c for c in last if c.isprintable()).strip()
    if not shown.strip("."):
        raise InputError("the file has no name; name it, with the suffix of its format")
    return shown[-200:]


def _json(value: Any, status: int = 200) -> Response:
    text = json.dumps(finite(value), ensure_ascii=False, allow_nan=False)
    return Response(text.encode("utf-8", "replace"), status, media_type="application/json")


def _merged(draft: Any, changes: dict[str, Any]) -> dict[str, Any]:
    """Merge changes into the selection, part by part; null removes a part."""
    draft = draft if isinstance(draft, dict) else {}
    parts = {
        name: _merged(draft.get(name), part) if isinstance(part, dict) else part
        for name, part in changes.items()
    }
    return {name: part for name, part in {**draft, **parts}.items() if part is not None}


def _asset(name: str) -> Response:
    # By path: importing the package by name would load all its dependencies.
    room = ("report",) if name == "report.css" else ("app", "page")
    place = files("cyclearn").joinpath(*room, name)
    kind = _TYPES.get(PurePosixPath(name).suffix)
    # Names come from requests, so only valid names reach the file system.
    if kind is None or not _ASSET.fullmatch(name) or not place.is_file():
        return Response("There is no such file.\n", 404, media_type="text/plain")
    return Response(place.read_bytes(), media_type=kind)


def _named(name: str) -> dict[str, str]:
    return {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"}


class _WholeFile(FileResponse):
    """A file without range requests: no client needs them, and attackers use them."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [each for each in scope["headers"] if each[0] not in (b"range", b"if-range")]
        await super().__call__({**scope, "headers": headers}, receive, send)


def _attachment(path: Path, name: str) -> Response:
    return _WholeFile(path, headers=_named(name), media_type="application/octet-stream")
