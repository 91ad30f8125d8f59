"""The command line in the process of the test: what it prints, and the code that it ends with."""

import os
import sys
from dataclasses import dataclass
from unittest import mock

from cyclearn.cli import main, progress


@dataclass(frozen=True)
class Ended:
    """As :class:`subprocess.CompletedProcess` says it."""

    returncode: int
    stdout: str
    stderr: str


def run_cyclearn(arguments, capsys):
    """Run ``cyclearn`` with these arguments in the current folder.

    Without lines of progress, which come after ten seconds, on a busy machine at any place.
    """
    capsys.readouterr()
    code = 0
    limit = sys.get_int_max_str_digits()
    try:
        with (
            mock.patch.object(sys, "argv", ["cyclearn", *map(str, arguments)]),
            mock.patch.dict(os.environ),
            mock.patch.object(progress, "_PAUSE", float("inf")),
        ):
            main()
    except SystemExit as ended:
        code = ended.code or 0
    finally:
        sys.set_int_max_str_digits(limit)
    captured = capsys.readouterr()
    return Ended(code, captured.out, captured.err)
