"""A time by which work has to end, kept by whatever runs inside it.

The loops that can run long ask :func:`check_deadline`; functions between them and the one that set
the limit need not know of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf
from time import monotonic

from cyclearn.errors import LimitError

_DEADLINE: ContextVar[float] = ContextVar("deadline", default=inf)


@contextmanager
def deadline(seconds: float | None) -> Iterator[None]:
    """Run a block that has to end after so many seconds, or when one around it has to.

    Examples
    --------
    >>> with deadline(0):
    ...     check_deadline()
    Traceback (most recent call last):
    ...
    cyclearn.errors.LimitError: the time limit has passed; allow more seconds
    """
    end = inf if seconds is None else monotonic() + seconds
    token = _DEADLINE.set(min(end, _DEADLINE.get()))
    try:
        yield
    finally:
        _DEADLINE.reset(token)


def seconds_left() -> float | None:
    """Seconds until the deadline, not below zero; None without one."""
    end = _DEADLINE.get()
    return None if end == inf else max(end - monotonic(), 0.0)


def check_deadline() -> None:
    """Raise LimitError where the deadline has passed."""
    if monotonic() >= _DEADLINE.get():
        raise LimitError("the time limit has passed; allow more seconds")
