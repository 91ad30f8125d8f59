"""Formatting of numbers for people, with a meaningful number of digits."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import floor, isfinite, log10

_NUMBER = re.compile(r"-?[\d.]+(e[+-]\d+)?")


def significant(value: float, digits: int = 3, *, plus: bool = False) -> str:
    """A number with a given number of significant digits; in scientific notation if it is extreme.

    Examples
    --------
    >>> [significant(x) for x in (0.7119, -12.3456, 1234.5, 0.00012345, 275294189.7, 0.0)]
    ['0.712', '-12.3', '1234', '1.23e-04', '2.75e+08', '0']
    >>> significant(0.5, plus=True), significant(float("nan"))
    ('+0.500', 'nan')
    """
    if value == 0:
        return "0"
    sign = "+" if plus else ""
    if not isfinite(value):
        return f"{value:{sign}}"
    # Rounded first: 0.9996 has its first digit before the point.
    exponent = floor(log10(abs(float(f"{value:.{digits - 1}e}"))))
    if not -4 < exponent < max(6, digits):
        return f"{value:{sign}.{digits - 1}e}"
    return f"{value:{sign}.{max(digits - 1 - exponent, 0)}f}"


def count_of(number: int, noun: str) -> str:
    """A number with its noun, in the plural unless the number is one.

    Examples
    --------
    >>> count_of(1, "graph"), count_of(1200, "graph")
    ('1 graph', '1,200 graphs')
    """
    return f"{number:,} {noun}{'s' * (number != 1)}"


def edges_in_words(edges: Iterable[tuple[str, str]]) -> str:
    """Edges in one line.

    Examples
    --------
    >>> edges_in_words([("a", "b"), ("b", "c")])
    'a -> b, b -> c'
    """
    return ", ".join(f"{a} -> {b}" for a, b in edges)


def listed(names: Sequence[str], most: int = 10) -> str:
    """The first of some names, and the number of others.

    Examples
    --------
    >>> listed(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def given_in_words(
    exogenous: Sequence[str], ordered: Mapping[str, Collection[str]] | None = None
) -> list[str]:
    """Sentences on which variables are exogenous and which are ordinal, with their levels.

    Examples
    --------
    >>> print(*given_in_words([], {"age": ["1", "2"], "smokes": ["no", "yes"]}))
    Ordinal: age, smokes (no < yes); weights and effects refer to the underlying normal variables.
    """
    words = [f"Exogenous: {', '.join(exogenous)}."] if exogenous else []
    if ordered:
        # Numbers are in their own order.
        orders = {
            name: "" if all(map(_NUMBER.fullmatch, levels)) else f" ({' < '.join(levels)})"
            for name, levels in ordered.items()
        }
        words.append(
            f"Ordinal: {', '.join(name + order for name, order in orders.items())}; weights and "
            "effects refer to the underlying normal variables."
        )
    return words
