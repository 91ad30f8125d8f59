"""Command-line options from the fields of an option value, with their help texts."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from cyclearn.cli.documented_options import names_by_commas, with_signature
from cyclearn.data.tables import InterventionKind
from cyclearn.foundation.option_values import Options
from cyclearn.graphs import read_graph
from cyclearn.search.knowledge import Knowledge

Decorator = Callable[[Callable[..., None]], Callable[..., None]]


def number_or_name(text: str) -> Any:
    """Convert text to a number if it is one."""
    with suppress(ValueError):
        return float(text)
    return text


# Options written differently than in Python: their type, and how to parse them.
_READ: dict[str, tuple[Any, Callable[[Any], Any] | None]] = {
    "interventions": (str | None, None),
    "intervention_kind": (InterventionKind, None),
    "exogenous": (str, names_by_commas),
    "ordered": (str, names_by_commas),
    "continuous": (str, names_by_commas),
    "categories": (str, names_by_commas),
    "n_effective": (str, number_or_name),
    "penalty": (str | None, number_or_name),
    "knowledge": (Path | None, Knowledge.read),
    "start": (Path | None, read_graph),
    "random_state": (int | None, None),
}
# Options with a different name than in Python. On the command line, a covariance is a file.
_WRITTEN = {
    "covariance": "--estimate",
    "n_starts": "--starts",
    "n_samples": "--samples",
    "n_chains": "--chains",
    "random_state": "--seed",
    "stable": "--stable/--unstable",
}


def takes_fields(options: type[Options], only: tuple[str, ...] = ()) -> Decorator:
    """Give a command the fields of an option value in place of its parameter ``options``.

    ``only`` selects fields, if the command does not accept all.
    """
    hints = get_type_hints(options)
    chosen = [each for each in fields(options) if not only or each.name in only]

    def with_fields(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command, eval_str=True)
        added = [
            inspect.Parameter(
                parameter_name(each.name),
                inspect.Parameter.KEYWORD_ONLY,
                default="" if each.default == () else each.default,
                annotation=Annotated[
                    _READ.get(each.name, (hints[each.name],))[0],
                    typer.Option(*_names(each.name), help=each.metadata["help"]),
                ],
            )
            for each in chosen
        ]

        @functools.wraps(command)
        def taking(**arguments: Any) -> None:
            given = {each.name: arguments.pop(parameter_name(each.name)) for each in chosen}
            for name, (_, read) in _READ.items():
                if read is not None and given.get(name) is not None:
                    given[name] = read(given[name])
            command(options=options(**given), **arguments)

        others = [each for name, each in own.parameters.items() if name != "options"]
        return with_signature(taking, own, [others[0], *added, *others[1:]])

    return with_fields


def parameter_name(name: str) -> str:
    """The parameter name of an option in a command; options of files may have the same name."""
    return "estimate" if name == "covariance" else name


def _names(name: str) -> tuple[str, ...]:
    return (_WRITTEN[name],) if name in _WRITTEN else ()
