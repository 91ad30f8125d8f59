"""Opening a table: what is in it, warnings about it, and the columns of it that were chosen."""

from __future__ import annotations

import json
import re
import zipfile
from functools import lru_cache, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cyclearn.app.limits import Limits
from cyclearn.app.workspace import read_json, write_json
from cyclearn.data.missing_values import find_holes
from cyclearn.data.table_files import TableFile, read_table, read_table_file, write_table
from cyclearn.foundation.arrays import FloatArray
from cyclearn.foundation.errors import HeaderError, InputError, MatrixError
from cyclearn.models.example import EXAMPLE_ROWS, MARKET
from cyclearn.search.checking import check_data

if TYPE_CHECKING:
    import pandas as pd


# A sheet is text with many words in it, packed: this many times larger at most.
_UNPACKED = 20
# Where a cell or a row of a sheet says that it is, and how much of a sheet is looked at in one go.
_CELL = re.compile(rb"""\br\s*=\s*["']([A-Z]{0,3})([0-9]{1,9})["']""")
_PIECE = 2**20
_BINS = 16
# Rows and columns that the page gets to draw.
_SAMPLE_ROWS, _SAMPLE_COLUMNS = 300, 60


_NO_HEADER = "the first line contains numbers and is read as data: columns are named X1, X2, …"


def write_example(*, folder: str) -> None:
    """Put the table of the demonstration into the folder of a new table."""
    write_table(Path(folder) / "table.csv", MARKET.sample(EXAMPLE_ROWS, random_state=0))


def open_table(
    *, folder: str, file: str, name: str, reading: dict[str, Any], limits: dict[str, Any]
) -> None:
    """Read a table and note what was found as ``table.json``.

    Columns without numbers are listed with the reason, and not used. Where the rest cannot be
    used either, ``trouble`` says why.

    Raises
    ------
    InputError
        Where there is no table, or one that is too large.
    """
    place = Path(folder)
    options = reading_options({"reading": reading})
    try:
        found = _read(place / file, options, Limits(**limits), name)
    except HeaderError:
        options["header"] = False
        found = _read(place / file, options, Limits(**limits), name)
    frame = found.frame
    record = {
        "id": place.name,
        "name": name,
        "file": file,
        "n_rows": len(frame),
        "reading": options,
        "sheets": list(found.sheets),
        "notes": [*found.notes, *([_NO_HEADER] if "header" in options else [])],
        "columns": [_column(column, frame[column]) for column in frame]
        + [{"name": column, "problem": words} for column, words in found.unusable.items()],
        **_warnings(frame),
    }
    # Apart: it is long, and the page asks for the rest all the time.
    write_json(place / "sample.json", _sample(frame))
    write_json(place / "table.json", record)


def _read(path: Path, options: dict[str, Any], limits: Limits, name: str) -> TableFile:
    _check_size(path, limits, name)
    try:
        return read_table_file(path, **options, strict=False, check_shape=limits.check_shape)
    except MatrixError:
        raise InputError(
            f"{name}: a covariance or correlation matrix, not rows; open the rows from which it "
            "was computed"
        ) from None
    except InputError as error:
        raise type(error)(f"{name}: {str(error).removeprefix(f'{path}: ')}") from None


def _check_size(path: Path, limits: Limits, name: str) -> None:
    """Refuse what would be much larger in memory than the file is."""
    size = path.stat().st_size
    if path.suffix == ".xlsx" and zipfile.is_zipfile(path):
        try:
            with zipfile.ZipFile(path) as archive:
                size = sum(each.file_size for each in archive.infolist()) // _UNPACKED
                if size <= limits.max_bytes:
                    _check_corner(archive, limits, name)
        except InputError:
            raise
        except Exception:  # what a damaged archive leads to can be anything
            raise InputError(f"{name}: the sheet is damaged; save it again") from None
    elif path.suffix == ".parquet":
        try:
            from pyarrow.parquet import read_metadata

            about = read_metadata(path)
        except ImportError:
            return
        except Exception:  # as above
            raise InputError(f"{name}: not a valid Parquet file") from None
        if about.num_rows > limits.max_rows or about.num_columns > limits.max_columns:
            size = limits.max_bytes + 1
    if size > limits.max_bytes:
        raise InputError(limits.too_large(name))


def _check_corner(archive: zipfile.ZipFile, limits: Limits, name: str) -> None:
    """Refuse a sheet with a cell so far out that the empty ones before it would fill the memory."""
    for part in archive.namelist():
        if part.startswith("xl/worksheets/") and part.endswith(".xml"):
            rows, columns = _corner(archive, part)
            # No file of text has more cells than half as many as bytes.
            if rows * columns > limits.max_bytes // 2:
                raise InputError(
                    f"{name} has a sheet that reaches to row {rows:,} and column {columns:,}; "
                    "delete the empty rows and columns at its end"
                )


def _corner(archive: zipfile.ZipFile, part: str) -> tuple[int, int]:
    """The last row and the last column that a sheet speaks of."""
    rows, columns, kept = 0, 0, b""
    with archive.open(part) as sheet:
        while piece := sheet.read(_PIECE):
            found = _CELL.findall(kept + piece)
            rows = max([rows, *map(int, {row for _, row in found})])
            columns = max([columns, *map(_number, {column for column, _ in found})])
            # A cell may span two pieces.
            kept = piece[-50:]
    return rows, columns


def _number(column: bytes) -> int:
    """The number of a column named as spreadsheets do: A is 1, AA is 27."""
    return reduce(lambda number, letter: 26 * number + letter - 64, column, 0)


def _column(name: str, column: pd.Series) -> dict[str, Any]:
    values = column.to_numpy(dtype=float)
    present = values[np.isfinite(values)]
    return {
        "name": name,
        "missing": int(np.isnan(values).sum()),
        "mean": float(present.mean()) if len(present) else None,
        "sd": float(present.std(ddof=1)) if len(present) > 1 else None,
        "min": float(present.min()) if len(present) else None,
        "max": float(present.max()) if len(present) else None,
        "histogram": _histogram(present),
    }


def _histogram(values: FloatArray) -> list[int]:
    """How many values are in each of some bins of one width, for any range of values."""
    if not len(values):
        return []
    # Apart from each other by at most two, where the numbers themselves could be too far apart.
    scaled = values / max(float(np.abs(values).max()), np.finfo(float).tiny)
    width = float(np.ptp(scaled))
    places = (scaled - scaled.min()) / width if width else np.full(len(values), 0.5)
    return [int(n) for n in np.histogram(places, bins=_BINS, range=(0.0, 1.0))[0]]


def _sample(frame: pd.DataFrame) -> dict[str, list[float]]:
    """Some rows, evenly spaced, of the first columns."""
    rows = np.unique(np.linspace(0, len(frame) - 1, _SAMPLE_ROWS).round().astype(int))
    some = frame.iloc[rows, :_SAMPLE_COLUMNS]
    return {str(name): some[name].to_numpy(dtype=float).tolist() for name in some}


def _warnings(frame: pd.DataFrame) -> dict[str, Any]:
    """Warnings; about a table with holes as maximum likelihood would use it."""
    try:
        holes = find_holes(frame)
        warnings = check_data(frame, missing="error" if holes is None else "em")
    except InputError as error:
        return {"warnings": [], "trouble": str(error), "has_holes": False}
    return {
        "warnings": [each.on_page() for each in warnings],
        "trouble": None,
        "has_holes": holes is not None,
    }


def reading_options(request: dict[str, Any]) -> dict[str, Any]:
    """The arguments of ``read_table`` that a request asks for; what is default is left out."""
    given = request.get("reading") or {}
    if not isinstance(given, dict):
        raise InputError("reading must be a JSON object")
    options: dict[str, Any] = {}
    for name in ("columns", "missing_codes", "labels"):
        value = given.get(name)
        if value is None:
            continue
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise InputError(f"{name} must be a list of strings")
        if value:
            options[name] = value
        elif name == "columns":
            raise InputError("no column is selected; select at least two")
    if given.get("header") is False:
        options["header"] = False
    if isinstance(given.get("sheet"), str) and given["sheet"]:
        options["sheet"] = given["sheet"]
    return options


def table_file(folder: Path) -> Path:
    """The file of a table as it was uploaded."""
    return folder / str(read_json(folder / "table.json")["file"])


def read_frame(folder: str, request: dict[str, Any]) -> pd.DataFrame:
    """The chosen columns; the same again where they were read just before."""
    return _read_chosen(folder, json.dumps(reading_options(request)))


@lru_cache(maxsize=4)
def _read_chosen(folder: str, options: str) -> pd.DataFrame:
    file = table_file(Path(folder))
    try:
        return read_table(file, **json.loads(options))
    except InputError as error:
        # People know the name that they gave, not the place in the workspace.
        raise InputError(str(error).removeprefix(f"{file}: ")) from None
