"""When work has to end: a time on a clock that compiling and loading kernels does not move.

How much a search does within its limit does not depend on whether it is the first one on a machine.
What a caller gives in seconds becomes a :data:`Deadline` at once and is handed on as that; loops
that may run long ask :func:`has_passed` or :func:`check_deadline`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from time import monotonic, time

from cyclearn.foundation.errors import LimitError

# A time by now(); None means no limit.
Deadline = float | None

# Seconds that did not count.
_uncounted = 0.0


def now() -> float:
    """Seconds by a clock that blocks of :func:`uncounted` are taken from when they end."""
    return monotonic() - _uncounted


@contextmanager
def uncounted() -> Iterator[None]:
    """Run a block whose time does not count; such blocks may lie inside each other.

    Examples
    --------
    >>> from time import sleep
    >>> before = now()
    >>> with uncounted():
    ...     sleep(0.1)
    >>> now() < before + 0.1
    True
    """
    global _uncounted
    before, begun = _uncounted, monotonic()
    try:
        yield
    finally:
        # Of the whole block, with those inside.
        _uncounted = before + monotonic() - begun


def deadline_after(seconds: float | None) -> Deadline:
    """So many seconds from now."""
    return None if seconds is None else now() + seconds


def deadline_since(begun: float, seconds: float | None, set_aside: float = 0.0) -> Deadline:
    """So many seconds after work has begun, less what is set aside for its end.

    At least half of the time is left from now on: what reading a large table took is not at the
    cost of all searching.
    """
    if seconds is None:
        return None
    return max(begun + seconds - set_aside, now() + seconds / 2)


def seconds_left(deadline: Deadline) -> float:
    """Seconds until then, not below zero; infinity without a limit."""
    return inf if deadline is None else max(deadline - now(), 0.0)


def has_passed(deadline: Deadline) -> bool:
    """Whether that time has come."""
    return deadline is not None and now() >= deadline


def check_deadline(deadline: Deadline) -> None:
    """Raise LimitError where the deadline has passed.

    Examples
    --------
    >>> check_deadline(deadline_after(0.0))
    Traceback (most recent call last):
    ...
    cyclearn.foundation.errors.LimitError: the time limit has passed; allow more seconds
    """
    if has_passed(deadline):
        raise LimitError("the time limit has passed; allow more seconds")


def for_other_processes(deadline: Deadline) -> float | None:
    """A deadline as other processes understand it, on other machines too.

    Each has left out something else, and only the time of day is the same on all machines.
    """
    return None if deadline is None else deadline - now() + time()


def from_other_processes(end: float | None) -> Deadline:
    """What :func:`for_other_processes` gave, by the clock of this process."""
    return None if end is None else end - time() + now()
