"""A result in the format given by the suffix of a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from cyclearn.drawing.tikz import tikz_picture
from cyclearn.foundation.errors import InputError
from cyclearn.foundation.files import check_output, checked_suffix, replacing, write_text
from cyclearn.foundation.readable import significant
from cyclearn.graphs.formats import checked_text, edge_list, graphml_text, tetrad_text
from cyclearn.models.syntax import dagitty_syntax, lavaan_syntax
from cyclearn.report.latex_table import latex_table
from cyclearn.results import LearnResult
from cyclearn.results.edge_rows import edge_attributes

PICTURES = (".png", ".svg", ".pdf")


def _tikz(result: LearnResult) -> str:
    shown = [row for row in result.edge_rows if row.in_graph]
    labels = {row.edge: significant(row.standardised, 2) for row in shown}
    negative = frozenset(row.edge for row in shown if row.standardised < 0)
    return tikz_picture(result.graph, labels, negative)


# Suffix, name and function for every text format.
_TEXTS: dict[str, tuple[str, Callable[[LearnResult], str]]] = {
    ".json": ("the whole result", lambda result: result.to_json() + "\n"),
    ".dot": ("graphviz", lambda result: result.model.to_dot()),
    ".gv": ("graphviz", lambda result: result.model.to_dot()),
    ".txt": ("edge list", lambda result: checked_text(result.graph, edge_list, "edge-list")),
    ".tetrad": ("Tetrad", lambda result: checked_text(result.graph, tetrad_text, "Tetrad")),
    ".graphml": ("GraphML", lambda r: graphml_text(r.graph, edge_attributes(r.edge_rows))),
    ".lav": ("lavaan", lambda result: lavaan_syntax(result.model)),
    ".dagitty": ("dagitty", lambda result: dagitty_syntax(result.model)),
    ".tikz": ("TikZ picture", _tikz),
    ".tex": ("LaTeX table", latex_table),
    ".csv": ("table of edges", lambda result: result.edge_table().to_csv(index=False)),
}
SUFFIXES = (*_TEXTS, *PICTURES, ".html")


def exported(result: LearnResult, suffix: str) -> str:
    """The result as text in the format of files with this suffix.

    Examples
    --------
    >>> from cyclearn import Moments, learn
    >>> result = learn(Moments([[2.0, 1.0], [1.0, 2.0]], 100, names=["a", "b"]))
    >>> print(exported(result, ".lav").splitlines()[1])
    b ~ start(0.500)*a
    """
    if suffix not in _TEXTS:
        raise InputError(f"there is no format {suffix!r}; use one of {', '.join(_TEXTS)}")
    return _TEXTS[suffix][1](result)


def export(result: LearnResult, path: str | Path, **options: Any) -> Path:
    """Write a result in the format given by the suffix of the file.

    Parameters
    ----------
    result : LearnResult
    path : path
        ``.json`` the whole result, for :func:`cyclearn.load`; ``.csv`` the table of edges;
        ``.dot``, ``.gv``, ``.txt`` (edge list), ``.tetrad`` and ``.graphml`` the graph, with
        weights if the format has them; ``.lav`` and ``.dagitty`` the model for lavaan
        and dagitty; ``.tikz`` and ``.tex`` a picture and a table for LaTeX; ``.png``, ``.svg`` and
        ``.pdf`` a picture; ``.html`` the report. Any other suffix is refused.
    **options
        Of ``result.plot`` for pictures and of ``result.report`` for the report.
    """
    suffix = checked_suffix(path, SUFFIXES, "a result")
    check_output(path)
    if suffix == ".html":
        from cyclearn.report.page import write_report

        return write_report(result, path, **options)
    if suffix in PICTURES:
        return write_picture(result.plot(**options), path)
    if options:
        raise InputError(f"{next(iter(options))!r} is an option of pictures and reports only")
    write_text(path, exported(result, suffix))
    return Path(path)


def write_picture(ax: Any, path: str | Path) -> Path:
    """Write the figure of matplotlib axes as ``.png``, ``.svg`` or ``.pdf``; the same each time."""
    import matplotlib as mpl

    suffix = checked_suffix(path, PICTURES, "a picture")
    # Without dates and random identifiers, so that the same result gives the same file.
    nothing = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(suffix, {})
    with replacing(path) as beside, mpl.rc_context({"svg.hashsalt": "cyclearn"}):
        ax.figure.savefig(beside, format=suffix[1:], dpi=200, metadata=nothing)
    return Path(path)


def downloads(result: LearnResult) -> dict[str, tuple[str, str]]:
    """For each format by name: a file name and the content.

    Formats that cannot represent the names are omitted.
    """
    found = {}
    for suffix, (name, make) in _TEXTS.items():
        if suffix == ".gv":
            continue
        try:
            found[name] = f"cyclearn{suffix}", make(result)
        except InputError:
            continue
    return found
