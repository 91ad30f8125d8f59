"""The progress of a job, in a file that the server reads."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

from cyclearn.app.workspace import write_json
from cyclearn.graphs import DirectedGraph
from cyclearn.search.progress import Progress

# Maximum number of scores that the page draws; longer series are thinned.
_MAX_SCORES = 240
# Number of graphs to keep in case of a stop: the best one and the previous ones.
_N_KEPT = 5
# Seconds between two reports of progress; some searches make thousands of moves meanwhile.
_PAUSE = 0.2


class ProgressFile:
    """The stage and numbers of a job, written whenever they change."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "progress.json"

    def say(self, phase: str, words: str = "", **numbers: Any) -> None:
        """Report the current stage and its progress."""
        write_json(self._path, {"phase": phase, "words": words, **numbers})

    @contextmanager
    def through_compilation(self) -> Iterator[None]:
        """Report that code is being compiled on first use."""
        log, listener = logging.getLogger("cyclearn"), _Listener(self)
        log.setLevel(logging.DEBUG)
        log.addHandler(listener)
        try:
            yield
        finally:
            log.removeHandler(listener)


class _Listener(logging.Handler):
    """Passes on messages of the library while it works."""

    def __init__(self, file: ProgressFile) -> None:
        super().__init__()
        self._file = file

    def emit(self, record: logging.LogRecord) -> None:
        self._file.say(record.getMessage().capitalize())


class SearchWatch:
    """Records the score of a search, and its best graphs in case it is stopped."""

    def __init__(self, folder: Path) -> None:
        self._file = ProgressFile(folder)
        self._path = folder / "kept.json"
        self._scores: list[float] = []
        self._every = 1
        self._n_steps = 0
        self._best: list[tuple[float, DirectedGraph]] = []
        self._next = 0.0

    def __call__(self, progress: Progress) -> None:
        """Record one step."""
        score, graph = progress.score, progress.graph
        if score is None or graph is None:
            return
        self._n_steps += 1
        if self._n_steps % self._every == 0:
            self._scores.append(score)
        if len(self._scores) > _MAX_SCORES:
            self._scores, self._every = self._scores[::2], 2 * self._every
        if not self._best or score < self._best[-1][0]:
            self._best = [*self._best, (score, graph)][-_N_KEPT:]
            write_json(self._path, [each.to_dict() for _, each in reversed(self._best)])
        if monotonic() < self._next:
            return
        self._next = monotonic() + _PAUSE
        words = f"best score {score:,.2f} with {graph.n_edges} edges"
        words += f", start {progress.start}" if progress.start > 1 else ""
        self._file.say("Searching", words, scores=self._scores, best=score)
