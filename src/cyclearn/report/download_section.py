"""Buttons that save the result in the formats of other programs, from the page itself."""

from __future__ import annotations

from cyclearn.drawing.markup import Markup, fill, join, script_data, tag
from cyclearn.report.exports import downloads
from cyclearn.report.findings import Findings


def download_section(found: Findings) -> Markup:
    """A button for each format; a script shows them and creates the files."""
    files = downloads(found.result)
    buttons = [
        tag("button", name[:1].upper() + name[1:], type="button", data_file=file)
        for name, (file, _) in files.items()
    ]
    buttons.append(tag("button", "Picture (SVG)", type="button", data_picture="learned-graph"))
    return fill(
        "<p>The page contains the result in these formats. The whole result contains means and "
        "covariances but not the rows; <code>cyclearn.load</code> reads it.</p><div "
        'id="downloads" class="buttons" hidden>$buttons</div><noscript><p>Downloads need a '
        "browser with JavaScript.</p></noscript>$data",
        buttons=join(buttons),
        data=script_data("download-data", dict(files.values())),
    )
