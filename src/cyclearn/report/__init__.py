"""The report: one page of HTML about a result."""

from cyclearn.report.page import report_html as report_html
