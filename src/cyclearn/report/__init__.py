"""Pictures and the report: where things stand, and how they are drawn."""

from cyclearn.report.layout import Layout as Layout
from cyclearn.report.layout import lay_out as lay_out

__all__ = ["Layout", "lay_out"]
