"""What every result states: the command, the date and the kind of machine."""

from __future__ import annotations

import os
import platform
from datetime import date

import numpy as np

import cyclearn


def describe_run(command: str) -> str:
    """One paragraph for the head of a result."""
    return (
        f"`python {command}`, {date.today().isoformat()}, cyclearn {cyclearn.__version__}, "
        f"Python {platform.python_version()}, numpy {np.__version__}, "
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores.\n"
    )
