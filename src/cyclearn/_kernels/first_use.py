"""Who is told that kernels are being compiled, which takes a while once on every machine.

The library does not print. The command line, or an application, says what it wants to say.
"""

from __future__ import annotations

from collections.abc import Callable

_listeners: list[Callable[[], None]] = []
_impatient: list[Callable[[], None]] = []


def when_compiling(tell: Callable[[], None] | None) -> None:
    """Call ``tell`` once, before the next kernel is compiled; None takes it back."""
    _listeners[:] = [] if tell is None else [tell]


def when_held(tell: Callable[[], None] | None) -> None:
    """Call ``tell`` where Ctrl-C has to wait until a kernel is compiled; None takes it back."""
    _impatient[:] = [] if tell is None else [tell]


def announce_held() -> None:
    """A signal has to wait."""
    for tell in _impatient:
        tell()


def announce() -> None:
    """A kernel is about to be compiled."""
    while _listeners:
        _listeners.pop()()
