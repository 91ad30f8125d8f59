"""The report: one self-contained page of HTML."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from cyclearn.data.grouped_tables import SeveralData
from cyclearn.drawing.markup import Markup, fill, join, tag
from cyclearn.foundation.arguments import at_least, names_of
from cyclearn.foundation.errors import InputError
from cyclearn.foundation.files import check_output, write_text
from cyclearn.foundation.json_input import short
from cyclearn.foundation.readable import count_of, given_in_words
from cyclearn.models import FittedModel
from cyclearn.posterior import Posterior
from cyclearn.report import group_sections as of_groups
from cyclearn.report.assets import asset
from cyclearn.report.class_effects_section import class_effects_section
from cyclearn.report.download_section import download_section
from cyclearn.report.evidence_section import evidence_section
from cyclearn.report.findings import Findings, find_out
from cyclearn.report.fit_words import fit_in_words, is_tested_and_good
from cyclearn.report.graph_section import picture, verdicts
from cyclearn.report.hidden_section import hidden_section
from cyclearn.report.member_browser import member_browser
from cyclearn.report.next_experiment_section import next_experiment_section
from cyclearn.report.number_sections import coefficients, fit_quality, total_effects
from cyclearn.report.provenance import VERSION, Source, how_it_was_made
from cyclearn.report.rivals_section import rivals_section
from cyclearn.report.targets_section import targets_section
from cyclearn.report.what_if_section import what_if_section
from cyclearn.results import BootstrapResult, LearnResult, result_text
from cyclearn.results.edge_rows import agreement_in_words

# With many variables, members take long to fit and the page takes long to draw.
_MAX_MEMBERS, _MANY_VARIABLES, _LEAST_MEMBERS = 200, 50, 10


def members_shown(n_variables: int) -> int:
    """Default number of graphs of the class on a page.

    Examples
    --------
    >>> [members_shown(p) for p in (10, 50, 100, 300)]
    [200, 200, 50, 10]
    """
    share = min(1.0, (_MANY_VARIABLES / n_variables) ** 2)
    return max(_LEAST_MEMBERS, int(_MAX_MEMBERS * share))


def write_report(
    result: LearnResult, path: str | Path, *, data: SeveralData | None = None, **options: Any
) -> Path:
    """Write the report of a result to a file; see :func:`report_html` for the options.

    Returns
    -------
    Path
        The path of the file.
    """
    from threadpoolctl import threadpool_limits

    # Creating the page can take long, so check the path first.
    check_output(path, [each for each in _tables(data) if isinstance(each, (str, Path))])
    # The matrices are small: synchronising threads would take longer than the work.
    with threadpool_limits(limits=1, user_api="blas"):
        page = report_html(result, data=data, **options)
    write_text(path, page)
    return Path(path)


def report_html(
    result: LearnResult,
    *,
    data: SeveralData | None = None,
    bootstrap: BootstrapResult | None = None,
    posterior: Posterior | None = None,
    title: str | None = None,
    command: Iterable[str] | None = None,
    max_members: int | None = None,
) -> str:
    """The report of a result as one page of HTML that opens without a network.

    The same result, options and versions give the same bytes.

    Parameters
    ----------
    result : LearnResult
    data : DataFrame, array of shape (n, p), path or Moments, optional
        The data that the result was learned from. A result keeps only means and covariances; the
        rows are needed for warnings about dependent rows and non-Gaussian columns.
    bootstrap : BootstrapResult, optional
    posterior : Posterior, optional
        Results for the same data, shown for every edge instead of those of the result.
    title : str, optional
        Heading of the page.
    command : sequence of str, optional
        The command line that produced the result, to show on the page.
    max_members : int, optional
        Maximum number of graphs of the class on the page: 200 by default, fewer with more than 50
        variables.

    Examples
    --------
    >>> from cyclearn import Moments, learn
    >>> page = report_html(learn(Moments([[2.0, 1.0], [1.0, 2.0]], 100, names=["a", "b"])))
    >>> page.startswith("<!DOCTYPE html>"), " src=" in page
    (True, False)
    """
    at_least("max_members", max_members, 1)
    result = result_text.with_evidence(result, bootstrap=bootstrap, posterior=posterior)
    found = find_out(result, data, max_members or members_shown(result.graph.n_nodes))
    if title is not None and not isinstance(title, str):
        raise InputError(f"title is {short(title)}; give a text")
    words = None if command is None else names_of("command", command)
    source = _source(data, None if words is None else shlex.join(words))
    heading = title or (f"What drives what in {source.name}" if source.name else "What drives what")
    sections = _sections(found, source)
    return fill(
        asset("page.html"),
        version=VERSION,
        heading=heading,
        summary=_summary(found),
        warnings=_warning_titles(found),
        links=join(tag("li", tag("a", short, href=f"#{key}")) for key, short, *_ in sections),
        sections=join(_section(key, name, content) for key, _, name, content in sections),
        style=asset("report.css"),
        members=asset("members.js"),
        downloads=asset("downloads.js"),
    )


def _sections(found: Findings, source: Source) -> list[tuple[str, str, str, Markup]]:
    """Identifier, short name, heading and content of every section."""
    result = found.result
    numbers = (coefficients, fit_quality, total_effects)
    by_group = (of_groups.weights_by_group, of_groups.fit_by_group, of_groups.effects_by_group)
    weights, fit, effects = by_group if result.groups else numbers
    over_all = "Effects over all equally good graphs"
    sections = [
        ("graph", "Graph", "The learned graph", picture(found)),
        ("warnings", "Warnings", "Warnings", _warnings(found)),
        ("agreement", "Agreement", "What equally good graphs agree on", verdicts(found)),
        ("class", "Graph by graph", "Graphs that fit equally well", member_browser(found)),
        ("coefficients", "Coefficients", "Coefficients", weights(found)),
        ("fit", "Fit", "How well it fits", fit(found)),
        ("effects", "Total effects", "Total effects", effects(found)),
        ("class-effects", "Over all graphs", over_all, class_effects_section(found)),
        ("what-if", "What if", "What if a variable is held", what_if_section(found)),
        ("hidden", "Hidden causes", "Edges or hidden causes", hidden_section(found)),
        ("probable", "How probable", "How probable, given these data", evidence_section(found)),
        ("alternatives", "Ties", "Other answers with the same score", _alternatives(found)),
        ("take", "Download", "Download", download_section(found)),
        ("made", "Provenance", "How this was computed", how_it_was_made(found, source)),
    ]
    # For several groups and for time series, no single model predicts the rows of an experiment.
    if not result.groups and not result.lags:
        title = "Which experiment would help"
        sections.insert(4, ("next", title, title, next_experiment_section(found)))
    if result.options.is_unknown:
        title = "What differs between tables"
        sections.insert(1, ("targets", "Targets", title, targets_section(found)))
    if found.loops:
        title = "The loops and their rivals"
        sections.insert(3, ("rivals", "Rivals", title, rivals_section(found)))
    return sections


def _section(key: str, name: str, content: Markup) -> Markup:
    heading = tag("h2", name, id=f"{key}-heading")
    labelled = f"{key}-heading"
    return tag("section", heading, content, id=key, aria_labelledby=labelled, tabindex="-1")


def _tables(data: Any) -> list[Any]:
    """The tables given, one by one."""
    if isinstance(data, Mapping):
        return list(data.values())
    return list(data) if isinstance(data, (list, tuple)) else [data]


def _source(data: Any, command: str | None) -> Source:
    """The files that the data came from, as recorded when they were read."""
    files = [
        each if isinstance(each, (str, Path)) else getattr(each, "attrs", {}).get("file")
        for each in _tables(data)
    ]
    paths = [Path(file) for file in files if file is not None]
    if len(paths) < len(files):
        return Source(command=command)
    digests = [sha256(path.read_bytes()).hexdigest() for path in paths]
    return Source(", ".join(path.name for path in paths), ", ".join(digests), command)


def _summary(found: Findings) -> Markup:
    graph, fitted = found.graph, found.result.fitted
    loops = [" and ".join(n) if len(n) == 2 else ", ".join(n) for n in found.loops]
    feedback = "No feedback was found."
    if loops and found.result.posterior is not None:
        feedback = " ".join(result_text.feedback_in_words(found.result))
    elif loops:
        feedback = f"Feedback was found among {'; '.join(loops)}."
    groups, experiments = found.result.groups, found.result.experiments
    tables = f" in {len(experiments.tables)} tables with interventions" if experiments else ""
    first = (
        f"{fitted.n_samples:,} rows of {graph.n_nodes - len(found.result.past):,} variables"
        f"{_past_in_words(found)}"
        f"{tables}{f' in {len(groups)} groups' if groups else ''}: "
        f"{count_of(graph.n_edges, 'edge')}."
    )
    last = (
        fit_in_words(fitted) if isinstance(fitted, FittedModel) else of_groups.differences(fitted)
    )
    sentences = [
        first,
        found.result.tables.rows_in_words,
        *given_in_words(result_text.present_exogenous(found.result), found.result.tables.levels),
        feedback,
        agreement_in_words(found.result),
    ]
    if found.result.posterior is not None or found.result.bootstrap is not None:
        sentences.append(result_text.evidence_in_words(found.result))
    sentences += [*result_text.starts_in_words(found.result), last]
    return tag("p", join(sentences, " "), class_="lead")


def _past_in_words(found: Findings) -> str:
    result = found.result
    if not result.lags:
        return ""
    n_within = result.within_graph.n_edges
    return (
        f", given {count_of(result.lags, 'row')} before each ({count_of(n_within, 'edge')} within "
        f"a row, {result.graph.n_edges - n_within:,} over time)"
    )


def _warning_titles(found: Findings) -> Markup:
    """The titles of the warnings, above the picture."""
    titles = list(dict.fromkeys(warning.title for warning in found.warnings))
    if not titles:
        return Markup()
    words = ("Before you rely on this, see the ", tag("a", "warnings", href="#warnings"), ": ")
    return tag("p", *words, ", ".join(titles), ".", class_="warning")


def _warnings(found: Findings) -> Markup:
    items = [tag("li", tag("strong", w.message), " ", w.page_remedy) for w in found.warnings]
    parts: list[Markup] = []
    if items:
        parts.append(tag("ul", *items, class_="warnings"))
    else:
        fits = all(map(is_tested_and_good, found.result.models.values()))
        words = " or the fit." if fits else "; the fit is discussed below."
        parts.append(tag("p", "No problems were found with the data" + words))
    if not found.has_rows:
        parts.append(tag("p", _checked_rows(found)))
    parts.append(_ASSUMED)
    return join(parts)


def _checked_rows(found: Findings) -> str:
    """A note on whether the rows were checked, if the report has none."""
    counting = found.result.tables.counting
    if counting == "unchecked":
        why = "Only means and covariances are known"
        return f"{why}, so dependence between rows and the shape of the columns were not checked."
    # With n_effective='all' or a number, a result does not record whether it has seen the rows.
    which = "The rows" if counting not in ("all", "number") else "The rows, if any,"
    return f"{which} were checked when the graph was learned; this report was made without them."


_ASSUMED = Markup(
    '<p class="note">Assumptions: no common cause of the variables is missing (the data can test '
    'this only in part, see <a href="#hidden">edges or hidden causes</a>); relations are linear, '
    "and the system was at equilibrium when it was measured (these data cannot test this).</p>"
)


def _alternatives(found: Findings) -> Markup:
    others = found.result.alternatives
    if not others:
        return tag(
            "p",
            "No graph of another class with the same score was found. The search for them redraws "
            "the edges among three variables at a time, so there may still be some.",
        )
    learned = set(found.graph.edges)
    items = []
    for other in others:
        edges = set(other.edges)
        gained = ", ".join(f"{a} → {b}" for a, b in sorted(edges - learned))
        lost = ", ".join(f"{a} → {b}" for a, b in sorted(learned - edges))
        items.append(tag("li", f"With {gained} instead of {lost}."))
    words = (
        f"{len(others)} graph{'s' * (len(others) != 1)} of other classes "
        f"{'have' if len(others) != 1 else 'has'} the same score on these data: other data could "
        "distinguish them, but these cannot. The list may not be complete."
    )
    return join([tag("p", words), tag("ul", *items)])
