"""The ``cyclearn`` command: its subcommands, and exit codes that scripts can rely on.

0 done, 1 a negative answer (such as not equivalent), 2 bad input, 130 interrupted, 141 the reader
of the output went away.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated, TextIO

import typer

from cyclearn import __version__
from cyclearn._kernels.first_use import when_compiling
from cyclearn.cli import (
    compare_command,
    demo,
    evaluate_command,
    experiment_command,
    fit_command,
    graph_commands,
    learn_command,
    report_command,
    simulate_command,
)
from cyclearn.errors import InputError, LimitError

# As a shell reports a program that SIGPIPE ended; 1 would be an answer.
_CLOSED_PIPE = 141

app = typer.Typer(
    name="cyclearn",
    no_args_is_help=True,
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback()
def options(
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    """Learn which variables drive which, feedback loops included."""
    if version:
        typer.echo(f"cyclearn {__version__}")
        raise typer.Exit


app.command("learn")(learn_command.learn)
app.command("fit")(fit_command.fit)
app.command("equivalent")(graph_commands.equivalent)
app.command("compare")(compare_command.compare)
app.command("class")(graph_commands.equivalence_class)
app.command("report")(report_command.report)
app.command("simulate")(simulate_command.simulate)
app.command("evaluate")(evaluate_command.evaluate)
app.add_typer(experiment_command.app)
app.command("demo")(demo.demo)


def main() -> None:
    """Run the command line and exit with its code."""
    if hasattr(sys, "set_int_max_str_digits"):
        # Sizes of classes may have more digits than Python writes out by default.
        sys.set_int_max_str_digits(0)
    output = sys.stdout
    if sys.stderr is not None and sys.stderr.isatty():
        when_compiling(_say_compiling)
    try:
        app()
    except (InputError, LimitError) as error:
        typer.echo(f"cyclearn: {error}", err=True)
        sys.exit(2)
    finally:
        when_compiling(None)
        _flush(output)


def _say_compiling() -> None:
    typer.echo("cyclearn: first use on this machine: compiling, up to a minute", err=True)


def _flush(output: TextIO) -> None:
    """Write what is left; a closed pipe, as under ``head``, has a code of its own."""
    try:
        output.flush()
        closed = sys.stdout is not output
    except BrokenPipeError:
        closed = True
    if closed:
        # Python would complain once more when it closes the stream at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), output.fileno())
        sys.exit(_CLOSED_PIPE)
