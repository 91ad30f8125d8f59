"""Which columns of a table are data: an error names all others at once, with the remedy."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cyclearn.data.input_checks import check_rows, is_missing_word, number_of
from cyclearn.data.rows import MOST_LEVELS
from cyclearn.foundation import HeaderError, InputError, count_of, listed, pd, short
from cyclearn.foundation.arguments import names_of

MissingCode = str | float

_DATE = re.compile(
    r"(\d{4}[-/.]\d{1,2}([-/.]\d{1,2})?|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2}))"
    r"([T ]\d{1,2}:\d{2}.*)?"
)
_INDEX_NAME = re.compile(
    r"(|unnamed: ?\d+|index|rownames?|row[ _]?(id|nr|number)?|id|nr|no|#)", re.I
)
# A number with a sign of its unit, such as 5% or $3.
_WITH_SIGN = re.compile(r"(?=.*[%‰$€£¥])[$€£¥]?\s*[+-]?[$€£¥]?\s*[\d.,]*\d[\d.,]*\s*[%‰$€£¥]?")
_IDENTIFIER = re.compile(r"(.*[ _.-])?(id|ids|nr|identifier|uuid|key|code)|.*[a-z]ID", re.I)
# With fewer rows a column may count, or have no value twice, by chance.
_COUNTED_ROWS = 5
_IDENTIFIED_ROWS = 20
_FEW = "they can become exogenous indicators"
_MANY = f"merge rare ones (at most {MOST_LEVELS} become exogenous indicators)"
# Number of cells that suffice to recognise a column of text.
_FEW_CELLS = 1_000
# What to do with a file that holds a matrix.
MATRIX_REMEDY = (
    "read_moments(path, covariance=True, n_samples=…), or --covariance --n ROWS (all commands but "
    "check, which needs rows)"
)


@dataclass(frozen=True)
class Cells:
    """Names and cells of a table before columns are omitted, and what was detected in its file.

    ``lines`` are those of the file in which the rows are, if known.
    """

    names: list[str]
    body: pd.DataFrame
    lines: list[int] | None = None
    notes: list[str] = field(default_factory=list)
    sheets: tuple[str, ...] = ()

    def place(self, row: int) -> str:
        """The position of a row, as shown to people."""
        return f"row {row}" if self.lines is None else f"line {self.lines[row]}"


def with_missing_codes(body: pd.DataFrame, codes: Sequence[MissingCode]) -> pd.DataFrame:
    """Replace every code, given as text or as a number, by a missing value."""
    texts = {"", *map(str, codes)}
    numbers = {float(code) for code in codes if number_of(code) is not None}

    def is_code(column: pd.Series) -> pd.Series:
        if column.dtype.kind in "fiu":
            return column.isin(numbers)
        return column.map(lambda cell: str(cell).strip() in texts).astype(bool)

    return body.mask(body.apply(is_code))


def usable_columns(
    cells: Cells,
    *,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    index: str | int | None = None,
    has_header: bool = True,
    covariance: bool = False,
    labels: Sequence[str] = (),
    strict: bool = True,
) -> tuple[pd.DataFrame, list[str], dict[str, str]]:
    """Columns of numbers and labels, those omitted by default, and those that are not numbers.

    Raises
    ------
    InputError
        If the table cannot be used, with all problems in one message; non-numeric columns count
        only if ``strict``.
    """
    names, body = list(cells.names), cells.body
    _check_width(names, body.shape[1])
    if has_header:
        _check_header(names)
    notes: list[str] = []
    keep = [j for j in range(len(names)) if not (names[j] == "" and body.iloc[:, j].isna().all())]
    keep = _without_index(keep, names, cells, index, notes)
    asked = {
        *names_of("columns", () if columns is None else columns),
        *names_of("drop", () if drop is None else drop),
        *labels,
    }
    keep, named_rows = _without_identifiers(keep, cells, asked)
    if named_rows and strict:
        left_out = ", ".join(map(repr, named_rows))
        notes.append(f"ignored as identifiers (a different value in every row): {left_out}")
    _check_names([names[j] for j in keep])
    chosen = _chosen([names[j] for j in keep], columns, drop)
    absent = [name for name in labels if name not in names]
    if absent:
        raise InputError(f"there is no column {absent[0]!r}; the columns are {listed(names)}")
    keep = [j for j in keep if names[j] in chosen or names[j] in labels]
    data: dict[str, Any] = {names[j]: _as_numbers(body.iloc[:, j]) for j in keep}
    texts = _read_two_texts(data, labels, notes)
    wrong = {
        name: problem
        for name, column in data.items()
        if name not in labels and (problem := _problem(name, column, cells))
    }
    data = {name: column for name, column in data.items() if name not in wrong}
    codes, coded = _suspected_codes(wrong, cells, names)
    if wrong and (strict or not (data or coded)):
        others = {name: why for name, why in wrong.items() if name not in coded}
        raise InputError(_all_wrong(others, codes, coded, has_others=bool(data)))

    frame = pd.DataFrame(data, index=body.index)
    frame.attrs.update(texts=texts, codes=codes)
    why = "has text among numbers, in {}, which may code missing values"
    wrong |= {name: why.format(where) for name, where in coded.items()}
    # A spreadsheet would execute these when a result is opened in it.
    like = ", ".join(repr(name) for name in data if name.startswith(("=", "+", "-", "@")))
    notes += [f"spreadsheets read these names as formulas: {like} (kept as they are)"] * bool(like)
    if not covariance:
        check_rows(frame.drop(columns=list(labels)).to_numpy(dtype=float), MATRIX_REMEDY)
    return frame, notes, named_rows | wrong


def _without_identifiers(
    keep: list[int], cells: Cells, asked: Collection[str]
) -> tuple[list[int], dict[str, str]]:
    """The columns that are not identifiers, and why the others are; requested columns are kept."""
    found = [
        j
        for j in keep
        if cells.names[j] not in asked and is_identifier(cells.names[j], cells.body.iloc[:, j])
    ]
    if len(found) == len(keep):
        return keep, {}
    why = "has a different value in every row, as identifiers do"
    return [j for j in keep if j not in found], {cells.names[j]: why for j in found}


def _check_width(names: list[str], width: int) -> None:
    if len(names) != width:
        raise InputError(
            f"the header has {count_of(len(names), 'name')} and the rows have {width} values; give "
            "one name for each column, remove any lines above the names, or specify the separator "
            "(sep=…, --sep)"
        )


def _check_header(names: list[str]) -> None:
    numbers = [number_of(name) for name in names]
    if len(names) < 2 or any(number is None for number in numbers):
        return
    if numbers in (list(range(len(names))), list(range(1, len(names) + 1))):
        return
    raise HeaderError(
        f"the first line contains numbers, not names ({', '.join(names[:3])}…); put a line of "
        "names above it, or read it as data: cl.read_table(path, header=False), or --no-header"
    )


def _without_index(
    keep: list[int], names: list[str], cells: Cells, index: str | int | None, notes: list[str]
) -> list[int]:
    if index is not None:
        if isinstance(index, bool) or not isinstance(index, (str, int)):
            raise InputError(f"index is {short(index)}; give the name or the number of a column")
        number: int | None = names.index(str(index)) if index in names else None
        if number is None and str(index).isdigit():
            number = int(index)
        if number is None or not 0 <= number < len(names):
            raise InputError(
                f"there is no column {short(index)} for the index; the columns are {listed(names)}"
            )
        return [j for j in keep if j != number]
    if keep and names[keep[0]] == "" and len(keep) > 1:
        first = cells.body.iloc[:, keep[0]]
        if first.dtype.kind not in "fiub" or _counts(_as_numbers(first), least=2):
            notes.append("the first column has no name and is used as row names")
            return keep[1:]
        raise InputError(
            f"the header has {len(names) - 1} names and the rows have {len(names)} values; give "
            "one name for each column, or declare the first column an index (index=0, --index 0)"
        )
    return keep


def _check_names(names: list[str]) -> None:
    for position, name in enumerate(names):
        if name == "":
            raise InputError(
                f"column {position + 1} has no name; name it in the first line, or remove the "
                "column from the file"
            )
    twice = sorted(name for name, times in Counter(names).items() if times > 1)
    if twice:
        raise InputError(f"the column name {twice[0]!r} appears twice; rename one of them")


def _chosen(
    names: list[str], columns: Sequence[str] | None, drop: Sequence[str] | None
) -> set[str]:
    for what, given in (("columns", columns), ("drop", drop)):
        absent = [name for name in given or () if name not in names]
        if absent:
            raise InputError(f"{what}={absent}: the columns are {listed(names)}")
    chosen = set(names if columns is None else columns) - set(drop or ())
    if not chosen:
        raise InputError("no column is left; drop fewer columns")
    return chosen


def _as_numbers(column: pd.Series) -> pd.Series:
    """A column of text or objects as numbers, where every cell is one."""
    if column.dtype.kind in "fiubM" or isinstance(column.dtype, pd.CategoricalDtype):
        return column
    numbers = pd.to_numeric(column, errors="coerce")
    return numbers if (numbers.isna() == column.isna()).all() else column


def two_texts(column: pd.Series) -> tuple[list[str], pd.Series]:
    """For a column with exactly two texts: the texts in order, and the column as 0 and 1.

    Examples
    --------
    >>> import pandas as pd
    >>> two_texts(pd.Series(["yes", "no", None, "yes", "no"]))[0]
    ['no', 'yes']
    >>> two_texts(pd.Series(["1.5", "no"] * 3))[0]
    []
    """
    present = column.dropna()
    if column.dtype.kind in "fiubM" or not len(present):
        return [], column
    texts = present.map(lambda cell: str(cell).strip())
    if len(set(texts.iloc[:_FEW_CELLS])) > 2:
        return [], column
    levels = sorted(set(texts))
    is_text = not any(number_of(level) is not None or _DATE.fullmatch(level) for level in levels)
    if len(levels) != 2 or not is_text or all(map(_WITH_SIGN.fullmatch, levels)):
        return [], column
    return levels, texts.map(levels.index).astype(float).reindex(column.index)


def _read_two_texts(
    data: dict[str, Any], labels: Sequence[str], notes: list[str]
) -> dict[str, list[str]]:
    """Convert columns of two texts to numbers, note it, and return them."""
    found = {}
    for name in [name for name in data if name not in labels]:
        texts, numbers = two_texts(data[name])
        if texts:
            data[name], found[name] = numbers, texts
            notes.append(f"{name!r} has two values: {texts[0]!r} is read as 0, {texts[1]!r} as 1")
    return found


def _problem(name: str, column: pd.Series, cells: Cells) -> str | None:
    """The reason why a column cannot be used as data, if there is one."""
    present = column.dropna()
    if not len(present):
        return "is empty"
    if column.dtype.kind == "M":
        return f"has dates ({present.iloc[0]:%Y-%m-%d} in {cells.place(int(present.index[0]))})"
    if column.dtype.kind not in "fiub":
        numbers = pd.to_numeric(present.astype(object), errors="coerce")
        text = present[numbers.isna()] if numbers.isna().any() else present
        where = f"({short(str(text.iloc[0]))} in {cells.place(int(text.index[0]))})"
        if all(_DATE.fullmatch(str(value).strip()) for value in text):
            return f"has dates {where}"
        if all(_WITH_SIGN.fullmatch(str(value).strip()) for value in text):
            return f"contains numbers with a symbol or unit {where}: remove the symbol"
        if len(text) <= len(present) / 2:
            return (
                f"contains text in {len(text)} of {len(present)} cells {where}: correct these "
                "cells, or give the codes for missing values (missing_codes=…, --missing-codes)"
            )
        n = len({str(value).strip() for value in present})
        if 3 <= n < len(present) / 2:
            return (
                f"contains {n} categories {where}: {_MANY if n > MOST_LEVELS else _FEW}, or define "
                f"groups of rows (groups={name!r}, --groups {name})"
            )
        return f"contains text {where}"
    return None


def _counts(column: pd.Series, least: int = _COUNTED_ROWS) -> bool:
    """Whether a column increases by one in every row; short columns do not count."""
    has_numbers = column.dtype.kind in "fiu" and len(column) >= least
    return has_numbers and bool((np.diff(column.to_numpy(dtype=float)) == 1).all())


def _suspected_codes(
    wrong: Iterable[str], cells: Cells, names: list[str]
) -> tuple[list[str], dict[str, str]]:
    """The codes in columns whose only problem is codes among numbers, and the first in each."""
    codes: dict[str, None] = {}
    coded: dict[str, str] = {}
    for name in wrong:
        present = cells.body.iloc[:, names.index(name)].dropna().map(str)
        text = present[present.map(number_of).isna()]
        if 0 < len(text) < len(present) and text.map(is_missing_word).all():
            codes |= dict.fromkeys(text.str.strip())
            coded[name] = cells.place(int(text.index[0]))
    return list(codes), coded


def is_identifier(name: str, column: pd.Series) -> bool:
    """Whether a column identifies the rows: all texts, or all whole numbers, are different.

    Numbers that are all different may be measured; they name rows where these are numbered through
    in no order, or by the name of the column.
    """
    values = _as_numbers(column)
    if _INDEX_NAME.fullmatch(name) and _counts(values):
        return True
    if len(column) < _IDENTIFIED_ROWS or column.isna().any() or not column.is_unique:
        return False
    if values.dtype.kind not in "fiuM":
        # Numbers mixed with a few codes, and dates, are treated elsewhere.
        others = [number_of(v) is not None or _DATE.fullmatch(str(v).strip()) for v in values]
        return sum(map(bool, others)) < len(values) / 2
    if values.dtype.kind == "M" or (values % 1 != 0).any():
        return False
    is_shuffled = np.ptp(values.to_numpy(dtype=float)) == len(values) - 1 and not _counts(values)
    return bool(_IDENTIFIER.fullmatch(name)) or is_shuffled


def _all_wrong(
    others: dict[str, str], codes: list[str], coded: dict[str, str], *, has_others: bool
) -> str:
    """What is wrong with columns: codes in some of them, and the problems of the others."""
    about_codes = ""
    for name, where in list(coded.items())[:1]:
        about_codes = (
            f"{count_of(len(coded), 'column')} {'has' if len(coded) == 1 else 'have'} "
            f"{' and '.join(map(repr, codes))} among numbers ({name!r} in {where}), which "
            f"may code missing values; try missing_codes={codes!r} "
            f"(--missing-codes '{','.join(codes)}')"
        )
    if not others:
        return about_codes
    said = "; ".join(f"{name!r} {problem}" for name, problem in list(others.items())[:10])
    more = f" and {len(others) - 10} more" if len(others) > 10 else ""
    names = list(others)
    remedy = (
        f"to ignore columns that are not measurements, use drop={names} (--drop {','.join(names)})"
        if has_others or codes
        else "no usable column is left: give a table of numbers with a header of names"
    )
    if has_others and all(_FEW in problem for problem in others.values()):
        remedy = f"use categories={names} (--categories {','.join(names)})"
    number = count_of(len(names), "column")
    first = f"{about_codes}; " if coded else ""
    return f"{first}{number} cannot be used as numbers: {said}{more}; {remedy}"
