"""The options of a search, which ``learn`` and ``report`` share, and the search itself."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cyclearn.errors import InputError
from cyclearn.graphs import read_graph

if TYPE_CHECKING:
    from cyclearn.learning import LearnResult
    from cyclearn.search.local_search import SearchStep

    OnStep = Callable[[SearchStep], None]
    OnResample = Callable[[int, int], None]

Table = Annotated[Path, typer.Argument(help="Table with a header: CSV, TSV or Parquet.")]
MethodName = Annotated[
    Literal["auto", "exact", "tabu", "hill-climbing"],
    typer.Option(help="Search; exact for few variables."),
]
PenaltyText = Annotated[
    str, typer.Option(help="What an edge costs: bic, '2 bic', ebic, or a number.")
]
KnowledgeFile = Annotated[
    Path | None, typer.Option(help="JSON file: required, forbidden, tiers, exogenous.")
]
StartFile = Annotated[Path | None, typer.Option(help="Graph file to start from.")]
Starts = Annotated[
    int | None, typer.Option(min=1, help="Independent starts; two with auto, else one.")
]
Patience = Annotated[int, typer.Option(min=1, help="Moves without a new best graph.")]
MaxComponent = Annotated[
    int | None, typer.Option(min=1, help="Most variables in one feedback group.")
]
MaxParents = Annotated[int | None, typer.Option(min=0, help="Most causes a variable.")]
MaxEvaluations = Annotated[
    int | None, typer.Option(min=1, help="Most components fitted; keeps runs repeatable.")
]
TimeLimit = Annotated[float | None, typer.Option(min=0, help="Seconds.")]
Unstable = Annotated[bool, typer.Option(help="Allow structures without a stable fit.")]
Jobs = Annotated[int | None, typer.Option(help="Processes for several starts and for resamples.")]
Seed = Annotated[int | None, typer.Option(min=0, help="Seed of the search.")]
Resamples = Annotated[int | None, typer.Option(min=1, help="Learn also from this many resamples.")]
Checkpoint = Annotated[
    Path | None, typer.Option(help="Keep finished resamples here, and go on from them.")
]


def search(
    data: Path,
    *,
    method: Literal["auto", "exact", "tabu", "hill-climbing"],
    penalty: str,
    knowledge: Path | None,
    start: Path | None,
    starts: int | None,
    patience: int,
    max_component: int | None,
    max_parents: int | None,
    max_evaluations: int | None,
    time_limit: float | None,
    unstable: bool,
    jobs: int | None,
    seed: int | None,
    bootstrap: int | None,
    checkpoint: Path | None,
) -> LearnResult:
    """Learn from a file, with a line that follows the search on a terminal."""
    from cyclearn.learning import Knowledge, learn

    known = None if knowledge is None else Knowledge.read(knowledge)
    if checkpoint is not None and bootstrap is None:
        raise InputError("--checkpoint keeps resamples; say how many with --bootstrap")
    with _progress() as (on_step, on_resample):
        return learn(
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
