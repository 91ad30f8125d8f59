"""``cyclearn report``: a page about a table or a saved result."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from cyclearn.cli import search_options as given
from cyclearn.cli.documented_options import documented
from cyclearn.cli.field_options import takes_fields
from cyclearn.cli.output import Json, print_json, say
from cyclearn.cli.table_options import takes_table_or_result
from cyclearn.foundation import InputError, checked_suffix
from cyclearn.search.options import SearchOptions

With = Annotated[
    list[Path] | None,
    typer.Option("--with", help="Add a saved posterior or bootstrap (.json) to the report."),
]


@takes_table_or_result
@takes_fields(SearchOptions)
@documented
def report(
    data: Any,
    options: SearchOptions,
    out: Annotated[Path, typer.Option("--out", "-o")] = Path("report.html"),
    title: str | None = None,
    members: Annotated[int | None, typer.Option(min=1)] = None,
    jobs: given.Jobs = None,
    bootstrap: given.Resamples = None,
    checkpoint: given.Checkpoint = None,
    posterior: given.WithPosterior = None,
    beside: With = None,
    as_json: Json = False,
) -> None:
    """Learn, and write the result as an HTML page that needs no network.

    Instead of a table you can give a saved result (.json); then nothing is learned. The page shows
    the graph, what equally good graphs agree on, coefficients, fit, total effects, probabilities of
    edges, warnings about the data, and how the result was obtained.

    Parameters
    ----------
    out
        Write the page (.html) here.
    title
        Heading of the page.
    members
        Maximum number of equally good graphs on the page; 200 by default, fewer with more than 50
        variables.
    """
    checked_suffix(out, (".html", ".htm"), "a report")
    evidence = read_evidence(beside or [])
    result = learned(
        data, options, jobs=jobs, bootstrap=bootstrap, checkpoint=checkpoint, posterior=posterior
    )
    command = ["cyclearn", *sys.argv[1:]]
    rows = None if result is data else data
    result.report(out, data=rows, title=title, command=command, max_members=members, **evidence)
    if as_json:
        print_json("report", {"path": str(out), "learned": result.to_dict()})
    else:
        say(str(result))
        say(f"Report: {out}")
    given.end_as_asked(result)


def learned(data: Any, options: SearchOptions, **searching: Any) -> Any:
    """A saved result, or one learned from a table."""
    from cyclearn.results import LearnResult

    if not isinstance(data, LearnResult):
        return given.search(data, options, **searching)
    asked = [*options.given(), *(name for name, value in searching.items() if value)]
    if asked:
        raise InputError(
            f"{asked[0]} is an option of learning, but the input is a saved result; omit it, or "
            "give the table"
        )
    return data


def read_evidence(paths: list[Path]) -> dict[str, Any]:
    """Saved posteriors and bootstraps, by their option names in a report."""
    from cyclearn.learning import load
    from cyclearn.posterior import Posterior
    from cyclearn.results import BootstrapResult

    found: dict[str, Any] = {}
    for path in paths:
        saved = load(path)
        name = {BootstrapResult: "bootstrap", Posterior: "posterior"}.get(type(saved))
        if name is None:
            raise InputError(f"{path} is a result of learn; --with takes a posterior or bootstrap")
        if name in found:
            raise InputError(f"{path} is a second {name}; give one")
        found[name] = saved
    return found
