"""The output of ``print(result)``, and the probabilities of its edges in words."""

from __future__ import annotations

from dataclasses import replace
from html import escape
from math import isfinite
from typing import TYPE_CHECKING

from cyclearn.data.margins import SCALES
from cyclearn.foundation import InputError, count_of, given_in_words, significant
from cyclearn.foundation.arguments import flag
from cyclearn.models import FittedGroups
from cyclearn.posterior.posterior_result import Posterior
from cyclearn.results.bootstrap_result import BootstrapResult
from cyclearn.results.edge_rows import EdgeRow, agreement_in_words
from cyclearn.results.target_rows import targets_in_words

if TYPE_CHECKING:
    from cyclearn.results.result import LearnResult


# The headline counts edges with at least this probability or frequency.
OFTEN = 0.9


def with_evidence(
    result: LearnResult,
    *,
    bootstrap: BootstrapResult | None = None,
    posterior: Posterior | None = None,
) -> LearnResult:
    """The result with a finished bootstrap or posterior of the same variables added."""
    for what, kind, found in (
        ("bootstrap", BootstrapResult, bootstrap),
        ("posterior", Posterior, posterior),
    ):
        if found is None:
            continue
        if not isinstance(found, kind):
            raise InputError(
                f"{what} is a {type(found).__name__}; give the result of cyclearn.{what}"
            )
        if set(found.names) != set(result.graph.names):
            other = sorted(set(found.names) ^ set(result.graph.names))[0]
            raise InputError(
                f"the {what} has other variables than the result ({other!r} is in only one of "
                "them); use one computed from the same table"
            )
    return replace(
        result, bootstrap=bootstrap or result.bootstrap, posterior=posterior or result.posterior
    )


def evidence_in_words(result: LearnResult) -> str:
    """A line about the probabilities of the edges, or how to obtain them."""
    rows = [row for row in result.edge_rows if row.in_graph]
    parts = []
    if result.posterior is not None and not result.posterior.is_determined:
        parts.append("The probabilities of the edges, given these data, are not determined.")
    elif result.posterior is not None:
        likely = sum(row.probability is not None and row.probability >= OFTEN for row in rows)
        parts.append(
            f"Given these data, {likely} of {len(rows)} edges have a probability of at least "
            f"{OFTEN:g}."
        )
    if result.bootstrap is not None:
        often = sum(row.resamples is not None and row.resamples >= OFTEN for row in rows)
        parts.append(
            f"{often} of {len(rows)} edges occur in at least {OFTEN:.0%} of "
            f"{result.bootstrap.n_resamples:,} resamples."
        )
    asked = "The probabilities of the edges were not computed; use posterior=True."
    return " ".join(parts) or asked


def feedback_in_words(result: LearnResult) -> list[str]:
    """The feedback loops, and their probabilities if there is a posterior."""
    loops = [nodes for nodes in result.graph.components if len(nodes) > 1]
    if not loops:
        return ["No feedback."]
    if result.posterior is None:
        return ["Feedback among: " + "; ".join(", ".join(nodes) for nodes in loops)]
    rivals = {each.loops: each.in_words for each in result.loop_rivals}
    lines = []
    for nodes in loops:
        share = result.posterior.loop_probability(nodes)
        known = f"{share:.2f}" if isfinite(share) else "not determined"
        words = f"Feedback among {', '.join(nodes)}: probability {known}. "
        lines.append((words + rivals.get((tuple(nodes),), "Knowledge requires it.")).strip())
    return lines


def result_text(result: LearnResult, *, standardised: bool = False) -> str:
    """The output of ``print``: edges with verdicts, agreement of equally good graphs, warnings.

    ``standardised`` weights do not depend on units.
    """
    flag("standardised", standardised)
    rows = [row for row in result.edge_rows if row.in_graph]
    sampled = None if result.posterior is None else result.posterior.warning
    found = result.warnings if sampled is None else (sampled, *result.warnings)
    scores = f"score {result.score:.2f}, BIC {result.fitted.bic:.2f}"
    lines = [f"{_found(result)}, {scores}", *feedback_in_words(result)]
    # Warnings come before the edges, because they affect how to read these.
    lines += [f"Warning: {warning}" for warning in found]
    if result.groups and rows:
        lines.append(f"Weights in {', '.join(result.groups)}, in this order:")
    lines += _lines(result, rows, standardised=standardised)
    if standardised and rows and not result.groups:
        lines.append("Weights are standardised (in standard deviations of cause and effect).")
    lines += targets_in_words(result)
    lines += _beside_edges(result)
    if result.limits:
        lines.append("Limits reached: " + ", ".join(result.limits) + ".")
    return "\n".join(lines)


def conclusion(result: LearnResult) -> list[str]:
    """The opening sentences of a page: edges, feedback, probabilities."""
    has_evidence = result.posterior is not None or result.bootstrap is not None
    sure = [evidence_in_words(result)] if has_evidence and result.graph.n_edges else []
    agreement = " ".join([*sure, agreement_in_words(result)])
    return [f"{_found(result)}.", *feedback_in_words(result), agreement]


def about_search(result: LearnResult) -> list[str]:
    """How the search ended, and the effective sample size."""
    lines = [f"Ended: {result.status.value}.", *starts_in_words(result)]
    lines.append(result.tables.rows_in_words)
    if result.options.margins in SCALES:
        scale = SCALES[result.options.margins]
        lines.append(f"Weights and effects are on the scale of {scale}.")
    return lines


def present_exogenous(result: LearnResult) -> list[str]:
    """The exogenous variables, without lagged columns, which are reported separately."""
    return [name for name in result.exogenous if name not in result.past]


def _found(result: LearnResult) -> str:
    n_variables = result.graph.n_nodes - len(result.past)
    return (
        f"{count_of(n_variables, 'variable')}, {_rows_in_words(result)}: "
        f"{count_of(result.graph.n_edges, 'edge')}"
    )


def _beside_edges(result: LearnResult) -> list[str]:
    """How reliable the edges are, how the search ended, and the effective sample size."""
    lines = given_in_words(present_exogenous(result), result.tables.levels)
    lines += [agreement_in_words(result), *ties_in_words(result)]
    if result.graph.n_edges:
        lines.append(evidence_in_words(result))
    return lines + about_search(result)


def result_html(result: LearnResult) -> str:
    """The HTML that a notebook shows."""
    table = result.edge_table().to_html(border=0, index=False, float_format=significant)
    first, *others = result_text(result).splitlines()
    about = "".join(f"<br>{escape(line)}" for line in others if not line.startswith("  "))
    return f"<div><p><b>{escape(first)}</b>{about}</p>{table}</div>"


def _lines(result: LearnResult, rows: list[EdgeRow], *, standardised: bool) -> list[str]:
    """The edges: first those within a row, then those over time, if there are lags."""
    fitted = result.fitted
    if isinstance(fitted, FittedGroups):
        lines = _group_lines(rows, fitted)
    else:
        lines = _edge_lines(rows, standardised=standardised)
    if not result.lags:
        return lines
    apart: dict[bool, list[str]] = {False: [], True: []}
    for row, line in zip(rows, lines, strict=True):
        apart[bool(row.lag)].append(line)
    return [
        "Within a row:" if apart[False] else "No edges within a row.",
        *apart[False],
        "Over time:" if apart[True] else "No edges over time.",
        *apart[True],
    ]


def _edge_lines(rows: list[EdgeRow], *, standardised: bool) -> list[str]:
    names = [f"{row.source} -> {row.target}" for row in rows]
    weights = [
        significant(row.standardised if standardised else row.weight, plus=True) for row in rows
    ]
    name_width = max(map(len, names), default=0)
    weight_width = max(map(len, weights), default=0)
    lines = []
    for row, name, weight in zip(rows, names, weights, strict=True):
        words = ", ".join(filter(None, [row.verdict, row.evidence]))
        lines.append(f"  {name:<{name_width}}  {weight:>{weight_width}}  {words}")
    return lines


def _group_lines(rows: list[EdgeRow], fitted: FittedGroups) -> list[str]:
    """Weights by group, and the verdict, which holds for all groups."""
    lines = fitted.weights_in_words()
    width = max(map(len, lines), default=0)
    return [
        f"{line:<{width}}  {', '.join(filter(None, [row.verdict, row.evidence]))}"
        for row, line in zip(rows, lines, strict=True)
    ]


def _rows_in_words(result: LearnResult) -> str:
    words = f"{result.tables.n_samples} samples"
    if result.lags:
        words += f", given {count_of(result.lags, 'row')} before each"
    if result.experiments is not None:
        kind = "unknown targets" if result.options.is_unknown else "interventions"
        words += f" in {len(result.tables)} tables with {kind}"
    return f"{words} in {len(result.groups)} groups" if result.groups else words


def ties_in_words(result: LearnResult) -> list[str]:
    """A sentence about other classes with exactly the same score, if there are any."""
    if result.experiments is not None:
        return []
    if not result.alternatives:
        cut = "The search for other classes with exactly the same score was not completed."
        return [cut] if result.has_more_alternatives else []
    many = f"{len(result.alternatives)}"
    if result.has_more_alternatives:
        many = f"more than {many}"
    whose = "those of another class" if many == "1" else f"those of {many} other classes"
    return [f"They include {whose}, with exactly the same score."]


def starts_in_words(result: LearnResult) -> list[str]:
    """A sentence about how many starts agreed, if there were several."""
    agreeing, starts = result.n_starts_agreeing
    if starts < 2:
        return []
    if agreeing < 2:
        return [f"Of {starts} starts, only one reached this score, so a better graph may exist."]
    return [f"{agreeing} of {starts} starts reached this score."]
