"""``cyclearn learn``: from a table to a graph."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from cyclearn.cli import search_options as given
from cyclearn.cli.documented_options import documented
from cyclearn.cli.field_options import takes_fields
from cyclearn.cli.output import Json, Standardised, print_json, say
from cyclearn.cli.table_options import takes_table
from cyclearn.foundation.files import checked_suffix, write_text
from cyclearn.search.options import SearchOptions


@takes_table
@takes_fields(SearchOptions)
@documented
def learn(
    data: Any,
    options: SearchOptions,
    jobs: given.Jobs = None,
    bootstrap: given.Resamples = None,
    checkpoint: given.Checkpoint = None,
    posterior: given.WithPosterior = None,
    standardised: Standardised = False,
    out: Path | None = None,
    timings: Annotated[
        bool, typer.Option(help="Include timings and details of the run in the JSON.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Learn a causal graph, which may have feedback loops, from a table.

    Parameters
    ----------
    out
        Output file; the suffix determines the format: .json, .csv, .dot, .graphml, .tetrad, .lav,
        .dagitty, .tikz, .tex, .png, .svg, .pdf, .html, …
    """
    if out is not None:
        from cyclearn.report.exports import SUFFIXES

        checked_suffix(out, SUFFIXES, "a result")
    result = given.search(
        data, options, jobs=jobs, bootstrap=bootstrap, checkpoint=checkpoint, posterior=posterior
    )
    if out is not None and out.suffix.lower() == ".json":
        write_text(out, result.to_json(timings=timings) + "\n")
    elif out is not None:
        result.export(out)
    if as_json:
        print_json("learn", result.to_dict(timings=timings))
    else:
        say(result.to_text(standardised=standardised))
        if result.bootstrap is not None:
            say(f"\n{result.bootstrap}")
    given.end_as_asked(result)
