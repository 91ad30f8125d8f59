"""``cyclearn fit``: the maximum likelihood estimate on a given graph."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from cyclearn.cli.documented_options import documented
from cyclearn.cli.field_options import takes_fields
from cyclearn.cli.output import Json, Standardised, print_json, say
from cyclearn.cli.table_options import takes_table
from cyclearn.data.reading import Reading
from cyclearn.foundation import InputError, significant
from cyclearn.graphs import read_graph
from cyclearn.models import FittedModel
from cyclearn.models import fit as fit_model

_SHOWN = 15


@takes_table
@takes_fields(Reading)
@documented
def fit(
    data: Any,
    options: Reading,
    graph: Path,
    level: Annotated[float, typer.Option(min=0.0, max=1.0)] = 0.95,
    standardised: Standardised = False,
    indices: bool = False,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    as_json: Json = False,
) -> None:
    """Fit a linear Gaussian model, feedback included, and test it against the data.

    Exits with 1 if the fit does not converge to a regular maximum.

    Parameters
    ----------
    graph
        Graph file: JSON, DOT, Tetrad or edge list.
    level
        Level of the confidence intervals.
    indices
        Print R², residual correlations, modification indices.
    seed
        Seed of the random starts.
    """
    fitted = fit_model(read_graph(graph), data, **options.given(), random_state=seed)
    if not isinstance(fitted, FittedModel):
        if standardised or indices:
            raise InputError(
                "--standardised and --indices need one table without groups; omit them"
            )
        print_json("fit", fitted.to_dict(level)) if as_json else say(fitted.to_text(level))
        raise typer.Exit(0 if fitted.converged else 1)
    if as_json:
        print_json("fit", fitted.to_dict(level) | (_diagnosed(fitted) if indices else {}))
    else:
        say(fitted.to_text(level, standardised=standardised))
    if indices and not as_json:
        say(f"\nR²\n{_written(fitted.r_squared)}")
        say(f"\nResidual correlations\n{_written(fitted.residual_correlations())}")
        say(f"\nHelpful changes\n{_written(fitted.modification_indices().head(_SHOWN))}")
    raise typer.Exit(0 if fitted.converged else 1)


def _written(table: Any) -> str:
    return str(table.to_string(float_format=lambda value: significant(value, 3)))


def _diagnosed(fitted: FittedModel) -> dict[str, Any]:
    return {
        "r_squared": fitted.r_squared.to_dict(),
        "residual_correlations": fitted.residual_correlations().to_dict(),
        "modification_indices": fitted.modification_indices().to_dict(orient="records"),
    }
