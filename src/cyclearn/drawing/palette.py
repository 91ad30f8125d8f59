"""Colours that people who are colour blind tell apart (after Okabe and Ito), and dashes."""

from __future__ import annotations

from typing import Literal

BLUE, VERMILION, INK, GREY = "#0072b2", "#d55e00", "#222222", "#6b6b6b"

# As matplotlib's ``linestyle``.
Dashes = Literal["solid"] | tuple[int, tuple[float, ...]]
DASHED: Dashes = (0, (4.0, 1.8))
DOTTED: Dashes = (0, (1.0, 1.4))
