"""The ``cyclearn`` command: its subcommands, and exit codes that scripts can rely on.

0 done, 1 a negative answer (such as not equivalent), 2 bad input or an output that cannot be
written, 70 a defect of cyclearn, 130 interrupted (129 and 143 where the terminal was closed or the
process was terminated), 141 the reader of the output closed the pipe.
"""

from __future__ import annotations

import logging
import os
import sys
import traceback
from typing import Annotated, TextIO

import typer

from cyclearn import __version__
from cyclearn.cli.commands import Commands, command_group
from cyclearn.cli.endings import end_children, end_on_signals, ending_signal
from cyclearn.cli.output import complain, say
from cyclearn.foundation import InputError, LimitError, shown, why

_NO, _BAD_INPUT, _INTERRUPTED = 1, 2, 130
# As in sysexits.h; 1 would be an answer.
_DEFECT = 70
# As a shell reports a program that SIGPIPE ended.
_CLOSED_PIPE = 141

app = command_group(
    name="cyclearn", cls=Commands, no_args_is_help=True, invoke_without_command=True
)


@app.callback()
def options(
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    """Learn causal graphs with feedback loops."""
    if version:
        say(f"cyclearn {__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command line and exit with its code."""
    if sys.stdout is None:
        # Output would be lost silently, and the next opened file would replace the stream.
        complain("cyclearn: the standard output is closed; send it to a file or a terminal")
        sys.exit(_BAD_INPUT)
    if hasattr(sys, "set_int_max_str_digits"):
        # Sizes of classes may have more digits than Python writes out by default.
        sys.set_int_max_str_digits(0)
    # Otherwise workers import modules from the current folder, and files near the data must not be
    # executed; Python 3.10 does not have this option.
    os.environ.setdefault("PYTHONSAFEPATH", "1")
    end_on_signals()
    output = sys.stdout
    log = logging.getLogger("cyclearn")
    log.addHandler(_COMPLAINTS)
    if sys.stderr is not None and sys.stderr.isatty():
        # Show the reason to the waiting user.
        log.setLevel(logging.INFO)
    code = _run()
    if sys.stdout is not output:
        # Typer's exit code for a closed pipe.
        code = _CLOSED_PIPE
    sys.exit(_flushed(output, code))


class _Complaints(logging.Handler):
    """Messages of the library while it works."""

    def emit(self, record: logging.LogRecord) -> None:
        complain(f"cyclearn: {record.getMessage()}")


_COMPLAINTS = _Complaints()


def _run() -> int:
    """Run the command, and convert every ending to an exit code and a line."""
    try:
        code = app(standalone_mode=False)
        if code == _INTERRUPTED:
            raise KeyboardInterrupt
        return code if isinstance(code, int) else 0
    except BaseException as error:
        signal = ending_signal(error)
        if signal is not None:
            end_children()
            code, words = signal
            complain(f"cyclearn: {words}")
            return code
        if isinstance(error, SystemExit):
            return error.code if isinstance(error.code, int) else _BAD_INPUT
        if isinstance(error, (InputError, LimitError)):
            complain(f"cyclearn: {error}")
            return _BAD_INPUT
        if isinstance(error, BrokenPipeError):
            return _CLOSED_PIPE
        if isinstance(error, OSError):
            place = f"write {shown(error.filename)}" if error.filename else "write the output"
            complain(f"cyclearn: cannot {place}: {why(error)}")
            return _BAD_INPUT
        if isinstance(error, MemoryError):
            complain("cyclearn: memory ran out; use fewer variables, rows or processes")
            return _BAD_INPUT
        from concurrent.futures import BrokenExecutor

        if isinstance(error, BrokenExecutor):
            complain(
                "cyclearn: a process of --jobs was killed, perhaps because memory ran out; use "
                "fewer jobs"
            )
            return _BAD_INPUT
        if isinstance(error, typer.Abort):
            complain("cyclearn: interrupted")
            return _INTERRUPTED
        if hasattr(error, "show") and hasattr(error, "exit_code"):
            # Wrong options; typer has printed the message.
            error.show()
            return int(error.exit_code)
        traceback.print_exc()
        complain(f"cyclearn: this is a bug in cyclearn {__version__}; please report it")
        return _DEFECT


def _flushed(output: TextIO, code: int) -> int:
    """Flush the output and return the exit code; a closed pipe has its own code."""
    try:
        output.flush()
    except BrokenPipeError:
        code = _CLOSED_PIPE
    except OSError as error:
        if code in (0, _NO):
            complain(f"cyclearn: cannot write the output: {why(error)}")
        code = _BAD_INPUT
    else:
        if code != _CLOSED_PIPE:
            return code
    # Otherwise Python reports the error again when it closes the stream at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), output.fileno())
    return code
