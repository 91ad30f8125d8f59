"""The progress of long work: a changing line on a terminal, a new line now and then in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

from cyclearn.search.progress import OnProgress, Progress

# Seconds between two lines in a pipe.
_PAUSE = 10.0


@contextmanager
def followed() -> Iterator[OnProgress]:
    """A function that shows progress on the standard error stream."""
    if sys.stderr.isatty():
        from rich.console import Console

        with Console(stderr=True).status("reading the data") as status:
            yield lambda progress: status.update(str(progress))
        return
    said = monotonic()

    def say(progress: Progress) -> None:
        nonlocal said
        if monotonic() >= said + _PAUSE:
            said = monotonic()
            sys.stderr.write(f"{progress}\n")
            sys.stderr.flush()

    yield say
