"""Output of commands: text for people, JSON with a schema version for programs.

Names may come from untrusted files, so escape sequences in them do not reach the terminal.
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

# Control characters other than tab and newline, bidirectional marks, lone surrogates, and
# separators that some terminals treat as newlines.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def terminal_text(text: str) -> str:
    r"""Text that a terminal only displays.

    Examples
    --------
    >>> print(terminal_text("price\x1b[2J"))
    price\x1b[2J
    """
    return _UNSAFE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def say(text: str, *, nl: bool = True) -> None:
    """Print to standard output, with escapes for characters that the terminal cannot show."""
    sys.stdout.write(_showable(terminal_text(text), sys.stdout) + "\n" * nl)
    # Flush now, so that a full disk can be reported.
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
    """Print the result of a command as JSON or as text."""
    if as_json:
        print_json(command, answer.to_dict())
    else:
        say(str(answer))


def print_json(command: str, result: dict[str, Any]) -> None:
    """Print the result of a command as one JSON object; non-finite numbers become null."""
    record = {"schema_version": SCHEMA_VERSION, "command": command, **finite(result)}
    text = json.dumps(record, ensure_ascii=False, indent=2, allow_nan=False)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        # JSON escapes can be read back; terminal escapes could not.
        text = json.dumps(record, indent=2, allow_nan=False)
    sys.stdout.write(_UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n")
    sys.stdout.flush()
