"""The commands by name; each is loaded only when it is used."""

from __future__ import annotations

from functools import cache, partial
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

# The module of each command, in the order of the list.
PLACES = {
    "check": ("check_command", "check"),
    "learn": ("learn_command", "learn"),
    "posterior": ("learn_command", "posterior"),
    "fit": ("fit_command", "fit"),
    "equivalent": ("graph_commands", "equivalent"),
    "compare": ("graph_commands", "compare"),
    "class": ("graph_commands", "equivalence_class"),
    "effects": ("effects_command", "effects"),
    "rivals": ("effects_command", "rivals"),
    "next": ("next_command", "next_experiment"),
    "report": ("report_command", "report"),
    "plot": ("plot_command", "plot"),
    "simulate": ("simulate_command", "simulate"),
    "evaluate": ("graph_commands", "evaluate"),
    "demo": ("demo", "demo"),
    "app": ("app_command", "app"),
    "compile": ("compile_command", "compile_kernels"),
    "experiment": ("experiment_command", "app"),
}


# No colours, boxes or completion: help and errors are plain text.
command_group = partial(
    typer.Typer, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None
)


@cache
def _loaded(name: str) -> Any:
    module, attribute = PLACES[name]
    found = getattr(import_module(f"cyclearn.cli.{module}"), attribute)
    if isinstance(found, typer.Typer):
        return get_command(found)
    alone = command_group()
    alone.command(name)(found)
    return get_command(alone)


class Commands(TyperGroup):
    """The group of all commands."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        # The names, for lists and suggestions.
        self.commands: Any = dict.fromkeys(PLACES)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 - as typer calls it
        """Load the command of this name; None if there is none."""
        return _loaded(cmd_name) if cmd_name in PLACES else None
