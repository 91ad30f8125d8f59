"""Opening a table: its content, warnings about it, and the selected columns."""

from __future__ import annotations

import re
import zipfile
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cyclearn.app.limits import Limits
from cyclearn.app.reading import read_matrix, read_rows, reading_options
from cyclearn.app.workspace import read_json, write_json
from cyclearn.data.missing_values import find_holes
from cyclearn.data.moments import Moments
from cyclearn.data.table_files import read_table_file, tetrad_matrix
from cyclearn.foundation.arrays import FloatArray
from cyclearn.foundation.errors import HeaderError, InputError, MatrixError
from cyclearn.search.checking import check_data, check_several_variables

if TYPE_CHECKING:
    import pandas as pd


# A sheet is compressed text: it is at most this many times as large as its file.
_UNPACKED = 20
# Positions of cells and rows in a sheet, and the number of bytes to search at a time.
_CELL = re.compile(rb"""\br\s*=\s*["']([A-Z]{0,3})([0-9]{1,9})["']""")
_PIECE = 2**20
_BINS = 16
# Maximum number of text values to list, so that users can assign numbers to them.
_MOST_LEVELS = 12
# Number of rows and columns for the page to draw.
_SAMPLE_ROWS, _SAMPLE_COLUMNS = 300, 60


_NO_HEADER = "the first line contains numbers and is read as data: columns are named X1, X2, …"


def open_table(
    *, folder: str, file: str, name: str, reading: dict[str, Any], limits: dict[str, Any]
) -> None:
    """Read a table and write what was found to ``table.json``.

    Non-numeric columns are listed with the reason, and not used. If the rest cannot be used either,
    ``trouble`` says why, and ``drop`` lists columns to remove so that it can.

    Raises
    ------
    InputError
        If there is no table, or if it is too large.
    """
    place, options = Path(folder), reading_options({"reading": reading})
    path = place / file
    record = {"id": place.name, "name": name, "file": file}
    # In a separate file, because it is long and the page often requests only the rest.
    write_json(place / "sample.json", {})
    try:
        _check_size(path, Limits(**limits), name)
        try:
            if options.get("covariance"):
                raise MatrixError
            record |= _rows_record(path, options, Limits(**limits))
        except HeaderError:
            options["header"] = False
            record |= _rows_record(path, options, Limits(**limits))
        except MatrixError:
            record |= _matrix_record(path, options | {"covariance": True}, Limits(**limits))
    except InputError as error:
        words = str(error).removeprefix(f"{path}: ").removeprefix(f"{name}: ")
        raise type(error)(f"{name}: {words}") from None
    write_json(place / "table.json", record)


def _rows_record(path: Path, options: dict[str, Any], limits: Limits) -> dict[str, Any]:
    found = read_rows(path, options, strict=False, check_shape=limits.check_shape)
    frame, draft = found.frame, read_json(path.with_name("draft.json"), default={})
    write_json(path.with_name("sample.json"), _sample(frame))
    wanted = draft.get("columns") or list(frame)
    chosen = [name for name in frame if isinstance(wanted, list) and name in wanted]
    levels = _levels(path, options, list(found.unusable)) if found.unusable else {}
    check_several_variables([*frame, *found.unusable])
    warnings = _warnings(frame[chosen] if len(chosen) > 1 else frame)
    coded = [each for each in warnings["warnings"] if each["code"] == "missing_codes"]
    numbers = {number for each in coded for number in each["numbers"]}
    return {
        "n_rows": len(frame),
        "reading": options,
        "sheets": list(found.sheets),
        "notes": [*found.notes, *([_NO_HEADER] if "header" in options else [])],
        "columns": [_column(column, frame[column]) for column in frame]
        + [
            {"name": name, "problem": words, "levels": levels.get(name, [])}
            for name, words in found.unusable.items()
        ],
        # For all columns together: texts among numbers, and numbers far from the others.
        "codes": [*frame.attrs.get("codes", ()), *(f"{n:g}" for n in sorted(numbers))],
        **warnings,
    }


def _levels(path: Path, options: dict[str, Any], names: list[str]) -> dict[str, list[str]]:
    """The values of text columns with few values, by name."""
    given = {key: options[key] for key in ("header", "sheet") if key in options}
    cells = read_table_file(path, **given, columns=names, labels=names).frame
    found = {name: sorted(set(map(str, cells[name].dropna()))) for name in cells}
    return {name: each for name, each in found.items() if len(each) <= _MOST_LEVELS}


def _matrix_record(path: Path, options: dict[str, Any], limits: Limits) -> dict[str, Any]:
    """Information on a covariance matrix; its number of rows may still be missing."""
    is_known = "n" in options or tetrad_matrix(path) is not None
    some = options if is_known else options | {"n": limits.max_rows}
    found = read_matrix(path, some, check_shape=limits.check_shape)
    rest = _warnings(found)
    if not is_known:
        rest["trouble"] = "enter the number of rows from which this matrix was computed"
    return {
        "n_rows": found.n_samples if is_known else 0,
        "reading": options,
        "sheets": [],
        "notes": ["a covariance or correlation matrix"],
        "columns": [
            {"name": name, "missing": 0, "sd": float(sd), "histogram": []}
            for name, sd in zip(found.names, found.scale, strict=True)
        ],
        **rest,
    }


def _check_size(path: Path, limits: Limits, name: str) -> None:
    """Refuse files whose content would be much larger in memory."""
    size = path.stat().st_size
    if path.suffix == ".xlsx" and zipfile.is_zipfile(path):
        try:
            with zipfile.ZipFile(path) as archive:
                size = sum(each.file_size for each in archive.infolist()) // _UNPACKED
                if size <= limits.max_bytes:
                    _check_corner(archive, limits, name)
        except InputError:
            raise
        except Exception:  # a damaged archive can raise any error
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
    """Refuse a sheet with a cell so distant that the empty cells before it would fill memory."""
    for part in archive.namelist():
        if part.startswith("xl/worksheets/") and part.endswith(".xml"):
            rows, columns = _corner(archive, part)
            # A text file has at most half as many cells as bytes.
            if rows * columns > limits.max_bytes // 2:
                raise InputError(
                    f"{name} has a sheet that reaches to row {rows:,} and column {columns:,}; "
                    "delete the empty rows and columns at its end"
                )


def _corner(archive: zipfile.ZipFile, part: str) -> tuple[int, int]:
    """The last row and the last column that occur in a sheet."""
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
    """The number of a column in the notation of spreadsheets: A is 1, AA is 27."""
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
    """Counts of values in bins of equal width, for any range of values."""
    if not len(values):
        return []
    # Scaled so that differences are at most two and cannot overflow.
    scaled = values / max(float(np.abs(values).max()), np.finfo(float).tiny)
    width = float(np.ptp(scaled))
    places = (scaled - scaled.min()) / width if width else np.full(len(values), 0.5)
    return [int(n) for n in np.histogram(places, bins=_BINS, range=(0.0, 1.0))[0]]


def _sample(frame: pd.DataFrame) -> dict[str, list[float]]:
    """Some rows, evenly spaced, of the first columns."""
    rows = np.unique(np.linspace(0, len(frame) - 1, _SAMPLE_ROWS).round().astype(int))
    some = frame.iloc[rows, :_SAMPLE_COLUMNS]
    return {str(name): some[name].to_numpy(dtype=float).tolist() for name in some}


def _warnings(data: pd.DataFrame | Moments) -> dict[str, Any]:
    """Warnings; a table with missing cells is treated by maximum likelihood."""
    try:
        names = data.names if isinstance(data, Moments) else list(data)
        if not names:
            raise InputError("no column can be used as numbers")
        check_several_variables(names)
        holes = None if isinstance(data, Moments) else find_holes(data)
        warnings = check_data(data, missing="error" if holes is None else "em")
    except InputError as error:
        drop = list(getattr(error, "columns", ()))
        return {"warnings": [], "trouble": str(error), "drop": drop, "has_holes": False}
    return {
        "warnings": [each.on_page() for each in warnings],
        "trouble": None,
        "drop": [],
        "has_holes": holes is not None,
    }
