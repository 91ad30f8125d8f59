"""Where the command line begins, as ``cyclearn`` and as ``python -m cyclearn``.

Nothing is loaded before Ctrl-C has an answer. While the program is loaded there is nothing to leave
in order, and what a signal raises in the middle of an import is not always what leaves it.
"""

import os
import signal
from types import FrameType


def main() -> None:
    """Run the command line and exit with its code."""
    # Where the parent ignores it, as in the background of a shell, it stays ignored.
    listens = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if listens:
        signal.signal(signal.SIGINT, _end)
    from cyclearn.cli import main as run
    from cyclearn.cli.endings import end_children

    if listens:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        run()
    except KeyboardInterrupt:
        # Everything was done except the last of the output, which is not read.
        end_children()
        _end()
    finally:
        if listens:
            # Python has only to clean up; an interruption would be a traceback.
            signal.signal(signal.SIGINT, signal.SIG_IGN)


def _end(number: int = signal.SIGINT, frame: FrameType | None = None) -> None:  # noqa: ARG001
    """End at once, as :mod:`cyclearn.cli.app` does when it is interrupted."""
    try:
        os.write(2, b"cyclearn: interrupted\n")
    finally:
        os._exit(128 + number)


if __name__ == "__main__":
    main()
