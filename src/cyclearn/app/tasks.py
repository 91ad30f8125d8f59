"""What workers can do, by name; arguments and answers are plain values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cyclearn.app.class_pages import members_page
from cyclearn.app.exports import export, write_script
from cyclearn.app.learning_tasks import keep_learn, learn
from cyclearn.app.opening import open_table, write_example
from cyclearn.app.own_graph import compare
from cyclearn.app.settling import experiment
from cyclearn.app.sureness import bootstrap, keep_bootstrap, posterior
from cyclearn.app.what_if import effects

TASKS: dict[str, Callable[..., dict[str, Any]]] = {
    "write_example": write_example,
    "open_table": open_table,
    "learn": learn,
    "keep_learn": keep_learn,
    "effects": effects,
    "bootstrap": bootstrap,
    "keep_bootstrap": keep_bootstrap,
    "posterior": posterior,
    "experiment": experiment,
    "compare": compare,
    "members_page": members_page,
    "export": export,
    "write_script": write_script,
}
