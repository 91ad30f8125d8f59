"""Everything that was done on the page, as a Python script."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from cyclearn import __version__
from cyclearn.app.learning_tasks import search_options
from cyclearn.app.own_graph import is_compared
from cyclearn.app.reading import reading_lines, reading_options
from cyclearn.app.sureness import PREDICTED, posterior_options
from cyclearn.app.what_if_pages import example as what_if_example
from cyclearn.app.workspace import Job, Workspace, read_json
from cyclearn.search.options import SearchOptions

_HEAD = '''"""What was done in cyclearn app, repeated in Python.

Created by cyclearn {version}. It needs {files} in the same folder; each learned graph is
written as JSON, identical to the download from the page.
"""

import cyclearn as cl
'''


def script(workspace: Workspace, jobs: Iterable[Job]) -> str:
    """The script that repeats some jobs, in the order of the requests."""
    done = [job for job in jobs if job.state == "done"]
    read: dict[str, str] = {}
    names: dict[str, str] = {}
    parts = []
    for job in done:
        table = workspace.table(job.table)
        options = reading_options(job.request)
        key = repr([job.table, options])
        if key not in read:
            read[key] = "data" if not read else f"data{len(read) + 1}"
            parts.append("\n".join(reading_lines(read[key], table["name"], options)))
            names.setdefault(job.table, table["name"])
        parts.append(_STEPS[job.kind](workspace, job, read[key]))
    files = " and ".join(map(repr, dict.fromkeys(names.values()))) or "nothing"
    head = _HEAD.format(version=__version__, files=files.replace('"""', "…").replace("\\", "/"))
    return head + "".join(f"\n{part}\n" for part in parts)


def result_name(job: str) -> str:
    """The variable name of a job's result in the script."""
    return f"result{job[1:]}"


def _learn(workspace: Workspace, job: Job, data: str) -> str:
    record = read_json(workspace.job_folder(job.id) / "result.json")
    call = SearchOptions.from_dict(record["options"]).call("learn", data)
    name = result_name(job.id)
    stopped = "# This search was stopped; it starts from the best graph found so far.\n"
    return (
        stopped * job.is_kept
        + f'{name} = {call}\ncl.write_graph({name}.graph, "graph{job.id[1:]}.json")'
    )


def _effects(workspace: Workspace, job: Job, data: str) -> str:  # noqa: ARG001 - as all steps
    result, source, group = _result_of(job), job.request["source"], job.request.get("group")
    more = "" if group is None else f", group={group!r}"
    given = what_if_example(str(workspace.job_folder(str(job.of))), job.request)
    call = ", ".join(f"{name}={value!r}" for name, value in given.items())
    return (
        f"# One standard deviation; the page shows other values too.\n"
        f"print({result}.do({call}).to_string())\n"
        f"for target in {result}.graph.names:\n"
        f"    if target != {source!r}:\n"
        f"        print({result}.effects({source!r}, target{more}))"
    )


def _bootstrap(workspace: Workspace, job: Job, data: str) -> str:
    found = read_json(workspace.job_folder(job.id) / "view.json")
    lines = ["# This bootstrap was stopped after this many resamples."] * job.is_kept
    call = search_options(job.request).call("bootstrap", data, str(found["n_resamples"]))
    name = f"bootstrap{job.id[1:]}"
    return "\n".join([*lines, f"{name} = {call}", f"print({name})"])


def _posterior(workspace: Workspace, job: Job, data: str) -> str:  # noqa: ARG001 - as all steps
    name = f"posterior{job.id[1:]}"
    return f"{name} = {posterior_options(job.request).call('posterior', data)}\nprint({name})"


def _experiment(workspace: Workspace, job: Job, data: str) -> str:  # noqa: ARG001 - as all steps
    more = f"size={job.request.get('size', 1)}, max_predicted={PREDICTED}"
    return f"print(cl.next_experiment({_result_of(job)}, {more}))"


def _compare(workspace: Workspace, job: Job, data: str) -> str:  # noqa: ARG001 - as all steps
    record = read_json(workspace.job_folder(job.id) / "result.json")["graph"]
    result, own = _result_of(job), f"own{job.id[1:]}"
    question = "compare" if is_compared(tuple(record["nodes"])) else "equivalent"
    return "\n".join(
        [
            f"{own} = cl.DirectedGraph.from_dict({record!r})",
            f"print(cl.fit({own}, {result}.tables))",
            f"print(cl.{question}({own}, {result}.graph).explain())",
            f"print({result}.equivalence_class.nearest({own}, time_limit=10).distance)",
        ]
    )


def _result_of(job: Job) -> str:
    assert job.of is not None
    return result_name(job.of)


_STEPS: dict[str, Callable[[Workspace, Job, str], str]] = {
    "learn": _learn,
    "effects": _effects,
    "bootstrap": _bootstrap,
    "posterior": _posterior,
    "experiment": _experiment,
    "compare": _compare,
}
