"""``cyclearn report``: from a table to a page that says what was found and how sure it is."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from cyclearn.cli import search_options as given
from cyclearn.cli.output import Json, print_json, say
from cyclearn.cli.table_options import takes_table
from cyclearn.learning.options import SearchOptions


@takes_table
@given.takes_search_options
def report(
    data: Any,
    options: SearchOptions,
    out: Annotated[Path, typer.Option("--out", "-o", help="Write the page (HTML) here.")] = Path(
        "report.html"
    ),
    title: Annotated[str | None, typer.Option(help="Heading of the page.")] = None,
    members: Annotated[
        int, typer.Option(min=1, help="Most graphs of the class that the page can show.")
    ] = 200,
    jobs: given.Jobs = None,
    bootstrap: given.Resamples = None,
    checkpoint: given.Checkpoint = None,
    as_json: Json = False,
) -> None:
    """Learn, and write one page about it that opens in a browser without a network.

    The graph as a picture, what is certain, the graphs that fit equally well, coefficients, fit,
    total effects, warnings about the data, and how it was made.
    """
    result = given.search(data, options, jobs=jobs, bootstrap=bootstrap, checkpoint=checkpoint)
    command = ["cyclearn", *sys.argv[1:]]
    result.report(out, data=data, title=title, command=command, max_members=members)
    if as_json:
        print_json("report", {"path": str(out), "learned": result.to_dict()})
    else:
        say(str(result))
        say(f"Report: {out}")
    given.end_as_asked(result)
