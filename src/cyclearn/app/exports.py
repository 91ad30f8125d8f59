"""What can be taken away from a result: files by name, made when they are asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from cyclearn.app import script
from cyclearn.app.learning_tasks import learned
from cyclearn.app.reading import read_frame
from cyclearn.app.workspace import Workspace, read_json
from cyclearn.errors import InputError
from cyclearn.files import replacing
from cyclearn.graphs import write_graph
from cyclearn.learning.result import LearnResult


def export(*, folder: str, table: str, name: str, request: dict[str, Any]) -> dict[str, Any]:
    """Make one file of a result in the folder of its job."""
    if name not in EXPORTS:
        raise InputError(f"there is no file {name!r}; there are {', '.join(EXPORTS)}")
    about = read_json(Path(table) / "table.json")
    frame = read_frame(table, request).copy()
    # For the report, which names the file.
    frame.attrs["title"] = about["name"]
    with replacing(Path(folder) / name) as beside:
        EXPORTS[name](learned(folder), beside, frame)
    return {}


def write_script(*, folder: str, path: str, jobs: list[str] | None = None) -> dict[str, Any]:
    """Write the script of a whole workspace, or of some of its jobs."""
    workspace = Workspace(Path(folder))
    wanted = [job for job in workspace.jobs() if jobs is None or job.id in jobs]
    script.write(workspace, Path(path), wanted)
    return {}


def _report(result: LearnResult, path: Path, frame: Any) -> None:
    result.report(path, data=frame, title=f"What drives what in {frame.attrs['title']}")


def _graph(result: LearnResult, path: Path, frame: Any) -> None:  # noqa: ARG001 - as all exports
    write_graph(result.graph, path)


def _picture(result: LearnResult, path: Path, frame: Any) -> None:  # noqa: ARG001 - as all exports
    figure = result.plot().get_figure(root=True)
    assert figure is not None
    figure.savefig(path, bbox_inches="tight", dpi=200)


def _table(make: Callable[[LearnResult], Any]) -> Callable[[LearnResult, Path, Any], None]:
    def write(result: LearnResult, path: Path, frame: Any) -> None:  # noqa: ARG001 - as all exports
        make(result).to_csv(path, index=False)

    return write


# Columns of result.json are the library's own; LearnResult.from_json reads it.
EXPORTS: dict[str, Callable[[LearnResult, Path, Any], None]] = {
    "report.html": _report,
    "graph.json": _graph,
    "graph.dot": _graph,
    "graph.txt": _graph,
    "picture.svg": _picture,
    "picture.pdf": _picture,
    "picture.png": _picture,
    "coefficients.csv": _table(
        lambda result: result.model.summary().rename_axis("parameter").reset_index()
    ),
    "class.csv": _table(lambda result: result.equivalence_class.edge_table()),
    "search.csv": _table(lambda result: result.trace),
}
