"""Ctrl-C while code is compiled or read from disk: never in the middle of LLVM.

LLVM calls back into Python there. What a signal raises in such a call is lost, or leaves machine
code half loaded. Signals that arrive at such a place are handled when the kernel is there.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from cyclearn._kernels.first_use import announce_held

_SIGNALS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]
_AT_MACHINE_CODE = ("llvmlite.", "numba.core.codegen", "numba.core.caching")


@contextmanager
def held() -> Iterator[None]:
    """Handle signals that meet machine code in the making at the end of this block."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread is sent signals
        return
    handlers: dict[int, Callable[[int, FrameType | None], object]] = {}
    for number in _SIGNALS:
        handler = signal.getsignal(number)
        if callable(handler):  # not the system's, and not one that a library set from C
            handlers[number] = handler
    waiting: list[int] = []

    def hold(number: int, frame: FrameType | None) -> None:
        if _is_at_machine_code(frame):
            waiting.append(number)
            if len(waiting) == 1 and not _is_read_from_disk(frame):
                announce_held()
        else:
            handlers[number](number, frame)

    for number in handlers:
        signal.signal(number, hold)
    try:
        yield
    finally:
        for number, handler in handlers.items():
            if signal.getsignal(number) is hold:  # a handler may have set another one
                signal.signal(number, handler)
        for number in waiting:
            signal.raise_signal(number)


def _is_at_machine_code(frame: FrameType | None) -> bool:
    return any(
        str(caller.f_globals.get("__name__")).startswith(_AT_MACHINE_CODE)
        for caller in _with_callers(frame)
    )


def _is_read_from_disk(frame: FrameType | None) -> bool:
    """A moment, not the seconds that compiling takes."""
    return any(caller.f_code.co_name == "load_overload" for caller in _with_callers(frame))


def _with_callers(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back
