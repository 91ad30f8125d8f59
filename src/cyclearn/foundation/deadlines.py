"""A time by which work has to end, kept by whatever runs inside it.

The loops that can run long ask :func:`check_deadline`; functions between them and the one that set
the limit need not know of it. Limits are counted by a clock (:func:`now`) that leaves out what
kernels take to be compiled or loaded: how much a search does within its limit does not depend on
whether it is the first one on a machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf
from time import monotonic, time

from cyclearn.foundation.errors import LimitError

_DEADLINE: ContextVar[float] = ContextVar("deadline", default=inf)

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


def for_other_processes(end: float) -> float:
    """A time by :func:`now` as other processes understand it, on other machines too.

    Each has left out something else, and only the time of day is the same on all machines.
    """
    return end - now() + time()


def from_other_processes(end: float) -> float:
    """A time that :func:`for_other_processes` gave, by the clock of this process."""
    return end - time() + now()


@contextmanager
def deadline(seconds: float | None) -> Iterator[None]:
    """Run a block that has to end after so many seconds, or when one around it has to.

    Examples
    --------
    >>> with deadline(0):
    ...     check_deadline()
    Traceback (most recent call last):
    ...
    cyclearn.foundation.errors.LimitError: the time limit has passed; allow more seconds
    """
    end = inf if seconds is None else now() + seconds
    token = _DEADLINE.set(min(end, _DEADLINE.get()))
    try:
        yield
    finally:
        _DEADLINE.reset(token)


def seconds_left() -> float | None:
    """Seconds until the deadline, not below zero; None without one."""
    end = _DEADLINE.get()
    return None if end == inf else max(end - now(), 0.0)


def check_deadline() -> None:
    """Raise LimitError where the deadline has passed."""
    if now() >= _DEADLINE.get():
        raise LimitError("the time limit has passed; allow more seconds")
