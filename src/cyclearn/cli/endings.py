"""Signals that end the program: Ctrl-C, SIGTERM, a closed terminal."""

from __future__ import annotations

import signal
from types import FrameType

from cyclearn.foundation.interruption import underlying

# Seconds until the signal is repeated if the program has not ended.
_AGAIN = 5.0


class Terminated(BaseException):
    """The process received a signal to end; like KeyboardInterrupt, this is not an Exception."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def end_on_signals() -> None:
    """Let signals unwind the program, so that files and child processes are closed properly."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        # A signal that the parent ignores, as by nohup, stays ignored.
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _raise)


def _raise(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - as signal calls it
    # Python ignores exceptions raised while an object is finalised, and some modules those raised
    # during import; the program would then continue. So the exception is raised again after a
    # while.
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, lambda _, frame: _raise(number, frame))
        signal.setitimer(signal.ITIMER_REAL, _AGAIN)
    raise Terminated(number)


def ending_signal(error: BaseException | None) -> tuple[int, str] | None:
    """The exit code of a program that a signal ended, as a shell reports it, and the message.

    Other errors may hide it.
    """
    error = underlying(error)
    if isinstance(error, KeyboardInterrupt):
        return 130, "interrupted"
    if isinstance(error, Terminated):
        closed = error.number != signal.SIGTERM
        return 128 + error.number, "the terminal was closed" if closed else "terminated"
    return None


def end_children() -> None:
    """End the worker processes, which would otherwise continue."""
    import multiprocessing

    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            # Ignore repeated signals.
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    children = multiprocessing.active_children()
    for child in children:
        child.kill()
    for child in children:
        child.join(timeout=5)
