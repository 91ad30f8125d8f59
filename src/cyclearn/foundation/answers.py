"""Common methods of all results: conversion to JSON, saving, display in a notebook."""

from __future__ import annotations

import json
from dataclasses import fields
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from cyclearn.foundation.files import save
from cyclearn.foundation.json_input import finite, load_json

if TYPE_CHECKING:
    from typing_extensions import Self


class Answer:
    """A result with plain values, ``to_dict()``, and text, ``str()``."""

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values: by default those of its fields."""
        return {each.name: finite(getattr(self, each.name)) for each in fields(cast(Any, self))}

    def to_json(self) -> str:
        """The result as JSON; non-finite numbers become null."""
        return json.dumps(finite(self.to_dict()), ensure_ascii=False, indent=1)

    def save(self, path: str | Path) -> Path:
        """Write the result as JSON to a ``.json`` file."""
        return save(finite(self.to_dict()), path)

    def _repr_html_(self) -> str:
        """The HTML that a notebook shows."""
        return f"<pre>{escape(str(self))}</pre>"


class SavedAnswer(Answer):
    """A result that can be restored from its plain values."""

    @classmethod
    def from_dict(cls, record: Any) -> Self:
        """The result from the values of :meth:`to_dict`."""
        raise NotImplementedError

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Restore the result from :meth:`to_json`."""
        return cls.from_dict(load_json(text, "the text"))
