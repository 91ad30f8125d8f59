"""Deadlines, by a clock that does not count compiling and loading kernels.

How much a search does within its limit does not depend on whether it is the first on a machine.
Limits in seconds are converted to a :data:`Deadline` at once and passed on; long loops call
:func:`has_passed` or :func:`check_deadline`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from time import monotonic, time

from cyclearn.foundation.errors import LimitError

# A time by now(); None means no limit.
Deadline = float | None

# Seconds that were not counted.
_uncounted = 0.0


def now() -> float:
    """Seconds by the clock, minus the time of finished :func:`uncounted` blocks."""
    return monotonic() - _uncounted


@contextmanager
def uncounted() -> Iterator[None]:
    """Run a block whose time does not count; such blocks may be nested.

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
        # The time of the whole block, including inner ones.
        _uncounted = before + monotonic() - begun


def deadline_after(seconds: float | None) -> Deadline:
    """The deadline this many seconds from now."""
    return None if seconds is None else now() + seconds


def deadline_since(begun: float, seconds: float | None, set_aside: float = 0.0) -> Deadline:
    """The deadline this many seconds after work began, minus the time reserved for its end.

    At least half of the limit is left from now on, so that reading a large table does not use up
    the time for the search.
    """
    if seconds is None:
        return None
    return max(begun + seconds - set_aside, now() + seconds / 2)


def seconds_left(deadline: Deadline) -> float:
    """Seconds until the deadline, at least zero; infinity without a limit."""
    return inf if deadline is None else max(deadline - now(), 0.0)


def has_passed(deadline: Deadline) -> bool:
    """Whether the deadline has passed."""
    return deadline is not None and now() >= deadline


def check_deadline(deadline: Deadline) -> None:
    """Raise LimitError if the deadline has passed.

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
    """A deadline in a form for other processes and machines.

    Their clocks differ in what is not counted; only the time of day is common to all.
    """
    return None if deadline is None else deadline - now() + time()


def from_other_processes(end: float | None) -> Deadline:
    """Convert a deadline from :func:`for_other_processes` to the clock of this process."""
    return None if end is None else end - time() + now()
