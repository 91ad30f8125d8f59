"""Files in this folder that pages are made of: HTML with places for values, styles, scripts."""

from __future__ import annotations

from importlib.resources import files

from cyclearn.drawing.markup import Markup


def asset(name: str) -> Markup:
    """The text of a file."""
    return Markup(files("cyclearn.report").joinpath(name).read_text(encoding="utf-8"))
