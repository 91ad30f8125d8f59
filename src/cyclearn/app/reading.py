"""A table of the workspace as a DataFrame, with the columns that were chosen."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyclearn.app.workspace import read_json
from cyclearn.data.table_files import read_table
from cyclearn.foundation.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


def reading_options(request: dict[str, Any]) -> dict[str, Any]:
    """The arguments of ``read_table`` that a request asks for; what is default is left out."""
    given = request.get("reading") or {}
    if not isinstance(given, dict):
        raise InputError("reading must be given by name")
    options: dict[str, Any] = {}
    for name in ("columns", "missing_codes", "labels"):
        value = given.get(name)
        if value is None:
            continue
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise InputError(f"{name} must be a list of texts")
        if value:
            options[name] = value
        elif name == "columns":
            raise InputError("no column is chosen; choose at least two")
    return options


def table_file(folder: Path) -> Path:
    """The file of a table as it was uploaded."""
    return folder / str(read_json(folder / "table.json")["file"])


def read_frame(folder: str, request: dict[str, Any]) -> pd.DataFrame:
    """The chosen columns; the same again where they were read just before."""
    options = reading_options(request)
    columns = options.get("columns")
    return _read(
        folder,
        None if columns is None else tuple(columns),
        tuple(options.get("missing_codes", ())),
        tuple(options.get("labels", ())),
    )


@lru_cache(maxsize=4)
def _read(
    folder: str,
    columns: tuple[str, ...] | None,
    missing_codes: tuple[str, ...],
    labels: tuple[str, ...],
) -> pd.DataFrame:
    file = table_file(Path(folder))
    try:
        return read_table(file, columns=columns, missing_codes=missing_codes, labels=labels)
    except InputError as error:
        # People know the name that they gave, not the place in the workspace.
        raise InputError(str(error).removeprefix(f"{file}: ")) from None
