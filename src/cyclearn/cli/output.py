"""What commands print: text for people, JSON with a schema version for programs.

Names come from files of others: no escape sequence in them reaches the terminal.
"""

from __future__ import annotations

import json
import re
import sys
from typing import Annotated, Any

import typer

from cyclearn.foundation.json_input import finite

SCHEMA_VERSION = 2

Json = Annotated[bool, typer.Option("--json", help="Print machine-readable JSON.")]
Standardised = Annotated[bool, typer.Option("--standardised", help="Print standardised weights.")]

# Controls other than tab and newline, marks that turn the direction of writing, halves of
# characters, and separators that some terminals take for newlines.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def terminal_text(text: str) -> str:
    r"""Text that does to a terminal nothing but show itself.

    Examples
    --------
    >>> print(terminal_text("price\x1b[2J"))
    price\x1b[2J
    """
    return _UNSAFE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def say(text: str, *, nl: bool = True) -> None:
    """Print to standard output; what the terminal cannot show is printed by its number."""
    sys.stdout.write(_showable(terminal_text(text), sys.stdout) + "\n" * nl)
    # At once, so that a full disk is noticed while it can be reported.
    sys.stdout.flush()


def complain(text: str) -> None:
    """Print one line to standard error."""
    if sys.stderr is not None:
        line = terminal_text(text).replace("\n", "\\n")
        sys.stderr.write(_showable(line, sys.stderr) + "\n")
        sys.stderr.flush()


def _showable(text: str, stream: Any) -> str:
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def print_answer(command: str, answer: Any, *, as_json: bool) -> None:
    """Print what a command found: as JSON, or in words."""
    if as_json:
        print_json(command, answer.to_dict())
    else:
        say(str(answer))


def print_json(command: str, result: dict[str, Any]) -> None:
    """Print the result of a command as one JSON object; what is not finite is null."""
    record = {"schema_version": SCHEMA_VERSION, "command": command, **finite(result)}
    text = json.dumps(record, ensure_ascii=False, indent=2, allow_nan=False)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        # Escapes of JSON, which read back as they were; those of the terminal would not.
        text = json.dumps(record, indent=2, allow_nan=False)
    sys.stdout.write(_UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n")
    sys.stdout.flush()
