"""Ctrl-C at any moment: a KeyboardInterrupt as everywhere, or the best answer so far.

Inside :func:`asks_once` the first Ctrl-C does not raise; loops that check :func:`is_asked_to_stop`
end with their partial result. The second one raises as usual. In code that must not be interrupted,
signals are :func:`held`.
"""

from __future__ import annotations

import inspect
import logging
import signal
import threading
import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Literal, TypeVar

R = TypeVar("R")

OnInterrupt = Literal["raise", "best"]

_log = logging.getLogger("cyclearn")

_ENDS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]

_is_asked = _is_waiting = False
# The handlers of held signals, and the signals that arrived meanwhile.
_handlers: dict[int, Callable[[int, FrameType | None], object]] = {}
_arrived: list[int] = []


def underlying(error: BaseException | None) -> BaseException | None:
    """The exception raised by a signal, if that caused an error."""
    while error is not None and isinstance(error, Exception):
        error = error.__cause__ or (error.__context__ if isinstance(error, SystemError) else None)
    return error


def _is_main_thread() -> bool:
    """Only the main thread receives signals."""
    return threading.current_thread() is threading.main_thread()


@contextmanager
def held(tell: Callable[[], None]) -> Iterator[None]:
    """Handle signals that arrive in this block at its end, or at the end of the outermost block.

    ``tell`` is called when the first one arrives.
    """
    if not _is_main_thread():
        yield
        return

    def hold(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - as signal calls it
        _arrived.append(number)
        if len(_arrived) == 1:
            tell()

    is_outermost = not _handlers
    try:
        for number in _ENDS if is_outermost else ():
            handler = signal.getsignal(number)
            if callable(handler):  # neither the default nor one that a library set from C
                _handlers[number] = handler
                signal.signal(number, hold)
        yield
    finally:
        handlers = _handlers.copy()
        if is_outermost:
            _handlers.clear()
            for number, handler in handlers.items():
                signal.signal(number, handler)
        for number in [_arrived.pop(0) for _ in range(len(_arrived))]:
            handlers[number](number, inspect.currentframe())


@contextmanager
def asks_once(on_interrupt: OnInterrupt) -> Iterator[None]:
    """With ``"best"``, the first Ctrl-C in this block requests an early end instead of raising.

    A handler that the program has set itself is kept.
    """
    global _is_asked
    is_ours = _is_main_thread() and (signal.getsignal(signal.SIGINT) is signal.default_int_handler)
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
    if _is_asked:
        raise KeyboardInterrupt
    _is_asked = True
    _log.warning("stopping with the best graph so far; Ctrl-C again ends at once")
    if _is_waiting:
        raise KeyboardInterrupt


@contextmanager
def waiting() -> Iterator[None]:
    """A block that waits for other processes: there Ctrl-C ends the wait at once.

    With ``"best"`` the block ends normally; otherwise KeyboardInterrupt is raised.
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


@contextmanager
def ended_quietly(results: Generator[R, None, None]) -> Iterator[Generator[R, None, None]]:
    """Results of other processes; if iteration ends early, the rest is cancelled.

    Suppress joblib's warning, which does not help after Ctrl-C.
    """
    try:
        yield results
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            results.close()


def is_asked_to_stop() -> bool:
    """Whether Ctrl-C has requested an early end."""
    return _is_asked
