"""A whole workspace as one file: tables as uploaded, selections, and all results.

A file may come from anyone. Nothing in it is shown or run unchecked: tables are opened in the same
way as uploads, results are read by the library, and their views are regenerated.
"""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from cyclearn import __version__
from cyclearn.app.learning_tasks import write_result
from cyclearn.app.limits import OPENED, Limits
from cyclearn.app.opening import open_table
from cyclearn.app.own_graph import compare
from cyclearn.app.reading import reading_options
from cyclearn.app.sureness import experiment, write_bootstrap, write_posterior
from cyclearn.app.what_if_pages import effects
from cyclearn.app.workspace import Job, Workspace, read_json, write_json
from cyclearn.foundation.errors import InputError
from cyclearn.learning.loading import load
from cyclearn.posterior.posterior_result import Posterior
from cyclearn.results.bootstrap_result import BootstrapResult
from cyclearn.results.result import LearnResult
from cyclearn.search.knowledge import Knowledge

_SCHEMA = "cyclearn.work/1"
# Kinds of results that are kept, and kinds that are computed again.
_KINDS = {"learn": LearnResult, "posterior": Posterior, "bootstrap": BootstrapResult}
_ASKED = {"effects": effects, "compare": compare, "experiment": experiment}
# Maximum bytes of the table of contents.
_LONGEST = 5_000_000
_NO_ROWS = "the rows of this table are not in the file that was opened"


def save_work(*, folder: str, path: str, has_rows: bool = True) -> None:
    """Write all tables of a workspace, or only their columns, and what was learned from them."""
    workspace = Workspace(Path(folder))
    kept = [job for job in workspace.jobs() if job.state == "done" and not job.is_removed]
    tables = workspace.tables()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for table in tables:
            place = workspace.table_folder(table["id"])
            table["names"] = [column["name"] for column in table["columns"]]
            table["draft"] = read_json(place / "draft.json", default={})
            table["has_rows"] = has_rows and (place / table["file"]).is_file()
            if table["has_rows"]:
                archive.write(place / table["file"], f"{table['id']}-{table['file']}")
        for job in kept:
            if job.kind in _KINDS:
                archive.write(workspace.job_folder(job.id) / "result.json", f"{job.id}.json")
        content = {
            "schema": _SCHEMA,
            "version": __version__,
            "tables": [{key: each[key] for key in _TABLE} for each in tables],
            "jobs": [{key: getattr(job, key) for key in _JOB} | {"of": job.of} for job in kept],
        }
        archive.writestr("work.json", json.dumps(content, ensure_ascii=False))


# The saved parts of a table and of a job, with their types.
_TABLE = {"id": str, "name": str, "file": str, "reading": dict, "draft": dict, "names": list,
          "n_rows": int, "has_rows": bool}  # fmt: skip
_JOB = {"id": str, "kind": str, "table": str, "request": dict, "name": str, "note": str,
        "is_kept": bool, "look": dict}  # fmt: skip


def open_work(*, folder: str, path: str, limits: dict[str, Any]) -> None:
    """Add the content of a file to a workspace, with new numbers.

    Raises
    ------
    InputError
        If a file is damaged, foreign, too large or inconsistent; then nothing of it is kept.
    """
    workspace, made = Workspace(Path(folder)), list[Path]()
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(each.file_size for each in archive.infolist())
            if size > 2 * Limits(**limits).max_bytes:
                raise InputError("the file is larger than the application allows")
            _Opening(workspace, archive, limits, made).all()
    except Exception as error:
        for place in made:
            shutil.rmtree(place, ignore_errors=True)
        if isinstance(error, InputError):
            raise
        # A damaged archive can raise any error.
        raise InputError("this is not a file of saved work, or it is damaged") from None


class _Opening:
    """Opens one file into a workspace; ``made`` lists the folders created for it."""

    def __init__(
        self, workspace: Workspace, archive: zipfile.ZipFile, limits: dict[str, Any],
        made: list[Path],
    ) -> None:  # fmt: skip
        self._workspace, self._archive, self._limits, self._made = workspace, archive, limits, made
        self._names: dict[str, str] = {}

    def all(self) -> None:
        """Open everything."""
        if self._archive.getinfo("work.json").file_size > _LONGEST:
            raise InputError("the table of contents of the file is too long")
        content = json.loads(self._archive.read("work.json"))
        if content["schema"] != _SCHEMA:
            raise InputError(
                "the file was saved by a version of cyclearn that this version cannot open"
            )
        for table in content["tables"]:
            self._table(_checked(table, _TABLE))
        for job in content["jobs"]:
            self._job(_checked(job, _JOB), job["of"])

    def _table(self, table: dict[str, Any]) -> None:
        suffix = PurePosixPath(table["file"]).suffix
        if suffix not in OPENED:
            raise InputError("the file contains a table that the application cannot open")
        place = self._workspace.new_folder("tables")
        self._made.append(place)
        self._names[table["id"]] = place.name
        reading = reading_options({"reading": table["reading"]})
        write_json(place / "draft.json", _draft(table["draft"]))
        file, name = f"table{suffix}", table["name"][-200:]
        if table["has_rows"]:
            (place / file).write_bytes(self._archive.read(f"{table['id']}-{table['file']}"))
            open_table(
                folder=str(place), file=file, name=name, reading=reading, limits=self._limits
            )
            return
        columns = [{"name": str(each), "problem": "has no rows here"} for each in table["names"]]
        record = {"id": place.name, "name": name, "file": file, "n_rows": table["n_rows"]}
        record |= {"reading": reading, "columns": columns, "trouble": _NO_ROWS}
        write_json(place / "table.json", record | {"notes": [], "warnings": []})

    def _job(self, job: dict[str, Any], learned: Any) -> None:
        place = self._workspace.new_folder("jobs")
        self._made.append(place)
        self._names[job["id"]] = place.name
        of = None if learned is None else self._names[learned]
        about = "" if of is None else str(self._workspace.job_folder(of))
        if job["kind"] in _ASKED:
            _ASKED[job["kind"]](folder=str(place), of=about, request=job["request"])
        else:
            self._found(job, place, about)
        record = {key: value for key, value in job.items() if key not in ("id", "table")}
        table = self._names[job["table"]]
        self._workspace.save(Job(place.name, table=table, of=of, state="done", **record))

    def _found(self, job: dict[str, Any], place: Path, of: str) -> None:
        """Restore a result and its view."""
        beside = place / "given.json"
        beside.write_bytes(self._archive.read(f"{job['id']}.json"))
        found = load(beside)
        beside.unlink()
        if not isinstance(found, _KINDS[job["kind"]]):
            raise InputError("the file is inconsistent: a result has the wrong type")
        if isinstance(found, LearnResult):
            write_result(place, None, found)
        elif isinstance(found, BootstrapResult):
            write_bootstrap(place, found)
        elif isinstance(found, Posterior):
            write_posterior(place, Path(of), found)


def _checked(record: Any, fields: Mapping[str, type]) -> dict[str, Any]:
    if any(type(record[name]) is not kind for name, kind in fields.items()):
        raise InputError("the table of contents of the file is damaged")
    return {name: record[name] for name in fields}


# The selections on the page, with their types.
_DRAFT = {"columns": list, "groups": str, "interventions": str, "intervention_kind": str,
          "intercepts": str, "weights": str, "within": str, "kinds": dict, "probabilities": bool,
          "knowledge": dict, "options": dict}  # fmt: skip


def _draft(given: dict[str, Any]) -> dict[str, Any]:
    """The selections that the page can show."""
    kept = {name: given[name] for name, kind in _DRAFT.items() if type(given.get(name)) is kind}
    if set(kept.get("knowledge", ())) == {"required", "forbidden", "tiers", "exogenous"}:
        Knowledge.from_dict(kept["knowledge"])
    else:
        kept.pop("knowledge", None)
    return kept
