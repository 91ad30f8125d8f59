"""What workers can do, by name; arguments and answers are plain values.

Each task is loaded when it is asked for: a table that is opened at the start needs no search.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

# The module of this package in which each task is.
_PLACES = {
    "write_example": "opening",
    "open_table": "opening",
    "learn": "learning_tasks",
    "keep_learn": "learning_tasks",
    "effects": "what_if_pages",
    "bootstrap": "sureness",
    "keep_bootstrap": "sureness",
    "posterior": "sureness",
    "experiment": "settling",
    "compare": "own_graph",
    "members_page": "class_pages",
    "export": "downloads",
    "write_script": "downloads",
}


def task_named(name: str) -> Callable[..., dict[str, Any]]:
    """The function that does a task."""
    found: Callable[..., dict[str, Any]] = getattr(
        import_module(f"cyclearn.app.{_PLACES[name]}"), name
    )
    return found
