"""Options of a search on the command line."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cyclearn.cli.progress import followed
from cyclearn.foundation.errors import InputError
from cyclearn.search.options import SearchOptions

if TYPE_CHECKING:
    from cyclearn.data.moments import Data
    from cyclearn.results import LearnResult

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
    """Learn from a table, and show the progress."""
    from cyclearn.learning import learn

    if checkpoint is not None and bootstrap is None:
        raise InputError("--checkpoint stores resamples; give their number with --bootstrap")
    resampling = {"n_resamples": bootstrap, "checkpoint": checkpoint}
    with followed() as on_progress, said_in_the_result():
        return learn(
            data,
            **options.given(),
            n_jobs=jobs,
            on_progress=on_progress,
            on_interrupt="best",
            bootstrap=None if bootstrap is None else resampling,
            posterior="brief" if posterior is None else posterior,
        )


def end_as_asked(result: LearnResult) -> None:
    """After printing the result of an interrupted search, exit like an interrupted program."""
    from cyclearn.search.runs import SearchStatus

    if result.status is SearchStatus.INTERRUPTED:
        raise KeyboardInterrupt


@contextmanager
def said_in_the_result() -> Iterator[None]:
    """Without the warnings of a sample of graphs, which the printed result contains."""
    from cyclearn.posterior import SamplingWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SamplingWarning)
        yield
