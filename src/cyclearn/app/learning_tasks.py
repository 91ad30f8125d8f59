"""Learning a graph as a job, and the partial result if it is stopped."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from cyclearn.app.limits import Limits
from cyclearn.app.progress import ProgressFile, SearchWatch
from cyclearn.app.reading import read_frame
from cyclearn.app.views import result_view
from cyclearn.app.workspace import read_json, write_json
from cyclearn.data import Moments
from cyclearn.data.tables import Tables
from cyclearn.foundation.errors import InputError
from cyclearn.graphs import DirectedGraph
from cyclearn.learning.learn import is_brief
from cyclearn.learning.run import learn_with
from cyclearn.results.result import LearnResult
from cyclearn.search.options import SearchOptions
from cyclearn.search.runs import SearchStatus

# Number of equally good graphs to list after a search was stopped; the page asks for more.
_FEW_MEMBERS = 1


def search_options(request: dict[str, Any]) -> SearchOptions:
    """The options of a request."""
    given = request.get("options", {})
    if not isinstance(given, dict):
        raise InputError("options must be a JSON object")
    return SearchOptions.from_dict(given)


def learn(
    *, folder: str, table: str, request: dict[str, Any], kept_tables: str, **_: Any
) -> dict[str, Any]:
    """Learn a graph and report progress; return whether probabilities can be computed soon.

    The tables are kept in a file, so that a stopped search need not read them again.
    """
    place, options = Path(folder), search_options(request)
    frame = read_frame(table, request)
    labels = {options.groups, options.interventions, options.weights, options.within}
    n_variables = len(set(frame.names if isinstance(frame, Moments) else frame) - labels)
    if n_variables > Limits().max_variables:
        raise InputError(
            f"{n_variables} columns are selected; the application allows at most "
            f"{Limits().max_variables}: select fewer, or use the command line"
        )
    note = ProgressFile(place)
    note.say("Reading the table")
    with note.through_compilation():
        tables = options.tables(frame)
        Path(kept_tables).write_bytes(pickle.dumps(tables))
        watch = SearchWatch(place)
        note.say("Searching")
        result = learn_with(options, tables, on_progress=watch)
    write_result(place, tables, result)
    return {"takes_probabilities": (is_brief(result.tables) and not options.is_unknown)}


def keep_learn(
    *, folder: str, table: str, request: dict[str, Any], kept_tables: str, **_: Any
) -> None:
    """The result of a stopped search, from one more step on the best graph found so far.

    The options of the result contain that graph, so that they reproduce the result.
    """
    place, options = Path(folder), search_options(request)
    read = Path(kept_tables)
    tables = (
        pickle.loads(read.read_bytes())
        if read.is_file()
        # The program was started again since.
        else options.tables(read_frame(table, request))
    )
    refused: InputError | None = None
    for record in read_json(place / "kept.json"):
        kept = options.replaced(
            start=DirectedGraph.from_dict(record),
            n_starts=None,
            effort="default",
            max_evaluations=1,
            time_limit=None,
        )
        try:
            # The user ended it, not the limit of this step.
            result = replace(learn_with(kept, tables), status=SearchStatus.INTERRUPTED)
        except InputError as error:
            # The last graph may have no stable fit although an earlier one has.
            refused = error
        else:
            write_result(place, tables, result)
            return
    raise refused or InputError("the search was stopped before it found a graph")


def write_result(place: Path, tables: Tables | None, result: LearnResult) -> None:
    """Save a result and its view for the page."""
    ProgressFile(place).say("Listing the graphs that fit equally well")
    # After a stop, omit the long comparisons.
    is_stopped = result.status is SearchStatus.INTERRUPTED
    most = _FEW_MEMBERS if is_stopped else Limits().max_members
    write_json(place / "view.json", result_view(result, tables, most, is_brief=is_stopped))
    # Without line breaks it is written many times faster.
    text = json.dumps(result.to_dict(timings=True), ensure_ascii=False)
    (place / "result.json").write_text(text, "utf-8")


def learned(folder: str) -> LearnResult:
    """The result of a finished job."""
    return _learned(folder, (Path(folder) / "result.json").stat().st_mtime_ns)


@lru_cache(maxsize=4)
def _learned(folder: str, changed: int) -> LearnResult:  # noqa: ARG001 - names the content
    return LearnResult.from_json((Path(folder) / "result.json").read_text("utf-8"))
