"""Pictures and the report: where things stand, and how they are drawn."""

from cyclearn.report.layout import Layout as Layout
from cyclearn.report.layout import lay_out as lay_out
from cyclearn.report.page import report_html as report_html
from cyclearn.report.page import write_report as write_report

__all__ = ["Layout", "lay_out", "report_html", "write_report"]
