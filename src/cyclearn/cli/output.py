"""What commands print: text for people, JSON with a schema version for programs."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

SCHEMA_VERSION = 1

Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


def print_json(command: str, result: dict[str, Any]) -> None:
    """Print the result of a command as one JSON object."""
    record = {"schema_version": SCHEMA_VERSION, "command": command, **result}
    typer.echo(json.dumps(record, ensure_ascii=False, indent=2))
