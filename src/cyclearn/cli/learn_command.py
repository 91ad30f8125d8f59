"""``cyclearn learn``: from a table to a graph."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from cyclearn.cli import search_options as given
from cyclearn.cli.output import Json, print_json, say
from cyclearn.cli.table_options import takes_table
from cyclearn.files import write_text
from cyclearn.graphs import write_graph
from cyclearn.learning.options import SearchOptions


@takes_table
@given.takes_search_options
def learn(
    data: Any,
    options: SearchOptions,
    jobs: given.Jobs = None,
    bootstrap: given.Resamples = None,
    checkpoint: given.Checkpoint = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Write the result (.json) or the graph (.dot, .txt) here."),
    ] = None,
    timings: Annotated[
        bool, typer.Option(help="Include how the run went, with seconds, in JSON.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Learn which variables drive which, feedback loops included."""
    result = given.search(data, options, jobs=jobs, bootstrap=bootstrap, checkpoint=checkpoint)
    if out is not None and out.suffix.lower() in {".dot", ".gv", ".txt"}:
        write_graph(result.graph, out)
    elif out is not None:
        write_text(out, result.to_json(timings=timings) + "\n")
    if as_json:
        print_json("learn", result.to_dict(timings=timings))
    else:
        say(str(result))
        if result.bootstrap is not None:
            say(f"\n{result.bootstrap}")
    given.end_as_asked(result)
