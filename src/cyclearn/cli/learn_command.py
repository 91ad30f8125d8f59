"""``cyclearn learn`` and ``cyclearn posterior``: from a table to a graph, or to edges."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from cyclearn.cli import search_options as given
from cyclearn.cli.documented_options import documented
from cyclearn.cli.field_options import takes_fields
from cyclearn.cli.output import Json, Standardised, print_answer, print_json, say
from cyclearn.cli.progress import followed
from cyclearn.cli.table_options import takes_table
from cyclearn.foundation.files import checked_suffix, write_text
from cyclearn.posterior.posterior import PosteriorOptions
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


@takes_table
@takes_fields(PosteriorOptions)
def posterior(
    data: Any,
    options: PosteriorOptions,
    jobs: Annotated[int | None, typer.Option(help="Threads for the chains.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the result (.json) here.")] = None,
    as_json: Json = False,
) -> None:
    """Sample graphs in proportion to their probability, and print that of each edge."""
    from cyclearn.posterior import posterior as sample

    if out is not None:
        # Sampling can take long; what would fail after it fails before it.
        checked_suffix(out, (".json",), "a posterior")
    with followed() as on_progress, given.said_in_the_result():
        found = sample(data, n_jobs=jobs, on_progress=on_progress, **options.given())
    if out is not None:
        write_text(out, found.to_json() + "\n")
    print_answer("posterior", found, as_json=as_json)
