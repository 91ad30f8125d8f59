"""Checks of arguments, which return plain values that JSON can represent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from math import isfinite
from numbers import Integral, Real
from typing import Any

import numpy as np

from cyclearn.foundation.errors import InputError
from cyclearn.foundation.json_input import short
from cyclearn.foundation.random_state import RandomState, generator

# Larger counts are typing errors and would overflow in compiled code.
_MOST = 2**53
_MOST_PROCESSES = 10_000


def at_least(name: str, value: int | None, least: int) -> int | None:
    """A whole number of at least ``least``, or None."""
    if value is None:
        return None
    return whole(name, value, least)


def whole(name: str, value: int, least: int, most: int = _MOST) -> int:
    """A whole number of at least ``least`` and at most ``most``."""
    if isinstance(value, bool) or not isinstance(value, Integral) or not least <= value <= most:
        is_large = isinstance(value, Integral) and value > most
        rule = f"at most {most:,}" if is_large else f"at least {least}"
        raise InputError(f"{name} is {short(value)}; give a whole number of {rule}")
    return int(value)


def one_of(name: str, value: object, words: Sequence[str], remedy: str = "") -> str:
    """One of some keywords; objects that only compare equal to a keyword are rejected.

    Examples
    --------
    >>> one_of("margins", "rank", ("raw", "rank"))
    'rank'
    """
    if not isinstance(value, str) or value not in words:
        listed = f"{', '.join(map(repr, words[:-1]))} or {words[-1]!r}"
        raise InputError(f"{name} is {short(value)}; give {remedy or listed}")
    return str(value)


def items(name: str, value: Any, rule: str) -> list[Any]:
    """The elements of a list; strings, mappings and tables are rejected."""
    is_other = isinstance(value, (str, bytes, Mapping)) or hasattr(value, "columns")
    # A column of numbers is data, not a list of names.
    is_other = is_other or getattr(getattr(value, "dtype", None), "kind", "") in ("f", "i", "u")
    if is_other or not isinstance(value, Iterable):
        raise InputError(f"{name} is {short(value)}; give {rule}")
    return list(value)


def names_in(name: str, value: Any) -> tuple[str, ...]:
    """A list of names.

    Examples
    --------
    >>> names_in("exogenous", ["age", 2])
    ('age', '2')
    """
    return tuple(one_name(name, each) for each in items(name, value, "a list of names: ['age']"))


def one_name(name: str, value: Any) -> str:
    """One name in the list ``name``."""
    # Columns may be numbered, so a number is a name; None and truth values are errors.
    if isinstance(value, bool) or not isinstance(value, (str, Real)):
        raise InputError(f"{name} has {short(value)}, which is not a name; give strings")
    return str(value)


def _number(name: str, value: Any, is_right: Callable[[Any], bool], rule: str) -> float:
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not (is_number and is_right(value)):
        raise InputError(f"{name} is {short(value)}; give {rule}")
    return float(value)


def share(name: str, value: float, least: float, most: float) -> float:
    """A number above ``least`` and at most ``most``."""
    rule = f"a number above {least:g} and at most {most:g}"
    return _number(name, value, lambda number: least < number <= most, rule)


def cost(name: str, value: float) -> float:
    """A number of at least zero."""
    return _number(name, value, lambda number: 0 <= number < _MOST, "a number of at least 0")


def between(name: str, value: float, least: float, most: float, example: float) -> float:
    """A number strictly between two others."""
    rule = f"a number between {least:g} and {most:g}, such as {example:g}"
    return _number(name, value, lambda number: least < number < most, rule)


def function(name: str, value: object) -> None:
    """A callable, or None."""
    if value is not None and not callable(value):
        raise InputError(f"{name} is {short(value)}; give a function, or None")


def names_of(name: str, value: object) -> list[str]:
    """A list of names."""
    if isinstance(value, str):
        raise InputError(f"{name} is the string {short(value)}; give a list of names")
    is_list = isinstance(value, (Sequence, Set)) and not isinstance(value, bytes)
    if not is_list or not all(isinstance(each, str) for each in value):  # type: ignore[attr-defined]
        raise InputError(f"{name} is {short(value)}; give a list of names")
    return list(value)  # type: ignore[call-overload, no-any-return]


def seconds(name: str, value: float | None) -> float | None:
    """A number of seconds, or None."""
    if value is None:
        return None
    rule = "a number of seconds of at least 0, or None for no limit"
    found = _number(name, value, lambda number: number >= 0, rule)
    return found if isfinite(found) else None


def flag(name: str, value: bool) -> bool:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{name} is {short(value)}; give True or False")
    return bool(value)


def processes(n_jobs: int | None) -> int | None:
    """A number of processes as in joblib: -1 means all cores, None one."""
    if n_jobs is None:
        return None
    is_whole = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool)
    if not is_whole or not 0 < abs(n_jobs) <= _MOST_PROCESSES:
        raise InputError(
            f"n_jobs is {short(n_jobs)}; give a whole number of processes, or -1 for all cores"
        )
    return int(n_jobs)


def check_state(random_state: RandomState) -> None:
    """Raise for an invalid random_state, without drawing from a generator."""
    if not isinstance(random_state, (np.random.Generator, np.random.RandomState)):
        generator(random_state)


def seed(random_state: RandomState) -> int | None:
    """A seed that can be saved with a result; drawn from a generator if one is given."""
    if random_state is None:
        return None
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool):
        generator(random_state)
        return int(random_state)
    return int(generator(random_state).integers(2**31))
