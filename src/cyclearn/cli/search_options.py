"""The options of a search on the command line: one for each field of ``SearchOptions``."""

from __future__ import annotations

import functools
import inspect
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cyclearn.cli.table_options import number_or_name
from cyclearn.foundation.errors import InputError
from cyclearn.graphs import read_graph
from cyclearn.search.knowledge import Knowledge
from cyclearn.search.options import SearchOptions

if TYPE_CHECKING:
    from cyclearn.data.moments import Data
    from cyclearn.results import LearnResult
    from cyclearn.search.runs import OnStep, SearchStep

    OnResample = Callable[[int, int], None]

Jobs = Annotated[int | None, typer.Option(help="Processes for several starts and for resamples.")]
Resamples = Annotated[int | None, typer.Option(min=1, help="Learn also from this many resamples.")]
WithPosterior = Annotated[
    bool, typer.Option("--posterior", help="Say also how probable each edge is.")
]
Checkpoint = Annotated[
    Path | None, typer.Option(help="Keep finished resamples here, and go on from them.")
]

# How each option is written, by the name it has in Python.
_WRITTEN: dict[str, tuple[Any, Any]] = {
    "method": (
        Literal["auto", "exact", "tabu", "hill-climbing"],
        typer.Option(help="Search; exact for few variables."),
    ),
    "penalty": (
        str,
        typer.Option(help="What an edge costs: 'ebic 0.75', bic, '2 bic', or a number."),
    ),
    "groups": (
        str | None,
        typer.Option(help="Column that names the group of each row: one graph, weights by group."),
    ),
    "interventions": (
        str | None,
        typer.Option(help="Column that names what was set from outside in each row, by commas."),
    ),
    "kind": (
        Literal["perfect", "noise"],
        typer.Option(help="What was set is cut off from its causes, or keeps them with new noise."),
    ),
    "intercepts": (
        Literal["shared", "table"],
        typer.Option(help="With interventions: whether shifts of means between tables count."),
    ),
    "n_effective": (
        str | None,
        typer.Option(help="Independent rows that the rows are worth: a number, or auto."),
    ),
    "missing": (
        Literal["error", "em", "rows", "pairwise"],
        typer.Option(help="Missing values: refuse, maximum likelihood, whole rows, or pairs."),
    ),
    "margins": (
        Literal["raw", "rank"],
        typer.Option(help="Columns as they are, or normal scores of their ranks."),
    ),
    "lags": (
        int,
        typer.Option(min=0, help="Rows before each row, in order of time, that may cause it."),
    ),
    "covariance": (
        Literal["sample", "shrunk"],
        typer.Option("--estimate", help="Covariance of the rows, or shrunk by Ledoit and Wolf."),
    ),
    "knowledge": (
        Path | None,
        typer.Option(help="JSON file: required, forbidden, tiers, exogenous."),
    ),
    "start": (Path | None, typer.Option(help="Graph file to start from.")),
    "n_starts": (
        int | None,
        typer.Option("--starts", min=1, help="Independent starts; auto: until enough agree."),
    ),
    "virtual_edges": (bool, typer.Option(help="Use the virtual-edge operator.")),
    "first_improvement": (bool, typer.Option(help="Take the first improving move.")),
    "tabu_length": (int, typer.Option(min=0, help="Last graphs that tabu does not enter.")),
    "patience": (int, typer.Option(min=1, help="Moves of tabu without a new best graph.")),
    "stable": (
        bool,
        typer.Option("--stable/--unstable", help="Visit only structures with a stable fit."),
    ),
    "max_component": (int | None, typer.Option(min=1, help="Most variables in a feedback group.")),
    "max_cycle_length": (int | None, typer.Option(min=1, help="Most variables in a cycle.")),
    "max_parents": (int | None, typer.Option(min=0, help="Most causes of a variable.")),
    "max_edges": (int | None, typer.Option(min=0, help="Most edges.")),
    "max_evaluations": (
        int | None,
        typer.Option(min=1, help="Most components fitted; keeps runs repeatable."),
    ),
    "time_limit": (float | None, typer.Option(min=0, help="Seconds.")),
    "random_state": (int | None, typer.Option("--seed", min=0, help="Seed of the search.")),
}


# Options that stand under another name beside those of a table, which has one of the same name.
PARAMETERS = {"covariance": "estimate"}


def takes_search_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of a search in place of its parameter ``options``."""
    own = inspect.signature(command, eval_str=True)
    searching = [
        inspect.Parameter(
            PARAMETERS.get(each.name, each.name),
            inspect.Parameter.KEYWORD_ONLY,
            default=each.default,
            annotation=Annotated[_WRITTEN[each.name]],
        )
        for each in fields(SearchOptions)
    ]

    @functools.wraps(command)
    def with_options(**arguments: Any) -> None:
        given = {name: arguments.pop(PARAMETERS.get(name, name)) for name in SearchOptions.names()}
        command(options=_read(given), **arguments)

    others = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for name, parameter in own.parameters.items()
        if name != "options"
    ]
    parameters = [others[0], *searching, *others[1:]]
    with_options.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    with_options.__annotations__ = {each.name: each.annotation for each in parameters}
    return with_options


def _read(given: dict[str, Any]) -> SearchOptions:
    """The options, with files read and numbers made of text."""
    if given["knowledge"] is not None:
        given["knowledge"] = Knowledge.read(given["knowledge"])
    if given["start"] is not None:
        given["start"] = read_graph(given["start"])
    for name in ("penalty", "n_effective"):
        given[name] = number_or_name(given[name])
    return SearchOptions(**given)


def search(
    data: Data,
    options: SearchOptions,
    *,
    jobs: int | None,
    bootstrap: int | None,
    checkpoint: Path | None,
    posterior: bool = False,
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
            **{name: getattr(options, name) for name in options.names()},
            n_jobs=jobs,
            on_step=on_step,
            on_interrupt="best",
            bootstrap=None if bootstrap is None else resampling,
            posterior=posterior,
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
            status.update(f"searching: {n_moves} moves, score {step.score:.5f} a sample")

        def on_resample(done: int, wanted: int) -> None:
            status.update(f"bootstrap: {done} of {wanted} resamples")

        yield on_step, on_resample
