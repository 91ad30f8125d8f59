"""Options as one frozen value: each field has its check and its help text.

Functions take the fields of such a value as keywords (:func:`takes_options`), and the command line
derives its options from them, so that a new option needs only one field.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from functools import wraps
from typing import Any, TypeVar, cast

from cyclearn.foundation.errors import InputError
from cyclearn.foundation.json_input import finite

Function = TypeVar("Function", bound=Callable[..., Any])
Own = TypeVar("Own", bound="Options")
# Takes the name of an option and a value, and returns a plain value for JSON.
Check = Callable[[str, Any], Any]


def option(default: Any, help: str, check: Check) -> Any:  # noqa: A002 - the field's own word
    """A field of :class:`Options`, with its help text and its check."""
    return field(default=default, metadata={"help": help, "check": check})


@dataclass(frozen=True, kw_only=True)
class Options:
    """Values by name, checked on construction; :func:`option` makes the fields."""

    def __post_init__(self) -> None:
        for each in fields(self):
            checked = each.metadata["check"](each.name, getattr(self, each.name))
            object.__setattr__(self, each.name, checked)

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The names of all options."""
        return tuple(each.name for each in fields(cls))

    @classmethod
    def of(cls: type[Own], options: Mapping[str, Any]) -> Own:
        """Options by name; unknown names raise an error."""
        for name in options:
            check_name(name, cls.names())
        return cls(**options)

    def shared_with(self, other: type[Options]) -> dict[str, Any]:
        """The options shared with another class, by name."""
        return {name: getattr(self, name) for name in self.names() if name in other.names()}

    def given(self) -> dict[str, Any]:
        """The options that differ from the defaults."""
        return {
            each.name: getattr(self, each.name)
            for each in fields(self)
            if getattr(self, each.name) != each.default
        }

    def replaced(self: Own, **changes: Any) -> Own:
        """The same options with some changed."""
        return replace(self, **changes)

    def call(self, function: str, *arguments: str, **more: Any) -> str:
        """The call of a function of cyclearn with these options, and more, as Python."""
        given = [f"{name}={as_python(value)}" for name, value in (self.given() | more).items()]
        return f"cl.{function}({', '.join([*arguments, *given])})"

    def to_dict(self) -> dict[str, Any]:
        """All options as plain values for JSON."""
        return {name: finite(getattr(self, name)) for name in self.names()}


def check_name(name: str, known: tuple[str, ...]) -> None:
    """Raise if there is no option of this name."""
    if name not in known:
        # Names in scikit-learn that differ from these.
        near = ["random_state"] if name == "seed" else get_close_matches(str(name), known, 1)
        meant = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
        raise InputError(f"there is no option {name!r}; {meant}")


def checks_names(function: Function) -> Function:
    """Let a function answer a keyword that it does not have as :func:`check_name` does.

    Examples
    --------
    >>> @checks_names
    ... def roll(n_dice, random_state=None):
    ...     return n_dice
    >>> roll(2, seed=1)
    Traceback (most recent call last):
        ...
    cyclearn.foundation.errors.InputError: there is no option 'seed'; did you mean 'random_state'?
    """
    known = tuple(name for name in inspect.signature(function).parameters if name != "self")

    @wraps(function)
    def checked(*arguments: Any, **options: Any) -> Any:
        for name in options:
            check_name(name, known)
        return function(*arguments, **options)

    return cast("Function", checked)


def as_python(value: Any) -> str:
    """A value of an option as Python code, after ``import cyclearn as cl``."""
    if hasattr(value, "to_dict"):
        return f"cl.{type(value).__name__}.from_dict({value.to_dict()!r})"
    if isinstance(value, tuple):
        return f"[{', '.join(map(as_python, value))}]"
    return repr(value)


def takes_options(options: type[Options]) -> Callable[[Function], Function]:
    """Show the fields of an option value as keywords of a function that takes ``**options``.

    The signature has them with their defaults, for ``help``, completion in notebooks, and
    scikit-learn.

    Examples
    --------
    >>> @dataclass(frozen=True, kw_only=True)
    ... class Cooking(Options):
    ...     minutes: int = option(5, "How long.", lambda name, value: int(value))
    >>> @takes_options(Cooking)
    ... def cook(egg, *, lid=True, **options):
    ...     return Cooking.of(options).minutes
    >>> list(inspect.signature(cook).parameters)
    ['egg', 'minutes', 'lid']
    >>> cook("egg", minuets=3)
    Traceback (most recent call last):
        ...
    cyclearn.foundation.errors.InputError: there is no option 'minuets'; did you mean 'minutes'?
    """

    def shown(function: Function) -> Function:
        own = inspect.signature(function)
        named = [each for each in own.parameters.values() if each.kind is not each.VAR_KEYWORD]
        taken = {each.name for each in named}
        added = [
            inspect.Parameter(
                each.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=each.default,
                annotation=each.type,
            )
            for each in fields(options)
            if each.name not in taken
        ]
        first = [each for each in named if each.kind is not each.KEYWORD_ONLY]
        last = [each for each in named if each.kind is each.KEYWORD_ONLY]
        function.__signature__ = own.replace(  # type: ignore[attr-defined]
            parameters=[*first, *added, *last]
        )
        return function

    return shown
