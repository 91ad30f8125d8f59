"""Ctrl-C while kernels run: a KeyboardInterrupt as everywhere, or the best answer so far.

Compiled code cannot be interrupted. A signal that arrives meanwhile is handled when the kernel
hands over its results, and Python then sees a result together with an exception, which it calls a
``SystemError``. Functions that run kernels are :func:`interruptible`: what leaves them is what the
signal raised.

Inside :func:`asks_once` the first Ctrl-C raises nothing; it is noted, and loops that ask
:func:`is_asked_to_stop` end with what they have. The second one raises as usual.
"""

from __future__ import annotations

import functools
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Literal, ParamSpec, TypeVar, get_args

from cyclearn.errors import InputError
from cyclearn.json_input import short

P = ParamSpec("P")
R = TypeVar("R")

OnInterrupt = Literal["raise", "best"]

_is_asked = _is_waiting = False
_listeners: list[Callable[[], None]] = []


def interruptible(function: Callable[P, R]) -> Callable[P, R]:
    """A function that ends with KeyboardInterrupt wherever Ctrl-C met it, compiled code included.

    Examples
    --------
    >>> @interruptible
    ... def calculate():
    ...     try:
    ...         raise KeyboardInterrupt
    ...     except KeyboardInterrupt as interrupt:
    ...         raise SystemError("returned a result with an exception set") from interrupt
    >>> try:
    ...     calculate()
    ... except KeyboardInterrupt:
    ...     print("interrupted")
    interrupted
    """

    @functools.wraps(function)
    def ending_cleanly(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except SystemError as error:
            interrupt = underlying(error)
            if interrupt is None:
                raise
        raise interrupt.with_traceback(None) from None

    return ending_cleanly


def underlying(error: BaseException | None) -> BaseException | None:
    """What a signal raised, if that is behind an error: no error itself, but an end."""
    while error is not None and isinstance(error, Exception):
        error = error.__cause__ or (error.__context__ if isinstance(error, SystemError) else None)
    return error


@contextmanager
def asks_once(on_interrupt: OnInterrupt) -> Iterator[None]:
    """With ``"best"``, the first Ctrl-C in this block asks for an early end instead of raising.

    Only the main thread is sent signals, and a handler that a program has set for itself stays.
    """
    global _is_asked
    if not isinstance(on_interrupt, str) or on_interrupt not in get_args(OnInterrupt):
        raise InputError(f"on_interrupt is {short(on_interrupt)}; give 'raise' or 'best'")
    is_ours = threading.current_thread() is threading.main_thread() and (
        signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )
    if on_interrupt == "raise" or not is_ours:
        yield
        return
    _is_asked = False
    signal.signal(signal.SIGINT, _ask)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        _is_asked = False


def _ask(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - as signal calls it
    global _is_asked
    _is_asked = True
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for tell in _listeners:
        tell()
    if _is_waiting:
        raise KeyboardInterrupt


@contextmanager
def waiting() -> Iterator[None]:
    """A block that waits for others and would not ask: there Ctrl-C ends the wait at once.

    With ``"best"`` the block is left as if the wait were over; otherwise KeyboardInterrupt leaves.
    """
    global _is_waiting
    _is_waiting = True
    try:
        yield
    except KeyboardInterrupt:
        if not _is_asked:
            raise
    finally:
        _is_waiting = False


def is_asked_to_stop() -> bool:
    """Whether Ctrl-C has asked for an early end."""
    return _is_asked


def when_asked(tell: Callable[[], None] | None) -> None:
    """Call ``tell`` when Ctrl-C asks for an early end; None takes it back."""
    _listeners[:] = [] if tell is None else [tell]
