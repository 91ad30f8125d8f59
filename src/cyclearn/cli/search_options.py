"""A search from the command line: what goes with its options, and a line that follows it."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cyclearn.foundation.errors import InputError
from cyclearn.search.options import SearchOptions

if TYPE_CHECKING:
    from cyclearn.data.moments import Data
    from cyclearn.results import LearnResult
    from cyclearn.search.runs import OnStep, SearchStep

    OnResample = Callable[[int, int], None]

Jobs = Annotated[int | None, typer.Option(help="Number of processes for starts and resamples.")]
Resamples = Annotated[
    int | None, typer.Option(min=1, help="Number of bootstrap resamples to learn from.")
]
WithPosterior = Annotated[
    bool | None,
    typer.Option(
        "--posterior/--no-posterior",
        help="Compute the probability of each edge; by default with a limited number of steps, "
        "for up to 50 variables.",
    ),
]
Checkpoint = Annotated[
    Path | None,
    typer.Option(help="File for finished resamples; an interrupted run continues from it."),
]


def search(
    data: Data,
    options: SearchOptions,
    *,
    jobs: int | None,
    bootstrap: int | None,
    checkpoint: Path | None,
    posterior: bool | None = None,
) -> LearnResult:
    """Learn from a table, with a line that follows the search on a terminal."""
    from cyclearn.learning import learn

    if checkpoint is not None and bootstrap is None:
        raise InputError("--checkpoint keeps resamples; say how many with --bootstrap")
    with _progress() as (on_step, on_resample), said_in_the_result():
        resampling = {
            "n_resamples": bootstrap,
            "checkpoint": checkpoint,
            "on_resample": on_resample,
        }
        return learn(
            data,
            **options.given(),
            n_jobs=jobs,
            on_step=on_step,
            on_interrupt="best",
            bootstrap=None if bootstrap is None else resampling,
            posterior="brief" if posterior is None else posterior,
        )


def end_as_asked(result: LearnResult) -> None:
    """After the output of a search that was interrupted: end as interrupted programs do."""
    from cyclearn.search.runs import SearchStatus

    if result.status is SearchStatus.INTERRUPTED:
        raise KeyboardInterrupt


@contextmanager
def said_in_the_result() -> Iterator[None]:
    """Where a sample of graphs warns about itself: what is printed of it says so."""
    from cyclearn.posterior import SamplingWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SamplingWarning)
        yield


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
            status.update(f"searching: {n_moves} moves, score {step.score:.5f} per sample")

        def on_resample(done: int, wanted: int) -> None:
            status.update(f"bootstrap: {done} of {wanted} resamples")

        yield on_step, on_resample
