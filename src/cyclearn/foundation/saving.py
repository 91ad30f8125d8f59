"""A result in a file: one JSON text, which names its schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cyclearn.foundation.files import checked_suffix, write_text


def save(record: dict[str, Any], path: str | Path) -> Path:
    """Write the plain values of a result as JSON; the name of the file ends in ``.json``."""
    checked_suffix(path, (".json",), "a result")
    write_text(path, json.dumps(record, ensure_ascii=False, indent=1, allow_nan=False) + "\n")
    return Path(path)
