"""The downloads of a result: files by name, created on request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from cyclearn.app import script
from cyclearn.app.learning_tasks import learned
from cyclearn.app.reading import read_frame
from cyclearn.app.sureness import experiment_table
from cyclearn.app.views import FORMS, form
from cyclearn.app.what_if_pages import effects_table, predictions_table
from cyclearn.app.workspace import Workspace, read_json
from cyclearn.foundation.errors import InputError
from cyclearn.foundation.files import write_text
from cyclearn.foundation.json_input import short
from cyclearn.graphs import DirectedGraph, write_graph
from cyclearn.learning.loading import load
from cyclearn.report.exports import write_picture
from cyclearn.results.result import LearnResult

# Arguments of a writer: the folders of the job and of its table, the request, and the path.
Writer = Callable[..., None]


def export(*, folder: str, table: str, kind: str, name: str, request: dict[str, Any]) -> None:
    """Create one file of a result in the folder of its job."""
    write = EXPORTS[kind].get(name)
    if write is None:
        raise InputError(f"there is no file {short(name)}; choose from {', '.join(EXPORTS[kind])}")
    place = Path(folder)
    write(folder=place, table=Path(table), request=request, path=place / name)


def write_script(*, folder: str, path: str, jobs: list[str] | None = None) -> None:
    """Write the script of a whole workspace, or of some of its jobs."""
    workspace = Workspace(Path(folder))
    wanted = [job for job in workspace.jobs() if (job.id in jobs if jobs else not job.is_removed)]
    Path(path).write_text(script.script(workspace, wanted), "utf-8")


def _report(*, folder: Path, table: Path, request: dict[str, Any], path: Path) -> None:
    title = f"What drives what in {read_json(table / 'table.json')['name']}"
    result = replace(
        learned(str(folder)),
        bootstrap=_last(folder, "bootstrap"),
        posterior=_last(folder, "posterior"),
    )
    result.report(path, data=read_frame(str(table), request), title=title)


def _last(folder: Path, kind: str) -> Any:
    """The result of the last finished job of a kind about a graph; None if there is none."""
    jobs = Workspace(folder.parent.parent).jobs()
    of = [job.id for job in jobs if job.kind == kind and job.of == folder.name]
    done = [folder.parent / name for name in of if (folder.parent / name / "result.json").is_file()]
    return _result(done[-1]) if done else None


def _result(folder: Path) -> Any:
    """The resamples, or the probabilities, of a finished job."""
    return load(folder / "result.json")


def _graph(*, folder: Path, path: Path, **_: Any) -> None:
    write_graph(learned(str(folder)).graph, path)


def _own_graph(*, folder: Path, path: Path, **_: Any) -> None:
    write_graph(DirectedGraph.from_dict(read_json(folder / "result.json")["graph"]), path)


def _picture(*, folder: Path, path: Path, **_: Any) -> None:
    result = learned(str(folder))
    # Groups share the graph but not the weights.
    write_picture(result.graph.plot() if result.groups else result.plot(), path)


def _form(*, folder: Path, path: Path, **_: Any) -> None:
    write_text(path, form(learned(str(folder)), path.name))


def _of_result(make: Callable[[LearnResult], Any]) -> Writer:
    return _table(lambda folder, _: make(learned(str(folder))))


def _table(make: Callable[[Path, dict[str, Any]], Any]) -> Writer:
    def write(*, folder: Path, request: dict[str, Any], path: Path, **_: Any) -> None:
        write_text(path, make(folder, request).to_csv(index=False))

    return write


def _named(summary: Any) -> Any:
    """A table of parameters whose index has a name; the index of groups already has names."""
    return summary if summary.index.nlevels > 1 else summary.rename_axis("parameter")


def _about(make: Callable[[str, dict[str, Any]], Any]) -> Writer:
    """For a job about a learned graph, apply a writer to the folder of that graph."""
    return _table(
        lambda folder, request: make(
            str(folder.parent / read_json(folder / "job.json")["of"]), request
        )
    )


EXPORTS: dict[str, dict[str, Writer]] = {
    "learn": {
        "report.html": _report,
        **dict.fromkeys(("graph.json", "graph.dot"), _graph),
        **dict.fromkeys(FORMS, _form),
        **dict.fromkeys(("picture.svg", "picture.pdf", "picture.png"), _picture),
        "coefficients.csv": _of_result(
            lambda result: _named(result.fitted.summary()).reset_index()
        ),
        "class.csv": _of_result(lambda result: result.equivalence_class.edge_table()),
        "search.csv": _of_result(lambda result: result.trace),
    },
    "effects": {"effects.csv": _about(effects_table), "predictions.csv": _about(predictions_table)},
    "bootstrap": {"bootstrap.csv": _table(lambda folder, _: _result(folder).edges)},
    "posterior": {"posterior.csv": _table(lambda folder, _: _result(folder).edge_table())},
    "experiment": {"experiments.csv": _table(lambda folder, _: experiment_table(folder))},
    "compare": dict.fromkeys(("graph.json", "graph.dot", "graph.txt"), _own_graph),
}
