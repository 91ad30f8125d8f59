"""``cyclearn fit``: the maximum likelihood estimate on a given graph."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from cyclearn.cli.output import Json, print_json, say
from cyclearn.cli.table_options import (
    Groups,
    Intercepts,
    InterventionKind,
    Interventions,
    Margins,
    Missing,
    takes_table,
)
from cyclearn.graphs import read_graph


@takes_table
def fit(
    data: Any,
    graph: Annotated[Path, typer.Argument(help="Graph file: JSON, DOT, Tetrad or edge list.")],
    level: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Level of the confidence intervals.")
    ] = 0.95,
    groups: Groups = None,
    interventions: Interventions = None,
    kind: InterventionKind = "perfect",
    intercepts: Intercepts = "shared",
    missing: Missing = "error",
    margins: Margins = "raw",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random starts.")] = 0,
    as_json: Json = False,
) -> None:
    """Fit a linear Gaussian model, feedback included, and test it against the data.

    Exits with 1 where the fit did not converge to an ordinary maximum.
    """
    from cyclearn.models import fit as fit_model

    fitted = fit_model(
        read_graph(graph),
        data,
        groups=groups,
        interventions=interventions,
        kind=kind,
        intercepts=intercepts,
        missing=missing,
        margins=margins,
        random_state=seed,
    )
    if as_json:
        print_json("fit", fitted.to_dict(level))
    else:
        say(fitted.to_text(level))
    raise typer.Exit(0 if fitted.converged else 1)
