"""``cyclearn experiment``: the paper's experiments as runs that can be stopped and continued."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from cyclearn.cli.commands import command_group
from cyclearn.cli.documented_options import documented, names_by_commas, with_signature
from cyclearn.cli.output import Json, print_json, say
from cyclearn.foundation.errors import InputError

app = command_group(
    name="experiment",
    no_args_is_help=True,
    help="Run an experiment into one file; the same command continues an interrupted run.",
)

Seed = Annotated[int, typer.Option(min=0, help="Seed; every instance derives its own from it.")]
Domains = Annotated[
    int,
    typer.Option(
        min=1, max=10**6, help="Distributions per true graph; one graph is learned from each."
    ),
]
Methods = Annotated[
    str, typer.Option(help="Methods, separated by commas: hill-climbing, tabu, auto, l1, exact.")
]
Sizes = Annotated[str, typer.Option(help="Sample sizes, separated by commas.")]
Data = Annotated[Path | None, typer.Option(help="Folder with the data; CYCLEARN_DATA by default.")]
# The name of a study, which is imported when it is run, and what it is made of.
Made: TypeAlias = tuple[Any, ...]
_METHODS = "hill-climbing,tabu,auto,default,l1"


@documented
def _run(
    study: Any,
    out: Annotated[Path, typer.Option()],
    instances: Annotated[int | None, typer.Option(min=1, max=10**6)] = None,
    jobs: int = 1,
    resume: bool = True,
    scheduler: str | None = None,
    as_json: Json = False,
) -> None:
    """Run or continue a study.

    Parameters
    ----------
    out
        Results file (lines of JSON).
    instances
        Number of instances of every setting (graphs, subjects or data sets); all by default. A
        larger number extends a run.
    jobs
        Processes on this machine; -1 for all cores.
    resume
        Continue a file that has results; otherwise it is an error.
    scheduler
        Address of a Dask scheduler: tcp://HOST:PORT.
    """
    from cyclearn.experiments import run_study

    with _progress(study.name) as on_progress:
        results = run_study(
            study,
            out,
            n_instances=instances,
            n_jobs=jobs,
            scheduler=scheduler,
            must_be_new=not resume,
            on_progress=on_progress,
        )
    n_finished = len(results.finished())
    if as_json:
        about = {"study": study.name, "file": str(out), "configuration": results.configuration}
        print_json("experiment", about | {"finished": n_finished})
    else:
        say(f"{out}: {n_finished} instances of {study.name} finished.")


def _runs(make: Callable[..., Made]) -> Callable[..., Made]:
    """Make a command of a function that says what study; it gets the options of a run as well."""
    name = make.__name__.replace("_", "-")
    _, *running = _parameters(_run)
    running[0] = running[0].replace(default=Path(f"{name}.jsonl"))

    @functools.wraps(make)
    def command(**given: Any) -> None:
        options = {each.name: given.pop(each.name) for each in running}
        study, *arguments = make(**given)
        _run(getattr(import_module("cyclearn.experiments"), study)(*arguments), **options)

    parameters = [*_parameters(make), *running]
    app.command(name)(with_signature(command, inspect.Signature(), parameters))
    return make


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    return list(inspect.signature(function, eval_str=True).parameters.values())


@_runs
def paper(
    nodes: Annotated[str, typer.Option(help="Numbers of nodes, separated by commas.")] = "5,20,50",
    domains: Domains = 50,
    samples: Annotated[int, typer.Option(min=10, help="Samples per distribution.")] = 10_000,
    methods: Methods = _METHODS,
    seed: Seed = 0,
) -> Made:
    """Section 6: distance to the true class and multi-domain success, for p = 5, 20 and 50.

    An instance is one true graph; 100 of each size by default, as in the paper.
    """
    sizes, names = _numbers("nodes", nodes), tuple(names_by_commas(methods))
    return "SimulatedStudy", "paper", sizes, (samples,), domains, names, seed


@_runs
def sample_size(
    nodes: Annotated[int, typer.Option(min=2, help="Number of nodes.")] = 5,
    domains: Domains = 50,
    samples: Sizes = "1000,10000,100000",
    methods: Methods = _METHODS,
    seed: Seed = 0,
) -> Made:
    """The supplement's study of sample sizes: p = 5; n = 1,000, 10,000 and 100,000."""
    sizes, names = _numbers("samples", samples), tuple(names_by_commas(methods))
    return "SimulatedStudy", "sample-size", (nodes,), sizes, domains, names, seed


@_runs
def consistency(
    nodes: Annotated[int, typer.Option(help="Number of nodes.")] = 4,
    samples: Sizes = "100,1000,10000,100000,1000000",
    seed: Seed = 0,
) -> Made:
    """Theorem 3: the share of exact optima quasi equivalent to the truth as the sample grows."""
    return "ConsistencyStudy", nodes, _numbers("samples", samples), seed


@_runs
def virtual_edges(
    samples: Annotated[int, typer.Option(min=10, help="Number of samples per draw.")] = 10_000,
    seed: Seed = 0,
) -> Made:
    """The supplement's two examples: tabu search with and without the virtual-edge operator."""
    return "VirtualEdgeStudy", samples, seed


@_runs
def hippocampus(
    data: Data = None,
    penalty: Annotated[str, typer.Option(help="Penalty per edge: bic, '2 bic', ebic.")] = "bic",
    seed: Seed = 0,
) -> Made:
    """The eight structures equivalent to the anatomical graph: which are local optima.

    Data (Shah et al. 2018, GPL-3): https://github.com/shahpreya/MTLnet, data/functional. Make
    DIR/hippocampus/subjectN_left.csv with the columns PRC (mean of BA35 and BA36), PHC, ERC, Sub,
    CA1, CA3 (mean of CA3 and DG).
    """
    return "HippocampusStudy", data, penalty, seed


@_runs
def feedback(data: Data = None, methods: Methods = "auto,tabu,tabu-2bic", seed: Seed = 0) -> Made:
    """Simulated fMRI networks with feedback, against the true graph and its class.

    Data (Sanchez-Romero et al. 2019, CC0): https://github.com/cmu-phil/example-causal-datasets,
    simulated/feedbacks. Make DIR/feedback/NETWORK/ with sim-*.txt and truth.graph.txt.
    """
    return "FeedbackStudy", data, tuple(names_by_commas(methods)), seed


@app.command("figures")
def figures(
    results: Annotated[list[Path], typer.Argument(help="Results files of one study or several.")],
    out: Annotated[Path, typer.Option(help="Folder for the figures and tables.")] = Path("."),
    outputs: Annotated[bool, typer.Option(help="Write every output as CSV too.")] = False,
    as_json: Json = False,
) -> None:
    """Draw the figures (SVG and PNG) and write the table (Markdown) of finished runs."""
    from cyclearn.experiments import ResultsFile
    from cyclearn.experiments.figures import write_figures

    written = write_figures([ResultsFile(path) for path in results], out, outputs=outputs)
    if as_json:
        print_json("experiment figures", {"written": [str(path) for path in written]})
    else:
        say("\n".join(map(str, written)))


def _numbers(what: str, text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in names_by_commas(text))
    except ValueError:
        raise InputError(f"--{what} is {text!r}; give whole numbers separated by commas") from None


@contextmanager
def _progress(name: str) -> Iterator[Callable[[int, int], None] | None]:
    """A bar on a terminal; nothing in a pipe."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = (*Progress.get_default_columns()[:2], MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        row = bar.add_task(name, total=None)
        yield lambda done, total: bar.update(row, completed=done, total=total)
