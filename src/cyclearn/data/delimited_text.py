"""How a table is written as text: separator, decimal mark, header and lines."""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import dataclass, field

from cyclearn.data.input_checks import number_of
from cyclearn.foundation import InputError, short

# Lines from which the separator and the decimal mark are detected.
_LOOKED_AT = 100
_WHITESPACE = r"\s+"
# Maximum number of lines in one quoted cell.
_LONGEST_CELL = 20
# Separators, in the order in which ties are resolved.
_SEPARATORS = {
    ".csv": (",", ";", "\t", "|"),
    ".tsv": ("\t", ";", ",", "|"),
    ".tab": ("\t", ";", ",", "|"),
    ".txt": ("\t", ";", ",", "|", _WHITESPACE),
    ".dat": ("\t", ";", ",", "|", _WHITESPACE),
}
_WORDS = {"\t": "tabs", ";": "semicolons", "|": "bars", _WHITESPACE: "spaces", ",": "commas"}

# Decimal mark and thousands separator, in the order in which ties are resolved.
_MARKS: tuple[tuple[str, str | None], ...] = ((".", None), (",", None), (".", ","), (",", "."))
# If commas separate cells, a comma within a cell separates thousands.
_BESIDE_COMMAS = [_MARKS[n] for n in (0, 2, 1, 3)]
# The typographic minus sign, before a number.
_MINUS = re.compile(r"(?<![^\s,;|\"])\N{MINUS SIGN}(?=[\d.,])")


@dataclass(frozen=True)
class Delimited:
    """A text as a table: the names, the lines below them, and how cells are written.

    ``width`` is the number of cells in the longest of the first lines.
    """

    header: list[str]
    width: int
    body: str
    lines: list[int]
    sep: str
    decimal: str
    thousands: str | None
    notes: list[str] = field(default_factory=list)


def delimited(
    text: str, *, sep: str | None, decimal: str | None, header: bool, suffix: str
) -> Delimited:
    r"""Detect how a text is written; arguments that are given are not checked.

    Blank lines are omitted, and so are lines that begin with ``#``, unless the last of these before
    the data holds the names.

    Examples
    --------
    >>> found = delimited("a;b\n1,5;2,5\n", sep=None, decimal=None, header=True, suffix=".csv")
    >>> found.header, found.sep, found.decimal
    (['a', 'b'], ';', ',')
    """
    for name, mark in (("sep", sep), ("decimal", decimal)):
        if mark is not None and (not isinstance(mark, str) or not mark):
            raise InputError(f"{name} is {short(mark)}; give a character, such as ';'")
    if decimal is not None and decimal not in {".", ","}:
        raise InputError(f"decimal is {short(decimal)}; give '.' or ','")
    sep = {"\\t": "\t", "tab": "\t", "space": _WHITESPACE, " ": _WHITESPACE}.get(sep or "", sep)
    if sep is not None and len(sep) > 1 and sep != _WHITESPACE:
        raise InputError(f"sep is {short(sep)}; give one character, 'tab' or 'space'")
    # Split at line ends only, not at the rarer characters of str.splitlines.
    numbered = list(enumerate(re.split(r"\r\n|\n|\r", text), start=1))
    if '"' in text:
        numbered = _with_whole_cells(numbered)
    kept = [(n, line) for n, line in numbered if line.strip(" \t") and line[0] != "#"]
    if not kept:
        raise InputError("not a table with a header: the file is empty")
    notes: list[str] = []
    lines = [line for _, line in kept]
    chosen = sep or _separator(lines[:_LOOKED_AT], _SEPARATORS[suffix])
    if sep is None and chosen != _SEPARATORS[suffix][0] and len(split_line(lines[0], chosen)) > 1:
        notes.append(f"cells are separated by {_WORDS[chosen]}")
    names: list[str] = []
    if header:
        commented = [line for n, line in numbered if n < kept[0][0] and line.startswith("#")]
        names, from_comment = _names(lines, commented, chosen)
        kept = kept if from_comment else kept[1:]
    kept = [(n, _MINUS.sub("-", line)) for n, line in kept]
    rows = [split_line(line, chosen) for _, line in kept[:_LOOKED_AT]]
    mark, thousands = _marks([cell for row in rows for cell in row], chosen, decimal)
    if decimal is None and mark == ",":
        notes.append("numbers are written with decimal commas")
    if thousands is not None:
        notes.append(f"thousands are separated by {thousands!r}")
    body = "\n".join(line for _, line in kept)
    width = max(map(len, [names, *rows]))
    return Delimited(names, width, body, [n for n, _ in kept], chosen, mark, thousands, notes)


def _with_whole_cells(lines: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Lines joined so that none ends within quotes: a cell may span several lines."""
    whole: list[tuple[int, str]] = []
    at = 0
    while at < len(lines):
        number, line = lines[at]
        end = at + 1
        while line.count('"') % 2 and end < min(at + _LONGEST_CELL, len(lines)):
            line = f"{line} {lines[end][1]}"
            end += 1
        if line.count('"') % 2:
            # A quotation mark without a partner is ordinary text, as in 5".
            line, end = lines[at][1], at + 1
        whole.append((number, line))
        at = end
    return whole


def split_line(line: str, sep: str) -> list[str]:
    """The cells of one line; separators within quotes do not count."""
    if sep == _WHITESPACE:
        line, sep = " ".join(line.split()), " "
    return [cell.strip() for cell in next(csv.reader([line], delimiter=sep), [])]


def _separator(lines: list[str], candidates: tuple[str, ...]) -> str:
    """The separator that splits most lines into the same, largest number of cells."""

    def merit(sep: str) -> tuple[int, int]:
        counts = [len(split_line(line, sep)) for line in lines]
        usual, times = Counter(counts[1:] or counts).most_common(1)[0]
        # R writes no header above row names.
        fits = counts[0] in {usual, usual - 1} and times > len(counts[1:]) / 2
        return (counts[0] if fits and usual > 1 else 0), usual

    best = max(candidates, key=merit)
    return best if merit(best)[0] else candidates[0]


def _names(lines: list[str], commented: list[str], sep: str) -> tuple[list[str], bool]:
    """The names, and whether they are in a comment above the data, as numpy writes them."""
    first = split_line(lines[0], sep)
    if commented and all(number_of(cell) is not None for cell in first):
        names = split_line(commented[-1].lstrip("# "), sep)
        if len(names) == len(first) and all(number_of(name) is None for name in names):
            return names, True
    if len(lines) > 1 and len(split_line(lines[1], sep)) == len(first) + 1:
        # Row names without a header; whether they are names is checked later.
        return ["", *first], False
    return first, False


def _marks(cells: list[str], sep: str, decimal: str | None) -> tuple[str, str | None]:
    """The decimal mark and thousands separator with which the most cells are numbers."""
    candidates = [marks for marks in _MARKS if decimal in (None, marks[0])]
    if sep == ",":
        candidates.sort(key=_BESIDE_COMMAS.index)

    def n_numbers(marks: tuple[str, str | None]) -> int:
        point, thousands = marks
        grouped = rf"\d{{1,3}}(?:[{thousands}]\d{{3}})+|" if thousands else ""
        number = re.compile(rf"[+-]?(?:{grouped}\d*)(?:[{point}]\d+)?(?:[eE][+-]?\d+)?")
        return sum(number.fullmatch(cell) is not None for cell in cells)

    return max(candidates, key=n_numbers)
