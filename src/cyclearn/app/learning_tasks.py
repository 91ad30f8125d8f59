"""Learning a graph as a job, and what is left of it when it is stopped."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import Any

from cyclearn.app.limits import Limits
from cyclearn.app.opening import read_frame
from cyclearn.app.progress import Progress, SearchWatch
from cyclearn.app.views import result_view
from cyclearn.app.workspace import read_json, write_json
from cyclearn.foundation.errors import InputError
from cyclearn.graphs import DirectedGraph
from cyclearn.learning.run import learn_with
from cyclearn.results.result import LearnResult
from cyclearn.search.options import SearchOptions


def search_options(request: dict[str, Any]) -> SearchOptions:
    """The options that a request asks for."""
    given = request.get("options", {})
    if not isinstance(given, dict):
        raise InputError("options must be given by name")
    return SearchOptions.from_dict(given)


def learn(*, folder: str, table: str, request: dict[str, Any], **_: Any) -> None:
    """Learn a graph, with progress."""
    place, options = Path(folder), search_options(request)
    frame = read_frame(table, request)
    labels = {name for name in (options.groups, options.interventions) if isinstance(name, str)}
    n_variables = frame.shape[1] - len(labels)
    if n_variables > Limits().max_variables:
        raise InputError(
            f"{n_variables} columns are chosen; the application takes "
            f"{Limits().max_variables} at most: choose fewer, or use the command line"
        )
    progress = Progress(place)
    progress.say("Reading the table.")
    with progress.through_compilation():
        tables = options.tables(frame)
        watch = SearchWatch(place, options.problem(tables))
        progress.say("Searching.")
        result = learn_with(options, tables, on_step=watch)
    _keep(place, table, request, result)


def keep_learn(*, folder: str, table: str, request: dict[str, Any], **_: Any) -> None:
    """The result of a search that was stopped: what one more step makes of the best graph met.

    The options of the result hold that graph, so that they repeat it.
    """
    place, options = Path(folder), search_options(request)
    tables = options.tables(read_frame(table, request))
    refused: InputError | None = None
    for record in read_json(place / "kept.json"):
        kept = options.replaced(
            start=DirectedGraph.from_dict(record),
            n_starts=None,
            max_evaluations=1,
            time_limit=None,
        )
        try:
            result = learn_with(kept, tables)
        except InputError as error:
            # A graph on the way may have had no stable fit; one before it had.
            refused = error
        else:
            _keep(place, table, request, result)
            return
    raise refused or InputError("nothing was found before the search was stopped")


def _keep(place: Path, table: str, request: dict[str, Any], result: LearnResult) -> None:
    Progress(place).say("Listing the graphs that fit equally well.")
    frame = read_frame(table, request)
    write_json(place / "view.json", result_view(result, frame, Limits().max_members))
    beside = place / ".result.json"
    beside.write_text(result.to_json(timings=True), "utf-8")
    os.replace(beside, place / "result.json")


def learned(folder: str) -> LearnResult:
    """The result of a job that has ended well."""
    return _learned(folder, (Path(folder) / "result.json").stat().st_mtime_ns)


@lru_cache(maxsize=4)
def _learned(folder: str, changed: int) -> LearnResult:  # noqa: ARG001 - names the content
    return LearnResult.from_json((Path(folder) / "result.json").read_text("utf-8"))
