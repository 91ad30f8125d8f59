"""``cyclearn learn``: from a table to a graph."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cyclearn.cli.output import Json, print_json
from cyclearn.errors import InputError
from cyclearn.graphs import read_graph, write_graph

if TYPE_CHECKING:
    from cyclearn.learning.local_search import SearchStep

    OnStep = Callable[[SearchStep], None]
    OnResample = Callable[[int, int], None]


def learn(
    data: Annotated[Path, typer.Argument(help="Table with a header: CSV, TSV or Parquet.")],
    method: Annotated[
        Literal["auto", "exact", "tabu", "hill-climbing"],
        typer.Option(help="Search; exact for few variables."),
    ] = "auto",
    penalty: Annotated[
        str, typer.Option(help="What an edge costs: bic, '2 bic', ebic, or a number.")
    ] = "bic",
    knowledge: Annotated[
        Path | None, typer.Option(help="JSON file: required, forbidden, tiers, exogenous.")
    ] = None,
    start: Annotated[Path | None, typer.Option(help="Graph file to start from.")] = None,
    starts: Annotated[
        int | None, typer.Option(min=1, help="Independent starts; two with auto, else one.")
    ] = None,
    patience: Annotated[int, typer.Option(min=1, help="Moves without a new best graph.")] = 10,
    max_component: Annotated[
        int | None, typer.Option(min=1, help="Most variables in one feedback group.")
    ] = None,
    max_parents: Annotated[int | None, typer.Option(min=0, help="Most causes a variable.")] = None,
    max_evaluations: Annotated[
        int | None, typer.Option(min=1, help="Most components fitted; keeps runs repeatable.")
    ] = None,
    time_limit: Annotated[float | None, typer.Option(min=0, help="Seconds.")] = None,
    unstable: Annotated[bool, typer.Option(help="Allow structures without a stable fit.")] = False,
    jobs: Annotated[
        int | None, typer.Option(help="Processes for several starts and for resamples.")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of the search.")] = None,
    bootstrap: Annotated[
        int | None, typer.Option(min=1, help="Learn also from this many resamples.")
    ] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Keep finished resamples here, and go on from them.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Write the result (.json) or the graph (.dot, .txt) here."),
    ] = None,
    timings: Annotated[bool, typer.Option(help="Include seconds in JSON.")] = False,
    as_json: Json = False,
) -> None:
    """Learn which variables drive which, feedback loops included."""
    from cyclearn.learning import Knowledge
    from cyclearn.learning import learn as learn_graph

    known = None if knowledge is None else Knowledge.read(knowledge)
    if checkpoint is not None and bootstrap is None:
        raise InputError("--checkpoint keeps resamples; say how many with --bootstrap")
    with _progress() as (on_step, on_resample):
        result = learn_graph(
            data,
            method=method,
            penalty=_penalty(penalty),
            knowledge=known,
            start=None if start is None else read_graph(start),
            n_starts=starts,
            patience=patience,
            stable=not unstable,
            max_component=max_component,
            max_parents=max_parents,
            max_evaluations=max_evaluations,
            time_limit=time_limit,
            random_state=seed,
            n_jobs=jobs,
            on_step=on_step,
            bootstrap=None
            if bootstrap is None
            else {
                "n_resamples": bootstrap,
                "checkpoint": checkpoint,
                "on_resample": on_resample,
            },
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


def _penalty(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text


@contextmanager
def _progress() -> Iterator[tuple[OnStep | None, OnResample | None]]:
    """A line that follows the search, on a terminal; nothing in a pipe."""
    if not sys.stderr.isatty():
        yield None, None
        return
    from rich.console import Console

    n_moves = 0
    with Console(stderr=True).status("searching") as status:

        def on_step(step: SearchStep) -> None:
            nonlocal n_moves
            n_moves += 1
            status.update(f"searching: {n_moves} moves, score {step.score:.5f} a sample")

        def on_resample(done: int, wanted: int) -> None:
            status.update(f"bootstrap: {done} of {wanted} resamples")

        yield on_step, on_resample
