"""A result in a file: one JSON text, which names its schema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cyclearn.foundation.errors import InputError
from cyclearn.foundation.files import checked_suffix, write_text


def save(record: dict[str, Any], path: str | Path) -> Path:
    """Write the plain values of a result as JSON; the name of the file ends in ``.json``."""
    checked_suffix(path, (".json",), "a result")
    write_text(path, json.dumps(record, ensure_ascii=False, indent=1, allow_nan=False) + "\n")
    return Path(path)


def check_schema(record: object, schema: str, made_by: str) -> None:
    """Refuse plain values that are not of this schema, such as ``"cyclearn.LearnResult/3"``.

    ``made_by`` names the function whose results have it.

    Examples
    --------
    >>> check_schema({"schema": "cyclearn.LearnResult/1"}, "cyclearn.LearnResult/2", "learn")
    Traceback (most recent call last):
    cyclearn.foundation.errors.InputError: written by another version of cyclearn \
(cyclearn.LearnResult/1); this version reads cyclearn.LearnResult/2: run learn again
    """
    found = record.get("schema") if isinstance(record, Mapping) else None
    if found == schema:
        return
    if str(found).partition("/")[0] == schema.partition("/")[0]:
        raise InputError(
            f"written by another version of cyclearn ({found}); this version reads {schema}: run "
            f"{made_by} again"
        )
    raise InputError(f"not a result of {made_by}; its schema would be {schema!r}")
