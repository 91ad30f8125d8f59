"""``cyclearn posterior``: the probability of each edge, given a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from cyclearn.cli.field_options import takes_fields
from cyclearn.cli.output import Json, print_answer
from cyclearn.cli.progress import followed
from cyclearn.cli.search_options import said_in_the_result
from cyclearn.cli.table_options import takes_table
from cyclearn.foundation.files import checked_suffix, write_text
from cyclearn.posterior.posterior import PosteriorOptions


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
        # Sampling can take long, so check the output path first.
        checked_suffix(out, (".json",), "a posterior")
    with followed() as on_progress, said_in_the_result():
        found = sample(data, n_jobs=jobs, on_progress=on_progress, **options.given())
    if out is not None:
        write_text(out, found.to_json() + "\n")
    print_answer("posterior", found, as_json=as_json)
