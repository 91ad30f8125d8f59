"""HTML and SVG with automatic escaping of everything that is not markup."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from html import escape
from itertools import count, repeat
from string import Template
from typing import Any

from cyclearn.foundation.readable import significant

# Elements without content, which have no end tag.
_VOID = {"input", "meta"}
# A number, an interval, a share, or the dash in place of one.
_NUMBER = re.compile(r"[<−]? ?[\d.,]+(e[+−]\d+)?%?( to −?[\d.,]+(e[+−]\d+)?)?|–")


class Markup(str):
    """A string that already is HTML or SVG."""

    __slots__ = ()


def text(value: object) -> Markup:
    """The escaped value, or the markup itself.

    Examples
    --------
    >>> text("a < b"), text(Markup("<hr>"))
    ('a &lt; b', '<hr>')
    """
    return value if isinstance(value, Markup) else Markup(escape(str(value)))


def tag(name: str, *content: object, **attributes: object) -> Markup:
    """An element; an underscore at the end of an attribute is dropped, others become hyphens.

    An attribute that is True has no value; attributes that are None or False are omitted.

    Examples
    --------
    >>> tag("p", "1 < 2", class_="note", hidden=True)
    '<p class="note" hidden>1 &lt; 2</p>'
    >>> tag("path", d="M 0 0", aria_hidden="true")
    '<path d="M 0 0" aria-hidden="true"></path>'
    """
    shown = "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{text(value)}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in _VOID:
        return Markup(f"<{name}{shown}>")
    return Markup(f"<{name}{shown}>{join(content)}</{name}>")


def join(parts: Iterable[object], separator: str = "") -> Markup:
    """Concatenate markup and text."""
    return Markup(separator.join(map(text, parts)))


def fill(template: str, **values: object) -> Markup:
    """HTML with values for ``$name``; everything but markup is escaped.

    Examples
    --------
    >>> fill("<p>$a &rarr; <b>$b</b></p>", a="x < y", b=Markup("<i>z</i>"))
    '<p>x &lt; y &rarr; <b><i>z</i></b></p>'
    """
    return Markup(
        Template(template).substitute({key: text(value) for key, value in values.items()})
    )


def folded(summary: str, *content: object) -> Markup:
    """Content that is hidden until its summary is opened."""
    return tag("details", tag("summary", summary), *content)


def script_data(identifier: str, value: Any) -> Markup:
    r"""A value as JSON for a script of the page; text in it cannot close the element.

    Examples
    --------
    >>> script_data("d", ["</script>"])
    '<script type="application/json" id="d">["\\u003c/script\\u003e"]</script>'
    """
    written = json.dumps(value, ensure_ascii=True, separators=(",", ":"), sort_keys=True)
    for character in "<>&":
        written = written.replace(character, f"\\u{ord(character):04x}")
    return Markup(f'<script type="application/json" id="{identifier}">{written}</script>')


def table(
    caption: str,
    columns: Iterable[object],
    rows: Iterable[Iterable[object]],
    class_: str | None = None,
) -> Markup:
    """A table whose first column names its rows; further columns of numbers are aligned as such."""
    cells = [list(row) for row in rows]
    by_column = zip(*cells, strict=False)
    aligned = [all(_NUMBER.fullmatch(str(each)) for each in column) for column in by_column]

    def styled(element: str, n: int, value: object, **attributes: object) -> Markup:
        is_number = 0 < n < len(aligned) and aligned[n]
        return tag(element, value, **attributes, class_="number" if is_number else None)

    head = (styled("th", n, name, scope="col") for n, name in enumerate(columns))
    body = "".join(
        tag("tr", tag("th", first, scope="row"), *map(styled, repeat("td"), count(1), others))
        + "\n"
        for first, *others in cells
    )
    grid = tag(
        "table",
        tag("caption", caption),
        tag("thead", tag("tr", *head)),
        tag("tbody", Markup(body)),
        class_=class_,
    )
    # Wide tables scroll separately, also with the keyboard.
    return tag("div", grid, class_="scroll", tabindex="0", role="region", aria_label=caption)


def number(value: float, digits: int = 3) -> str:
    """A number with a given number of significant digits and a true minus sign; a dash for NaN.

    Examples
    --------
    >>> number(-0.12345), number(float("nan")), number(-0.00012), number(12345.6), number(0)
    ('−0.123', '–', '−1.20e−04', '12346', '0')
    """
    return "–" if value != value else significant(value, digits).replace("-", "−")


def fixed(value: float, digits: int = 3) -> str:
    """A number with a given number of decimals, for indices and shares.

    Examples
    --------
    >>> fixed(0.05), fixed(-1.23456, 2), fixed(float("nan"))
    ('0.050', '−1.23', '–')
    """
    return "–" if value != value else f"{value:,.{digits}f}".replace("-", "−")
