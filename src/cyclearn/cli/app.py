"""The ``cyclearn`` command: its subcommands, and exit codes that scripts can rely on.

0 done, 1 a negative answer (such as not equivalent), 2 bad input, 130 interrupted.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from cyclearn import __version__
from cyclearn.cli import demo, fit_command, graph_commands, learn_command, simulate_command
from cyclearn.errors import InputError, LimitError

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
app.command("class")(graph_commands.equivalence_class)
app.command("simulate")(simulate_command.simulate)
app.command("demo")(demo.demo)


def main() -> None:
    """Run the command line and exit with its code."""
    try:
        app()
    except (InputError, LimitError) as error:
        typer.echo(f"cyclearn: {error}", err=True)
        sys.exit(2)
