"""``cyclearn fit``: the maximum likelihood estimate on a given graph."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cyclearn.cli.output import Json, print_json, say
from cyclearn.graphs import read_graph


def fit(
    data: Annotated[Path, typer.Argument(help="Table with a header: CSV, TSV or Parquet.")],
    graph: Annotated[Path, typer.Argument(help="Graph file: JSON, DOT, Tetrad or edge list.")],
    level: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Level of the confidence intervals.")
    ] = 0.95,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random starts.")] = 0,
    as_json: Json = False,
) -> None:
    """Fit a linear Gaussian model, feedback included, and test it against the data.

    Exits with 1 where the fit did not converge to an ordinary maximum.
    """
    from cyclearn.models import fit as fit_model
    from cyclearn.models import read_moments

    fitted = fit_model(read_graph(graph), read_moments(data), random_state=seed)
    if as_json:
        print_json("fit", fitted.to_dict(level))
    else:
        say(fitted.to_text(level))
    raise typer.Exit(0 if fitted.converged else 1)
