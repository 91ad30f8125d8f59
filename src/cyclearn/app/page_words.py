"""Warnings of the library in the words of the page, for people who write no program."""

from __future__ import annotations

import re
from typing import Any

from cyclearn.data import DataWarning

# Arguments of functions, and where they are on the page.
_WORDS = (
    (
        r"say so: missing_codes in read_table, or --missing-codes (\S+)\.",
        r"write \1 under Missing values, and read again.",
    ),
    (r"use n_effective='auto', which", "choose a time series for the rows (3 Learn), which"),
    (r"give lags=1 for", "say how many earlier rows act on a row (3 Learn), for"),
    (r"Use margins='rank' \(normal scores of ranks\)", "Choose ranks for the columns (3 Learn)"),
    (r"[Uu]se missing='rows'", "use complete rows only"),
    (r"Use missing='em', whose", "Use all rows (maximum likelihood), whose"),
    (r"missing='em' uses all rows, and", "Maximum likelihood uses all rows, and"),
    (r"; the others are in model\.alternatives", ""),
)


def warning_in_words(warning: DataWarning) -> dict[str, Any]:
    """A warning as plain values, with remedies that are on the page."""
    remedy = warning.remedy
    for words, instead in _WORDS:
        remedy = re.sub(words, instead, remedy)
    return {
        "kind": warning.kind,
        "message": warning.message,
        "remedy": remedy,
        "columns": list(warning.columns),
    }
