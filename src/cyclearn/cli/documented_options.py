"""Command-line options whose help texts are in the docstring of the command."""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Callable
from typing import Annotated, Any, get_args, get_origin

import typer

_HEAD = "\n\nParameters\n----------\n"
_ENTRY = re.compile(r"^(\w+)\n((?:    .*\n?)+)", re.MULTILINE)


def documented(command: Callable[..., Any]) -> Callable[..., Any]:
    """Take the help text of each option from the section Parameters of the docstring.

    The text before that section is the help text of the command. A bool that is False by default
    becomes a flag without a negative form.
    """
    own = inspect.signature(command, eval_str=True)
    command.__doc__, _, section = (inspect.getdoc(command) or "").partition(_HEAD)
    helps = {name: " ".join(text.split()) for name, text in _ENTRY.findall(section)}
    parameters = [_with_help(each, helps.get(name)) for name, each in own.parameters.items()]
    return with_signature(command, own, parameters)


def _with_help(parameter: inspect.Parameter, text: str | None) -> inspect.Parameter:
    if text is None:
        return parameter
    kind, default = parameter.annotation, parameter.default
    if get_origin(kind) is Annotated:
        kind, info = get_args(kind)
        info = copy.copy(info)
    elif default is inspect.Parameter.empty:
        info = typer.Argument()
    else:
        flag = [f"--{parameter.name}"] if default is False else []
        info = typer.Option(*flag)
    info.help = text
    return parameter.replace(annotation=Annotated[kind, info])


def with_signature(
    function: Callable[..., None], own: inspect.Signature, parameters: list[inspect.Parameter]
) -> Callable[..., None]:
    """The function with these parameters as its signature, all keyword-only, for typer."""
    named = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in parameters]
    function.__signature__ = own.replace(parameters=named)  # type: ignore[attr-defined]
    function.__annotations__ = {each.name: each.annotation for each in named}
    return function


def names_by_commas(text: str) -> list[str]:
    """Names that are separated by commas."""
    return [part.strip() for part in text.split(",") if part.strip()]
