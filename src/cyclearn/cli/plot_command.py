"""``cyclearn plot``: a picture of a saved result or of a graph."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from cyclearn.cli.documented_options import documented
from cyclearn.cli.output import Standardised, say
from cyclearn.cli.report_command import With, read_evidence
from cyclearn.foundation.errors import InputError
from cyclearn.foundation.files import check_output, checked_suffix, read_text, write_text
from cyclearn.foundation.late_imports import Axes
from cyclearn.graphs import DirectedGraph, read_graph


@documented
def plot(
    source: Path,
    out: Annotated[Path, typer.Option("--out", "-o")] = Path("graph.svg"),
    as_class: Annotated[bool, typer.Option("--class")] = False,
    labels: Annotated[bool | None, typer.Option("--labels/--no-labels")] = None,
    standardised: Standardised = False,
    beside: With = None,
) -> None:
    """Draw a learned graph, a posterior, a bootstrap, a graph, or its class.

    Parameters
    ----------
    source
        A saved result (.json), or a graph file in any form.
    out
        Picture: .svg, .png, .pdf, or .tikz for LaTeX.
    as_class
        Draw what all equivalent graphs share.
    labels
        Write weights on the edges.
    """
    from cyclearn.report.exports import PICTURES, write_picture

    suffix = checked_suffix(out, (*PICTURES, ".tikz"), "a picture")
    check_output(out, [source, *(beside or [])])
    drawn = read_saved(source)
    if suffix == ".tikz":
        write_text(out, _tikz(drawn))
    else:
        options = {"labels": labels, "standardised": standardised}
        write_picture(_drawn(drawn, as_class, read_evidence(beside or []), options), out)
    say(f"Picture: {out}")


def read_saved(path: Path) -> Any:
    """A saved result if the file names its schema; otherwise a graph."""
    from cyclearn.learning import load

    return load(path) if '"cyclearn.' in read_text(path, "file")[:200] else read_graph(path)


def _drawn(drawn: Any, as_class: bool, evidence: dict[str, Any], options: dict[str, Any]) -> Axes:
    from cyclearn.classes import EquivalenceClass
    from cyclearn.results import LearnResult
    from cyclearn.results.result_text import with_evidence

    if as_class and isinstance(drawn, (LearnResult, DirectedGraph)):
        graph = drawn if isinstance(drawn, DirectedGraph) else drawn.graph
        return EquivalenceClass(graph).plot()
    if isinstance(drawn, LearnResult):
        return with_evidence(drawn, **evidence).plot(**options)
    if evidence or options["standardised"] or options["labels"] or as_class:
        raise InputError("--with, --class, --labels and --standardised need a learned result")
    axes: Axes = drawn.plot()
    return axes


def _tikz(drawn: Any) -> str:
    from cyclearn.drawing.tikz import tikz_picture
    from cyclearn.report.exports import exported
    from cyclearn.results import LearnResult

    if isinstance(drawn, LearnResult):
        return exported(drawn, ".tikz")
    if isinstance(drawn, DirectedGraph):
        return tikz_picture(drawn)
    raise InputError(
        "TikZ pictures are available for learned graphs and graph files; use .svg or .pdf"
    )
