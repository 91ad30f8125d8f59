"""Ctrl-C while kernels run: a KeyboardInterrupt as everywhere, or the best answer so far.

Compiled code cannot be interrupted. A signal that arrives meanwhile is handled when the kernel
hands over its results, and Python then sees a result together with an exception, which it calls a
``SystemError``. Functions that run kernels are :func:`interruptible`: what leaves them is what the
signal raised.

Inside :func:`asks_once` the first Ctrl-C raises nothing; it is noted, and loops that ask
:func:`is_asked_to_stop` end with what they have. The second one raises as usual.
"""

from __future__ import annotations

import _thread
import functools
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Literal, ParamSpec, TypeVar, get_args

from cyclearn.foundation.errors import InputError
from cyclearn.foundation.json_input import short

P = ParamSpec("P")
R = TypeVar("R")

OnInterrupt = Literal["raise", "best"]

_SOON = 0.02  # seconds; a finaliser has ended by then, and nobody notices the wait

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
            with _sent_again_if_lost():
                return function(*args, **kwargs)
        except SystemError as error:
            interrupt = underlying(error)
            if interrupt is None:
                raise
        raise interrupt.with_traceback(None) from None

    return ending_cleanly


@contextmanager
def _sent_again_if_lost() -> Iterator[None]:
    """A Ctrl-C that meets a finaliser is sent once more: what is raised there, Python drops."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = sys.unraisablehook

    def send_again(dropped: sys.UnraisableHookArgs) -> None:
        if issubclass(dropped.exc_type, KeyboardInterrupt):
            # Later, and from another thread: what is raised in this hook is dropped as well.
            threading.Timer(_SOON, _interrupt_main_thread).start()
        else:
            before(dropped)

    sys.unraisablehook = send_again
    try:
        yield
    finally:
        sys.unraisablehook = before


def _interrupt_main_thread() -> None:
    main = threading.main_thread().ident
    if sys.platform == "win32" or main is None:
        _thread.interrupt_main()
    else:
        # A real signal, which ends a wait as well.
        signal.pthread_kill(main, signal.SIGINT)


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


@contextmanager
def ended_quietly(results: Generator[R, None, None]) -> Iterator[Generator[R, None, None]]:
    """Results of other processes; where they are left early, the rest is cancelled.

    Without the advice that joblib gives then: whoever pressed Ctrl-C did not ask for it.
    """
    try:
        yield results
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            results.close()


def is_asked_to_stop() -> bool:
    """Whether Ctrl-C has asked for an early end."""
    return _is_asked


def when_asked(tell: Callable[[], None] | None) -> None:
    """Call ``tell`` when Ctrl-C asks for an early end; None takes it back."""
    _listeners[:] = [] if tell is None else [tell]
