"""Tables in files: the file format, how text is written, and the position of each cell.

Files have semicolons, decimal commas, comments, an index column and missing values. What the file
itself shows is recognised and reported (``TableFile.notes``); otherwise an error names the argument
that is needed.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import re
import zipfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from io import StringIO
from numbers import Real
from pathlib import Path
from typing import Any

from cyclearn.data.delimited_text import Delimited, delimited
from cyclearn.data.input_checks import MISSING_TEXT
from cyclearn.data.table_columns import Cells, MissingCode, usable_columns, with_missing_codes
from cyclearn.data.tetrad_covariance import tetrad_covariance
from cyclearn.foundation import InputError, MatrixError, check_path, pd, replacing, short, shown
from cyclearn.foundation.arguments import flag, names_of

CheckShape = Callable[[int, int], None]

_TEXT = {".csv", ".tsv", ".txt", ".dat", ".tab"}
_PACKED: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_BINARY = {".parquet", ".feather", ".arrow", ".dta", ".xlsx"}


@dataclass(frozen=True, eq=False)
class TableFile:
    """A table from a file: the columns that are used, and notes on what was detected.

    ``unusable`` gives the reasons for non-numeric columns that were omitted. ``sheets``
    are the names of the sheets of an Excel file.
    """

    frame: pd.DataFrame
    notes: tuple[str, ...]
    unusable: dict[str, str] = field(default_factory=dict)
    sheets: tuple[str, ...] = ()


def read_table(path: str | Path, **options: Any) -> pd.DataFrame:
    r"""Read a table with a header from a file.

    Parameters
    ----------
    path : str or Path
        ``.csv``, ``.tsv``, ``.txt`` and ``.dat``, also compressed (``.gz``, ``.bz2``, ``.xz``,
        ``.zip``); ``.parquet``, ``.feather``, ``.dta`` (Stata) and ``.xlsx`` (one sheet).
    **options
        As in :func:`read_table_file`.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "table.csv"
    >>> _ = path.write_text("# measured in May\na;b\n1,5;2\n0,5;NA\n")
    >>> read_table(path)
         a    b
    0  1.5  2.0
    1  0.5  NaN
    """
    return read_table_file(path, **options).frame


def read_table_file(
    path: str | Path,
    *,
    sep: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    header: bool = True,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    index: str | int | None = None,
    sheet: str | int | None = None,
    missing_codes: Sequence[MissingCode] = (),
    covariance: bool = False,
    labels: Sequence[str] = (),
    strict: bool = True,
    check_shape: CheckShape | None = None,
) -> TableFile:
    """Read a table, with notes on how it was read.

    Parameters
    ----------
    path : str or Path
        As in :func:`read_table`.
    sep, decimal, encoding : str, optional
        Separator of cells, decimal mark and encoding of text; by default recognised from the text.
    header : bool
        Whether the first line contains names; otherwise columns are X1, X2, ….
    columns, drop : sequence of str, optional
        Columns to use, or to omit. A column named in ``columns`` is used even if it looks like an
        index.
    index : str or int, optional
        Column of row names, by name or by number from zero; it is not used as data.
    sheet : str or int, optional
        Sheet of an Excel file, by name or by number from one; the first by default.
    missing_codes : sequence of str or number
        Codes for missing values, in addition to empty cells, ``NA``, ``NaN``, ``.``, ``?`` and the
        like.
    covariance : bool
        Whether the file contains a covariance matrix instead of rows; otherwise one raises an
        error.
    labels : sequence of str
        Columns of labels, such as the group of each row; they may contain text.
    strict : bool
        Whether non-numeric columns raise an error; otherwise they are omitted and listed.
    check_shape : callable, optional
        Called with the numbers of rows and columns before cells are read; it raises an
        ``InputError`` if there are too many.

    Returns
    -------
    TableFile

    Raises
    ------
    InputError
        If the file cannot be read, or has columns of text or dates, a column of row numbers, a
        header of numbers, or a covariance matrix. All problems are listed at once, with remedies.
    """
    check_path(path)
    path = Path(path)
    for name, value in (("header", header), ("covariance", covariance), ("strict", strict)):
        flag(name, value)
    names_of("labels", labels)
    if sheet is not None and (isinstance(sheet, bool) or not isinstance(sheet, (str, int))):
        raise InputError(f"sheet is {short(sheet)}; give the name or the number of a sheet")
    codes = [missing_codes] if isinstance(missing_codes, (str, Real)) else missing_codes
    if not isinstance(codes, Sequence) or not all(isinstance(c, (str, Real)) for c in codes):
        raise InputError(
            f"missing_codes is {short(missing_codes)}; give a list of texts or numbers, such as "
            "[-999]"
        )
    # For these functions a name that is too long is a missing file.
    if os.path.isdir(path):
        raise InputError(f"{path}: this is a folder; name a file in it")
    kind = _kind(path)
    if not os.path.isfile(path):
        is_there = "not a regular file; save the table to a file first"
        raise InputError(f"{shown(path)}: {is_there if os.path.exists(path) else 'no such file'}")
    try:
        if kind in _TEXT:
            cells = _readable(_read_text, path, sep, decimal, encoding, header, codes, check_shape)
        else:
            cells = _readable(_read_binary, path, kind, header, sheet)
            if check_shape is not None:
                check_shape(*cells.body.shape)
        # In addition to the texts that pandas reads as missing (NA, NaN, null, empty, …).
        body = with_missing_codes(cells.body, (*MISSING_TEXT, *codes))
        frame, notes, unusable = usable_columns(
            replace(cells, body=body),
            columns=columns,
            drop=drop,
            index=index,
            has_header=header,
            covariance=covariance,
            labels=labels,
            strict=strict,
        )
    except InputError as error:
        raise type(error)(f"{path}: {error}") from None
    return TableFile(frame, (*cells.notes, *notes), unusable, cells.sheets)


def _readable(read: Callable[..., Cells], path: Path, *arguments: Any) -> Cells:
    """Call a reader; errors about a file that it cannot read become an InputError."""
    try:
        return read(path, *arguments)
    except ImportError as error:
        kind = _kind(path)
        needed = "openpyxl" if kind == ".xlsx" else "pyarrow"
        raise InputError(
            f"reading {kind} needs {needed}; install cyclearn[files], or save as CSV"
        ) from error
    except InputError:
        raise
    except Exception as error:  # what readers raise for damaged files can be anything
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise InputError(f"not a table with a header ({first})") from None


def write_table(path: str | Path, table: pd.DataFrame) -> None:
    """Write a table in the format given by its suffix, which :func:`read_table` reads."""
    suffix = Path(path).suffix.lower()
    with replacing(path) as beside:
        try:
            if suffix == ".parquet":
                table.to_parquet(beside, index=False)
            else:
                table.to_csv(beside, sep="," if suffix == ".csv" else "\t", index=False)
        except ImportError:
            raise InputError(
                f"{path}: writing Parquet needs pyarrow; install cyclearn[files] or name a .csv"
            ) from None
        except UnicodeEncodeError:
            raise InputError(f"{path}: a name is not UTF-8 text; rename the column") from None


def tetrad_matrix(path: str | Path, encoding: str | None = None) -> tuple[int, Any] | None:
    """The number of rows and the matrix in a Tetrad file; None for any other file."""
    path = Path(path)
    if not os.path.isfile(path) or _kind(path) not in _TEXT:
        return None
    found = None
    with suppress(InputError):  # which reading it as a table raises, with the name of the file
        found = tetrad_covariance(_decoded(_unpacked(path), encoding)[0])
    return found and (found[0], pd.DataFrame(found[2], columns=found[1]))


def as_rows(data: Any, labels: Sequence[str] = ()) -> Any:
    """Data as a DataFrame or an array: files are read, Arrow and polars tables converted.

    ``labels`` are columns of a file that may hold text.
    """
    if isinstance(data, (str, Path)):
        return read_table(data, labels=labels)
    if hasattr(data, "collect") and not hasattr(data, "to_pandas"):
        # A polars query that has not been executed yet.
        data = data.collect()
    if not isinstance(data, (pd.DataFrame, pd.Series)) and hasattr(data, "to_pandas"):
        try:
            return data.to_pandas()
        except ImportError as error:
            raise InputError(
                f"a table of {type(data).__module__.split('.')[0]} needs pyarrow; install "
                "cyclearn[files], or convert it to pandas"
            ) from error
    return data


def _kind(path: Path) -> str:
    """The suffix that gives the file format, without that of the compression."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in {*_PACKED, ".zip"}:
        kind = suffixes[-2] if len(suffixes) > 1 else ".csv"
        return kind if kind in _TEXT else ".csv"
    kind = suffixes[-1] if suffixes else ""
    if kind not in _TEXT | _BINARY:
        raise InputError(
            f"{shown(path)}: unknown kind of file; give .csv, .tsv, .txt (also .gz, .bz2, .xz, "
            ".zip), .parquet, .feather, .dta or .xlsx"
        )
    return kind


def _read_text(
    path: Path,
    sep: str | None,
    decimal: str | None,
    encoding: str | None,
    header: bool,
    missing_codes: Sequence[MissingCode],
    check_shape: CheckShape | None,
) -> Cells:

    text, notes = _decoded(_unpacked(path), encoding)
    if tetrad_covariance(text) is not None:
        raise MatrixError(
            "this is a covariance matrix in Tetrad's format (number of rows, names, lower "
            "triangle), not rows; use read_moments(path), or another command than check"
        )
    written = delimited(text, sep=sep, decimal=decimal, header=header, suffix=_kind(path))
    notes += written.notes
    if check_shape is not None:
        check_shape(len(written.lines), written.width)
    try:
        body = pd.read_csv(
            StringIO(written.body),
            sep=written.sep,
            decimal=written.decimal,
            thousands=written.thousands,
            header=None,
            skipinitialspace=True,
            skip_blank_lines=False,
            na_values=[*MISSING_TEXT, *map(str, missing_codes)],
            engine="c",
            low_memory=False,
            index_col=False,
        )
    except pd.errors.EmptyDataError:
        raise InputError("not a table with a header: there is no row below the names") from None
    except pd.errors.ParserError as error:
        raise InputError(_ragged(str(error), written)) from None
    lines = written.lines if len(written.lines) == len(body) else None
    names = written.header or [f"X{j + 1}" for j in range(body.shape[1])]
    return Cells(names, body, lines, notes)


def _ragged(message: str, written: Delimited) -> str:
    """The pandas error about a line with too many cells, with the line number of the file."""
    found = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", message)
    if found is None:
        return f"not a table with a header ({message.strip().splitlines()[0]})"
    expected, row, saw = map(int, found.groups())
    line = written.lines[row - 1] if row <= len(written.lines) else row
    return (
        f"line {line} has {saw} cells, but the lines before it have {expected}; correct the line, "
        f"or give a separator other than {written.sep!r} (sep=…, --sep)"
    )


def _read_binary(path: Path, kind: str, header: bool, sheet: str | int | None) -> Cells:

    if kind == ".xlsx":
        sheets = pd.read_excel(path, sheet_name=None, header=None, dtype=object, na_filter=False)
        name = _chosen_sheet(list(sheets), sheet)
        first = sheets[name]
        first = first.replace("", None).dropna(how="all").dropna(how="all", axis=1)
        others = ", ".join(repr(each) for each in sheets if each != name)
        notes = [f"sheet {name!r} is read, and there are {others} (sheet=…, --sheet)"]
        notes = notes if others and sheet is None else []
        if not header:
            unnamed = [f"X{j + 1}" for j in range(first.shape[1])]
            return Cells(unnamed, first, notes=notes, sheets=tuple(sheets))
        if len(first) < 2:
            raise InputError("not a table with a header: there is no row below the names")
        lines = [int(row) + 1 for row in first.index[1:]]
        body = first.iloc[1:].reset_index(drop=True).infer_objects()
        names = [_as_name(cell) for cell in first.iloc[0]]
        return Cells(names, body, lines, notes, tuple(sheets))
    readers = {
        ".parquet": pd.read_parquet,
        ".feather": pd.read_feather,
        ".arrow": pd.read_feather,
        ".dta": pd.read_stata,
    }
    body = readers[kind](path)
    return Cells([_as_name(name) for name in body.columns], body.reset_index(drop=True))


def _chosen_sheet(names: list[str], sheet: str | int | None) -> str:
    """The name of a sheet given by name or by number; the first sheet by default."""
    if sheet is None:
        return names[0]
    if str(sheet) in names:
        return str(sheet)
    number = int(sheet) if str(sheet).isdigit() else 0
    if not 1 <= number <= len(names):
        raise InputError(f"there is no sheet {short(sheet)}; the sheets are {', '.join(names)}")
    return names[number - 1]


def _as_name(cell: Any) -> str:
    if cell is None or cell != cell:
        return ""
    return str(int(cell) if isinstance(cell, float) and cell.is_integer() else cell).strip()


def _unpacked(path: Path) -> bytes:
    suffix = path.suffix.lower()
    if suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            inside = [name for name in archive.namelist() if not name.startswith("__MACOSX")]
            if len(inside) != 1:
                raise InputError(f"the archive contains {len(inside)} files; it must contain one")
            return archive.read(inside[0])
    if suffix in _PACKED:
        with _PACKED[suffix](path) as file:
            return bytes(file.read())
    return path.read_bytes()


def _decoded(content: bytes, encoding: str | None) -> tuple[str, list[str]]:
    """The text without a byte-order mark, and a note if the encoding had to be guessed."""
    if encoding is not None:
        try:
            return content.decode(encoding).removeprefix("\ufeff"), []
        except LookupError:
            raise InputError(f"unknown encoding {short(encoding)}") from None
        except UnicodeDecodeError as error:
            raise InputError(f"the text is not {encoding}: {error.reason}") from None
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16"), []
    if b"\0" in content:
        raise InputError("not a table with a header: the file contains binary data")
    try:
        return content.decode("utf-8-sig"), []
    except UnicodeDecodeError:
        guess = content.decode("cp1252", errors="replace")
        return guess, ["the text is not UTF-8; read as Windows-1252 (encoding=…, --encoding)"]
