"""Everything that was done on the page, as a Python script that repeats it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from cyclearn import __version__
from cyclearn.app.reading import reading_options
from cyclearn.app.workspace import Job, Workspace, read_json
from cyclearn.learning.options import SearchOptions

_HEAD = '''"""What was done in cyclearn app, repeated in Python.

Made by cyclearn {version}. Needs {files} beside it; each learned graph is
written as JSON, the same as the page gives.
"""

import cyclearn as cl
'''


def script(workspace: Workspace, jobs: Iterable[Job]) -> str:
    """The script that repeats some jobs, in the order in which they were asked for."""
    done = [job for job in jobs if job.state == "done"]
    read: dict[str, str] = {}
    names: dict[str, str] = {}
    parts = []
    for job in done:
        table = workspace.table(job.table)
        call = _read_call(table["name"], reading_options(job.request))
        if call not in read:
            read[call] = "data" if not read else f"data{len(read) + 1}"
            parts.append(f"{read[call]} = {call}")
            names.setdefault(job.table, table["name"])
        parts.append(_STEPS[job.kind](workspace, job, read[call]))
    files = " and ".join(map(repr, dict.fromkeys(names.values()))) or "nothing"
    head = _HEAD.format(version=__version__, files=files.replace('"""', "…").replace("\\", "/"))
    return head + "".join(f"\n{part}\n" for part in parts)


def result_name(job: str) -> str:
    """The name that the result of a job has in the script."""
    return f"result{job[1:]}"


def _read_call(name: str, options: dict[str, Any]) -> str:
    given = "".join(f", {key}={value!r}" for key, value in options.items())
    return f"cl.read_table({name!r}{given})"


def _learn(workspace: Workspace, job: Job, data: str) -> str:
    record = read_json(workspace.job_folder(job.id) / "result.json")
    call = SearchOptions.from_dict(record["options"]).call()
    # The call names its data; that is the only place where it does so first.
    call = call.replace("cl.learn(data", f"cl.learn({data}", 1)
    name = result_name(job.id)
    lines = []
    if job.is_kept:
        lines.append(
            "# This search was stopped: it starts from the best graph that was found until then."
        )
    lines.append(f"{name} = {call}")
    lines.append(f'cl.write_graph({name}.graph, "graph{job.id[1:]}.json")')
    return "\n".join(lines)


_STEPS: dict[str, Callable[[Workspace, Job, str], str]] = {"learn": _learn}


def write(workspace: Workspace, path: Path, jobs: Iterable[Job]) -> None:
    """Write the script to a file."""
    path.write_text(script(workspace, jobs), "utf-8")
