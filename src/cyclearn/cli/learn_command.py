"""``cyclearn learn``: from a table to a graph."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cyclearn.cli import learn_options as given
from cyclearn.cli.output import Json, print_json
from cyclearn.errors import InputError
from cyclearn.graphs import write_graph


def learn(
    data: given.Table,
    method: given.MethodName = "auto",
    penalty: given.PenaltyText = "bic",
    knowledge: given.KnowledgeFile = None,
    start: given.StartFile = None,
    starts: given.Starts = None,
    patience: given.Patience = 10,
    max_component: given.MaxComponent = None,
    max_parents: given.MaxParents = None,
    max_evaluations: given.MaxEvaluations = None,
    time_limit: given.TimeLimit = None,
    unstable: given.Unstable = False,
    jobs: given.Jobs = None,
    seed: given.Seed = None,
    bootstrap: given.Resamples = None,
    checkpoint: given.Checkpoint = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Write the result (.json) or the graph (.dot, .txt) here."),
    ] = None,
    timings: Annotated[bool, typer.Option(help="Include seconds in JSON.")] = False,
    as_json: Json = False,
) -> None:
    """Learn which variables drive which, feedback loops included."""
    result = given.search(
        data,
        method=method,
        penalty=penalty,
        knowledge=knowledge,
        start=start,
        starts=starts,
        patience=patience,
        max_component=max_component,
        max_parents=max_parents,
        max_evaluations=max_evaluations,
        time_limit=time_limit,
        unstable=unstable,
        jobs=jobs,
        seed=seed,
        bootstrap=bootstrap,
        checkpoint=checkpoint,
    )
    if out is not None and out.suffix.lower() in {".dot", ".gv", ".txt"}:
        write_graph(result.graph, out)
    elif out is not None:
        try:
            out.write_text(result.to_json(timings=timings) + "\n", encoding="utf-8")
        except OSError as error:
            raise InputError(f"cannot write {out}: {error.strerror}") from None
    if as_json:
        print_json("learn", result.to_dict(timings=timings))
    else:
        typer.echo(str(result))
        if result.bootstrap is not None:
            typer.echo(f"\n{result.bootstrap}")
