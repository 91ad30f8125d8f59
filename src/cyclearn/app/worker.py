"""The loop of a worker process: tasks from its standard input, one per line, until it closes.

Each task is loaded when it is requested: opening a table does not need the search.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import traceback
from collections.abc import Iterator
from importlib import import_module
from queue import SimpleQueue
from typing import Any, BinaryIO

# The module of this package that contains each task.
_PLACES = {
    "open_table": "opening",
    "learn": "learning_tasks",
    "keep_learn": "learning_tasks",
    "effects": "what_if_pages",
    "bootstrap": "sureness",
    "keep_bootstrap": "sureness",
    "posterior": "sureness",
    "experiment": "sureness",
    "compare": "own_graph",
    "members_page": "class_pages",
    "export": "downloads",
    "write_script": "downloads",
    "save_work": "work_file",
    "open_work": "work_file",
}


def main(niceness: int = 0) -> None:
    """Answer tasks one after the other; ``niceness`` sets the priority."""
    if niceness and hasattr(os, "nice"):
        os.nice(niceness)
    # Output printed by libraries must not mix with the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    lines: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_read, args=(sys.stdin.buffer, lines), daemon=True).start()
    # Needed by every task.
    import cyclearn.app.opening  # noqa: F401

    steps = _warm_up()
    while True:
        while lines.empty() and next(steps, "done") is None:
            pass
        answers.write(json.dumps(_answer(json.loads(lines.get()))).encode() + b"\n")
        answers.flush()


def _read(source: BinaryIO, lines: SimpleQueue[bytes]) -> None:
    for line in source:
        lines.put(line)
    # The server has ended, so no one waits for the result.
    os._exit(0)


def _warm_up() -> Iterator[None]:
    """Load what a search and its view need while nobody waits, in short steps."""
    import numpy as np

    yield
    from cyclearn.learning.run import learn_with

    yield
    from cyclearn.app.learning_tasks import search_options
    from cyclearn.app.views import result_view

    yield
    options = search_options({"options": {"method": "hill-climbing"}})
    tables = options.tables(np.sin(np.arange(60.0) ** 2).reshape(-1, 2))
    yield
    result = learn_with(options, tables)
    yield
    result_view(result, tables, 1)


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    from cyclearn.app.limits import words_of
    from cyclearn.foundation.errors import InputError, LimitError

    try:
        module = import_module(f"cyclearn.app.{_PLACES[request['task']]}")
        return getattr(module, request["task"])(**request["arguments"]) or {}
    except (InputError, LimitError) as error:
        return {"error": words_of(error), "is_defect": False}
    except MemoryError:
        words = "Memory ran out; select fewer columns."
        return {"error": words, "is_defect": False}
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{os.path.basename(where.filename)}, line {where.lineno}"
        words = f"This is a bug in cyclearn: {type(error).__name__}: {error} ({place})"
        return {"error": words, "is_defect": True}
