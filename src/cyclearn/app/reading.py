"""The requested columns and rows of a table, and the lines of Python that read them."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyclearn.app.workspace import read_json
from cyclearn.data.moments import Moments, read_moments
from cyclearn.data.table_files import TableFile, read_table_file
from cyclearn.foundation.errors import InputError
from cyclearn.foundation.json_input import short

if TYPE_CHECKING:
    import pandas as pd

# Comparisons on the page, and the corresponding pandas methods.
_COMPARISONS = {"=": "eq", "≠": "ne", "<": "lt", "≤": "le", ">": "gt", "≥": "ge"}
# Valid forms of the entries of a request: a list of any length, a fixed sequence, a mapping.
_FORMS: dict[str, Any] = {
    **{name: [str] for name in ("columns", "missing_codes", "labels")},
    "header": bool,
    "sheet": str,
    "covariance": bool,
    "n": int,
    "where": [(str, str, str | int | float)],
    "recode": {str: [(str | int | float, int | float)]},
}


def reading_options(request: dict[str, Any]) -> dict[str, Any]:
    """How a request reads a table; defaults are omitted.

    ``where`` has conditions [column, comparison, value] on rows, ``recode`` assigns numbers to the
    values of a column as pairs, and ``covariance`` and ``n`` mean that the file contains a matrix.
    """
    given = request.get("reading") or {}
    if not isinstance(given, dict):
        raise InputError("reading must be a JSON object")
    if given.get("columns") == []:
        raise InputError("no column is selected; select at least two")
    said = {name: given[name] for name in _FORMS if given.get(name) not in (None, "", [], {})}
    for name, value in said.items():
        if not _has_form(value, _FORMS[name]):
            raise InputError(f"a table cannot be read with {name} {short(value)}")
    if not said.get("covariance"):
        said.pop("n", None)
    return said


def _has_form(given: Any, form: Any) -> bool:
    if isinstance(form, tuple):
        is_list = isinstance(given, list) and len(given) == len(form)
        return is_list and all(map(_has_form, given, form))
    if isinstance(form, (list, dict)):
        (inner,) = form if isinstance(form, list) else form.values()
        parts = given.values() if isinstance(given, dict) else given
        return type(given) is type(form) and all(_has_form(part, inner) for part in parts)
    return isinstance(given, form)


def read_rows(path: Path, options: dict[str, Any], **how: Any) -> TableFile:
    """The requested table: rows that meet the conditions, with recoded values."""
    given, where, recode, wanted = _parts(options)
    found = read_table_file(path, **given, **how)
    frame = found.frame
    for column, comparison, value in where:
        try:
            frame = frame[getattr(frame[column], _COMPARISONS[comparison])(value)]
        except (TypeError, KeyError):
            what = f"{column!r} cannot be compared with {short(value)} by {short(comparison)}"
            raise InputError(f"{what}; use = or ≠") from None
        frame = frame.reset_index(drop=True)
    if not len(frame):
        raise InputError("no row meets the conditions; change or remove one")
    for column, pairs in recode.items():
        frame[column] = frame[column].map(dict(pairs))
    texts = [name for name in frame if frame[name].dtype.kind not in "fiub"]
    others = {name: "contains text" for name in texts if name not in options.get("labels", ())}
    frame = frame[[name for name in wanted or frame if name not in others]]
    return replace(found, frame=frame, unusable=found.unusable | others)


def _parts(options: dict[str, Any]) -> tuple[dict[str, Any], list[Any], dict[str, Any], list[str]]:
    """The arguments of ``read_table``, conditions and codes, and the remaining columns."""
    where, recode = options.get("where", []), options.get("recode", {})
    given = {name: value for name, value in options.items() if name not in ("where", "recode")}
    labels = options.get("labels", [])
    more = [each for each in (*recode, *(column for column, *_ in where)) if each not in labels]
    if not more:
        return given, where, recode, []
    wanted = [*given.get("columns", ()), *labels] if "columns" in given else []
    given["labels"] = [*labels, *dict.fromkeys(more)]
    return given, where, recode, list(dict.fromkeys(wanted))


def reading_lines(data: str, name: str, options: dict[str, Any]) -> list[str]:
    """The lines of a script that read a table into a variable."""
    given, where, recode, wanted = _parts(options)
    given = {"n_samples" if key == "n" else key: value for key, value in given.items()}
    arguments = "".join(f", {key}={value!r}" for key, value in given.items())
    lines = [f"{data} = cl.read_table({name!r}{arguments})"]
    if "covariance" in given:
        load = "from cyclearn.data import read_moments"
        lines = [load, f"{data} = read_moments({name!r}{arguments})"]
    for column, comparison, value in where:
        condition = f"{data}[{column!r}].{_COMPARISONS[comparison]}({value!r})"
        lines.append(f"{data} = {data}[{condition}].reset_index(drop=True)")
    for column, pairs in recode.items():
        lines.append(f"{data}[{column!r}] = {data}[{column!r}].map({dict(pairs)!r})")
    return [*lines, f"{data} = {data}[{wanted!r}]"] if wanted else lines


def read_matrix(path: Path, options: dict[str, Any], **how: Any) -> Moments:
    """The covariance matrix in a file."""
    given = {name: value for name, value in options.items() if name != "n"}
    return read_moments(path, n_samples=options.get("n"), **given, **how)


def table_file(folder: Path) -> Path:
    """The file of a table as it was uploaded."""
    return folder / str(read_json(folder / "table.json")["file"])


def read_frame(folder: str, request: dict[str, Any]) -> pd.DataFrame | Moments:
    """The selected columns and rows; cached if they were just read."""
    return _read_chosen(folder, json.dumps(reading_options(request)))


@lru_cache(maxsize=4)
def _read_chosen(folder: str, text: str) -> pd.DataFrame | Moments:
    file, options = table_file(Path(folder)), json.loads(text)
    if not file.is_file():
        raise InputError("the rows of this table are not in this workspace; open the table again")
    try:
        if options.get("covariance"):
            return read_matrix(file, options)
        return read_rows(file, options).frame
    except InputError as error:
        # Show the name of the uploaded file, not its path in the workspace.
        raise type(error)(str(error).removeprefix(f"{file}: ")) from None
