"""Benchmarks that write a line for each case, can be resumed, and print a table."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
from environment import describe_run

Row = dict[str, Any]
# Yields the rows whose keys, a list under "key", are not among those that are done.
Measure = Callable[[argparse.Namespace, set[Any]], Iterator[Row]]


class Benchmark:
    """Commands that append rows to ``--out FILE``, and others that read them, ``table`` first."""

    def __init__(self, script: str, title: str, print_rows: Callable[[pd.DataFrame], None]):
        self._script, self._title, self._print_rows = script, title, print_rows
        self._parser = argparse.ArgumentParser()
        self._commands = self._parser.add_subparsers(required=True)
        self.reading("table", lambda rows, _: self._table(rows))

    def command(self, name: str, measure: Measure) -> argparse.ArgumentParser:
        """A command that measures; its other options are for the caller to add."""
        parser = self._commands.add_parser(name)
        parser.add_argument("--out", required=True)
        parser.set_defaults(call=lambda arguments: _append(arguments, measure))
        return parser

    def reading(
        self, name: str, read: Callable[[pd.DataFrame, argparse.Namespace], None]
    ) -> argparse.ArgumentParser:
        """A command on what was measured."""
        parser = self._commands.add_parser(name)
        parser.add_argument("files", nargs="+")
        parser.set_defaults(call=lambda arguments: read(_rows(arguments.files), arguments))
        return parser

    def main(self) -> None:
        """Do what the command line asks for."""
        arguments = self._parser.parse_args()
        arguments.call(arguments)

    def _table(self, rows: pd.DataFrame) -> None:
        print(f"# {self._title}\n")
        print(describe_run(" ".join([f"benchmarks/{self._script}", *sys.argv[1:]])))
        self._print_rows(rows)


def _rows(files: list[str]) -> pd.DataFrame:
    return pd.concat([pd.read_json(path, lines=True) for path in files], ignore_index=True)


def _append(arguments: argparse.Namespace, measure: Measure) -> None:
    path = Path(arguments.out)
    lines = path.read_text().splitlines() if path.exists() else []
    done = {tuple(json.loads(line)["key"]) for line in lines}
    with path.open("a") as file:
        for row in measure(arguments, done):
            file.write(json.dumps(row) + "\n")
            file.flush()
