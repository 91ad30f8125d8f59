"""``cyclearn next``: which variable to intervene on next."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cyclearn.cli.documented_options import documented
from cyclearn.cli.output import Json, print_answer, say
from cyclearn.cli.plot_command import read_saved
from cyclearn.foundation.errors import InputError
from cyclearn.graphs import DirectedGraph

if TYPE_CHECKING:
    from cyclearn.results.open_graphs import OpenGraphs


@documented
def next_experiment(
    given: Path,
    targets: Annotated[list[str] | None, typer.Option(metavar="NAMES")] = None,
    size: Annotated[int, typer.Option(min=1)] = 1,
    batch: Annotated[int, typer.Option(min=1)] = 1,
    rows: Annotated[int | None, typer.Option(min=1)] = None,
    do: Annotated[list[str] | None, typer.Option(metavar="NAMES")] = None,
    confidence: Annotated[float, typer.Option(min=0.5, max=1)] = 0.9,
    max_members: Annotated[int, typer.Option("--max", min=2)] = 200,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    as_json: Json = False,
) -> None:
    """Count the graphs that each experiment would leave, and the rows it would need.

    Exits with 1 if no experiment distinguishes any of the remaining graphs.

    Parameters
    ----------
    given
        Saved result (learn --out result.json), or a graph file for its class.
    targets
        Variables (a or a,b) that an experiment can intervene on; repeat the option for each
        experiment.
    size
        Number of variables to intervene on together.
    batch
        Number of experiments to plan together.
    rows
        Rows of each experiment, 1 for knockouts that are measured once.
    do
        An experiment that was already done, in addition to observed data (with a graph file).
    confidence
        Share of repeats in which the true graph must have the best likelihood.
    max_members
        Maximum number of graphs to use.
    seed
        Seed for sampling a large class.
    """
    from cyclearn.classes import equivalence_class
    from cyclearn.results import LearnResult
    from cyclearn.results import next_experiment as advise
    from cyclearn.results.next_experiment_result import class_in_doubt

    if given.suffix.lower() in {".csv", ".tsv", ".xlsx", ".parquet", ".feather", ".dta"}:
        raise InputError(
            f"{given} is a table; learn from it first: cyclearn learn {given} --out result.json"
        )
    found = read_saved(given)
    if not isinstance(found, (LearnResult, DirectedGraph)):
        raise InputError(
            f"{given} is a saved {type(found).__name__}; give a result of learn, or a graph file"
        )
    open_graphs: OpenGraphs = found
    if do:
        if isinstance(found, LearnResult):
            raise InputError(
                "--do needs a graph file; the experiments of a saved result are those of its tables"
            )
        open_graphs = equivalence_class(found, interventions=[[], *map(_names, do)])
    advice = advise(
        open_graphs,
        [_names(each) for each in targets] if targets else None,
        size,
        confidence=confidence,
        max_members=max_members,
        batch=batch,
        rows=rows,
        random_state=seed,
    )
    print_answer("next", advice, as_json=as_json)
    if not as_json and isinstance(found, LearnResult) and (doubt := class_in_doubt(found)):
        say(doubt)
    tells_apart = advice.best.n_classes > 1 or advice.best.probability_left < 1
    raise typer.Exit(0 if tells_apart else 1)


def _names(text: str) -> list[str]:
    """Names separated by commas."""
    return [name.strip() for name in text.split(",")]
