"""Strict JSON: invalid values are rejected on reading and written as null."""

from __future__ import annotations

import json
from math import isfinite
from reprlib import Repr
from typing import Any

from cyclearn.foundation.errors import InputError

# The time to read a longer number grows with the square of its length.
_MAX_DIGITS = 4300
_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 60
_SHORT.maxlevel = 2


def short(value: object) -> str:
    """A value for a message, on one line and shortened if it is long."""
    return " ".join(_SHORT.repr(value).split())


def finite(value: Any) -> Any:
    """A value for JSON: results by their ``to_dict``, null for what is not finite.

    Examples
    --------
    >>> finite({"p": (0.5, float("nan"))})
    {'p': [0.5, None]}
    """
    if hasattr(value, "to_dict") or hasattr(value, "tolist"):
        return finite(value.to_dict() if hasattr(value, "to_dict") else value.tolist())
    if isinstance(value, dict):
        return {key: finite(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(part) for part in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def load_json(text: str, what: str) -> Any:
    """The value of a JSON text.

    Parameters
    ----------
    text : str
    what : str
        A description, for messages: ``"the knowledge"``.

    Raises
    ------
    InputError
        If the text is not JSON, is nested too deeply, or contains NaN, Infinity or an integer of
        more than 4,300 digits, which JSON files of this library never do.

    Examples
    --------
    >>> load_json('{"required": [["a", "b"]]}', "the knowledge")
    {'required': [['a', 'b']]}
    """
    if not isinstance(text, str):
        raise InputError(f"{what} is {short(text)}; give JSON as a str")
    try:
        return json.loads(
            text.removeprefix("\ufeff"), parse_constant=_no_number, parse_int=_whole_number
        )
    except RecursionError:
        raise InputError(f"{what} is nested too deeply to be read") from None
    except InputError as error:
        raise InputError(f"{what} has {error}") from None
    except ValueError as error:
        raise InputError(f"{what} is not valid JSON: {error}") from None


def _no_number(text: str) -> float:
    raise InputError(f"{text}, which is not a number in JSON; give a finite number or null")


def _whole_number(text: str) -> int:
    if len(text) > _MAX_DIGITS:
        raise InputError(f"a number of {len(text):,} digits; give one of at most {_MAX_DIGITS:,}")
    return int(text)
